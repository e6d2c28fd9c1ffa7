"""Discrete gradient descent."""
