"""Names of the quantities of classification: metrics and measures write them, claims read them; others in `tables`.

The docstrings of `measures.measure_flow`, `metrics._powers` and the metrics say how each is measured. rho are the
products of all layers in the singular coordinates of an orthogonally decomposable network, u the direction of X^T r.
"""

# along the flow
TURN_OF_RESIDUALS = "turned"  # degrees between X^T r and its direction at the last time
GAP = {"l2": "gap_l2", "l1": "gap_l1", "dft_l1": "gap_dft_l1"}  # to the largest margin in that norm, relative
GAP_OWN = "gap_own"  # such a gap in the norm that theory gives the network
ANGLE = "angle"  # degrees between the coefficients and the max-margin direction in that norm
ANGLE_POWER = "exponent"  # of 1 / log t in `ANGLE`

# residuals of the singular-vector equations of a tensor, relative to the singular value (Theorem 1)
SINGULAR_RESIDUAL = "singular"  # of M(-u)
SINGULAR_RESIDUAL_DATA = "singular_data"  # of M(sum_i y_i x_i)
SINGULAR_RESIDUAL_COEFFICIENTS = "singular_coefficients"  # of M(beta) at the last time
TOP_GAP = "top"  # to the largest singular value of M(-u), relative to it (Theorem 2)

# all parameters in one vector, Theta (14)
MISALIGNMENT = "misaligned"  # one minus the cosine between Theta and the negative gradient of the loss
MISALIGNMENT_DATA = "misaligned_data"  # one minus that between Theta and the gradient of the sum of all margins
PARAMETERS_MOVED = "moved"  # distance of the direction of Theta from that at the last time
LAYER_SHARE_ERROR = "share"  # largest distance of a layer's share of |Theta|^2 from 1 / L (C.1)
LAYER_SHARE_ERROR_LENGTHS = "share_lengths"  # that from the layer's share of all parameters
GROWTH_POWER = "growth"  # of log t in |Theta|^L; tends to one
DISTANCE_FROM_PUSH = "against"  # of the coefficients' direction from that of -X^T r (15, 19)
DISTANCE_FROM_DATA_SUM = "against_data"  # of the coefficients' direction from that of sum_i y_i x_i

# residuals of the stationarity conditions: |rho_j|^p in proportion to -(S u)_j rho_j (Theorem 2)
STATIONARITY_RESIDUAL = "stationarity_own"  # with p = 2/L
STATIONARITY_RESIDUAL_L1 = "stationarity_l1"  # with p = 1
STATIONARITY_RESIDUAL_L2 = "stationarity_l2"  # with p = 2
QUASI_NORM_EXCESS = "excess"  # of sum_j |rho_j|^(2/L), at margin one, over its global minimum, relative

# shares of the l1 norm beyond as many entries as there are points (Remark 3)
DENSE_TRANSFORMED = "dense_transformed"  # of rho
DENSE_INPUTS = "dense_inputs"  # of the coefficients beta
DENSE_MAPPED = "dense_mapped"  # of S beta

# within a window of log log t, one for each entry that vanishes
POWER = "power"  # of 1 / log t with which it vanishes, relative to the whole
REMAINING_SHARE = "between"  # at the window's start: distance from the limit
POWER_UNCERTAINTY = "moving"  # by how much the power may be off, by what is not at its limit yet
PHASE_COSINE = "sign"  # the least between the entry's phase and that of what pushes it in the limit

DIRECTION = "direction"  # coefficients at unit length
LOSS = "loss"  # of two layers that start opposed: exp(-y f(x))
LARGEST_PARAMETER = "size"  # of two layers that start opposed
