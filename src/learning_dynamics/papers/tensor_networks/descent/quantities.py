"""Names of the quantities of two-layer descent and flow: `metrics` writes them, claims read them."""

COEFFICIENT = "coefficient"  # beta
PARAMETER = "parameter"  # an entry of v_1 or v_2 at the limit, predicted by Theorem 5
LIMIT = "limit"  # beta at the end, predicted by Theorem 5
# `LIMIT`, or of any tensor `PARAMETER`, predicted otherwise
WRONG_POWER = "wrong_power"  # by g(nu) = y / alpha in place of y / alpha^2
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

# of the matrix M(x) of a single point
REMAINDER = "remainder"  # the most that Theorem 5 leaves of a coordinate whose singular value is not the largest
SECOND_SINGULAR_VALUE = "second_singular_value"  # s_2 / s_1
