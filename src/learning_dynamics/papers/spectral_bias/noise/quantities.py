"""Names of what is measured of the noise-driven process; `metrics` writes them, claims and figures read them.

The process is dW = dB a^T, da = W^T dB from W(0) = I and a(0) = 0 (eq. 4.1). d is the dimension: W is a d x d matrix, a
has d entries, and B is a Brownian motion of d entries. As in the paper, w_i is a column of W where squares are summed
(Proposition 4.1 (a)), and a row of W in the commutator [w_i, a] = w_i a^T - a w_i^T (Proposition 4.1 (c)).
"""

# -- statistics over many paths, `metrics.noise_process` ---------------------------------------------------------------

# names of statistics; others are `quantile 0.5` and the like. Predictions are those of means
MEAN = "mean"
SHARE_ABOVE_ONE = "share above 1"  # the share of paths on which the quantity is above 1

# quantities of one path at one time
HIDDEN_SQUARE = "hidden_square"  # |w_i|^2, the mean over the columns of W; predicted cosh(sqrt(d) t)
OUTPUT_SQUARE = "output_square"  # a_i^2, the mean over the entries of a; predicted sinh(sqrt(d) t) / sqrt(d)
# b_i^2, the mean over the entries of b = e^{-t} int_0^t e^s a(s) ds, the exponential moving average of a
AVERAGE_SQUARE = "average_square"
SIGMA_1 = "sigma_1"  # the largest singular value of W
DETERMINANT = "determinant"  # det W; predicted 1, as it is a martingale
SINE_OF_ANGLE = "sine_of_angle"  # of the angle between the first row of W and a

# [w_i, a] is antisymmetric. e_i = W_i1 a_2 - W_i2 a_1 is its entry in row 1 and column 2, one for each row w_i of W.
# `theory.commutator_second_moment` predicts the mean square
COMMUTATOR_ENTRY = "commutator_entry"  # |e_i|, the mean over the rows i
COMMUTATOR_ENTRY_SQUARED = "commutator_entry_squared"  # e_i^2, the mean over the rows i; predicted
# the root of the sum of e_i^2 over the rows i: the length of c = W_.1 a_2 - W_.2 a_1, with the first two columns of W;
# predicted (`theory.mean_commutator`)
COMMUTATOR_LENGTH = "commutator_length"


def power_of_W(power: float) -> str:
    """Return the name of |W|^power, with the Frobenius norm."""
    return f"power_of_W_{power:g}"


def power_of_a(power: float) -> str:
    """Return the name of |a|^power + |b|^power, where b is the exponential moving average of a."""
    return f"power_of_a_{power:g}"


# -- along single paths, `metrics.noise_paths`, which also writes `DETERMINANT` ----------------------------------------

SIGMA = "sigma"  # singular values of W, the largest first
COMMUTATOR_NORM = "commutator_norm"  # |[w_i, a]|, the Frobenius norm, of each row w_i of W


# -- along long paths, `metrics.noise_exponents` -----------------------------------------------------------------------

# Almost sure growth rates per unit of time, predicted by `theory.lyapunov_exponents`. (W, a) is the matrix of shape
# (d + 1, d) with the rows of W and a as the last one. lambda_1 >= ... >= lambda_{d+1} are the rates at which its d + 1
# directions grow: lambda_1 + ... + lambda_p, p <= d, is the rate of the volume that p of its columns span
DIRECTION_RATE = "direction_rate"  # lambda_i, for i up to d the rate of sigma_i(W)
COMMUTATOR_RATE = "commutator_rate"  # lambda_1 + lambda_2, of the commutators of rows with a
RATIO_RATE = "ratio_rate"  # lambda_2 - lambda_1, of sigma_2(W) / sigma_1(W)
VOLUME_RATE = "volume_rate"  # lambda_1 + ... + lambda_{d-1}; predicted 0
TOTAL_RATE = "total_rate"  # lambda_1 + ... + lambda_{d+1}; predicted -d
# the difference that doubling the step makes to a lambda_i, for the i for which it is largest; not predicted
DIFFERENCE_BETWEEN_STEPS = "difference_between_steps"
