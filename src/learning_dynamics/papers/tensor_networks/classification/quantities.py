"""Names of quantities of classification: measures and metrics write them, claims and figures read them.

The docstrings of `measures.measure_flow`, `metrics._powers` and the metrics say how each is measured. f is the network,
of L layers v_l with k_l parameters each; Theta is all of them in one vector, beta the coefficients. M(x) is
`TensorNetwork.data_tensor`; S gives the singular coordinates of an orthogonally decomposable network, in which rho is
the product of all layers. The residuals are r_i = -y_i exp(-y_i f(x_i)), and u is the direction of X^T r. `MARGIN` is
in `tables`.
"""

# along the flow
TURN_OF_RESIDUALS = "turn_of_residuals"  # degrees between X^T r and its direction at the last time
# by norm |.|: 1 - min_i y_i f(x_i) / (|beta| gamma), with gamma the largest margin in this norm
GAP = {"l2": "gap_l2", "l1": "gap_l1", "dft_l1": "gap_dft_l1"}
GAP_OWN = "gap_own"  # such a gap in the norm that theory gives the network
ANGLE = "angle"  # degrees between beta and the max-margin direction in the norm of `GAP_OWN`
ANGLE_POWER = "angle_power"  # of 1 / log t in `ANGLE`

# residuals of the singular-vector equations of a tensor M (Theorem 1): max_l |M o (v_k, k != l) - s v_l| / s, with
# layers at unit length and s = M o (v_1, ..., v_L)
SINGULAR_RESIDUAL = "singular_residual"  # of M(-u)
SINGULAR_RESIDUAL_DATA = "singular_residual_data"  # of M(sum_i y_i x_i)
SINGULAR_RESIDUAL_COEFFICIENTS = "singular_residual_coefficients"  # of M(beta) at the last time
TOP_GAP = "top_gap"  # 1 - M(-u) o (v_1, v_2) / the largest singular value of M(-u) (Theorem 2)

# all parameters in one vector, Theta (14)
MISALIGNMENT = "misalignment"  # 1 - cos(Theta, -grad of the loss)
MISALIGNMENT_DATA = "misalignment_data"  # 1 - cos(Theta, grad sum_i y_i f(x_i))
PARAMETERS_MOVED = "parameters_moved"  # distance of the direction of Theta from that at the last time
LAYER_SHARE_ERROR = "layer_share_error"  # max_l | |v_l|^2 / |Theta|^2 - 1 / L | (C.1)
LAYER_SHARE_ERROR_LENGTHS = "layer_share_error_lengths"  # the same from k_l / (k_1 + ... + k_L)
GROWTH_POWER = "growth_power"  # L log |Theta| / log log t: the power of log t in |Theta|^L; tends to one
DISTANCE_FROM_PUSH = "distance_from_push"  # of the direction of beta from that of -X^T r (15, 19)
DISTANCE_FROM_DATA_SUM = "distance_from_data_sum"  # of the direction of beta from that of sum_i y_i x_i

# residuals of the stationarity conditions (26) to (28), in the proof of Theorem 2: |rho_j|^p in proportion to
# -(S u)_j rho_j, relative to sum_j |rho_j|^p
STATIONARITY_RESIDUAL = "stationarity_residual"  # with p = 2/L
STATIONARITY_RESIDUAL_L1 = "stationarity_residual_l1"  # with p = 1
STATIONARITY_RESIDUAL_L2 = "stationarity_residual_l2"  # with p = 2
QUASI_NORM_EXCESS = "quasi_norm_excess"  # of sum_j |rho_j|^(2/L), at margin one, over its global minimum, relative

# share of the l1 norm outside the n largest entries, with n the number of points (Remark 3)
DENSE_SHARE_RHO = "dense_share_rho"  # of rho
DENSE_SHARE_BETA = "dense_share_beta"  # of beta
DENSE_SHARE_S_BETA = "dense_share_s_beta"  # of S beta

# of what vanishes (entries of rho off the support of its limit, or the part of beta outside of what the support vectors
# span), fitted within a window of log log t
VANISHING_POWER = "vanishing_power"  # of 1 / log t in its share of the l1 norm of rho, or of the length of beta
REMAINING_DISTANCE = "remaining_distance"  # from the limit, at the window's start
POWER_UNCERTAINTY = "power_uncertainty"  # by how much the power may be off, by what is not at its limit yet
PHASE_COSINE = "phase_cosine"  # the least between the entry's phase and that of what pushes it in the limit

# of many starts on the same data
DIRECTION = "direction"  # beta / |beta|

# of two layers that start opposed
LOSS = "loss"  # exp(-y f(x))
LARGEST_PARAMETER = "largest_parameter"
