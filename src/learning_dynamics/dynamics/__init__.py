"""How parameters move: gradient flow, gradient descent, stochastic processes."""
