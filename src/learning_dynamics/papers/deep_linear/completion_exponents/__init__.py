"""The first singular value beyond the rank, as a power of the initialisation scale."""
