"""What small terms of the loss say of neural collapse (section 2, appendix C.2)."""

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
    ROUNDING,
    UNIT,
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
    correction=r"A push of $\Sigma_W$ towards zero that is far enough always reduces $L_{NC1}$, but it is not the only "
    r"way: $L_{NC1} = \frac12\sum_j\omega_j^2/(C+\omega_j^2)^2$ vanishes as well where $\Sigma_W$ grows without bound "
    r"in every direction. Each summand is symmetric in $\log\omega_j$ about $\omega_j^2 = C$, where it is largest. It "
    r"also vanishes beside noise that stays, in directions in which class means do not differ.",
    quantifier="all draws",
    reason="as $\\Sigma_W$ grows in every direction the term vanishes as well",
)
def nc1_term_and_variability(features: Table) -> Claim:
    r"""With class means held constant, $L_{NC1}$ can always be reduced by pushing $\Sigma_W$ towards zero, and
    $\Sigma_W \to 0$ is the only way to $L_{NC1} \to 0$.

    The first half is right: from every scatter a push is found that leaves {pushed:.2g} of the term or less. On the way
    the term may rise, where $\omega_j^2 < C$. The second half is wrong. Where deviations drown the signal the
    least-squares classifier gives up: its weights shrink faster than the deviations grow, and so does their part of the
    loss. What is left of the loss is then in $L_{NC2/3}$. Deviations a thousand times as large leave {drowned:.1g} of
    $L_{NC1}$ (median over draws).
    """
    # L_NC1 = tr(W_LS Sigma_W W_LS^T) / 2 (eq. 17), class means kept and deviations from them scaled by each of
    # SCATTERS; shape (draws, scatters), the largest scatter last
    loss_nc1 = Draws(features).entries(SCATTERED_LOSS_NC1)
    # between the two largest scatters
    exponent = np.log(loss_nc1[:, -1] / loss_nc1[:, -2]) / np.log(SCATTERS[-1] / SCATTERS[-2])
    yield every_draw(
        "exponent of $L_{NC1}$ in the standard deviation within classes, where this is largest",
        exponent,
        at_least=0.0,
        because="a term that vanishes with $\\Sigma_W$ alone does not fall as it grows",
        corrected=NOT_CLAIMED,
    )

    def errors_of(law: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Return the largest relative error of ``law(omega, C)`` over scatters, shape (draws,)."""

        def of_size(size: Size, measured: np.ndarray, omega: np.ndarray) -> np.ndarray:
            # deviations that are scaled by s divide the SNR singular values by s
            predicted = law(omega / SCATTERS[:, None], size.classes)  # shape (draws, scatters)
            return relative_error(measured[:, 0], predicted)

        return over_sizes(of_size, measured=by_size(features, SCATTERED_LOSS_NC1), omega=by_size(features, OMEGA))

    def condition_number(size: Size, omega: np.ndarray) -> np.ndarray:
        """Return that of I + M^T Sigma_W^-1 M / C, which gives the classifier, at the least scatter, shape (draws,).

        M^T Sigma_W^-1 M has the eigenvalues omega_j^2 and zero.
        """
        omega_max = omega[:, 0, 0] / SCATTERS[0]
        return 1 + omega_max**2 / size.classes

    conditioning = over_sizes(condition_number, omega=by_size(features, OMEGA))
    yield zero_on_every_draw(
        "$L_{NC1}$ at every scatter minus the formula, relative",
        errors_of(theory.spectral_variability_loss),  # sum_j omega_j^2 / (C + omega_j^2)^2 / 2, Lemma 1
        10 * UNIT * conditioning,
        "rounding: 10 units, times the conditioning $1 + \\omega_{\\max}^2/C$ at the least scatter",
        printed=NOT_CLAIMED,
        rivals={
            # the formula at large omega: without C it has no maximum
            "larger wherever deviations are larger": errors_of(lambda omega, _: 0.5 * np.sum(omega**-2.0, axis=-1)),
            "largest at $\\omega = 1$": errors_of(lambda omega, _: theory.spectral_variability_loss(omega, 1)),
            "largest at $\\omega = C$": errors_of(lambda omega, C: theory.spectral_variability_loss(omega, C**2)),
        },
    )

    def error_beside_noise(size: Size, omega: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return |L_NC1 / formula - 1| where deviations are small along the class means alone, shape (draws,).

        Sigma_W is the least scatter's square there, and the identity beside: omega_j are those of the least scatter.
        """
        predicted = theory.spectral_variability_loss(omega[:, 0] / SCATTERS[0], size.classes)
        return np.abs(measured[:, 0, 0] / predicted - 1)

    yield zero_on_every_draw(
        "$L_{NC1}$ where deviations are least along the class means, and stay beside them, minus the formula, relative",
        over_sizes(
            error_beside_noise,
            omega=by_size(features, OMEGA),
            measured=by_size(features, LOSS_NC1_BESIDE_NOISE),
        ),
        10 * UNIT * conditioning,
        "rounding: 10 units, times the conditioning $1 + \\omega_{\\max}^2/C$ at the least scatter",
        printed=NOT_CLAIMED,
    )

    def error_of_loss_nc23(size: Size, omega: np.ndarray, measured: np.ndarray) -> np.ndarray:
        """Return |L_NC2/3 / formula - 1| at the largest scatter, shape (draws,).

        By Lemma 1 it is sum_j C / (C + omega_j^2)^2 / 2, and L_NC1 the share omega_j^2 / (C + omega_j^2) of each
        summand of the loss: where omega_j is small, nearly all of the loss is L_NC2/3.
        """
        predicted = theory.spectral_geometry_loss(omega[:, 0] / SCATTERS[-1], size.classes)
        return np.abs(measured[:, 0, AT_LARGEST_SCATTER] / predicted - 1)

    yield zero_on_every_draw(
        "$L_{NC2/3}$ where deviations are largest minus the formula, relative: all of the loss but $\\omega_j^2/C$",
        over_sizes(
            error_of_loss_nc23,
            omega=by_size(features, OMEGA),
            measured=by_size(features, SCATTERED_LOSS_NC23),
        ),
        ROUNDING,
        "rounding",
        printed=NOT_CLAIMED,
    )
    # the push makes the deviations omega_min sqrt(L_NC1 / (C - 1)) times those of the renormalised features: as a
    # summand of L_NC1 is at most 1 / (2 omega_j^2), L_NC1 after it is at most half of that before
    yield every_draw(
        "$L_{NC1}$ after a push of $\\Sigma_W$ towards zero over $L_{NC1}$ before it, the largest over scatters",
        Draws(features).largest(PUSHED_LOSS_NC1_RATIO),
        at_most=1.0,
        because="reduced, as section 2 says it always can be",
        fact="pushed",
    )
    yield Facts(drowned=np.median(loss_nc1[:, AT_LARGEST_SCATTER] / loss_nc1[:, AT_SCATTER_OF_ONE]))


@claim(
    "Section 2, Appendix C.2 (second term)",
    scope="renormalised Gaussian features of three sizes, their deviations within classes a thousandth of the "
    "smallest difference between class means; no weight decay",
    correction=r"$L_{NC2/3} \to 0$ as $\Sigma_W \to 0$ for any class means of rank $C-1$. Where $\Sigma_W$ is a "
    r"multiple of the identity the classifier then tends to $\bar M^\dagger$, which for $C \geq 3$ is a simplex frame, "
    r"and a multiple of $\bar M^\top$, only where $\bar M$ is a simplex frame already; two classes always make one.",
    quantifier="all draws",
    reason="the term is small where neither class means nor classifiers are near a simplex frame",
)
def nc23_term_and_simplex(features: Table) -> Claim:
    r"""$L_{NC2/3}$ is a semi-metric of the distance from NC2 and NC3: where it is small, class means and classifiers
    are nearly the same simplex frame.

    It measures how well classifiers tell class means apart, which they do perfectly for any class means of full rank
    once noise is small. NC1, NC2 and NC3 together imply that it vanishes. The converse, which its name promises, fails:
    where at most {term:.1g} of $\|W\bar M - \Phi\|/\|\Phi\|$ is left, class means are {means:.2g} and classifiers
    {classifiers:.2g} away from the nearest frame (relative distance of Gram matrices, medians over draws). A flow that
    minimises the term on renormalised features does make singular values equal, as `corollary_1_equality` says of the
    whole loss. Then it is the dynamics that gives the simplex, not the smallness of the term.
    """
    draws = Draws(features)
    score_error = draws[CONCENTRATED_SCORE_ERROR]  # ||W M - Phi|| / ||Phi||: the root of L_NC2/3 (eq. 18) but for units
    # of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1) (Lemma 7), relative, for E = M and for E = W^T
    means, classifiers = draws[MEANS_FRAME_DISTANCE], draws[CLASSIFIERS_FRAME_DISTANCE]
    in_proportion = "classifiers in proportion to class means"
    # as printed, both distances are zero where the term is small; as corrected, they are those of the class means'
    # pseudo-inverse. A distance that is of a lower power than the square root of another would hardly be its measure
    tolerance = np.sqrt(score_error)
    because = "the square root of what is left of $\\|W\\bar M - \\Phi\\|/\\|\\Phi\\|$"
    yield equal_on_every_draw(
        "distance of classifiers from a simplex frame, minus its prediction",
        classifiers,
        0.0,
        tolerance=tolerance,
        relative_to=1.0,
        resolution=0.1,
        because=because,
        corrected=draws[INVERSE_FRAME_DISTANCE],  # for E^T = pinv(M)
        rivals={in_proportion: means, "classifiers that are a simplex frame": 0.0},
        scaled=False,
    )
    # || W / ||W|| - M^T / ||M|| ||^2, and as corrected the same of pinv(M) instead of W
    yield equal_on_every_draw(
        "distance of classifiers from class means, minus its prediction",
        draws[CLASSIFIERS_SELF_DUALITY],
        0.0,
        tolerance=tolerance,
        relative_to=1.0,
        resolution=0.1,
        because=because,
        corrected=draws[INVERSE_SELF_DUALITY],
        rivals={in_proportion: 0.0},
        scaled=False,
    )
    yield premise(
        every_draw(
            "what is left of $\\|W\\bar M - \\Phi\\|/\\|\\Phi\\|$",
            score_error,
            at_most=0.01,
            because="the term is small: a hundredth of what a classifier of zeros leaves",
        )
    )
    yield Facts(term=score_error.max(), means=np.median(means), classifiers=np.median(classifiers))


@claim(
    "Appendix C.2 (NC2 and NC3)",
    scope="class means that are a simplex frame; noise within classes of a hundredth to ten times their singular value "
    "along them, and of that value in all directions beside them; no weight decay",
    correction=r"NC1 is needed too: where NC2 and NC3 hold, all SNR singular values are one $\omega$, "
    r"$W_{LS}\bar M = \frac{\omega^2}{C+\omega^2}\Phi$ and "
    r"$L_{NC2/3} = \frac{C-1}{2C}\bigl(\frac{C}{C+\omega^2}\bigr)^2$, which vanishes as $\omega \to \infty$.",
    quantifier="all draws",
    reason="NC2 and NC3 fix directions, and the size of the scores is NC1's",
)
def nc2_and_nc3_demand_simplex_scores(features: Table) -> Claim:
    r"""(NC2) and (NC3) together demand that $W_{LS}\bar M \to \Phi$, and so that $L_{NC2/3} \to 0$.

    Both are statements up to scale. Class means that are a simplex frame, amid noise that is the same in all of their
    directions, have classifiers in proportion to them whatever its size: NC2 and NC3 hold exactly, and the scores fall
    short of $\Phi$ by the share $C/(C+\omega^2)$. Three classes with noise of the size of the signal, $\omega = 1$,
    keep $L_{NC2/3} = 3/16$. Noise of ten times the signal leaves {noisy:.3g} of $\|\Phi\|$, noise of a hundredth
    {quiet:.1g} (largest over draws). For the other direction see `nc23_term_and_simplex`.
    """
    scores = Draws(features).entries(SIMPLEX_SCORE_ERROR)  # shape (draws, noises), the largest noise first
    classes = Draws(features).column("classes")[:, None]  # C, shape (draws, 1)
    omega = 1 / SIMPLEX_NOISES  # SNR singular values of class means with singular values one
    yield equal_on_every_draw(
        "$\\|W\\bar M - \\Phi\\| / \\|\\Phi\\|$ where class means and classifiers are the same simplex frame",
        scores,
        0.0,
        tolerance=ROUNDING,
        relative_to=1.0,
        because="rounding",
        corrected=theory.simplex_score_error(omega, classes),  # C / (C + omega^2)
        rivals={
            "$1/(1+\\omega^2)$, without $C$": theory.simplex_score_error(omega, np.ones_like(classes)),
            "$C/(C+\\omega)$": theory.simplex_score_error(omega**0.5, classes),
        },
    )
    for name, quantity in {
        # of E^T E from the nearest alpha (C I - 1 1^T) / (C - 1), the larger of E = M and E = W^T
        "NC2: distance of class means and classifiers from a simplex frame": SIMPLEX_FRAME_DISTANCE,
        # || W / ||W|| - M^T / ||M|| ||^2
        "NC3: squared distance of classifiers from class means": SIMPLEX_SELF_DUALITY,
    }.items():
        worst = Draws(features).largest(quantity)
        yield premise(every_draw(name, worst, at_most=ROUNDING, because="exact, to rounding"))
    yield Facts(noisy=scores[:, 0].max(), quiet=scores[:, -1].max())
