"""The central path."""
