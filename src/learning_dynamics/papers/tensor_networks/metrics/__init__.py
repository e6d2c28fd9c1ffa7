"""What is measured: coefficients, their distance from predicted limits, and what the theorems say of the layers."""
