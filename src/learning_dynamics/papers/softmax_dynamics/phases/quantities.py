"""Names of the quantities of the toy's single flows; `metrics.toy`, which measures them, says more.

Alignment and separation have their names in `grids`, ranks in `spectra`.
"""

SIGMA = "sigma"  # singular values of the features
RATE = "rate"  # their derivatives in time
PROBABILITY = "probability"  # of its own class, mean over a class's examples; under the squared loss, the output
LOSS = "loss"  # summed over examples
FEATURE = ("feature_x", "feature_y")  # the two coordinates of the features, by example, of the first members
CLASS = ("class_x", "class_y")  # the two coordinates of the classifier's columns, by class, of the same members
