"""Han, Papyan, Donoho 2022, Neural collapse under MSE loss: proximity to and dynamics on the central path."""
