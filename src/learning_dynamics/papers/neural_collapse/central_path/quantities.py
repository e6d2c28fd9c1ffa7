"""Names in the tables of the central path: quantities, and in the column ``flow`` what they are measured along.

The functions named at each block write them, and say how they are measured.

Symbols are the paper's: C classes of N examples, P features H; the means M, (P, C), of its classes, less their mean;
Sigma_W, Sigma_B and Sigma_T, the covariances within classes, between them, and in total; omega_j the SNR singular
values (eq. 8), X the renormalised features. A bold C, the class-centring matrix (I - Y^T Y / N) / (C N) (eq. 21), is
written C where it is between features: X C X^T. A gap is the norm of a difference over the norm of what it is compared
with, zero where an equation holds. A distance is how far something is from a limit, or from a shape that no equation
says it has, in the norm that its comment names. Names that end in ``--<alternative>`` belong to the same equation
altered.
"""


# -- column ``flow``: maps onto the tangent space (Proposition 4), the flows that they give (eq. 5), the algorithm -----

ORTHOGONAL = "orthogonal"  # Z - (classes N / 2) (X C Z^T + Z C X^T) X C, with the class-centring matrix C
PRINTED = "printed"  # Z - (X C Z^T + Z C X^T) X / 2, as Proposition 4 has it
MINUS_SIGN = "minus_sign"  # PRINTED with a minus between its products, as the proof of Lemma 2 has it
WHOLE = "whole"  # PRINTED without its factor 1/2
WHOLE_ORTHOGONAL = "whole_orthogonal"  # ORTHOGONAL without its factor 1/2
DESCENT = "descent"  # gradient descent with renormalisation after each step (appendix D.1)

# -- gaps of what holds of any features, and of the same altered (`identities`) ----------------------------------------

# W_LS = M^T (Sigma_T + mu_G mu_G^T + lambda I)^-1 / C in extended features, with M = [mu_c; 1] not centred, against a
# least-squares solver (Proposition 1)
CLASSIFIER_GAP: str = "classifier_gap"
CLASSIFIER_GAP_HALF_DECAY: str = "classifier_gap--half_decay"  # lambda / 2 for lambda
CLASSIFIER_GAP_WITHOUT_MEAN: str = "classifier_gap--without_mean"  # without mu_G mu_G^T
# |L - L_LS - L_LS^perp| / L (Theorem 1)
LOSS_DECOMPOSITION_GAP: str = "loss_decomposition_gap"
LOSS_DECOMPOSITION_GAP_WITHOUT_MEAN: str = "loss_decomposition_gap--without_mean"  # L_LS^perp without mu_G mu_G^T
DEVIATION_OVER_LEAST: str = "deviation_over_least"  # L_LS^perp over lambda_min ||W - W_LS||^2 / 2
# |L_LS - L_NC1 - L_NC2/3| / L_LS (Theorem 2)
LS_DECOMPOSITION_GAP: str = "ls_decomposition_gap"
LS_DECOMPOSITION_GAP_WITHOUT_DECAY: str = "ls_decomposition_gap--without_decay"  # L_NC1 without lambda
LS_DECOMPOSITION_GAP_WITHOUT_CLASSES: str = "ls_decomposition_gap--without_classes"  # L_NC2/3 without its factor 1/C
# W = M^T Sigma_T^-1 / C and b = 1/C - W mu_G, against a least-squares solver (eq. 6)
UNEXTENDED_CLASSIFIER_GAP: str = "unextended_classifier_gap"
UNEXTENDED_CLASSIFIER_GAP_WITHIN: str = "unextended_classifier_gap--within"  # Sigma_W for Sigma_T
UNEXTENDED_CLASSIFIER_GAP_CONSTANT_BIAS: str = "unextended_classifier_gap--constant_bias"  # b = 1/C
# change of predictions W_LS H + b, and of the loss, under H -> A H (eq. 7)
PREDICTIONS_CHANGE: str = "predictions_change"
PREDICTIONS_CHANGE_CLASSIFIER_KEPT: str = "predictions_change--classifier_kept"  # W_LS of H for A H
LOSS_CHANGE: str = "loss_change"
LOSS_CHANGE_CLASSIFIER_KEPT: str = "loss_change--classifier_kept"  # W_LS of H for A H
# E with C - 1 equal singular values and E 1 = 0: distance of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1); and
# of such a frame what is left of both properties; the larger (Lemma 7)
SIMPLEX_FRAME_GAP: str = "simplex_frame_gap"
# the same distance of E with equal singular values but another null space
SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE: str = "simplex_frame_gap--other_null_space"
# the same distance of E with E 1 = 0 but unequal singular values
SIMPLEX_FRAME_GAP_UNEQUAL_VALUES: str = "simplex_frame_gap--unequal_values"

# -- spectra and losses of features, along flows and descent too (`metrics`) -------------------------------------------

OMEGA: str = "omega"  # the C - 1 non-zero SNR singular values, descending (eq. 8)
OMEGA_ONE_STEP: str = "omega--one_step"  # by `theory.algorithm_step`, iterated from the same start
SPEED: str = "speed"  # d omega_j / dt along each flow, by central differences (eq. 27)
LOSS: str = "loss"  # of the least-squares classifier, without weight decay (eq. 3)
LOSS_NC1: str = "loss_nc1"  # L_NC1 = tr(W_LS Sigma_W W_LS^T) / 2 (eq. 17)
LOSS_NC23: str = "loss_nc23"  # L_NC2/3 = ||W_LS M - Phi||^2 / (2 C), Phi = I - 1 1^T / C (eq. 18)
# tr(pinv(Sigma_B) Sigma_W) (appendix D.6): the formula of PRODUCT_TRACE, and C times that of SMALL_NOISE_NC1
TRACE: str = "trace"
TRACE_RENORMALISED: str = "trace_renormalised"  # the same of the renormalised features
SINGULAR_VALUE_SPREAD: str = "singular_value_spread"  # omega_max / omega_min - 1 (Corollary 1, second limit)
COVARIANCE_DRIFT: str = "covariance_drift"  # largest entry of |Sigma_W - I|, zero on the manifold (Definition 6)

# -- the tangent space (`tangents`) ------------------------------------------------------------------------------------

# ||X C V^T + V C X^T|| for velocities V of curves on the manifold, over the same of any Z (Proposition 3)
CURVE_EQUATION_GAP: str = "curve_equation_gap"
CURVE_EQUATION_GAP_MINUS_SIGN: str = "curve_equation_gap--minus_sign"  # X C V^T - V C X^T
CURVE_EQUATION_GAP_UNCENTRED: str = "curve_equation_gap--uncentred"  # X V^T + V X^T
CURVE_VELOCITY_GAP: str = "curve_velocity_gap"  # a solution Z less the velocity of the curve through X along Z
CODIMENSION: str = "codimension"  # rank of Z -> X C Z^T + Z C X^T (Proposition 3)
CODIMENSION_MINUS_SIGN: str = "codimension--minus_sign"
CODIMENSION_UNCENTRED: str = "codimension--uncentred"
# of a map T from the column ``flow`` (Proposition 4)
IMAGE_TANGENCY_GAP: str = "image_tangency_gap"  # ||X C T(Z)^T + T(Z) C X^T|| / ||X C Z^T + Z C X^T||
IDEMPOTENCE_GAP: str = "idempotence_gap"  # ||T(T(Z)) - T(Z)|| / ||T(Z)||
TANGENT_CHANGE: str = "tangent_change"  # ||T(Z) - Z|| / ||Z|| of a Z that is tangent already
ASYMMETRY: str = "asymmetry"  # ||T - T^T||_F / ||T||_F of T as a matrix: is it self-adjoint?
STEP_REMAINDER: str = "step_remainder"  # ||R(X + h Z) - X - h T(Z)|| / ||h Z||, R renormalises, h descending (Lemma 2)
SLOPE: str = "slope"  # d omega_j along the printed map, by central differences
SLOPE_LEMMA_3: str = "slope--lemma_3"  # (y_j / N - omega_j C x_j) . dx_j in aligned coordinates (Lemma 3)
SLOPE_WITHOUT_SHRINKING: str = "slope--without_shrinking"  # y_j / N . dx_j alone
# change of the gradient under the adjoint of the printed map, and under the map itself (proof of Lemma 4)
ADJOINT_GRADIENT_CHANGE: str = "adjoint_gradient_change"
PRINTED_GRADIENT_CHANGE: str = "printed_gradient_change"
GRADIENT_NORMAL_SHARE: str = "gradient_normal_share"  # share of the gradient that is normal to the manifold
# a formula for dx_j / dt less the velocity along each flow (eq. 5), over the velocity
VELOCITY_GAP_LEMMA_4: str = "velocity_gap--lemma_4"  # omega_j / (C + omega_j^2)^2 (y_j / N - omega_j C x_j) (Lemma 4)
VELOCITY_GAP_MEANS: str = "velocity_gap--means"  # omega_j / (N (C + omega_j^2)^2) y_j
VELOCITY_GAP_MEANS_FASTER: str = "velocity_gap--means_faster"  # the same times 1 + omega_j^2 / C

# -- distances from the start's limits, and collapse along flows (`limits`) --------------------------------------------

# ||SNR - sum_j x_j u_j v_j^T|| / ||SNR|| with the singular vectors u_j, v_j of the start and the x_j that fit (Lemma 6)
SNR_OUTSIDE_FIRST_VECTORS: str = "snr_outside_first_vectors"
SNR_LIMIT_DISTANCE: str = "snr_limit_distance"  # ||SNR / omega_max - U V^T||_F, U and V of the start (eq. 10)
FEATURES_LIMIT_DISTANCE: str = "features_limit_distance"  # ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(N) (eq. 11)
NC2_NORM_SPREAD: str = "nc2_norm_spread"  # std over mean of the class means' norms (section 1.1, NC2)
NC2_ANGLE_DISTANCE: str = "nc2_angle_distance"  # mean of |cos + 1 / (C - 1)| over pairs of class means (NC2)
NC3: str = "nc3"  # || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: str = "nc4"  # share of examples that classifier and nearest class mean decide differently

# how a reader of the paper calls what claims on flows are about
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

# -- rank and separation of classes (`separation`) ---------------------------------------------------------------------

SNR_RANK: str = "snr_rank"  # of class means that span 1, 2, ..., C - 1 directions (Definition 2)
# ||w^T M|| / sqrt(w^T Sigma_W w) at its stationary directions w, descending, M the centred class means (section 3.2)
CLASS_SEPARATION: str = "class_separation"
CLASS_SEPARATION_WITHOUT_NOISE: str = "class_separation--without_noise"  # ||w^T M|| at unit vectors w
LEAST_PAIR_DISTANCE: str = "least_pair_distance"  # smallest |x_c - x_c'| over pairs of columns of the SNR matrix
# the same of an SNR matrix whose least singular value is a thousandth
LEAST_PAIR_DISTANCE_FLATTENED: str = "least_pair_distance--flattened"

# -- what small terms and traces do not imply (`converses`) ------------------------------------------------------------

# class means kept, deviations from them scaled by each of `converses.SCATTERS`
SCATTERED_LOSS_NC1: str = "scattered_loss_nc1"  # L_NC1 (eq. 17)
SCATTERED_LOSS_NC23: str = "scattered_loss_nc23"  # L_NC2/3 (eq. 18)
PUSHED_LOSS_NC1_RATIO: str = "pushed_loss_nc1_ratio"  # L_NC1 after a push of Sigma_W towards zero, over L_NC1 before it
# class means kept, deviations a thousandth along them, and kept orthogonal to all of them
LOSS_NC1_BESIDE_NOISE: str = "loss_nc1_beside_noise"
# class means M kept, deviations from them small; W their least-squares classifier, P the pseudo-inverse of M.
# A frame distance is that of E^T E from the nearest multiple of a simplex frame's, relative (`theory.simplex_gram`);
# self-duality is || A / ||A||_F - M^T / ||M||_F ||_F^2 for A = W or P
CONCENTRATED_SCORE_ERROR: str = "concentrated_score_error"  # ||W M - Phi|| / ||Phi||, the root of L_NC2/3 but for units
MEANS_FRAME_DISTANCE: str = "means_frame_distance"  # E = M
CLASSIFIERS_FRAME_DISTANCE: str = "classifiers_frame_distance"  # E = W^T
INVERSE_FRAME_DISTANCE: str = "inverse_frame_distance"  # E = P^T
CLASSIFIERS_SELF_DUALITY: str = "classifiers_self_duality"  # A = W
INVERSE_SELF_DUALITY: str = "inverse_self_duality"  # A = P
# class means M that are a simplex frame, noise of each of `converses.SIMPLEX_NOISES` along them, and of one in
# directions orthogonal to all of them
SIMPLEX_SCORE_ERROR: str = "simplex_score_error"  # ||W M - Phi|| / ||Phi||
SIMPLEX_FRAME_DISTANCE: str = "simplex_frame_distance"  # the larger of E = M and E = W^T
SIMPLEX_SELF_DUALITY: str = "simplex_self_duality"  # A = W
# class means kept, noise of a direction that leans towards them by each of `converses.LEANS`
PRODUCT_TRACE: str = "product_trace"  # tr(pinv(Sigma_B) Sigma_W), as TRACE
PRODUCT_NORM: str = "product_norm"  # ||pinv(Sigma_B) Sigma_W||_F
COVARIANCE_CONDITION: str = "covariance_condition"  # condition number of Sigma_W
# class means M that are a simplex frame, small noise of each of `converses.NOISES`, which names call vanishing: coupled
# noise, or uncoupled where a name says so
SMALL_NOISE_NC1: str = "vanishing_nc1"  # tr(pinv(Sigma_B) Sigma_W) / C, TRACE over C
SMALL_NOISE_NC4_EXAMPLES: str = "vanishing_nc4_examples"  # number that classifier and nearest mean decide differently
SMALL_NOISE_SELF_DUALITY: str = "vanishing_self_duality"  # || W / ||W|| - M^T / ||M|| ||_F^2 (NC3)
SMALL_NOISE_SELF_DUALITY_UNCOUPLED: str = "vanishing_self_duality--uncoupled"  # the same, noise that is not coupled
# numbers of points off the class means that classifier and nearest mean decide differently
SMALL_NOISE_NC4_FAR_POINTS: str = "vanishing_nc4_far_points"
SMALL_NOISE_NC4_FAR_POINTS_UNCOUPLED: str = "vanishing_nc4_far_points--uncoupled"
