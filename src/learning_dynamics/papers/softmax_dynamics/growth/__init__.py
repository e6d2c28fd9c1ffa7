"""How fast singular values grow."""
