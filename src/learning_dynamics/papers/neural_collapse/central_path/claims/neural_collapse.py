"""Neural collapse along the flows (section 3.3).

Renormalised features X, (P, C N), N examples of each of C classes, follow dX/dt = -Pi(grad L) (eq. 5) from zero global
mean, without weight decay. The map Pi onto their tangent space is the orthogonal projection or the map that Proposition
4 prints: `FLOWS`. The SNR matrix, (P, C), has their class means mu_c as columns, with the C - 1 singular values
omega_j, omega_max first and omega_min last, and at the start the singular vectors U_0 and V_0. The spread of the
singular values is omega_max / omega_min - 1. W, (C, P), is the features' least-squares classifier. A draw is one start
of a flow.
"""

import numpy as np

from learning_dynamics.judging import Check, Claim, Facts, claim, every_draw, takes_rivals
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.predictions import (
    ALGORITHM,
    FLOWS,
    PAPER,
    Dynamics,
    at_speed,
)
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    FEATURES_LIMIT_DISTANCE,
    NC2_ANGLE_DISTANCE,
    NC2_NORM_SPREAD,
    NC3,
    NC4,
    OMEGA,
    ORTHOGONAL,
    PRINTED,
    SNR_LIMIT_DISTANCE,
    TRACE,
)
from learning_dynamics.papers.neural_collapse.central_path.vanishing import vanishing_checks
from learning_dynamics.papers.neural_collapse.draws import (
    RENORMALISED_FLOWS,
    Size,
    by_size,
    integration_error,
    over_sizes,
    relative_error,
    times_of,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Table

FIRST, LAST = 0, -1  # indices of recorded times
# what the SNR singular values do under each map (errata 3)
RIGHT_DYNAMICS = {ORTHOGONAL: PAPER, PRINTED: ALGORITHM}
# powers of the spread of singular values, omega_max / omega_min - 1, that the distances of NC2 and NC3 fall as
NC2_AND_NC3 = {
    NC2_NORM_SPREAD: 1,  # std / mean of |mu_c|
    NC2_ANGLE_DISTANCE: 1,  # mean of |cos(mu_c, mu_c') + 1 / (C - 1)|
    NC3: 2,  # || W^T / ||W|| - M / ||M|| ||^2
}
# exponents in t that rivals give the spread, which falls as 1/t, by their phrases
WRONG_EXPONENTS = {"distances that fall as $1/\\sqrt t$": -0.5, "distances that stay": 0.0}


@claim("Corollary 2, eqs. 10 and 11", scope="both flows, " + RENORMALISED_FLOWS, quantifier="all draws")
def corollary_2(flows: Table) -> Claim:
    r"""Take continually renormalised gradient flow, on the central path from zero global mean and without weight decay,
    where the class means span $C-1$ directions. Then $\mathrm{SNR}/\omega_{\max} \to \hat U_0\hat V_0^\top$, with the
    singular vectors of the start; the renormalised features over $\omega_{\max}$ tend to $N$ copies of each column of
    this limit; and neural collapse follows on the renormalised features.

    Two maps are tried, the orthogonal projection and the one that Proposition 4 prints. The distance of $\mathrm{SNR}$
    from its limit (equation 10) falls as $1/t$, as the spread $\omega_{\max}/\omega_{\min} - 1$ does
    (`corollary_1_equality`). So do the spread of the class means' norms and their distance from the simplex's angles
    (NC2). The squared distance of classifiers from class means (NC3) falls as the square of the spread; off the
    renormalised features it need not fall (errata 8). Classifier and nearest class mean label every example alike at
    the end (NC4). NC1, $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W)$, falls as $C\sum_j 1/\omega_j^2$ with the $\omega_j(t)$
    of each map, which grow without bound. In equation 11, the features' limit, deviations never move, so that the
    squared distance over $N$ is $CP/\omega_{\max}^2$ plus that of equation 10. Centred class means need not span $C-1$
    directions (errata 15).
    """
    times = times_of(flows)[:, None]  # shape (times, 1)

    def errors_of_eq_11(flow: str, dynamics: Dynamics, *, one_class: bool = False) -> np.ndarray:
        """Return the largest relative error of the distance of eq. 11 over time, shape (draws,).

        The distance is ||X / omega_max - (U_0 V_0^T) kron 1^T|| / sqrt(N), predicted sqrt(C P / omega_max(t)^2 + d^2):
        omega_max(t) follows from the start by the dynamics, and d is the distance of eq. 10,
        ||SNR / omega_max - U_0 V_0^T||. If `one_class`, C is one: the deviations of a single class.

        Derivation: X / omega_max less its limit is N copies of the matrix of norm d, and the deviations over omega_max,
        which are orthogonal to them. The squared norm of deviations is C N P, because Sigma_W is the identity.
        """

        def error(size: Size, omega: np.ndarray, distance: np.ndarray, snr_distance: np.ndarray) -> np.ndarray:
            # omega (draws, times, C - 1), descending; the course from its start (draws, 1, C - 1) has the same shape
            omega_max = dynamics.course(omega[:, :1], times, size.classes, size.examples)[..., 0]
            classes = 1 if one_class else size.classes
            predicted = np.hypot(np.sqrt(classes * size.features) / omega_max, snr_distance[..., 0])
            return relative_error(distance[..., 0], predicted)

        return over_sizes(
            error,
            omega=by_size(flows, OMEGA, flow=flow),
            distance=by_size(flows, FEATURES_LIMIT_DISTANCE, flow=flow),
            snr_distance=by_size(flows, SNR_LIMIT_DISTANCE, flow=flow),
        )

    # phrases of rivals; each alters the checks that have it
    stay = "features that stay where they started"
    single_class = "$\\sqrt P/\\omega_{\\max}$ in eq. 11, the deviations of a single class"
    # SNR_LIMIT_DISTANCE, ||SNR / omega_max - U_0 V_0^T|| (eq. 10), falls as the spread itself
    powers_of_spread = {SNR_LIMIT_DISTANCE: 1} | NC2_AND_NC3
    for flow in FLOWS:
        dynamics = RIGHT_DYNAMICS[flow]
        stopped = at_speed(dynamics, 0.0)
        for quantity, power_of_spread in powers_of_spread.items():
            yield from vanishing_checks(
                flows, quantity, flow, power_of_spread=power_of_spread, wrong_exponents=WRONG_EXPONENTS
            )
        yield zero_on_every_draw(
            f"distance of eq. 11 at all times, relative error, {flow} map",
            errors_of_eq_11(flow, dynamics),
            integration_error(flows),
            "error of the integrator",
            rivals={
                stay: errors_of_eq_11(flow, stopped),
                single_class: errors_of_eq_11(flow, dynamics, one_class=True),
            },
        )
        yield check_variability(flows, flow, dynamics, rivals={stay: stopped})
        yield every_draw(
            f"examples that NC4 fails for, {flow} map",
            _examples_nc4_fails_for(flows, flow, LAST),
            at_most=0,
            because="every example",
            rivals={stay: {"values": _examples_nc4_fails_for(flows, flow, FIRST)}},
        )


def _examples_nc4_fails_for(flows: Table, flow: str, time_index: int) -> np.ndarray:
    """Return how many of the C N examples classifier and nearest class mean label differently (NC4), shape (draws,)."""

    def count(size: Size, nc4: np.ndarray) -> np.ndarray:
        share = nc4[:, time_index, 0]  # of (draws, times, 1)
        return size.classes * size.examples * share

    return over_sizes(count, nc4=by_size(flows, NC4, flow=flow))


@takes_rivals("dynamics", scaled=at_speed)
def check_variability(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check tr(pinv(Sigma_B) Sigma_W) along a flow: C sum_j 1 / omega_j(t)^2, with omega_j(t) from omega_j(0).

    The sum is a bound, `theory.trace_bound`, that features with Sigma_W = I attain.
    """
    times = times_of(flows)[:, None]  # shape (times, 1)

    # trace (draws, times, 1), omega and its course from the start (draws, times, C - 1)
    def error(size: Size, trace: np.ndarray, omega: np.ndarray) -> np.ndarray:
        predicted_omega = dynamics.course(omega[:, :1], times, size.classes, size.examples)
        return relative_error(trace[..., 0], theory.trace_bound(predicted_omega, size.classes))

    return zero_on_every_draw(
        f"NC1 along the flow, {flow} map, by its explicit dynamics, relative error",
        over_sizes(error, trace=by_size(flows, TRACE, flow=flow), omega=by_size(flows, OMEGA, flow=flow)),
        2 * integration_error(flows),
        "the integrator's error: its tolerance times a calibrated 20, doubled as $\\omega$ enters squared",
    )


@claim(
    "Theorem 3",
    scope="the flow of the orthogonal projection, " + RENORMALISED_FLOWS,
    quantifier="all draws",
)
def theorem_3(flows: Table) -> Claim:
    r"""Take continually renormalised gradient flow, on the central path from zero global mean and without weight decay,
    where the class means span $C-1$ directions. Then neural collapse emerges on the renormalised features, with the
    explicit dynamics of Proposition 2 and Corollaries 1 and 2.

    Equation 5 projects the gradient onto the tangent space and names no inner product; here it is the Frobenius one, in
    which the gradient is taken. The map that Proposition 4 prints, which is orthogonal in another metric, is a rival
    (`proposition_2`, errata 3). One check tests NC1 and the dynamics together: $\mathrm{tr}(\Sigma_B^\dagger\Sigma_W) =
    C\sum_j1/\omega_j(t)^2$, where $\omega_j(t)$ follows from $\omega_j(0)$ by the dynamics. This trace falls from
    {trace_at_start:.2g} to {trace_at_end:.1g}, and under the printed map to {trace_at_end_printed:.1g} (medians over
    draws). NC2, NC3 and NC4 follow as in `corollary_2`. Centred class means need not span $C-1$ directions (errata 15).
    """
    # phrases of rivals; each alters the checks that have it
    algorithm = "the dynamics of the map that Proposition 4 prints"
    stay = "features that stay where they started"
    yield check_variability(flows, ORTHOGONAL, PAPER, rivals={algorithm: ALGORITHM, stay: at_speed(PAPER, 0.0)})
    for quantity, power_of_spread in NC2_AND_NC3.items():
        yield from vanishing_checks(
            flows, quantity, ORTHOGONAL, power_of_spread=power_of_spread, wrong_exponents=WRONG_EXPONENTS
        )
    yield every_draw(
        "examples that NC4 fails for at the last time",
        _examples_nc4_fails_for(flows, ORTHOGONAL, LAST),
        at_most=0,
        because="every example",
        rivals={stay: {"values": _examples_nc4_fails_for(flows, ORTHOGONAL, FIRST)}},
    )

    def median_nc1(flow: str, time_index: int) -> float:
        """Return the median over draws of tr(pinv(Sigma_B) Sigma_W) at a time."""
        traces = [trace[:, time_index, 0] for trace in by_size(flows, TRACE, flow=flow).values()]
        return float(np.median(np.concatenate(traces)))

    yield Facts(
        trace_at_start=median_nc1(ORTHOGONAL, FIRST),
        trace_at_end=median_nc1(ORTHOGONAL, LAST),
        trace_at_end_printed=median_nc1(PRINTED, LAST),
    )
