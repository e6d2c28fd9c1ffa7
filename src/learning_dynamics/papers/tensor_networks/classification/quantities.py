"""Names of quantities of classification: measures and metrics write them, claims and figures read them.

The docstrings of `measures.measure_flow`, `metrics._powers` and the metrics say how each is measured. `MARGIN` is in
`tables`.

- f is the network, of L layers v_l with k_l parameters each. Theta is all of them in one vector. beta are the
  coefficients: f(x) = x^T beta. M(x) is `TensorNetwork.data_tensor`: f(x) = M(x) o (v_1, ..., v_L).
- The n points x_i are the rows of X, and y_i = +-1 their labels. The margin of a point is y_i f(x_i).
- The residuals are r_i = -y_i exp(-y_i f(x_i)), so that X^T r is the gradient of the loss by beta. u is the direction
  of X^T r; the flow pushes beta along -u.
- An orthogonally decomposable network has matrices S and U_l: M(x) is the sum over j of (S x)_j times the tensor
  product of the j-th columns of U_1, ..., U_L. Its singular coordinates are U_l^T v_l; rho is the entrywise product of
  those of all layers, and beta = S^T rho.
- The power of 1 / log t in a quantity is the p with which it falls like (log t)^(-p).
"""

# along the flow
TURN_OF_RESIDUALS = "turn_of_residuals"  # degrees between u and the u of the last time
# Relative gap to the largest margin, by norm |.| of beta: 1 - min_i y_i f(x_i) / (|beta| gamma), where gamma is the
# largest min_i y_i x_i^T z with |z| = 1; dft_l1 is the l1 norm of the unitary Fourier transform.
GAP = {"l2": "gap_l2", "l1": "gap_l1", "dft_l1": "gap_dft_l1"}
# such a gap in the norm of beta or rho in which, by theory, the network comes to the largest margin
GAP_OWN = "gap_own"
ANGLE = "angle"  # degrees between beta and the classifier of largest margin in the norm of `GAP_OWN`
ANGLE_POWER = "angle_power"  # the power of 1 / log t in `ANGLE`

# Residuals of the singular-vector equations of a tensor A (Theorem 1): max_l |A o (v_k, k != l) - s v_l| / s, with
# layers at unit length and s = A o (v_1, ..., v_L). The tensor is:
SINGULAR_RESIDUAL = "singular_residual"  # M(-u)
SINGULAR_RESIDUAL_DATA = "singular_residual_data"  # M(sum_i y_i x_i)
SINGULAR_RESIDUAL_COEFFICIENTS = "singular_residual_coefficients"  # M(beta), with the beta of the last time
# with two layers of unit length: 1 - M(-u) o (v_1, v_2) / s_1, with s_1 the largest singular value of M(-u) (Theorem 2)
TOP_GAP = "top_gap"

# all parameters in one vector, Theta; gradients are by Theta
MISALIGNMENT = "misalignment"  # 1 - cos(Theta, -grad of the loss) (14)
MISALIGNMENT_DATA = "misalignment_data"  # 1 - cos(Theta, grad of sum_i y_i f(x_i))
PARAMETERS_MOVED = "parameters_moved"  # distance of Theta / |Theta| from its value at the last time
LAYER_SHARE_ERROR = "layer_share_error"  # max_l | |v_l|^2 / |Theta|^2 - 1 / L | (C.1)
LAYER_SHARE_ERROR_LENGTHS = "layer_share_error_lengths"  # the same with k_l / (k_1 + ... + k_L) in place of 1 / L
GROWTH_POWER = "growth_power"  # L log |Theta| / log log t: the power of log t in |Theta|^L; tends to one
DISTANCE_FROM_PUSH = "distance_from_push"  # of beta / |beta| from -u (15, 19)
DISTANCE_FROM_DATA_SUM = "distance_from_data_sum"  # of beta / |beta| from the direction of sum_i y_i x_i

# Residuals of the stationarity conditions (26) to (28) in the proof of Theorem 2, by which |rho_j|^p = c (-S u)_j rho_j
# for all j: sum_j | |rho_j|^p - c (-S u)_j rho_j | / sum_j |rho_j|^p, with the c that makes both sums over j equal
STATIONARITY_RESIDUAL = "stationarity_residual"  # with p = 2/L
STATIONARITY_RESIDUAL_L1 = "stationarity_residual_l1"  # with p = 1
STATIONARITY_RESIDUAL_L2 = "stationarity_residual_l2"  # with p = 2
# sum_j |rho_j|^(2/L), with rho scaled to a least margin of one, over the least that this sum can be there; less one
QUASI_NORM_EXCESS = "quasi_norm_excess"

# share of a vector's l1 norm outside its n largest entries (Remark 3); the vector is:
DENSE_SHARE_RHO = "dense_share_rho"  # rho
DENSE_SHARE_BETA = "dense_share_beta"  # beta
DENSE_SHARE_S_BETA = "dense_share_s_beta"  # S beta

# Of what vanishes, fitted within a window of log log t. With two decomposable layers these are the entries of rho that
# are zero in its limit, one number each; in fully connected networks it is the part of beta outside the span of the
# support vectors, the points of least margin.
VANISHING_POWER = "vanishing_power"  # power of 1 / log t in its share of the l1 norm of rho, or of the length of beta
# from the limit, at the window's start: the share of all those entries together in the l1 norm of rho, or one minus the
# cosine between beta and the classifier of largest l2 margin
REMAINING_DISTANCE = "remaining_distance"
POWER_UNCERTAINTY = "power_uncertainty"  # by how much the power may be off, as rho or beta is not at its limit yet
# the least cosine within the window of the phase lag between an entry of rho and what pushes it in the limit
PHASE_COSINE = "phase_cosine"

# of many starts on the same data
DIRECTION = "direction"  # an entry of beta / |beta|

# of two diagonal layers on one point (x, y) that start opposed
LOSS = "loss"  # exp(-y f(x))
LARGEST_PARAMETER = "largest_parameter"  # max_j |Theta_j|
