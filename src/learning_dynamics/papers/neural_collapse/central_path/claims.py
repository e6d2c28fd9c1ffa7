"""Claims on the central path: spectral losses, the rates of both flows, their limits, and the described algorithm."""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from learning_dynamics.judging import (
    Check,
    Checks,
    Claim,
    Facts,
    Finding,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    premise,
)
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.converses import COUPLING
from learning_dynamics.papers.neural_collapse.draws import (
    DIFFERENCE_ERROR,
    ROUNDING,
    UNIT,
    by_size,
    decades_back,
    integration_error,
    no_gap,
    over_sizes,
    relative_error,
    times_of,
    zero_on_every_draw,
)
from learning_dynamics.papers.neural_collapse.trainings import at_the_end, by_seed, over_trainings
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

BOTH = ("orthogonal", "printed")
FLOWS = "three sizes, zero global mean, within-class covariance the identity, eleven decades of time"
FREE = "Gaussian features of three sizes, within-class covariance of full rank"


class Dynamics(NamedTuple):
    """A prediction of the SNR singular values: their speed, and their course from a start."""

    speed: Callable[[np.ndarray, int, int], np.ndarray]
    course: Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]
    asymptote: Callable[[np.ndarray, int, int], np.ndarray]
    exponent: float


PAPER = Dynamics(theory.snr_velocity, theory.snr_closed_form, lambda t, C, N: theory.snr_asymptote(t, N), 0.25)
ALGORITHM = Dynamics(theory.algorithm_velocity, theory.algorithm_closed_form, theory.algorithm_asymptote, 0.5)


def _slowed(dynamics: Dynamics, factor: float) -> Dynamics:
    """Return dynamics whose clock runs faster by a factor: the smallest that is refused is how sharp a claim is."""
    return Dynamics(
        lambda omega, C, N: factor * dynamics.speed(omega, C, N),
        lambda start, t, C, N: dynamics.course(start, factor * t, C, N),
        lambda t, C, N: dynamics.asymptote(factor * t, C, N),
        dynamics.exponent,
    )


# half the speed: c1, c2 and c3 of Proposition 2 twice as large, c3 = N / 2 in the place of N / 4 among them
PAPER_SLIPPED = _slowed(PAPER, 0.5)


def _check_course(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    times = times_of(flows)[:, None]
    return zero_on_every_draw(
        f"$\\omega_j(t)$ along the flow, {flow} map, relative error",
        over_sizes(
            lambda omega, C, N, _: relative_error(omega, dynamics.course(omega[:, :1], times, C, N)),
            by_size(flows, "omega", flow),
        ),
        integration_error(flows),
        "the integrator's error: its tolerance times a calibrated 20",
    )


def _check_speed(features: Table, flow: str, dynamics: Dynamics) -> Check:
    return zero_on_every_draw(
        f"$d\\omega_j/dt$ on fresh draws, {flow} map, relative error",
        over_sizes(
            lambda speed, omega, C, N, _: relative_error(speed, dynamics.speed(omega, C, N)),
            by_size(features, "speed", flow),
            by_size(features, "omega"),
        ),
        DIFFERENCE_ERROR,
        "error of central differences",
    )


@claim("Lemma 1", scope=FREE + ", any global mean; and along both flows; no weight decay", quantifier="all draws")
def lemma_1(features: Table, flows: Table) -> Finding:
    r"""Without weight decay, on the central path and with $\Sigma_W$ of full rank, the loss and both its parts depend
    on the $C-1$ non-zero SNR singular values alone: $L = \frac12\sum_j 1/(\omega_j^2+C)$, $L_{NC1} = \frac12\sum_j
    \omega_j^2/(C+\omega_j^2)^2$, $L_{NC2/3} = \frac{1}{2C}\sum_j(\omega_j^2/(\omega_j^2+C)-1)^2$.

    The singular value that is zero has no part in it: the bias sees to the direction in which all classes' scores are
    equal, which would add $1/(2C)$ to the loss and to $L_{NC2/3}$. Far along the flows the class means' scores are
    one-hot labels to within $C/\omega^2$, so that rounding limits what can be seen of $L_{NC2/3}$: errors along the
    flows are counted in units of the factor $1+\omega^2/C$ by which that limit grows.
    """
    parts = {
        "loss": theory.spectral_loss,
        "loss_nc1": theory.spectral_variability_loss,
        "loss_nc23": theory.spectral_geometry_loss,
    }

    def judge(altered: Callable[..., np.ndarray]) -> Checks:
        def errors(table: Table, quantity: Quantity, flow: str | None = None) -> np.ndarray:
            def of_size(loss: np.ndarray, omega: np.ndarray, C: int, *_: int) -> np.ndarray:
                amplified = 1 if flow is None else 1 + omega[..., 0] ** 2 / C
                return (np.abs(loss[..., 0] / altered(parts[quantity], omega, C) - 1) / amplified).max(axis=1)

            return over_sizes(of_size, by_size(table, quantity, flow), by_size(table, "omega", flow))

        for quantity in parts:
            yield zero_on_every_draw(
                f"{quantity} of raw features, relative error", errors(features, quantity), ROUNDING, "rounding"
            )
            yield zero_on_every_draw(
                f"{quantity} along both flows, relative error",
                np.concatenate([errors(flows, quantity, flow) for flow in BOTH]),
                ROUNDING,
                "rounding, in units of $1+\\omega^2/C$",
            )

    rivals = {
        "one in the place of $C$": lambda part, omega, C: part(omega, 1),
        "$C-1$ in the place of $C$": lambda part, omega, C: part(omega, C - 1),
        "sums over all $C$, with the singular value that is zero": lambda part, omega, C: part(
            np.concatenate([omega, np.zeros_like(omega[..., :1])], axis=-1), C
        ),
    }
    return Finding(
        judge,
        printed=lambda part, omega, C: part(omega, C),
        rivals=rivals,
        scaled=lambda altered, factor: lambda part, omega, C: factor * altered(part, omega, C),
    )


@claim(
    "Propositions 2 and 4 together, Lemma 5",
    scope=FLOWS + "; speeds on fresh draws",
    correction="Equation 5 says that the gradient is projected, not how. Read as the orthogonal projection, "
    r"$Z - \frac{CN}{2}(XCZ^\top + ZCX^\top)XC$, Proposition 2, Lemma 5 and Corollary 1 hold as printed, and the map "
    "of Proposition 4 is not that projection. Read as the map that Proposition 4 prints, "
    r"$\dot\omega = \omega / (CN(C + \omega^2))$, and therefore $\omega^2/2 + C\log\omega = t/(CN) + $ const.",
    quantifier="all draws",
)
def proposition_2(features: Table, flows: Table) -> Finding:
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

    def judge(pairs: Sequence[tuple[str, Dynamics]]) -> Checks:
        for flow, dynamics in pairs:
            yield from (_check_course(flows, flow, dynamics), _check_speed(features, flow, dynamics))

    ratios = over_sizes(
        lambda speed, omega, C, N, _: (speed / theory.snr_velocity(omega, C, N)).max(axis=(1, 2)),
        by_size(features, "speed", "printed"),
        by_size(features, "omega"),
    )
    rivals = {
        "the paper's equation for both maps": [("orthogonal", PAPER), ("printed", PAPER)],
        "the algorithm's equation for both maps": [("orthogonal", ALGORITHM), ("printed", ALGORITHM)],
        "$c_1$, $c_2$ and $c_3$ twice as large": [("orthogonal", PAPER_SLIPPED), ("printed", ALGORITHM)],
    }
    return Finding(
        judge,
        printed=[("printed", PAPER)],
        corrected=[("orthogonal", PAPER), ("printed", ALGORITHM)],
        rivals=rivals,
        facts={"faster": ratios.max()},
        reason="the flow of the map that the paper prints does not follow the closed form that the paper gives",
        scaled=lambda pairs, factor: [(flow, _slowed(dynamics, factor)) for flow, dynamics in pairs],
    )


# the next order of the expansion of either flow's singular values at late times, relative and doubled
NEXT_ORDER: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "orthogonal": lambda omega, C: 2 * C / omega**2,
    "printed": lambda omega, C: 2 * C * np.log(omega) / omega**2,
}


def _asymptote_checks(flows: Table, flow: str, dynamics: Dynamics) -> list[Check]:
    """Hold the ratio to an asymptote at the last time, and the exponent over the last decade, to their next order.

    The next order is doubled for the ratio; the exponent's is a quarter (equation 9) or half (the algorithm) of that.
    """
    times = times_of(flows)
    last, previous = decades_back(flows, 2)

    def errors_and_tolerances(omega: np.ndarray, C: int, N: int, _: int) -> np.ndarray:
        final, earlier = omega[:, last], omega[:, previous]
        ratio = final / dynamics.asymptote(times[last], C, N)
        slope = np.log(final / earlier) / np.log(times[last] / times[previous])
        errors = [np.abs(ratio - 1), np.abs(slope - dynamics.exponent)]
        return np.stack([*errors, *(NEXT_ORDER[flow](values, C) for values in (final, earlier))], axis=1).max(axis=2)

    ratios, exponents, of_ratios, of_exponents = over_sizes(errors_and_tolerances, by_size(flows, "omega", flow)).T
    because = "at least twice the next order of the expansion"
    return [
        zero_on_every_draw(
            "$\\omega_j$ over its asymptote at the last time, less one", ratios, of_ratios, because, resolution=0.05
        ),
        zero_on_every_draw(
            f"exponent over the last decade, less {dynamics.exponent:g}",
            exponents,
            of_exponents,
            because,
            resolution=np.inf,
        ),
    ]


@claim(
    "Corollary 1 (1)",
    scope="singular values that follow equation 9: the flow of the orthogonal projection, " + FLOWS,
    quantifier="all draws",
)
def corollary_1_growth(flows: Table) -> Finding:
    r"""Positive singular values that follow equation 9 grow without bound, as $(t/c_3)^{1/4}$ with $c_3 = N/4$.

    The ratio to the asymptote is $1 - C/\omega^2$ to the next order, which sets the tolerance, and the exponent is
    $\frac14$ to the same order. The flow of the printed map, and the algorithm that it is the limit of, grow faster:
    see `described_algorithm_rate`.
    """
    rivals = {"the algorithm's square root": ALGORITHM, "$c_3 = N/2$": PAPER_SLIPPED}
    return Finding(lambda dynamics: _asymptote_checks(flows, "orthogonal", dynamics), PAPER, rivals, scaled=_slowed)


@claim("Corollary 1 (2)", scope="both flows, " + FLOWS, quantifier="all draws")
def corollary_1_equality(flows: Table) -> Finding:
    r"""Positive SNR singular values that follow equation 9 become equal: $\omega_{\max}/\omega_{\min} \to 1$.

    Every $\omega$ runs on the same curve, late ones behind by a fixed time, so that what is left of
    $\omega_{\max}/\omega_{\min} - 1$ falls as $1/t$, under equation 9 and under the algorithm's equation alike. The
    limit is judged by that law, over the last decade at whose end the excess is still a hundred times the
    integrator's error, and by what the last time leaves of the excess there: no more than law and error together.
    """

    def judge(power: float) -> Checks:
        for flow in BOTH:
            yield from _vanishing_checks(flows, "excess", flow, power)

    return Finding(judge, printed=-1.0, rivals={"as $1/\\sqrt t$": -0.5, "a spread that stays": 0.0})


@claim("Corollary 2, eqs. 10 and 11", scope="both flows, " + FLOWS, quantifier="all draws")
def corollary_2(flows: Table) -> Finding:
    r"""Under continually renormalised gradient flow, on the central path from zero global mean and without weight
    decay, and where the class means span $C-1$ directions, $\mathrm{SNR}/\omega_{\max} \to \hat U_0\hat V_0^\top$, the
    singular vectors of the start; the renormalised features over $\omega_{\max}$ tend to its columns, a copy for every
    example; and neural collapse follows on the renormalised features.

    Equation 10: what is left is the spread of the singular values, which falls as $1/t$ (`corollary_1_equality`); so do
    the spread of the class means' norms and their distance from the simplex's angles (NC2), and self-duality, a squared
    distance, falls as its square (NC3; off the renormalised features it need not fall: errata 8). That class means span
    $C-1$ directions does not follow from their centring (errata 15). The nearest class mean's labels agree (NC4); NC1
    is $C\sum_j 1/\omega_j^2$ there (see `appendix_d_6`). Equation 11: the deviations never move and only
    $\omega_{\max}$ grows, so that the squared distance is $CP/\omega_{\max}^2$ and that of equation 10.
    """

    def judge(statement: tuple[float, str]) -> Checks:
        power, feature_limit = statement
        time_index = 0 if feature_limit == "start" else -1

        def limit_error(omega: np.ndarray, distance: np.ndarray, gap: np.ndarray, C: int, _: int, P: int) -> np.ndarray:
            omega_max = omega[:, :1, 0] if feature_limit == "start" else omega[..., 0]
            predicted = np.hypot(np.sqrt((1 if feature_limit == "one class" else C) * P) / omega_max, gap[..., 0])
            return relative_error(distance[..., 0], predicted)

        for flow in BOTH:
            for quantity, order in {"snr_limit": 1, "nc2_norms": 1, "nc2_angles": 1, "nc3": 2}.items():
                yield from _vanishing_checks(flows, quantity, flow, power, order)
            yield zero_on_every_draw(
                f"distance of eq. 11 at all times, relative error, {flow} map",
                over_sizes(
                    limit_error,
                    by_size(flows, "omega", flow),
                    by_size(flows, "features_limit", flow),
                    by_size(flows, "snr_limit", flow),
                ),
                integration_error(flows),
                "error of the integrator",
            )
            yield every_draw(
                f"examples that NC4 fails for, {flow} map",
                over_sizes(lambda nc4, C, N, _: C * N * nc4[:, time_index, 0], by_size(flows, "nc4", flow)),
                at_most=0.5,
                because="whole examples",
            )

    rivals = {
        "features that stay where they started": (-1.0, "start"),
        "$\\sqrt P/\\omega_{\\max}$ in eq. 11, the deviations of a single class": (-1.0, "one class"),
        "distances that fall as $1/\\sqrt t$": (-0.5, "collapse"),
        "distances that stay": (0.0, "collapse"),
    }
    return Finding(judge, printed=(-1.0, "collapse"), rivals=rivals)


def _vanishing_checks(flows: Table, quantity: Quantity, flow: str, power: float, order: int = 1) -> list[Check]:
    """Hold a distance that is the spread of singular values to some order, which falls as that power of t, to its law.

    The exponent in t over the last decade at whose end the excess is a hundred times the integrator's error; and the
    share that the last time leaves of the distance at the end of that decade.
    """
    times, error = times_of(flows), integration_error(flows)
    decades = list(itertools.pairwise(decades_back(flows, int(np.log10(times[-1] / times[1])))))
    exponents, tolerances, shares, bounds = [], [], [], []
    for (classes, _, _, distances), (*_, omega), (*_, excess) in zip(
        *(by_size(flows, name, flow) for name in (quantity, "omega", "excess")), strict=True
    ):
        for distance, spectra, spread in zip(distances[..., 0], omega, excess[..., 0], strict=True):
            visible = [decade for decade in decades if spread[decade[0]] > 100 * error]
            last, previous = visible[0] if visible else (-1, -1)
            ratio = distance[last] / distance[previous]
            exponents.append(np.log(ratio) / np.log(times[last] / times[previous]) if visible else np.nan)
            next_order = {place: NEXT_ORDER[flow](spectra[place], classes).max() for place in (last, previous)}
            tolerances.append(order * (next_order[previous] + error / spread[last]) if visible else 0.0)
            shares.append(distance[-1] / distance[last] if visible else np.nan)
            law = (times[last] / times[-1]) ** (1 - next_order[last])
            bounds.append((law + 2 * error / spread[last]) ** order)
    return [
        equal_on_every_draw(
            f"exponent in t of {quantity}, {flow} map, less its prediction",
            exponents,
            power * order,
            tolerance=tolerances,
            relative_to=1.0,
            resolution=0.25 * order,
            because="next order of the expansion, and the integrator's error in the spread",
        ),
        every_draw(
            f"share of {quantity} after that decade that the last time leaves, {flow} map",
            shares,
            at_most=bounds,
            because="what its law leaves to the next order, and twice the integrator's error",
        ),
    ]


def _rounding_of_steps(descent: Table) -> float:
    return UNIT * (settings_of(descent)["horizon"] / min(settings_of(descent)["steps"]))


@claim("Lemma 6", scope="both flows, and the described algorithm at three step sizes", quantifier="all draws")
def lemma_6(flows: Table, descent: Table) -> Claim:
    r"""Under continually renormalised gradient flow, on the central path without weight decay, the singular vectors of
    the SNR matrix do not change in time.

    They do not under either flow, nor under the discrete algorithm at any step size: in aligned coordinates the
    gradient scales means and deviations row by row, and so does renormalisation. The proof's equation, that of the
    flow without projection, lacks a factor $1/N$ in its last line, without consequence (errata 14).
    """
    yield no_gap(
        "part of the SNR matrix outside of its first singular vectors, along the flows",
        flows,
        "vectors",
        integration_error(flows),
        "error of the integrator",
        rivals={"equal singular values from the start on": "snr_limit"},
    )
    because = "rounding: one unit for each step"
    yield no_gap("the same along descent", descent, "vectors", _rounding_of_steps(descent), because)


@claim(
    "Appendix D.1, section D.3",
    scope="three sizes, zero global mean; three step sizes, extrapolated to zero",
    correction=r"In the limit of small steps the described algorithm obeys $\dot\omega = \omega/(CN(C + \omega^2))$: "
    r"$\omega$ grows as $(2t/(CN))^{1/2}$ instead of $(4t/N)^{1/4}$. A step of size $\eta$ takes $\omega$ to "
    r"$(\omega + \eta\alpha)/(1 - \eta\omega\alpha/C)$ exactly, with $\alpha = \omega/(N(C + \omega^2)^2)$.",
    quantifier="all draws",
)
def described_algorithm_rate(features: Table, flows: Table, descent: Table) -> Finding:
    r"""Gradient descent with renormalisation after each step follows, as steps become small, the closed form of
    Proposition 2.

    Section D.3 calls the flow the continuous analogue of this algorithm, and its Lemma 2 shows that a step is the
    printed tangent map to first order. It is, and therefore the algorithm is not described by Proposition 2, which
    belongs to the orthogonal projection. The gradient shrinks deviations as well as moving means; renormalisation
    expands both, and what the deviations lost the means gain. The algorithm is run as described, in the full
    feature space; its iterates agree to rounding with the exact map of one step. Collapse holds, and sooner.
    """
    steps = sorted(settings_of(descent)["steps"])[:3]
    time = times_of(descent)[-1]
    of_steps = [descent[descent["step"] == step] for step in steps]

    def judge(dynamics: Dynamics) -> Checks:
        def limit_errors(
            fine: np.ndarray, middle: np.ndarray, coarse: np.ndarray, C: int, N: int, _: int
        ) -> np.ndarray:
            final = [values[:, -1] for values in (fine, middle, coarse)]
            limit, coarse_limit = (
                final[k] + (final[k] - final[k + 1]) * steps[k] / (steps[k + 1] - steps[k]) for k in (0, 1)
            )
            course = dynamics.course(fine[:, 0], time, C, N)
            return np.stack([relative_error(limit, course), relative_error(coarse_limit, limit)], axis=1)

        errors, extrapolation_errors = over_sizes(limit_errors, *(by_size(table, "omega") for table in of_steps)).T
        yield zero_on_every_draw(
            "$\\omega_j$ at the last time, steps extrapolated to zero, relative error",
            errors,
            extrapolation_errors,
            "difference of two extrapolations",
        )
        yield _check_speed(features, "descent", dynamics)
        yield zero_on_every_draw(
            "iterates less the exact map of one step, relative",
            over_sizes(
                lambda omega, predicted, *_: relative_error(omega, predicted),
                by_size(of_steps[0], "omega"),
                by_size(of_steps[0], "omega--one_step"),
            ),
            _rounding_of_steps(descent),
            "rounding: one unit for each step",
            resolution=np.inf,
        )
        yield from _asymptote_checks(flows, "printed", dynamics)

    rivals = {"the paper's closed form": PAPER, "an algorithm twice as slow": _slowed(ALGORITHM, 0.5)}
    return Finding(
        judge,
        printed=PAPER,
        corrected=ALGORITHM,
        rivals=rivals,
        scaled=_slowed,
        reason="the algorithm's singular values leave the printed closed form",
    )


@claim(
    "Appendix D.6, proof of Corollary 2 (NC1)",
    scope=FREE + ", raw and renormalised; both flows; last-layer features of trained networks",
    correction=r"$\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = C\sum_j 1/\omega_j^2$ where class means span an invariant "
    r"subspace of $\Sigma_W$, as where it is the identity; elsewhere the trace is larger.",
    quantifier="all draws",
)
def appendix_d_6(features: Table, flows: Table, trainings: Sequence[Table]) -> Finding:
    r"""The trace that measures variability collapse is a function of the SNR singular values:
    $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) = \sum_j 1/\omega_j^2$ for any features with $\Sigma_W$ of full rank.

    The last line of the derivation drops a factor $C$, without consequence for the limit. A line before it takes the
    pseudo-inverse of a product for the product of inverses in reverse order, which holds where the class means span an
    invariant subspace of $\Sigma_W$. With class means $USV^\top$, $U^\top\Sigma_WU \ge (U^\top\Sigma_W^{-1}U)^{-1}$ by
    Schur's complement. On raw features the trace is up to {raw:.3g} times $C\sum_j1/\omega_j^2$, at the end of
    training {network:.3g} times in the median network. So NC1 follows on the renormalised features, where it is
    proved; on others it asks that $\Sigma_W$ be well conditioned too.
    """

    def relative_errors(quantity: Quantity, table: Table, flow: str | None, factor: bool) -> np.ndarray:
        return over_sizes(
            lambda trace, omega, C, *_: relative_error(
                trace[..., 0], theory.trace_bound(omega, C) / (1 if factor else C)
            ),
            by_size(table, quantity, flow),
            by_size(table, "omega", flow),
        )

    def sums(table: Table) -> np.ndarray:
        """Return the sum over the spectrum at the last epoch."""
        spectra = select(table, "snr", epoch=table["epoch"].max())
        classes = by_seed(table, "classes").iloc[-1].items()
        return np.array([theory.trace_bound(select(spectra, seed=seed)["value"].to_numpy(), C) for seed, C in classes])

    raw = over_sizes(
        lambda trace, omega, C, *_: trace[:, 0, 0] / theory.trace_bound(omega[:, 0], C),
        by_size(features, "trace"),
        by_size(features, "omega"),
    )
    traces = at_the_end(trainings, "classes") * at_the_end(trainings, "nc1")
    has_full_rank = at_the_end(trainings, "rank") == at_the_end(trainings, "features")
    networks = np.where(has_full_rank, traces / over_trainings(trainings, sums), np.nan)
    rank_deficient = np.isnan(networks)
    # the statement speaks of covariances of full rank; where no network has one, there is nothing to judge
    if not rank_deficient.all():
        networks = networks[~rank_deficient]

    def judge(statement: tuple[bool, bool]) -> Checks:
        factor, bound = statement
        yield zero_on_every_draw(
            "renormalised features: trace over the sum, less one",
            relative_errors("trace_renormalised", features, None, factor),
            ROUNDING,
            "rounding",
        )
        for flow in BOTH:
            yield zero_on_every_draw(
                f"along the flow, {flow} map: trace over the sum, less one",
                relative_errors("trace", flows, flow, factor),
                integration_error(flows),
                "error of the integrator",
            )
        of_raw = raw * (1.0 if factor else Draws(features).column("classes"))
        if not bound:
            yield zero_on_every_draw("raw features: trace over the sum, less one", of_raw - 1, ROUNDING, "rounding")
            return
        because = "the trace is no less than $C\\sum_j1/\\omega_j^2$, to rounding"
        yield every_draw("raw features: trace over the sum", of_raw, at_least=1 - ROUNDING, because=because)
        yield every_draw(
            "trained networks: trace over the sum",
            networks,
            at_least=1 - 1e-6,
            because=because + " of float32 features",
            excluded={"their covariance lacks rank": int(rank_deficient.sum())},
        )
        yield every_draw(
            "raw features: largest trace over the sum",
            [raw.max()],
            at_least=1.01,
            because="equality is not general",
        )

    return Finding(
        judge,
        printed=(False, False),
        corrected=(True, True),
        rivals={"$C\\sum_j1/\\omega_j^2$ for any features": (True, False), "a bound without $C$": (False, True)},
        facts={"raw": raw.max(), "network": np.median(networks)},
        reason="the trace is neither the sum nor, off the renormalised features, a multiple of it",
    )


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
    quantifier="all draws",
)
def trace_and_product(features: Table) -> Finding:
    r"""Where all eigenvalues of $\Sigma_B^\dagger\Sigma_W$, and so its trace, tend to zero, the matrix itself does.

    A product of two symmetric matrices is not symmetric, and such a matrix can be large while its eigenvalues are
    small. Noise of variance $1/d$ in a direction that leans by $d$ towards the class means gives a trace of order $d$
    and a product whose norm stays at {norm:.2g} or more. To see the bound, write the product as $\Sigma_W^{-1/2}S
    \Sigma_W^{1/2}$ with $S = \Sigma_W^{1/2}\Sigma_B^\dagger\Sigma_W^{1/2}$, symmetric and positive, whose norm is
    at most its trace. So small $\mathrm{Tr}(\Sigma_W\Sigma_B^\dagger)/C$ says nothing of noise in directions in
    which class means do not differ; and it is the trace that figures draw, not the trace norm of footnote 3 (errata 9).
    """
    draws, excluded = _with_free_directions(features)
    trace, norm, condition = (draws.entries(name) for name in ("product_trace", "product_norm", "condition"))

    def judge(power: float) -> Checks:
        stays, left = power > 0, norm[:, 1:] / norm[:, :-1]  # zero: a norm of the order of its trace, as printed
        yield every_draw(
            "norm of the product over that at a lean ten times as large",
            left.min(axis=1) if stays else left.max(axis=1),
            at_least=0.5 if stays else None,
            at_most=None if stays else 0.5,
            because="a norm that stays keeps all of it, one that falls as the root of the trace a third",
            excluded=excluded,
        )
        yield premise(
            every_draw(
                "trace at the smallest lean over that at the largest",
                trace[:, -1] / trace[:, 0],
                at_most=0.02,
                because="eigenvalues that tend to zero, with the lean a hundredth",
                excluded=excluded,
            )
        )
        if not stays:
            return
        yield every_draw(
            "norm of the product over its trace, smallest lean",
            norm[:, -1] / trace[:, -1],
            at_most=condition[:, -1] ** power * (1 + 1e-9),
            because="the bound, to rounding",
            excluded=excluded,
        )
        yield equal_on_every_draw(
            "exponent in the condition number with which that ratio grows, less its prediction",
            np.log(norm[:, -1] * trace[:, 0] / (norm[:, 0] * trace[:, -1]))
            / np.log(condition[:, -1] / condition[:, 0]),
            power,
            tolerance=0.01,
            relative_to=1.0,
            excluded=excluded,
            because="next order: the largest lean, a hundredth",
        )

    return Finding(
        judge,
        printed=0.0,
        corrected=0.5,
        rivals={"the fourth root of the condition number": 0.25, "the condition number itself": 1.0},
        facts={"norm": norm.min()},
        reason="the norm stays while the trace vanishes",
    )


@claim(
    "Section 3.3, end of the proof of Corollary 2",
    scope="class means that are a simplex frame, of three sizes, and noise of a thousandth of them: its covariance the "
    "identity but for 0.5 between a direction of the class means and one beside them, or half as much again along one "
    "of the former; no weight decay",
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
    predict: its rows keep a component along the second direction, however small the noise is. Self-duality then stays
    at {coupled:.2g} or more, and is at most {uncoupled:.1g} where the noise is as small and not coupled.
    """
    draws, excluded = _with_free_directions(features)
    nc1, nc4, coupled, uncoupled = (
        draws.entries(f"vanishing_{name}")[:, -1] for name in ("nc1", "nc4", "duality", "duality--uncoupled")
    )
    others = draws.column("classes") - 1.0

    def left(part: np.ndarray | float) -> np.ndarray:
        """Return the squared distance of unit vectors of which one has a share of 1 / (1 + part) along the other."""
        return 2 - 2 / np.sqrt(1 + part)

    for name, duality, corrected, rivals in (
        (
            "coupled noise",
            coupled,
            left(COUPLING**2 / others),
            {"$C$ in the place of $C-1$": left(COUPLING**2 / (others + 1)), "$c$ for $c^2$": left(COUPLING / others)},
        ),
        ("noise as small that is not coupled", uncoupled, 0.0, {"a coupling everywhere": left(COUPLING**2 / others)}),
    ):
        yield equal_on_every_draw(
            f"self-duality less its prediction, {name}",
            duality,
            0.0,
            tolerance=1e-4,
            relative_to=1.0,
            resolution=0.01,
            because="next order: noise to signal, squared, a hundredfold",
            corrected=corrected,
            rivals=rivals,
            scaled=False,
            excluded=excluded,
        )
    yield every_draw("features that NC4 fails for", nc4, at_most=0.5, because="whole features", excluded=excluded)
    yield premise(every_draw("NC1", nc1, at_most=1e-4, because="noise of a hundredth of the signal", excluded=excluded))
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
    What lacks are dead units, in the median training {dead:.1g} of all at the epoch that has most.
    """
    n_features = at_the_end(trainings, "features")
    lowest = over_trainings(trainings, lambda table: by_seed(table, "rank").min(skipna=False))
    yield equal_on_every_draw(
        "what the lowest rank of $\\Sigma_W$ lacks of the claimed one, over the number of features",
        lowest / n_features,
        n_features / n_features,
        tolerance=0.0,
        relative_to=1.0,
        because="a rank is a whole number",
        rivals={
            "rank $C-1$": (at_the_end(trainings, "classes") - 1) / n_features,
            "one feature that never varies": (n_features - 1) / n_features,
        },
        scaled=False,
    )
    yield Facts(dead=np.median(over_trainings(trainings, lambda t: by_seed(t, "dead_features").max())))
