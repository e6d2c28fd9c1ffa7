"""The slides' completion table."""
