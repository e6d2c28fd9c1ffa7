"""Commuting measurements."""
