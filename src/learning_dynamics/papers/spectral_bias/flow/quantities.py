"""Names of quantities along the flow and at its limit; `metrics` writes them, claims and figures read them.

Z1 = W1 P^T and Z2 = P W2 are the layers in the span of the rows of P (Lemma 3.1), alpha = Z1^{-T} Z2 (Lemma 3.3), beta
= W1 W2, R = X^T (Y - X beta), beta_* the minimum-norm interpolator; theta is both layers together, D = Z1^T Z1 - Z2
Z2^T the imbalance; |.| is the Frobenius norm. The names of `layers.spectra_and_loss` are in the paper's `quantities`.
"""

# of each draw
# the largest |theta(t) - theta_infinity| over its bound |Y - X beta(t)| / sqrt(2 gamma lambda_min(X X^T)), by Lemma 3.2
DISTANCE_OVER_ITS_BOUND = "distance_over_its_bound"
BOUND_AT_END = "bound_at_end"  # this bound at the end, over |theta_infinity|
INVERSE_CONDITION_OF_X = "inverse_condition_of_X"  # sigma_min(X) / sigma_max(X)

# along the flow
# |theta(t) - theta_infinity| / |theta_infinity|; predicted its bound, the same as in `DISTANCE_OVER_ITS_BOUND`
PARAMETER_DISTANCE = "parameter_distance"
LARGEST_EIGENVALUE = "largest_eigenvalue"  # sigma_1(Z1)^2, of Z1^T Z1
IMBALANCE = "imbalance"  # eigenvalues of Z1^T Z1 - Z2 Z2^T; predicted 2 gamma (Lemma 3.2, eq. (C.8))
IMBALANCE_DRIFT = "imbalance_drift"  # sigma_1(Z1^T Z1 - Z2 Z2^T - D(0)) / sigma_1(Z1)^2, from rows of unequal lengths
CONDITION_OF_Z1 = "condition_of_Z1"  # sigma_1(Z1) / sigma_d(Z1)
BETA_OFF_DIAGONAL = "beta_off_diagonal"  # |U^T beta V less its diagonal| / |beta|, beta_* = U S V^T (Theorem C.11)
ALPHA_OFF_DIAGONAL = "alpha_off_diagonal"  # |U^T alpha V less its diagonal| / |alpha| (Theorem C.11)
ALPHA_OUTSIDE_DATA = "alpha_outside_data"  # |alpha - X^+ X alpha| / |alpha| (Lemma C.3)
# the larger of |[beta beta^T, A A^T]| / (|beta beta^T| |A A^T|) and |[beta^T beta, B^T B]| / (|beta^T beta| |B^T B|),
# [,] the commutator (Theorem C.11)
COMMUTATOR_WITH_LAYERS = "commutator_with_layers"  # for A = W1, B = W2
COMMUTATOR_WITH_ALPHA = "commutator_with_alpha"  # for A = B = alpha
# |A - A^T| over the norms of A's factors, R at time 0: zero where X^T X = I
C_17 = "c_17"  # A = R^T alpha (C.17)
C_18 = "c_18"  # A = R alpha^T (C.18)
C_22 = "c_22"  # A = Z1^T R Z2^T (C.22)

# along the flow and, the slowest, of each draw: -d|A|^2/dt / |A|^2, in units of gamma lambda_min(X X^T) (Lemma C.6)
DECAY_RATE_OF_R = "decay_rate_of_R"  # A = R
DECAY_RATE_OF_RESIDUAL = "decay_rate_of_residual"  # A = Y - X beta

# at the limit: gradients of the Lagrangian of problem (3.1), each relative to the layer's norm
GRADIENT_W1 = "gradient_W1"  # |Z1 - 2 gamma Z1^{-T} - X^+ X alpha Z2^T| / |Z1| (P2)
GRADIENT_W1_WITHOUT_LOG_DET = "gradient_W1_without_log_det"  # of the sum of squares alone
GRADIENT_W1_TWICE_LOG_DET = "gradient_W1_twice_log_det"  # with 2 gamma before log det
GRADIENT_W2 = "gradient_W2"  # |Z2 - Z1^T X^+ X alpha| / |Z2| (P1)
GRADIENT_W2_ELSEWHERE = "gradient_W2_elsewhere"  # at another interpolator, a thousandth away in W2

# at the limit: least increase of the potential (3.1) over random perturbations, relative to their squared length
INCREASE = "increase"
INCREASE_WITHOUT_LOG_DET = "increase_without_log_det"  # of the sum of squares alone
INCREASE_TWICE_LOG_DET = "increase_twice_log_det"  # with 2 gamma before log det

SIGMA_W1_LEFT_OPEN = "sigma_w1_left_open"  # largest change of a sigma_i(W1) that |X beta - Y| allows, over sigma_1(W1)
# of the derivative of the field F(Z) = Z - Z^{-T} D along random pairs of directions, relative to its term in D
# (`potential.relative_asymmetry`); F is a gradient only if it is zero (Lemma C.4)
ASYMMETRY = "asymmetry"

# at the limit from unequal rows: distance of a formula from Z1^{-T} Z2 Z2^T, the gradient of Psi_1 by (P2) of
# Proposition C.5, relative to the latter
GRADIENT_PRINTED = "gradient_printed"  # from Z1 - D Z1^{-T}, as the proof of Lemma C.4 prints it
GRADIENT_CORRECTED = "gradient_corrected"  # from Z1 - Z1^{-T} D
