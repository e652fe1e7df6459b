"""The simulations of [ZZCX13]_, where the true gains are known."""
