"""Quantities of where flows on commuting measurements end, as metrics write them and claims read them."""

# the number of `deep_linear.quantities.NUCLEAR_NORM`, predicted by the nuclear norm of the fitting matrix of least
# Frobenius norm
NORM_AGAINST_LEAST_SQUARES = "least_squares_norm"
MEASUREMENT_ERROR = "misfit"  # largest error of a measurement, relative to the measured value
SCHATTEN_EXCESS = "schatten_excess"  # 1 - least sum sigma^p / sum sigma^p at the end, by power p above 1

# when two eigenvectors are turned, as `metrics.commuting_measurements` does
SCHATTEN_CHANGE = "schatten_change"  # relative change of sum sigma^p, by power
MEASUREMENT_CHANGE = "measurement_change"  # largest relative change of a measurement
