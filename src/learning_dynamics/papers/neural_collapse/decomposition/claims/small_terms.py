"""What small terms of the loss say of neural collapse (section 2, appendix C.2).

C classes of N examples have P features each. M, (P, C), has the class means less their average as columns, Sigma_W is
the covariance within classes, and omega_j are the singular values of the SNR matrix Sigma_W^{-1/2} M. W, (C, P), is the
least-squares classifier, without its bias and without weight decay, and Phi = I - 1 1^T / C. The terms of its loss are
L_NC1 = tr(W Sigma_W W^T) / 2 (eq. 17) and L_NC2/3 = ||W M - Phi||_F^2 / (2 C) (eq. 18). By Lemma 1 they are sum_j
omega_j^2 / (C + omega_j^2)^2 / 2 and sum_j C / (C + omega_j^2)^2 / 2.

A draw is one random feature matrix, renormalised: Sigma_W = I. In the first two claims its deviations from the class
means are multiplied by a factor, which the code calls scatter. In the third its class means are replaced by a simplex
frame, and the deviations are multiplied by a factor along this frame.

Where deviations are multiplied by a factor s, the omega_j are divided by s. `SCATTERS` ascend: the least has the index
0.
"""

from collections.abc import Callable

import numpy as np

from learning_dynamics.judging import NOT_CLAIMED, Claim, Facts, claim, equal_on_every_draw, every_draw, premise
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.converses import (
    AT_LARGEST_SCATTER,
    AT_SCATTER_OF_ONE,
    SCATTERS,
    SIMPLEX_NOISES,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    CLASSIFIERS_FRAME_DISTANCE,
    CLASSIFIERS_SELF_DUALITY,
    CONCENTRATED_SCORE_ERROR,
    INVERSE_FRAME_DISTANCE,
    INVERSE_SELF_DUALITY,
    LOSS_NC1_BESIDE_NOISE,
    MEANS_FRAME_DISTANCE,
    OMEGA,
    PUSHED_LOSS_NC1_RATIO,
    SCATTERED_LOSS_NC1,
    SCATTERED_LOSS_NC23,
    SIMPLEX_FRAME_DISTANCE,
    SIMPLEX_SCORE_ERROR,
    SIMPLEX_SELF_DUALITY,
)
from learning_dynamics.papers.neural_collapse.draws import (
    EPSILON,
    ROUNDING,
    Size,
    by_size,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Draws, Table


@claim(
    "Section 2, Appendix C.2 (first term)",
    scope="renormalised Gaussian features of three sizes; deviations within classes scaled by 0.001 to 1000, class "
    "means kept; no weight decay",
    correction=r"A push of $\Sigma_W$ towards zero that is far enough always reduces $L_{NC1}$. But $\Sigma_W \to 0$ "
    r"is not the only way: $L_{NC1} = \frac12\sum_j\omega_j^2/(C+\omega_j^2)^2$ vanishes as well where $\Sigma_W$ "
    r"grows without bound in every direction. Each summand is symmetric in $\log\omega_j$ about $\omega_j^2 = C$, "
    r"where it is largest. $L_{NC1}$ vanishes too where noise vanishes along the class means alone, and stays in "
    r"directions orthogonal to all of them.",
    quantifier="all draws",
    reason="as $\\Sigma_W$ grows in every direction the term vanishes as well",
)
def nc1_term_and_variability(features: Table) -> Claim:
    r"""With class means held constant, $L_{NC1}$ can always be reduced by pushing $\Sigma_W$ towards zero, and
    $\Sigma_W \to 0$ is the only way to $L_{NC1} \to 0$.

    The first half is right: at every size of the deviations a push is found that leaves {largest_share_after_push:.2g}
    of the term or less. On the way the term may rise, where $\omega_j^2 < C$. The second half is wrong. Where
    deviations drown the signal the least-squares classifier gives up: its weights shrink faster than the deviations
    grow, so that their part of the loss vanishes and $L_{NC2/3}$, the class means' part, is what is left. Deviations a
    thousand times as large leave {median_share_at_largest_scatter:.1g} of $L_{NC1}$ (median over draws).
    """
    # L_NC1 with class means kept and deviations from them multiplied by each of SCATTERS, shape (draws, scatters)
    loss_nc1 = Draws(features).entries(SCATTERED_LOSS_NC1)
    growth_of_loss = loss_nc1[:, AT_LARGEST_SCATTER] / loss_nc1[:, AT_LARGEST_SCATTER - 1]
    growth_of_scatter = SCATTERS[AT_LARGEST_SCATTER] / SCATTERS[AT_LARGEST_SCATTER - 1]
    yield every_draw(
        "exponent of $L_{NC1}$ in the standard deviation within classes, where this is largest",
        np.log(growth_of_loss) / np.log(growth_of_scatter),
        at_least=0.0,
        because="a term that vanishes only as $\\Sigma_W \\to 0$ does not keep falling as $\\Sigma_W$ grows",
        corrected=NOT_CLAIMED,  # this check is the printed sentence's alone, the next three are the correction's
    )

    # `over_sizes` below calls its function once for each size and joins the draws that come back. The function takes
    # arrays of shape (draws, 1 time, entries): `omega`, the SNR singular values of the renormalised features, has the
    # entries 1, ..., C - 1, the largest first; `measured` has an entry for each of SCATTERS, or one alone
    def errors_of(formula: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Return the largest |L_NC1 / formula(omega, C) - 1| over scatters, shape (draws,)."""

        def errors_at_size(size: Size, measured: np.ndarray, omega: np.ndarray) -> np.ndarray:
            omega_by_scatter = omega / SCATTERS[:, None]  # shape (draws, scatters, C - 1)
            predicted = formula(omega_by_scatter, size.classes)  # shape (draws, scatters)
            return relative_error(measured[:, 0], predicted)

        return over_sizes(
            errors_at_size, measured=by_size(features, SCATTERED_LOSS_NC1), omega=by_size(features, OMEGA)
        )

    def condition_number(size: Size, omega: np.ndarray) -> np.ndarray:
        """Return the condition number of I + M^T Sigma_W^-1 M / C at the least scatter, shape (draws,).

        Its inverse gives the classifier. M^T Sigma_W^-1 M has the eigenvalues omega_j^2 and zero.
        """
        omega_max = omega[:, 0, 0] / SCATTERS[0]  # of each draw, at its one time the first, which is the largest
        return 1 + omega_max**2 / size.classes

    # 10 units of rounding are chosen; the inverse multiplies them by the condition number, which is largest at the
    # least scatter
    tolerance = 10 * EPSILON * over_sizes(condition_number, omega=by_size(features, OMEGA))
    because = "rounding: 10 units, times the conditioning $1 + \\omega_{\\max}^2/C$ at the least scatter"
    yield zero_on_every_draw(
        "$L_{NC1}$ at every scatter minus the formula, relative",
        errors_of(theory.spectral_variability_loss),  # sum_j omega_j^2 / (C + omega_j^2)^2 / 2, Lemma 1
        tolerance=tolerance,
        because=because,
        printed=NOT_CLAIMED,
        rivals={  # each is the error of another formula
            # sum_j 1 / omega_j^2 / 2, the formula where omega_j^2 is much larger than C: it has no maximum
            "larger wherever deviations are larger": errors_of(lambda omega, _: 0.5 * np.sum(omega**-2.0, axis=-1)),
            # a summand is largest where omega_j^2 equals the second argument, which for the formula is C
            "largest at $\\omega = 1$": errors_of(lambda omega, _: theory.spectral_variability_loss(omega, 1)),
            "largest at $\\omega = C$": errors_of(lambda omega, C: theory.spectral_variability_loss(omega, C**2)),
        },
    )

    def error_beside_noise(size: Size, omega: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return |L_NC1 / formula - 1| where deviations are small along the class means alone, shape (draws,).

        Sigma_W is SCATTERS[0]^2 along the class means and one orthogonal to them all. Only the former enters omega_j.
        """
        predicted = theory.spectral_variability_loss(omega[:, 0] / SCATTERS[0], size.classes)
        return np.abs(measured[:, 0, 0] / predicted - 1)  # of each draw, at its one time the one entry

    yield zero_on_every_draw(
        "$L_{NC1}$ where deviations are least along the class means alone, minus the formula, relative",
        over_sizes(
            error_beside_noise,
            omega=by_size(features, OMEGA),
            measured=by_size(features, LOSS_NC1_BESIDE_NOISE),
        ),
        tolerance=tolerance,
        because=because,
        printed=NOT_CLAIMED,
    )

    def error_of_loss_nc23(size: Size, omega: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return |L_NC2/3 / formula - 1| at the largest scatter, shape (draws,).

        L_NC1 has the share omega_j^2 / (C + omega_j^2) of each summand of the loss, about omega_j^2 / C where omega_j
        is small, as at this scatter: all of the loss but this share is L_NC2/3.
        """
        predicted = theory.spectral_geometry_loss(omega[:, 0] / SCATTERS[AT_LARGEST_SCATTER], size.classes)
        return np.abs(measured[:, 0, AT_LARGEST_SCATTER] / predicted - 1)

    yield zero_on_every_draw(
        "$L_{NC2/3}$ where deviations are largest minus the formula, relative: all of the loss but $\\omega_j^2/C$",
        over_sizes(
            error_of_loss_nc23,
            omega=by_size(features, OMEGA),
            measured=by_size(features, SCATTERED_LOSS_NC23),
        ),
        tolerance=ROUNDING,
        because="rounding",
        printed=NOT_CLAIMED,
    )
    # The push takes the standard deviation within classes to s = omega_min sqrt(L_NC1 / (C - 1)), with L_NC1 before it.
    # A summand of L_NC1 is then at most s^2 / (2 omega_j^2), so that L_NC1 after it is at most half of that before. The
    # check is of the printed sentence and of the correction, and has no rivals
    yield every_draw(
        "$L_{NC1}$ after a push of $\\Sigma_W$ towards zero over $L_{NC1}$ before it, the largest over scatters",
        Draws(features).largest(PUSHED_LOSS_NC1_RATIO),
        at_most=1.0,
        because="reduced, as section 2 says it always can be",
        fact="largest_share_after_push",
    )
    loss_nc1_left = loss_nc1[:, AT_LARGEST_SCATTER] / loss_nc1[:, AT_SCATTER_OF_ONE]
    yield Facts(median_share_at_largest_scatter=np.median(loss_nc1_left))


@claim(
    "Section 2, Appendix C.2 (second term)",
    scope="renormalised Gaussian features of three sizes, their deviations within classes at most a "
    "thousandth of the class means' smallest singular value; no weight decay",
    correction=r"$L_{NC2/3} \to 0$ as $\Sigma_W \to 0$ for any class means of rank $C-1$. Where $\Sigma_W$ is a "
    r"multiple of the identity the classifier then tends to $\bar M^\dagger$, which for $C \geq 3$ is a simplex frame, "
    r"and a multiple of $\bar M^\top$, only where $\bar M$ is a simplex frame already; two classes always make one.",
    quantifier="all draws",
    reason="the term is small where neither class means nor classifiers are near a simplex frame",
)
def nc23_term_and_simplex(features: Table) -> Claim:
    r"""$L_{NC2/3}$ is a semi-metric of the distance from NC2 and NC3: where it is small, class means and classifiers
    are nearly the same simplex frame.

    Where noise is so small that $\|W\bar M - \Phi\|/\|\Phi\|$ is small, at most {largest_score_error:.1g}, two
    distances must be zero to within the square root of what it is on the same draw: that of classifiers from the
    nearest simplex frame, and that of classifiers from class means.

    The term is $\frac{1}{2C}\|W\bar M - \Phi\|_F^2$ with the simplex $\Phi = I - \mathbf{1}\mathbf{1}^\top/C$ (eq. 18).
    It measures how well classifiers tell class means apart, which they do perfectly for any class means of rank $C-1$
    once noise is small. NC1, NC2 and NC3 together imply that it vanishes. The converse fails: where the term is small,
    class means are {median_means_distance:.2g} and classifiers {median_classifiers_distance:.2g} away from the nearest
    frame (relative distance of Gram matrices, medians over draws). A flow that minimises the term on renormalised
    features does make singular values equal, but by its dynamics, as `corollary_1_equality` says of the whole loss.
    """
    draws = Draws(features)
    score_error = draws[CONCENTRATED_SCORE_ERROR]  # ||W M - Phi|| / ||Phi||: the root of L_NC2/3 (eq. 18) but for units
    # distance of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1) (Lemma 7), relative, for E = M and for E = W^T
    means_frame_distance = draws[MEANS_FRAME_DISTANCE]
    classifiers_frame_distance = draws[CLASSIFIERS_FRAME_DISTANCE]
    proportional_rival = "classifiers in proportion to class means"  # the name of a rival of both checks
    # As printed, the distances below vanish with the score error; as corrected, they are those of the class means'
    # pseudo-inverse pinv(M), to which the classifier tends. The tolerance is the square root of the score error, so
    # that a distance that vanishes with it but more slowly, as its root, passes too
    tolerance = np.sqrt(score_error)
    because = "the square root of $\\|W\\bar M - \\Phi\\|/\\|\\Phi\\|$"
    yield equal_on_every_draw(
        "distance of classifiers from a simplex frame, minus its prediction",
        classifiers_frame_distance,
        0.0,
        tolerance=tolerance,
        relative_to=1.0,  # these distances are relative already
        # the root of the largest score error that the premise below allows, 0.01
        resolution=0.1,
        because=because,
        corrected=draws[INVERSE_FRAME_DISTANCE],  # for E^T = pinv(M)
        # Each rival predicts another distance. If classifiers are a multiple of M^T, it is the class means' own. The
        # second rival predicts zero, as the paper does: the measured distances that refuse the paper refuse it too
        rivals={proportional_rival: means_frame_distance, "classifiers that are a simplex frame": 0.0},
    )
    # || W / ||W|| - M^T / ||M|| ||^2, and as corrected the same of pinv(M) instead of W
    yield equal_on_every_draw(
        "distance of classifiers from class means, minus its prediction",
        draws[CLASSIFIERS_SELF_DUALITY],
        0.0,
        tolerance=tolerance,
        relative_to=1.0,
        resolution=0.1,  # as above
        because=because,
        corrected=draws[INVERSE_SELF_DUALITY],
        rivals={proportional_rival: 0.0},  # classifiers that are a multiple of M^T
    )
    yield premise(
        every_draw(
            "what is left of $\\|W\\bar M - \\Phi\\|/\\|\\Phi\\|$",
            score_error,
            at_most=0.01,  # chosen; a classifier of zeros leaves 1
            because="the term is small: a hundredth of what a classifier of zeros leaves",
        )
    )
    yield Facts(
        largest_score_error=score_error.max(),
        median_means_distance=np.median(means_frame_distance),
        median_classifiers_distance=np.median(classifiers_frame_distance),
    )


@claim(
    "Appendix C.2 (NC2 and NC3)",
    scope="class means that are a simplex frame; noise within classes, whose standard deviation is a hundredth to ten "
    "times their singular value along class means, and equal to it in all orthogonal directions; no weight decay",
    correction=r"NC1 is needed too: where NC2 and NC3 hold, all SNR singular values are one $\omega$, "
    r"$W_{LS}\bar M = \frac{\omega^2}{C+\omega^2}\Phi$ and "
    r"$L_{NC2/3} = \frac{C-1}{2C}\bigl(\frac{C}{C+\omega^2}\bigr)^2$, which vanishes as $\omega \to \infty$.",
    quantifier="all draws",
    reason="NC2 and NC3 fix the directions of the scores, and NC1 fixes their size",
)
def nc2_and_nc3_demand_simplex_scores(features: Table) -> Claim:
    r"""(NC2) and (NC3) together demand that $W_{LS}\bar M \to \Phi$, and so that $L_{NC2/3} \to 0$.

    NC2 (class means are a simplex frame) and NC3 (classifiers are in proportion to them) are statements up to scale.
    Take class means that are a simplex frame, amid noise that is the same in all of their directions. Then NC2 and NC3
    hold exactly, whatever the size of the noise, and the scores $W\bar M$ fall short of $\Phi = I -
    \mathbf{1}\mathbf{1}^\top/C$ by the share $C/(C+\omega^2)$. Three classes with noise of the size of the signal,
    $\omega = 1$, keep $L_{NC2/3} = 3/16$. The share is {error_under_most_noise:.3g} under noise of ten times the
    signal, and {error_under_least_noise:.1g} under noise of a hundredth (largest over draws). For the other direction
    see `nc23_term_and_simplex`.
    """
    score_errors = Draws(features).entries(SIMPLEX_SCORE_ERROR)  # shape (draws, noises), the largest noise first
    classes = Draws(features).column("classes")[:, None]  # C, shape (draws, 1)
    omega = 1 / SIMPLEX_NOISES  # SNR singular values of class means with singular values one, shape (noises,)
    yield equal_on_every_draw(
        "$\\|W\\bar M - \\Phi\\| / \\|\\Phi\\|$ where class means and classifiers are the same simplex frame",
        score_errors,
        0.0,
        tolerance=ROUNDING,
        relative_to=1.0,  # SIMPLEX_SCORE_ERROR is relative already
        because="rounding",
        corrected=theory.simplex_score_error(omega, classes),  # C / (C + omega^2)
        rivals={  # each is another prediction, of shape (draws, noises)
            "$1/(1+\\omega^2)$, without $C$": theory.simplex_score_error(omega, np.ones_like(classes)),
            "$C/(C+\\omega)$": theory.simplex_score_error(omega**0.5, classes),
        },
    )
    premises = {
        # distance of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1), the larger of E = M and E = W^T
        "NC2: distance of class means and classifiers from a simplex frame": SIMPLEX_FRAME_DISTANCE,
        # || W / ||W|| - M^T / ||M|| ||^2
        "NC3: squared distance of classifiers from class means": SIMPLEX_SELF_DUALITY,
    }
    for name, quantity in premises.items():
        largest_of_draw = Draws(features).largest(quantity)  # over noises
        yield premise(every_draw(name, largest_of_draw, at_most=ROUNDING, because="exact, to rounding"))
    yield Facts(error_under_most_noise=score_errors[:, 0].max(), error_under_least_noise=score_errors[:, -1].max())
