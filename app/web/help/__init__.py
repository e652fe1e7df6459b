"""The documentation inside the server."""
