"""Smaller systems that the flow reduces to."""
