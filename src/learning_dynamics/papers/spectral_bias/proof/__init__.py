"""Steps of the proofs."""
