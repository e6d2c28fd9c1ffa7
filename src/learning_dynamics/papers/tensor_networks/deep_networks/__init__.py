"""Deep fully connected networks."""
