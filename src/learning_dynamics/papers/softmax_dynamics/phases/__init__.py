"""Phases of the rank."""
