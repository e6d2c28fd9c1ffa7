"""The decomposed MSE loss."""
