"""Measures of one flow of the exponential loss: margins, stationarity, singular vectors, and how they settle.

Gaps, residuals and distances are zero where a result of the paper holds exactly; powers have predictions of their own.
So every draw can be judged by them. Rivals, which are wrong predictions, are judged by the same measures with another
norm, exponent or tensor, such as `gap_l1` where the theorem is about `gap_l2`.

Symbols, theorems and equation numbers are those of Yun et al. 2021. The data tensor M(x), which has an axis for each
layer, is `TensorNetwork.data_tensor`. An orthogonally decomposable network, as diagonal and convolutional ones are, has
matrices S and U_l and the singular coordinates U_l^T v_l; rho is the entrywise product of these of all layers, and the
coefficients are beta = S^T rho. The residuals are r_i = -y_i exp(-y_i f(x_i)), and u is the direction of X^T r. The
loss pushes the coefficients along -u: this is `push` in the code.

`log_log_times` are tau = log(1 + log(1 + t)). Docstrings write log t for 1 + log(1 + t), and log log t for tau. States
are the parameters divided by e^(tau / L), so that coefficients and margins are those of the network divided by e^tau.

Shapes: states (times, parameters), of one flow; coefficients beta and push (times, inputs); rho (times, m) in m
singular coordinates; layer l (times, k_l); X (samples, inputs); y (samples,). `measure_flow` leaves out the first time,
so that its results are one shorter than `log_log_times`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

import numpy as np

from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.theory import fitted_power, outside_support, tight_margins
from learning_dynamics.papers.tensor_networks.distances import angle_between
from learning_dynamics.papers.tensor_networks.exponential_flow import capped_stiffness
from learning_dynamics.papers.tensor_networks.solutions import LIMIT_NORM, Norm, least_quasi_norm, minimum_norm, norm_of
from learning_dynamics.papers.tensor_networks.tables import MARGIN, Measures
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork

NORMS: tuple[Norm, ...] = ("l2", "l1", "dft_l1")


@dataclass(frozen=True)
class LabelledData:
    """A data set for classification, and the classifier of largest margin on it in each norm.

    Attributes
    ----------
    X : ndarray, shape (samples, inputs)
    y : ndarray, shape (samples,)
    """

    X: np.ndarray
    y: np.ndarray

    @cached_property
    def max_margin(self) -> dict[Norm, np.ndarray]:
        """The classifier of least norm among those whose margins are at least one, by norm."""
        return {norm: minimum_norm(self.X, self.y, norm, classification=True) for norm in NORMS}


def measure_flow(
    network: TensorNetwork,
    data: LabelledData,
    log_log_times: np.ndarray,
    states: np.ndarray,
    *,
    sharpness: float,
    window: Sequence[float],
) -> Measures:
    """Measure one flow: each quantity is a number for each time but the first, at which coefficients may be zero.

    Quantities
    ----------
    margin
        Least y_i f(x_i) / (1 + log(1 + t)) over the points; tends to one where the loss falls like 1/t.
    turn_of_residuals
        Angle in degrees between X^T r and its direction at the last time.
    gap_l2, gap_l1, gap_dft_l1
        By how much the margin of the coefficients, divided by their norm, is below the largest possible, relative to
        the largest possible; the norm is l2, l1, or l1 of the unitary Fourier transform (dft_l1).
    gap_own
        Such a gap in the norm in which theory gives the network the largest margin: l2 for fully connected ones, at any
        depth. For two layers: the Fourier transform's l1 for convolutional networks, and l1 of rho for orthogonally
        decomposable ones with a real S (if diagonal, this is l1 of the coefficients). Missing where theory gives no
        norm.
    angle
        Angle in degrees between the coefficients and the classifier of largest margin in the norm of `gap_own`; missing
        where `gap_own` is missing, and for the architecture `decomposable`.
    angle_power
        Power of 1 / log t in `angle`, fitted within the window; at the last time, nan at others. Missing where `angle`
        is. The prediction for fully connected networks is 1 / L, nan where the support vectors span all inputs. For
        other networks, of two layers, it is 1 - s: s is the largest singular value of M(-u) that belongs to an inactive
        direction, relative to the active ones, and zero if no direction is inactive. It is nan where active directions
        outnumber the support vectors (`_predicted_exponent`).
    singular_residual
        Residual of the singular-vector equations of M(-u) at the layers' directions, the largest of all layers,
        relative to their singular value (Theorem 1); u is that of the same time. One where the value is not positive.
    singular_residual_data
        `singular_residual` with sum_i y_i x_i, the sum of the labelled data, instead of -u.
    singular_residual_coefficients
        `singular_residual` with the coefficients of the last time instead of -u.
    top_gap
        By how much the singular value of M(-u) that the layers' directions give is below the largest, relative to the
        largest (Theorem 2); two layers alone.
    misalignment
        One minus the cosine between all parameters in one vector, Theta, and the negative gradient of the loss (14).
    misalignment_data
        One minus the cosine between Theta and the gradient of the sum of all margins.
    parameters_moved
        Distance of the direction of Theta from that at the last time.
    layer_share_error
        Largest distance, over the layers, of a layer's share of |Theta|^2 from 1 / L (C.1).
    layer_share_error_lengths
        Largest distance, over the layers, of a layer's share of |Theta|^2 from its share of the number of parameters.
    growth_power
        L log |Theta| / log log t, the power of log t in |Theta|^L; tends to one.
    distance_from_push
        Distance of the coefficients' direction from that of -X^T r (15, 19); fully connected networks alone.
    distance_from_data_sum
        Distance of the coefficients' direction from that of sum_i y_i x_i; fully connected networks alone.
    stationarity_residual, stationarity_residual_l1, stationarity_residual_l2
        Residual of the stationarity conditions of Theorem 2, by which |rho_j|^p is proportional to -(S u)_j rho_j: the
        sum over j of what is left, relative to the sum of |rho_j|^p, and at most ten. p is 2/L, 1 or 2. Orthogonally
        decomposable networks alone.
    dense_share_rho
        Share of the l1 norm of rho outside its n largest entries, with n the number of points (Remark 3). Orthogonally
        decomposable networks alone.
    dense_share_beta, dense_share_s_beta
        The same share for beta and for S beta. Orthogonally decomposable networks alone.
    quasi_norm_excess
        The sum of |rho_j|^(2/L), with rho scaled to a least margin of one, over the least that this sum can be there,
        less one; nan where a point is not classified. Orthogonally decomposable networks with a real S alone.

    Parameters
    ----------
    log_log_times : ndarray, shape (times,)
        Those of `exponential_flow`.
    states : ndarray, shape (times, parameters)
        As `exponential_flow` returns them.
    sharpness : float
        Value at which `exponential_flow` caps the factor e^tau, smoothly (`exponential_flow.Accuracy`).
    window : pair of float
        The first and the last log log t between which the power of 1 / log t in the angle is fitted.

    Returns
    -------
    dict from quantity to ndarray, shape (times - 1,), or to a pair of such an array and a prediction
    """
    X, y, depth = data.X, data.y, network.depth
    log_log_times, states = log_log_times[1:], states[1:]  # below, "times" are all but the first
    beta = network.coefficients(states)
    margins = beta @ (y[:, None] * X).T
    least_margins = margins.min(axis=1)
    push = push_directions(network, data, log_log_times, states, sharpness=sharpness)

    measures: Measures = {
        MARGIN: least_margins,
        quantities.TURN_OF_RESIDUALS: angle_between(push, push[-1]),
    }
    for norm in NORMS:
        # the max-margin classifier has the least margin one: the largest margin at unit norm is one over its norm
        measures[quantities.GAP[norm]] = 1 - least_margins * norm_of(data.max_margin[norm], norm) / norm_of(beta, norm)
    measures |= _parameter_quantities(network, push, data_sum=y @ X, log_log_times=log_log_times, states=states)

    singular_residuals = {
        quantities.SINGULAR_RESIDUAL: push,
        quantities.SINGULAR_RESIDUAL_DATA: y @ X,
        quantities.SINGULAR_RESIDUAL_COEFFICIENTS: beta[-1],
    }
    for quantity, inputs in singular_residuals.items():
        inputs_by_time = np.broadcast_to(inputs, push.shape)
        measures[quantity] = _singular_residual(network, inputs_by_time, states)
    if depth == 2:
        measures[quantities.TOP_GAP] = _top_gap(network, push, states)

    if network.name == "fully_connected":
        compared_directions = {
            quantities.DISTANCE_FROM_PUSH: push,
            quantities.DISTANCE_FROM_DATA_SUM: y @ X,
        }
        for quantity, direction in compared_directions.items():
            measures[quantity] = np.linalg.norm(_unit(beta) - _unit(direction), axis=-1)

    if network.name == "fully_connected" or (depth == 2 and network.name in LIMIT_NORM):
        # for diagonal networks `_singular_coordinate_quantities` replaces GAP_OWN, but not the angle
        measures[quantities.GAP_OWN] = measures[quantities.GAP[LIMIT_NORM[network.name]]]
        angle = angle_between(beta, data.max_margin[LIMIT_NORM[network.name]])
        measures[quantities.ANGLE] = angle
        predicted = _predicted_exponent(network, data, push[-1])
        measures[quantities.ANGLE_POWER] = (_exponents(log_log_times, angle, window), predicted)

    if network.S is not None:
        measures |= _singular_coordinate_quantities(
            network, data, push, states=states, beta=beta, least_margins=least_margins
        )
    return measures


def push_directions(
    network: TensorNetwork, data: LabelledData, log_log_times: np.ndarray, states: np.ndarray, *, sharpness: float
) -> np.ndarray:
    """Return -u, the unit vectors along -X^T r, shape (times, inputs), at the states of `exponential_flow`.

    The weights exp(-y f) are scaled by the largest, which leaves the direction and cannot underflow.
    """
    margins = network.coefficients(states) @ (data.y[:, None] * data.X).T
    stiffness = capped_stiffness(log_log_times, sharpness)
    weights = np.exp(stiffness[:, None] * (margins.min(axis=-1, keepdims=True) - margins)) * data.y
    sums = weights @ data.X
    return sums / np.linalg.norm(sums, axis=-1, keepdims=True)


def _parameter_quantities(
    network: TensorNetwork,
    push: np.ndarray,
    *,
    data_sum: np.ndarray,
    log_log_times: np.ndarray,
    states: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return how all parameters in one vector grow, turn, and align with the loss's gradient (14).

    Parameters
    ----------
    push : ndarray, shape (times, inputs)
        As `push_directions` returns it.
    data_sum : ndarray, shape (inputs,)
        sum_i y_i x_i.
    """
    layers, directions = network.layers(states), _unit(states)
    measures = {quantities.PARAMETERS_MOVED: np.linalg.norm(directions - directions[-1], axis=-1)}
    for quantity, inputs in ((quantities.MISALIGNMENT, push), (quantities.MISALIGNMENT_DATA, data_sum)):
        tensors = network.data_tensor(np.broadcast_to(inputs, push.shape))
        # up to a positive factor, for `push` the negative gradient of the loss, for `data_sum` the gradient of the sum
        # of all margins
        downhill = np.concatenate(_layer_gradients(tensors, layers), axis=-1)
        # one minus the cosine, without cancellation
        measures[quantity] = 0.5 * np.sum((directions - _unit(downhill)) ** 2, axis=-1)
    shares = np.stack([np.sum(layer**2, axis=-1) for layer in network.layers(directions)], axis=-1)
    measures[quantities.LAYER_SHARE_ERROR] = np.abs(shares - 1 / network.depth).max(axis=-1)
    measures[quantities.LAYER_SHARE_ERROR_LENGTHS] = np.abs(
        shares - np.divide(network.lengths, sum(network.lengths))
    ).max(axis=-1)
    # L log |Theta| / tau, as states are Theta divided by e^(tau / L)
    measures[quantities.GROWTH_POWER] = 1 + network.depth * np.log(np.linalg.norm(states, axis=-1)) / log_log_times
    return measures


def _singular_coordinate_quantities(
    network: TensorNetwork,
    data: LabelledData,
    push: np.ndarray,
    *,
    states: np.ndarray,
    beta: np.ndarray,
    least_margins: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return how near rho is to a stationary point of the l_(2/L) max-margin problem, and how sparse it is.

    With two layers and a real S, GAP_OWN, the gap in the l1 norm of rho, is among the quantities. It follows from the
    excess of the quasi-norm. For diagonal networks it replaces what `measure_flow` has computed.

    Parameters
    ----------
    push : ndarray, shape (times, inputs)
        As `push_directions` returns it.
    """
    S, power = network.S, 2 / network.depth
    assert S is not None
    rho = singular_products(network, states)
    measures = {}
    compared_powers = {
        quantities.STATIONARITY_RESIDUAL: power,
        quantities.STATIONARITY_RESIDUAL_L1: 1.0,
        quantities.STATIONARITY_RESIDUAL_L2: 2.0,
    }
    for quantity, compared_power in compared_powers.items():
        measures[quantity] = _stationarity_residual(rho, push @ S.T, compared_power)
    sparse_vectors = {
        quantities.DENSE_SHARE_RHO: rho,
        quantities.DENSE_SHARE_BETA: beta,
        quantities.DENSE_SHARE_S_BETA: beta @ S.T,
    }
    for quantity, vectors in sparse_vectors.items():
        measures[quantity] = _share_beyond(np.abs(vectors), len(data.X))
    if np.isrealobj(S):
        # sum_j |rho_j|^power of rho over its least margin, which has margin one
        size = np.sum(np.abs(rho) ** power, axis=1) / np.where(least_margins > 0, least_margins, np.nan) ** power
        excess = size / least_quasi_norm(data.X @ S.T, data.y, power) - 1
        measures[quantities.QUASI_NORM_EXCESS] = excess
        if network.depth == 2:
            # one plus the excess is the largest margin at unit l1 norm of rho over the one reached
            measures[quantities.GAP_OWN] = 1 - 1 / (1 + excess)
    return measures


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors, along the last axis, divided by their lengths; zero stays zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)


def singular_products(network: TensorNetwork, states: np.ndarray) -> np.ndarray:
    """Return rho, shape (times, m): the products of all layers in the network's singular coordinates."""
    layers = network.layers(states)
    return np.prod([layer @ vectors for layer, vectors in zip(layers, network.U, strict=True)], axis=0)


def _singular_residual(network: TensorNetwork, inputs: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return how far the layers' directions are from singular vectors of M(input) (8), relative to the singular value.

    It is the largest over the layers l of the distance of M(input), contracted with the directions of all layers but l,
    from the singular value times the direction of l. `inputs` has an input for each time, shape (times, inputs).
    """
    layers = _directions(network, states)
    gradients = _layer_gradients(network.data_tensor(inputs), layers)
    value = np.sum(gradients[0] * layers[0], axis=-1)  # the tensor contracted with all layers, shape (times,)
    pairs = zip(gradients, layers, strict=True)
    distances = [np.linalg.norm(gradient - value[:, None] * layer, axis=-1) for gradient, layer in pairs]
    # a value that is not positive is no singular value; where it is nan the condition is false, and the ratio nan
    return np.where(value <= 0, 1.0, np.max(distances, axis=0) / np.where(value <= 0, 1.0, value))


def _top_gap(network: TensorNetwork, push: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return by how much the two layers' directions miss the largest singular value of M(-u), relative to it."""
    gaps = np.full(len(states), np.nan)
    finite = np.isfinite(push).all(axis=1)  # the singular value decomposition takes no nan
    matrices = network.data_tensor(push[finite])
    v1, v2 = _directions(network, states[finite])
    value = np.einsum("ti,tij,tj->t", v1, matrices, v2)
    gaps[finite] = 1 - value / np.linalg.norm(matrices, 2, axis=(-2, -1))
    return gaps


def _directions(network: TensorNetwork, states: np.ndarray) -> list[np.ndarray]:
    """Return the layers divided by their lengths, shapes (times, k_l)."""
    return [_unit(layer) for layer in network.layers(states)]


def _layer_gradients(tensors: np.ndarray, layers: list[np.ndarray]) -> list[np.ndarray]:
    """Return, for each layer, the tensors contracted with all layers but this one, shapes (times, k_l).

    `tensors`, shape (times, k_1, ..., k_L), and layers, shapes (times, k_l), have one of each at every time.
    `tensor_network.contractions`, which flows call in every step, does the same for one state and several tensors.
    """
    axes = ascii_lowercase[: len(layers)]
    gradients = []
    for free_axis in axes:
        # of three layers, for the second: "tabc,ta,tc->tb"
        other_layers = [(axis, layer) for axis, layer in zip(axes, layers, strict=True) if axis != free_axis]
        subscripts = ",".join([f"t{axes}", *(f"t{axis}" for axis, _ in other_layers)])
        gradients.append(
            np.einsum(f"{subscripts}->t{free_axis}", tensors, *(layer for _, layer in other_layers), optimize=True)
        )
    return gradients


def _stationarity_residual(rho: np.ndarray, s_of_push: np.ndarray, power: float) -> np.ndarray:
    """Return the residual of stationarity of ``sum_j |rho_j|**power``, subject to margins of at least one.

    At a stationary point (S(-u))_j rho_j is real, not negative and proportional to |rho_j|**power; where rho_j is zero
    both sides are zero. With a power of 2/L these are (26) to (28). The factor of proportion is the one that makes the
    sums over j equal. So the common sign of all products is not judged, which is no loss: their sum is a combination of
    the margins with positive weights, and positive where all points are classified.

    Parameters
    ----------
    rho : ndarray, shape (times, m)
    s_of_push : ndarray, shape (times, m)
        S(-u), of any sign or phase.

    Returns
    -------
    ndarray, shape (times,)
        Relative to the sum of |rho_j|**power, and at most ten: the factor of proportion has no bound where products
        cancel.
    """
    sizes = np.abs(rho) ** power
    products = s_of_push * rho
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = sizes.sum(axis=1, keepdims=True) / products.real.sum(axis=1, keepdims=True)
        # ten is chosen, far above any bound on a residual
        return np.minimum(np.abs(sizes - factor * products).sum(axis=1) / sizes.sum(axis=1), 10.0)


def _share_beyond(sizes: np.ndarray, count: int) -> np.ndarray:
    """Return the share of the sum along the last axis that is not in the `count` largest entries."""
    ordered = np.sort(sizes, axis=-1)[..., ::-1]
    return ordered[..., count:].sum(axis=-1) / ordered.sum(axis=-1)


def _predicted_exponent(network: TensorNetwork, data: LabelledData, push_direction: np.ndarray) -> float:
    """Return the exponent of 1 / log t that theory gives the angle to the max-margin direction.

    In a fully connected network the first layer keeps its part outside the span of the support vectors, and the other
    layers multiply this part: the exponent is 1 / L. It is nan where the support vectors span all inputs.

    In the other networks, of two layers, let a direction be a singular coordinate of the coefficients. It is active if
    it is not zero in the max-margin classifier. Active directions have the largest singular value of M(-u) and grow
    like log t.

    - An inactive direction, whose singular value is s times the largest, grows like (log t)^s: the exponent is 1 - s,
      with the largest such s.
    - Where no direction is inactive, margins of support vectors differ by constants, whose share in the margins falls
      like 1 / log t: the exponent is 1.
    - Where active directions outnumber the support vectors, some combination of them is left open by the margins and
      settles at a rate of its own: nan.
    """
    classifier = data.max_margin[LIMIT_NORM[network.name]]
    if network.name == "fully_connected":
        spanned = np.linalg.norm(outside_support(data.X, data.y, classifier), 2) < 0.5  # a projection: zero or one
        return np.nan if spanned else 1 / network.depth
    assert network.S is not None
    values = np.abs(network.S @ push_direction)
    best = np.abs(network.S @ classifier)
    inactive = best < 1e-6 * best.max()  # zero up to the convex solver's error
    if (~inactive).sum() > tight_margins(data.y * (data.X @ classifier)).sum():
        return np.nan
    # nothing is inactive; or the flow could not be followed, and the angle is nan whatever is predicted
    if not inactive.any() or not np.isfinite(values).all():
        return 1.0
    return float(np.clip(1 - values[inactive].max() / values.max(), 0.0, 1.0))


def _exponents(log_log_times: np.ndarray, angle: np.ndarray, window: Sequence[float]) -> np.ndarray:
    """Return the exponent of 1 / log t that is fitted to an angle within the window, at the last time; nan before it.

    The shape is (times,). All are nan if the window has fewer than two times, or the angle is not positive in it.
    """
    in_window = (log_log_times >= window[0]) & (log_log_times <= window[1])
    exponents = np.full(len(log_log_times), np.nan)
    if in_window.sum() > 1 and (angle[in_window] > 0).all():
        exponents[-1] = fitted_power(log_log_times[in_window], angle[in_window])
    return exponents
