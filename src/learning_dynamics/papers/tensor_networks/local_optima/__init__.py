"""Which local optimum of the max-margin problem networks of each depth choose."""
