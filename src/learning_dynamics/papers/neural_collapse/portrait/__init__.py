"""A portrait of collapse."""
