"""Networks as tensors."""
