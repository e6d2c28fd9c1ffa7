"""What is measured: singular values and their rates, invariants, effective ranks, and their falls and rises."""
