"""Most violated rankings of the structural models."""
