"""Gaussian layers."""
