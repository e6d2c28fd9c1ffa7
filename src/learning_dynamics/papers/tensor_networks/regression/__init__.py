"""Underdetermined regression."""
