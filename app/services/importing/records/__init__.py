"""The records of a study as read from its files."""
