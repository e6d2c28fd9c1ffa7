"""Names of the quantities of matrix sensing: `metrics` writes them, claims read them; further ones in `tables`."""

ENTRY = "entry"  # of W_1 ... W_L in the eigenbasis, predicted by `norm_like_minimiser`: Q over the eigenvalues
LEAST_NUCLEAR_NORM = "least_nuclear_norm"  # the same, predicted by the solution of least nuclear norm
LEAST_FROBENIUS_NORM = "least_frobenius_norm"  # the same, predicted by the solution of least Frobenius norm
SENSITIVITY = "sensitivity"  # largest relative change of the minimiser over that of one entry of the start
OFF_DIAGONAL = "off_diagonal"  # the largest entry of a layer off the diagonal, in the sensors' eigenbasis
LOSS = "loss"  # half the sum of squared residuals
