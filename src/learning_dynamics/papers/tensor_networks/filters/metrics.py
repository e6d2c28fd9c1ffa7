"""One data point and two layers: how close to the top singular vectors, and to Corollary 4's filtered point.

Shapes:

- A series for each network or filter length has states (data sets, times, parameters): v_1, v_2 in one vector, divided
  by (1 + log(1 + t))^(1/2). Times are log(1 + log(1 + t)), the column `log_log_time`.
- A data set is one point: `X` (data sets, 1, inputs) and `y` (data sets, 1), of 1 and -1.
- M(x) is (k_1, k_2), in general not square; eta_1, eta_2 and rho are (times, m) for m = min(k_1, k_2) singular values.
"""

import numpy as np

from learning_dynamics.papers.tensor_networks.architectures import networks_of
from learning_dynamics.papers.tensor_networks.distances import angle_between
from learning_dynamics.papers.tensor_networks.filters import quantities
from learning_dynamics.papers.tensor_networks.filters.theory import (
    autocorrelation,
    filter_condition,
    filtered_direction,
    filtered_point,
    largest_angle,
    largest_gap,
)
from learning_dynamics.papers.tensor_networks.one_point import one_point_condition, transient
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm
from learning_dynamics.papers.tensor_networks.tables import FOLLOWED, LOG_LOG_TIME, MARGIN, Measures
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    SEED,
    Column("network", "str", "architecture, or filter_<k>: convolutional with a first filter of length k", draw=True),
    Column("length", "int", "filter length k, 0 for others"),
    LOG_LOG_TIME,
    *FOLLOWED,
)
def single_point(trajectory: Trajectory) -> Tables:
    """Measure two layers on one point, with layers eta_1, eta_2 and their product rho in singular coordinates of M(x).

    Quantities
    ----------
    margin
        y f(x) / (1 + log(1 + t)).
    gap_l1
        By how much the margin over the l1 norm of rho is below the largest possible, which is the top singular value of
        M(x); relative to the largest possible.
    gap_l2
        By how much the margin over the l2 norm of rho is below the largest possible, which is the length of the vector
        of singular values; relative to the largest possible.
    layer_difference
        |eta_1 - y eta_2| / |eta_1|.
    layer_difference_opposite
        |eta_1 + y eta_2| / |eta_1|.
    layer_difference_unsigned
        |eta_1 - eta_2| / |eta_1|.
    direction
        Coefficients at unit length at the last time; convolutional networks alone. For lengths 1 and 2 Corollary 4
        predicts them; the prediction is nan for length 2 and an autocorrelation of zero.
    autocorrelation
        Circular autocorrelation of the point x at lag one, relative to |x|^2, at the start; lengths 1 and 2 alone.
    angle_corollary
        Angle in degrees between the coefficients at the last time and Corollary 4's direction; lengths 1 and 2 alone.
    angle_point
        Angle in degrees between the coefficients at the last time and y x; lengths 1 and 2 alone.
    angle_other_sign
        Angle in degrees between the coefficients at the last time and what the filter of length two with the other sign
        makes of y x; lengths 1 and 2 alone.
    angle_fourier
        Angle in degrees between the coefficients at the last time and the classifier of largest margin in the l1 norm
        of the Fourier transform; lengths 1 and 2 alone.
    point
        y x, at the start.
    spectrum
        Singular values of M(x), relative to the largest, at the start.
    condition
        Largest lambda for which two Gaussian layers fulfil the condition of Theorem 3, doubled for length 2; predicted
        by the largest lambda of Corollary 4's conditions. The layers are drawn for this alone: in a start whose last
        layer is zero the fractions in these conditions are zero, whatever their denominators. Lengths 1 and 2 alone.
    condition_without_denominators, condition_with_denominators_exchanged
        `condition`, predicted by Corollary 4's conditions without denominators, or with those of the two conditions for
        length 2 exchanged.
    largest_gap
        Largest `gap_l1` that terms which decay from the start can leave at the last time.
    largest_angle
        Largest `angle_corollary` that such terms can leave, in degrees; lengths 1 and 2 alone.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    log_log_times = trajectory.time
    last_time = {"log_log_time": log_log_times[-1:]}
    # One generator for each data set, which lengths 1 and 2 share: the layers of `condition` for length 2 depend on
    # whether length 1 comes before it.
    random_layers = generators(settings["seed"], "layers_of_a_condition", len(X))
    for network in networks_of(list(trajectory.series), depths=[2], inputs=X.shape[-1], seed=settings["seed"]):
        name = network.name
        length = int(name.removeprefix("filter_")) if name.startswith("filter_") else 0
        for member in range(len(X)):
            x, y_member, states = X[member, 0], y[member, 0], trajectory.series[name][member]
            row_labels = {"seed": member, "network": name, "length": length}
            # without the first time, at which a last layer of zero makes rho zero
            along = _flow_quantities(network, x, y_member, states[1:])
            yield rows(along, {"log_log_time": log_log_times[1:]}, **row_labels)
            start = _start_quantities(
                network, x, y_member, length=length, state=states[0], log_log_time=log_log_times[-1]
            )
            if length in (1, 2):
                start |= _conditions(x, network.data_tensor(x), random_layers[member])
                end = _filter_quantities(network, x, y_member, length=length, states=states[-1:])
                yield rows(end, last_time, **row_labels)
            elif length:  # a filter of another length, for which Corollary 4 predicts nothing
                beta = network.coefficients(states[-1:])
                yield rows({quantities.DIRECTION: beta / np.linalg.norm(beta)}, last_time, **row_labels)
            yield rows(start, {"log_log_time": log_log_times[:1]}, **row_labels)


def _start_quantities(
    network: TensorNetwork, x: np.ndarray, y_member: float, *, length: int, state: np.ndarray, log_log_time: float
) -> Measures:
    """Return what is known at the start, shapes (1, entries), with bounds on what is left at a log log t.

    `state` is the first, shape (parameters,). `length` is that of the filter, 0 for other networks.
    """
    tensor, (v1, v2) = network.data_tensor(x), network.layers(state)
    spectrum = np.linalg.svd(tensor, compute_uv=False)
    values, sums, differences = transient(tensor, y_member, v1, v2, log_log_time=log_log_time)
    start: Measures = {
        quantities.POINT: y_member * x[None],
        quantities.SPECTRUM: spectrum[None] / spectrum[0],
        quantities.LARGEST_GAP: np.array([[largest_gap(values, sums, differences)]]),
    }
    if length in (1, 2):
        start[quantities.AUTOCORRELATION] = np.array([[autocorrelation(x)]])
        # With length two there are two singular values, and the last entries are the second's. With length one there is
        # one, and no term that decays.
        angle = largest_angle(x, sums[-1] + differences[-1]) if length == 2 else 0.0
        start[quantities.LARGEST_ANGLE] = np.array([[angle]])
    return start


def _conditions(x: np.ndarray, tensor: np.ndarray, rng: np.random.Generator) -> Measures:
    """Return the largest lambda of Theorem 3's condition at Gaussian layers, predicted by three forms of Corollary 4's.

    For filters of length k the lambda of Corollary 4 is k times Theorem 3's, which is multiplied by k here.
    """
    first, second = rng.standard_normal(len(tensor)), rng.standard_normal(int(tensor.shape[1]))
    largest = np.array([[len(first) * one_point_condition(tensor, first, second)]])
    return {
        quantities.CONDITION: (largest, filter_condition(x, first, second)),
        quantities.CONDITION_WITHOUT_DENOMINATORS: (largest, filter_condition(x, first, second, "none")),
        quantities.CONDITION_WITH_DENOMINATORS_EXCHANGED: (largest, filter_condition(x, first, second, "exchanged")),
    }


def _flow_quantities(
    network: TensorNetwork, x: np.ndarray, y_member: float, states: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the margin, the gaps to the largest margins, and the layers' differences, shapes (times,)."""
    U1, s, U2t = np.linalg.svd(network.data_tensor(x), full_matrices=False)
    v1, v2 = network.layers(states)
    eta1, eta2 = v1 @ U1, v2 @ U2t.T
    rho = eta1 * eta2
    margin = y_member * rho @ s

    def distance(sign: float) -> np.ndarray:
        """Return the distance of eta_2, times a sign, from eta_1, relative to the latter."""
        return np.linalg.norm(eta1 - sign * eta2, axis=1) / np.linalg.norm(eta1, axis=1)

    # the margin y s . rho over a norm of rho is at most the dual norm of s: the entry s_1 for the l1 norm, |s| for l2
    return {
        MARGIN: margin,
        quantities.GAP_L1: 1 - margin / (s[0] * np.abs(rho).sum(axis=1)),
        quantities.GAP_L2: 1 - margin / (np.linalg.norm(s) * np.linalg.norm(rho, axis=1)),
        quantities.LAYER_DIFFERENCE: distance(y_member),
        quantities.LAYER_DIFFERENCE_OPPOSITE: distance(-y_member),
        quantities.LAYER_DIFFERENCE_UNSIGNED: distance(1.0),
    }


def _filter_quantities(
    network: TensorNetwork, x: np.ndarray, y_member: float, *, length: int, states: np.ndarray
) -> Measures:
    """Return the direction of the coefficients at the last time, and its angles in degrees to other directions.

    `states` has the last time alone, shape (1, parameters).
    """
    beta = network.coefficients(states)
    predicted = filtered_direction(x, y_member, length)
    # defined also where the autocorrelation is zero but for rounding; there `filtered_direction` is nan
    other_sign = filtered_point(x, y_member, -np.sign(x @ np.roll(x, -1)))
    fourier = minimum_norm(x[None], np.array([y_member]), "dft_l1", classification=True)
    return {
        quantities.DIRECTION: (beta / np.linalg.norm(beta), predicted),
        quantities.ANGLE_COROLLARY: angle_between(beta, predicted),
        quantities.ANGLE_POINT: angle_between(beta, y_member * x),
        quantities.ANGLE_OTHER_SIGN: angle_between(beta, other_sign),
        quantities.ANGLE_FOURIER: angle_between(beta, fourier),
    }
