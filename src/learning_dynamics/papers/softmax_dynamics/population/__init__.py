"""Over which population the rank is taken."""
