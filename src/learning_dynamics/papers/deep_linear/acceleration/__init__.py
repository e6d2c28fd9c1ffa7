"""Acceleration by depth."""
