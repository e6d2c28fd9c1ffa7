"""Training and measuring networks."""
