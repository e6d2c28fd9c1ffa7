"""Neural collapse along training."""
