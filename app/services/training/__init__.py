"""Training of assessors: practice questions, their answers, and who may begin work."""
