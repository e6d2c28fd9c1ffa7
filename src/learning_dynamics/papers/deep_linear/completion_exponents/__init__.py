"""By which power of the initialisation scale the first singular value beyond the rank is small."""
