"""Judging lists (T3): which pair of rankings is asked next."""
