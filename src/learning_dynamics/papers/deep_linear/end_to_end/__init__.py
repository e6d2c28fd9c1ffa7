"""End-to-end dynamics and balance."""
