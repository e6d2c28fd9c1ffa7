"""Layers under gradient flow and descent, beside the dynamics of their product."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.papers.deep_linear import descent as deep_descent
from learning_dynamics.papers.deep_linear import models as deep_linear
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectory import Trajectory


def end_to_end_flow(
    *,
    init: Literal["balanced", "gaussian"],
    depths: list[Count],
    inputs: Count,
    width: Count,
    outputs: Count,
    start: Positive,
    horizon: Positive,
    points: Count,
    seeds: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of the layers, beside the end-to-end dynamics integrated on their own.

    The loss is half the squared distance from a Gaussian target. The rates that the theory gives the singular
    values are integrated along. Entries of the first end-to-end matrix (balanced), or of each layer
    (gaussian), have standard deviation `start`.

    Returns
    -------
    Trajectory
        Series end_to_end, direct, singular_values (the integrated ones), gram_differences (W_{j+1}^T W_{j+1} -
        W_j W_j^T, as a vector padded with zeros); constants target, depth, member.
    """
    times = np.linspace(0.0, horizon, points)
    rows: dict[str, list] = {"end_to_end": [], "direct": [], "singular_values": [], "gram_differences": []}
    targets, labels = [], []
    longest = (max(depths) - 1) * width**2
    for depth in depths:
        widths = [inputs, *[width] * (depth - 1), outputs]
        rngs = generators(seed, f"deep_linear.end_to_end_flow.{depth}", seeds)
        for member, rng in enumerate(progress(rngs, f"depth {depth}")):
            target = rng.standard_normal((outputs, inputs))
            if init == "balanced":
                layers = deep_linear.balanced_layers(start * rng.standard_normal(target.shape), widths)
            else:
                shapes = zip(widths[1:], widths[:-1], strict=True)
                layers = [start * rng.standard_normal(shape) for shape in shapes]
            states = _both_flows(layers, target, widths, times, rtol, atol)
            split = np.cumsum([layer.size for layer in layers])[-1]
            flow = deep_linear.unpack(states[:, :split], widths)
            rows["end_to_end"].append(deep_linear.product(flow))
            rows["direct"].append(states[:, split : split + target.size].reshape(-1, *target.shape))
            rows["singular_values"].append(states[:, split + target.size :])
            rows["gram_differences"].append(_gram_differences(flow, longest))
            targets.append(target)
            labels.append((depth, member))
    depth_of, member_of = np.array(labels).T
    series = {name: np.array(values) for name, values in rows.items()}
    return Trajectory(times, series, {"target": np.array(targets), "depth": depth_of, "member": member_of})


def _both_flows(
    layers: deep_linear.Layers, target: np.ndarray, widths: list[int], times: np.ndarray, rtol: float, atol: float
) -> np.ndarray:
    """Integrate layers, end-to-end dynamics and singular-value rates as one state."""
    depth = len(layers)
    split = sum(layer.size for layer in layers)
    network = deep_linear.flow_field(lambda W: W - target, widths)

    def field(time: float, state: np.ndarray) -> np.ndarray:
        W = deep_linear.product(deep_linear.unpack(state[:split], widths))
        direct = state[split : split + target.size].reshape(target.shape)
        return np.concatenate(
            [
                network(time, state[:split]),
                deep_linear.end_to_end_velocity(direct, direct - target, depth).ravel(),
                deep_linear.singular_value_rates(W, W - target, depth),
            ]
        )

    W = deep_linear.product(layers)
    initial = np.concatenate([deep_linear.pack(layers), W.ravel(), np.linalg.svd(W, compute_uv=False)])
    return integrate(field, initial, times, rtol=rtol, atol=atol).states


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
        Series gram_differences at the start and at the end; constants learning_rate, member.
    """
    widths = [inputs, *[width] * (depth - 1), outputs]
    starts, targets = [], []
    for rng in generators(seed, "deep_linear.balancedness_descent", seeds):
        targets.append(rng.standard_normal((outputs, inputs)))
        starts.append(deep_linear.balanced_layers(start * rng.standard_normal((outputs, inputs)), widths))
    layers, goal = [np.stack(layer) for layer in zip(*starts, strict=True)], np.array(targets)
    longest, found, rates = (depth - 1) * width**2, [], coarsest / 2.0 ** np.arange(halvings + 1)
    for rate in rates:
        record = np.array([0, round(horizon / rate)])
        kept = deep_descent.descend(layers, lambda W: W - goal, rate, record)
        found.append(np.stack([_gram_differences(each, longest) for each in kept], axis=1))
    return Trajectory(
        np.array([0.0, horizon]),
        {"gram_differences": np.concatenate(found)},
        {"learning_rate": np.repeat(rates, seeds), "member": np.tile(np.arange(seeds), len(rates))},
    )


def _gram_differences(layers: deep_linear.Layers, longest: int) -> np.ndarray:
    pairs = zip(layers[1:], layers[:-1], strict=True)
    flat = [
        (np.swapaxes(above, -1, -2) @ above - below @ np.swapaxes(below, -1, -2)).reshape(len(above), -1)
        for above, below in pairs
    ]
    joined = np.concatenate(flat, axis=1)
    return np.pad(joined, ((0, 0), (0, longest - joined.shape[1])))
