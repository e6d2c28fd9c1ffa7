"""What is measured: errors, norms, ranks, spectra, rates and invariants."""
