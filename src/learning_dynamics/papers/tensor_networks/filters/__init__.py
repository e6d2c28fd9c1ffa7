"""Filters of several lengths."""
