"""The web tool."""
