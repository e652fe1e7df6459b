"""The JSON API: bearer tokens only."""
