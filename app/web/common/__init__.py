"""Code shared by all features of the web layer."""
