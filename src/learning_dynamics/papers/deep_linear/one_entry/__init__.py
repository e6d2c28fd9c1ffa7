"""One measurement of a matrix."""
