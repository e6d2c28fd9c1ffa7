"""The central path: identities of the loss, tangent maps, and spectra along flows and descent.

A size is a number C of classes, N of examples in each, and P of features; the setting `sizes` lists (C, N, P). A member
is one draw of the features of every size; tables have its number in their column ``seed``.

Series: one for each size, ``<name>_C<C>_N<N>_P<P>`` (`models.size_label`).

- of free features: H (members, 1, P, C N), with examples as columns, all of the first class first; a direction Z, of
  the shape of H; an extended classifier W (members, 1, C, P + 1), with biases in its last column; three maps A
  (members, 1, 3, P, P)
- of flows, named by their tangent map, and of ``descent<k>``, with the step size of index k in the setting `steps`:
  renormalised features X (members, times, P, C N)

Class means are columns, (P, C), in `models`, and rows, (C, P), in `measures.collapse`. Times are flow time; of descent,
step size times number of steps. Sigma_W is the covariance of features within classes, Sigma_B that of the class means
(section 1.1); omega_j are the singular values of the SNR matrix (eq. 8). `quantities` has all symbols.
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

    Quantities are of features H that are neither centred nor normalised, or of the renormalised features X, as their
    entries say. Those of `identities.classifier_identities` are measured at each weight decay of `decays` (index 1, 2,
    ...), those of `identities.invariance` with A positive definite, symmetric indefinite and general (index 1, 2, 3).

    Quantities
    ----------
    `identities.classifier_identities`
        Of H, at each weight decay.
    `identities.equation_6`
        Of H.
    `identities.invariance`
        Of H and A H, for each of three matrices A.
    `identities.simplex_frames`
        Of frames made of singular vectors of the SNR matrix.
    loss, loss_nc1, loss_nc23
        Loss of the least-squares classifier of H and its terms L_NC1 and L_NC2/3, without weight decay: half the
        squared error, summed over classes and averaged over examples.
    trace
        tr(pinv(Sigma_B) Sigma_W) of H.
    omega
        SNR singular values omega_j without the one that is zero, descending. The SNR matrix is Sigma_W^{-1/2} times the
        class means less their mean.
    trace_renormalised
        tr(pinv(Sigma_B) Sigma_W) of X.
    `tangents.manifold_gaps`
        Of X and Z (Proposition 3).
    `tangents.map_gaps`
        Of X and Z, for each tangent map (Proposition 4).
    step_remainder
        What a step h Z with renormalisation R leaves beyond the first order that a tangent map T gives, ||R(X + h Z) -
        X - h T(Z)|| / ||h Z||. T is the printed map, the orthogonal projection, or the printed map with a minus sign
        (Lemma 2). Index: ||h Z|| / ||X||, 0.004, 0.002, 0.001.
    `tangents.singular_value_slopes`
        Of X and Z (Lemma 3).
    `tangents.adjoint_gaps`
        Of X (Lemma 4).
    `tangents.velocity_gaps`
        Of X, under both tangent maps (Lemma 4).
    speed
        Speed d omega_j / dt at X along both flows, and along one step of descent, by central differences at two steps,
        extrapolated.
    `separation.separations`
        Of H and X, and of features with other class means.
    `converses.small_terms`
        Of features with the class means of X and other deviations from them.
    `converses.leaning_noise`
        Of features with the class means of X and other deviations from them.
    `converses.simplex_scores`
        Of features with other class means and other deviations than X.
    `converses.simplex_means`
        Of features with other class means and other deviations than X.
    """
    for size in trajectory.settings["sizes"]:
        classes, _, _ = size
        label = models.size_label(*size)
        members = []  # of each member its quantities, by flow
        for member in range(trajectory.members):
            arrays = {name: trajectory.series[f"{name}_{label}"][member, 0] for name in "HWZA"}  # at the one time
            members.append(_measure_draw(arrays, classes, decays))
        for flow in members[0]:  # all members have the same flows
            yield _table(size, [member[flow] for member in members], flow=flow)


@columns(*CENTRAL_PATH)
def renormalised_flows(trajectory: Trajectory) -> Tables:
    """Measure the flows under both tangent maps, at each recorded time; all is nan of a flow that was not carried on.

    Quantities
    ----------
    omega
        SNR singular values omega_j without the one that is zero, descending.
    loss, loss_nc1, loss_nc23
        Loss of the least-squares classifier and its terms L_NC1 and L_NC2/3, without weight decay: half the squared
        error, summed over classes and averaged over examples.
    singular_value_spread
        omega_max / omega_min - 1.
    covariance_drift
        Largest entry of |Sigma_W - I|, which is zero on the manifold.
    `limits.limit_gaps`
        From the limits that the features at time 0 give.
    `limits.collapse_along`
        Of the features at each time.
    """
    for size in trajectory.settings["sizes"]:
        for flow in flows.TANGENT_MAPS:
            states = trajectory.series[f"{flow}_{models.size_label(*size)}"]
            members = [_measure_flow(X, size) for X in states]
            yield _table(size, members, time=trajectory.time, flow=flow)


@columns(*CENTRAL_PATH)
def renormalised_descent(trajectory: Trajectory) -> Tables:
    """Measure gradient descent with renormalisation, at each recorded time.

    Quantities
    ----------
    omega
        SNR singular values omega_j without the one that is zero, descending.
    omega--one_step
        Prediction of ``omega`` by the exact formula for one step (`theory.algorithm_step`), iterated from the start.
    snr_outside_first_vectors
        The part of the SNR matrix that its singular vectors at time 0 leave, relative to all of it (Lemma 6); measured
        as along flows (`limits.limit_gaps`).
    """
    step_sizes = trajectory.settings["steps"]  # the setting lists step sizes, not numbers of steps
    for size in trajectory.settings["sizes"]:
        classes, examples, _ = size
        for number, step in enumerate(step_sizes):
            # at each recorded time the number of steps of this step size
            counts = np.round(trajectory.time / step).astype(int)
            members = []
            for X in trajectory.series[f"descent{number}_{models.size_label(*size)}"]:
                omega = models.snr_singular_values(X, classes)  # shape (times, C - 1)
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
    """Return the rows of one size and flow, from the quantities of each member.

    Arrays have the shape (times,) or (times, indices) with `time`. Without they have () or (indices,), and all rows are
    of time 0.
    """
    # axes are the columns along which values differ; labels are columns that are the same in all rows
    axes = {"seed": np.arange(len(members))} | ({} if time is None else {"time": time})
    labels = (
        dict(zip(SIZE_COLUMNS, size, strict=True))
        | {"flow": flow, "step": step}
        | ({"time": 0.0} if time is None else {})
    )
    return rows({name: np.stack([member[name] for member in members]) for name in members[0]}, axes, **labels)


def _measure_draw(arrays: dict[str, np.ndarray], classes: int, decays: Sequence[float]) -> dict[str, models.Numbers]:
    """Return the quantities of one draw by flow; those that belong to no flow are under an empty name.

    `arrays` has H and Z, (P, C N), the classifier W, (C, P + 1), and the three A, (3, P, P).
    """
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
        # `collapse.variability` is the trace divided by C
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
    # flows are named by their tangent map
    by_flow = {flow: tangents.map_gaps(X, Z, classes, tangent_map) for flow, tangent_map in tangents.ALL_MAPS.items()}
    for flow, tangent_map in flows.TANGENT_MAPS.items():
        by_flow[flow] |= tangents.velocity_gaps(X, classes, tangent_map)
    for flow, remainder in tangents.step_remainders(X, Z, classes).items():
        by_flow[flow][quantities.STEP_REMAINDER] = remainder
    for flow, speed in tangents.speeds(X, classes).items():
        by_flow.setdefault(flow, {})[quantities.SPEED] = speed
    return {"": general} | by_flow


def _by_variant(measurements: Iterator[models.Numbers]) -> models.Numbers:
    """Return each quantity as an array with one entry for each of several variants, such as weight decays."""
    variants = list(measurements)
    return {name: np.array([variant[name] for variant in variants]) for name in variants[0]}


def _measure_flow(X: np.ndarray, size: Sequence[int]) -> models.Numbers:
    """Return the quantities of one member's flow X, (times, P, C N), by time; nan if it was not carried to the end."""
    classes, examples, features = size
    if not np.isfinite(X).all():
        # made-up features give the names and shapes of the quantities, whose values are then all replaced by nan
        stand_in = np.random.default_rng(0).standard_normal(X.shape)
        return {name: np.full(np.shape(value), np.nan) for name, value in _measure_flow(stand_in, size).items()}
    omega = models.snr_singular_values(X, classes)
    # L_NC1 and L_NC2/3 are written out below, by eqs. 17 and 18. `collapse.decomposition` would solve with Sigma_T, and
    # so lose the digits of the deviations at the end of a flow, where class means are a million times as large
    # (`models.classifier`)
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
