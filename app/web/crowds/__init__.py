"""Pages of entry links: for administrators, and for the people who come through them."""
