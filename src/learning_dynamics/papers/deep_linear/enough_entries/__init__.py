"""How many entries are enough."""
