"""The edge of the server: limits, time-outs, headers, logs."""
