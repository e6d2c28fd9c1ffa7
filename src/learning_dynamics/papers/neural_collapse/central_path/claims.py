"""Claims on the central path: spectral losses, the rates of both flows, their limits, and the described algorithm."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import (
    NOT_CLAIMED,
    Check,
    Claim,
    Facts,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    premise,
    takes_rivals,
)
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.checks import (
    ALGORITHM,
    FLOWS,
    PAPER,
    PAPER_AT_HALF_SPEED,
    Formula,
    check_asymptote,
    check_course,
    check_exponent,
    check_limit_of_small_steps,
    check_loss_along_flows,
    check_loss_of_features,
    check_speed,
    check_variability,
    rounding_of_steps,
    sped_up,
    vanishing_checks,
)
from learning_dynamics.papers.neural_collapse.central_path.converses import (
    COUPLING,
    LARGEST_LEAN,
    SMALLEST_LEAN,
    SMALLEST_NOISE,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    CONDITION,
    DESCENT,
    EXCESS,
    FEATURES_LIMIT,
    LOSS,
    LOSS_NC1,
    LOSS_NC23,
    NC2_ANGLES,
    NC2_NORMS,
    NC3,
    NC4,
    OMEGA,
    OMEGA_ONE_STEP,
    ORTHOGONAL,
    PRINTED,
    PRODUCT_NORM,
    PRODUCT_TRACE,
    SNR_LIMIT,
    SPEED,
    TRACE,
    TRACE_RENORMALISED,
    VANISHING_DUALITY,
    VANISHING_DUALITY_UNCOUPLED,
    VANISHING_NC1,
    VANISHING_NC4,
    VECTORS,
)
from learning_dynamics.papers.neural_collapse.draws import (
    ROUNDING,
    Size,
    by_size,
    integration_error,
    no_gap,
    over_sizes,
    relative_error,
    zero_on_every_draw,
)
from learning_dynamics.papers.neural_collapse.training.quantities import (
    CLASSES,
    DEAD_FEATURES,
    FEATURES,
    NC1,
    RANK,
    SNR,
)
from learning_dynamics.papers.neural_collapse.trainings import at_the_end, by_seed, over_trainings
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

THREE_SIZES = "three sizes, zero global mean, within-class covariance the identity, eleven decades of time"
FIRST, LAST = 0, -1  # indices of recorded times
# of distances that fall with the spread of singular values: rivals' exponents in time
WRONG_POWERS = {"distances that fall as $1/\\sqrt t$": -0.5, "distances that stay": 0.0}
FREE = "Gaussian features of three sizes, within-class covariance of full rank"


def _slips_in(formula: Formula) -> dict[str, dict[str, Formula]]:
    """Return a formula of Lemma 1 with one thing wrong, by what it is."""

    def with_all_singular_values(omega: np.ndarray, C: int) -> np.ndarray:
        return formula(np.concatenate([omega, np.zeros_like(omega[..., :1])], axis=-1), C)

    return {
        "one instead of $C$": {"formula": lambda omega, _C: formula(omega, 1)},
        "$C-1$ instead of $C$": {"formula": lambda omega, C: formula(omega, C - 1)},
        "sums over all $C$, with the singular value that is zero": {"formula": with_all_singular_values},
    }


@claim("Lemma 1", scope=FREE + ", any global mean; and along both flows; no weight decay", quantifier="all draws")
def lemma_1(features: Table, flows: Table) -> Claim:
    r"""Without weight decay, on the central path and with $\Sigma_W$ of full rank, the loss and both its parts depend
    on the $C-1$ non-zero SNR singular values alone: $L = \frac12\sum_j 1/(\omega_j^2+C)$, $L_{NC1} = \frac12\sum_j
    \omega_j^2/(C+\omega_j^2)^2$, $L_{NC2/3} = \frac{1}{2C}\sum_j(\omega_j^2/(\omega_j^2+C)-1)^2$.

    The singular value that is zero does not enter. Its direction, in which all classes' scores are equal, would add
    $1/(2C)$ to the loss and to $L_{NC2/3}$, but the bias takes care of it. Far along the flows the class means' scores
    are one-hot labels to within $C/\omega^2$, so that rounding limits how well $L_{NC2/3}$ can be measured. That limit
    grows by the factor $1+\omega^2/C$, in units of which errors along the flows are counted.
    """
    formulas = {
        LOSS: theory.spectral_loss,
        LOSS_NC1: theory.spectral_variability_loss,
        LOSS_NC23: theory.spectral_geometry_loss,
    }
    for quantity, formula in formulas.items():
        rivals = _slips_in(formula)
        yield check_loss_of_features(features, quantity, formula, factor=1.0, rivals=rivals)
        yield check_loss_along_flows(flows, quantity, formula, factor=1.0, rivals=rivals)


@claim(
    "Propositions 2 and 4 together, Lemma 5",
    scope=THREE_SIZES + "; speeds on fresh draws",
    correction="Equation 5 says that the gradient is projected, not how. Read as the orthogonal projection, "
    r"$Z - \frac{CN}{2}(X\mathbf{C}Z^\top + Z\mathbf{C}X^\top)X\mathbf{C}$ with the class-centring matrix "
    r"$\mathbf{C}$, Proposition 2, Lemma 5 and Corollary 1 hold as printed, and the map of Proposition 4 is not that "
    "projection. Read as the map that Proposition 4 prints, "
    r"$\dot\omega = \omega / (CN(C + \omega^2))$, and therefore $\omega^2/2 + C\log\omega = t/(CN) + $ const.",
    reason="the flow of the map that the paper prints does not follow the closed form that the paper gives",
    quantifier="all draws",
)
def proposition_2(features: Table, flows: Table) -> Claim:
    r"""Under continually renormalised gradient flow with the tangent map of Proposition 4, on the central path from
    zero global mean and without weight decay, the non-zero SNR singular values obey $\dot\omega = \omega / (N(C +
    \omega^2)^2)$: $C^2N\log\omega + CN\omega^2 + \frac N4\omega^4 = a + t$.

    To check by hand, write a row of the features in aligned coordinates as $\omega y + n$, with $y$ a row of labels
    and $n$ deviations from class means. The same row of $-\nabla L$ is $\alpha y - \beta n$ with $\alpha = \omega /
    (N(C + \omega^2)^2)$ and $\beta = \omega\alpha/C$. The orthogonal projection removes $\beta n$, which is normal to
    the manifold, and leaves $\dot\omega = \alpha$: the paper's equation. The printed map subtracts $-\beta(\omega y +
    n)$ instead, which also restores $n$ but carries the means along: $\dot\omega = \alpha + \beta\omega = \alpha(1 +
    \omega^2/C)$, faster by a factor that grows without bound (on fresh draws by up to {faster:.3g}; errata 3).
    """
    # what each prediction says of the two maps
    printed = {ORTHOGONAL: NOT_CLAIMED, PRINTED: PAPER}
    corrected = {ORTHOGONAL: PAPER, PRINTED: ALGORITHM}
    rivals = {
        "the paper's equation for both maps": {ORTHOGONAL: PAPER, PRINTED: PAPER},
        "the algorithm's equation for both maps": {ORTHOGONAL: ALGORITHM, PRINTED: ALGORITHM},
        "$c_1$, $c_2$ and $c_3$ twice as large": {ORTHOGONAL: PAPER_AT_HALF_SPEED, PRINTED: ALGORITHM},
    }
    for flow in FLOWS:
        corrected_here = {"dynamics": corrected[flow]}
        rivals_here = {phrase: {"dynamics": dynamics[flow]} for phrase, dynamics in rivals.items()}
        yield check_course(flows, flow, printed[flow], clock=1.0, corrected=corrected_here, rivals=rivals_here)
        yield check_speed(features, flow, printed[flow], clock=1.0, corrected=corrected_here, rivals=rivals_here)

    def largest_ratio(size: Size, speed: np.ndarray, omega: np.ndarray) -> np.ndarray:
        return (speed / theory.snr_velocity(omega, size.classes, size.examples)).max(axis=(1, 2))

    ratios = over_sizes(largest_ratio, speed=by_size(features, SPEED, flow=PRINTED), omega=by_size(features, OMEGA))
    yield Facts(faster=ratios.max())


@claim(
    "Corollary 1 (1)",
    scope="singular values that follow equation 9: the flow of the orthogonal projection, " + THREE_SIZES,
    quantifier="all draws",
)
def corollary_1_growth(flows: Table) -> Claim:
    r"""Positive singular values that follow equation 9 grow without bound, as $(t/c_3)^{1/4}$ with $c_3 = N/4$.

    The ratio to the asymptote is $1 - C/\omega^2$ to the next order, which sets the tolerance, and the exponent is
    $\frac14$ to the same order. Under the flow of the printed map, and under the algorithm whose limit it is, they grow
    faster: see `described_algorithm_rate`.
    """
    rivals = {
        "the algorithm's square root": {"dynamics": ALGORITHM},
        "$c_3 = N/2$": {"dynamics": PAPER_AT_HALF_SPEED},
    }
    yield check_asymptote(flows, ORTHOGONAL, PAPER, clock=1.0, rivals=rivals)
    yield check_exponent(flows, ORTHOGONAL, PAPER, rivals=rivals)


@claim("Corollary 1 (2)", scope="both flows, " + THREE_SIZES, quantifier="all draws")
def corollary_1_equality(flows: Table) -> Claim:
    r"""Positive SNR singular values that follow equation 9 become equal: $\omega_{\max}/\omega_{\min} \to 1$.

    Every $\omega$ runs along the same curve, each behind the largest by a fixed time, so that
    $\omega_{\max}/\omega_{\min} - 1$ falls as $1/t$, under equation 9 as under the algorithm's. Two checks judge the
    limit. The first is that law, over the last decade at whose end the excess is still a hundred times the integrator's
    error. The second is how much of that excess the last time leaves: no more than law and error together.
    """
    for flow in FLOWS:
        yield from vanishing_checks(
            flows, EXCESS, flow, powers={"as $1/\\sqrt t$": -0.5, "a spread that stays": 0.0}, scaled=True
        )


@claim("Corollary 2, eqs. 10 and 11", scope="both flows, " + THREE_SIZES, quantifier="all draws")
def corollary_2(flows: Table) -> Claim:
    r"""Under continually renormalised gradient flow, on the central path from zero global mean and without weight
    decay, and where the class means span $C-1$ directions, $\mathrm{SNR}/\omega_{\max} \to \hat U_0\hat V_0^\top$, the
    singular vectors of the start; the renormalised features over $\omega_{\max}$ tend to its columns, a copy for every
    example; and neural collapse follows on the renormalised features.

    Equation 10: what is left is the spread of the singular values, which falls as $1/t$ (`corollary_1_equality`). So do
    the spread of the class means' norms and their distance from the simplex's angles (NC2). Self-duality is a squared
    distance and falls as its square (NC3; off the renormalised features it need not fall: errata 8). That class means
    span $C-1$ directions does not follow from their centring (errata 15). The nearest class mean's labels agree (NC4);
    NC1 is $C\sum_j 1/\omega_j^2$ there (see `appendix_d_6`). Equation 11: the deviations never move and only
    $\omega_{\max}$ grows, so that the squared distance is $CP/\omega_{\max}^2$ plus the squared distance of equation
    10.
    """

    def errors_of_eq_11(flow: str, *, frozen: bool = False, one_class: bool = False) -> np.ndarray:
        """Return the largest relative error over time of the distance of eq. 11, for each draw.

        Predicted with omega_max of the start if `frozen`, with the deviations of a single class if `one_class`.
        """

        def error(size: Size, omega: np.ndarray, distance: np.ndarray, snr_gap: np.ndarray) -> np.ndarray:
            omega_max = omega[:, :1, 0] if frozen else omega[..., 0]
            classes = 1 if one_class else size.classes
            # X / omega_max less its limit is deviations, of squared norm C N P as Sigma_W is the identity, and N copies
            # of the distance of eq. 10; the distance of eq. 11 is its norm over sqrt(N)
            predicted = np.hypot(np.sqrt(classes * size.features) / omega_max, snr_gap[..., 0])
            return relative_error(distance[..., 0], predicted)

        return over_sizes(
            error,
            omega=by_size(flows, OMEGA, flow=flow),
            distance=by_size(flows, FEATURES_LIMIT, flow=flow),
            snr_gap=by_size(flows, SNR_LIMIT, flow=flow),
        )

    stay = "features that stay where they started"
    single_class = "$\\sqrt P/\\omega_{\\max}$ in eq. 11, the deviations of a single class"
    for flow in FLOWS:
        for quantity, power_of_spread in {SNR_LIMIT: 1, NC2_NORMS: 1, NC2_ANGLES: 1, NC3: 2}.items():
            yield from vanishing_checks(flows, quantity, flow, order=power_of_spread, powers=WRONG_POWERS)
        yield zero_on_every_draw(
            f"distance of eq. 11 at all times, relative error, {flow} map",
            errors_of_eq_11(flow),
            integration_error(flows),
            "error of the integrator",
            rivals={
                stay: errors_of_eq_11(flow, frozen=True),
                single_class: errors_of_eq_11(flow, one_class=True),
            },
        )
        yield every_draw(
            f"examples that NC4 fails for, {flow} map",
            _examples_nc4_fails_for(flows, flow, LAST),
            at_most=0.5,
            because="whole examples",
            rivals={stay: {"values": _examples_nc4_fails_for(flows, flow, FIRST)}},
        )


def _examples_nc4_fails_for(flows: Table, flow: str, time_index: int) -> np.ndarray:
    """Return how many examples classifier and nearest class mean label differently, for each draw."""

    def count(size: Size, nc4: np.ndarray) -> np.ndarray:
        return size.classes * size.examples * nc4[:, time_index, 0]

    return over_sizes(count, nc4=by_size(flows, NC4, flow=flow))


@claim(
    "Theorem 3",
    scope="both flows, " + THREE_SIZES,
    correction="Neural collapse emerges on the renormalised features under either reading of equation 5. The explicit "
    "dynamics of Proposition 2 belong to the orthogonal projection; under the map that Proposition 4 prints they are "
    r"$\omega^2/2 + C\log\omega = t/(CN) + $ const. Class means must span $C-1$ directions at the start.",
    reason="under the printed map variability collapses sooner than by the explicit dynamics",
    quantifier="all draws",
)
def theorem_3(flows: Table) -> Claim:
    r"""Under continually renormalised gradient flow with the tangent map of Proposition 4, from features of zero global
    mean, neural collapse emerges on the renormalised features, with the explicit dynamics of Proposition 2 and
    Corollaries 1 and 2.

    NC1 and the dynamics are one number: $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = C\sum_j1/\omega_j(t)^2$ along the
    flow, with $\omega_j(t)$ from the start. It falls from {first:.2g} to {orthogonal:.1g} under the orthogonal
    projection and to {faster:.1g} under the printed map (medians over draws; errata 3). NC2 and NC3 are distances that
    fall with the spread of the singular values, and NC4 holds for every example at the end. Zero global mean does not
    imply that class means span $C-1$ directions (errata 15): the theorem is tested where they do.
    """
    printed = {ORTHOGONAL: NOT_CLAIMED, PRINTED: PAPER}
    corrected = {ORTHOGONAL: PAPER, PRINTED: ALGORITHM}
    rivals = {
        "the paper's equation for both maps": {ORTHOGONAL: PAPER, PRINTED: PAPER},
        "the algorithm's equation for both maps": {ORTHOGONAL: ALGORITHM, PRINTED: ALGORITHM},
    }
    for flow in FLOWS:
        yield check_variability(
            flows,
            flow,
            printed[flow],
            clock=1.0,
            corrected={"dynamics": corrected[flow]},
            rivals={phrase: {"dynamics": dynamics[flow]} for phrase, dynamics in rivals.items()},
        )
    for flow in FLOWS:
        for quantity, power_of_spread in {NC2_NORMS: 1, NC2_ANGLES: 1, NC3: 2}.items():
            yield from vanishing_checks(flows, quantity, flow, order=power_of_spread, powers=WRONG_POWERS)
        yield every_draw(
            f"examples that NC4 fails for at the last time, {flow} map",
            _examples_nc4_fails_for(flows, flow, LAST),
            at_most=0.5,
            because="whole examples",
        )

    def median_nc1(flow: str, time_index: int) -> float:
        traces = over_sizes(lambda _, trace: trace[:, time_index, 0], trace=by_size(flows, TRACE, flow=flow))
        return float(np.median(traces))

    yield Facts(
        first=median_nc1(ORTHOGONAL, FIRST),
        orthogonal=median_nc1(ORTHOGONAL, LAST),
        faster=median_nc1(PRINTED, LAST),
    )


@claim("Lemma 6", scope="both flows, and the described algorithm at three step sizes", quantifier="all draws")
def lemma_6(flows: Table, descent: Table) -> Claim:
    r"""Under continually renormalised gradient flow, on the central path without weight decay, the singular vectors of
    the SNR matrix do not change in time.

    They change neither under the two flows nor under the discrete algorithm, at any step size: in aligned coordinates
    the gradient scales means and deviations row by row, and so does renormalisation. The proof's equation, that of the
    flow without projection, lacks a factor $1/N$ in its last line, without consequence (errata 14).
    """
    yield no_gap(
        "part of the SNR matrix outside of its first singular vectors, along the flows",
        flows,
        VECTORS,
        tolerance=integration_error(flows),
        because="error of the integrator",
        rivals={"equal singular values from the start on": SNR_LIMIT},
    )
    yield no_gap(
        "part of the SNR matrix outside of its first singular vectors, along descent",
        descent,
        VECTORS,
        tolerance=rounding_of_steps(descent),
        because="rounding: one unit for each step",
    )


@claim(
    "Appendix D.1, section D.3",
    scope="three sizes, zero global mean; three step sizes, extrapolated to zero",
    correction=r"In the limit of small steps the described algorithm obeys $\dot\omega = \omega/(CN(C + \omega^2))$: "
    r"$\omega$ grows as $(2t/(CN))^{1/2}$ instead of $(4t/N)^{1/4}$. A step of size $\eta$ takes $\omega$ to "
    r"$(\omega + \eta\alpha)/(1 - \eta\omega\alpha/C)$ exactly, with $\alpha = \omega/(N(C + \omega^2)^2)$.",
    reason="the algorithm's singular values leave the printed closed form",
    quantifier="all draws",
)
def described_algorithm_rate(features: Table, flows: Table, descent: Table) -> Claim:
    r"""Gradient descent with renormalisation after each step follows, as steps become small, the closed form of
    Proposition 2.

    Section D.3 calls the flow the continuous analogue of this algorithm, and its Lemma 2 shows that a step is the
    printed tangent map to first order. That is right, and it is why Proposition 2, which belongs to the orthogonal
    projection, does not describe the algorithm. The gradient moves means and also shrinks deviations. Renormalisation
    expands both, and what the deviations have lost the means gain. The algorithm is run as described, in the full
    feature space; its iterates agree to rounding with the exact map of one step. Collapse still happens, and sooner.
    """
    rivals = {
        "the paper's closed form": {"dynamics": PAPER},
        "an algorithm twice as slow": {"dynamics": sped_up(ALGORITHM, 0.5)},
    }
    corrected = {"dynamics": ALGORITHM}
    smallest_step = min(settings_of(descent)["steps"])
    yield check_limit_of_small_steps(descent, PAPER, clock=1.0, corrected=corrected, rivals=rivals)
    yield check_speed(features, DESCENT, PAPER, clock=1.0, corrected=corrected, rivals=rivals)
    yield zero_on_every_draw(
        "iterates minus the exact map of one step, relative",
        over_sizes(
            lambda _, omega, predicted: relative_error(omega, predicted),
            omega=by_size(descent, OMEGA, step=smallest_step),
            predicted=by_size(descent, OMEGA_ONE_STEP, step=smallest_step),
        ),
        rounding_of_steps(descent),
        "rounding: one unit for each step",
        resolution=np.inf,
    )
    yield check_asymptote(flows, PRINTED, PAPER, clock=1.0, corrected=corrected, rivals=rivals)
    yield check_exponent(flows, PRINTED, PAPER, corrected=corrected, rivals=rivals)


@claim(
    "Appendix D.6, proof of Corollary 2 (NC1)",
    scope=FREE + ", raw and renormalised; both flows; last-layer features of trained networks",
    correction=r"$\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = C\sum_j 1/\omega_j^2$ where class means span an invariant "
    r"subspace of $\Sigma_W$, as where it is the identity; elsewhere the trace is larger.",
    reason="the trace is neither the sum nor, off the renormalised features, a multiple of it",
    quantifier="all draws",
)
def appendix_d_6(features: Table, flows: Table, trainings: Sequence[Table]) -> Claim:
    r"""The trace that measures variability collapse is a function of the SNR singular values:
    $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = \sum_j 1/\omega_j^2$ for any features with $\Sigma_W$ of full rank.

    The last line of the derivation drops a factor $C$, without consequence for the limit. A line before it takes the
    pseudo-inverse of a product for the product of inverses in reverse order, which holds where the class means span an
    invariant subspace of $\Sigma_W$. With class means $USV^\top$, $U^\top\Sigma_WU \ge (U^\top\Sigma_W^{-1}U)^{-1}$ by
    Schur's complement. On raw features the trace is up to {raw:.3g} times $C\sum_j1/\omega_j^2$; in the median network
    at the end of training it is {network:.3g} times as large. So NC1 follows on the renormalised features, for which it
    is proved. On other features $\Sigma_W$ must be well conditioned too.
    """

    def ratios(table: Table, quantity: Quantity, *, has_factor_C: bool, **where: str) -> dict[Size, np.ndarray]:
        """Return the trace over its prediction, shape (draws, times), by size.

        The prediction is C sum_j 1 / omega_j^2, or as printed the sum without the factor C (errata 6).
        """
        traces, omegas = by_size(table, quantity, **where), by_size(table, OMEGA, **where)
        over_sum = {size: traces[size][..., 0] / theory.trace_bound(omegas[size], size.classes) for size in traces}
        return over_sum if has_factor_C else {size: size.classes * values for size, values in over_sum.items()}

    def errors(table: Table, quantity: Quantity, *, has_factor_C: bool, **where: str) -> np.ndarray:
        """Return the largest |ratio - 1| of each draw."""
        return over_sizes(
            lambda _, ratios: relative_error(ratios, 1.0),
            ratios=ratios(table, quantity, has_factor_C=has_factor_C, **where),
        )

    def ratios_of_raw_features(*, has_factor_C: bool) -> np.ndarray:
        """Return one ratio for each draw; fresh draws have a single time."""
        return over_sizes(lambda _, ratios: ratios[:, 0], ratios=ratios(features, TRACE, has_factor_C=has_factor_C))

    equality, bound = "$C\\sum_j1/\\omega_j^2$ for any features", "a bound without $C$"

    # an equality on renormalised features and along the flows
    without_C = errors(features, TRACE_RENORMALISED, has_factor_C=False)
    with_C = errors(features, TRACE_RENORMALISED, has_factor_C=True)
    yield zero_on_every_draw(
        "renormalised features: trace over the sum, minus one",
        without_C,
        ROUNDING,
        "rounding",
        corrected=with_C,
        rivals={equality: with_C, bound: without_C},
    )
    for flow in FLOWS:
        without_C = errors(flows, TRACE, has_factor_C=False, flow=flow)
        with_C = errors(flows, TRACE, has_factor_C=True, flow=flow)
        yield zero_on_every_draw(
            f"along the flow, {flow} map: trace over the sum, minus one",
            without_C,
            integration_error(flows),
            "error of the integrator",
            corrected=with_C,
            rivals={equality: with_C, bound: without_C},
        )

    # on raw features an equality as printed, and a bound as corrected
    yield zero_on_every_draw(
        "raw features: trace over the sum, minus one",
        errors(features, TRACE, has_factor_C=False),
        ROUNDING,
        "rounding",
        corrected=NOT_CLAIMED,
        rivals={equality: errors(features, TRACE, has_factor_C=True)},
    )
    raw = ratios_of_raw_features(has_factor_C=True)
    because = "the trace is no less than $C\\sum_j1/\\omega_j^2$, to rounding"
    yield every_draw(
        "raw features: trace over the sum",
        NOT_CLAIMED,
        at_least=1 - ROUNDING,
        because=because,
        corrected={"values": raw},
        rivals={equality: NOT_CLAIMED, bound: {"values": ratios_of_raw_features(has_factor_C=False)}},
    )
    networks, rank_deficient = _trace_over_sum_of_networks(trainings)
    yield every_draw(
        "trained networks: trace over the sum",
        NOT_CLAIMED,
        at_least=1 - 1e-6,
        because=because + " of float32 features",
        excluded={"their covariance lacks rank": rank_deficient},
        corrected={"values": networks},
        rivals={equality: NOT_CLAIMED},
    )
    yield every_draw(
        "raw features: largest trace over the sum",
        NOT_CLAIMED,
        at_least=1.01,
        because="equality is not general",
        corrected={"values": [raw.max()]},
        rivals={equality: NOT_CLAIMED},
    )
    yield Facts(raw=raw.max(), network=np.median(networks))


def _trace_over_sum_of_networks(trainings: Sequence[Table]) -> tuple[np.ndarray, int]:
    """Return the trace over C sum_j 1 / omega_j^2 at the last epoch, and how many covariances lack rank.

    The statement is about covariances of full rank, so that networks without are left out. Where none has one, their
    nan stay: there is nothing to judge.
    """

    def least_traces(table: Table) -> np.ndarray:
        spectra = select(table, SNR, epoch=table["epoch"].max())
        classes = by_seed(table, CLASSES).iloc[-1]
        return np.array(
            [theory.trace_bound(select(spectra, seed=seed)["value"].to_numpy(), C) for seed, C in classes.items()]
        )

    traces = at_the_end(trainings, CLASSES) * at_the_end(trainings, NC1)
    has_full_rank = at_the_end(trainings, RANK) == at_the_end(trainings, FEATURES)
    ratios = np.where(has_full_rank, traces / over_trainings(trainings, least_traces), np.nan)
    rank_deficient = np.isnan(ratios)
    kept = ratios if rank_deficient.all() else ratios[~rank_deficient]
    return kept, int(rank_deficient.sum())


def _with_free_directions(features: Table) -> tuple[Draws, dict[str, int]]:
    """Return the draws with directions in which class means do not differ, and how many have none, with why."""
    free = features[features["features"] >= features["classes"]]
    if not len(free):
        raise Untested("class means span all directions in every size: noise has none of its own; give more features")
    draws = Draws(free)
    n_left_out = len(Draws(features).column("seed")) - len(draws.column("seed"))
    return draws, {"their class means span all directions, and noise has none of its own": n_left_out}


@claim(
    "Appendix D.6, end of the derivation of NC1",
    scope="class means of renormalised Gaussian features of three sizes, large noise in a direction that leans a "
    "little towards them",
    correction=r"$\|\Sigma_B^\dagger\Sigma_W\|_F \le \sqrt{\kappa(\Sigma_W)}\,\mathrm{tr}(\Sigma_B^\dagger\Sigma_W)$ "
    r"with the condition number $\kappa$: the product tends to zero with its trace where $\kappa$ stays bounded, as on "
    r"the renormalised features, where it is one.",
    reason="the norm stays while the trace vanishes",
    quantifier="all draws",
)
def trace_and_product(features: Table) -> Claim:
    r"""Where all eigenvalues of $\Sigma_B^\dagger\Sigma_W$, and so its trace, tend to zero, the matrix itself does.

    A product of two symmetric matrices is not symmetric, and such a matrix can be large while its eigenvalues are
    small. Take noise of variance $1/d$ in a direction that leans by $d$ towards the class means. As $d$ falls the trace
    falls with it, while the norm of the product stays at {norm:.2g} or more. To see the bound, write the product as
    $\Sigma_W^{-1/2}S \Sigma_W^{1/2}$ with $S = \Sigma_W^{1/2}\Sigma_B^\dagger\Sigma_W^{1/2}$, symmetric and positive,
    whose norm is at most its trace. So small $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ says nothing of noise in
    directions in which class means do not differ; and it is the trace that figures draw, not the trace norm of footnote
    3 (errata 9).
    """
    draws, excluded = _with_free_directions(features)
    trace, norm, condition = (draws.entries(name) for name in (PRODUCT_TRACE, PRODUCT_NORM, CONDITION))
    # a norm that falls as the root of the trace, a tenth from lean to lean, leaves a third; one that stays leaves all
    left_from_lean_to_lean = norm[:, 1:] / norm[:, :-1]
    because = "a norm that stays keeps all of it, one that falls as the root of the trace a third"
    yield every_draw(
        "factor by which the norm of the product changes when the lean of the noise is divided by ten",
        left_from_lean_to_lean.max(axis=1),
        at_most=0.5,
        because=because,
        excluded=excluded,
        corrected=NOT_CLAIMED,
    )
    yield every_draw(
        "factor by which the norm of the product changes when the lean of the noise is divided by ten",
        NOT_CLAIMED,
        at_least=0.5,
        because=because,
        excluded=excluded,
        corrected={"values": left_from_lean_to_lean.min(axis=1)},
    )
    yield premise(
        every_draw(
            "trace at the smallest lean over that at the largest",
            trace[:, SMALLEST_LEAN] / trace[:, LARGEST_LEAN],
            at_most=0.02,
            because="eigenvalues that tend to zero, with the lean a hundredth",
            excluded=excluded,
        )
    )

    # norm <= kappa^exponent trace; as printed the norm falls as the trace does, and no exponent is claimed (errata 7)
    norm_over_trace = norm / trace

    @takes_rivals("exponent", scaled=True)
    def is_bounded(exponent: float) -> Check:
        return every_draw(
            "norm of the product over its trace, smallest lean",
            norm_over_trace[:, SMALLEST_LEAN],
            at_most=condition[:, SMALLEST_LEAN] ** exponent * (1 + 1e-9),
            because="the bound, to rounding",
            excluded=excluded,
        )

    @takes_rivals("exponent", scaled=True)
    def grows_with_the_condition_number(exponent: float) -> Check:
        growth = norm_over_trace[:, SMALLEST_LEAN] / norm_over_trace[:, LARGEST_LEAN]
        growth_of_condition = condition[:, SMALLEST_LEAN] / condition[:, LARGEST_LEAN]
        return equal_on_every_draw(
            "exponent of that ratio's growth in the condition number, minus its prediction",
            np.log(growth) / np.log(growth_of_condition),
            exponent,
            tolerance=0.01,
            relative_to=1.0,
            excluded=excluded,
            because="next order: the largest lean, a hundredth",
        )

    rivals = {"the fourth root of the condition number": 0.25, "the condition number itself": 1.0}
    yield is_bounded(NOT_CLAIMED, corrected=0.5, rivals=rivals)
    yield grows_with_the_condition_number(NOT_CLAIMED, corrected=0.5, rivals=rivals)
    yield Facts(norm=norm.min())


@claim(
    "Section 3.3, end of the proof of Corollary 2",
    scope="class means that are a simplex frame, in three sizes, and noise of a thousandth of them. Its covariance is "
    "the identity, except that it is 0.5 between a direction of the class means and one outside of them, or half as "
    "much again along a direction of the class means. No weight decay",
    correction=r"With $\Sigma_W = \epsilon^2Q$ the classifier tends to "
    r"$(\bar M^\top Q^{-1}\bar M)^\dagger\bar M^\top Q^{-1}$ as $\epsilon \to 0$, which is a multiple of "
    r"$\bar M^\top$ only where class means span an invariant subspace of $Q$, as on the renormalised features. A "
    r"coupling $c$ of one direction leaves $2 - 2/\sqrt{1 + c^2/(C-1)}$ of the squared distance. NC4 holds of the "
    r"features that collapse, and not of all points.",
    reason="the classifier leans against noise that is coupled to the class means",
    quantifier="all draws",
)
def nc1_and_nc2_imply_nc3(features: Table) -> Claim:
    r"""On the central path, without weight decay, NC1 and NC2 imply NC3 and NC4.

    Take class means that are a simplex frame and noise that vanishes around them. Where noise in a direction of the
    class means comes with noise in one beside them, the least-squares classifier subtracts the part that it can
    predict: its rows keep a component along the second direction, however small the noise is. The squared distance of
    NC3 then stays at {coupled:.2g} or more. Where the noise is as small but not coupled it is at most {uncoupled:.1g}.
    """
    draws, excluded = _with_free_directions(features)

    def at_smallest_noise(quantity: Quantity) -> np.ndarray:
        return draws.entries(quantity)[:, SMALLEST_NOISE]

    coupled, uncoupled = at_smallest_noise(VANISHING_DUALITY), at_smallest_noise(VANISHING_DUALITY_UNCOUPLED)
    classes = draws.column("classes")
    because = "next order: noise to signal, squared, a hundredfold"
    remaining = theory.self_duality_under_coupling(COUPLING, classes)
    yield equal_on_every_draw(
        "self-duality minus its prediction, coupled noise",
        coupled,
        0.0,
        tolerance=1e-4,
        relative_to=1.0,
        resolution=0.01,
        because=because,
        corrected=remaining,
        rivals={
            "$C$ instead of $C-1$": theory.self_duality_under_coupling(COUPLING, classes + 1),
            "$c$ for $c^2$": theory.self_duality_under_coupling(np.sqrt(COUPLING), classes),
        },
        scaled=False,
        excluded=excluded,
    )
    yield equal_on_every_draw(
        "self-duality minus its prediction, equally small noise that is not coupled",
        uncoupled,
        0.0,
        tolerance=1e-4,
        relative_to=1.0,
        resolution=0.01,
        because=because,
        rivals={"a coupling everywhere": remaining},
        scaled=False,
        excluded=excluded,
    )
    yield every_draw(
        "features that NC4 fails for",
        at_smallest_noise(VANISHING_NC4),
        at_most=0.5,
        because="whole features",
        excluded=excluded,
    )
    yield premise(
        every_draw(
            "NC1",
            at_smallest_noise(VANISHING_NC1),
            at_most=1e-4,
            because="noise of a hundredth of the signal",
            excluded=excluded,
        )
    )
    yield Facts(coupled=coupled.min(), uncoupled=uncoupled.max())


@claim(
    "Section 3, footnote 12",
    scope="networks of three families, every recorded epoch; at the default scale small ones, on 8 x 8 digits",
    empirical=True,
    quantifier="all draws",
)
def covariance_full_rank(trainings: Sequence[Table]) -> Claim:
    r"""The within-class covariance of last-layer features keeps full rank in training, so that $\Sigma_W^{-1/2}$
    exists.

    Rank counts directions whose variance is above the square of float32's rounding times the features' mean square.
    What is missing are dead units: in the median training {dead:.1g} of all features, at the epoch that has most.
    """
    n_features = at_the_end(trainings, FEATURES)
    lowest_rank = over_trainings(trainings, lambda table: by_seed(table, RANK).min(skipna=False))
    most_dead = over_trainings(trainings, lambda table: by_seed(table, DEAD_FEATURES).max())
    yield equal_on_every_draw(
        "directions that $\\Sigma_W$ lacks at its lowest rank, as a share of the features",
        lowest_rank / n_features,
        n_features / n_features,
        tolerance=0.0,
        relative_to=1.0,
        because="a rank is a whole number",
        rivals={
            "rank $C-1$": (at_the_end(trainings, CLASSES) - 1) / n_features,
            "one feature that never varies": (n_features - 1) / n_features,
        },
        scaled=False,
    )
    yield Facts(dead=np.median(most_dead))
