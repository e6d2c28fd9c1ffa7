"""The search for compression."""
