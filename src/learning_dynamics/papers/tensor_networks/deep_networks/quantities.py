"""Names of the quantities of deep fully connected networks: `metrics` writes them, claims read them."""

# of limits; distances are relative
DISTANCE = "distance"  # from the interpolator of least l2 norm
DISTANCE_L1 = "distance_l1"  # from the interpolator of least l1 norm
DISTANCE_BY_RESIDUAL = "unfitted"  # the most that the residual asked for allows `DISTANCE`
DISTANCE_BOUND = "bound"  # the most that this residual and the start allow it: of order alpha
RESIDUAL = "residual"  # the largest |f(x_i) - y_i|, relative to the largest label
DISTANCE_FROM_RANK_ONE = "rank_one"  # the largest of a matrix, in the Frobenius norm (88)
MISALIGNMENT = "misaligned"  # the largest 1 - (v_l^T u_(l+1))^2 of adjacent layers (93)
MISALIGNMENT_OVER_BOUND = "allowed"  # the largest ratio of 1 - (v_l^T u_(l+1))^2 to alpha^2 G_l / s_(l+1)^2 (93, 94)
MISALIGNMENT_ON_THE_WAY = "on_the_way"  # the largest such ratio at any recorded time

# least eigenvalues in the steps of (84), with P = W_1 ... W_(L-1), A = W_(L-1)^T W_(L-1) and C = A - w_L w_L^T
FIRST_STEP = "chain"  # of P^T P - A^(L-1), relative to the largest of P^T P
SECOND_STEP = "power"  # of A^(L-1) - C^(L-1), relative to the largest of A^(L-1)
PRODUCT_OVER_LEAST = "conclusion"  # of P^T P, relative to that of C to the power L - 1
PRODUCT_OVER_LARGEST = "largest"  # of P^T P, relative to the largest of C to the power L - 1
