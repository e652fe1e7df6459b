"""Experiments on ranking models."""
