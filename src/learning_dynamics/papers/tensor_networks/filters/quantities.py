"""Names of the quantities of two layers on one point: `metrics` writes them, claims read them; others in `tables`.

eta_1 and eta_2 are the layers in the singular coordinates of M(x), and rho their product.
"""

GAP_L1 = "gap_l1"  # 1 - y (s . rho) / (s_1 |rho|_1), with s the singular values of M(x) (eq. 57)
GAP_L2 = "gap_l2"  # 1 - y (s . rho) / (|s| |rho|), the same in the l2 norm
LAYER_DIFFERENCE = "layer_difference"  # |eta_1 - y eta_2| / |eta_1|
LAYER_DIFFERENCE_OPPOSITE = "layer_difference_opposite"  # |eta_1 + y eta_2| / |eta_1|
LAYER_DIFFERENCE_UNSIGNED = "layer_difference_unsigned"  # |eta_1 - eta_2| / |eta_1|
DIRECTION = "direction"  # beta / |beta|, predicted by Corollary 4

# angles in degrees between beta and a direction, at the last time
ANGLE_COROLLARY = "angle_corollary"  # Corollary 4's
ANGLE_POINT = "angle_point"  # that of y x
ANGLE_OTHER_SIGN = "angle_other_sign"  # that of the filter of length two with the other sign
ANGLE_FOURIER = "angle_fourier"  # that of the max margin in the Fourier transform's l1 norm

# of the start
POINT = "point"  # y x
AUTOCORRELATION = "autocorrelation"  # of the point at lag one, relative to |x|^2
SPECTRUM = "spectrum"  # singular values of M(x), relative to the largest
CONDITION = "condition"  # the largest lambda of Corollary 4's conditions, predicted by that of Theorem 3
LARGEST_GAP = "largest_gap"  # the largest `GAP_L1` that the transient can leave at the last time
LARGEST_ANGLE = "largest_angle"  # the largest `ANGLE_COROLLARY` that it can leave
