"""What is simulated: gradient descent and gradient flow of deep linear networks."""
