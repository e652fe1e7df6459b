"""Pages and API of the audit log."""
