"""Quantities of where flows on commuting measurements end, as metrics write them and claims read them.

W is the layers' product at the end of a flow, with singular values sigma. Measurement i of W is tr(A_i W), for
symmetric A_i that commute; y_i is its value for a hidden matrix. A matrix fits if all its measurements have these
values.
"""

# The nuclear norm of W. The table has it twice: as `deep_linear.quantities.NUCLEAR_NORM`, predicted the least nuclear
# norm of positive semidefinite matrices that fit; and here, predicted the nuclear norm of the fitting matrix of least
# Frobenius norm
NORM_AGAINST_LEAST_SQUARES = "least_squares_norm"
MEASUREMENT_ERROR = "misfit"  # largest |tr(A_i W) - y_i| / y_i over i
# 1 - (the least sum of |x|^p) / (the sum of sigma^p), where x are the eigenvalues of fitting matrices that commute with
# all A_i; in one row for each p of the setting `powers`, nan for p up to 1
SCHATTEN_EXCESS = "schatten_excess"

# Of a move: W is changed off the diagonal in the basis of the common eigenvectors, to which all measurements are blind
# (`metrics.commuting_measurements`)
SCHATTEN_CHANGE = "schatten_change"  # change of the sum of sigma^p, relative to it; in one row for each p of `powers`
MEASUREMENT_CHANGE = "measurement_change"  # largest change of a measurement over i, relative to y_i
