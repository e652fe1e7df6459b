"""Texts: highlighted terms, snippets, and what can be stored."""
