"""What is simulated: gradient descent and gradient flow of deep linear networks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from learning_dynamics.dynamics import convergence_time, deep_descent, lp_regression, matrix_factorisation
from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.errors import ProjectError
from learning_dynamics.models import deep_linear
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory

AT_THE_END = np.zeros(1)  # the time axis of runs that keep their end alone


# -- matrix completion ----------------------------------------------------------------------------


def completion(
    data: Arrays,
    *,
    depths: list[Count],
    scales: list[list[Positive]],
    learning_rates: list[list[Positive]],
    optimiser: Literal["gradient_descent", "group_rmsprop"],
    stop: Positive,
    max_steps: Count,
    device: Literal["cpu", "cuda"] = "cpu",
    seed: Seed,
) -> Trajectory:
    """Deep matrix factorisation from small Gaussian layers, for every draw, depth, scale and learning rate.

    Entries of each layer have standard deviation scale^(1/N) n^(-1/2); a draw starts in the same direction at
    every scale and learning rate.

    Parameters
    ----------
    data : dict
        truth and mask, shape (draws, n, n).
    scales, learning_rates : list of list of float
        One list for each depth.

    Returns
    -------
    Trajectory
        Series end_to_end; constants truth, mask (by draw); depth, draw, scale, learning_rate, loss, steps (by
        member).
    """
    if not len(depths) == len(scales) == len(learning_rates):
        raise ProjectError(
            f"{len(depths)} depths need as many lists of scales ({len(scales)}) and of learning rates "
            f"({len(learning_rates)})"
        )
    truth, mask = data["truth"], data["mask"]
    draws, size = truth.shape[:2]
    rngs = generators(seed, "deep_linear.completion", draws)
    normal = np.array([rng.standard_normal((max(depths), size, size)) for rng in rngs])
    found: dict[str, list] = {name: [] for name in ("end_to_end", "loss", "steps", "draw", "scale", "rate", "depth")}
    for depth, some_scales, some_rates in zip(depths, scales, learning_rates, strict=True):
        cells = [(d, s, r) for s in some_scales for r in some_rates for d in range(draws)]
        draw = np.array([cell[0] for cell in cells])
        scale, rate = np.array([cell[1:] for cell in cells]).T
        deviation = (scale ** (1 / depth) / np.sqrt(size))[:, None, None]
        layers = [normal[draw, j] * deviation for j in range(depth)]
        ended = matrix_factorisation.descend(
            layers, truth[draw], mask[draw], rate, stop=stop, max_steps=max_steps, optimiser=optimiser, device=device
        )
        values = (ended.end_to_end, ended.loss, ended.steps, draw, scale, rate, np.full(len(draw), depth))
        for name, value in zip(found, values, strict=True):
            found[name].append(value)
    by_member = {name: np.concatenate(values) for name, values in found.items()}
    by_member["learning_rate"] = by_member.pop("rate")
    end_to_end = by_member.pop("end_to_end")[:, None]
    return Trajectory(AT_THE_END, {"end_to_end": end_to_end}, {"truth": truth, "mask": mask, **by_member})


def nuclear_norm(data: Arrays) -> Trajectory:
    """The convex baseline, which the data set already holds."""
    return Trajectory(
        AT_THE_END,
        {"minimiser": data["minimiser"][:, None]},
        {"truth": data["truth"], "mask": data["mask"], "gap": data["gap"]},
    )


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


# -- optimisation ---------------------------------------------------------------------------------


def lp_descent(
    data: Arrays,
    *,
    exponent: Positive,
    depths: list[Count],
    start: Positive,
    lowest_rate: Positive,
    highest_rate: Positive,
    rates: Count,
    tolerance: Positive,
    max_steps: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Descent on an l_p regression at each depth, by the layers and by the end-to-end update, over rates.

    Returns
    -------
    Trajectory
        Series loss, at the rate that reaches the tolerance first (relative excess over the least loss);
        constants iterations (by member and rate; -1 where it was not reached), learning_rate, least_loss and,
        by member, depth, end_to_end (whether by that update), start.
    """
    X, Y = data["X"], data["Y"][:, 0]
    least = lp_regression.optimum(X, Y, exponent)
    grid = np.geomspace(lowest_rate, highest_rate, rates)
    directions = np.array(
        [rng.standard_normal(X.shape[1]) for rng in generators(seed, "deep_linear.lp_descent", seeds)]
    )
    starts = start * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    losses, iterations, labels = [], [], []
    cells = [(depth, rule) for depth in depths for rule in ("network", "end_to_end") if depth > 1 or rule == "network"]
    for depth, rule in progress(cells, f"l_{exponent:g} regression"):
        found = lp_regression.descend(
            np.repeat(starts, rates, axis=0),
            X,
            Y,
            exponent=exponent,
            depth=depth,
            rule=rule,  # type: ignore[arg-type]
            learning_rate=np.tile(grid, seeds),
            target=least * (1 + tolerance),
            max_steps=max_steps,
        )
        reached = found.iterations.reshape(seeds, rates)
        best = np.where(reached < 0, max_steps + 1, reached).argmin(axis=1)
        losses.append(found.losses.reshape(seeds, rates, -1)[np.arange(seeds), best])
        iterations.append(reached)
        labels += [(depth, rule == "end_to_end", member) for member in range(seeds)]
    depth_of, by_end_to_end, member_of = np.array(labels).T
    return Trajectory(
        np.arange(max_steps + 1.0),
        {"loss": np.concatenate(losses)},
        {"iterations": np.concatenate(iterations), "learning_rate": grid, "least_loss": np.array(least),
         "depth": depth_of, "end_to_end": by_end_to_end, "member": member_of, "features": np.array(X.shape[1])},
    )  # fmt: skip


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
        U, V = _orthogonal(rng, len(values)), _orthogonal(rng, len(values))
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


# -- trajectories ---------------------------------------------------------------------------------


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


def closed_curve(
    *,
    depths: list[Count],
    inputs: Count,
    target: Positive,
    inner: Positive,
    outer: Positive,
    first_angle: NonNegative,
    last_angle: Positive,
    nodes: Count,
    seed: Seed,
) -> Trajectory:
    """The preconditioned gradient along the edge of an annular sector, with weights that integrate it.

    The loss is half the squared distance from a target, in the metric of the inputs' covariance. Cases:
    0, one output and whitened inputs; 1, one output and correlated inputs; 2, two outputs and whitened inputs.
    Time counts Gauss-Legendre nodes along the four sides.

    Returns
    -------
    Trajectory
        Series end_to_end, velocity (P_W times the gradient), element (dW times the node's weight), all as
        vectors padded with zeros; constants depth, case.
    """
    (rng,) = generators(seed, "deep_linear.closed_curve", 1)
    factor = rng.standard_normal((inputs, inputs))
    correlated = factor @ factor.T / inputs
    series: dict[str, list] = {"end_to_end": [], "velocity": [], "element": []}
    labels = []
    for case, (outputs, covariance) in enumerate(((1, np.eye(inputs)), (1, correlated), (2, np.eye(inputs)))):
        basis = _orthogonal(rng, outputs * inputs)[:2].reshape(2, outputs, inputs)
        W, element = _sector(basis, inner, outer, first_angle, last_angle, nodes)
        slope = (W - target * basis[0]) @ covariance
        for depth in depths:
            velocity = [-deep_linear.end_to_end_velocity(w, g, depth) for w, g in zip(W, slope, strict=True)]
            for name, matrices in (("end_to_end", W), ("velocity", np.array(velocity)), ("element", element)):
                flat = matrices.reshape(len(W), -1)
                series[name].append(np.pad(flat, ((0, 0), (0, 2 * inputs - flat.shape[1]))))
            labels.append((depth, case))
    depth_of, case_of = np.array(labels).T
    stacked = {name: np.array(values) for name, values in series.items()}
    return Trajectory(np.arange(4.0 * nodes), stacked, {"depth": depth_of, "case": case_of})


# -- pieces ---------------------------------------------------------------------------------------


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


def _measured_once(A: np.ndarray, target: float, widths: list[int]) -> deep_linear.Field:
    """Return gradient flow's field for half the squared error of <A, W>."""
    return deep_linear.flow_field(lambda W: (np.sum(A * W) - target) * A, widths)


def _gram_differences(layers: deep_linear.Layers, longest: int) -> np.ndarray:
    pairs = zip(layers[1:], layers[:-1], strict=True)
    flat = [
        (np.swapaxes(above, -1, -2) @ above - below @ np.swapaxes(below, -1, -2)).reshape(len(above), -1)
        for above, below in pairs
    ]
    joined = np.concatenate(flat, axis=1)
    return np.pad(joined, ((0, 0), (0, longest - joined.shape[1])))


def _sector(
    basis: np.ndarray, inner: float, outer: float, first: float, last: float, nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and line elements along the four sides: out, around, in, and back."""
    x, weights = np.polynomial.legendre.leggauss(nodes)
    x, weights = (x + 1) / 2, weights / 2
    points, elements = [], []

    def ray(angle: np.ndarray) -> np.ndarray:
        return np.cos(angle)[..., None, None] * basis[0] + np.sin(angle)[..., None, None] * basis[1]

    for begin, end, side in ((inner, outer, first), (outer, inner, last)):
        direction = ray(np.array(side))
        points.append((begin + (end - begin) * x)[:, None, None] * direction)
        elements.append((weights * (end - begin))[:, None, None] * direction)
    for begin, end, radius in ((first, last, outer), (last, first, inner)):
        angles = begin + (end - begin) * x
        points.append(radius * ray(angles))
        elements.append((weights * (end - begin) * radius)[:, None, None] * ray(angles + np.pi / 2))
    order = [0, 2, 1, 3]
    return np.concatenate([points[i] for i in order]), np.concatenate([elements[i] for i in order])


def _orthogonal(rng: np.random.Generator, size: int) -> np.ndarray:
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    return Q * np.sign(np.diag(R))


def _rotation(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
