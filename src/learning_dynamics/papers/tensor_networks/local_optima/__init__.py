"""Which of the local optima of the max-margin problem depth chooses."""
