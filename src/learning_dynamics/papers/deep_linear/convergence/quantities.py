"""Names in the tables: quantities, and kinds of start, as runs and metrics write them and claims read them."""

LOSS = "loss"  # over the first one; predicted the guaranteed bound
RATE = "rate"  # the smallest of -log(loss(t) / loss(0)) / t, in descent over eta t; predicted the guaranteed rate
FIRST_EXCESS = "first_excess"  # half the squared distance from the target at the start
EXCESS = "excess"  # a convex loss over the first one
FRACTION = "fraction"  # the first loss over the least that singular matrices have
HOLDS = "holds"  # whether a random start meets the first assumption: 1 or 0
REACHED = "reached"  # whether descent reached the tolerance: 1 or 0; empty where it was not followed
ORDER = "order"  # d log(fall of the loss) / d log(distance) from zero weights; predicted the depth N
CURVATURE = "curvature"  # the Hessian's smallest eigenvalue at zero over sigma_1 of the gradient; predicted -1 or 0
FALL = "fall"  # fall of the loss at the smallest distance epsilon; predicted its leading term, epsilon^N sigma_1
NEXT_TERM = "next"  # share of the leading term that the next and last term takes there

# Starts of descent under the guarantee, by which of its two assumptions they break
MEETS_BOTH = "assumptions hold"  # balanced, and the loss as barely below that of singular matrices as is allowed
ALLOWED_IMBALANCE = "imbalance allowed"  # the same end-to-end matrix, from layers as unbalanced as is allowed
BEYOND_SINGULAR = "beyond a singular matrix"  # balanced, one singular value with the wrong sign
TOO_FAR = "too far"  # balanced, a large multiple of the target: more loss than zero has, and too long a step
UNBALANCED = "unbalanced"  # the end-to-end matrix of `MEETS_BOTH`, its first layers rescaled beyond what is allowed
UNBALANCED_SHORTER_STEP = "unbalanced, shorter step"  # the same, at a step divided by the square of the rescaling

# Starts of flows at given margins
SMALLEST_DIRECTION = "smallest direction"  # the target with its last singular value lowered to the margin
SMALLEST_DIRECTION_UNBALANCED = "smallest direction, imbalance allowed"  # the same, with all the imbalance allowed
RANDOM_DIRECTION = "random direction"  # as far from the target in a random direction as the margin allows

# Starts on other convex losses
BELOW = "below"  # with less loss than every singular matrix
BEYOND = "beyond"  # the optimum with one singular value's sign turned, which singular matrices separate from it

# Deviations of the entries of a random start with one output
OVER_DIMENSION, OVER_ROOT = "over the dimension", "over the root"
