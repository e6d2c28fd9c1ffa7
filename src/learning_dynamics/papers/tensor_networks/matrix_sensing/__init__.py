"""Deep matrix sensing."""
