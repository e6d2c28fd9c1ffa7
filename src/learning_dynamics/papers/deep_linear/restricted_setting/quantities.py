"""Quantities of the ends on commuting measurements, as metrics write them and claims read them."""

NUCLEAR_NORM_BESIDE_LEAST_SQUARES = "least_squares_norm"
# the nuclear norm at the end again; predicted that of the fitting matrix of least Frobenius norm
MISFIT = "misfit"  # largest error of a measurement, relative to the measured value
SCHATTEN_CHANGE = "schatten_change"  # relative change of sum sigma^p, by power, when two eigenvectors are turned
MEASUREMENT_CHANGE = "measurement_change"  # largest relative change of a measurement under this turn
SCHATTEN_EXCESS = "schatten_excess"  # 1 - least sum sigma^p / sum sigma^p at the end, by power p above 1
