"""Names in the tables of the central path: quantities, and in the column ``flow`` what they are measured along.

The functions named at each block write them, and say how they are measured.
"""


# -- column ``flow``: maps onto the tangent space (Proposition 4), the flows that they give (eq. 5), the algorithm -----

ORTHOGONAL = "orthogonal"  # Z - (classes N / 2) (X C Z^T + Z C X^T) X C, with the class-centring matrix C
PRINTED = "printed"  # Z - (X C Z^T + Z C X^T) X / 2, as Proposition 4 has it
MINUS_SIGN = "minus_sign"  # PRINTED with a minus between its products, as the proof of Lemma 2 has it
WHOLE = "whole"  # PRINTED without its factor 1/2
WHOLE_ORTHOGONAL = "whole_orthogonal"  # ORTHOGONAL without its factor 1/2
DESCENT = "descent"  # gradient descent with renormalisation after each step (appendix D.1)

# -- relative gaps of what holds of any features, and of the same altered (`identities`) -------------------------------

CLASSIFIER: str = "classifier"  # Proposition 1 less a least-squares solver
CLASSIFIER_HALF_DECAY: str = "classifier--half_decay"
CLASSIFIER_WITHOUT_MEAN: str = "classifier--without_mean"  # without the global mean's square
THEOREM_1: str = "theorem_1"  # L - L_LS - L_LS^perp
THEOREM_1_WITHOUT_MEAN: str = "theorem_1--without_mean"  # in the metric without the global mean's square
THEOREM_2: str = "theorem_2"  # L_LS - L_NC1 - L_NC2/3
THEOREM_2_WITHOUT_DECAY: str = "theorem_2--without_decay"  # L_NC1 without weight decay
THEOREM_2_WITHOUT_CLASSES: str = "theorem_2--without_classes"  # L_NC2/3 without its factor 1/C
EQUATION_6: str = "equation_6"  # weights and biases less a least-squares solver's
EQUATION_6_WITHIN: str = "equation_6--within"  # Sigma_W for Sigma_T
EQUATION_6_BIAS: str = "equation_6--bias"  # a bias of 1/C alone
PREDICTIONS: str = "predictions"  # change under H -> A H (eq. 7)
PREDICTIONS_CLASSIFIER_KEPT: str = "predictions--classifier_kept"  # with the classifier of H kept
LOSSES: str = "losses"  # change under H -> A H (eq. 7)
LOSSES_CLASSIFIER_KEPT: str = "losses--classifier_kept"  # with the classifier of H kept
LEMMA_7: str = "lemma_7"  # frames from both properties, and both properties from a frame: the larger gap
LEMMA_7_OTHER_NULL_SPACE: str = "lemma_7--other_null_space"  # equal singular values alone
LEMMA_7_UNEQUAL_VALUES: str = "lemma_7--unequal_values"  # columns that sum to zero alone

# -- spectra and losses of features, along flows and descent too (`metrics`) -------------------------------------------

OMEGA: str = "omega"  # the C - 1 non-zero SNR singular values, descending (eq. 8)
OMEGA_ONE_STEP: str = "omega--one_step"  # by the exact map of one step of descent, iterated from the same start
SPEED: str = "speed"  # d omega_j / dt along each flow, by central differences
LOSS: str = "loss"  # of the least-squares classifier, without weight decay (eq. 3)
LOSS_NC1: str = "loss_nc1"  # L_NC1 (eq. 17)
LOSS_NC23: str = "loss_nc23"  # L_NC2/3 (eq. 18)
TRACE: str = "trace"  # tr(pinv(Sigma_B) Sigma_W)
TRACE_RENORMALISED: str = "trace_renormalised"  # the same of the renormalised features
EXCESS: str = "excess"  # omega_max / omega_min - 1
DRIFT: str = "drift"  # largest entry of |Sigma_W - I|

# -- the tangent space (`tangents`) ------------------------------------------------------------------------------------

CURVE_EQUATION: str = "curve_equation"  # Proposition 3's equation for the velocities of curves on the manifold
CURVE_EQUATION_MINUS_SIGN: str = "curve_equation--minus_sign"  # an equation with a minus between its products
CURVE_EQUATION_UNCENTRED: str = "curve_equation--uncentred"  # an equation without C
CURVE_VELOCITY: str = "curve_velocity"  # solutions of the equation less velocities of curves
CODIMENSION: str = "codimension"  # rank of Proposition 3's equation
CODIMENSION_MINUS_SIGN: str = "codimension--minus_sign"
CODIMENSION_UNCENTRED: str = "codimension--uncentred"
IMAGE: str = "image"  # what a map leaves of Proposition 3's equation
IDEMPOTENCE: str = "idempotence"  # change by a second application
TANGENT_MOVED: str = "tangent_moved"  # change of a matrix that is tangent already
ASYMMETRY: str = "asymmetry"  # ||T - T^T||_F / ||T||_F of a map T as a matrix
REMAINDER: str = "remainder"  # ||R(X + h Z) - X - h T(Z)|| / ||h Z||, h descending (Lemma 2)
SLOPE: str = "slope"  # d omega_j along the printed map, by central differences
SLOPE_LEMMA_3: str = "slope--lemma_3"  # Lemma 3's formula
SLOPE_WITHOUT_SHRINKING: str = "slope--without_shrinking"  # its first product alone
ADJOINT_GRADIENT: str = "adjoint_gradient"  # change of the gradient under the printed map's adjoint (Lemma 4)
PRINTED_GRADIENT: str = "printed_gradient"  # change of the gradient under the printed map
GRADIENT_NORMAL: str = "gradient_normal"  # share of the gradient that is normal to the manifold
VELOCITY_LEMMA_4: str = "velocity--lemma_4"  # Lemma 4's formula less the velocity along each flow (eq. 5)
VELOCITY_MEANS: str = "velocity--means"  # its first product alone
VELOCITY_MEANS_FASTER: str = "velocity--means_faster"  # its first product times 1 + omega^2 / C

# -- distances from the start's limits, and collapse along flows (`limits`) --------------------------------------------

VECTORS: str = "vectors"  # part of the SNR matrix outside of its first singular vectors (Lemma 6)
SNR_LIMIT: str = "snr_limit"  # ||SNR / omega_max - U V^T||_F (eq. 10)
FEATURES_LIMIT: str = "features_limit"  # ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(N) (eq. 11)
NC2_NORMS: str = "nc2_norms"  # std over mean of the class means' norms
NC2_ANGLES: str = "nc2_angles"  # mean of |cos + 1 / (C - 1)|
NC3: str = "nc3"  # || W^T / ||W||_F - M / ||M||_F ||_F^2
NC4: str = "nc4"  # share of examples that classifier and nearest class mean decide differently

# how a reader of the paper calls what claims on flows are about
IN_WORDS: dict[str, str] = {
    LOSS: "loss",
    LOSS_NC1: "$L_{NC1}$",
    LOSS_NC23: "$L_{NC2/3}$",
    EXCESS: "$\\omega_{\\max}/\\omega_{\\min} - 1$",
    SNR_LIMIT: "the distance of eq. 10",
    NC2_NORMS: "the relative spread of the class means' norms",
    NC2_ANGLES: "the class means' mean distance from the simplex's angles",
    NC3: "the squared distance of classifiers from class means",
}

# -- what small terms and traces do not imply (`converses`) ------------------------------------------------------------

SCATTERED_NC1: str = "scattered_nc1"  # L_NC1, deviations scaled by each of `converses.SCATTERS`
PUSHED_NC1: str = "pushed_nc1"  # L_NC1 after a push of the deviations towards zero, over L_NC1 before it
SCATTERED_NC23: str = "scattered_nc23"  # ||W M - Phi|| / ||Phi|| where deviations are small: root of L_NC2/3
FRAME_MEANS: str = "frame_means"  # distance of class means from a simplex frame there
FRAME_CLASSIFIERS: str = "frame_classifiers"  # of classifiers
FRAME_INVERSE: str = "frame_inverse"  # of the class means' pseudo-inverse
DUALITY: str = "duality"  # squared distance of classifiers from class means there
DUALITY_INVERSE: str = "duality_inverse"  # of the class means' pseudo-inverse from class means
SIMPLEX_SCORES: str = "simplex_scores"  # ||W M - Phi|| / ||Phi||, isotropic noise of each of `SIMPLEX_NOISES`
SIMPLEX_FRAMES: str = "simplex_frames"  # distance of class means and classifiers from a simplex frame there
SIMPLEX_DUALITY: str = "simplex_duality"  # squared distance of classifiers from class means there
PRODUCT_TRACE: str = "product_trace"  # trace of pinv(Sigma_B) Sigma_W, at each of `converses.LEANS`
PRODUCT_NORM: str = "product_norm"  # its Frobenius norm
CONDITION: str = "condition"  # condition number of Sigma_W
VANISHING_NC1: str = "vanishing_nc1"  # NC1 around a simplex frame, coupled noise of each of `converses.NOISES`
VANISHING_NC4: str = "vanishing_nc4"  # examples that least-squares classifier and nearest mean decide differently
VANISHING_DUALITY: str = "vanishing_duality"  # self-duality (NC3) under coupled noise
VANISHING_DUALITY_UNCOUPLED: str = "vanishing_duality--uncoupled"  # and under noise that is not coupled
