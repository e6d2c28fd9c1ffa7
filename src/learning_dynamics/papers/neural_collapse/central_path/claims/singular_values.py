"""How singular values of the SNR matrix grow along the flows and the described algorithm (section 3.3).

The SNR matrix, (P, C), has the class means of renormalised features X as columns, P of them for C classes of N
examples; omega_j are its C - 1 non-zero singular values. The features follow the flow dX/dt = -Pi(grad L) (eq. 5),
without weight decay and from zero global mean. Its map Pi onto the tangent space is the orthogonal projection or the
map that Proposition 4 prints (`FLOWS`): with C between features the class-centring matrix (eq. 21)

- `ORTHOGONAL`: Pi(Z) = Z - (C N / 2) (X C Z^T + Z C X^T) X C, whose omega follow `PAPER`, Proposition 2
- `PRINTED`: Pi(Z) = Z - (X C Z^T + Z C X^T) X / 2, whose omega follow `ALGORITHM`

The described algorithm (appendix D.1) is gradient descent on X with renormalisation after each step, `DESCENT`; as
steps become small its omega follow `ALGORITHM`, too. A draw is one start of a flow or descent, or one feature matrix of
those on which speeds are measured. A check takes a prediction of this kind, and so does each of its rivals.
"""

import numpy as np

from learning_dynamics.judging import NOT_CLAIMED, Claim, Facts, claim
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.checks import (
    check_asymptote,
    check_course,
    check_exponent,
    check_limit_of_small_steps,
    check_speed,
    rounding_of_steps,
    step_sizes_of,
)
from learning_dynamics.papers.neural_collapse.central_path.predictions import (
    ALGORITHM,
    FLOWS,
    PAPER,
    PAPER_AT_HALF_SPEED,
    at_speed,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    DESCENT,
    OMEGA,
    OMEGA_ONE_STEP,
    ORTHOGONAL,
    PRINTED,
    SINGULAR_VALUE_SPREAD,
    SNR_LIMIT_DISTANCE,
    SNR_OUTSIDE_FIRST_VECTORS,
    SPEED,
)
from learning_dynamics.papers.neural_collapse.central_path.vanishing import vanishing_checks
from learning_dynamics.papers.neural_collapse.draws import (
    RENORMALISED_FLOWS,
    Size,
    by_size,
    integration_error,
    no_gap,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Table


@claim(
    "Propositions 2 and 4 together, Lemma 5",
    scope=RENORMALISED_FLOWS + "; speeds on fresh draws",
    correction="For the projection that is orthogonal in the Frobenius inner product, "
    r"$Z \mapsto Z - \frac{CN}{2}(X\mathbf{C}Z^\top + Z\mathbf{C}X^\top)X\mathbf{C}$ with the class-centring matrix "
    r"$\mathbf{C}$, Proposition 2, Lemma 5 and Corollary 1 hold as printed. The map of Proposition 4 is not that "
    r"projection: with it $\dot\omega = \omega / (CN(C + \omega^2))$ holds, and therefore "
    r"$\omega^2/2 + C\log\omega = t/(CN) + $ const.",
    reason="the flow of the map that the paper prints does not follow the closed form that the paper gives",
    quantifier="all draws",
)
def proposition_2(features: Table, flows: Table) -> Claim:
    r"""Under continually renormalised gradient flow with the tangent map of Proposition 4, on the central path from
    zero global mean and without weight decay, the non-zero SNR singular values obey $\dot\omega = \omega / (N(C +
    \omega^2)^2)$: $C^2N\log\omega + CN\omega^2 + \frac N4\omega^4 = a + t$ with a constant $a$.

    The gradient moves class means and shrinks deviations from them, and the shrinking is normal to the manifold. The
    orthogonal projection removes it and leaves the paper's equation. The map of Proposition 4, $Z -
    \frac12(X\mathbf{C}Z^\top + Z\mathbf{C}X^\top)X$, makes up for it by scaling rows of $X$ as a whole, which moves the
    class means too. So singular values grow faster by the factor $1 + \omega^2/C$, which has no bound (up to
    {largest_speed_ratio:.3g} on fresh draws; errata 3 has the calculation).
    """
    # What each prediction says of the two maps. The proposition is about the printed map alone, so that checks along
    # the orthogonal projection judge the correction and the rivals only. A rival may be right for one map and pass
    # there; the checks along the other map refuse it
    printed = {ORTHOGONAL: NOT_CLAIMED, PRINTED: PAPER}
    corrected = {ORTHOGONAL: PAPER, PRINTED: ALGORITHM}
    rivals = {
        "the paper's equation for both maps": {ORTHOGONAL: PAPER, PRINTED: PAPER},
        "the algorithm's equation for both maps": {ORTHOGONAL: ALGORITHM, PRINTED: ALGORITHM},
        "$c_1$, $c_2$ and $c_3$ twice as large": {ORTHOGONAL: PAPER_AT_HALF_SPEED, PRINTED: ALGORITHM},
    }
    for flow in FLOWS:
        rivals_of_flow = {phrase: dynamics[flow] for phrase, dynamics in rivals.items()}
        yield check_course(flows, flow, printed=printed[flow], corrected=corrected[flow], rivals=rivals_of_flow)
        yield check_speed(features, flow, printed=printed[flow], corrected=corrected[flow], rivals=rivals_of_flow)

    def largest_ratio(size: Size, speed: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return the largest ratio of the measured speed to the paper's (eq. 27), shape (draws,)."""
        return (speed / theory.snr_velocity(omega, size.classes, size.examples)).max(axis=(1, 2))

    ratios = over_sizes(largest_ratio, speed=by_size(features, SPEED, flow=PRINTED), omega=by_size(features, OMEGA))
    yield Facts(largest_speed_ratio=ratios.max())


@claim(
    "Corollary 1 (1)",
    scope="singular values that follow equation 9: the flow of the orthogonal projection, " + RENORMALISED_FLOWS,
    quantifier="all draws",
)
def corollary_1_growth(flows: Table) -> Claim:
    r"""Positive singular values that follow equation 9 grow without bound, as $(t/c_3)^{1/4}$ with $c_3 = N/4$.

    Equation 9 is $c_1\log\omega + c_2\omega^2 + c_3\omega^4 = a + t$. The ratio to the asymptote is $1 - C/\omega^2$ to
    the next order, which sets the tolerance, and the exponent is $\frac14$ to the same order. Singular values grow
    faster under the described algorithm and under its limit, the flow of the map of Proposition 4
    (`described_algorithm_rate`).
    """
    # the second rival has the exponent 1/4 too, and passes the second check: the asymptote refuses it
    rivals = {
        "the algorithm's square root": ALGORITHM,
        "$c_3 = N/2$": PAPER_AT_HALF_SPEED,
    }
    yield check_asymptote(flows, ORTHOGONAL, PAPER, rivals=rivals)
    yield check_exponent(flows, ORTHOGONAL, PAPER, rivals=rivals)


@claim("Corollary 1 (2)", scope="both flows, " + RENORMALISED_FLOWS, quantifier="all draws")
def corollary_1_equality(flows: Table) -> Claim:
    r"""Positive SNR singular values that follow equation 9 become equal: $\omega_{\max}/\omega_{\min} \to 1$.

    Under equation 9, and under the equation that belongs to the map of Proposition 4 (`proposition_2`), every $\omega$
    runs along the same curve, each behind the largest by a fixed time. So the spread $\omega_{\max}/\omega_{\min} - 1$
    falls as $1/t$. Two checks of each flow judge the limit: the exponent of that law, over the last decade of time at
    whose end the spread is still a hundred times the integrator's error; and how far the spread falls from there to the
    last time.
    """
    # the distance that vanishes is the spread of singular values itself, omega_max / omega_min - 1: its first power
    for flow in FLOWS:
        yield from vanishing_checks(
            flows,
            SINGULAR_VALUE_SPREAD,
            flow,
            wrong_exponents={"as $1/\\sqrt t$": -0.5, "a spread that stays": 0.0},
            scaled=True,
        )


@claim("Lemma 6", scope="both flows, and the described algorithm at three step sizes", quantifier="all draws")
def lemma_6(flows: Table, descent: Table) -> Claim:
    """Under continually renormalised gradient flow, on the central path without weight decay, the singular vectors of
    the SNR matrix do not change in time.

    They change neither under the flows of the orthogonal projection and of the map of Proposition 4 nor under descent
    with renormalisation, at any step size. In aligned coordinates (appendix D.2), in which the SNR matrix is diagonal,
    a gradient step scales means and deviations row by row, and so does renormalisation. The last line of the proof
    lacks a factor $1/N$, without consequence (errata 14); its equation is that of the flow without projection.
    """
    # ||SNR - sum_j x_j u_j v_j^T|| / ||SNR|| with u_j and v_j of the start and the x_j that fit
    yield no_gap(
        "part of the SNR matrix outside of its first singular vectors, along the flows",
        flows,
        SNR_OUTSIDE_FIRST_VECTORS,
        tolerance=integration_error(flows),
        because="error of the integrator",
        # ||SNR / omega_max - U V^T||, what is left of SNR if all its singular values are omega_max
        rivals={"equal singular values from the start on": SNR_LIMIT_DISTANCE},
    )
    # without the rival, whose distance is not measured along descent
    yield no_gap(
        "part of the SNR matrix outside of its first singular vectors, along descent",
        descent,
        SNR_OUTSIDE_FIRST_VECTORS,
        tolerance=rounding_of_steps(descent),
        because="rounding: one unit for each step",
    )


@claim(
    "Appendix D.1, section D.3",
    scope="three sizes, zero global mean; three step sizes, extrapolated to zero",
    correction=r"In the limit of small steps the described algorithm obeys $\dot\omega = \omega/(CN(C + \omega^2))$: "
    r"$\omega$ grows as $(2t/(CN))^{1/2}$ instead of $(4t/N)^{1/4}$. With $\alpha = \omega/(N(C + \omega^2)^2)$, a "
    r"step of size $\eta$ takes $\omega$ to $(\omega + \eta\alpha)/(1 - \eta\omega\alpha/C)$ exactly, where "
    r"$\eta\omega\alpha < C$.",
    reason="the algorithm's singular values leave the printed closed form",
    quantifier="all draws",
)
def described_algorithm_rate(features: Table, flows: Table, descent: Table) -> Claim:
    """Gradient descent with renormalisation after each step follows, as steps become small, the closed form of
    Proposition 2.

    Section D.3 calls the flow the continuous analogue of this algorithm, and its Lemma 2 shows that a step is the map
    of Proposition 4 to first order. Lemma 2 is right, and is why Proposition 2, which belongs to the orthogonal
    projection, does not describe the algorithm. A gradient step moves means and also shrinks deviations.
    Renormalisation scales both until the deviations have their old size, and so enlarges the means. The algorithm is
    run as described, in the full feature space; its iterates agree to rounding with the exact map of one step. Collapse
    still happens, and sooner.
    """
    # the slower algorithm passes the last check, as no speed changes an exponent; the checks before refuse it
    rivals = {
        "the paper's closed form": PAPER,
        "an algorithm twice as slow": at_speed(ALGORITHM, 0.5),
    }
    corrected = ALGORITHM  # d omega / dt = omega / (C N (C + omega^2))
    smallest_step = step_sizes_of(descent)[0]
    yield check_limit_of_small_steps(descent, PAPER, corrected=corrected, rivals=rivals)
    yield check_speed(features, DESCENT, PAPER, corrected=corrected, rivals=rivals)

    omegas = by_size(descent, OMEGA, step=smallest_step)
    # omega -> (omega + eta a) / (1 - eta omega a / C) with a = omega / (N (C + omega^2)^2), iterated from the same
    # start (`theory.algorithm_step`)
    iterates = by_size(descent, OMEGA_ONE_STEP, step=smallest_step)
    yield zero_on_every_draw(
        "iterates minus the exact map of one step, relative",
        # the largest |omega / iterate - 1| over times and singular values, shape (draws,)
        np.concatenate([relative_error(omegas[size], iterates[size]) for size in omegas]),
        rounding_of_steps(descent),
        "rounding: one unit for each step",
        resolution=np.inf,  # without rivals there is no difference that must stay visible
    )
    yield check_asymptote(flows, PRINTED, PAPER, corrected=corrected, rivals=rivals)
    yield check_exponent(flows, PRINTED, PAPER, corrected=corrected, rivals=rivals)
