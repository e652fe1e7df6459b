"""Training of assessors: practice questions with known answers, and the rule of qualification."""
