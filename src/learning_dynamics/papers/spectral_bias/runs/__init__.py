"""What is simulated: gradient flow and descent of two-layer networks, and the noise-driven process."""
