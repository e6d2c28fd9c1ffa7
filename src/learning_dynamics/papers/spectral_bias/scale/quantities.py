"""Names of quantities at vanishing scales; `metrics` writes them, claims and figures read them.

beta = W1 W2, and both layers, are those at the end of the flow, but for the time to a given loss. beta_* is the
minimum-norm interpolator, gamma the initialisation scale, L the loss, and |.| the Frobenius norm. W1 starts at
sqrt(2 gamma) P with orthonormal rows P, W2 at zero; the n-th columns of W1 and of P belong to the n-th hidden unit.
"""

# when L has fallen to a given share of L(0); predicted, with one output, is the time by which the bound of Lemma C.8
# has fallen to it, which is no earlier
TIME_TO_LOSS = "time_to_loss"
FIRST_GRADIENT = "first_gradient"  # |X^T Y|; with one output the rate at which both layers grow near zero

# the same number twice: `BETA_NORM` is a scale to compare gamma with, `FROBENIUS_NORM` a rival of the nuclear norm
BETA_NORM = "beta_norm"  # |beta_*|
FROBENIUS_NORM = "frobenius_norm"  # |beta_*|
NUCLEAR_NORM = "nuclear_norm"  # |beta_*|_nuclear, the sum of the singular values of beta_*
LEAST_SINGULAR_VALUE = "least_singular_value"  # of those of beta_* that are not zero
HALF_SQUARE = "half_square"  # (|W1|^2 + |W2|^2) / 2
# (|b|_nuclear - |beta_*|_nuclear) / |b - beta_*|, the least over random interpolators b, X b = Y
INCREASE_ELSEWHERE = "increase_elsewhere"

# the mirror potential Psi_gamma(beta), a sum over the singular values s of beta (Theorem 3.2 (a))
POTENTIAL = "potential"  # of (s asinh(s / gamma) - sqrt(s^2 + gamma^2)) / 2, as the dynamics have it
PRINTED_POTENTIAL = "printed_potential"  # of s asinh(s / gamma) / 2 - sqrt(s^2 + gamma^2), as printed (errata 1)

# with the first left singular vector u of beta
LARGEST_SINE = "largest_sine"  # |w - u u^T w| / |w|, the largest over the columns w of W1
PART_ACROSS = "part_across"  # |W1 - u u^T W1| / |W1|
# with one output, an entry for each hidden unit
COMPONENTS_ALONG = "components_along"  # beta^T W1 / (|beta| sigma_1(W1)); predicted (X^T Y)^T P / |X^T Y|
SHARES_OF_BETA_STAR = "shares_of_beta_star"  # beta_*^T P / |beta_*|, the components along beta_* of the columns of P
