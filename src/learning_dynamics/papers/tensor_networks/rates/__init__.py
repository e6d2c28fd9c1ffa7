"""How fast the loss falls."""
