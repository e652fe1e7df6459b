"""Select statements as functions, one file per feature."""
