"""Names in the tables: quantities, and kinds of start, as runs and metrics write them and claims read them."""

# of descent from a range of initialisations, at the best learning rate; empty where none converged
STEPS = "steps"
LEARNING_RATE = "learning_rate"
INITIAL_NORM = "initial_norm"  # ||W(0)||_F

# under the guarantee, whose loss is half the squared distance from its optimum W*: an excess over the least loss; c is
# the margin, N the depth
INITIAL_EXCESS = "initial_excess"  # l(0) - min l = ||W(0) - W*||_F^2 / 2
RELATIVE_EXCESS = "relative_excess"  # (l(t) - min l) / (l(0) - min l); predicted the bound exp(-c^(2(N-1)/N) eta t)
# min over t of -log((l(t) - min l) / (l(0) - min l)) / t, of descent over eta t, while the excess is above rounding;
# of flows predicted c^(2(N-1)/N)
SMALLEST_RATE = "smallest_rate"
IMBALANCE = "imbalance"  # max_j ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F at the start

# of convex losses whose least value is 0
RELATIVE_LOSS = "relative_loss"  # l(t) / l(0)
LOSS_OVER_SINGULAR = "loss_over_singular"  # l(0) over a lower bound on the loss of singular matrices

# of random starts with one output
MEETS_ASSUMPTION = "meets_assumption"  # whether ||W(0) - W*|| is below one, that of W = 0, by the margin: 1 or 0
CONVERGED = "converged"  # whether descent reached the tolerance: 1 or 0; empty where it was not followed

# of the saddle at zero weights
ORDER = "order"  # d log(fall of the loss) / d log(distance); predicted the depth N
CURVATURE = "curvature"  # the Hessian's smallest eigenvalue at zero over sigma_1 of the gradient; predicted -1 or 0
FALL = "fall"  # fall of the loss at the smallest distance epsilon; predicted its leading term, epsilon^N sigma_1
NEXT_TERM = "next_term"  # share of the leading term that the next and last term takes there: epsilon^N / (2 sigma_1)

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
