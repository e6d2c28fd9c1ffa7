"""Robustness."""
