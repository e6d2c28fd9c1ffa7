"""Primacy bias, selection bias, alignment."""
