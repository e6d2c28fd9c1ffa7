"""Features and classifier by gradient flow and by gradient descent, and smooth curves for Lemma B.1.

f are the features, a row of length d for each example, and W is the classifier, a column for each class. They move as
eq. 12 says. A draw is one random start, or one random curve; the setting `seeds` is the number of draws.
"""

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
    """Gradient flow from starts with one list of class sizes and one scale (eq. 12 with learning rate one).

    Returns
    -------
    Trajectory
        Series f (members, times, examples, d) and W (members, times, d, classes); constant labels, one-hot, (members,
        examples, classes). Members are draws.
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
    """Gradient descent from the same starts with several learning rates.

    The largest rate takes `coarse_steps` steps. The others run to the same time, where time is the learning rate times
    the number of steps; the recorded times agree exactly if the largest rate is a multiple of each.

    Returns
    -------
    Trajectory
        Series f and W with the shapes that they have in `flow`. Members are all pairs of a learning rate and a draw;
        draws vary fastest. Constants are learning_rate, (members,), and labels, (seeds, examples, classes), with one
        entry for each draw, since all rates have the same.
    """
    labels, initial = starts.cell_states(counts, dimension, init=init, scale=scale, seeds=seeds, seed=seed)
    field = model.vector_field(labels, dimension, loss)
    largest = max(learning_rates)
    # numbers of steps after which the largest rate is recorded; a rate k times as small takes k times as many
    coarse = np.unique(np.round(np.linspace(0, coarse_steps, points)).astype(int))
    states = [
        ensemble.descent(field, initial, rate, np.round(coarse * (largest / rate)).astype(int))
        for rate in progress(learning_rates, "learning rates")
    ]
    # one array of all members, rate by rate; of `labels`, those of one rate, only the numbers of rows and columns count
    series = starts.factors_of(np.concatenate(states), labels, dimension)
    constants = {"labels": labels, "learning_rate": np.repeat(np.array(learning_rates), seeds)}
    return Trajectory(largest * coarse, series, constants)


def matrix_curves(
    *, rows: Count, columns: Count, seeds: Count, points: Count, step: Positive, seed: Seed
) -> Trajectory:
    """Smooth random curves of matrices, M(t) = M_0 + M_1 sin t + M_2 cos 2t, with Gaussian coefficients.

    Returns
    -------
    Trajectory
        Series M and its derivative dM, (seeds, times, rows, columns), and nearby, (seeds, times, 4, rows, columns): M
        at t + step * (-2, -1, 1, 2).
    """
    times = np.linspace(0.0, 2 * np.pi, points)
    coefficients = np.stack(
        [rng.standard_normal((3, rows, columns)) for rng in generators(seed, "matrix_curves", seeds)]
    )

    def curve(waves: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum over k of wave k times M_k, (seeds, ..., rows, columns); each of three waves is (...)."""
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
    """Gradient flow of linear features f = X Theta under cross-entropy, and of free features from the same f and W.

    X has a row of length one for each example, with `inputs` entries. Within a member any two rows have the same inner
    product, one of `correlations`. At 0 they are orthonormal, and the rows of f move as if they were free (eq. 12). The
    free flow is integrated once more at tolerances `looser` times as large, to see how errors of integration grow.

    Returns
    -------
    Trajectory
        Series linear, free and looser: the features of the linear flow, of the free flow and of the free flow at the
        looser tolerances, each (members, times, examples, d). Constant correlation, (members,). Members are all pairs
        of a correlation and a draw; draws vary fastest.
    """
    times, examples, classes = integration.times, sum(counts), len(counts)
    X, theta, W = [], [], []
    for correlation in correlations:
        # R rows, with R the symmetric root of the matrix of inner products and orthonormal rows, has these inner
        # products
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
    # `linear` has Theta, with a row for each input, where free states have f with a row for each example: hence
    # `inputs`. `data` gets an axis of length one for times.
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
