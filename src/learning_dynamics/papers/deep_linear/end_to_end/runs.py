"""Layers under gradient flow and descent, beside the dynamics of their product."""

from dataclasses import replace
from itertools import pairwise
from typing import Literal

import numpy as np

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import descent, networks
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory

COARSER = 10.0  # a second integration has this many times the tolerance, which shows what the first one's errors are


def end_to_end_flow(
    *,
    init: Literal["balanced", "gaussian"],
    depths: list[Count],
    inputs: Count,
    width: Count,
    outputs: Count,
    start: Positive,
    seeds: Count,
    integration: Span,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of the layers, beside the end-to-end dynamics integrated on their own.

    The loss is half the squared distance from a Gaussian target. Entries of the first end-to-end matrix (balanced),
    or of each layer (gaussian), have standard deviation `start`.

    Returns
    -------
    Trajectory
        Series layers (as one vector, padded with zeros), direct (the end-to-end dynamics), one_layer_fewer (those of
        depth N - 1), coarser (direct again, at ten times the tolerances), integrated (the singular values that
        integrated rates give, shape (3, r): the law's, without its factor N, and with exponent 2 - 1/N); constants
        target, depth, member.
    """
    coarser = replace(integration, rtol=COARSER * integration.rtol, atol=COARSER * integration.atol)
    longest = max(_size([inputs, *[width] * (depth - 1), outputs]) for depth in depths)
    series: dict[str, list] = {name: [] for name in ("layers", "direct", "one_layer_fewer", "coarser", "integrated")}
    targets, labels = [], []
    for depth in depths:
        widths = [inputs, *[width] * (depth - 1), outputs]
        rngs = generators(seed, f"deep_linear.end_to_end_flow.{depth}", seeds)
        for member, rng in enumerate(progress(rngs, f"depth {depth}")):
            target = rng.standard_normal((outputs, inputs))
            if init == "balanced":
                layers = networks.balanced_layers(start * rng.standard_normal(target.shape), widths)
            else:
                shapes = zip(widths[1:], widths[:-1], strict=True)
                layers = [start * rng.standard_normal(shape) for shape in shapes]
            states = _all_flows(layers, target, widths, integration)
            states["coarser"] = _all_flows(layers, target, widths, coarser)["direct"]
            for name, values in states.items():
                series[name].append(values)
            series["layers"][-1] = np.pad(series["layers"][-1], ((0, 0), (0, longest - _size(widths))))
            targets.append(target)
            labels.append((depth, member))
    depth_of, member_of = np.array(labels).T
    arrays = {name: np.array(values) for name, values in series.items()}
    return Trajectory(
        integration.times,
        arrays,
        {"target": np.array(targets), "depth": depth_of, "member": member_of},
        undecided=~np.isfinite(arrays["direct"] + arrays["coarser"]).all(axis=(1, 2, 3)),
    )


def _all_flows(
    layers: networks.Layers, target: np.ndarray, widths: list[int], integration: Span
) -> dict[str, np.ndarray]:
    """Integrate layers, two end-to-end dynamics and singular-value rates as one state."""
    depth, split, size = len(layers), _size(widths), target.size
    network = networks.flow_field(lambda W: W - target, widths)
    W0 = networks.product(layers)
    depths = (depth, depth - 1)

    def field(time: float, state: np.ndarray) -> np.ndarray:
        W = networks.product(networks.unpack(state[:split], widths))
        matrices = state[split : split + 2 * size].reshape(2, *target.shape)
        velocities = [networks.end_to_end_velocity(M, M - target, N) for M, N in zip(matrices, depths, strict=True)]
        law_rates = networks.singular_value_rates(W, W - target, depth)
        values = np.linalg.svd(W, compute_uv=False)
        rates = [law_rates, law_rates / depth, law_rates * values ** (1 / depth)]
        return np.concatenate([network(time, state[:split]), np.ravel(velocities), np.ravel(rates)])

    values = np.linalg.svd(W0, compute_uv=False)
    initial = np.concatenate([networks.pack(layers), *[W0.ravel()] * 2, *[values] * 3])
    states = networks.flow(field, initial, integration.times, integration)
    end_to_end = states[:, split : split + 2 * size].reshape(len(states), 2, *target.shape)
    return {
        "layers": states[:, :split],
        "direct": end_to_end[:, 0],
        "one_layer_fewer": end_to_end[:, 1],
        "integrated": states[:, split + 2 * size :].reshape(len(states), 3, len(values)),
    }


def _size(widths: list[int]) -> int:
    return sum(rows * columns for columns, rows in pairwise(widths))


def balanced_velocity(
    *, depths: list[Count], size: Count, smallest: Positive, largest: Positive, seeds: Count, seed: Seed
) -> Trajectory:
    """How gradient flow moves one end-to-end matrix through balanced layers of every depth.

    The logarithms of the matrix's singular values are drawn between those of `smallest` and `largest`, one in each of
    `size` equal parts; the loss's gradient is Gaussian. Velocities follow from those of the layers by the product rule.

    Returns
    -------
    Trajectory
        Series end_to_end and velocity, shape (members, 1, size, size); constants gradient, depth, member.

    Raises
    ------
    ProjectError
        If the smallest singular value that the matrix may have is above the largest.
    """
    if smallest > largest:
        raise ProjectError(f"smallest ({smallest:g}) must be at most largest ({largest:g})")
    parts = np.linspace(np.log(smallest), np.log(largest), size + 1)
    matrices, velocities, gradients, labels = [], [], [], []
    for member, rng in enumerate(generators(seed, "deep_linear.balanced_velocity", seeds)):
        values = np.exp(rng.uniform(parts[:-1], parts[1:]))
        W = (haar(rng, size) * values) @ haar(rng, size).T
        gradient = rng.standard_normal((size, size))
        for depth in depths:
            layers = networks.balanced_layers(W, [size] * (depth + 1))
            changes = networks.layer_gradients(layers, gradient)
            product_changes = [
                networks.product([*layers[:j], -change, *layers[j + 1 :]]) for j, change in enumerate(changes)
            ]
            matrices.append(W)
            velocities.append(np.sum(product_changes, axis=0))
            gradients.append(gradient)
            labels.append((depth, member))
    depth_of, member_of = np.array(labels).T
    return Trajectory(
        np.zeros(1),
        {"end_to_end": np.array(matrices)[:, None], "velocity": np.array(velocities)[:, None]},
        {"gradient": np.array(gradients), "depth": depth_of, "member": member_of},
    )


def approximate_balance(
    *,
    depth: Count,
    size: Count,
    scales: list[Positive],
    horizon: Positive,
    seeds: Count,
    integration: Tolerances,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from Gaussian layers of ever smaller entries, and from identity layers.

    The target is Gaussian, with entries of standard deviation size^(-1/2). A flow from entries of deviation s runs
    for a time of horizon / s^(N-2), in which it leaves the neighbourhood of zero. Scale 0 stands for identity layers.

    Returns
    -------
    Trajectory
        Series layers, at the start and at the end; constants scale, member.
    """
    widths = [size] * (depth + 1)
    flows, labels = [], []
    for member, rng in enumerate(generators(seed, "deep_linear.approximate_balance", seeds)):
        target = rng.standard_normal((size, size)) / np.sqrt(size)
        normal = [rng.standard_normal((size, size)) for _ in range(depth)]
        field = networks.flow_field(networks.towards(target), widths)
        for scale in (0.0, *scales):
            layers = [scale * layer for layer in normal] if scale else [np.eye(size)] * depth
            last_time = horizon / (scale or 1.0) ** (depth - 2)
            times = np.array([0.0, last_time])
            flows.append(networks.flow(field, networks.pack(layers), times, integration))
            labels.append((scale, member))
    scale_of, member_of = np.array(labels).T
    states = np.array(flows)
    return Trajectory(
        np.array([0.0, 1.0]),
        {"layers": states},
        {"scale": scale_of, "member": member_of.astype(int)},
        undecided=~np.isfinite(states).all(axis=(1, 2)),
    )


def balancedness_descent(
    *,
    depth: Count,
    inputs: Count,
    width: Count,
    outputs: Count,
    start: Positive,
    horizon: Positive,
    coarsest: Positive,
    halvings: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent to one time with ever smaller steps, from balanced layers.

    Returns
    -------
    Trajectory
        Series gram_differences, as one vector, at the start and at the end; constants learning_rate, member.
    """
    widths = [inputs, *[width] * (depth - 1), outputs]
    starts, targets = [], []
    for rng in generators(seed, "deep_linear.balancedness_descent", seeds):
        targets.append(rng.standard_normal((outputs, inputs)))
        starts.append(networks.balanced_layers(start * rng.standard_normal((outputs, inputs)), widths))
    layers, goal = [np.stack(layer) for layer in zip(*starts, strict=True)], np.array(targets)
    differences, rates = [], coarsest / 2.0 ** np.arange(halvings + 1)
    for rate in rates:
        record = np.array([0, round(horizon / rate)])
        recorded_layers = descent.descend(layers, lambda W: W - goal, rate, record)
        differences.append(
            np.stack([_flatten(networks.gram_differences(matrices)) for matrices in recorded_layers], axis=1)
        )
    return Trajectory(
        np.array([0.0, horizon]),
        {"gram_differences": np.concatenate(differences)},
        {"learning_rate": np.repeat(rates, seeds), "member": np.tile(np.arange(seeds), len(rates))},
    )


def _flatten(matrices: networks.Layers) -> np.ndarray:
    return np.concatenate([matrix.reshape(len(matrix), -1) for matrix in matrices], axis=1)
