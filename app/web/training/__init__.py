"""Pages and API of the training of assessors."""
