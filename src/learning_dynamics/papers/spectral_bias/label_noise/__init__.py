"""Label noise."""
