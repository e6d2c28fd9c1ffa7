"""What is simulated: free features and a linear classifier, by gradient flow and by gradient descent."""
