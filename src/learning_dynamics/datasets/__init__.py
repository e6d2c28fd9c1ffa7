"""Data sets: synthetic problems drawn from a seed, and real data with their checksums."""
