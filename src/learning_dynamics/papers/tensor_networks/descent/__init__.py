"""Two layers under gradient descent."""
