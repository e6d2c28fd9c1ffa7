"""Gradient flow and descent of layers, and next to them the end-to-end dynamics of their product.

W = W_N ... W_1 is the product of N layers, with singular values sigma_r and singular vectors u_r and v_r; G is the
loss's gradient at W. The end-to-end dynamics are slide 16's equation for W, and the law is slide 33's for its singular
values; both are about balanced layers:

    dW/dt = -sum_j [W W^T]^((N-j)/N) G [W^T W]^((j-1)/N),    d(sigma_r)/dt = -N sigma_r^(2 - 2/N) <G, u_r v_r^T>.
"""

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

    An adaptive method integrates the layers, the end-to-end dynamics of depths N and N - 1, and the singular values by
    three laws. The classical Runge-Kutta method, whose errors are of fourth order, integrates the layers and the two
    end-to-end dynamics again, twice: in fixed steps of at most `step`, and of at most half of it.

    Returns
    -------
    Trajectory
        Series by the adaptive method; `most` is the number of parameters of the deepest network:

        - layers, shape (members, times, most): all layers as one vector, as `networks.pack` makes it, with zeros behind
          those of shallower networks
        - direct, (members, times, outputs, inputs): the solution of the end-to-end dynamics
        - one_layer_fewer, of the same shape: the solution of the end-to-end dynamics with N - 1 for N
        - integrated, (members, times, 3, min(outputs, inputs)): singular values, integrated from the rates of the law,
          of the law without its factor N, and of the law with the exponent 2 - 1/N

        Series by the Runge-Kutta method, in_steps and in_half_steps, shape (members, times, 3, outputs, inputs): the
        layers' product, then the two solutions.

        Constants target, shape (members, outputs, inputs), depth and member, the number of the draw, both of shape
        (members,). Members are all pairs of a depth and a draw; draws vary fastest.
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
    # the names in `series`, which are the same for every member
    return recorded.trajectory(integration.times, members, *series)


def _all_flows(layers: networks.Layers, target: np.ndarray, integration: Span) -> dict[str, np.ndarray]:
    """Return the series of one member that `end_to_end_flow` integrates adaptively, by name, times first.

    All are one state, a vector: first the packed layers; then W of the end-to-end dynamics of depth N, and of depth
    N - 1; then three times the singular values, integrated by the law, by the law without its factor N, and by the law
    with the exponent 2 - 1/N. The three laws give rates of singular values at the layers' product, not at the
    integrated values, whose errors do not feed back.
    """
    widths, depth = networks.widths_of(layers), len(layers)
    flows, initial = _layers_and_equations(layers, target)
    # in this function `split` is where the singular values begin, behind the layers and both solutions
    split, size = len(initial), target.size

    def field(time: float, state: np.ndarray) -> np.ndarray:
        # `unpack` reads the layers, which come first, and leaves the rest of the state alone
        W = networks.product(networks.unpack(state, widths))
        law_rates = networks.singular_value_rates(W, W - target, depth)
        values = np.linalg.svd(W, compute_uv=False)
        # the last has the exponent 2 - 2/N + 1/N = 2 - 1/N
        rates = [law_rates, law_rates / depth, law_rates * values ** (1 / depth)]
        return np.concatenate([flows(time, state[:split]), np.ravel(rates)])

    values = np.linalg.svd(networks.product(layers), compute_uv=False)
    # `integration` gives both the times to record and the tolerances. With `land` steps end at these times: where a
    # flow is slow its steps are long, and states interpolated between them are further off than the tolerance says.
    states = networks.flow(field, np.concatenate([initial, *[values] * 3]), integration.times, integration, land=True)
    end_to_end = states[:, split - 2 * size : split].reshape(len(states), 2, *target.shape)
    return {
        "layers": states[:, : split - 2 * size],
        "direct": end_to_end[:, 0],
        "one_layer_fewer": end_to_end[:, 1],
        "integrated": states[:, split:].reshape(len(states), 3, len(values)),
    }


def _layers_and_equations(layers: networks.Layers, target: np.ndarray) -> tuple[networks.Field, np.ndarray]:
    """Return a vector field and where it starts: the packed layers, then W of the end-to-end dynamics twice.

    The first W moves by the end-to-end dynamics of depth N, the second by those of depth N - 1. Both start at the
    layers' product.
    """
    widths, depth = networks.widths_of(layers), len(layers)
    split = networks.count_parameters(widths)  # in this function where the two W begin, behind the layers
    network = networks.flow_field(networks.towards(target), widths)

    def field(time: float, state: np.ndarray) -> np.ndarray:
        matrices = state[split : split + 2 * target.size].reshape(2, *target.shape)
        velocities = [
            networks.end_to_end_velocity(M, M - target, N) for M, N in zip(matrices, (depth, depth - 1), strict=True)
        ]
        return np.concatenate([network(time, state[:split]), np.ravel(velocities)])

    return field, np.concatenate([networks.pack(layers), *[networks.product(layers).ravel()] * 2])


def _in_steps(layers: networks.Layers, target: np.ndarray, times: np.ndarray, longest: float) -> np.ndarray:
    """Return three matrices by fixed steps, shape (times, 3, outputs, inputs).

    They are the layers' product, and W of the end-to-end dynamics of depths N and N - 1. The classical Runge-Kutta
    method takes equal steps from one time to the next, none longer than `longest`.
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
    """How gradient flow moves one end-to-end matrix of a draw through balanced layers of every depth.

    The matrix has `size` singular values. The interval from log `smallest` to log `largest` is divided into `size`
    equal parts, and the logarithm of one singular value is drawn from each. The loss's gradient G is Gaussian. The
    velocity of the matrix follows from those of the layers by the product rule.

    Returns
    -------
    Trajectory
        Series end_to_end, W, and velocity, dW/dt, shape (members, 1, size, size). Constants gradient, G, shape
        (members, size, size), depth and member, the number of the draw, both of shape (members,). Members are all pairs
        of a draw and a depth; depths vary fastest.

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
    runs for a time of horizon / s^(N-2), in which it leaves the neighbourhood of zero. The scale of a member is s; 0
    means identity layers, whose flow runs for the horizon itself.

    Returns
    -------
    Trajectory
        Series layers, packed, shape (members, 2, parameters), at the start (time 0) and at the end (time 1, however
        long the flow). Constants of shape (members,): `scale`, and `member`, the number of the draw. Members are all
        pairs of a draw and a scale; scales vary fastest, from 0 on.
    """
    widths = [size] * (depth + 1)
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.approximate_balance", seeds)):
        target = rng.standard_normal((size, size)) / np.sqrt(size)
        normal = networks.gaussian_layers(rng, widths)
        field = networks.flow_field(networks.towards(target), widths)
        for scale in (0.0, *scales):
            layers = [scale * layer for layer in normal] if scale else [np.eye(size)] * depth
            times = np.array([0.0, horizon / (scale or 1.0) ** (depth - 2)])
            states = networks.flow(field, networks.pack(layers), times, integration)
            members.append({"layers": states, "scale": scale, "member": member})
    # 0 and 1 stand for the start and the end, whose time differs between members
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

    The loss is half the squared distance from a Gaussian target. Learning rates are `coarsest` and its halves, quarters
    and so on, down to the one halved `halvings` times. Descent runs for `horizon`, the learning rate times the number
    of steps.

    Returns
    -------
    Trajectory
        Series gram_differences, shape (members, 2, entries), at the start and at the end: all entries of W_{j+1}^T
        W_{j+1} - W_j W_j^T for all j. Constants of shape (members,): `learning_rate`, and `member`, the number of the
        draw. Members are all pairs of a rate and a draw; draws vary fastest.
    """
    widths = [inputs, *[width] * (depth - 1), outputs]
    rngs = generators(seed, "deep_linear.balancedness_descent", seeds)
    # for each draw the target, and the end-to-end matrix at the start, not yet multiplied by `start`; both have shape
    # (draws, outputs, inputs)
    target, first = np.array([rng.standard_normal((2, outputs, inputs)) for rng in rngs]).swapaxes(0, 1)
    starts = [networks.balanced_layers(start * W, widths) for W in first]
    layers = [np.stack(layer) for layer in zip(*starts, strict=True)]  # layer j has shape (draws, d_j, d_{j-1})
    differences, rates = [], coarsest / 2.0 ** np.arange(halvings + 1)
    for rate in rates:
        recorded_steps = np.array([0, round(horizon / rate)])  # before the first step and after the last
        recorded_layers = descent.descend(layers, networks.towards(target), rate, recorded_steps)
        # over the two recorded steps; shape (draws, 2, entries)
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
