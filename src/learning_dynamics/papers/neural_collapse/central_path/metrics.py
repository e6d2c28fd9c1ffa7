"""The central path: identities of the loss, tangent maps, and spectra along flows and descent.

Shapes: an array for each size, ``<name>_C<C>_N<N>_P<P>`` as `models.size_label` says. `H` and `Z` (members, 1, P, C N),
features as rows and examples as columns, sorted by class, N of each; `W` (members, 1, C, P + 1), biases in its last
column; `A` (members, 1, 3, P, P), which `_measure_draw` takes one by one. Flows and ``descent<k>`` are renormalised
features X (members, times, P, C N). Class means are columns, (P, C), in `models`, and rows, (C, P), in
`measures.collapse`. The setting `sizes` lists (C, N, P), `steps` is a list of step sizes. Times are flow time, of
descent step size times number of steps.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import (
    converses,
    flows,
    identities,
    limits,
    models,
    quantities,
    separation,
    tangents,
    theory,
)
from learning_dynamics.papers.neural_collapse.draws import SIZE_COLUMNS
from learning_dynamics.settings import NonNegative
from learning_dynamics.tidy import QUANTITY, SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

CENTRAL_PATH = (
    Column("classes", "int", "number of classes C", draw=True),
    Column("examples", "int", "examples per class N", draw=True),
    Column("features", "int", "number of features P", draw=True),
    SEED,
    Column("flow", "str", "a tangent map (orthogonal, printed, or one of `tangents.ALTERED_MAPS`), descent, or empty"),
    Column("step", "float", "step size of the discrete algorithm; 0 for flows"),
    Column("time", "float", "flow time; step size times number of steps for the discrete algorithm"),
    QUANTITY,
    Column("index", "int", "1, 2, ... along a spectrum, in descending order, or through variants; 0 for scalars"),
    Column("value", "float", "measured; empty where an integration could not be carried on", nullable=True),
)


@columns(*CENTRAL_PATH)
def free_features(trajectory: Trajectory, *, decays: list[NonNegative]) -> Tables:
    """Measure what holds of any features: the loss's identities, the tangent maps, and the flows' speeds.

    ``classifier_gap`` to ``loss_change--classifier_kept`` and ``loss`` to ``omega`` belong to features that are neither
    centred nor normalised, the rest to the renormalised ones. Those of `identities.classifier_identities` are measured
    at each of `decays` (index 1, 2, ...), those of `identities.invariance` with A positive definite, symmetric, general
    (index 1, 2, 3).

    Quantities
    ----------
    `identities.classifier_identities`
        At each weight decay.
    `identities.equation_6`
        Of the same features.
    `identities.invariance`
        Under three maps.
    `identities.simplex_frames`
        Of frames made of the features' singular vectors.
    loss, loss_nc1, loss_nc23
        The loss of the least-squares classifier and its terms L_NC1 and L_NC2/3, without weight decay: half the squared
        error, summed over classes and averaged over examples.
    trace
        tr(pinv(Sigma_B) Sigma_W).
    omega
        SNR singular values omega_j but the one that is zero, descending: those of Sigma_W^{-1/2} (class means less
        their mean).
    trace_renormalised
        tr(pinv(Sigma_B) Sigma_W) of the renormalised features.
    `tangents.manifold_gaps`
        Proposition 3.
    `tangents.map_gaps`
        Proposition 4.
    step_remainder
        What a renormalised step leaves beyond its first order by a tangent map T, ||R(X + h Z) - X - h T(Z)|| /
        ||h Z||, for the printed map, the orthogonal projection and the printed map with a minus sign (Lemma 2). Index:
        h in units of the features' size, 0.004, 0.002, 0.001.
    `tangents.singular_value_slopes`
        Lemma 3.
    `tangents.adjoint_gaps`
        Lemma 4.
    `tangents.velocity_gaps`
        Lemma 4, under both tangent maps.
    speed
        d omega_j / dt by central differences at two steps, extrapolated: of both flows, and of one step of descent.
    `separation.separations`
        Of the same features, and of features with other class means.
    `converses.small_terms`
        Of features with other deviations from the same class means.
    `converses.leaning_noise`
        Of features with other deviations from the same class means.
    `converses.simplex_scores`
        Of features with other class means and other deviations.
    `converses.simplex_means`
        Of features with other class means and other deviations.
    """
    for size in trajectory.settings["sizes"]:
        label = models.size_label(*size)
        members = [
            _measure_draw({name: trajectory.series[f"{name}_{label}"][member, 0] for name in "HWZA"}, size[0], decays)
            for member in range(trajectory.members)
        ]
        for flow in members[0]:
            yield _table(size, [member[flow] for member in members], flow=flow)


@columns(*CENTRAL_PATH)
def renormalised_flows(trajectory: Trajectory) -> Tables:
    """Measure both flows over time; nan where a flow could not be carried on.

    Quantities
    ----------
    omega
        SNR singular values omega_j but the one that is zero, descending.
    loss, loss_nc1, loss_nc23
        The loss of the least-squares classifier and its terms L_NC1 and L_NC2/3, without weight decay: half the squared
        error, summed over classes and averaged over examples.
    singular_value_spread
        omega_max / omega_min - 1.
    covariance_drift
        Largest entry of |Sigma_W - I|.
    `limits.limit_gaps`
        Against the start.
    `limits.collapse_along`
        Of the flow's features.
    """
    for size in trajectory.settings["sizes"]:
        for flow in flows.TANGENT_MAPS:
            states = trajectory.series[f"{flow}_{models.size_label(*size)}"]
            members = [_measure_flow(X, size) for X in states]
            yield _table(size, members, time=trajectory.time, flow=flow)


@columns(*CENTRAL_PATH)
def renormalised_descent(trajectory: Trajectory) -> Tables:
    """Measure gradient descent with renormalisation.

    Quantities
    ----------
    omega
        SNR singular values omega_j but the one that is zero, descending.
    omega--one_step
        ``omega`` by the exact map of one step, iterated from the same start.
    snr_outside_first_vectors
        The part of the SNR matrix outside of its singular vectors at the start, relative to all of it (Lemma 6).
    """
    step_sizes = trajectory.settings["steps"]  # the setting lists sizes, not numbers
    for size in trajectory.settings["sizes"]:
        classes, examples, _ = size
        for number, step in enumerate(step_sizes):
            # numbers of steps of this size by the recorded times
            counts = np.round(trajectory.time / step).astype(int)
            members = []
            for X in trajectory.series[f"descent{number}_{models.size_label(*size)}"]:
                omega = models.snr_singular_values(X, classes)
                one_step = functools.partial(theory.algorithm_step, step=step, classes=classes, examples=examples)
                iterated = np.stack(list(flows.iterates(one_step, omega[0], counts)))
                vectors = limits.limit_gaps(X, X[0], classes)[quantities.SNR_OUTSIDE_FIRST_VECTORS]
                members.append(
                    {
                        quantities.OMEGA: omega,
                        quantities.OMEGA_ONE_STEP: iterated,
                        quantities.SNR_OUTSIDE_FIRST_VECTORS: vectors,
                    }
                )
            yield _table(size, members, time=trajectory.time, flow=quantities.DESCENT, step=float(step))


def _table(
    size: Sequence[int],
    members: list[models.Numbers],
    *,
    flow: str,
    time: np.ndarray | None = None,
    step: float = 0.0,
) -> pd.DataFrame:
    """Return the rows of one size and flow: quantities of all members, over time where it is given."""
    # along these axes values differ; columns that are constant are labels. Without `time` all is at time 0
    axes = {"seed": np.arange(len(members))} | ({} if time is None else {"time": time})
    labels = (
        dict(zip(SIZE_COLUMNS, size, strict=True))
        | {"flow": flow, "step": step}
        | ({"time": 0.0} if time is None else {})
    )
    return rows({name: np.stack([member[name] for member in members]) for name in members[0]}, axes, **labels)


def _measure_draw(arrays: dict[str, np.ndarray], classes: int, decays: Sequence[float]) -> dict[str, models.Numbers]:
    """Return the quantities of one draw by flow, those that belong to none under an empty name."""
    H, W, Z = arrays["H"], arrays["W"], arrays["Z"]
    X = models.renormalised(H, classes)
    within, means = identities.moments(H, classes)
    parts = collapse.decomposition(within, means, W, 0.0)
    general: models.Numbers = {
        **_by_variant(identities.classifier_identities(H, W, decay) for decay in decays),
        **_by_variant(identities.invariance(H, change, classes) for change in arrays["A"]),
        **identities.equation_6(H, classes),
        **identities.simplex_frames(H, Z, classes),
        quantities.LOSS: models.extended_loss(collapse.least_squares_classifier(within, means, 0.0), H, 0.0),
        quantities.LOSS_NC1: parts["loss_nc1"],
        quantities.LOSS_NC23: parts["loss_nc23"],
        # `variability` is the trace over C
        quantities.TRACE: classes * collapse.variability(within, means),
        quantities.TRACE_RENORMALISED: limits.collapse_along(X, classes)[quantities.TRACE],
        quantities.OMEGA: models.snr_singular_values(X, classes),
        **tangents.manifold_gaps(X, Z, classes),
        **tangents.adjoint_gaps(X, classes),
        **separation.separations(H, X, classes),
        **converses.small_terms(X, classes),
        **converses.leaning_noise(X, classes),
        **converses.simplex_scores(X, classes),
        **converses.simplex_means(X, classes),
        **tangents.singular_value_slopes(X, Z, classes),
    }
    by_flow = {flow: tangents.map_gaps(X, Z, classes, tangent_map) for flow, tangent_map in tangents.ALL_MAPS.items()}
    for flow, tangent_map in flows.TANGENT_MAPS.items():
        by_flow[flow] |= tangents.velocity_gaps(X, classes, tangent_map)
    for flow, remainder in tangents.step_remainders(X, Z, classes).items():
        by_flow[flow][quantities.STEP_REMAINDER] = remainder
    for flow, speed in tangents.speeds(X, classes).items():
        by_flow.setdefault(flow, {})[quantities.SPEED] = speed
    return {"": general} | by_flow


def _by_variant(measurements: Iterator[models.Numbers]) -> models.Numbers:
    """Return the quantities of several variants, such as weight decays, as arrays with one entry for each variant."""
    variants = list(measurements)
    return {name: np.array([variant[name] for variant in variants]) for name in variants[0]}


def _measure_flow(X: np.ndarray, size: Sequence[int]) -> models.Numbers:
    """Measure one member's flow, X of shape (times, features, samples); nan where it was not carried on."""
    classes, examples, features = size
    if not np.isfinite(X).all():
        # the same quantities of other features, emptied: their names and shapes are what is used
        stand_in = np.random.default_rng(0).standard_normal(X.shape)
        return {name: np.full(np.shape(value), np.nan) for name, value in _measure_flow(stand_in, size).items()}
    omega = models.snr_singular_values(X, classes)
    # eqs. 17 and 18 by hand: `collapse.decomposition` solves with Sigma_T, which loses the digits of the noise at the
    # end of a flow, where class means are a million times as large (`models.classifier`)
    W, deviations = models.classifier(X, classes), models.deviations(X, classes)
    score_errors = W @ models.class_means(X, classes) - (np.eye(classes) - 1 / classes)
    covariance = models.within_covariance(X, classes)
    return {
        quantities.OMEGA: omega,
        quantities.LOSS: models.loss(X, classes),
        quantities.LOSS_NC1: 0.5 * np.sum((W @ deviations) ** 2, axis=(-2, -1)) / (classes * examples),
        quantities.LOSS_NC23: 0.5 * np.sum(score_errors**2, axis=(-2, -1)) / classes,
        quantities.SINGULAR_VALUE_SPREAD: omega[:, 0] / omega[:, -1] - 1,
        quantities.COVARIANCE_DRIFT: np.abs(covariance - np.eye(features)).max(axis=(-2, -1)),
        **limits.limit_gaps(X, X[0], classes),
        **limits.collapse_along(X, classes),
    }
