"""ReLU networks."""
