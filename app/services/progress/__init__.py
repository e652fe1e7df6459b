"""How far studies are."""
