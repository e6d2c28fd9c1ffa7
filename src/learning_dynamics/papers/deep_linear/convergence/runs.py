"""Descent from several initialisations: where it converges, and what the guarantee assumes."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.deep_linear import convergence_time
from learning_dynamics.papers.deep_linear import descent as deep_descent
from learning_dynamics.papers.deep_linear import models as deep_linear
from learning_dynamics.papers.deep_linear.orthogonal import orthogonal
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


def initialisation_range(
    data: Arrays,
    *,
    depths: list[Count],
    width: Count,
    deviations: list[Positive],
    learning_rates: list[Positive],
    tolerance: Positive,
    max_steps: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Steps to the optimum on whitened data, from layer-wise Gaussian and from balanced initialisation.

    `deviations` are those of each layer's entries, and of the end-to-end matrix's entries for the balanced
    initialisation; the learning rate is the one that needs the fewest steps.

    Returns
    -------
    Trajectory
        Series steps, learning_rate (-1 and 0 where nothing converged); constants depth, balanced, deviation,
        member, size (Frobenius norm of the end-to-end matrix at the start).
    """
    X, Y = data["X"], data["Y"][:, 0]
    # with whitened inputs the correlation of inputs and labels is all that is left of the data
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    target = Vt.T @ (U.T @ Y)
    target /= np.linalg.norm(target)
    rows = []
    for depth in depths:
        widths = [len(target), *[width] * (depth - 1), 1]
        rngs = generators(seed, f"deep_linear.initialisation_range.{depth}", seeds)
        normal = [[rng.standard_normal(shape) for shape in zip(widths[1:], widths[:-1], strict=True)] for rng in rngs]
        direction = [rng.standard_normal((1, len(target))) for rng in rngs]
        for balanced in (False, True):
            for deviation in progress(deviations, f"depth {depth}"):
                for member in range(seeds):
                    if balanced:
                        layers = deep_linear.balanced_layers(deviation * direction[member], widths)
                    else:
                        layers = [deviation * layer for layer in normal[member]]
                    steps, rate = convergence_time.fewest_steps(layers, target, learning_rates, tolerance, max_steps)
                    size = np.linalg.norm(deep_linear.product(layers))
                    rows.append((depth, balanced, deviation, member, steps, np.nan_to_num(rate), size))
    depth_of, balanced_of, deviation_of, member_of, steps_of, rate_of, size_of = np.array(rows).T
    return Trajectory(
        AT_THE_END,
        {"steps": steps_of[:, None], "learning_rate": rate_of[:, None]},
        {"depth": depth_of, "balanced": balanced_of, "deviation": deviation_of, "member": member_of, "size": size_of},
    )


def guarantee(
    *,
    depth: Count,
    singular_values: list[Positive],
    margin: Positive,
    learning_rate: Positive,
    rescaling: Positive,
    iterations: Count,
    points: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Descent on half the squared distance from a square target: with the assumptions, and without each.

    Cases: 0 keeps both (balanced, and closer to the target than any matrix with a singular value of at most
    `margin`); 1 is balanced but has the target's last singular value with the wrong sign; 2 is case 0 with its first
    layer multiplied by `rescaling` and its second divided by it.

    Returns
    -------
    Trajectory
        Series end_to_end; constants target, case, member, imbalance (by member).
    """
    values = np.array(singular_values)
    widths = [len(values)] * (depth + 1)
    starts, targets, labels = [], [], []
    for member, rng in enumerate(generators(seed, "deep_linear.guarantee", seeds)):
        U, V = orthogonal(rng, len(values)), orthogonal(rng, len(values))
        target = (U * values) @ V.T
        step = rng.standard_normal(target.shape)
        close = target + step * (values.min() - margin) / np.linalg.norm(step)
        flipped = (U * np.append(values[:-1], -values[-1])) @ V.T
        kept = deep_linear.balanced_layers(close, widths)
        uneven = [kept[0] * rescaling, kept[1] / rescaling, *kept[2:]]
        for case, layers in enumerate((kept, deep_linear.balanced_layers(flipped, widths), uneven)):
            starts.append(layers)
            targets.append(target)
            labels.append((case, member))
    layers = [np.stack(layer) for layer in zip(*starts, strict=True)]
    goal = np.array(targets)
    record = np.linspace(0, iterations, points).round().astype(int)
    # beyond this norm a run has diverged; it is kept there, where the next step would overflow
    kept_layers = deep_descent.descend(layers, lambda W: W - goal, learning_rate, record, bound=1e3)
    case_of, member_of = np.array(labels).T
    return Trajectory(
        record.astype(float),
        {"end_to_end": np.stack([deep_linear.product(each) for each in kept_layers], axis=1).clip(-1e9, 1e9)},
        {"target": goal, "case": case_of, "member": member_of, "imbalance": deep_linear.imbalance(layers)},
    )
