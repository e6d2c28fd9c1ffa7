"""Names of the quantities of matrix sensing: `metrics` writes them, claims read them; `tables` has two further ones.

The product of the layers W_1, ..., W_L fits labels y_i = <A_i, W_1 ... W_L>, with sensors A_i that commute: they are
symmetric and have common eigenvectors, the eigenbasis. Layers start at alpha times the identity, the last at zero. Q is
the norm-like function of Theorem 4 for L layers, the scale alpha and equal weights.
"""

# three names of one measured number, an entry of W_1 ... W_L in the eigenbasis at the flow's limit, predicted by:
ENTRY = "entry"  # the diagonal matrix that minimises Q among those that fit the labels (Corollary 7)
LEAST_NUCLEAR_NORM = "least_nuclear_norm"  # the symmetric matrix of least nuclear norm that fits them
LEAST_FROBENIUS_NORM = "least_frobenius_norm"  # the symmetric matrix of least Frobenius norm that fits them
# how far the minimiser of Q, relative to its length, moves for a small change of one entry of the starting layers,
# relative to that entry: the largest ratio over the entries
SENSITIVITY = "sensitivity"

# along the flow
OFF_DIAGONAL = "off_diagonal"  # the largest size of an entry of any layer off the diagonal, in the eigenbasis
LOSS = "loss"  # sum_i (y_i - <A_i, W_1 ... W_L>)^2 / 2
