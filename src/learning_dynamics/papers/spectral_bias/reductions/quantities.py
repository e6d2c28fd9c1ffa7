"""Names of what `metrics.reduced_flow` measures; `metrics` writes them, claims and figures read them.

Of the network, W1 and W2 are the layers and beta = W1 W2 the predictor. W1 starts along the orthonormal rows P, at
sqrt(2 gamma) P with the initialisation scale gamma. Z1 = W1 P^T and Z2 = P W2 are the layers in the span of these rows
(Lemma 3.1), and alpha is Z1^{-T} Z2 (Lemma 3.3). R is X^T (Y - X beta). With d inputs and k outputs, Z1 has the shape
(d, d); Z2, alpha, beta and R have the shape (d, k).

The smaller systems are integrated by themselves, and have other letters. The pair (z1, z2) follows the equations of
(Z1, Z2) from z1 = sqrt(2 gamma) I and z2 = 0 (eq. 3.4). a follows the Riccati equation of alpha, da/dt = R - a R^T a
with the R that a gives, from a = 0 (Lemma 3.3).

beta' is the derivative of beta by time, beta_* the minimum-norm interpolator, and |.| the Frobenius norm.
"""

PART_OUTSIDE_P = "part_outside_P"  # the larger of |W1 - Z1 P| and |W2 - P^T Z2|, over |Z1| (Lemma 3.1)
DISTANCE_FROM_PAIR = "distance_from_pair"  # the larger of |Z1 - z1| and |Z2 - z2|, over |Z1| (Lemma 3.1, eq. 3.4)
# |Z1 - z1 / sqrt(2 gamma)| / |Z1|: z1 / sqrt(2 gamma) starts at I, as the proof of Lemma 3.1 prints of Z1 (errata 7)
DISTANCE_FROM_UNIT_PAIR = "distance_from_unit_pair"
CONDITION_OF_Z1 = "condition_of_Z1"  # sigma_1(Z1) / sigma_d(Z1)

SIGMA_ALPHA = "sigma_alpha"  # singular values of alpha; predicted are those of a (Lemma 3.3)
DISTANCE_OF_ALPHA = "distance_of_alpha"  # |alpha - a| (Lemma 3.3)
# with f(a) = (I - a a^T)^{-1} a:
DISTANCE_OF_BETA = "distance_of_beta"  # |beta - 2 gamma f(a)| / |beta_*| (Lemma C.2)
DISTANCE_OF_BETA_WITHOUT_2_GAMMA = "distance_of_beta_without_2_gamma"  # |beta - f(a)| / |beta_*|
# |beta' - f(a)| over |beta'| at the first time: Lemma 3.3 prints f(a) for beta' (errata 4)
DISTANCE_OF_BETA_SPEED = "distance_of_beta_speed"

# of each singular value s of beta, with its singular vectors u and v and the mirror potential
# phi(s) = (s asinh(s / gamma) - sqrt(s^2 + gamma^2)) / 2 (Theorem 3.2 (a)); names with `printed` are of
# s asinh(s / gamma) / 2 - sqrt(s^2 + gamma^2), as the theorem prints it (errata 1)
MIRROR_SPEED = "mirror_speed"  # phi''(s) u^T beta' v, the speed of phi'(s); predicted is the force u^T R v
PRINTED_MIRROR_SPEED = "printed_mirror_speed"  # the same by the printed potential; predicted is the same force
# phi'(s), the mirror coordinate; predicted is phi'(s) at the first time plus the integral of the force from then on
MIRROR_COORDINATE = "mirror_coordinate"
PRINTED_MIRROR_COORDINATE = "printed_mirror_coordinate"  # predicted as `MIRROR_COORDINATE` is, with phi as corrected
BETA = "beta"  # entries of beta, with one output; predicted by the mirror flow of psi_gamma (Theorem 3.2 (b), eq. 3.3)
