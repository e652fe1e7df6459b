"""Weak rankers, weights and stopping of the boosted models."""
