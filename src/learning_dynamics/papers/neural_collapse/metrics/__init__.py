"""What is measured: the central path's spectra, and collapse along training."""
