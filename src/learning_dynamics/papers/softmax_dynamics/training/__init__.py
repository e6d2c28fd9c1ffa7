"""Optimisers combined: learning rates, steps, batches and decays."""
