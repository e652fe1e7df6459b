"""Machine assessors: prompts, replies, and what two orders of the same pair say together."""
