"""Topkapi: top-k preference labeling, and the analysis of its labels."""
