"""Names of the quantities of a network's outputs and invariants: `metrics` writes them, claims read them.

phi is the activation. v_l are the layers of an orthogonally decomposable network and U_l its matrices of singular
vectors; W_1, ..., W_(L-1) and w_L are those of a fully connected one, with W_L = w_L as a column.
"""

OUTPUT = "output"  # f(x) by the tensor formulation (2), predicted by the architecture's own formula, (3), (4) or (5)
ACTIVATION_AT_ZERO = "activation_at_zero"  # phi(0)
# Largest change since the start, over all l and all entries. What flow conserves is, of decomposable networks,
# |[U_l^T v_l]_j|^2 - |[U_L^T v_L]_j|^2 (21), and of fully connected ones W_l^T W_l - W_(l+1) W_(l+1)^T (80, 81).
DRIFT = "drift"  # of that
OTHER_DRIFT = "other_drift"  # of |[U_l^T v_l]_j| - |[U_L^T v_L]_j| or W_l W_l^T - W_(l+1) W_(l+1)^T, which it does not
LARGEST_TERM = "largest_term"  # the largest |[U_l^T v_l]_j|^2 or entry of W_l^T W_l, to compare `DRIFT` with
LOSS = "loss"  # sum_i (f(x_i) - y_i)^2 / 2
