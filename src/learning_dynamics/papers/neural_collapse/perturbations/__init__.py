"""Adversarial robustness."""
