"""Numbers from arrays: spectra, alignment, collapse."""
