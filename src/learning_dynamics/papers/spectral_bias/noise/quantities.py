"""Names of what is measured of the noise-driven process; `metrics` writes them, claims and figures read them.

The process is dW = dB a^T, da = W^T dB (eq. 4.1). w_i are columns of W where squares are summed, and rows of W in the
commutators [w_i, a] = w_i a^T - a w_i^T.
"""

# -- many paths, `metrics.noise_process` -----------------------------------------------------------------------------

# statistics over paths
MEAN = "mean"
SHARE_ABOVE_ONE = "share above 1"  # the share of paths on which the quantity is above 1

HIDDEN_SQUARE = "hidden_square"  # |w_i|^2 of a column of W, in the mean over columns; predicted cosh(sqrt(d) t)
OUTPUT_SQUARE = "output_square"  # a_i^2, in the mean over entries; predicted sinh(sqrt(d) t) / sqrt(d)
AVERAGE_SQUARE = "average_square"  # b_i^2, in the mean over entries, b = e^{-t} int_0^t e^s a(s) ds
SIGMA_1 = "sigma_1"  # sigma_1(W)
DETERMINANT = "determinant"  # det W; predicted 1
SINE_OF_ANGLE = "sine_of_angle"  # of the angle between the first row of W and a

# e is the entry W_i1 a_2 - W_i2 a_1 of the commutator [w_i, a] in the first two columns, one for each row i
COMMUTATOR_ENTRY = "commutator_entry"  # |e|, in the mean over rows
COMMUTATOR_ENTRY_SQUARED = "commutator_entry_squared"  # e^2, in the mean over rows
COMMUTATOR_LENGTH = "commutator_length"  # root of the sum of e^2 over rows: |W_.1 a_2 - W_.2 a_1| of two columns


def power_of_W(power: float) -> str:
    """Return the name of |W|^power."""
    return f"power_of_W_{power:g}"


def power_of_a(power: float) -> str:
    """Return the name of |a|^power + |b|^power, b the moving average of a."""
    return f"power_of_a_{power:g}"


# -- along single paths, `metrics.noise_paths`, with `DETERMINANT` -----------------------------------------------------

SIGMA = "sigma"  # singular values of W
COMMUTATOR_NORM = "commutator_norm"  # |[w_i, a]|, the Frobenius norm, of each row w_i of W


# -- along long paths, `metrics.noise_exponents`: growth rates per unit of time, lambda_1 >= ... >= lambda_{d+1} -----

DIRECTION_RATE = "direction_rate"  # lambda_i, of the i-th direction of (W, a); up to i = d that of sigma_i(W)
COMMUTATOR_RATE = "commutator_rate"  # lambda_1 + lambda_2, of the commutators of rows with a
ANGLE_RATE = "angle_rate"  # lambda_2 - lambda_1, of the angle between rows and a
VOLUME_RATE = "volume_rate"  # lambda_1 + ... + lambda_{d-1}; predicted 0
TOTAL_RATE = "total_rate"  # lambda_1 + ... + lambda_{d+1}; predicted -d
DIFFERENCE_BETWEEN_STEPS = "difference_between_steps"  # largest difference of a lambda_i with a step and with twice it
