"""Names of the quantities of two layers on one point: `metrics` writes them, claims read them; more are in `tables`.

The point is x, of label y, and s are the singular values of M(x), the largest first. In the singular coordinates of
M(x) the layers are eta_1 and eta_2; rho is their entrywise product. beta are the coefficients: f(x) = x^T beta, and
f(x) = s . rho.
"""

# gap between the margin y f(x) at unit norm of rho and the largest possible, relative to the largest possible
GAP_L1 = "gap_l1"  # in the l1 norm: 1 - y (s . rho) / (s_1 |rho|_1) (eq. 57)
GAP_L2 = "gap_l2"  # in the l2 norm: 1 - y (s . rho) / (|s| |rho|)
LAYER_DIFFERENCE = "layer_difference"  # |eta_1 - y eta_2| / |eta_1|
LAYER_DIFFERENCE_OPPOSITE = "layer_difference_opposite"  # |eta_1 + y eta_2| / |eta_1|
LAYER_DIFFERENCE_UNSIGNED = "layer_difference_unsigned"  # |eta_1 - eta_2| / |eta_1|
DIRECTION = "direction"  # an entry of beta / |beta|, predicted by Corollary 4

# angles in degrees between beta, at the last time, and:
ANGLE_COROLLARY = "angle_corollary"  # the limit direction of Corollary 4
ANGLE_POINT = "angle_point"  # y x
ANGLE_OTHER_SIGN = "angle_other_sign"  # y x, filtered as in Corollary 4 for length two, but with the other sign
ANGLE_FOURIER = "angle_fourier"  # the classifier of largest margin in the l1 norm of the Fourier transform

# at the start
POINT = "point"  # an entry of y x
AUTOCORRELATION = "autocorrelation"  # circular autocorrelation of x at lag one, relative to |x|^2
SPECTRUM = "spectrum"  # singular values of M(x), relative to the largest
# Three names of one measured number: the largest lambda with which two Gaussian layers fulfil the condition of Theorem
# 3, times the length of the filter, one or two. Predicted by the largest lambda of Corollary 4's conditions:
CONDITION = "condition"  # as they are printed
CONDITION_WITHOUT_DENOMINATORS = "condition_without_denominators"
CONDITION_WITH_DENOMINATORS_EXCHANGED = "condition_with_denominators_exchanged"  # those of the two for length two
# bounds on what terms that decay from the start still contribute at the last time (`one_point.transient`)
LARGEST_GAP = "largest_gap"  # to `GAP_L1`
LARGEST_ANGLE = "largest_angle"  # to `ANGLE_COROLLARY`
