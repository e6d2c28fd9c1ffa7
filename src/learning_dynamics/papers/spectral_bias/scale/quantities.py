"""Names of quantities at vanishing scales; `metrics` writes them, claims and figures read them.

beta = W1 W2 and both layers are those at the end of the flow; beta_* is the minimum-norm interpolator, |.| the
Frobenius norm. The n-th column of W1 belongs to the n-th hidden unit, and starts at sqrt(2 gamma) P_n.
"""

TIME_TO_LOSS = "time_to_loss"  # when L falls to a share of L(0); predicted, with one output: by the bound of Lemma C.8
FIRST_GRADIENT = "first_gradient"  # |X^T Y|, the rate at which both layers grow near zero

# the same number twice: `BETA_NORM` is a scale to compare gamma with, `FROBENIUS_NORM` a rival of the nuclear norm
BETA_NORM = "beta_norm"  # |beta_*|
FROBENIUS_NORM = "frobenius_norm"  # |beta_*|
NUCLEAR_NORM = "nuclear_norm"  # sum of the singular values of beta_*
LEAST_SINGULAR_VALUE = "least_singular_value"  # of beta_*, the least that is not zero
HALF_SQUARE = "half_square"  # (|W1|^2 + |W2|^2) / 2
INCREASE_ELSEWHERE = "increase_elsewhere"  # least (|b|_nuclear - |beta_*|_nuclear) / |b - beta_*|, X b = Y, b at random

# Psi_gamma of the singular values of beta, the sum of (s asinh(s / gamma) - sqrt(s^2 + gamma^2)) / 2, or as Theorem 3.2
# (a) prints it, with the half before the first term alone
POTENTIAL = "potential"
PRINTED_POTENTIAL = "printed_potential"

# with the first left singular vector u of beta
LARGEST_SINE = "largest_sine"  # largest |w - u u^T w| / |w| over the columns w of W1
PART_ACROSS = "part_across"  # |W1 - u u^T W1| / |W1|
# with one output, of each column
COMPONENTS_ALONG = "components_along"  # beta^T W1 / (|beta| sigma_1(W1)); predicted the shares (X^T Y)^T P / |X^T Y|
SHARES_OF_BETA_STAR = "shares_of_beta_star"  # beta_*^T P / |beta_*|: components along beta_* at the start
