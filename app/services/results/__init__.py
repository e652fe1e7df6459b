"""Results of a study: exports, reports, and data for ranking models."""
