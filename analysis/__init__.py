"""A numerical library for top-k ground truth: data, measures, ranking models, experiments."""
