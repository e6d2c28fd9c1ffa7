"""Names of the quantities of two-layer descent and flow: `metrics` writes them, claims read them.

- The layers are v_1 and v_2, and beta the coefficients: f(x) = x^T beta. At the start layers are alpha, the initial
  scale, times their directions.
- Where there is one point, it is x with the label y, and s_1, s_2, ... are the singular values of M(x), the largest
  first. Theorem 5 says where the flow of the squared loss ends on it.
- A network's own norm is that of `solutions.LIMIT_NORM`: l2 for fully connected networks, l1 for diagonal ones, and l1
  of the unitary Fourier transform for convolutional ones.
"""

COEFFICIENT = "coefficient"  # beta_j, at every recorded time or at a flow's limit
PARAMETER = "parameter"  # an entry of v_1 or v_2 at a flow's limit, in `any_tensor` predicted by Theorem 5
LIMIT = "limit"  # beta_j after the last step, predicted by Theorem 5 for one point and the squared loss
# the measured numbers of `LIMIT`, or in `any_tensor` those of `PARAMETER`, again, predicted by:
WRONG_POWER = "wrong_power"  # Theorem 5 with y / alpha in place of y / alpha^2
OPPOSITE_LABEL = "opposite_label"  # Theorem 5 with the label -y
LEAST_NORM = "least_norm"  # the interpolator of least norm, in the network's own norm

# The largest lambda with a_j^2 - b_j^2 >= lambda for all j (Theorem 5). a_j and b_j are the directions of v_1 and v_2
# along the j-th singular vectors of M(x); the vectors of equal singular values may be rotated among themselves.
CONDITION = "condition"
RESIDUAL = "residual"  # |f(x) - y|
LOSS = "loss"  # sum_i (f(x_i) - y_i)^2 / 2, or sum_i exp(-y_i f(x_i))
LOSS_BY_GROWTH = "loss_by_growth"  # 1 / (t |grad log L|^2) at the last time t: the loss L there if L falls like 1/t
ANGLE = "angle"  # degrees between beta and the direction of largest margin in the network's own norm
REFERENCE = "reference"  # an entry of the solution of least norm, or of largest margin, in the network's own norm
LABELLED_POINTS = "labelled_points"  # entries of y_i x_i, one point after the other

# A singular coordinate is the component of a layer along a singular vector of M(x). This is the most that Theorem 5 can
# leave at the limit of those whose singular value is not the largest, relative to those whose is; at most one.
REMAINDER = "remainder"
SECOND_SINGULAR_VALUE = "second_singular_value"  # s_2 / s_1
