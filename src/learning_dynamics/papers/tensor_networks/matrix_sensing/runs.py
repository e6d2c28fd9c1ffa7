"""Deep matrix sensing with commuting sensors: limits in two bases, and how rounding grows (Corollary 7)."""

import functools
import itertools
from typing import Literal

import numpy as np
from scipy.integrate import DOP853

from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, limit_of
from learning_dynamics.papers.tensor_networks.starts import undecided
from learning_dynamics.progress import progress
from learning_dynamics.settings import Count, Positive
from learning_dynamics.trajectories import Arrays, Trajectory

PRECISIONS = {"single": np.float32, "double": np.float64, "extended": np.longdouble}
MOST_STEPS = 20_000  # chosen: a run that needs more stops with an error


def matrix_sensing(
    data: Arrays, *, basis: Literal["eigen", "generic"], depths: list[Count], scales: list[Positive], integration: Limit
) -> Trajectory:
    """Follow deep matrix sensing to its limit from W_l = alpha I for l < L and W_L = 0 (Corollary 7).

    The full matrices are followed. With `basis: eigen` this is in the sensors' common basis of eigenvectors, where they
    stay diagonal; with `basis: generic` it is in the basis in which the sensors are given.

    Returns
    -------
    Trajectory
        For each depth a series ``product_<depth>``, shape (data sets, scales, size, size), with the scale in place of
        time: the limit of W_1 ... W_L, in the sensors' eigenbasis for either `basis`; nan where the flow did not
        converge. Constants are the data, as `points.commuting_sensors` returns them.
    """
    y, Q = data["y"], data["Q"]
    size = Q.shape[-1]
    # (data sets, samples, size, size); in the eigenbasis a sensor is the diagonal matrix of its eigenvalues
    sensors = data["X"][..., None] * np.eye(size) if basis == "eigen" else data["A"]
    series: Arrays = {}
    for depth in depths:
        start = np.zeros((depth, size, size))
        start[:-1] = np.eye(size)
        products = np.array(
            [
                [_sensing_limit(sensors[member], y[member], scale * start, integration) for scale in scales]
                for member in progress(range(len(Q)), f"depth {depth}")
            ]
        )
        series[f"product_{depth}"] = products if basis == "eigen" else Q[:, None].mT @ products @ Q[:, None]
    return Trajectory(np.array(scales), series, dict(data), undecided=undecided(series))


def rounding(
    data: Arrays,
    *,
    precisions: list[Literal["single", "double", "extended"]],
    depth: Count,
    scales: list[Positive],
    horizon: Positive,
    records: Count,
    tolerance: Positive,
) -> Trajectory:
    """Follow matrix sensing in a generic basis in several floating-point formats, and record how it fails to commute.

    In exact arithmetic layers that commute with the sensors do so again after every step, whatever the method's error.
    What is off the diagonal in the eigenbasis is therefore rounding that has grown. The error of a step is computed in
    the format itself; it may be `tolerance`, or ten times the format's unit roundoff if that is larger. The horizon is
    in units of alpha^(2 - L), the order of the time at which the flow leaves the saddle.

    Returns
    -------
    Trajectory
        Time is in units of alpha^(2 - L). Series ``<precision>``, shape (data sets, times, scales): the largest size of
        an entry of any layer off the diagonal in the eigenbasis; and ``loss/<precision>``, of the same shape.
    """
    fractions = np.linspace(0.0, 1.0, records)
    series: Arrays = {}
    for precision in precisions:
        growth = [
            _off_diagonal_growth(
                data,
                PRECISIONS[precision],
                depth=depth,
                scale=scale,
                times=fractions * (horizon * scale ** (2 - depth)),
                tolerance=tolerance,
            )
            for scale in progress(scales, precision)
        ]
        # from (scales, 2, data sets, times) to two arrays of shape (data sets, times, scales)
        series[precision], series[f"loss/{precision}"] = np.moveaxis(np.array(growth), 0, -1)
    return Trajectory(fractions * horizon, series, {})


def _pushes(layers: np.ndarray, sensors: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the layers' velocities, shape (depth, ..., size, size), and y - <A, W_1 ... W_L>, shape (..., samples).

    The velocity of W_l is (W_1 ... W_(l-1))^T (sum_i (y_i - <A_i, W_1 ... W_L>) A_i) (W_(l+1) ... W_L)^T. `layers` have
    shape (depth, ..., size, size), `sensors` (..., samples, size, size) and `labels` (..., samples). The axes "..." are
    that of the data sets, or none.
    """
    before = list(itertools.accumulate(layers[:-1], np.matmul))  # W_1, W_1 W_2, ..., W_1 ... W_(L-1)
    # W_2 ... W_L, ..., W_(L-1) W_L, W_L: accumulated from the last layer to the second, then reversed
    after = list(itertools.accumulate(layers[:0:-1], lambda product, layer: layer @ product))[::-1]
    product = layers[0] @ after[0] if after else layers[0]
    residual = labels - (sensors * product[..., None, :, :]).sum(axis=(-2, -1))
    push = (residual[..., None, None] * sensors).sum(axis=-3)
    velocities = np.empty_like(layers)
    for index in range(len(layers)):
        # the first layer has none before it, the last none after
        velocity = before[index - 1].mT @ push if index else push
        velocities[index] = velocity @ after[index].mT if index < len(after) else velocity
    return velocities, residual


def _sensing_limit(sensors: np.ndarray, labels: np.ndarray, start: np.ndarray, integration: Limit) -> np.ndarray:
    """Return W_1 ... W_L where the flow of ``sum_i (y_i - <A_i, W_1 ... W_L>)**2 / 2`` has converged, or nan.

    `sensors` have shape (samples, size, size), `labels` (samples,) and the start (depth, size, size).
    """

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        return _pushes(state.reshape(start.shape), sensors, labels)[0].ravel()

    def residuals(state: np.ndarray) -> np.ndarray:
        return _pushes(state.reshape(start.shape), sensors, labels)[1]

    final = limit_of(field, residuals, labels, start.ravel(), integration=integration)
    return functools.reduce(np.matmul, final.reshape(start.shape))


def _orthonormal(Q: np.ndarray) -> np.ndarray:
    """Return matrices that are orthonormal to extended precision, from matrices orthonormal to double precision.

    One step of the Newton-Schulz iteration Q (3 I - Q^T Q) / 2 squares the error, but for a factor of order one.
    """
    Q = Q.astype(np.longdouble)
    return Q @ (3 * np.eye(Q.shape[-1]) - Q.mT @ Q) / 2


def _off_diagonal_growth(
    data: Arrays, dtype: type, *, depth: int, scale: float, times: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest entry off the diagonal in the eigenbasis and the loss, both of shape (data sets, times).

    The method is the Runge-Kutta method of order eight by Dormand and Prince, in the floating-point type `dtype`, with
    a common step for all data sets. The coefficients are SciPy's, whose own method computes in double precision alone.
    """
    # Sensors that are given in double precision commute to that precision alone. They are formed from their eigenvalues
    # and vectors in extended precision, and rounded once to that of the run.
    Q = _orthonormal(data["Q"])
    sensors = ((Q[:, None] * data["X"][:, :, None].astype(np.longdouble)) @ Q.mT[:, None]).astype(dtype)
    labels: np.ndarray = data["y"].astype(dtype)
    members, size = len(Q), Q.shape[-1]
    state: np.ndarray = np.zeros((depth, members, size, size), dtype=dtype)
    state[:-1] = dtype(scale) * np.eye(size, dtype=dtype)
    # coefficients of the stages, A, of the step, B, and of the estimate of its error, E
    A, B = (coefficients.astype(dtype) for coefficients in (DOP853.A, DOP853.B))
    E = DOP853.E5.astype(dtype)
    # ten units of roundoff, chosen: a step's own rounding must not look like the method's error
    # of each step, relative to the largest parameter
    step_tolerance = dtype(max(tolerance, 10 * float(np.finfo(dtype).eps)))
    off_diagonal, loss = np.empty((members, len(times))), np.empty((members, len(times)))
    time, step, index = 0.0, float(times[-1]) / 1e4, 0  # the first step is chosen; the control below corrects it

    def combined(weights: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Return the sum of the stages' slopes with given weights, shape (1, stages), in the shape of the state."""
        return weights.dot(slopes.reshape(len(slopes), -1)).reshape(state.shape)

    for _ in range(MOST_STEPS):
        # record: steps are cut to end at the times asked for, but for rounding
        while index < len(times) and time >= times[index] * (1 - 1e-12):
            in_eigenbasis = Q.mT @ state.astype(np.longdouble) @ Q
            off_diagonal[:, index] = np.abs(in_eigenbasis * (1 - np.eye(size))).max(axis=(0, 2, 3))
            loss[:, index] = 0.5 * np.sum(_pushes(state, sensors, labels)[1].astype(float) ** 2, axis=-1)
            index += 1
        if index == len(times):
            return off_diagonal, loss
        # step: one stage for each row of A, and a last one at the new state, for the error
        h = dtype(min(step, times[index] - time))
        stages: np.ndarray = np.empty((len(B) + 1, *state.shape), dtype=dtype)
        for row in range(len(B)):
            stage_state = state + h * combined(A[row : row + 1, :row], stages[:row]) if row else state
            stages[row] = _pushes(stage_state, sensors, labels)[0]
        new_state = state + h * combined(B[None], stages[:-1])
        stages[-1] = _pushes(new_state, sensors, labels)[0]
        # The error in units of what is allowed. A step with an error above one is repeated, and the length of the next
        # step follows from it.
        error = float(np.max(np.abs(h * combined(E[None], stages))) / (step_tolerance * np.max(np.abs(new_state))))
        if error < 1:
            state, time = new_state, time + float(h)
        # 0.9, 0.2 and the exponent are those of SciPy's control of this method; 5 is chosen, 1e-12 avoids a zero
        step = float(h) * float(np.clip(0.9 * max(error, 1e-12) ** (-1 / 8), 0.2, 5.0))
    raise DivergenceError(f"matrix sensing: {MOST_STEPS} steps taken by time {time:g} of {times[-1]:g}")
