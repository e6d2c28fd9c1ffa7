"""Names of the quantities of flows from one cell of the toy: `metrics.toy` writes them, figures and claims read them.

f has a row of features for each example; the classifier W has a column for each class. The logits of an example are its
row of f W. A cell is one choice of class sizes, dimension, kind of start and scale; its members differ in their draw.
Alignment and separation have their names in `grids`, ranks in `spectra`.
"""

SIGMA = "sigma"  # singular values of f, the largest first
RATE = "rate"  # derivatives in time of these singular values
# by class: the probability that an example's own class gets, as the mean over the class's examples; under the squared
# loss its own logit instead
PROBABILITY = "probability"
LOSS = "loss"  # the loss of the run, summed over examples
# of the first members alone, as many as `metrics.toy` is asked for:
FEATURE = ("feature_x", "feature_y")  # first and second coordinate of each row of f, by example
CLASS = ("class_x", "class_y")  # first and second coordinate of each column of W, by class
