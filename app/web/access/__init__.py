"""Who is asking, and how a request gets its transaction."""
