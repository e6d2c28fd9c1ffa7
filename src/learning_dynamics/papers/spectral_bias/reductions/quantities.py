"""Names of what `metrics.reduced_flow` measures; `metrics` writes them, claims and figures read them.

Z1 = W1 P^T and Z2 = P W2 are the network's layers in the span of the rows of P (Lemma 3.1), alpha = Z1^{-T} Z2 (Lemma
3.3), beta = W1 W2. The pair (z1, z2), the Riccati equation's solution a and the mirror flow are integrated by
themselves.
"""

PART_OUTSIDE_P = "part_outside_P"  # the larger of |W1 - Z1 P| and |W2 - P^T Z2|, over |W1|
DISTANCE_FROM_PAIR = "distance_from_pair"  # the larger of |Z1 - z1| and |Z2 - z2|, over |W1| (eq. 3.4)
DISTANCE_FROM_UNIT_PAIR = "distance_from_unit_pair"  # |Z1 - z1 / sqrt(2 gamma)| / |W1|, as from z1(0) = I
CONDITION_OF_Z1 = "condition_of_Z1"  # sigma_1(Z1) / sigma_d(Z1)

SIGMA_ALPHA = "sigma_alpha"  # singular values of alpha; predicted those of a
DISTANCE_OF_ALPHA = "distance_of_alpha"  # |alpha - a|, a' = R - a R^T a from 0 (Lemma 3.3)
# with f(a) = (I - a a^T)^{-1} a:
DISTANCE_OF_BETA = "distance_of_beta"  # |beta - 2 gamma f(a)| / |beta_*| (Lemma C.2)
DISTANCE_OF_BETA_WITHOUT_2_GAMMA = "distance_of_beta_without_2_gamma"  # |beta - f(a)| / |beta_*|
DISTANCE_OF_BETA_SPEED = "distance_of_beta_speed"  # |beta' - f(a)| / |beta'(first time)|, as Lemma 3.3 prints it

# of each singular value s_i of beta, with its vectors u and v: phi''(s_i) u^T beta' v, the speed of its mirror
# coordinate phi'(s_i), predicted to be the force u^T R v (Theorem 3.2 (a)); phi(s) = (s asinh(s / gamma) -
# sqrt(s^2 + gamma^2)) / 2, or as printed, with the half before the first term alone
MIRROR_SPEED = "mirror_speed"
PRINTED_MIRROR_SPEED = "printed_mirror_speed"
# the mirror coordinate phi'(s_i) itself; predicted its first value and the integral of the force
MIRROR_COORDINATE = "mirror_coordinate"
PRINTED_MIRROR_COORDINATE = "printed_mirror_coordinate"
BETA = "beta"  # entries of beta, with one output; predicted by the mirror flow of psi_gamma (eq. 3.3)
