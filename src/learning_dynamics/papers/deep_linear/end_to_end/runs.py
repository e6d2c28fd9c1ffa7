"""Gradient flow and descent of layers, and next to them the end-to-end dynamics of their product."""

from typing import Literal

import numpy as np

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.dynamics.gradient_flow import Span, Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import descent, networks, recorded
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


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
    step: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of N layers, and of their product alone by the end-to-end dynamics.

    The loss is half the squared distance from a Gaussian target. Entries of the first end-to-end matrix (balanced),
    or of each layer (gaussian), have standard deviation `start`.

    All are integrated by an adaptive method. Layers and end-to-end dynamics are integrated again, by the classical
    Runge-Kutta method in fixed steps: of at most `step`, and of at most half of it. Its errors are of fourth order.

    Returns
    -------
    Trajectory
        Series, of each member and time:

        - layers, as one vector, padded with zeros
        - direct, shape (outputs, inputs): the end-to-end dynamics
        - one_layer_fewer, of the same shape: the end-to-end dynamics of depth N - 1
        - integrated, shape (3, r): singular values, integrated from the rates of the law, of the law without its factor
          N, and of the law with the exponent 2 - 1/N
        - in_steps and in_half_steps, shape (3, outputs, inputs): the layers' product, direct and one_layer_fewer, by
          Runge-Kutta

        Constants, of each member: target, shape (outputs, inputs), depth, and member, the number of the draw.
    """
    # `layers` of all depths have the length of the deepest network's
    longest = networks.count_parameters([inputs, *[width] * (max(depths) - 1), outputs])
    members = []
    for depth in depths:
        widths = [inputs, *[width] * (depth - 1), outputs]
        rngs = generators(seed, f"deep_linear.end_to_end_flow.{depth}", seeds)
        for member, rng in enumerate(progress(rngs, f"depth {depth}")):
            target = rng.standard_normal((outputs, inputs))
            if init == "balanced":
                layers = networks.balanced_layers(start * rng.standard_normal(target.shape), widths)
            else:
                layers = [start * layer for layer in networks.gaussian_layers(rng, widths)]
            series = _all_flows(layers, target, integration)
            series["in_steps"] = _in_steps(layers, target, integration.times, step)
            series["in_half_steps"] = _in_steps(layers, target, integration.times, step / 2)
            series["layers"] = np.pad(series["layers"], ((0, 0), (0, longest - networks.count_parameters(widths))))
            members.append(series | {"target": target, "depth": depth, "member": member})
    return recorded.trajectory(integration.times, members, *series)


def _all_flows(layers: networks.Layers, target: np.ndarray, integration: Span) -> dict[str, np.ndarray]:
    """Integrate layers, two end-to-end dynamics and singular-value rates as one state.

    The state is one vector: the packed layers; W of the end-to-end dynamics of depth N, and of depth N - 1; singular
    values, integrated from the rates of the law, of the law without its factor N, and of the law with the exponent
    2 - 1/N. All rates are taken at the layers' product, not at the integrated values, whose errors do not feed back.
    """
    widths, depth = networks.widths_of(layers), len(layers)
    flows, initial = _layers_and_equations(layers, target)
    split, size = len(initial), target.size  # the singular values begin at `split`

    def field(time: float, state: np.ndarray) -> np.ndarray:
        W = networks.product(networks.unpack(state, widths))
        law_rates = networks.singular_value_rates(W, W - target, depth)
        values = np.linalg.svd(W, compute_uv=False)
        rates = [law_rates, law_rates / depth, law_rates * values ** (1 / depth)]
        return np.concatenate([flows(time, state[:split]), np.ravel(rates)])

    values = np.linalg.svd(networks.product(layers), compute_uv=False)
    # With `land` steps end at the recorded times: where a flow is slow its steps are long, and states interpolated
    # between them are further off than the tolerance says.
    states = networks.flow(field, np.concatenate([initial, *[values] * 3]), integration.times, integration, land=True)
    end_to_end = states[:, split - 2 * size : split].reshape(len(states), 2, *target.shape)
    return {
        "layers": states[:, : split - 2 * size],
        "direct": end_to_end[:, 0],
        "one_layer_fewer": end_to_end[:, 1],
        "integrated": states[:, split:].reshape(len(states), 3, len(values)),
    }


def _layers_and_equations(layers: networks.Layers, target: np.ndarray) -> tuple[networks.Field, np.ndarray]:
    """Return a vector field and its start: packed layers, then W by the end-to-end dynamics of depths N and N - 1."""
    widths, depth = networks.widths_of(layers), len(layers)
    split = networks.count_parameters(widths)  # the two W begin here
    network = networks.flow_field(networks.towards(target), widths)

    def field(time: float, state: np.ndarray) -> np.ndarray:
        matrices = state[split : split + 2 * target.size].reshape(2, *target.shape)
        velocities = [
            networks.end_to_end_velocity(M, M - target, N) for M, N in zip(matrices, (depth, depth - 1), strict=True)
        ]
        return np.concatenate([network(time, state[:split]), np.ravel(velocities)])

    return field, np.concatenate([networks.pack(layers), *[networks.product(layers).ravel()] * 2])


def _in_steps(layers: networks.Layers, target: np.ndarray, times: np.ndarray, longest: float) -> np.ndarray:
    """Return the layers' product and W by both end-to-end dynamics, shape (times, 3, *target.shape), by fixed steps.

    The classical Runge-Kutta method takes equal steps from one time to the next, none longer than `longest`.
    """
    widths, size = networks.widths_of(layers), target.size
    field, state = _layers_and_equations(layers, target)
    states = [state]
    for duration in np.diff(times):
        count = int(np.ceil(duration / longest * (1 - 1e-9)))  # rounding adds no step to a whole number of them
        h = duration / count
        for _ in range(count):
            k1 = field(0.0, state)
            k2 = field(0.0, state + h / 2 * k1)
            k3 = field(0.0, state + h / 2 * k2)
            k4 = field(0.0, state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
    # the layers' parameters, and behind them the two W of `_layers_and_equations`
    packed, equations = np.split(np.array(states), [len(state) - 2 * size], axis=1)
    W = networks.product(networks.unpack(packed, widths))
    return np.concatenate([W[:, None], equations.reshape(-1, 2, *target.shape)], axis=1)


def balanced_velocity(
    *, depths: list[Count], size: Count, smallest: Positive, largest: Positive, seeds: Count, seed: Seed
) -> Trajectory:
    """How gradient flow moves one end-to-end matrix through balanced layers of every depth.

    The matrix has `size` singular values. The interval from log `smallest` to log `largest` is divided into as many
    equal parts, and the logarithm of one singular value is drawn from each. The loss's gradient is Gaussian. Velocities
    follow from those of the layers by the product rule.

    Returns
    -------
    Trajectory
        Series end_to_end and velocity, shape (members, 1, size, size); constants gradient, depth, and member, the
        number of the draw.

    Raises
    ------
    ProjectError
        If the smallest singular value that the matrix may have is above the largest.
    """
    if smallest > largest:
        raise ProjectError(f"smallest ({smallest:g}) must be at most largest ({largest:g})")
    parts = np.linspace(np.log(smallest), np.log(largest), size + 1)
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.balanced_velocity", seeds)):
        values = np.exp(rng.uniform(parts[:-1], parts[1:]))
        W = (haar(rng, size) * values) @ haar(rng, size).T
        gradient = rng.standard_normal((size, size))
        for depth in depths:
            layers = networks.balanced_layers(W, [size] * (depth + 1))
            velocity = -networks.product_change(layers, networks.layer_gradients(layers, gradient))
            members.append(
                {"end_to_end": [W], "velocity": [velocity], "gradient": gradient, "depth": depth, "member": member}
            )
    return recorded.trajectory(recorded.AT_THE_END, members, "end_to_end", "velocity")


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

    The target is Gaussian, with entries of standard deviation size^(-1/2). A flow from entries of standard deviation s
    runs for a time of horizon / s^(N-2), in which it leaves the neighbourhood of zero. A scale of 0 means identity
    layers.

    Returns
    -------
    Trajectory
        Series layers, packed, at the start and at the end, shape (members, 2, parameters); constants scale, member (by
        member).
    """
    widths = [size] * (depth + 1)
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.approximate_balance", seeds)):
        target = rng.standard_normal((size, size)) / np.sqrt(size)
        normal = networks.gaussian_layers(rng, widths)
        field = networks.flow_field(networks.towards(target), widths)
        for scale in (0.0, *scales):
            layers = [scale * layer for layer in normal] if scale else [np.eye(size)] * depth
            # identity layers, whose scale is 0, flow for the horizon itself
            times = np.array([0.0, horizon / (scale or 1.0) ** (depth - 2)])
            states = networks.flow(field, networks.pack(layers), times, integration)
            members.append({"layers": states, "scale": scale, "member": member})
    # start and end: horizons differ between members
    return recorded.trajectory(np.array([0.0, 1.0]), members, "layers")


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
    """Gradient descent for one duration with ever smaller steps, from balanced layers.

    The learning rate is `coarsest`, and halved `halvings` times; descent runs for `horizon`, in units of flow time.

    Returns
    -------
    Trajectory
        Series gram_differences, as one vector, at the start and at the end, shape (members, 2, entries); constants
        learning_rate, and member, the number of the draw (both by member). Members are rates, draws varying fastest.
    """
    widths = [inputs, *[width] * (depth - 1), outputs]
    rngs = generators(seed, "deep_linear.balancedness_descent", seeds)
    # for each draw a target and the end-to-end matrix at the start but for its scale, shape (draws, outputs, inputs)
    target, first = np.array([rng.standard_normal((2, outputs, inputs)) for rng in rngs]).swapaxes(0, 1)
    starts = [networks.balanced_layers(start * W, widths) for W in first]
    layers = [np.stack(layer) for layer in zip(*starts, strict=True)]  # each layer of all draws
    differences, rates = [], coarsest / 2.0 ** np.arange(halvings + 1)
    for rate in rates:
        recorded_steps = np.array([0, round(horizon / rate)])  # the first step and the last
        recorded_layers = descent.descend(layers, networks.towards(target), rate, recorded_steps)
        differences.append(
            np.stack([_flatten(networks.gram_differences(matrices)) for matrices in recorded_layers], axis=1)
        )
    return Trajectory(
        np.array([0.0, horizon]),
        {"gram_differences": np.concatenate(differences)},
        {"learning_rate": np.repeat(rates, seeds), "member": np.tile(np.arange(seeds), len(rates))},
    )


def _flatten(matrices: networks.Layers) -> np.ndarray:
    """Return all entries of matrices of shape (draws, d, d), one behind another, shape (draws, entries)."""
    return np.concatenate([matrix.reshape(len(matrix), -1) for matrix in matrices], axis=1)
