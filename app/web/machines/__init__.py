"""Machine assessors of a study: start, watch and stop runs, and edit prompts."""
