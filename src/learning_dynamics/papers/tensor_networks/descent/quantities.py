"""Names of the quantities of two-layer descent and flow: `metrics` writes them, claims read them."""

COEFFICIENT = "coefficient"  # beta
# at the end; predicted by Theorem 5 where there is one point and the squared loss
PARAMETER = "parameter"  # an entry of v_1 or v_2
LIMIT = "limit"  # beta
# the same measured numbers as `LIMIT`, or for `any_tensor` as `PARAMETER`, with another prediction
WRONG_POWER = "wrong_power"  # by Theorem 5 with y / alpha in place of y / alpha^2
OPPOSITE_LABEL = "opposite_label"  # by Theorem 5 with the label -y
LEAST_NORM = "least_norm"  # by `REFERENCE`

# the largest lambda with a_j^2 - b_j^2 >= lambda for all j (Theorem 5), a_j and b_j the first and the second layer
# along the j-th singular vectors of M(x); those of equal singular values may be rotated among themselves
CONDITION = "condition"
RESIDUAL = "residual"  # |f(x) - y|
LOSS = "loss"  # sum_i (f(x_i) - y_i)^2 / 2, or sum_i exp(-y_i f(x_i))
LOSS_BY_GROWTH = "loss_by_growth"  # 1 / (t |grad log L|^2): the loss at time t where it falls like 1/t
ANGLE = "angle"  # degrees between beta and the max-margin direction in the network's own norm
REFERENCE = "reference"  # the solution of least norm, or of largest margin, in the network's own norm
LABELLED_POINTS = "labelled_points"  # y_i x_i, one after the other

# the most that Theorem 5 can leave of a coordinate along singular vectors of M(x) whose singular value is not the
# largest, relative to those whose is; one at most
REMAINDER = "remainder"
SECOND_SINGULAR_VALUE = "second_singular_value"  # s_2 / s_1
