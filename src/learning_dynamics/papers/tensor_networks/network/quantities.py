"""Names of the quantities of a network's outputs and invariants: `metrics` writes them, claims read them."""

OUTPUT = "output"  # of the tensor formulation (2), predicted by the layers' own formula, (3) to (5)
ACTIVATION_AT_ZERO = "activation_at_zero"  # phi(0)
# largest change since the start: of what is conserved, |[U_l^T v_l]_j|^2 - |[U_L^T v_L]_j|^2 (21), or
# W_l^T W_l - W_(l+1) W_(l+1)^T (80, 81); and of a form like it that is not
DRIFT = "drift"
OTHER_DRIFT = "other_drift"
LARGEST_TERM = "largest_term"  # of the differences that are conserved
LOSS = "loss"  # half the sum of squared residuals
