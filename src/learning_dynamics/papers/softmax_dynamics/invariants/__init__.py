"""Identities and invariants."""
