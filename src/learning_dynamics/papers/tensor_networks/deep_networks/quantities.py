"""Names of the quantities of deep fully connected networks: `metrics` writes them, claims read them.

W_1, ..., W_(L-1), w_L are the layers, s_l, u_l, v_l the top singular value and vectors of layer l, and alpha is the
initial scale.
"""

# of limits: |beta - beta_*| / |beta_*|, with beta_* the interpolator of least l2 or l1 norm (Theorem 6.2)
DISTANCE_FROM_LEAST_L2 = "distance_from_least_l2"
DISTANCE_FROM_LEAST_L1 = "distance_from_least_l1"
# the most that `DISTANCE_FROM_LEAST_L2` may be, by the residual asked for; and with it by the start, of order alpha
DISTANCE_BOUND_OF_RESIDUAL = "distance_bound_of_residual"
DISTANCE_BOUND = "distance_bound"
RESIDUAL = "residual"  # max_i |f(x_i) - y_i| / max_i |y_i|
DISTANCE_FROM_RANK_ONE = "distance_from_rank_one"  # max_l |W_l - s_l u_l v_l^T|_F (88)
MISALIGNMENT = "misalignment"  # max_l 1 - (v_l^T u_(l+1))^2 (93)
# max_l (1 - (v_l^T u_(l+1))^2) s_(l+1)^2 / (alpha^2 G_l), which (93) and (94) bound by one; the initial directions give
# G_l (`metrics._layer_measures`)
MISALIGNMENT_OVER_BOUND = "misalignment_over_bound"
MISALIGNMENT_OVER_BOUND_ON_THE_WAY = "misalignment_over_bound_on_the_way"  # the same, the largest at recorded times

# the steps of (84), with P = W_1 ... W_(L-1), A = W_(L-1)^T W_(L-1) and C = A - w_L w_L^T; least and largest are
# eigenvalues
FIRST_DIFFERENCE = "first_difference"  # least of P^T P - A^(L-1) / largest of P^T P
SECOND_DIFFERENCE = "second_difference"  # least of A^(L-1) - C^(L-1) / largest of A^(L-1)
PRODUCT_OVER_LEAST = "product_over_least"  # least of P^T P / (least of C)^(L-1)
PRODUCT_OVER_LARGEST = "product_over_largest"  # least of P^T P / (largest of C)^(L-1)
