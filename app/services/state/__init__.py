"""The state of studies: what each needs, what is next, and the dashboard of all."""
