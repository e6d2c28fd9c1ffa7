"""Names of quantities along the flow that the tables shorten; `metrics` writes them, claims read them.

The layers' projections are Z1 = W1 P^T and Z2 = P W2 (eq. 3.4); theta is both layers together.
"""

# of each draw
DISTANCE_OVER_ITS_BOUND = "arrival"  # largest |theta(t) - theta_infinity| over its bound by the residual at time t
BOUND_AT_END = "left"  # what that bound leaves at the end, relative to |theta_infinity|

# along the flow
LARGEST_EIGENVALUE = "scale"  # of Z1^T Z1

# at the limit: gradients of the Lagrangian of problem (3.1), each relative to the layer's norm
GRADIENT_W1 = "stationarity_W1"
GRADIENT_W1_WITHOUT_LOG_DET = "stationarity_plain"  # of the sum of squares alone
GRADIENT_W1_TWICE_LOG_DET = "stationarity_double"  # with 2 gamma before log det
GRADIENT_W2 = "stationarity_W2"
GRADIENT_W2_ELSEWHERE = "stationarity_moved"  # at another interpolator, a thousandth away in W2

# at the limit: least increase of the potential (3.1) over random perturbations, relative to their squared length
INCREASE = "excess"
INCREASE_WITHOUT_LOG_DET = "excess_plain"
INCREASE_TWICE_LOG_DET = "excess_double"

ASYMMETRY = "curl"  # |dF - dF^T| / |dF| of the field F(Z) = Z - Z^{-T} D, a gradient only if zero (Lemma C.4)

# at the limit from unequal rows: how far a formula is from Z^{-T} Z2 Z2^T, the gradient that Lemma C.4 asks for,
# relative to it
GRADIENT_PRINTED = "gradient_printed"  # from Z - D Z^{-T}
GRADIENT_CORRECTED = "gradient_corrected"  # from Z - Z^{-T} D
