"""Names of the quantities of matrix sensing: `metrics` writes them, claims read them; further ones in `tables`."""

ENTRY = "entry"  # of W_1 ... W_L, predicted by the minimiser of Q over the eigenvalues
NUCLEAR = "nuclear"  # the same, predicted by the solution of least nuclear norm
FROBENIUS = "frobenius"  # the same, predicted by the solution of least Frobenius norm
SENSITIVITY = "sensitivity"  # relative change of the minimiser over that of one entry of the start, the largest
OFF_DIAGONAL = "off_diagonal"  # the largest entry of a layer off the diagonal, in the sensors' eigenbasis
LOSS = "loss"  # half the sum of squared residuals
