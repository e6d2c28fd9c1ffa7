"""Names in the tables: quantities, and kinds of start, as runs and metrics write them and claims read them.

W = W_N ... W_1 is the end-to-end matrix of N layers, W(0) at the start, and l(t) the loss after t steps, or at time t
of a flow. The guarantee is the theorem of slide 22 (Arora et al. 2019, theorem 1) for the loss ||W - W*||_F^2 / 2, with
the target W*. It assumes of the start that

- every matrix with a singular value up to the margin c > 0 has more loss;
- the layers are nearly balanced: their imbalance max_j ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F is at most of order c^2.

It then promises l(t) <= l(0) exp(-c^(2(N-1)/N) eta t) for t steps of size eta.
"""

# Of gradient descent on whitened data, at the learning rate that needs the fewest steps; empty where descent arrived at
# no rate
STEPS = "steps"  # to a loss within the tolerance of the least one
LEARNING_RATE = "learning_rate"  # that rate
INITIAL_NORM = "initial_norm"  # ||W(0)||_F, also where descent arrived at no rate

# Under the guarantee, whose loss has the least value 0, at W = W*
INITIAL_EXCESS = "initial_excess"  # l(0) = ||W(0) - W*||_F^2 / 2
RELATIVE_EXCESS = "relative_excess"  # l(t) / l(0); predicted the guaranteed bound exp(-c^(2(N-1)/N) eta t)
# The smallest of -log(l(t) / l(0)) / time, over the times until l(t) / l(0) falls to rounding. For descent the time is
# eta t, and nothing is predicted; for flows it is flow time, and the guaranteed rate c^(2(N-1)/N) is predicted
SMALLEST_RATE = "smallest_rate"
IMBALANCE = "imbalance"  # max_j ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F at the start

# Of other convex losses, whose least value is 0, too
RELATIVE_LOSS = "relative_loss"  # l(t) / l(0)
LOSS_OVER_SINGULAR = "loss_over_singular"  # l(0) over a lower bound on the loss of singular matrices

# Of random starts with one output and a target of norm one
MEETS_ASSUMPTION = "meets_assumption"  # whether ||W(0) - W*|| < 1 - c, the least distance of a W of norm <= c: 1 or 0
CONVERGED = "converged"  # whether descent reached the tolerance: 1 or 0; empty where there was no descent

# Of the saddle at zero weights; the loss is ||W - W*||_F^2 / 2, and sigma_1 the largest singular value of W*. Every
# layer is epsilon times a layer of unit norm, along the direction in which the loss falls fastest. The fall is the loss
# at zero less this loss: epsilon^N sigma_1 - epsilon^(2N) / 2
ORDER = "order"  # d log(fall) / d log(epsilon) between the two smallest epsilon; predicted the depth N
# smallest eigenvalue of the loss's Hessian at zero weights, over sigma_1; predicted -1 at depth 2 and 0 beyond
CURVATURE = "curvature"
FALL = "fall"  # the fall at the smallest epsilon; predicted its leading term, epsilon^N sigma_1
NEXT_TERM = "next_term"  # the second term over the leading one there, epsilon^N / (2 sigma_1); nothing predicts it

# Starts of gradient descent, by which of the two assumptions of the guarantee they break
MEETS_BOTH = "assumptions hold"  # balanced layers of W* with its last singular value lowered to c
ALLOWED_IMBALANCE = "imbalance allowed"  # the same product, from layers with all the imbalance that is allowed
BEYOND_SINGULAR = "beyond a singular matrix"  # balanced layers of W* with the sign of its last singular value turned
TOO_FAR = "too far"  # balanced layers of a multiple of W*: more loss than zero weights have, and too long a step
UNBALANCED = "unbalanced"  # layers of `MEETS_BOTH`, the first multiplied and the second divided by one large number
UNBALANCED_SHORTER_STEP = "unbalanced, shorter step"  # the same layers; the step is divided by that number's square

# Starts of gradient flow at a given margin c; layers are balanced where nothing else is said
SMALLEST_DIRECTION = "smallest direction"  # W* with its last singular value lowered to c
SMALLEST_DIRECTION_UNBALANCED = "smallest direction, imbalance allowed"  # the same product, with all allowed imbalance
RANDOM_DIRECTION = "random direction"  # in a random direction from W*, as far from it as `SMALLEST_DIRECTION`

# Starts of gradient flow on other convex losses; layers are balanced
BELOW = "below"  # W has less loss than every singular matrix
BEYOND = "beyond"  # the optimum with the sign of one singular value turned; a path to the optimum meets a singular W

# Standard deviation of the entries of a random start with one output: in proportion to 1 / dimension, 1 / its root
OVER_DIMENSION, OVER_ROOT = "over the dimension", "over the root"
