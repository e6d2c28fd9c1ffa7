"""Yun, Krishnan, Mobahi 2021, A unifying view on implicit bias in training linear neural networks."""
