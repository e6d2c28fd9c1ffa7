"""Vanishing initial scale."""
