"""Two-layer networks under gradient descent and flow: coefficients, and their distance from Theorem 5.

A trajectory has a series for each network, of states: v_1 and v_2 in one vector. A direction is a start at scale one; a
start is a direction times a scale. Starts are all pairs of a scale and a direction; directions vary fastest.

- `descent`, on the first data set alone: states, (starts, times, parameters); times count steps. `X` (samples, inputs),
  `y` (samples,).
- `step_sizes`, on the first data set alone: limits, (starts, step sizes, parameters), with step sizes instead of times.
  The constant ``initial/<network>`` (starts, parameters) has the starts. `X` (samples, inputs), `y` (samples,).
- `any_tensor`: limits, (data sets, scales, parameters), with scales instead of times. The constant
  ``initial/<network>`` (data sets, parameters) has one direction for each data set. A data set is one point: `X` (data
  sets, 1, inputs), `y` (data sets, 1).
- `from_many_directions`: limits, (data sets, scales, directions, parameters), with scales instead of times. The
  constant ``initial/<network>`` (data sets, directions, parameters) has the directions. `X`, `y` as for `any_tensor`.
"""

import functools
from collections.abc import Sequence

import numpy as np

from learning_dynamics.papers.tensor_networks import one_point
from learning_dynamics.papers.tensor_networks.architectures import followed_networks
from learning_dynamics.papers.tensor_networks.descent import quantities
from learning_dynamics.papers.tensor_networks.distances import angle_between
from learning_dynamics.papers.tensor_networks.solutions import LIMIT_NORM, minimum_norm
from learning_dynamics.papers.tensor_networks.tables import FOLLOWED, MEASURED, NETWORK, Measures
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

SCALE = Column("scale", "float", "initial scale alpha; 0 where it does not enter", draw=True)
DIRECTION = Column("direction", "int", "which initial coefficients zbar_j; -1 where they do not enter", draw=True)
STEP_SIZE = Column("step_size", "float", "step size eta; 0 for the extrapolation from the two smallest")


def _starts(settings: dict) -> dict[str, np.ndarray]:
    """Return scale and direction of each start, shape (starts,) each, directions varying fastest."""
    scales, directions = settings["scales"], settings["directions"]
    return {
        "scale": np.repeat(np.array(scales, dtype=float), directions),
        "direction": np.tile(np.arange(directions), len(scales)),
    }


@columns(NETWORK, SCALE, DIRECTION, Column("time", "float", "number of steps"), *MEASURED)
def descent(trajectory: Trajectory) -> Tables:
    """Measure two-layer networks under gradient descent.

    Quantities
    ----------
    coefficient
        Coefficients beta.
    limit
        Coefficients after the last step; for one data point and the squared loss Theorem 5 predicts them.
    loss
        The loss that is descended: half the sum of squared residuals, or the sum of exp(-y_i f(x_i)).
    angle
        Angle in degrees between the coefficients and the max-margin direction in the network's own norm (see
        `reference`); classification alone.
    loss_by_growth
        1 / (t |grad log L|^2) at the last time t, with the loss L: the loss that its present relative fall gives, if it
        falls like 1/t. Classification alone.
    condition
        Largest lambda for which a start's direction fulfils the condition of Theorem 5; one data point alone.
    reference
        The solution of least norm, or of largest margin, in the network's own norm: l2 for fully connected, l1 for
        diagonal, the Fourier transform's l1 for convolutional networks. No scale and no direction enter it.
    labelled_points
        The data y_i x_i, one after the other. No scale and no direction enter them.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    # `measures` has what is listed at every time, `at_end` at the last, and `fixed` what has no start. Where an entry
    # is a pair, the second is the prediction of the first.
    classification = settings["loss"] == "exponential"
    starts, end = _starts(settings), trajectory.time[-1:]
    for network, states in followed_networks(trajectory):
        reference = minimum_norm(X, y, LIMIT_NORM[network.name], classification=classification)
        beta = network.coefficients(states)
        outputs = beta @ X.T
        measures: Measures = {quantities.COEFFICIENT: beta}
        at_end: Measures = {quantities.LIMIT: beta[:, -1:]}
        if classification:
            measures[quantities.LOSS] = np.exp(-y * outputs).sum(axis=-1)
            measures[quantities.ANGLE] = angle_between(beta, reference)
            at_end[quantities.LOSS_BY_GROWTH] = _growth(network, X, y, states[:, -1], time=settings["step"] * end[0])
        else:
            measures[quantities.LOSS] = 0.5 * np.sum((outputs - y) ** 2, axis=-1)
        if len(X) == 1:
            directions = states[:, 0] / starts["scale"][:, None]
            at_end[quantities.CONDITION] = _conditions(network, X[0], directions)
            if not classification:
                limits = _limits(network, X[0], y[0], scales=starts["scale"], directions=directions)
                at_end[quantities.LIMIT] = (beta[:, -1:], network.coefficients(limits)[:, None])
        labels = {"network": network.name, "scale": starts["scale"]}
        yield rows(measures, {"direction": starts["direction"], "time": trajectory.time}, **labels)
        yield rows(at_end, {"direction": starts["direction"], "time": end}, **labels)
        fixed = {quantities.REFERENCE: reference[None], quantities.LABELLED_POINTS: (y[:, None] * X).reshape(1, -1)}
        yield rows(fixed, {"time": end}, network=network.name, scale=0.0, direction=-1)


def _limits(
    network: TensorNetwork,
    x: np.ndarray,
    label: float,
    *,
    scales: np.ndarray,
    directions: Sequence[np.ndarray],
    power: float = 2.0,
) -> np.ndarray:
    """Return the limits that Theorem 5 predicts from pairs of a scale and a direction, shape (pairs, parameters).

    `power` is that of `one_point.one_point_limit`.
    """
    tensor = network.data_tensor(x)
    return np.array(
        [
            one_point.one_point_limit(tensor, label, *network.layers(direction), scale=scale, power=power)
            for scale, direction in zip(scales, directions, strict=True)
        ]
    )


def _conditions(network: TensorNetwork, x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the largest lambda of Theorem 5's condition for each of the directions, shape (directions, 1)."""
    tensor = network.data_tensor(x)
    return np.array([[one_point.one_point_condition(tensor, *network.layers(start))] for start in directions])


def _growth(network: TensorNetwork, X: np.ndarray, y: np.ndarray, states: np.ndarray, *, time: float) -> np.ndarray:
    """Return 1 / (t |grad log L|^2), shape (starts, 1): the loss at time t if it falls like 1/t.

    By dL/dt = -|grad L|^2, 1 / L grows at the rate |grad log L|^2. If it grows in proportion to t it is t times this
    rate, and L is one over that.
    """
    # minus grad log L, by each layer: the gradient of f at sum_i w_i y_i x_i, with w_i the share of point i in the loss
    losses = np.exp(-y * (network.coefficients(states) @ X.T))
    tensors = network.data_tensor((losses / losses.sum(axis=1, keepdims=True) * y) @ X)  # (starts, k_1, k_2)
    v1, v2 = network.layers(states)
    pushes = tensors @ v2[..., None], v1[:, None] @ tensors  # (starts, k_1, 1) and (starts, 1, k_2)
    return 1 / (time * np.sum([np.sum(push**2, axis=(1, 2)) for push in pushes], axis=0)[:, None])


@columns(NETWORK, SCALE, DIRECTION, STEP_SIZE, *MEASURED)
def step_sizes(trajectory: Trajectory) -> Tables:
    """Measure where gradient descent ends, by its step size.

    Quantities
    ----------
    limit
        Coefficients at the end, predicted by Theorem 5. At step size zero they are extrapolated along the line through
        those at the two smallest step sizes.
    wrong_power
        `limit`, predicted by Theorem 5 with y / alpha in place of y / alpha^2.
    least_norm
        `limit`, predicted by the interpolator of least norm in the network's own norm.
    residual
        |f(x) - y|.
    condition
        Largest lambda for which a start's direction fulfils the condition of Theorem 5, repeated for every step size.
    """
    X, y = trajectory.constants["X"], trajectory.constants["y"]
    starts, sizes = _starts(trajectory.settings), trajectory.time
    order = np.argsort(sizes)[:2]
    fine, coarse = sizes[order]
    for network, ends in followed_networks(trajectory):
        directions = trajectory.constants[f"initial/{network.name}"] / starts["scale"][:, None]
        predict = functools.partial(_limits, network, X[0], y[0], scales=starts["scale"], directions=directions)
        predicted = {
            quantities.LIMIT: network.coefficients(predict(power=2.0)),
            quantities.WRONG_POWER: network.coefficients(predict(power=1.0)),
        }
        least_norm = minimum_norm(X, y, LIMIT_NORM[network.name])
        predicted[quantities.LEAST_NORM] = np.broadcast_to(least_norm, predicted[quantities.LIMIT].shape)
        beta = network.coefficients(ends)
        # where the line through the limits at the two smallest step sizes is at step size zero
        line = (coarse * beta[:, order[0]] - fine * beta[:, order[1]]) / (coarse - fine)
        beta = np.concatenate([line[:, None], beta], axis=1)  # shape (starts, 1 + step sizes, inputs)
        measures: Measures = {name: (beta, limit[:, None]) for name, limit in predicted.items()}
        measures[quantities.RESIDUAL] = np.abs(beta @ X[0] - y[0])
        measures[quantities.CONDITION] = np.repeat(_conditions(network, X[0], directions), 1 + len(sizes), axis=1)
        axes = {"direction": starts["direction"], "step_size": np.concatenate([[0.0], sizes])}
        yield rows(measures, axes, network=network.name, scale=starts["scale"])


@columns(SEED, NETWORK, SCALE, *FOLLOWED)
def any_tensor(trajectory: Trajectory) -> Tables:
    """Measure where the flow of two layers ends on one point, for any data tensor.

    Quantities
    ----------
    parameter
        Entries of both layers, predicted by Theorem 5.
    wrong_power
        `parameter`, predicted by Theorem 5 with y / alpha in place of y / alpha^2.
    opposite_label
        `parameter`, predicted by Theorem 5 with the opposite label.
    """
    X, y, scales = trajectory.constants["X"], trajectory.constants["y"], trajectory.time
    for network, states in followed_networks(trajectory):
        starts = trajectory.constants[f"initial/{network.name}"]  # directions, one for each data set
        measures = {}
        for quantity, sign, power in (
            # a quantity, the sign of its label, and the power of alpha in Theorem 5's equation
            (quantities.PARAMETER, 1, 2.0),
            (quantities.WRONG_POWER, 1, 1.0),
            (quantities.OPPOSITE_LABEL, -1, 2.0),
        ):
            limits = [
                _limits(network, x, sign * label, scales=scales, directions=[start] * len(scales), power=power)
                for x, label, start in zip(X[:, 0], y[:, 0], starts, strict=True)
            ]
            measures[quantity] = (states, np.array(limits))
        yield rows(measures, {"seed": np.arange(len(starts)), "scale": scales}, network=network.name)


@columns(SEED, NETWORK, SCALE, DIRECTION, *FOLLOWED)
def from_many_directions(trajectory: Trajectory) -> Tables:
    """Measure where the flow of two layers ends on one point, from several directions.

    Quantities
    ----------
    parameter
        Entries of both layers.
    coefficient
        Coefficients beta.
    remainder
        The most that Theorem 5 can leave at the limit of a layer's component along a singular vector of M(x) whose
        singular value is not the largest, relative to the components along those whose is; one at most.
    second_singular_value
        Second singular value of M(x), relative to the first.
    """
    X, y, scales = trajectory.constants["X"], trajectory.constants["y"], trajectory.time
    for network, states in followed_networks(trajectory):
        starts = trajectory.constants[f"initial/{network.name}"]  # directions, (data sets, directions, parameters)
        remainders, second = np.empty(states.shape[:-1]), np.empty(states.shape[:-1])
        for member, place, number in np.ndindex(remainders.shape):
            tensor, label = network.data_tensor(X[member, 0]), y[member, 0]
            # for the limit of the squared loss log(2 |y| / alpha^2) takes the place of log log t (`remainder_bounds`)
            log_log_time = np.log(2 * abs(label)) - 2 * np.log(scales[place])
            v1, v2 = network.layers(starts[member, number])
            s, sums, differences = one_point.transient(tensor, label, v1, v2, log_log_time=log_log_time)
            # The bounds along singular values below the first: relative to the first, Theorem 5 sends these components
            # to zero as alpha does. Values count as equal up to 1e-9 of the first, chosen far above rounding.
            inactive = np.where(s < s[0] * (1 - 1e-9), sums + differences, 0.0)
            remainders[member, place, number] = min(1.0, float(inactive.max()))
            second[member, place, number] = s[1] / s[0]
        measures = {
            quantities.PARAMETER: states,
            quantities.COEFFICIENT: network.coefficients(states),
            quantities.REMAINDER: remainders,
            quantities.SECOND_SINGULAR_VALUE: second,
        }
        axes = {"seed": np.arange(len(X)), "scale": scales, "direction": np.arange(states.shape[2])}
        yield rows(measures, axes, network=network.name)
