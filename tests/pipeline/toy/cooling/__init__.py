"""A body that cools."""
