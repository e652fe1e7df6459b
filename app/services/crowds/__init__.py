"""Crowds: entry links, and the people who come through them."""
