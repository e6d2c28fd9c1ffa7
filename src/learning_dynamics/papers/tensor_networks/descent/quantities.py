"""Names of the quantities of two-layer descent and flow: `metrics` writes them, claims read them."""

COEFFICIENT = "coefficient"  # beta
PARAMETER = "parameter"  # an entry of a layer at the limit, predicted by Theorem 5
LIMIT = "limit"  # coefficients at the end, predicted by Theorem 5
WRONG_POWER = "swapped"  # the same, predicted with y / alpha in place of y / alpha^2
OPPOSITE_LABEL = "exchanged"  # the same, predicted with the opposite label
LEAST_NORM = "least"  # the same, predicted by the interpolator of least norm in the network's own norm
CONDITION = "condition"  # the largest lambda for which the start fulfils the condition of Theorem 5
RESIDUAL = "residual"  # |f(x) - y|
LOSS = "loss"  # the loss that is descended
LOSS_BY_GROWTH = "inverse_growth"  # 1 / (t |grad log L|^2), the loss at time t where it falls like 1/t
ANGLE = "angle"  # degrees between the coefficients and the max-margin direction in the network's own norm
REFERENCE = "reference"  # the solution of least norm, or of largest margin, in the network's own norm
LABELLED_POINTS = "labelled"  # y_i x_i, one after the other

# of single points M(x)
REMAINDER = "remainder"  # the most that Theorem 5 leaves of a coordinate whose singular value is not the largest
SECOND_SINGULAR_VALUE = "second"  # relative to the first
