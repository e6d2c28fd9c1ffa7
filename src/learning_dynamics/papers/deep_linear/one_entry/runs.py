"""Gradient flow of small networks on one linear measurement: one entry, and one aligned with the matrix.

W is the product of the layers. A measurement is <A, W>, the sum of the products of entries. The loss is half its
squared difference from `target`; `one_measurement` needs no target.
"""

from typing import Any

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.papers.deep_linear import networks, recorded
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def aligned_measurement(
    *,
    depths: list[Count],
    ratio: Fraction,
    start: Positive,
    target: Positive,
    integration: Span,
) -> Trajectory:
    """Flow on half the squared error of <A, W> with A = diag(1, ratio), from `start` times the identity.

    As `ratio` is at most one, the second singular value of W belongs to A's second entry.

    Returns
    -------
    Trajectory
        Series end_to_end, W, shape (depths, times, 2, 2). Constants of shape (depths,): `depth`, and `member`, which is
        zero, as there is one start.
    """
    starts = [(depth, 0, start * np.eye(2)) for depth in depths]
    return _flows(np.diag([1.0, ratio]), starts, target, integration)


def one_entry(
    *,
    depths: list[Count],
    ratio: Positive,
    start: Positive,
    target: Positive,
    seeds: Count,
    integration: Span,
    seed: Seed,
) -> Trajectory:
    """Flow on half the squared error of the upper right entry, from random balanced layers.

    Their product has the singular values `start` and `ratio` times `start`, and singular vectors turned at random; its
    determinant is positive.

    Returns
    -------
    Trajectory
        Series end_to_end, W, shape (members, times, 2, 2). Constants of shape (members,): `depth`, and `member`, the
        number of the start. Members are all pairs of a depth and a start; starts vary fastest.
    """
    rngs = generators(seed, "deep_linear.single_measurement", seeds)
    matrices = [_rotation(rng) @ np.diag([start, ratio * start]) @ _rotation(rng).T for rng in rngs]
    starts = [(depth, member, W) for depth in depths for member, W in enumerate(matrices)]
    return _flows(np.array([[0.0, 1.0], [0.0, 0.0]]), starts, target, integration)


def one_measurement(
    *,
    depths: list[Count],
    measurement: list[NonNegative],
    start: Positive,
    growth: Positive,
    points: Count,
    seeds: Count,
    integration: Tolerances,
    seed: Seed,
) -> Trajectory:
    """The path of balanced layers under one linear measurement <A, W>, as far as W grows `growth` times.

    From one start, flows on different losses of <A, W> go along one path, at different speeds and to different ends; a
    larger target is further along. So the run follows the path of W in the direction in which <A, W> rises, by its
    length: dW has the length ||dW||_F / ||W||_F, so that log ||W||_F moves by one in a length of one where dW is
    parallel to W. The path's length is log `growth`. A is diagonal with the entries `measurement`: with a single one
    and zeros it observes one entry. The first W is Gaussian, with entries of standard deviation `start`, so that
    singular vectors of A and W have nothing to do with each other.

    Returns
    -------
    Trajectory
        Length along the path is recorded instead of time. Series end_to_end, W, shape (members, points, n, n) for n
        entries of `measurement`. Constants of shape (members,): `depth`, and `member`, the number of the start. Members
        are all pairs of a depth and a start; starts vary fastest.
    """
    A = np.diag(measurement)
    size = len(measurement)
    length = np.linspace(0.0, np.log(growth), points)
    members = []
    normal = [rng.standard_normal((size, size)) for rng in generators(seed, "deep_linear.one_measurement", seeds)]
    for depth in depths:
        widths = [size] * (depth + 1)
        # flow of the layers in the direction in which <A, W> rises: the loss's gradient at W is a multiple of A
        ascent = networks.flow_field(lambda W: -A, widths)

        def path_velocity(
            time: float, state: np.ndarray, widths: list[int] = widths, ascent: networks.Field = ascent
        ) -> Any:
            # `step` is the velocity of the packed layers, `velocity` that of W; both are divided by ||velocity|| /
            # ||W||, so that W moves at unit speed in units of its norm. Defaults bind what the loop changes
            layers, step = networks.unpack(state, widths), ascent(time, state)
            velocity = networks.product_change(layers, networks.unpack(step, widths))
            return step * np.linalg.norm(networks.product(layers)) / np.linalg.norm(velocity)

        for member, matrix in enumerate(normal):
            initial = networks.pack(networks.balanced_layers(start * matrix, widths))
            states = networks.flow(path_velocity, initial, length, integration)
            path = networks.product(networks.unpack(states, widths))
            members.append({"end_to_end": path, "depth": depth, "member": member})
    return recorded.trajectory(length, members, "end_to_end")


def _flows(A: np.ndarray, starts: list[tuple[int, int, np.ndarray]], target: float, integration: Span) -> Trajectory:
    """Flow on (<A, W> - target)^2 / 2 from several starts, each with its depth, its number and its first W.

    Layers are balanced at the start. Series and constants are those of `one_entry`.
    """
    # close together at first, where depths differ by orders of magnitude in how fast they move (the cube is chosen)
    times = integration.horizon * np.linspace(0.0, 1.0, integration.points) ** 3
    members = []
    for depth, member, W in starts:
        layers = networks.balanced_layers(W, [2] * (depth + 1))
        path = networks.path(layers, lambda W: (np.sum(A * W) - target) * A, times, integration)
        members.append({"end_to_end": path, "depth": depth, "member": member})
    return recorded.trajectory(times, members, "end_to_end")


def _rotation(rng: np.random.Generator) -> np.ndarray:
    """Return a rotation of the plane by a random angle, shape (2, 2)."""
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
