"""Text processing: highlighted terms, snippets, and which texts can be stored."""
