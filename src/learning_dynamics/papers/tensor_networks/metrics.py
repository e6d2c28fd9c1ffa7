"""What is measured: coefficients, their distance from predicted limits, and what the theorems say of the layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from learning_dynamics.dynamics.log_time import residual_directions
from learning_dynamics.measures.reference_solutions import Norm, minimum_matrix_norm, minimum_norm
from learning_dynamics.models import tensor_network
from learning_dynamics.models.tensor_architectures import network_of
from learning_dynamics.models.tensor_network import TensorNetwork, contractions
from learning_dynamics.papers.tensor_networks import theory
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

# the norm whose max-margin or min-norm solution each two-layer network tends to
NORMS: dict[str, Norm] = {"fully_connected": "l2", "diagonal": "l1", "convolutional": "dft_l1"}


@dataclass(frozen=True)
class Limit:
    """A predicted limit direction of beta, and the exponent of tau in the angle to it, given the last -X^T r."""

    direction: np.ndarray
    exponent: Callable[[np.ndarray], float]


VALUE = (
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... for entries of a vector; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the theory gives for it, where it does", nullable=True),
)


def _rows(quantity: str, value: Any, predicted: Any = None, **keys: Any) -> pd.DataFrame:
    """Return rows of one quantity: arrays (times,) give scalars by time, (times, count) vectors by time."""
    value = np.asarray(value, dtype=float)
    scalar = value.ndim < 2
    value = value.reshape(-1, 1) if scalar else value
    times, count = value.shape
    predicted = np.nan if predicted is None else np.asarray(predicted, dtype=float)
    if scalar and np.ndim(predicted) == 1:
        predicted = predicted[:, None]
    repeated = {key: np.repeat(np.broadcast_to(entry, times), count) for key, entry in keys.items()}
    index = np.zeros(times, dtype=int) if scalar else np.tile(np.arange(1, count + 1), times)
    return pd.DataFrame(
        {
            **repeated,
            "quantity": quantity,
            "index": index,
            "value": value.ravel(),
            "predicted": np.broadcast_to(predicted, value.shape).ravel(),
        }
    )


def _joined(measure: Callable, tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return one table with the columns that its metrics function declares, in their order."""
    return pd.concat(tables, ignore_index=True)[[column.name for column in measure.columns]]  # type: ignore[attr-defined]


def _grid(settings: dict, *names: str) -> Iterator[tuple]:
    """Yield the position in a series' first axis, and what belongs to it, for settings that vary as listed."""
    sizes = [settings[name] if isinstance(settings[name], list) else range(settings[name]) for name in names]
    for position, chosen in enumerate(np.ndindex(*map(len, sizes))):
        yield position, *(size[i] for size, i in zip(sizes, chosen, strict=True))


def _angle(beta: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return angles in degrees between vectors, accurate near zero."""
    unit = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
    direction = direction / np.linalg.norm(direction)
    return np.degrees(
        2 * np.arctan2(np.linalg.norm(unit - direction, axis=-1), np.linalg.norm(unit + direction, axis=-1))
    )


@columns(
    Column("network", "str", "architecture"),
    Column("scale", "float", "initial scale alpha; 0 where it does not enter"),
    Column("direction", "int", "which of the initial coefficients zbar_j; -1 where they do not enter"),
    Column("time", "float", "number of steps"),
    *VALUE,
)
def descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure two-layer networks under gradient descent.

    Quantities: ``coefficient``; ``limit``, the last coefficients, predicted by Theorem 5 where there is one
    data point and the loss is squared; ``loss``; ``angle``, in degrees, to the maximum-margin direction
    (classification); ``condition``, the largest lambda for which the initial directions fulfil Theorem 5;
    ``reference``, the solution of least norm or largest margin in the network's own norm.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    classification = settings["loss"] == "exponential"
    tables = []
    for architecture in settings["networks"]:
        network = network_of(architecture, X.shape[1], 2, 0)
        reference = minimum_norm(X, y, NORMS[architecture], classification=classification)
        tables.append(
            _rows("reference", reference[None], network=architecture, scale=0.0, direction=-1, time=trajectory.time[-1])
        )
        for position, scale, direction in _grid(settings, "scales", "directions"):
            states = trajectory.series[architecture][position]
            beta = network.coefficients(states)
            keys = {"network": architecture, "scale": scale, "direction": direction}
            outputs = beta @ X.T
            loss = np.exp(-y * outputs).sum(axis=1) if classification else 0.5 * np.sum((outputs - y) ** 2, axis=1)
            predicted = None
            if len(X) == 1:
                first, second = network.layers(states[0] / scale)
                tensor = network.data_tensor(X[0])
                condition = theory.one_point_condition(tensor, first, second)
                tables.append(_rows("condition", [condition], time=0.0, **keys))
                if not classification:
                    limit = theory.one_point_limit(tensor, y[0], scale, first, second)
                    predicted = network.coefficients(np.concatenate(limit))
            tables += [
                _rows("coefficient", beta, time=trajectory.time, **keys),
                _rows("limit", beta[-1:], predicted, time=trajectory.time[-1:], **keys),
                _rows("loss", loss, time=trajectory.time, **keys),
            ]
            if classification:
                tables.append(_rows("angle", _angle(beta, reference), time=trajectory.time, **keys))
    return _joined(descent, tables)


@columns(
    Column("network", "str", "architecture"),
    Column("step", "float", "step size eta; 0 for the extrapolation from the two smallest"),
    Column("scale", "float", "initial scale alpha"),
    Column("direction", "int", "which of the initial coefficients zbar_j"),
    *VALUE,
)
def step_sizes(trajectory: Trajectory) -> pd.DataFrame:
    """Measure where gradient descent ends.

    Quantities: ``error``, the largest distance of a coefficient from Theorem 5; ``residual``, |f - y|;
    ``condition``, the largest lambda for which the initial directions fulfil Theorem 5.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for architecture in settings["networks"]:
        network = network_of(architecture, X.shape[1], 2, 0)
        tensor = network.data_tensor(X[0])
        found, limits = {}, {}
        for position, step, scale, direction in _grid(settings, "steps", "scales", "directions"):
            first, second = network.layers(trajectory.constants[f"initial/{architecture}"][position] / scale)
            predicted = np.concatenate(theory.one_point_limit(tensor, y[0], scale, first, second))
            beta = network.coefficients(trajectory.series[architecture][position, 0])
            limits[scale, direction] = network.coefficients(predicted)
            error = np.max(np.abs(beta - limits[scale, direction]))
            keys = {"network": architecture, "step": step, "scale": scale, "direction": direction}
            found[step, scale, direction] = beta
            tables += [
                _rows("error", [error], **keys),
                _rows("residual", [abs(X[0] @ beta - y[0])], **keys),
                _rows("condition", [theory.one_point_condition(tensor, first, second)], **keys),
            ]
        fine, coarse = sorted(settings["steps"])[:2]
        for (scale, direction), limit in limits.items():
            # the line through the limits at the two smallest step sizes, at step size zero
            line = (coarse * found[fine, scale, direction] - fine * found[coarse, scale, direction]) / (coarse - fine)
            keys = {"network": architecture, "step": 0.0, "scale": scale, "direction": direction}
            tables.append(_rows("error", [np.max(np.abs(line - limit))], **keys))
    return _joined(step_sizes, tables)


@columns(
    Column("seed", "int", "data set"),
    Column("network", "str", "architecture"),
    Column("scale", "float", "initial scale alpha"),
    Column("direction", "int", "which of the initial directions"),
    Column("tau", "float", "log(1 + t)"),
    *VALUE,
)
def log_time(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the flow of classification in logarithmic time.

    Quantities, by time: ``log_loss``; ``singular``, the largest distance of a layer's direction from solving
    the singular-vector equations of M(-u), relative to their singular value (Theorem 1); for orthogonally
    decomposable networks ``stationarity``, the residual of the stationarity conditions of Theorem 2, relative;
    where the limit direction is that of a convex program ``angle``, in degrees, to it; for one data point and
    two layers ``layer_difference``, |eta_1 - y eta_2| / |eta_1| in singular coordinates (Theorem 3).

    Once: ``coefficient``, the last direction, predicted where it is; ``exponent``, of 1/tau in the angle over the
    last decade, predicted from the singular values that go with u; ``intercept``, the angle at infinite tau, in
    degrees, extrapolated with the predicted exponent; ``settled``, the angle in degrees by which X^T r has
    turned in the last decade of tau.
    """
    settings = trajectory.settings
    tables: list[pd.DataFrame] = []
    for architecture in settings["networks"]:
        network = network_of(architecture, trajectory.constants["X"].shape[-1], settings["depth"], settings["seed"])
        sizes = settings | {"sets": len(trajectory.constants["X"])}
        for position, member, scale, direction in _grid(sizes, "sets", "scales", "directions"):
            X, y = trajectory.constants["X"][member], trajectory.constants["y"][member]
            keys = {"seed": member, "network": architecture, "scale": scale, "direction": direction}
            states = trajectory.series[architecture][position]
            limit = _limit(network, architecture, X, y)
            tables += _classified(network, X, y, trajectory.time, states, limit, keys)
    return _joined(log_time, tables)


@columns(
    Column("seed", "int", "data set"),
    Column("length", "int", "filter length k_1"),
    Column("tau", "float", "log(1 + t)"),
    *VALUE,
)
def filters(trajectory: Trajectory) -> pd.DataFrame:
    """Measure two-layer convolutional networks with filters of several lengths, trained on one point.

    Quantities as in `log_time`, and ``point``, the data point times its label; ``corollary``, the last
    direction, predicted by Corollary 4 (lengths 1 and 2).
    """
    tables: list[pd.DataFrame] = []
    for length in trajectory.settings["lengths"]:
        for member, (X, y) in enumerate(zip(trajectory.constants["X"], trajectory.constants["y"], strict=True)):
            network = tensor_network.convolutional(X.shape[1], [length, X.shape[1]])
            keys = {"seed": member, "length": length}
            states = trajectory.series[f"length_{length}"][member]
            architecture = "convolutional" if length == X.shape[1] else "short_filters"
            limit = _limit(network, architecture, X, y)
            tables += _classified(network, X, y, trajectory.time, states, limit, keys)
            tables.append(_rows("point", y[:1, None] * X, tau=0.0, **keys))
            if length <= 2:
                beta = network.coefficients(states[-1:])
                predicted = theory.filtered_direction(X[0], y[0], length)
                last = trajectory.time[-1]
                tables.append(_rows("corollary", beta / np.linalg.norm(beta), predicted, tau=last, **keys))
    return _joined(filters, tables)


def _classified(
    network: TensorNetwork,
    X: np.ndarray,
    y: np.ndarray,
    taus: np.ndarray,
    states: np.ndarray,
    limit: Limit | None,
    keys: dict,
) -> Iterator[pd.DataFrame]:
    """Yield what `log_time` and `filters` measure of one run, after its start, where beta may be zero."""
    taus, states = taus[1:], states[1:]
    beta = network.coefficients(states)
    pushed = residual_directions(network, X, y, states)
    yield _rows("log_loss", logsumexp(-beta @ (y[:, None] * X).T, axis=1), tau=taus, **keys)
    singular = [_singular_residual(network, u, state) for u, state in zip(pushed, states, strict=True)]
    yield _rows("singular", singular, tau=taus, **keys)
    decade = int(np.searchsorted(taus, taus[-1] / 10 * (1 - 1e-9)))
    yield _rows("settled", _angle(pushed[decade : decade + 1], pushed[-1]), tau=taus[-1], **keys)
    if network.S is not None:
        stationarity = _stationarity(network, pushed, states)
        yield _rows("stationarity", stationarity, tau=taus, **keys)
    if len(X) == 1 and network.depth == 2:
        yield _rows("layer_difference", _layer_difference(network, X[0], y[0], states), tau=taus, **keys)
    unit = beta[-1:] / np.linalg.norm(beta[-1])
    if limit is None:
        yield _rows("coefficient", unit, tau=taus[-1], **keys)
        return
    angle = _angle(beta, limit.direction)
    yield _rows("angle", angle, tau=taus, **keys)
    yield _rows("coefficient", unit, limit.direction / np.linalg.norm(limit.direction), tau=taus[-1], **keys)
    yield from _fitted(taus, angle, limit.exponent(pushed[-1]), keys)


def _limit(network: TensorNetwork, architecture: str, X: np.ndarray, y: np.ndarray) -> Limit | None:
    """Return what theory says of the limit direction of beta, where it is one direction, not any stationary point."""
    if architecture == "fully_connected":
        # W_1 keeps its part outside the span of the data, which the other layers carry along like tau**(1 - 1/L)
        return Limit(minimum_norm(X, y, "l2", classification=True), lambda u: 1 / network.depth)
    if network.depth > 2:
        return None
    if network.S is None:
        return _one_point_limit(network, X[0], y[0]) if len(X) == 1 else None
    if np.iscomplexobj(network.S):
        direction = minimum_norm(X, y, "dft_l1", classification=True)
        rho = np.fft.fft(direction)
    else:
        rho = minimum_norm(X @ network.S.T, y, "l1", classification=True)
        direction = network.S.T @ rho
    active = np.abs(rho) > 1e-6 * np.abs(rho).max()
    return Limit(direction, lambda u: _lag(np.abs(network.S @ u), active))


def _lag(values: np.ndarray, active: np.ndarray) -> float:
    """Return the exponent with which inactive singular directions of two layers fall behind active ones.

    Active directions grow like tau in the coefficients, and an inactive one, whose singular value of M(-u) is
    smaller by a factor s, like tau**s. Offsets of the margins fall behind like 1/tau. Active directions share
    the largest singular value in the limit; where they do not yet, the answer is nan.
    """
    if values[active].min() < 0.99 * values.max():
        return np.nan
    if active.all():
        return 1.0
    return float(np.clip(1 - values[~active].max() / values[active].min(), 0.0, 1.0))


def _one_point_limit(network: TensorNetwork, x: np.ndarray, label: float) -> Limit:
    """Return the coefficients at the top singular vectors of M(x), which must be simple (Theorem 3).

    Where M has no common singular vectors for all inputs, a lagging direction of one layer enters the
    coefficients together with the leading direction of the other, so that the exponent is halved.
    """
    U1, values, U2 = np.linalg.svd(network.data_tensor(x), full_matrices=False)
    direction = label * network.coefficients(np.concatenate([U1[:, 0], U2[0]]))
    second = values[1] / values[0] if len(values) > 1 else 0.0
    return Limit(direction, lambda u: (1 - second) / 2)


def _fitted(taus: np.ndarray, angle: np.ndarray, predicted: float, keys: dict) -> Iterator[pd.DataFrame]:
    """Yield the exponent of tau in the angle over the last decade, and the angle's intercept at infinite tau.

    The intercept is that of a straight line through the last two decades against the predicted power of tau.
    """
    decade = taus >= taus[-1] / 10 * (1 - 1e-9)
    last = np.maximum(angle[decade], 1e-300)
    yield _rows("exponent", [-np.log(last[-1] / last[0]) / np.log(10)], predicted, tau=taus[-1], **keys)
    late = taus >= taus[-1] / 100 * (1 - 1e-9)
    if predicted > 0:
        line = np.polynomial.Polynomial.fit(taus[late] ** -predicted, angle[late], 1)
        yield _rows("intercept", [line(0.0)], 0.0, tau=taus[-1], **keys)


def _singular_residual(network: TensorNetwork, u: np.ndarray, state: np.ndarray) -> float:
    """Return how far the layers' directions are from singular vectors of M(u), relative to the singular value."""
    layers = [layer / max(np.linalg.norm(layer), 1e-300) for layer in network.layers(state)]
    pushes = contractions(network.data_tensor(u), layers)
    value = float(pushes[0] @ layers[0])
    if value <= 0:
        return 1.0
    distances = [np.linalg.norm(push - value * layer) for push, layer in zip(pushes, layers, strict=True)]
    return float(max(distances)) / value


def _stationarity(network: TensorNetwork, pushed: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the residual of Theorem 2's stationarity conditions, shape (times,).

    At a stationary point of the l_(2/L) problem, |rho_j|**(2/L) is proportional to (S u)_j rho_j, which is
    real and not negative; where rho_j is zero both sides are.
    """
    assert network.S is not None
    projected = [layer @ vectors for layer, vectors in zip(network.layers(states), network.U, strict=True)]
    rho = np.prod(projected, axis=0)
    size = np.abs(rho) ** (2 / network.depth)
    aligned = (pushed @ network.S.T) * rho
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = size.sum(axis=1, keepdims=True) / aligned.real.sum(axis=1, keepdims=True)
        residual = np.abs(size - factor * aligned).sum(axis=1) / size.sum(axis=1)
    return np.nan_to_num(residual, nan=1.0, posinf=1.0)


def _layer_difference(network: TensorNetwork, x: np.ndarray, label: float, states: np.ndarray) -> np.ndarray:
    """Return |eta_1 - y eta_2| / |eta_1| in the coordinates of the singular vectors of M(x)."""
    U1, _, U2 = np.linalg.svd(network.data_tensor(x), full_matrices=False)
    first, second = network.layers(states)
    eta1, eta2 = first @ U1, second @ U2.T
    return np.linalg.norm(eta1 - label * eta2, axis=1) / np.linalg.norm(eta1, axis=1)


@columns(
    Column("seed", "int", "data set"),
    Column("network", "str", "architecture"),
    Column("depth", "int", "number of layers L"),
    Column("time", "float", "gradient-flow time"),
    *VALUE,
)
def flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the invariants of orthogonally decomposable networks.

    Quantities: ``drift``, the largest change of |(U_l^T v_l)_j|^2 - |(U_L^T v_L)_j|^2 over l and j since the
    start; ``size``, the largest |(U_l^T v_l)_j|^2; ``loss``.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for architecture in settings["networks"]:
        for depth in settings["depths"]:
            network = network_of(architecture, X.shape[-1], depth, settings["seed"])
            for member in range(len(X)):
                states = trajectory.series[f"{architecture}_{depth}"][member]
                squares = _squares(network, states)
                change = np.abs((squares - squares[-1]) - (squares - squares[-1])[:, :1]).max(axis=(0, 2))
                keys = {"seed": member, "network": architecture, "depth": depth, "time": trajectory.time}
                outputs = network.coefficients(states) @ X[member].T
                tables += [
                    _rows("drift", change, **keys),
                    _rows("size", squares.max(axis=(0, 2)), **keys),
                    _rows("loss", 0.5 * np.sum((outputs - y[member]) ** 2, axis=1), **keys),
                ]
    return _joined(flow, tables)


def _squares(network: TensorNetwork, states: np.ndarray) -> np.ndarray:
    """Return |U_l^T v_l|**2, shape (depth, times, m)."""
    layers = network.layers(states)
    return np.stack([np.abs(layer @ vectors) ** 2 for layer, vectors in zip(layers, network.U, strict=True)])


@columns(
    Column("seed", "int", "data set"),
    Column("method", "str", "flow: gradient flow; descent: gradient descent"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def interpolation(trajectory: Trajectory) -> pd.DataFrame:
    """Measure limits of regression against the minimisers of Q (Theorem 4; Corollaries 5 and 6).

    Quantities: ``coefficient``, predicted by Theorem 4; ``error``, the relative distance from that;
    ``printed_error``, the relative distance from the minimiser of Q(F z) without the factor of the data tensor's
    singular values, as Corollary 6 is printed (convolutional networks); ``l1_distance`` and ``l2_distance``,
    the relative distances from the solutions of least weighted norm that Q tends to (Remark 4).
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for depth in settings["depths"]:
        network = network_of(settings["network"], X.shape[-1], depth, settings["seed"])
        assert network.S is not None
        sizes = settings | {"sets": len(X)}
        for position, member, scale in _grid(sizes, "sets", "scales"):
            eta = trajectory.constants[f"eta_{depth}"][member]
            even = settings["network"] == "convolutional"
            features, back = X[member] @ network.S.T, network.S.T
            if even:  # an even sequence's transform is real, and so is the program
                features, back = features.real, back.real
            predicted = back @ theory.norm_like_minimiser(features, y[member], eta, scale, depth)
            least_l1 = back @ (eta ** (depth - 2) * minimum_norm(features * eta ** (depth - 2), y[member], "l1"))
            least_l2 = back @ (eta ** (depth - 1) * minimum_norm(features * eta ** (depth - 1), y[member], "l2"))
            others = {"l1_distance": least_l1, "l2_distance": least_l2}
            if even:
                F = tensor_network.fourier(X.shape[-1]).real
                others["printed_error"] = F @ theory.norm_like_minimiser(X[member] @ F, y[member], eta, scale, depth)
            for method in ("flow", "descent"):
                if f"{method}_{depth}" not in trajectory.series:
                    continue
                beta = network.coefficients(trajectory.series[f"{method}_{depth}"][position, 0])
                keys = {"seed": member, "method": method, "depth": depth, "scale": scale}
                tables += [
                    _rows("coefficient", beta[None], predicted, **keys),
                    _rows("error", [_distance(beta, predicted)], **keys),
                    *(_rows(quantity, [_distance(beta, other)], **keys) for quantity, other in others.items()),
                ]
    return _joined(interpolation, tables)


def _distance(found: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(found - reference) / np.linalg.norm(reference))


@columns(
    Column("seed", "int", "data set"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def matrix_sensing(trajectory: Trajectory) -> pd.DataFrame:
    """Measure limits of deep matrix sensing (Corollary 7).

    Quantities: ``error``, the relative distance of W_1 ... W_L from the minimiser of Q;
    ``nuclear_distance`` and ``frobenius_distance``, from the solutions of least norm.
    """
    constants, settings = trajectory.constants, trajectory.settings
    members = range(len(constants["A"]))
    least = {
        norm: [minimum_matrix_norm(constants["A"][member], constants["y"][member], norm) for member in members]
        for norm in ("nuclear", "frobenius")
    }
    tables = []
    for depth in settings["depths"]:
        sizes = settings | {"sets": len(members)}
        for position, member, scale in _grid(sizes, "sets", "scales"):
            product = trajectory.series[f"product_{depth}"][position, 0]
            X, y, Q = (constants[name][member] for name in ("X", "y", "Q"))
            predicted = (Q * theory.norm_like_minimiser(X, y, np.ones(len(Q)), scale, depth)) @ Q.T
            keys = {"seed": member, "depth": depth, "scale": scale}
            tables.append(_rows("error", [_distance(product, predicted)], **keys))
            tables += [
                _rows(f"{norm}_distance", [_distance(product, solutions[member])], **keys)
                for norm, solutions in least.items()
            ]
    return _joined(matrix_sensing, tables)


@columns(
    Column("seed", "int", "data set"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def deep_regression(trajectory: Trajectory) -> pd.DataFrame:
    """Measure where deep fully connected networks end (Theorem 6).

    Quantities: ``distance``, |beta - beta_*| / |beta_*| from the interpolator of least l2 norm; ``residual``,
    the largest |f(x_i) - y_i| relative to the largest |y_i|.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for depth in settings["depths"]:
        network = tensor_network.fully_connected([X.shape[-1]] * depth)
        for position, member, scale in _grid(settings | {"sets": len(X)}, "sets", "scales"):
            beta = network.coefficients(trajectory.series[f"flow_{depth}"][position, 0])
            least = np.linalg.pinv(X[member]) @ y[member]
            residual = np.max(np.abs(X[member] @ beta - y[member])) / np.max(np.abs(y[member]))
            keys = {"seed": member, "depth": depth, "scale": scale}
            tables += [_rows("distance", [_distance(beta, least)], **keys), _rows("residual", [residual], **keys)]
    return _joined(deep_regression, tables)


@columns(
    Column("depth", "int", "number of layers L"),
    Column("sign", "int", "1 forward, -1 backward in time"),
    Column("time", "float", "t"),
    *VALUE,
)
def depth_functions(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the functions of Lemma 5.1.

    Quantities: ``q`` and ``h``, predicted in closed form; ``reached``, the time at which |q| passes the bound
    of the configuration, predicted likewise.
    """
    settings = trajectory.settings
    tables = []
    for position, depth, sign in _grid(settings | {"signs": [1, -1]}, "depths", "signs"):
        times = trajectory.time * trajectory.constants["reached"][position]
        p, q = trajectory.series["state"][position].T
        keys = {"depth": depth, "sign": sign}
        tables += [
            _rows("q", q, theory.depth_q(times, depth), time=times, **keys),
            _rows("h", p ** (depth - 1) * q, theory.depth_h(times, depth), time=times, **keys),
            _rows(
                "reached",
                times[-1:],
                theory.depth_time(np.array([sign * settings["last"]]), depth),
                time=times[-1:],
                **keys,
            ),
        ]
    return _joined(depth_functions, tables)


@columns(
    Column("array", "str", "tensor_0, the data tensor, to tensor_L, the output; vector_1 to vector_L"),
    Column("axis_1", "int", "index along the first axis, from 0"),
    Column("axis_2", "int", "along the second; 0 where there is none"),
    Column("axis_3", "int", "along the third; 0 where there is none"),
    Column("value", "float", "entry"),
)
def contraction(trajectory: Trajectory) -> pd.DataFrame:
    """List the entries of a data tensor of order three or less, of the vectors, and of what each contraction leaves."""
    tables = []
    for name, series in trajectory.series.items():
        array = series[0, 0].reshape(*series.shape[2:], *([1] * (5 - series.ndim)))
        first, second, third = (axis.ravel() for axis in np.indices(array.shape))
        tables.append(
            pd.DataFrame({"array": name, "axis_1": first, "axis_2": second, "axis_3": third, "value": array.ravel()})
        )
    return _joined(contraction, tables)
