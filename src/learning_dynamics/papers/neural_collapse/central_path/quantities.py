"""Names in the tables of the central path: values of the columns ``flow`` and ``quantity``.

The modules named at each block write its quantities, and say how they are measured. Symbols are the paper's:

- H, (P, C N), are features of C classes with N examples each, as columns, all of the first class first; Y, (C, C N),
  are their one-hot labels, with Phi = I - 1 1^T / C, the labels of the classes less their mean.
- mu_c are the class means, mu_G is the global mean. M, (P, C), has the columns mu_c - mu_G.
- Sigma_W is the covariance of features within classes (eq. 1), Sigma_B that of the class means, Sigma_T their sum.
- W_LS is the least-squares classifier, which minimises the loss of given features. The weight decay lambda is zero
  where it is not named.
- SNR = Sigma_W^(-1/2) M (eq. 8) has the C - 1 non-zero singular values omega_j, the largest first, with the singular
  vectors u_j and v_j, the columns of U and V.
- X = Sigma_W^(-1/2) (H - mu_G) are the renormalised features, which are on the manifold X C X^T = I. Here, and wherever
  it is a factor of features, C is the class-centring matrix (I - Y^T Y / N) / (C N), bold in the paper (eq. 21).
- Z, of the shape of X, is any direction.
- x_j, y_j and dx_j are rows of X, Y and Z in aligned coordinates, in which SNR is diagonal (appendix D.2): the rows j
  of U^T X, V^T Y and U^T Z.

A gap is the norm of a difference over the norm of what it is compared with; it is zero where an equation holds. A
distance is how far something is from a limit, or from a shape that no equation says it has, in the norm that its
comment names. A name that ends in ``--<alternative>`` has the same for an altered equation or for altered features.
"""


# -- column ``flow``: maps T onto the tangent space at X, their flows dX/dt = -T(gradient) (eq. 5), the algorithm ------

# T(Z) = Z - (C N / 2) (X C Z^T + Z C X^T) X C, the orthogonal projection; its first C N is a number
ORTHOGONAL = "orthogonal"
PRINTED = "printed"  # T(Z) = Z - (X C Z^T + Z C X^T) X / 2, as Proposition 4 has it
MINUS_SIGN = "minus_sign"  # PRINTED with a minus between its two products, as the proof of Lemma 2 has it
WHOLE = "whole"  # PRINTED without its factor 1/2
WHOLE_ORTHOGONAL = "whole_orthogonal"  # ORTHOGONAL without its factor 1/2
DESCENT = "descent"  # gradient descent with renormalisation after each step (appendix D.1), not a map

# -- gaps of the paper's equations for any features H, and of altered equations (`identities`) -------------------------

# Down to LS_DECOMPOSITION_GAP_WITHOUT_CLASSES: at several lambda, in extended features [h; 1], whose class means
# [mu_c; 1] are not centred. S is Sigma_T + mu_G mu_G^T + lambda I

# ||W_LS - W_0|| / ||W_0|| for W_LS = [mu_c; 1]^T S^-1 / C (Proposition 1), and W_0 by a least-squares solver
CLASSIFIER_GAP: str = "classifier_gap"
CLASSIFIER_GAP_HALF_DECAY: str = "classifier_gap--half_decay"  # lambda / 2 for lambda
CLASSIFIER_GAP_WITHOUT_MEAN: str = "classifier_gap--without_mean"  # S without mu_G mu_G^T
# |L - L_LS - L_LS^perp| / L, where any classifier W has the loss L, and W_0 has L_LS (Theorem 1)
LOSS_DECOMPOSITION_GAP: str = "loss_decomposition_gap"
LOSS_DECOMPOSITION_GAP_WITHOUT_MEAN: str = "loss_decomposition_gap--without_mean"  # in L_LS^perp S without mu_G mu_G^T
# L_LS^perp over half the smallest eigenvalue of S times ||W - W_0||^2: at least one (Theorem 1, footnote 7)
DEVIATION_OVER_LEAST: str = "deviation_over_least"
# |L_LS - L_NC1 - L_NC2/3| / L_LS (Theorem 2)
LS_DECOMPOSITION_GAP: str = "ls_decomposition_gap"
LS_DECOMPOSITION_GAP_WITHOUT_DECAY: str = "ls_decomposition_gap--without_decay"  # L_NC1 without lambda
LS_DECOMPOSITION_GAP_WITHOUT_CLASSES: str = "ls_decomposition_gap--without_classes"  # L_NC2/3 without its factor 1/C
# The same gap as CLASSIFIER_GAP, without weight decay, for W = M^T Sigma_T^-1 / C and b = 1/C - W mu_G (eq. 6)
UNEXTENDED_CLASSIFIER_GAP: str = "unextended_classifier_gap"
UNEXTENDED_CLASSIFIER_GAP_WITHIN: str = "unextended_classifier_gap--within"  # Sigma_W for Sigma_T
UNEXTENDED_CLASSIFIER_GAP_CONSTANT_BIAS: str = "unextended_classifier_gap--constant_bias"  # b = 1/C
# under H -> A H, with an invertible matrix A, relative to what they are of H (eq. 7)
PREDICTIONS_CHANGE: str = "predictions_change"  # change of the predictions W_LS H + b, for the W_LS and b of A H
PREDICTIONS_CHANGE_CLASSIFIER_KEPT: str = "predictions_change--classifier_kept"  # with the W_LS and b of H
LOSS_CHANGE: str = "loss_change"  # change of the loss, for the W_LS and b of A H
LOSS_CHANGE_CLASSIFIER_KEPT: str = "loss_change--classifier_kept"  # with the W_LS and b of H
# Lemma 7: a matrix E, (P, C), has C - 1 equal singular values and E 1 = 0 if and only if E^T E is a multiple of C I -
# 1 1^T, as of a simplex frame. The larger of two gaps, one for each direction: for an E with both properties
# ||E^T E - the nearest such multiple|| / ||E^T E||; for a rotated simplex frame the largest violation of both
# properties over its largest singular value
SIMPLEX_FRAME_GAP: str = "simplex_frame_gap"
# the first of these gaps, for an E with equal singular values but another null space
SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE: str = "simplex_frame_gap--other_null_space"
# the first of these gaps, for an E with E 1 = 0 but unequal singular values
SIMPLEX_FRAME_GAP_UNEQUAL_VALUES: str = "simplex_frame_gap--unequal_values"

# -- spectra and losses of features, and along flows and descent (`metrics`) -------------------------------------------

OMEGA: str = "omega"  # the C - 1 non-zero SNR singular values omega_j, descending (eq. 8)
OMEGA_ONE_STEP: str = "omega--one_step"  # omega_j predicted for descent by `theory.algorithm_step`, step by step
# d omega_j / dt along each flow, and along a step of descent, by central differences (eq. 27)
SPEED: str = "speed"
# of H, and along flows of X
LOSS: str = "loss"  # L_LS, the loss of W_LS with its bias (eq. 3)
LOSS_NC1: str = "loss_nc1"  # L_NC1 = tr(W_LS Sigma_W W_LS^T) / 2 (eq. 17)
LOSS_NC23: str = "loss_nc23"  # L_NC2/3 = ||W_LS M - Phi||^2 / (2 C) (eq. 18)
TRACE: str = "trace"  # tr(pinv(Sigma_B) Sigma_W), which is C times NC1 (appendix D.6)
TRACE_RENORMALISED: str = "trace_renormalised"  # the same of X, where TRACE is that of H
SINGULAR_VALUE_SPREAD: str = "singular_value_spread"  # omega_max / omega_min - 1 (Corollary 1, second limit)
# largest entry of |Sigma_W - I| along a flow, which is zero on the manifold (Definition 6)
COVARIANCE_DRIFT: str = "covariance_drift"

# -- the tangent space at X (`tangents`); R renormalises features ------------------------------------------------------

# Proposition 3: the tangents at X are the Z with X C Z^T + Z C X^T = 0. The curve R(X + h Z), which stays on the
# manifold, has the velocity D at h = 0

# ||X C D^T + D C X^T|| / ||X C Z^T + Z C X^T|| for any Z
CURVE_EQUATION_GAP: str = "curve_equation_gap"
CURVE_EQUATION_GAP_MINUS_SIGN: str = "curve_equation_gap--minus_sign"  # for the equation Z C X^T - X C Z^T = 0
CURVE_EQUATION_GAP_UNCENTRED: str = "curve_equation_gap--uncentred"  # for the equation X Z^T + Z X^T = 0
CURVE_VELOCITY_GAP: str = "curve_velocity_gap"  # ||D - Z|| / ||Z|| for a Z that solves the equation
CODIMENSION: str = "codimension"  # rank of the map Z -> X C Z^T + Z C X^T, the number of constraints on tangents
CODIMENSION_MINUS_SIGN: str = "codimension--minus_sign"  # of the map Z -> Z C X^T - X C Z^T
CODIMENSION_UNCENTRED: str = "codimension--uncentred"  # of the map Z -> X Z^T + Z X^T
# Proposition 4, of each map T of the column ``flow``
IMAGE_TANGENCY_GAP: str = "image_tangency_gap"  # ||X C T(Z)^T + T(Z) C X^T|| / ||X C Z^T + Z C X^T||
IDEMPOTENCE_GAP: str = "idempotence_gap"  # ||T(T(Z)) - T(Z)|| / ||T(Z)||
TANGENT_CHANGE: str = "tangent_change"  # ||T(Z) - Z|| / ||Z|| of a Z that is tangent already
ASYMMETRY: str = "asymmetry"  # ||T - T^T||_F / ||T||_F of T as a matrix, zero if and only if T is self-adjoint
# ||R(X + h Z) - X - h T(Z)|| / ||h Z||, what a renormalised step leaves beyond its first order; h descending (Lemma 2)
STEP_REMAINDER: str = "step_remainder"
# d omega_j along T(Z) for PRINTED, by central differences, and formulas for it
SLOPE: str = "slope"
SLOPE_LEMMA_3: str = "slope--lemma_3"  # (y_j / N - omega_j C x_j) . dx_j (Lemma 3)
SLOPE_WITHOUT_SHRINKING: str = "slope--without_shrinking"  # y_j / N . dx_j
# G is the gradient of the loss in X
ADJOINT_GRADIENT_CHANGE: str = "adjoint_gradient_change"  # ||T*(G) - G|| / ||G||, T* the adjoint of PRINTED (Lemma 4)
PRINTED_GRADIENT_CHANGE: str = "printed_gradient_change"  # ||T(G) - G|| / ||G|| for T = PRINTED
GRADIENT_NORMAL_SHARE: str = "gradient_normal_share"  # ||G - T(G)|| / ||G|| for T = ORTHOGONAL: its normal part
# ||D' - D|| / ||D|| for the velocity D = -T(G) along a flow (eq. 5) and a D' whose rows in aligned coordinates are:
VELOCITY_GAP_LEMMA_4: str = "velocity_gap--lemma_4"  # omega_j / (C + omega_j^2)^2 (y_j / N - omega_j C x_j) (Lemma 4)
VELOCITY_GAP_MEANS: str = "velocity_gap--means"  # omega_j / (N (C + omega_j^2)^2) y_j
VELOCITY_GAP_MEANS_FASTER: str = "velocity_gap--means_faster"  # the same times 1 + omega_j^2 / C

# -- distances from limits, and collapse, along flows (`limits`) -------------------------------------------------------

# The first three are distances from what U and V of time 0 say; the very first is measured along descent, too

# ||SNR - sum_j a_j u_j v_j^T|| / ||SNR|| with a_j = u_j^T SNR v_j (Lemma 6)
SNR_OUTSIDE_FIRST_VECTORS: str = "snr_outside_first_vectors"
SNR_LIMIT_DISTANCE: str = "snr_limit_distance"  # ||SNR / omega_max - U V^T||_F (eq. 10)
FEATURES_LIMIT_DISTANCE: str = "features_limit_distance"  # ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(N) (eq. 11)
# collapse (section 1.1) of X, with its class means M and its least-squares classifier W
NC2_NORM_SPREAD: str = "nc2_norm_spread"  # standard deviation of the class means' norms over the mean of these
NC2_ANGLE_DISTANCE: str = "nc2_angle_distance"  # mean of |cos + 1 / (C - 1)| over pairs of class means
NC3: str = "nc3"  # || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: str = "nc4"  # share of examples that W and the nearest class mean decide differently

# how titles of checks call these quantities
IN_WORDS: dict[str, str] = {
    LOSS: "loss",
    LOSS_NC1: "$L_{NC1}$",
    LOSS_NC23: "$L_{NC2/3}$",
    SINGULAR_VALUE_SPREAD: "$\\omega_{\\max}/\\omega_{\\min} - 1$",
    SNR_LIMIT_DISTANCE: "the distance of eq. 10",
    NC2_NORM_SPREAD: "the relative spread of the class means' norms",
    NC2_ANGLE_DISTANCE: "the class means' mean distance from the simplex's angles",
    NC3: "the squared distance of classifiers from class means",
}

# -- rank of SNR and separation of classes (`separation`) --------------------------------------------------------------

# rank of the SNR matrix of features whose class means span 1, 2, ..., C - 1 directions (Definition 2)
SNR_RANK: str = "snr_rank"
# values of ||w^T M|| / sqrt(w^T Sigma_W w) at the directions w at which it is stationary, descending (section 3.2)
CLASS_SEPARATION: str = "class_separation"
# singular values of M, which are the stationary values of ||w^T M|| / ||w||, descending
CLASS_SEPARATION_WITHOUT_NOISE: str = "class_separation--without_noise"
LEAST_PAIR_DISTANCE: str = "least_pair_distance"  # smallest distance of two columns of SNR, the class means of X
# the same of the SNR matrix with its least singular value scaled by `separation.FLATTENED`, a thousandth
LEAST_PAIR_DISTANCE_FLATTENED: str = "least_pair_distance--flattened"

# -- what small terms of the loss and small traces do not imply (`converses`) ------------------------------------------

# Features are those of X with other deviations from the class means or, where it says so, with other class means. M are
# their class means, W is their least-squares classifier. Noise is what deviations are called where their standard
# deviation is given; those of X have one in every direction.
# The frame distance of E is ||E^T E - the nearest multiple of C I - 1 1^T|| / ||E^T E|| (`theory.simplex_gram`).
# The self-duality of A is || A / ||A||_F - M^T / ||M||_F ||_F^2.

# class means of X, deviations of X scaled by each factor of `converses.SCATTERS`
SCATTERED_LOSS_NC1: str = "scattered_loss_nc1"  # L_NC1 (eq. 17)
SCATTERED_LOSS_NC23: str = "scattered_loss_nc23"  # L_NC2/3 (eq. 18)
# L_NC1 with deviations of X scaled by omega_min sqrt(L / (C - 1)), over L, which is each value of SCATTERED_LOSS_NC1
PUSHED_LOSS_NC1_RATIO: str = "pushed_loss_nc1_ratio"
# L_NC1 with class means of X and deviations of X, scaled by a thousandth along the class means and by one elsewhere
LOSS_NC1_BESIDE_NOISE: str = "loss_nc1_beside_noise"
# class means of X, deviations of X scaled by a thousandth of omega_min, or by a thousandth where omega_min is above one
CONCENTRATED_SCORE_ERROR: str = "concentrated_score_error"  # ||W M - Phi|| / ||Phi||, sqrt(L_NC2/3) but for a factor
MEANS_FRAME_DISTANCE: str = "means_frame_distance"  # frame distance of M
CLASSIFIERS_FRAME_DISTANCE: str = "classifiers_frame_distance"  # frame distance of W^T
INVERSE_FRAME_DISTANCE: str = "inverse_frame_distance"  # frame distance of pinv(M)^T
CLASSIFIERS_SELF_DUALITY: str = "classifiers_self_duality"  # self-duality of W
INVERSE_SELF_DUALITY: str = "inverse_self_duality"  # self-duality of pinv(M)
# class means that are a simplex frame of singular values one; noise of each standard deviation of
# `converses.SIMPLEX_NOISES` along them, and of one in directions orthogonal to all of them
SIMPLEX_SCORE_ERROR: str = "simplex_score_error"  # ||W M - Phi|| / ||Phi||
SIMPLEX_FRAME_DISTANCE: str = "simplex_frame_distance"  # the larger frame distance of M and W^T
SIMPLEX_SELF_DUALITY: str = "simplex_self_duality"  # self-duality of W
# class means of X, large noise in one direction, which leans towards the class means by each of `converses.LEANS`, and
# small noise elsewhere
PRODUCT_TRACE: str = "product_trace"  # tr(pinv(Sigma_B) Sigma_W)
PRODUCT_NORM: str = "product_norm"  # ||pinv(Sigma_B) Sigma_W||_F
COVARIANCE_CONDITION: str = "covariance_condition"  # condition number of Sigma_W
# class means that are a simplex frame of singular values one; small noise of each standard deviation of
# `converses.NOISES`, which names call vanishing. It is coupled, that is correlated between a direction of the class
# means and one that is orthogonal to all of them, or, where a name says so, uncoupled
SMALL_NOISE_NC1: str = "vanishing_nc1"  # tr(pinv(Sigma_B) Sigma_W) / C
SMALL_NOISE_NC4_EXAMPLES: str = "vanishing_nc4_examples"  # examples that W and the nearest mean decide differently
SMALL_NOISE_SELF_DUALITY: str = "vanishing_self_duality"  # self-duality of W (NC3)
SMALL_NOISE_SELF_DUALITY_UNCOUPLED: str = "vanishing_self_duality--uncoupled"
# Of 2 C points far from the class means, in a direction orthogonal to all of them: the number that W and the nearest
# class mean decide differently
SMALL_NOISE_NC4_FAR_POINTS: str = "vanishing_nc4_far_points"
SMALL_NOISE_NC4_FAR_POINTS_UNCOUPLED: str = "vanishing_nc4_far_points--uncoupled"
