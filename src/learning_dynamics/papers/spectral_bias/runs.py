"""What is simulated: gradient flow and descent of two-layer networks, and the noise-driven process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from learning_dynamics.dynamics import euler_maruyama, label_noise
from learning_dynamics.dynamics.gradient_flow import Flow, integrate
from learning_dynamics.errors import DivergenceError, ProjectError
from learning_dynamics.models import reductions, two_layer
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectory import Arrays, Trajectory


def linear_flow(
    data: Arrays,
    *,
    init: Literal["orthogonal", "gaussian"],
    width: Count,
    gamma: Positive | None = None,
    variance: Positive | None = None,
    output_variance: Positive | None = None,
    horizon: Positive,
    points: Count,
    residual: Positive,
    patience: Positive,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from W1(0) = sqrt(2 gamma) P, or Gaussian W1(0), and W2(0) zero or Gaussian (eq. 2.4).

    The flow is recorded at `points` times from 0 to `horizon` and followed further, until the norm of
    X beta - Y falls below `residual` times that of Y, or to time `patience`; that end is kept as the limit.

    Parameters
    ----------
    data : dict
        X, shape (members, samples, inputs); Y, shape (members, samples, outputs).

    Returns
    -------
    Trajectory
        Series W1, W2; constants X, Y, P (of the orthogonal initialisation), limit_W1, limit_W2, limit_time.
    """
    X, Y = data["X"], data["Y"]
    members, _, inputs = X.shape
    outputs = Y.shape[-1]
    if inputs > width and init == "orthogonal":
        raise ProjectError(f"width {width} is below the {inputs} inputs: rows of W1 cannot be orthonormal; widen it")
    times = np.linspace(0.0, horizon, points)
    W1 = np.empty((members, points, inputs, width))
    W2 = np.empty((members, points, width, outputs))
    limit_W1, limit_W2 = np.empty((members, inputs, width)), np.empty((members, width, outputs))
    limit_time, P = np.empty(members), np.zeros((members, inputs, width))
    rngs = generators(seed, "two_layer.initialisation", members)
    for member, rng in enumerate(progress(rngs, "gradient flow")):
        if init == "orthogonal":
            P[member] = two_layer.orthonormal_rows(rng, inputs, width)
            start = np.sqrt(2 * _needed(gamma, "gamma", init)) * P[member]
        else:
            start = two_layer.gaussian_layer(rng, inputs, width, _needed(variance, "variance", init))
        start_W2 = np.zeros((width, outputs))
        if output_variance is not None:
            start_W2 = two_layer.gaussian_layer(rng, width, outputs, output_variance)
        bound = residual * float(np.linalg.norm(Y[member]))

        def converged(state: np.ndarray, member: int = member, bound: float = bound) -> bool:
            layers = two_layer.unpack(state, inputs, width, outputs)
            return bool(np.sqrt(2 * two_layer.loss(*layers, X[member], Y[member])) <= bound)

        try:
            flow = integrate(
                two_layer.flow_field(X[member], Y[member], width),
                two_layer.pack(start, start_W2),
                times,
                rtol=rtol,
                atol=atol,
                until=converged,
                last_time=patience,
            )
        except DivergenceError as error:
            raise DivergenceError(f"member {member}: {error}") from None
        W1[member], W2[member] = two_layer.unpack(flow.states, inputs, width, outputs)
        limit_W1[member], limit_W2[member] = two_layer.unpack(flow.final_state, inputs, width, outputs)
        limit_time[member] = flow.final_time
    constants = {"X": X, "Y": Y, "limit_W1": limit_W1, "limit_W2": limit_W2, "limit_time": limit_time}
    if init == "orthogonal":
        constants["P"] = P
    return Trajectory(times, {"W1": W1, "W2": W2}, constants)


def reduced_flow(
    data: Arrays,
    *,
    gammas: list[Positive],
    width: Count,
    start: Positive,
    horizon: Positive,
    points: Count,
    rtol: Positive,
    atol: Positive,
    seed: Seed,
) -> Trajectory:
    """The network's flow beside the smaller systems that the theory puts in its place, each integrated alone.

    From the orthogonal initialisation at each of `gammas`: the network (W1, W2) of full width (eq. 2.4); the
    projected pair (Z1, Z2) (Lemma 3.1); the Riccati equation of alpha (Lemma 3.3); and for one output the
    mirror flow of the predictor (Theorem 3.2 (b)). Recorded at time 0 and at `points` times evenly spaced in
    the logarithm from `start` to `horizon`.

    Returns
    -------
    Trajectory
        Members are the data's members, once for each scale. Series W1, W2, Z1, Z2, alpha, and for one output
        mirror, the predictor of the mirror flow; constants X, Y, P, and gamma, shape (members,).
    """
    X, Y = np.concatenate([data["X"]] * len(gammas)), np.concatenate([data["Y"]] * len(gammas))
    gamma = np.repeat(gammas, len(data["X"]))
    members, inputs, outputs = len(X), X.shape[-1], Y.shape[-1]
    times = np.concatenate([[0.0], np.geomspace(start, horizon, points)])
    rngs = generators(seed, "two_layer.initialisation", len(data["X"])) * len(gammas)
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    series = {
        "W1": np.empty((members, len(times), inputs, width)),
        "W2": np.empty((members, len(times), width, outputs)),
        "Z1": np.empty((members, len(times), inputs, inputs)),
        "Z2": np.empty((members, len(times), inputs, outputs)),
        "alpha": np.empty((members, len(times), inputs, outputs)),
    }
    if outputs == 1:
        series["mirror"] = np.empty((members, len(times), inputs, outputs))
    for member in progress(range(members), "flow and its reductions"):
        x, y, g = X[member], Y[member], gamma[member]

        def follow(field: Callable, initial: np.ndarray, member: int = member) -> np.ndarray:
            return _integrated(field, initial, times, rtol, atol, member).states

        states = follow(
            two_layer.flow_field(x, y, width), np.r_[np.sqrt(2 * g) * P[member].ravel(), [0.0] * (width * outputs)]
        )
        series["W1"][member], series["W2"][member] = two_layer.unpack(states, inputs, width, outputs)
        states = follow(
            two_layer.flow_field(x, y, inputs),
            np.r_[np.sqrt(2 * g) * np.eye(inputs).ravel(), [0.0] * (inputs * outputs)],
        )
        series["Z1"][member], series["Z2"][member] = two_layer.unpack(states, inputs, inputs, outputs)
        states = follow(reductions.riccati_field(x, y, g), np.zeros(inputs * outputs))
        series["alpha"][member] = states.reshape(-1, inputs, outputs)
        if outputs == 1:
            states = follow(reductions.mirror_field(x, y[:, 0], g), np.zeros(inputs))
            series["mirror"][member] = reductions.predictor_from_mirror(states, g)[..., None]
    return Trajectory(times, series, {"X": X, "Y": Y, "P": P, "gamma": gamma})


def jump_flow(
    *,
    teacher_singular_values: list[Positive],
    gammas: list[Positive],
    horizon: Positive,
    points: Count,
    rtol: Positive,
    atol: Positive,
) -> Trajectory:
    """Gradient flow on whitened data down to vanishing scales, in time rescaled by ln(1/gamma).

    Gradient flow commutes with rotations of inputs, outputs and hidden units, so X = I, a diagonal teacher
    and W1(0) = sqrt(2 gamma) I stand for every whitened problem. In other coordinates the rounding of the
    first modes to be learnt would drown the others, which start at gamma = 1e-32; in these the modes do not
    mix, and all entries, off the diagonal too, are integrated as they are.

    Returns
    -------
    Trajectory
        One member for each scale. Time is t / ln(1/gamma), on an even grid from 0 to `horizon` joined by the
        predicted times of the jumps, 1 / (2 s). Series W1, W2; constants teacher, gamma.
    """
    teacher = np.array(teacher_singular_values)
    size = len(teacher)
    times = np.unique(np.r_[np.linspace(0.0, horizon, points), 1 / (2 * teacher)].round(12))
    W1, W2 = np.empty((2, len(gammas), len(times), size, size))
    for member, gamma in enumerate(progress(gammas, "jump process")):
        field = two_layer.flow_field(np.eye(size), np.diag(teacher), size)
        initial = two_layer.pack(np.sqrt(2 * gamma) * np.eye(size), np.zeros((size, size)))
        flow = _integrated(field, initial, times * np.log(1 / gamma), rtol, atol, member)
        W1[member], W2[member] = two_layer.unpack(flow.states, size, size, size)
    return Trajectory(times, {"W1": W1, "W2": W2}, {"teacher": teacher, "gamma": np.array(gammas)})


def label_noise_descent(
    data: Arrays,
    *,
    width: Count,
    gamma: Positive,
    step: Positive,
    steps: Count,
    every: Count,
    noise: NonNegative,
    seed: Seed,
) -> Trajectory:
    """Gradient descent from the orthogonal initialisation, with fresh label noise at every step if `noise` > 0.

    Returns
    -------
    Trajectory
        Time is step size times number of steps. Series W1, W2; constants X, Y, P.
    """
    X, Y = data["X"], data["Y"]
    inputs = X.shape[-1]
    rngs = generators(seed, "two_layer.initialisation", len(X))
    P = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs])
    W1, W2 = label_noise.descend(
        np.sqrt(2 * gamma) * P,
        np.zeros((len(X), width, Y.shape[-1])),
        X,
        Y,
        step=step,
        steps=steps,
        every=every,
        noise=noise,
        rngs=generators(seed, "label_noise", len(X)),
    )
    times = step * every * np.arange(W1.shape[1])
    return Trajectory(times, {"W1": W1, "W2": W2}, {"X": X, "Y": Y, "P": P})


def relu_descent(
    data: Arrays,
    *,
    neurons: Count,
    scale: Positive,
    step: Positive,
    start: Positive,
    horizon: Positive,
    points: Count,
    seed: Seed,
) -> Trajectory:
    """Gradient descent of a ReLU student whose weights in both layers start as `scale` times Gaussian ones.

    Returns
    -------
    Trajectory
        Time is step size times number of steps: 0, and up to `points` times evenly spaced in the logarithm
        from `start` to `horizon`. Series W1, the hidden layer with a row for each neuron, and W2, the output
        weights; constants X, y.
    """
    from learning_dynamics.models import relu_student  # imports numba, which no other run waits for

    X, y = data["X"], data["y"]
    record = np.unique(np.r_[0, np.rint(np.geomspace(start, horizon, points) / step)]).astype(int)
    W1 = np.empty((len(X), len(record), neurons, X.shape[-1]))
    W2 = np.empty((len(X), len(record), neurons))
    rngs = generators(seed, "relu_student.initialisation", len(X))
    for member, rng in enumerate(progress(rngs, "ReLU student")):
        W, a = scale * rng.standard_normal((neurons, X.shape[-1])), scale * rng.standard_normal(neurons)
        W1[member], W2[member] = relu_student.descend(W, a, X[member], y[member], step, record)
    return Trajectory(step * record, {"W1": W1, "W2": W2}, {"X": X, "y": y})


def noise_process(
    *,
    inputs: Count,
    paths: Count,
    horizon: Positive,
    points: Count,
    step: Positive,
    schedule: Literal["constant", "inverse square root"],
    seed: Seed,
) -> Trajectory:
    """Paths of dW = dB a^T, da = W^T dB from W(0) = I, a(0) = 0, by the Euler-Maruyama method (eq. 4.1).

    Returns
    -------
    Trajectory
        Recorded at the first steps at or after `points` evenly spaced times. Series W1 (the paper's W), W2
        (a) and average, the exponential moving average of a.
    """
    sizes = euler_maruyama.step_sizes(schedule, step, horizon)
    reached = np.r_[0.0, np.cumsum(sizes)]
    # one long step may pass several of the times
    record = np.unique(np.searchsorted(reached, np.linspace(0.0, horizon, points) * (1 - 1e-9)))
    W, a, average = euler_maruyama.simulate(inputs, paths, sizes, record, seed)
    return Trajectory(reached[record], {"W1": W, "W2": a, "average": average})


def noise_paths(
    *,
    inputs: Count,
    paths: Count,
    horizon: Positive,
    points: Count,
    step: Positive,
    schedule: Literal["constant", "inverse square root"],
    seed: Seed,
) -> Trajectory:
    """A few paths of the noise-driven process, to be looked at one by one; see `noise_process`."""
    return noise_process(
        inputs=inputs, paths=paths, horizon=horizon, points=points, step=step, schedule=schedule, seed=seed
    )


def noise_growth(
    *, inputs: Count, paths: Count, horizon: Positive, points: Count, step: Positive, seed: Seed
) -> Trajectory:
    """Long renormalised paths of the noise-driven process, for the rates at which single paths grow.

    Returns
    -------
    Trajectory
        Series log_growth, shape (paths, points, 2): see `euler_maruyama.log_growth`.
    """
    every = 10
    spacing = every * max(1, round(horizon / (step * every * points)))
    growth = euler_maruyama.log_growth(inputs, paths, step, spacing * points, points, every, seed)
    return Trajectory(step * spacing * np.arange(1, points + 1), {"log_growth": growth})


def _integrated(field: Callable, initial: np.ndarray, times: np.ndarray, rtol: float, atol: float, member: int) -> Flow:
    try:
        return integrate(field, initial, times, rtol=rtol, atol=atol)
    except DivergenceError as error:
        raise DivergenceError(f"member {member}: {error}") from None


def _needed(value: float | None, name: str, init: str) -> float:
    if value is None:
        raise ProjectError(f"init `{init}` needs `{name}`; add it to the run")
    return value
