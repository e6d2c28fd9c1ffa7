"""Singular values on their way: in matrix completion, and under one measurement of a 2 × 2 matrix."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.papers.deep_linear import descent as deep_descent
from learning_dynamics.papers.deep_linear import models as deep_linear
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def singular_value_paths(
    data: Arrays,
    *,
    depths: list[Count],
    scale: Positive,
    learning_rates: list[Positive],
    iterations: list[Count],
    points: Count,
    draws: Count,
) -> Trajectory:
    """Plain gradient descent from scaled identity layers, whose product is scale times the identity.

    Learning rates and numbers of iterations are one for each depth.

    Returns
    -------
    Trajectory
        Series end_to_end at `points` steps, evenly spaced; constants truth, mask (by draw), draw, depth,
        learning_rate, iterations (by member).
    """
    truth, mask = data["truth"][:draws], data["mask"][:draws]
    weight = 2 * mask / mask.sum(axis=(-2, -1), keepdims=True)
    identity = np.broadcast_to(np.eye(truth.shape[-1]), truth.shape)
    paths = []
    for depth, rate, last in zip(depths, learning_rates, iterations, strict=True):
        steps = np.linspace(0, last, points).round().astype(int)
        start = [scale ** (1 / depth) * identity] * depth
        kept = deep_descent.descend(start, lambda W: weight * (W - truth), rate, steps)
        paths.append(np.stack([deep_linear.product(layers) for layers in kept], axis=1))
    by_member = {"depth": depths, "learning_rate": learning_rates, "iterations": iterations}
    constants = {name: np.repeat(np.array(values), draws) for name, values in by_member.items()}
    return Trajectory(
        np.linspace(0, 1, points),
        {"end_to_end": np.concatenate(paths)},
        {"truth": truth, "mask": mask, "draw": np.tile(np.arange(draws), len(depths)), **constants},
    )


def single_measurement(
    *,
    measurement: Literal["aligned", "entry"],
    depths: list[Count],
    ratio: Positive,
    start: Positive,
    target: Positive,
    horizon: Positive,
    points: Count,
    seeds: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of 2 x 2 networks on half the squared error of one measurement <A, W>.

    aligned: A = diag(1, ratio), from `start` times the identity. entry: A picks the upper right entry, from
    random balanced layers with singular values `start` and `ratio` times it.

    Returns
    -------
    Trajectory
        Series end_to_end; constants depth, member (by member).
    """
    rngs = generators(seed, "deep_linear.single_measurement", seeds)
    rotations = [[_rotation(rng), _rotation(rng)] for rng in rngs]
    # close together at first, where depths differ by orders of magnitude in how fast they move
    times = horizon * np.linspace(0.0, 1.0, points) ** 3
    paths, labels = [], []
    for depth in depths:
        for member in range(seeds if measurement == "entry" else 1):
            if measurement == "aligned":
                A, W = np.diag([1.0, ratio]), start * np.eye(2)
            else:
                A = np.array([[0.0, 1.0], [0.0, 0.0]])
                U, V = rotations[member]
                W = U @ np.diag([start, ratio * start]) @ V.T
            widths = [2] * (depth + 1)
            flow = integrate(
                _measured_once(A, target, widths),
                deep_linear.pack(deep_linear.balanced_layers(W, widths)),
                times,
                rtol=rtol,
                atol=atol,
            )
            paths.append(deep_linear.product(deep_linear.unpack(flow.states, widths)))
            labels.append((depth, member))
    depth_of, member_of = np.array(labels).T
    return Trajectory(times, {"end_to_end": np.array(paths)}, {"depth": depth_of, "member": member_of})


def _measured_once(A: np.ndarray, target: float, widths: list[int]) -> deep_linear.Field:
    """Return gradient flow's field for half the squared error of <A, W>."""
    return deep_linear.flow_field(lambda W: (np.sum(A * W) - target) * A, widths)


def _rotation(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
