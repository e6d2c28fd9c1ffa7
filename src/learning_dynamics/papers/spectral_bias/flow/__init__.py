"""The gradient flow and its limit."""
