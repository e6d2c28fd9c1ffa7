"""Names of the quantities of two layers on one point: `metrics` writes them, claims read them; more are in `tables`.

The point is x, of label y, and s are the singular values of M(x), the largest first. In the singular coordinates of
M(x) the layers are eta_1 and eta_2; rho is their entrywise product. beta are the coefficients.
"""

# gap between the margin at unit norm and the largest possible, relative to it
GAP_L1 = "gap_l1"  # in the l1 norm: 1 - y (s . rho) / (s_1 |rho|_1) (eq. 57)
GAP_L2 = "gap_l2"  # in the l2 norm: 1 - y (s . rho) / (|s| |rho|)
LAYER_DIFFERENCE = "layer_difference"  # |eta_1 - y eta_2| / |eta_1|
LAYER_DIFFERENCE_OPPOSITE = "layer_difference_opposite"  # |eta_1 + y eta_2| / |eta_1|
LAYER_DIFFERENCE_UNSIGNED = "layer_difference_unsigned"  # |eta_1 - eta_2| / |eta_1|
DIRECTION = "direction"  # beta / |beta|, predicted by Corollary 4

# angles in degrees between beta and a direction, at the last time
ANGLE_COROLLARY = "angle_corollary"  # the limit direction of Corollary 4
ANGLE_POINT = "angle_point"  # y x
ANGLE_OTHER_SIGN = "angle_other_sign"  # y x, filtered as in Corollary 4 for length two, but with the other sign
ANGLE_FOURIER = "angle_fourier"  # the max margin in the Fourier transform's l1 norm

# at the start
POINT = "point"  # y x
AUTOCORRELATION = "autocorrelation"  # of the point at lag one, relative to |x|^2
SPECTRUM = "spectrum"  # singular values of M(x), relative to the largest
# the largest lambda of Theorem 3's condition, doubled for filters of length two, at layers that are both random;
# predicted by that of Corollary 4's conditions: as they are printed, with no denominators, and with the two exchanged
CONDITION = "condition"
CONDITION_WITHOUT_DENOMINATORS = "condition_without_denominators"
CONDITION_WITH_DENOMINATORS_EXCHANGED = "condition_with_denominators_exchanged"
# bounds on what is left at the last time of terms that decay from the start (`one_point.transient`)
LARGEST_GAP = "largest_gap"  # on `GAP_L1`
LARGEST_ANGLE = "largest_angle"  # on `ANGLE_COROLLARY`
