"""The fence around untrusted bytes: limits, and child processes for libraries that could crash."""
