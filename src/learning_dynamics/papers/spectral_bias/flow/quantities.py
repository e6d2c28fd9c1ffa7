"""Names of quantities along the flow and at its limit; `metrics` writes them, claims and figures read them.

X, of shape (n, d), has n samples as rows, and Y, of shape (n, k), their labels: d inputs and k outputs. The layers are
W1, of shape (d, l), and W2, of shape (l, k), with l hidden units. beta = W1 W2, of shape (d, k), is the predictor,
beta_* the minimum-norm interpolator, and R = X^T (Y - X beta), of shape (d, k).

P, of shape (d, l), has orthonormal rows. The start is W1(0) = sqrt(2 gamma) P, with the initialisation scale gamma, or
W1(0) = diag(lengths) P with d unequal lengths; W2(0) = 0. Z1 = W1 P^T, of shape (d, d), and Z2 = P W2, of shape (d, k),
are the layers in the span of the rows of P (Lemma 3.1). alpha = Z1^{-T} Z2 has the shape (d, k) (Lemma 3.3).
D = Z1^T Z1 - Z2 Z2^T, of shape (d, d), is the imbalance: 2 gamma I from rows of one length (Lemma 3.2), diag(lengths)^2
from rows of unequal lengths.

theta is both layers together, theta_infinity its limit. lambda_min(X X^T), the smallest eigenvalue that is not zero, is
sigma_min(X)^2. sigma_1 is the largest singular value, |.| the Frobenius norm, and [M, N] = MN - NM the commutator. The
names of `layers.spectra_and_loss` are in the paper's `quantities`.
"""

# -- one number for the flow of each draw ------------------------------------------------------------------------------

# |theta(t) - theta_infinity| over its bound |Y - X beta(t)| / sqrt(2 gamma lambda_min(X X^T)): the largest ratio over
# the times before the residual has settled. The bound follows from Lemma 3.2, and is used for Theorem 3.1 (i)
DISTANCE_OVER_ITS_BOUND = "distance_over_its_bound"
BOUND_AT_END = "bound_at_end"  # this bound at the end of the flow, over |theta_infinity|
INVERSE_CONDITION_OF_X = "inverse_condition_of_X"  # sigma_min(X) / sigma_max(X)

# -- along the flow ----------------------------------------------------------------------------------------------------

# |theta(t) - theta_infinity| / |theta_infinity|; predicted is the bound in `DISTANCE_OVER_ITS_BOUND` over
# |theta_infinity|, which the distance must not exceed
PARAMETER_DISTANCE = "parameter_distance"
LARGEST_EIGENVALUE = "largest_eigenvalue"  # sigma_1(Z1)^2, the largest eigenvalue of Z1^T Z1
IMBALANCE = "imbalance"  # eigenvalues of D; predicted 2 gamma (Lemma 3.2, eq. (C.8))
IMBALANCE_DRIFT = "imbalance_drift"  # sigma_1(D(t) - D(0)) / sigma_1(Z1)^2, from rows of unequal lengths
CONDITION_OF_Z1 = "condition_of_Z1"  # sigma_1(Z1) / sigma_d(Z1)
# In the singular basis of beta_* = U S V^T, the part off the diagonal of beta and of alpha, over their norm: zero on
# whitened data (Theorem C.11)
BETA_OFF_DIAGONAL = "beta_off_diagonal"  # |U^T beta V less its diagonal| / |beta|
ALPHA_OFF_DIAGONAL = "alpha_off_diagonal"  # |U^T alpha V less its diagonal| / |alpha|
ALPHA_OUTSIDE_DATA = "alpha_outside_data"  # |alpha - X^+ X alpha| / |alpha|, zero (Lemma C.3)

# the larger of |[beta beta^T, W1 W1^T]| / (|beta beta^T| |W1 W1^T|) and
# |[beta^T beta, W2^T W2]| / (|beta^T beta| |W2^T W2|): zero if beta has the left singular vectors of W1 and the right
# ones of W2 (Theorem C.11)
COMMUTATOR_WITH_LAYERS = "commutator_with_layers"
COMMUTATOR_WITH_ALPHA = "commutator_with_alpha"  # the same with alpha for W1 and for W2

# Asymmetry |M - M^T| of a product M, over the norms of its factors, where |R(0)| is taken for |R|: zero where
# X^T X = I. The names in tables are the numbers of the equations that say so
R_T_ALPHA_ASYMMETRY = "c_17"  # M = R^T alpha, of shape (k, k) (C.17)
R_ALPHA_T_ASYMMETRY = "c_18"  # M = R alpha^T, of shape (d, d) (C.18)
Z1_T_R_Z2_T_ASYMMETRY = "c_22"  # M = Z1^T R Z2^T, of shape (d, d) (C.22)

# Rate at which a squared norm |M|^2 falls, -d|M|^2/dt / |M|^2, in units of gamma lambda_min(X X^T) (Lemma C.6). Rows of
# the phase `flow` have the rate at each time, rows of the phase `draw` the slowest rate of the draw's flow
DECAY_RATE_OF_R = "decay_rate_of_R"  # M = R; at least 2 by (C.13) as printed
DECAY_RATE_OF_RESIDUAL = "decay_rate_of_residual"  # M = Y - X beta; at least 4 by (C.13) as corrected (errata 10)

# -- at the limit ------------------------------------------------------------------------------------------------------

# Gradients of the Lagrangian of problem (3.1), in W1 over |Z1| and in W2 over |Z2|. Problem (3.1) minimises
# |W1|^2 / 2 + |W2|^2 / 2 - gamma log det(W1 W1^T) over interpolators, and its multiplier is taken to be the one for
# which X^T multiplier = -X^+ X alpha. Gradients of zero are the conditions (P2), in W1, and (P1), in W2, of
# Proposition C.5
GRADIENT_W1 = "gradient_W1"  # |Z1 - 2 gamma Z1^{-T} - X^+ X alpha Z2^T| / |Z1|
GRADIENT_W1_WITHOUT_LOG_DET = "gradient_W1_without_log_det"  # the same without the term of log det, 2 gamma Z1^{-T}
GRADIENT_W1_TWICE_LOG_DET = "gradient_W1_twice_log_det"  # the same with this term doubled
GRADIENT_W2 = "gradient_W2"  # |Z2 - Z1^T X^+ X alpha| / |Z2|
# the same after a step of Z2 to another interpolator, by a thousandth of |Z2| or less
GRADIENT_W2_ELSEWHERE = "gradient_W2_elsewhere"

# The layers at the limit are moved at random, to layers that interpolate too. The increase is that of the potential of
# (3.1), over the squared length of the move: the least over all moves
INCREASE = "increase"
INCREASE_WITHOUT_LOG_DET = "increase_without_log_det"  # of the potential without log det, the squares alone
INCREASE_TWICE_LOG_DET = "increase_twice_log_det"  # of the potential with 2 gamma before log det

# largest change of a sigma_i(W1) that the remaining |X beta - Y| allows, over the predicted sigma_1(W1)
SIGMA_W1_LEFT_OPEN = "sigma_w1_left_open"
# asymmetry of the derivative of the field F(Z) = Z - Z^{-T} D at Z1, the largest over random pairs of directions,
# relative to the part of the derivative that has D (`potential.relative_asymmetry`). F is the gradient of a potential
# only if it is zero (Lemma C.4). From rows of unequal lengths it is measured along the flow too
ASYMMETRY = "asymmetry"

# From rows of unequal lengths, |G - F| / |G| for a formula F, where G = Z1^{-T} Z2 Z2^T is the gradient at Z1 of the
# potential Psi_1 that the limit would minimise, by (P2) of Proposition C.5
GRADIENT_PRINTED = "gradient_printed"  # F = Z1 - D Z1^{-T}, as the proof of Lemma C.4 prints it (errata 8)
GRADIENT_CORRECTED = "gradient_corrected"  # F = Z1 - Z1^{-T} D
