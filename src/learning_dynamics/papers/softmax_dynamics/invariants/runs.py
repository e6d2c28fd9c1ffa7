"""Features and classifier by gradient flow and by gradient descent, and smooth curves for Lemma B.1."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.dynamics import ensemble
from learning_dynamics.dynamics.gradient_flow import LogSpan, Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def flow(
    *,
    counts: list[Count],
    dimension: Count,
    loss: model.Loss,
    init: model.Init,
    scale: Positive,
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from one class skew and one scale (eq. 12 with learning rate one).

    Returns
    -------
    Trajectory
        Series f (members, times, examples, d) and W (members, times, d, classes); constant labels.
    """
    return toy_flow.cell_flows(
        counts, dimension, loss=loss, init=init, scale=scale, seeds=seeds, integration=integration, seed=seed
    )


def descent(
    *,
    counts: list[Count],
    dimension: Count,
    loss: model.Loss,
    init: model.Init,
    scale: Positive,
    seeds: Count,
    learning_rates: list[Positive],
    coarse_steps: Count,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent from the same initial states with several learning rates.

    The largest rate takes `coarse_steps` steps; the others run to the same time, which is the learning
    rate times the number of steps.

    Returns
    -------
    Trajectory
        As in `flow`, members rate by rate; constant learning_rate, shape (members,). Labels are those of one rate's
        members, shape (seeds, examples, classes).
    """
    labels, initial = starts.cell_states(counts, dimension, init=init, scale=scale, seeds=seeds, seed=seed)
    field = model.vector_field(labels, dimension, loss)
    largest = max(learning_rates)
    # recorded steps of the largest rate; a rate that is k times smaller takes k times as many
    coarse = np.unique(np.round(np.linspace(0, coarse_steps, points)).astype(int))
    states = [
        ensemble.descent(field, initial, rate, np.round(coarse * (largest / rate)).astype(int))
        for rate in progress(learning_rates, "learning rates")
    ]
    series = starts.factors_of(np.concatenate(states), labels, dimension)
    constants = {"labels": labels, "learning_rate": np.repeat(np.array(learning_rates), seeds)}
    return Trajectory(largest * coarse, series, constants)


def matrix_curves(
    *, rows: Count, columns: Count, seeds: Count, points: Count, step: Positive, seed: Seed
) -> Trajectory:
    """Smooth random curves of matrices, M(t) = M_0 + M_1 sin t + M_2 cos 2t, Gaussian coefficients.

    Returns
    -------
    Trajectory
        Series M, shape (members, times, rows, columns), its derivative dM, and nearby: M at t + step * (-2, -1, 1, 2),
        shape (members, times, 4, rows, columns).
    """
    times = np.linspace(0.0, 2 * np.pi, points)
    coefficients = np.stack(
        [rng.standard_normal((3, rows, columns)) for rng in generators(seed, "matrix_curves", seeds)]
    )

    def curve(waves: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum of the coefficients times waves, shape (seeds, ..., rows, columns), of three waves (...)."""
        return np.einsum("k...,mkrc->m...rc", np.stack(waves), coefficients)

    def curve_at(t: np.ndarray) -> np.ndarray:
        return curve([np.ones_like(t), np.sin(t), np.cos(2 * t)])

    nearby = times[:, None] + step * np.array([-2, -1, 1, 2])
    derivative = curve([np.zeros_like(times), np.cos(times), -2 * np.sin(2 * times)])
    return Trajectory(times, {"M": curve_at(times), "dM": derivative, "nearby": curve_at(nearby)})


def linear_inputs(
    *,
    counts: list[Count],
    dimension: Count,
    inputs: Count,
    correlations: list[Fraction],
    scale: Positive,
    seeds: Count,
    integration: LogSpan,
    looser: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of linear features f = X Theta under cross-entropy, beside that of free features from the same f.

    X has rows of length one with `inputs` entries. Any two rows have the inner product that `correlations` lists, one
    value after the other: at 0 they are orthonormal, and the rows of f move as if they were free (eq. 12). The free
    flow is integrated once more at tolerances `looser` times as large, to see how errors of integration grow.

    Returns
    -------
    Trajectory
        Series linear, free and looser, all f, shape (members, times, examples, d); constant correlation of each
        member.
    """
    times, examples, classes = integration.times, sum(counts), len(counts)
    X, theta, W = [], [], []
    for correlation in correlations:
        # rows of the symmetric root times orthonormal rows have the inner products of the matrix itself
        values, vectors = np.linalg.eigh((1 - correlation) * np.eye(examples) + correlation)
        correlation_root = (vectors * np.sqrt(values)) @ vectors.T
        for rng in generators(seed, "softmax_dynamics.linear_inputs", seeds):
            rows = np.linalg.qr(rng.standard_normal((inputs, examples)))[0].T
            X.append(correlation_root @ rows)
            theta.append(scale * rng.standard_normal((inputs, dimension)))
            W.append(scale * rng.standard_normal((dimension, classes)))
    data, parameters, classifier = np.stack(X), np.stack(theta), np.stack(W)
    labels = np.repeat(model.one_hot(counts)[None], len(data), axis=0)

    linear = toy_flow.flow(
        labels,
        model.pack(parameters, classifier),
        dimension,
        loss="cross_entropy",
        times=times,
        tolerances=integration,
        inputs=data,
    )
    features = data[:, None] @ model.unpack(linear, inputs, dimension, classes)[0]
    initial = model.pack(data @ parameters, classifier)
    looser_tolerances = Tolerances(looser * integration.rtol, looser * integration.atol)
    free, loose = (
        toy_flow.flow(labels, initial, dimension, loss="cross_entropy", times=times, tolerances=tolerances)
        for tolerances in (integration, looser_tolerances)
    )
    series = {
        "linear": features,
        "free": starts.factors_of(free, labels, dimension)["f"],
        "looser": starts.factors_of(loose, labels, dimension)["f"],
    }
    constants = {"correlation": np.repeat(np.array(correlations), seeds)}
    return Trajectory(times, series, constants, undecided=starts.undecided(free))
