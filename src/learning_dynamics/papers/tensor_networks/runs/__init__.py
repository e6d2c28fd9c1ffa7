"""What is simulated: gradient descent and gradient flow of linear tensor networks."""
