"""Names of the quantities of deep fully connected networks: `metrics` writes them, claims read them.

W_1, ..., W_(L-1) and w_L are the layers, and W_L is w_L as a column. s_l, u_l and v_l are the top singular value of
W_l and its singular vectors, so that s_l u_l v_l^T is the best approximation of rank one. beta are the coefficients of
the network, f(x) = x^T beta, and alpha is the initial scale.
"""

# of limits: |beta - beta_*| / |beta_*|, with beta_* the interpolator of least l2 or l1 norm (Theorem 6.2)
DISTANCE_FROM_LEAST_L2 = "distance_from_least_l2"
DISTANCE_FROM_LEAST_L1 = "distance_from_least_l1"
# The most that `DISTANCE_FROM_LEAST_L2` may be. The first bound is what the setting `integration.residual` allows, at
# which a flow counts as arrived; the second adds what the start allows, of order alpha (`metrics._bounds`).
DISTANCE_BOUND_OF_RESIDUAL = "distance_bound_of_residual"
DISTANCE_BOUND = "distance_bound"
RESIDUAL = "residual"  # max_i |f(x_i) - y_i| / max_i |y_i| at the limit
DISTANCE_FROM_RANK_ONE = "distance_from_rank_one"  # max over l < L of |W_l - s_l u_l v_l^T|_F (88)
MISALIGNMENT = "misalignment"  # max over l < L of 1 - (v_l^T u_(l+1))^2 (93)
# Max over l < L of (1 - (v_l^T u_(l+1))^2) s_(l+1)^2 / (alpha^2 G_l), which (93) and (94) bound by one. G_l is a number
# that the layers at the start give (`metrics._layer_measures`).
MISALIGNMENT_OVER_BOUND = "misalignment_over_bound"  # at the limit
MISALIGNMENT_OVER_BOUND_ON_THE_WAY = "misalignment_over_bound_on_the_way"  # the largest at the times `flow.RECORDED`

# Of random layers, the steps in the proof of (84): P^T P >= A^(L-1) >= C^(L-1) >= a multiple of the identity, with
# P = W_1 ... W_(L-1), A = W_(L-1)^T W_(L-1) and C = A - w_L w_L^T. "Least" and "largest" are eigenvalues.
FIRST_DIFFERENCE = "first_difference"  # least of (P^T P - A^(L-1)) / largest of P^T P
SECOND_DIFFERENCE = "second_difference"  # least of (A^(L-1) - C^(L-1)) / largest of A^(L-1)
PRODUCT_OVER_LEAST = "product_over_least"  # least of P^T P / (least of C)^(L-1): at least one by (84)
PRODUCT_OVER_LARGEST = "product_over_largest"  # least of P^T P / (largest of C)^(L-1)
