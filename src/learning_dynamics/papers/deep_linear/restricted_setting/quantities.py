"""Quantities of where flows on commuting measurements end, as metrics write them and claims read them."""

# measured, the same nuclear norm as `deep_linear.quantities.NUCLEAR_NORM`; predicted, that of the fitting matrix of
# least Frobenius norm
NORM_AGAINST_LEAST_SQUARES = "least_squares_norm"
MEASUREMENT_ERROR = "misfit"  # largest error of a measurement, relative to the measured value
# 1 - least sum sigma^p / sum sigma^p at the end, with the least over fitting matrices that commute with the
# measurements; by place in the setting `powers`, nan for p up to 1
SCHATTEN_EXCESS = "schatten_excess"

# when two eigenvectors are turned, as `metrics.commuting_measurements` does
SCHATTEN_CHANGE = "schatten_change"  # relative change of sum sigma^p, by place in `powers`
MEASUREMENT_CHANGE = "measurement_change"  # largest relative change of a measurement
