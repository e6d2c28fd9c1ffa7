"""Fibres and their base space."""
