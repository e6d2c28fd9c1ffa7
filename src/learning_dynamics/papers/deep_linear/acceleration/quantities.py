"""Quantities of descent on regressions, as its metrics write them and claims read them.

The loss is the mean of |x.w - y|^p over samples x with labels y, for end-to-end weights w.
"""

# of `lp_descent`: the first iteration with loss <= (1 + tolerance) * least loss, in one row for each learning rate;
# empty where no iteration has such a loss
ITERATIONS = "iterations"
FEATURES = "features"  # number of columns of the data, from which claims and figures know the data set
GAS_SENSOR = "gas sensor"
DATA_SETS = {3: "linnerud", 4: "iris", 10: "diabetes", 13: "wine", 128: GAS_SENSOR}  # by their number of features

# Of `two_samples`: steps until the loss is at most the tolerance times the loss at zero weights. A learning rate is
# stable if it and the next smaller ones all arrive, and their numbers of steps are nearly in inverse proportion to
# rates (`steps_at_limit`). A larger rate may arrive in fewer steps, by luck
STEPS = "steps"  # at the largest stable learning rate; empty where no rate is stable, or the largest one tried is
FEWEST_STEPS = "fewest_steps"  # the fewest over all learning rates tried, stable or not; empty where none arrives
