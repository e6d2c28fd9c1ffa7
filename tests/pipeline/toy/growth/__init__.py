"""Growth that can be interrupted."""
