"""Claims on the fibres H -> AH, on the tangent space of the renormalised features, and on simplex frames.

Features H, (P, C N), have N examples of each of C classes as columns, and Y, (C, C N), their one-hot labels. K is the
class-centring matrix (I - Y^T Y / N) / (C N), the projector that takes class means away, over the number C N of
examples. The paper (eq. 21) and the claims' texts have a bold C for it, `central_path.quantities` a plain one; here and
in this module's comments C is always the number of classes. X = Sigma_W^{-1/2} (H - mu_G) are the renormalised
features, with X K X^T = I; Z is any direction, of the shape of X. A draw is one random H and Z.

The SNR matrix, the class means of X, has the singular values omega_j and the singular vectors U and V. In aligned
coordinates, in which it is diagonal (appendix D.2), x_j is row j of U^T X, dx_j row j of U^T Z, and y_j row j of V^T Y.

Pi is a map onto the tangent space at X. The column ``flow`` says under which map a row was measured:

- `PRINTED`, that of Proposition 4: Pi(Z) = Z - (X K Z^T + Z K X^T) X / 2
- `ORTHOGONAL`, the orthogonal projection: Pi(Z) = Z - (C N / 2) (X K Z^T + Z K X^T) X K
- `MINUS_SIGN`, the printed map with a minus between its products; `WHOLE` and `WHOLE_ORTHOGONAL`, these maps without
  their factor 1/2

The flow of eq. 5 is dX/dt = -Pi(grad L). Of this Pi eq. 5 says only that it projects, so that the first two maps are
two readings of it.
"""

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    ADJOINT_GRADIENT_CHANGE,
    ASYMMETRY,
    CODIMENSION,
    CODIMENSION_MINUS_SIGN,
    CODIMENSION_UNCENTRED,
    CURVE_EQUATION_GAP,
    CURVE_EQUATION_GAP_MINUS_SIGN,
    CURVE_EQUATION_GAP_UNCENTRED,
    CURVE_VELOCITY_GAP,
    GRADIENT_NORMAL_SHARE,
    IDEMPOTENCE_GAP,
    IMAGE_TANGENCY_GAP,
    LOSS_CHANGE,
    LOSS_CHANGE_CLASSIFIER_KEPT,
    MINUS_SIGN,
    ORTHOGONAL,
    PREDICTIONS_CHANGE,
    PREDICTIONS_CHANGE_CLASSIFIER_KEPT,
    PRINTED,
    PRINTED_GRADIENT_CHANGE,
    SIMPLEX_FRAME_GAP,
    SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE,
    SIMPLEX_FRAME_GAP_UNEQUAL_VALUES,
    SLOPE,
    SLOPE_LEMMA_3,
    SLOPE_WITHOUT_SHRINKING,
    STEP_REMAINDER,
    TANGENT_CHANGE,
    VELOCITY_GAP_LEMMA_4,
    VELOCITY_GAP_MEANS,
    VELOCITY_GAP_MEANS_FASTER,
    WHOLE,
    WHOLE_ORTHOGONAL,
)
from learning_dynamics.papers.neural_collapse.draws import (
    DIFFERENCE_ERROR,
    EPSILON,
    GAUSSIAN_FEATURES,
    Size,
    by_size,
    largest,
    no_gap,
    no_gap_under_map,
    over_sizes,
    zero_on_every_draw,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Quantity, Table, by_draw, select, settings_of

# Settings of these claims, whose values are in workflow/config/neural_collapse.yaml:
# - tolerance, of `lemma_2`: by how much the order of the remainder over the step may differ from one; chosen, above the
#   relative size of the steps, which is some thousandths

RENORMALISED = GAUSSIAN_FEATURES + ", renormalised"


@claim(
    "Section 3.1, eq. 7",
    scope=GAUSSIAN_FEATURES + ", any global mean and bias; $A$ positive definite, symmetric, or only invertible",
    quantifier="all draws",
)
def invariance(features: Table) -> Claim:
    r"""Without weight decay, predictions and loss of the least-squares classifier do not change under $H \to AH$, $A$
    invertible.

    The text takes $A$ symmetric, and appendix D.1 positive definite: neither is needed. Equation 7 loses a factor $CN$
    in its first step and regains it in its last (errata 11); appendix D.1 has $A = \Sigma_W^{-1/2}$ instead of
    $\Sigma_W^{1/2}$ in $H = AX$ (errata 10). The loss is constant along fibres, the sets of all $AH$, so that its
    gradient is orthogonal to every $BH$ with a square matrix $B$.
    """
    # Each gap is the largest over three A: positive definite, symmetric, and general. Rounding is chosen to be 10 units
    # times the square of A's condition number, the setting: A H has the covariance A Sigma_T A^T
    tolerance = 10 * EPSILON * settings_of(features)["condition"] ** 2
    because = "rounding: 10 units times the square of the condition number of $A$"
    classifier_kept = "the classifier of $H$ kept for $AH$"
    # ||W_LS(A H) A H - W_LS(H) H|| / ||W_LS(H) H||, biases included (eq. 7)
    yield no_gap(
        "relative change of predictions",
        features,
        PREDICTIONS_CHANGE,
        tolerance=tolerance,
        because=because,
        rivals={classifier_kept: PREDICTIONS_CHANGE_CLASSIFIER_KEPT},
    )
    # |L_LS(A H) - L_LS(H)| / L_LS(H)
    yield no_gap(
        "relative change of losses",
        features,
        LOSS_CHANGE,
        tolerance=tolerance,
        because=because,
        rivals={classifier_kept: LOSS_CHANGE_CLASSIFIER_KEPT},
    )


@claim("Propositions 3 and 4", scope=RENORMALISED, quantifier="all draws")
def tangent_space(features: Table) -> Claim:
    r"""The tangent space at $X$ is $\{Z : X\mathbf{C}Z^\top + Z\mathbf{C}X^\top = 0\}$, and the printed map $Z -
    \frac12(X\mathbf{C}Z^\top + Z\mathbf{C}X^\top)X$ is a projection onto it.

    Curves on the manifold $X\mathbf{C}X^\top = I$ of renormalised features have velocities that satisfy the equation,
    and every solution is the velocity of such a curve. The equation's rank is $P(P+1)/2$, the number of the manifold's
    constraints. The printed map takes every direction $Z$ into that space and leaves what is there alone. So does the
    orthogonal projection: a space has many projections onto it, which differ in what they discard. Proposition 3 as
    printed lacks the transpose of its last $X$, without which the shapes do not fit (errata 12).
    """
    # The first check below refuses both of these. The map without 1/2 leaves tangents alone, and passes the third; the
    # one with a minus is a projection onto another space, and passes the second
    other_maps = {
        "the printed map without its factor $1/2$": WHOLE,
        "a minus between its products, as the proof of Lemma 2 prints": MINUS_SIGN,
    }
    # ||X K Pi(Z)^T + Pi(Z) K X^T|| / ||X K Z^T + Z K X^T||
    yield no_gap_under_map(
        "part of the image outside of the tangent space", features, IMAGE_TANGENCY_GAP, PRINTED, rivals=other_maps
    )
    # ||Pi(Pi(Z)) - Pi(Z)|| / ||Pi(Z)||, and ||Pi(T) - T|| / ||T|| of a tangent T
    yield no_gap_under_map("change by a second application", features, IDEMPOTENCE_GAP, PRINTED, rivals=other_maps)
    yield no_gap_under_map("change of tangents", features, TANGENT_CHANGE, PRINTED, rivals=other_maps)
    minus_sign = "$X\\mathbf{C}Z^\\top - Z\\mathbf{C}X^\\top = 0$ instead of the equation"
    uncentred = "$XZ^\\top + ZX^\\top = 0$ instead of the equation"
    # These two rivals are other equations, and change what is measured: by how much the same velocities violate the
    # other equation, and its rank. So each is a mapping, which replaces the argument that it names and leaves the
    # prediction. The uncentred equation has the rank of the printed one, and passes that check; velocities refuse both.
    #
    # R renormalises features. The curve R(X + h Z) of h is on the manifold; V(Z) is its velocity at h = 0. The check
    # takes the larger of two gaps:
    # - V = V(Z) is a solution: ||X K V^T + V K X^T|| / ||X K Z^T + Z K X^T||
    # - a solution T is such a velocity: ||V(T) - T|| / ||T||
    yield every_draw(
        "violation of the equation by velocities of curves",
        largest(features, CURVE_EQUATION_GAP, CURVE_VELOCITY_GAP),
        at_most=DIFFERENCE_ERROR,
        because="error of central differences",
        rivals={
            minus_sign: {"values": largest(features, CURVE_EQUATION_GAP_MINUS_SIGN, CURVE_VELOCITY_GAP)},
            uncentred: {"values": largest(features, CURVE_EQUATION_GAP_UNCENTRED, CURVE_VELOCITY_GAP)},
        },
    )
    draws = Draws(features)
    P = draws.column("features")
    # CODIMENSION is the rank of the map Z -> X K Z^T + Z K X^T, whose values are symmetric matrices, (P, P), of P (P +
    # 1) / 2 free entries
    yield equal_on_every_draw(
        "rank of the equation",
        draws[CODIMENSION],
        P * (P + 1) / 2,
        tolerance=0.0,
        because="a rank is a whole number",
        rivals={
            minus_sign: {"measured": draws[CODIMENSION_MINUS_SIGN]},
            uncentred: {"measured": draws[CODIMENSION_UNCENTRED]},
        },
        scaled=False,  # no smallest refused error is sought: with a tolerance of zero every other rank is refused
    )


@claim(
    "Proposition 4, proof of Lemma 4",
    scope=RENORMALISED,
    correction=r"The orthogonal projection is self-adjoint: $Z - \frac{CN}{2}(X\mathbf{C}Z^\top + "
    r"Z\mathbf{C}X^\top)X\mathbf{C}$, with $C$ the number of classes and the class-centring matrix "
    r"$\mathbf{C} = (I - Y^\top Y/N)/(CN)$.",
    reason="the printed map is not its own adjoint",
    quantifier="all draws",
)
def projection_self_adjoint(features: Table) -> Claim:
    r"""The printed map onto the tangent space may be moved across the inner product: $\langle\Pi(A), B\rangle = \langle
    A, \Pi(B)\rangle$.

    It may not (errata 5). With $S = \frac12(X\mathbf{C}Z^\top + Z\mathbf{C}X^\top)$ the printed map is $\Pi(Z) = Z -
    SX$, a projection but not an orthogonal one. On the worst draw its matrix differs from its transpose by
    {largest_asymmetry:.2g} of its norm. It takes away $SX$, a move along the fibre, the set of all $AX$ with invertible
    $A$. What is normal to the manifold of renormalised features $X$ has the form $SX\mathbf{C}$, so that the orthogonal
    projection takes away $CN\,SX\mathbf{C}$.

    By moving the map the proof of Lemma 4 replaces it with its adjoint. This leaves the gradient alone (to
    {largest_change_by_adjoint:.1g} of its norm, where the map itself changes it by {smallest_change_by_map:.2g} or
    more), because $\nabla L\,X^\top = 0$: the loss is constant along fibres. So Lemma 4 arrives at gradient flow
    without any projection. That flow leaves the manifold, since at least {smallest_normal_share:.2g} of the gradient is
    normal to it. Its class means do move as under the orthogonal projection, for which Lemma 5 and Proposition 2
    therefore come out right. Of the flow $\dot X = -\Pi(\nabla L)$ equation 5 says only that $\Pi$ "projects".
    `proposition_2` tests both readings, the orthogonal projection and the printed map.
    """
    other_maps = {
        "the orthogonal projection without its factor $1/2$, self-adjoint too": WHOLE_ORTHOGONAL,
        "the printed map with a minus between its products": MINUS_SIGN,
    }
    gaps = {
        # Pi as a matrix, which is symmetric if the map is self-adjoint
        "$\\|\\Pi - \\Pi^\\top\\|_F / \\|\\Pi\\|_F$": ASYMMETRY,
        # ||X K Pi(Z)^T + Pi(Z) K X^T|| / ||X K Z^T + Z K X^T||
        "part of the image outside of the tangent space": IMAGE_TANGENCY_GAP,
        # ||Pi(T) - T|| / ||T|| of a tangent T
        "change of tangents": TANGENT_CHANGE,
    }
    # The printed map fails the first check alone: it is a projection, though not the orthogonal one. The orthogonal one
    # without its 1/2 passes the first and the last and fails the second: it reverses what is normal to the manifold.
    # The map with a minus fails all three
    for name, gap in gaps.items():
        yield no_gap_under_map(name, features, gap, PRINTED, corrected=ORTHOGONAL, rivals=other_maps)
    draws = Draws(features)
    yield Facts(
        largest_asymmetry=largest(features, ASYMMETRY, flow=PRINTED).max(),
        # relative to the gradient: its change under the printed map's adjoint, that under the printed map itself, and
        # the part of it that is normal to the manifold
        largest_change_by_adjoint=draws.largest(ADJOINT_GRADIENT_CHANGE).max(),
        smallest_change_by_map=draws.smallest(PRINTED_GRADIENT_CHANGE).min(),
        smallest_normal_share=draws.smallest(GRADIENT_NORMAL_SHARE).min(),
    )


@claim("Lemma 2", scope=RENORMALISED + "; steps in a random direction of zero mean", quantifier="all draws")
def lemma_2(features: Table, *, tolerance: Positive) -> Claim:
    r"""A step $X + \Delta$ that is renormalised equals $X + \Pi(\Delta) + O(\|\Delta\|^2)$ with the printed map $\Pi$.

    $\Pi$ is the map of `tangent_space`, and $\Delta$ has zero mean. The remainder relative to $\|\Delta\|$ must fall as
    a power of the step that is one to within {tolerance:g}. The proof's last formula but one prints a minus between the
    two products of $\Pi$, a slip (errata 13). Under the orthogonal projection, for which Proposition 2 holds, the lemma
    fails: the power is {median_order_orthogonal:.2g} (median over draws).
    """

    def order(tangent_map: str) -> np.ndarray:
        """Return the p with which the remainder falls like h^p in the step h, from the last halving, shape (draws,).

        The remainder is ||R(X + h Z) - X - h Pi(Z)|| / ||h Z|| for a map Pi; R renormalises features.
        """
        # shape (draws, steps), each step half the one before
        remainders = by_draw(features, STEP_REMAINDER, flow=tangent_map)
        of_step, of_half_step = remainders[:, -2], remainders[:, -1]
        return np.log2(of_step / of_half_step)

    # the check subtracts the prediction, one, from the order: hence its name
    yield equal_on_every_draw(
        "order of the remainder in the step, minus one, from the two smallest steps",
        order(PRINTED),
        1.0,
        tolerance=tolerance,
        relative_to=1.0,  # the difference of two orders is not divided by anything
        because="next order: the step's relative size, some thousandths, times a curvature",
        # a rival is another map, and replaces what is measured: the order of its remainder must differ from one
        rivals={
            "the orthogonal projection": {"measured": order(ORTHOGONAL)},
            "a minus between the products, as the proof prints": {"measured": order(MINUS_SIGN)},
        },
        # no smallest refused error is sought: the prediction is one, so that it would be the tolerance again
        scaled=False,
    )
    yield Facts(tolerance=tolerance, median_order_orthogonal=np.median(order(ORTHOGONAL)))


@claim(
    "Lemma 3",
    scope=RENORMALISED + "; the non-zero singular values, all different, along the printed map",
    quantifier="all draws",
)
def lemma_3(features: Table) -> Claim:
    r"""Along $\Pi(dX)$, with the printed $\Pi$, singular values that differ from all others change by $d\omega_j =
    (y_j^\top/N - \omega_j x_j^\top\mathbf{C})\,dx_j$ in aligned coordinates (appendix D.2).

    $\Pi$ is the map of `tangent_space`. In aligned coordinates the SNR matrix is diagonal, with entries $\omega_j$;
    $x_j$, $y_j$ and $dx_j$ are rows of features, labels and $dX$ (before $\Pi$). Along the orthogonal projection the
    second product is absent. Moves that split equal singular values are not in the formula (errata 16).
    """

    def error(formula: Quantity) -> np.ndarray:
        """Return the largest |slope - formula| over the largest |slope| of the singular values, shape (draws,)."""

        # slopes are d omega_j along the printed map's image of Z, by central differences; both arrays have the shape
        # (draws, 1 time, C - 1)
        def error_at_size(_: Size, slope: np.ndarray, predicted: np.ndarray) -> np.ndarray:
            return np.abs(slope - predicted).max(axis=(1, 2)) / np.abs(slope).max(axis=(1, 2))

        return over_sizes(error_at_size, slope=by_size(features, SLOPE), predicted=by_size(features, formula))

    yield zero_on_every_draw(
        "slopes of $\\omega_j$ minus the formula, relative",
        error(SLOPE_LEMMA_3),  # (y_j / N - omega_j K x_j) . dx_j
        tolerance=DIFFERENCE_ERROR,
        because="error of central differences",
        # y_j / N . dx_j: the slope along the orthogonal projection, which takes nothing away from class means
        rivals={"the first product alone": error(SLOPE_WITHOUT_SHRINKING)},
    )


@claim(
    "Lemma 4",
    scope=RENORMALISED + "; the velocity of the whole feature matrix, deviations from class means included",
    correction=r"$\frac{d}{dt}x_j = \frac{\omega_j}{N(C+\omega_j^2)^2}y_j$ where equation 5 means the orthogonal "
    r"projection, and $\frac{\omega_j}{CN(C+\omega_j^2)}y_j$ where it means the map that Proposition 4 prints: either "
    "flow moves class means alone.",
    reason="the printed equation is gradient flow without a projection, under which the features leave the manifold",
    quantifier="all draws",
)
def lemma_4(features: Table) -> Claim:
    r"""Under continually renormalised gradient flow, in aligned coordinates (appendix D.2), rows of the features move
    by $\frac{d}{dt}x_j = \frac{\omega_j}{(C+\omega_j^2)^2}(\frac1Ny_j - \omega_j\mathbf{C}x_j)$.

    Symbols are those of `lemma_3`. In the flow $\dot X = -\Pi(\nabla L)$ (equation 5) $\Pi$ may be the orthogonal
    projection or the map that Proposition 4 prints: the rows move so under neither. The printed equation is off by
    {smallest_gap_orthogonal:.2g} of the velocity or more under the former, by {smallest_gap_printed:.2g} or more under
    the latter. With $x_j = \omega_jy_j + n_j$ its second product is along the deviations $n_j$, and would change their
    covariance. This stays the identity: both flows leave $n_j$ where it is. The proof moves $\Pi$ across the inner
    product and so arrives at the gradient itself (errata 5, `projection_self_adjoint`). The first product alone is
    right under the orthogonal projection, so that Lemmas 5 and 6 follow there.
    """
    # Each quantity is the gap of a formula for dx_j / dt from the velocity -Pi(grad L), over this velocity:
    # - VELOCITY_GAP_LEMMA_4: omega_j / (C + omega_j^2)^2 (y_j / N - omega_j K x_j), as the lemma has it
    # - VELOCITY_GAP_MEANS: its first product alone, omega_j / (N (C + omega_j^2)^2) y_j
    # - VELOCITY_GAP_MEANS_FASTER: 1 + omega_j^2 / C times as much, omega_j / (C N (C + omega_j^2)) y_j
    # The second is right under the orthogonal projection, the third under the printed map. As a rival either is taken
    # for both maps: it passes under the one and is refused under the other
    corrected = {ORTHOGONAL: VELOCITY_GAP_MEANS, PRINTED: VELOCITY_GAP_MEANS_FASTER}
    least_gap_as_printed = {}
    for tangent_map in (ORTHOGONAL, PRINTED):
        under_map = select(features, flow=tangent_map)
        yield no_gap(
            f"formula minus velocity of the features, relative, {tangent_map} map",
            under_map,
            VELOCITY_GAP_LEMMA_4,
            corrected=corrected[tangent_map],
            rivals={
                "class means at the same speed under both maps": VELOCITY_GAP_MEANS,
                "the faster speed under both": VELOCITY_GAP_MEANS_FASTER,
            },
        )
        least_gap_as_printed[tangent_map] = Draws(under_map)[VELOCITY_GAP_LEMMA_4].min()
    yield Facts(
        smallest_gap_orthogonal=least_gap_as_printed[ORTHOGONAL], smallest_gap_printed=least_gap_as_printed[PRINTED]
    )


@claim(
    "Lemma 7",
    scope="matrices of three sizes, both directions of the equivalence",
    quantifier="all draws",
)
def lemma_7(features: Table) -> Claim:
    r"""A matrix is a simplex equiangular tight frame if and only if it has exactly $C-1$ non-zero singular values, all
    equal, and its columns sum to zero.

    $E$ is such a frame if $E^\top E$ is a positive multiple of $CI - \mathbf{1}\mathbf{1}^\top$. This is checked for a
    matrix with both properties, and the properties are checked for a rotated simplex frame.
    """
    # each is a matrix with one of both properties, whose Gram matrix is not that of a simplex frame
    rivals = {
        "equal singular values without columns that sum to zero": SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE,
        "columns that sum to zero without equal singular values": SIMPLEX_FRAME_GAP_UNEQUAL_VALUES,
    }
    # the larger of two gaps; of a rival there is the first alone:
    # - of E with both properties, the relative distance of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1)
    # - of a rotated frame E, the largest of three numbers over its largest singular value: how far its first C - 1
    #   singular values are apart, its last one, and the entries of E 1
    yield no_gap("relative gap, the larger of both directions", features, SIMPLEX_FRAME_GAP, rivals=rivals)
