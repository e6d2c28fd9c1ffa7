"""Singular values on their way."""
