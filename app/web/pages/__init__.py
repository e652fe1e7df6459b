"""Pages under judgment: safe rendering, signed links, and the routes that serve them."""
