"""Names of the quantities of a network's outputs and invariants: `metrics` writes them, claims read them."""

OUTPUT = "output"  # of the tensor formulation (2), predicted by the layers' own formula, (3) to (5)
ACTIVATION_AT_ZERO = "at_zero"
DRIFT = "drift"  # largest change since the start of what is conserved
OTHER_DRIFT = "other"  # largest change since the start of a form like it that is not conserved
LARGEST_TERM = "size"  # of the differences that are conserved
LOSS = "loss"  # half the sum of squared residuals
