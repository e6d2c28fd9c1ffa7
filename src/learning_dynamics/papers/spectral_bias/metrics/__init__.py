"""What is measured: spectra, invariants, distances to the predicted limits, and statistics of ensembles."""
