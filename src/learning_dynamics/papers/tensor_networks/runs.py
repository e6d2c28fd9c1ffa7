"""What is simulated: gradient descent and gradient flow of linear tensor networks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.dynamics.log_time import log_time_flow
from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.models import tensor_initialisation as initialisation
from learning_dynamics.models import tensor_network
from learning_dynamics.models.tensor_architectures import network_of
from learning_dynamics.models.tensor_network import TensorNetwork, contractions, outputs
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Natural, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def _initial_directions(
    network: TensorNetwork, architecture: str, init: str, count: int, imbalance: float | None, seed: int
) -> np.ndarray:
    """Return directions of all layers, shape (count, parameters), alike for all architectures where they can be."""
    rngs = generators(seed, f"initial_direction.{init}", count)
    if init == "coefficients":
        return np.stack(
            [
                initialisation.factors(architecture, rng.standard_normal(network.inputs), imbalance or 1.0)
                for rng in rngs
            ]
        )
    return np.stack([initialisation.zero_last(network, rng) for rng in rngs])


def descent(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional"]],
    loss: Literal["squared", "exponential"],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    step: Positive,
    steps: Count,
    records: Count,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent on two-layer networks that all start at the same coefficients alpha**2 zbar_j (section 6).

    Returns
    -------
    Trajectory
        Time is the number of steps. One series for each network, shape (scales * directions, times,
        parameters), directions varying fastest.
    """
    X, y = data["X"][0], data["y"][0]
    spread = np.linspace(0, steps, records) if loss == "squared" else np.geomspace(1, steps + 1, records) - 1
    when = np.unique(np.round(spread).astype(int))
    series: Arrays = {}
    for architecture in networks:
        network = network_of(architecture, X.shape[1], 2, seed)
        start = _initial_directions(network, architecture, "coefficients", directions, imbalance, seed)
        initial = np.concatenate([scale * start for scale in scales])
        run = descend(network.data_tensor(X), y, initial, loss=loss, step=step, steps=steps, records=when)
        series[architecture] = run.states
    return Trajectory(when.astype(float), series, {"X": X, "y": y})


def step_sizes(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional"]],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive,
    steps: list[Positive],
    duration: Positive,
    tolerance: Positive,
    seed: Seed,
) -> Trajectory:
    """Run gradient descent to its limit with several step sizes.

    Every run has the same length in time, `duration`, or ends when no residual exceeds `tolerance`.

    Returns
    -------
    Trajectory
        For each network, ``<network>``, shape (steps * scales * directions, 1, parameters), the limits, and
        the constant ``initial/<network>``, the same shape without times.
    """
    X, y = data["X"][0], data["y"][0]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for architecture in networks:
        network = network_of(architecture, X.shape[1], 2, seed)
        start = _initial_directions(network, architecture, "coefficients", directions, imbalance, seed)
        initial = np.concatenate([scale * start for scale in scales])
        limits = [
            descend(
                network.data_tensor(X), y, initial,
                loss="squared", step=step, steps=round(duration / step), tolerance=tolerance,
            ).final_states
            for step in progress(steps, f"{architecture}: step sizes")
        ]  # fmt: skip
        series[architecture] = np.concatenate(limits)[:, None]
        constants[f"initial/{architecture}"] = np.concatenate([initial] * len(steps))
    return Trajectory(np.array([duration]), series, constants)


def log_time(
    data: Arrays,
    *,
    networks: list[Literal["fully_connected", "diagonal", "convolutional", "short_filters", "decomposable", "general"]],
    depth: Count,
    init: Literal["coefficients", "zero_last"],
    scales: list[Positive],
    directions: Count,
    imbalance: Positive | None = None,
    last_tau: Positive,
    records: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow the gradient flow of classification to time t = exp(last_tau).

    Returns
    -------
    Trajectory
        Time is tau = log(1 + t). One series for each network, shape (data sets * scales * directions, times,
        parameters), directions varying fastest.
    """
    X, y = data["X"], data["y"]
    taus = np.concatenate([[0.0], np.geomspace(0.1, last_tau, records)])
    series: Arrays = {}
    for architecture in networks:
        network = network_of(architecture, X.shape[-1], depth, seed)
        start = _initial_directions(network, architecture, init, directions * len(X), imbalance, seed)
        start = start.reshape(len(X), 1, directions, -1) * np.reshape(scales, (1, -1, 1, 1))
        found = [
            log_time_flow(network, X[member], y[member], state, taus, rtol=rtol, atol=atol).states
            for member in progress(range(len(X)), architecture)
            for state in start[member].reshape(-1, start.shape[-1])
        ]
        series[architecture] = np.stack(found)
    return Trajectory(taus, series, {"X": X, "y": y})


def filters(
    data: Arrays,
    *,
    lengths: list[Count],
    last_tau: Positive,
    records: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow the flow of classification of one point by two-layer convolutional networks with short filters.

    Returns
    -------
    Trajectory
        Time is tau = log(1 + t). For each length k a series ``length_<k>``, shape (data sets, times, parameters).
    """
    X, y = data["X"], data["y"]
    taus = np.concatenate([[0.0], np.geomspace(0.1, last_tau, records)])
    series = {}
    for length in lengths:
        network = tensor_network.convolutional(X.shape[-1], [length, X.shape[-1]])
        start = _initial_directions(network, "", "zero_last", len(X), None, seed)
        series[f"length_{length}"] = np.stack(
            [
                log_time_flow(network, X[member], y[member], start[member], taus, rtol=rtol, atol=atol).states
                for member in range(len(X))
            ]
        )
    return Trajectory(taus, series, {"X": X, "y": y})


def flow(
    data: Arrays,
    *,
    networks: list[Literal["diagonal", "convolutional", "decomposable"]],
    depths: list[Count],
    scale: Positive,
    horizon: Positive,
    records: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow the gradient flow of regression from Gaussian directions of every layer.

    Returns
    -------
    Trajectory
        For each network and depth a series ``<network>_<depth>``, shape (data sets, times, parameters).
    """
    X, y = data["X"], data["y"]
    times = np.linspace(0, horizon, records)
    series: Arrays = {}
    for architecture in networks:
        for depth in depths:
            network = network_of(architecture, X.shape[-1], depth, seed)
            rngs = generators(seed, "initial_direction.gaussian", len(X))
            series[f"{architecture}_{depth}"] = np.stack(
                [
                    integrate(
                        squared_loss_field(network.data_tensor(X[member]), y[member], network),
                        scale * rng.standard_normal(sum(network.lengths)),
                        times,
                        rtol=rtol,
                        atol=atol,
                    ).states
                    for member, rng in enumerate(rngs)
                ]
            )
    return Trajectory(times, series, {"X": X, "y": y})


def squared_loss_field(
    tensors: np.ndarray, labels: np.ndarray, network: TensorNetwork
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the vector field of gradient flow on ``sum_i (f(x_i) - y_i)**2 / 2``, states in one vector."""

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = network.layers(state)
        missing = labels - outputs(tensors, layers)
        return np.concatenate(contractions(np.tensordot(missing, tensors, axes=1), layers))

    return field


def _limit(
    network: TensorNetwork, X: np.ndarray, y: np.ndarray, start: np.ndarray, residual: float, rtol: float, atol: float
) -> np.ndarray:
    """Return the state where gradient flow has brought every residual below `residual` times the largest label."""
    tensors = network.data_tensor(X)
    bound = residual * float(np.max(np.abs(y)))

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(outputs(tensors, network.layers(state)) - y)) <= bound)

    # no deadline: from a small scale the flow leaves the saddle at zero after a time like scale**(2 - depth)
    return integrate(
        squared_loss_field(tensors, y, network),
        start,
        np.zeros(1),
        rtol=rtol,
        atol=atol,
        method="LSODA",
        until=converged,
        last_time=1e30,
    ).final_state


def interpolation(
    data: Arrays,
    *,
    network: Literal["diagonal", "convolutional", "decomposable"],
    weights: Literal["equal", "random"],
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
    step: Positive | None = None,
    seed: Seed,
) -> Trajectory:
    """Follow regression to its limit from v_l = alpha U_l eta for l < L and v_L = 0 (Theorem 4).

    With `step`, gradient descent is run as well, with steps of `step` divided by the curvature at the start
    or at the limit, whichever is larger.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets * scales, 1, parameters), and with `step`
        ``descent_<depth>``; constants ``eta_<depth>``, shape (data sets, m).
    """
    X, y = data["X"], data["y"]
    series: Arrays = {}
    constants = {"X": X, "y": y}
    for depth in depths:
        model = network_of(network, X.shape[-1], depth, seed)
        assert model.S is not None
        eta, starts = [], []
        for rng in generators(seed, f"weights.{network}", len(X)):
            drawn = np.ones(len(model.S)) if weights == "equal" else 0.5 + rng.uniform(size=len(model.S))
            if network == "convolutional":  # the transform of an even filter is even
                drawn = (drawn + np.roll(drawn[::-1], 1)) / 2
            eta.append(drawn)
            starts.append(np.concatenate([(vectors @ drawn).real for vectors in model.U]))
            starts[-1][model.bounds[-1][0] :] = 0.0
        states = [
            (X[member], y[member], scale * starts[member])
            for member in progress(range(len(X)), f"depth {depth}")
            for scale in scales
        ]
        limits = np.stack([_limit(model, *state, residual, rtol, atol) for state in states])
        series[f"flow_{depth}"] = limits[:, None]
        constants[f"eta_{depth}"] = np.stack(eta)
        if step is not None:
            series[f"descent_{depth}"] = np.stack(
                [_descended(model, *state, limit, step, residual) for state, limit in zip(states, limits, strict=True)]
            )[:, None]
    return Trajectory(np.zeros(1), series, constants)


def _descended(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    start: np.ndarray,
    limit: np.ndarray,
    step: float,
    residual: float,
) -> np.ndarray:
    """Return where gradient descent ends, with steps that are small against the inverse curvature."""
    tensors = network.data_tensor(X)
    curvature = 0.0
    for state in (start, limit):
        jacobian = np.stack([np.concatenate(contractions(tensor, network.layers(state))) for tensor in tensors])
        curvature = max(curvature, float(np.linalg.norm(jacobian, 2)) ** 2)
    run = descend(
        tensors,
        y,
        start[None],
        loss="squared",
        step=step / curvature,
        steps=10**9,
        tolerance=residual * np.max(np.abs(y)),
    )
    return run.final_states[0]


def matrix_sensing(
    data: Arrays,
    *,
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
) -> Trajectory:
    """Follow deep matrix sensing to its limit from W_l = alpha I for l < L and W_L = 0 (Corollary 7).

    The full matrices are followed, in the sensors' common basis of eigenvectors, which the initialisation does not
    depend on. In another basis rounding makes the layers fail to commute in the last digit, and from a small
    scale that grows while the flow leaves the saddle at zero: at depth 3 and alpha = 0.01 it ends elsewhere.

    Returns
    -------
    Trajectory
        For each depth a series ``product_<depth>``, shape (data sets * scales, 1, size, size): W_1 ... W_L.
    """
    y, Q, values = data["y"], data["Q"], data["X"]
    size = Q.shape[-1]
    series = {}
    for depth in depths:
        products = []
        for member in progress(range(len(Q)), f"depth {depth}"):
            sensors = np.stack([np.diag(row) for row in values[member]])
            for scale in scales:
                start = np.concatenate([scale * np.eye(size)[None]] * (depth - 1) + [np.zeros((1, size, size))])
                product = _product(_sensed(sensors, y[member], start, residual, rtol, atol))
                products.append(Q[member] @ product @ Q[member].T)
        series[f"product_{depth}"] = np.stack(products)[:, None]
    return Trajectory(np.zeros(1), series, dict(data))


def _product(layers: Iterable[np.ndarray]) -> np.ndarray:
    return functools.reduce(np.matmul, layers)


def _sensed(
    sensors: np.ndarray, labels: np.ndarray, start: np.ndarray, residual: float, rtol: float, atol: float
) -> np.ndarray:
    """Return the layers where the flow of ``sum_i (y_i - <A_i, W_1 ... W_L>)**2 / 2`` has converged."""
    depth = len(start)

    def missing(layers: np.ndarray) -> np.ndarray:
        return labels - np.einsum("sij,ij->s", sensors, _product(layers))

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        layers = state.reshape(start.shape)
        push = np.tensordot(missing(layers), sensors, axes=1)
        eye = [np.eye(start.shape[1])]
        return np.concatenate(
            [
                (_product([*eye, *layers[:index]]).T @ push @ _product([*eye, *layers[index + 1 :]]).T).ravel()
                for index in range(depth)
            ]
        )

    def converged(state: np.ndarray) -> bool:
        return bool(np.max(np.abs(missing(state.reshape(start.shape)))) <= residual * np.max(np.abs(labels)))

    run = integrate(
        field, start.ravel(), np.zeros(1), rtol=rtol, atol=atol, method="LSODA", until=converged, last_time=1e30
    )
    return run.final_state.reshape(start.shape)


def deep_regression(
    data: Arrays,
    *,
    init: Literal["identity", "descending"],
    depths: list[Count],
    scales: list[Positive],
    residual: Positive,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Follow regression with fully connected networks to its limit (Theorem 6).

    ``identity``: W_l = alpha I and w_L = 0; ``descending``: random layers that fulfil the conditions of Theorem 6.1.

    Returns
    -------
    Trajectory
        For each depth a series ``flow_<depth>``, shape (data sets * scales, 1, parameters).
    """
    X, y = data["X"], data["y"]
    inputs = X.shape[-1]
    series = {}
    for depth in depths:
        network = tensor_network.fully_connected([inputs] * depth)
        found = []
        for member, rng in enumerate(generators(seed, "initial_direction.descending", len(X))):
            if init == "identity":
                start = np.concatenate([np.eye(inputs).ravel()] * (depth - 1) + [np.zeros(inputs)])
            else:
                start = initialisation.descending_matrices(rng, inputs, depth)
            found += [_limit(network, X[member], y[member], scale * start, residual, rtol, atol) for scale in scales]
        series[f"flow_{depth}"] = np.stack(found)[:, None]
    return Trajectory(np.zeros(1), series, {"X": X, "y": y})


def depth_functions(
    *, depths: list[Count], records: Count, last: Positive, rtol: Positive, atol: Positive
) -> Trajectory:
    """Integrate p' = p**(L-2) q, q' = p**(L-1) from (1, 0), both ways in time, until |q| passes `last` (Lemma 5.1).

    Returns
    -------
    Trajectory
        Time is the fraction of the way. Series ``state``, shape (2 * depths, times, 2), p and q, forward and
        backward in time for each depth; the constant ``reached``, shape (2 * depths,), the time at which |q|
        passes `last`.
    """
    fractions = np.linspace(0, 1, records)
    states, reached = [], []
    for depth in depths:
        for sign in (1.0, -1.0):

            def field(_time: float, state: np.ndarray, depth: int = depth, sign: float = sign) -> list[float]:
                p, q = state
                return [sign * p ** (depth - 2) * q, sign * p ** (depth - 1)]

            def passed(_time: float, state: np.ndarray) -> float:
                return abs(state[1]) - last

            passed.terminal = True  # type: ignore[attr-defined]
            # |q| grows at least like sinh t, so that it passes `last` in this time
            found = solve_ivp(
                field,
                (0, np.arcsinh(last) + 1),
                [1.0, 0.0],
                method="DOP853",
                events=passed,
                dense_output=True,
                rtol=rtol,
                atol=atol,
            )
            end = found.t_events[0][0]
            states.append(found.sol(fractions * end).T)
            reached.append(sign * end)
    return Trajectory(fractions, {"state": np.stack(states)}, {"reached": np.array(reached)})


def contraction(*, lengths: list[Count], inputs: Count, member: Natural, seed: Seed) -> Trajectory:
    """Contract a random data tensor with random vectors, one axis after the other (Figure 2).

    Returns
    -------
    Trajectory
        Series ``tensor_0``, M(x), to ``tensor_L``, a number, with the axes that are left after each
        contraction; ``vector_1`` to ``vector_L``. Members and times have length one.
    """
    rng = generators(seed, "tensor_network.contraction", member + 1)[member]
    network = TensorNetwork(rng.standard_normal((inputs, *lengths)))
    tensor = network.data_tensor(rng.standard_normal(inputs))
    series = {"tensor_0": tensor}
    for stage, length in enumerate(lengths, start=1):
        vector = rng.standard_normal(length)
        tensor = np.tensordot(vector, tensor, axes=1)
        series |= {f"vector_{stage}": vector, f"tensor_{stage}": np.asarray(tensor)}
    return Trajectory(np.zeros(1), {name: array[None, None] for name, array in series.items()})
