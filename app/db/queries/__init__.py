"""Select statements as functions, one file a feature."""
