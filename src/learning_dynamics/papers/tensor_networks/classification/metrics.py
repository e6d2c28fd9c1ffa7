"""Classification to its limit (Theorems 1 and 2; Corollaries 1 to 3; Remarks 2 and 3).

Shapes:

- Each network has a series of states, named ``<network>``, or ``<network>_<depth>`` where there are several depths. A
  state is v_1, ..., v_L in one vector, divided by (1 + log(1 + t))^(1/L). Times are log(1 + log(1 + t)), the column
  `log_log_time`; tables leave out the first, at which coefficients may be zero.
- `from_random_layers`: states are (data sets, times, parameters), of one start for each data set.
- `from_coefficients`: states are (members, times, parameters). Members are all triples of a data set, a scale and a
  direction; directions vary fastest.
- `from_many_starts`: states are (data sets, times, starts, parameters).
- `from_opposed_layers`: the one series, `states` (members, times, 2 * inputs), has both layers, not divided, and times
  are t itself. Members are all pairs of a data set, of one point, and a scale; scales vary fastest.
- `X` (data sets, samples, inputs), `y` (data sets, samples), of 1 and -1.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from learning_dynamics.papers.tensor_networks.architectures import followed_networks
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.measures import (
    LabelledData,
    measure_flow,
    singular_products,
)
from learning_dynamics.papers.tensor_networks.classification.theory import (
    fitted_power,
    outside_support,
    pushes_at_the_limit,
    tight_margins,
)
from learning_dynamics.papers.tensor_networks.solutions import least_quasi_norm, minimum_norm
from learning_dynamics.papers.tensor_networks.tables import (
    DEPTH,
    LOG_LOG_TIME,
    MARGIN,
    NETWORK,
    SCALE,
    Measures,
    measured,
)
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import SEED, TIME, Column, Table, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

DIRECTION = Column("direction", "int", "which of the initial directions", draw=True)
START = Column("start", "int", "which of the starts", draw=True)
FITS = measured("where the flow could not be followed, or the fit has no points")
# Three limits of resolution.
# 1. In a fully connected network the part of the first layer outside the span of the support vectors has no gradient,
# and rests. The rounding of all steps of a flow adds up to about this share of the coefficients.
RESTS = 2e-12
# 2. A layer's entry in singular coordinates is resolved if it is larger than `FLOOR` times the integrator's error.
# Chosen: an error of a thousandth of the entry is one of 0.002 in the logarithm of its square. It moves the slope over
# a window of 3 in log log t by 0.002 at most, which is below the tolerance of `log_time_exponents`, 0.003.
FLOOR = 1e3
# 3. Where the factor of the exponent is at its cap `sharpness`, a point whose margin exceeds the least margin by the
# share e / sharpness has the weight exp(-e) relative to a support vector: from e = 100 on the weight has vanished. A
# point whose margin exceeds the least by a smaller share than NEARLY / sharpness cannot be told from a support vector.
NEARLY = 100.0
DECLARED = (SEED, NETWORK, DEPTH, SCALE, DIRECTION, LOG_LOG_TIME, *FITS)


@columns(*DECLARED)
def from_random_layers(trajectory: Trajectory, *, window: list[Positive]) -> Tables:
    """Measure the flow of classification from random layers; powers are fitted between the two log log t of `window`.

    Quantities
    ----------
    `measures.measure_flow`
        (what is measured at every time but the first)
    `_powers`
        (what is fitted within the window)
    """
    scale = trajectory.settings["scale"]
    draws = [{"seed": seed, "scale": scale, "direction": 0} for seed in range(trajectory.members)]
    return _flow_table(trajectory, window, draws)


@columns(*DECLARED)
def from_coefficients(trajectory: Trajectory, *, window: list[Positive]) -> Tables:
    """Measure the flow from given coefficients; powers are fitted between the two log log t of `window`.

    Quantities
    ----------
    `from_random_layers`
    """
    settings, sets = trajectory.settings, range(len(trajectory.constants["X"]))
    members = itertools.product(sets, settings["scales"], range(settings["directions"]))
    draws = [{"seed": seed, "scale": scale, "direction": direction} for seed, scale, direction in members]
    return _flow_table(trajectory, window, draws)


def _flow_table(trajectory: Trajectory, window: list[float], draws: list[dict[str, Any]]) -> Tables:
    """Yield the tables of flows, each of them a draw.

    `draws` has the columns seed, which is the number of the data set, scale and direction for each flow, in the order
    of the series' first axis.
    """
    constants, settings = trajectory.constants, trajectory.settings
    data = [LabelledData(X, y) for X, y in zip(constants["X"], constants["y"], strict=True)]
    in_window = (trajectory.time >= window[0]) & (trajectory.time <= window[1])
    for network, states_of_draws in followed_networks(trajectory):
        for draw, states in zip(draws, states_of_draws, strict=True):
            data_set = data[draw["seed"]]
            labels = {"network": network.name, "depth": network.depth, **draw}
            measures = measure_flow(
                network,
                data_set,
                trajectory.time,
                states,
                sharpness=settings["integration"]["sharpness"],
                window=window,
            )
            yield rows(measures, {"log_log_time": trajectory.time[1:]}, **labels)
            powers = _powers(network, data_set, trajectory.time[in_window], states[in_window], settings=settings)
            if powers:
                yield rows(powers, {"log_log_time": trajectory.time[-1:]}, **labels)


def _powers(
    network: TensorNetwork,
    data: LabelledData,
    log_log_times: np.ndarray,
    states: np.ndarray,
    *,
    settings: Mapping[str, Any],
) -> Measures:
    """Return the powers of 1 / log t of what vanishes within the window, shapes (1, entries), and their predictions.

    `log_log_times` and `states` are those within the window.

    Quantities
    ----------
    vanishing_power
        Power of 1 / log t with which a share vanishes, fitted within the window and listed at the last time. Nan where
        the integrator does not resolve the share. With two orthogonally decomposable layers there is a power for each
        entry of rho off the support of the l1 max margin: that of (|eta_1|^2 + |eta_2|^2) / 2 + |rho|, relative to the
        l1 norm of rho, where eta_1 and eta_2 are the layers in singular coordinates. Predicted is 1 - s_j, with s_j
        from the multipliers of the max-margin problem; nan where these are not unique. In fully connected networks of
        any depth there is one power, that of the part of the coefficients outside the span of the support vectors,
        relative to the coefficients' length. Predicted is 1 / L; nan where the capped exponent cannot tell the margins
        apart. Missing where no entry is off the support, or the support vectors span all inputs, and for other
        networks.
    remaining_distance
        Distance from the limit at the window's start, with the index of `vanishing_power`. For decomposable layers it
        is the share of all entries off the support in the l1 norm of rho, for fully connected ones one minus the cosine
        between the coefficients and the max-margin direction.
    power_uncertainty
        By how much `vanishing_power` may be off, with the same index. For decomposable layers this is because entries
        on the support do not yet grow alike and still turn, which changes the multipliers, and because the entry does
        not have its last phase yet. For fully connected ones it is because the coefficients do not yet grow like log t,
        and the product of the later layers still turns relative to the first layer's part outside the span. Nan where
        the multipliers are not unique.
    phase_cosine
        Least cosine, within the window, of the difference between an entry's phase and the phase it has in the limit,
        which is the conjugate of its push's; with the index of `vanishing_power`. One for fully connected networks.
    """
    nearly = NEARLY / settings["integration"]["sharpness"]
    if network.name == "fully_connected":
        return _power_outside(network, data, log_log_times, states, nearly=nearly)
    if network.S is None or network.depth != 2 or len(log_log_times) < 2:
        return {}
    features = data.X @ network.S.T
    # the rho of the l1 max margin, shape (m,)
    if network.name == "convolutional":  # its S is invertible: rho is S^-T beta, at the beta of largest margin
        limit = np.linalg.solve(network.S.T, data.max_margin["dft_l1"])
    else:
        limit = minimum_norm(features, data.y, "l1", classification=True)
    inactive = np.abs(limit) < 1e-6 * np.abs(limit).max()  # zero up to the convex solver's error
    if not inactive.any():
        return {}
    rho = singular_products(network, states)  # (times, m)
    l1_norm = np.abs(rho).sum(axis=1)
    integration = settings["integration"]
    powers = _powers_of_what_grows(network, log_log_times, states, atol=integration["atol"], rtol=integration["rtol"])
    push, response = pushes_at_the_limit(features, data.y, limit, nearly)  # the size of entry j of the push is s_j

    # How far is the path from `limit`? There the least margin and all entries on the support grow like log t, and
    # every entry of rho has the conjugate phase of its push. Three terms add up to the uncertainty of a power 1 - s_j:
    # - `slower`: the l1 norm does not grow exactly like log t, by which states divide it, nor the margin like the l1
    #   norm.
    # - `unlike`: entries on the support grow with other powers than the margin, and their phases turn. `turning` is the
    #   rate of this in log log t plus the largest phase lag in the window. Both change the multipliers, and `response`
    #   says by how much they then change s_j.
    # - An entry that lags in phase is pushed by the cosine of the lag alone.
    phase_lags = np.angle(rho * push)
    margins = (data.y * (rho @ features.T).real).min(axis=1) / l1_norm
    # the power with which the margin falls relative to the l1 norm, infinite where a margin is not positive
    margin_power = fitted_power(log_log_times, margins) if margins.min() > 0 else np.inf
    turning_rate = np.abs(phase_lags[-1] - phase_lags[0]) / (log_log_times[-1] - log_log_times[0])
    turning = turning_rate + np.abs(phase_lags).max(axis=0)
    unlike = np.concatenate([np.abs(margin_power - powers[~inactive]), turning[~inactive]])
    slower = abs(margin_power) + abs(fitted_power(log_log_times, l1_norm))
    cosine = np.cos(phase_lags[:, inactive]).min(axis=0)
    uncertainty = slower + np.abs(response[inactive]) @ unlike + np.abs(push[inactive]) * (1 - cosine)
    return {
        quantities.VANISHING_POWER: (powers[None, inactive], 1 - np.abs(push[inactive])),
        quantities.REMAINING_DISTANCE: np.full((1, inactive.sum()), np.abs(rho[0, inactive]).sum() / l1_norm[0]),
        quantities.POWER_UNCERTAINTY: uncertainty[None],
        quantities.PHASE_COSINE: cosine[None],
    }


def _powers_of_what_grows(
    network: TensorNetwork, log_log_times: np.ndarray, states: np.ndarray, *, atol: float, rtol: float
) -> np.ndarray:
    """Return the power of 1 / log t with which each entry of rho falls relative to the l1 norm of rho, shape (m,).

    It is nan where the integrator does not resolve the entry. Let eta_1 and eta_2 be the layers in singular
    coordinates, and u and w their sum and their difference, up to phases. Then ``rho_j = (u_j^2 - w_j^2) / 4``, where
    u_j grows like exp(s_j T) and w_j falls like exp(-s_j T), and T is the integral of the loss over time. So the power
    is fitted to the part that grows, ``u_j^2 / 2 = (|eta_1j|^2 + |eta_2j|^2) / 2 + |rho_j|``, for which the law
    (log t)^-(1 - s_j) is exact. The derivation is in docs/tensor_networks.md.
    """
    # eta_1 and eta_2, shape (times, m) each
    coordinates = [layer @ vectors for layer, vectors in zip(network.layers(states), network.U, strict=True)]
    rho = singular_products(network, states)
    grown = np.sum(np.abs(coordinates) ** 2, axis=0) / 2 + np.abs(rho)
    # bounds on the integrator's errors of both layers, in the same coordinates, shape (times, m) each
    errors = [
        (atol + rtol * np.abs(layer)) @ np.abs(vectors)
        for layer, vectors in zip(network.layers(states), network.U, strict=True)
    ]
    resolved = (np.sqrt(grown) > FLOOR * np.max(errors, axis=0)).all(axis=0)
    l1_norm = np.abs(rho).sum(axis=1)
    return np.where(resolved, [fitted_power(log_log_times, size / l1_norm) for size in grown.T], np.nan)


def _power_outside(
    network: TensorNetwork, data: LabelledData, log_log_times: np.ndarray, states: np.ndarray, *, nearly: float
) -> Measures:
    """Return what `_powers` does, for the part of the coefficients outside the span of the support vectors.

    With P the projection onto that part and p = W_2 ... w_L, ``P beta = (P W_1) p``. P W_1 has no gradient and stays as
    it is, while p grows like (log t)^((L-1)/L). The coefficients grow like log t, so that the share of P beta in them
    has the power 1 / L, if |P beta| is in proportion to |P W_1| |p|, the `sizes` of the code. The ratio of the two
    depends on directions alone. While p still turns it has a power of its own, most of all where P W_1 p nearly
    vanishes. This power adds to the share's, and is part of the uncertainty. See docs/tensor_networks.md.
    """
    beta, best = network.coefficients(states), data.max_margin["l2"]
    margins, outside = data.y * (data.X @ best), outside_support(data.X, data.y, best)
    if np.linalg.norm(outside, 2) < 0.5 or len(log_log_times) < 2:  # a projection: its norm is zero or one
        return {}
    lengths, outside_lengths = np.linalg.norm(beta, axis=-1), np.linalg.norm(beta @ outside, axis=-1)
    share = outside_lengths / lengths
    # a part that is fifty times its rounding is exact to two per cent, and its power to 0.002
    resolved = share.min() > 50 * RESTS
    margins_resolved = tight_margins(margins, nearly).sum() == tight_margins(margins).sum()
    first_layer, product = _first_layer_and_product(network, states)
    sizes = np.linalg.norm(first_layer @ outside, axis=(-2, -1)) * np.linalg.norm(product, axis=-1)
    # where the share is not resolved the power is nan and nothing is judged, so that `turning` may be any number
    turning = abs(fitted_power(log_log_times, outside_lengths / sizes)) if resolved else 0.0
    power = fitted_power(log_log_times, share) if resolved else np.nan
    predicted = 1 / network.depth if margins_resolved else np.nan
    return {
        quantities.VANISHING_POWER: (np.array([[power]]), predicted),
        quantities.REMAINING_DISTANCE: np.array([[1 - beta[0] @ best / (lengths[0] * np.linalg.norm(best))]]),
        quantities.POWER_UNCERTAINTY: np.array([[abs(fitted_power(log_log_times, lengths)) + turning]]),
        quantities.PHASE_COSINE: np.ones((1, 1)),
    }


def _first_layer_and_product(network: TensorNetwork, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return W_1^T, shape (..., width, inputs), and p = W_2 ... w_L, shape (..., width), of fully connected layers.

    Coefficients, W_1 p, are linear in W_1. If W_1 is zero but for a one in its first row and j-th column, their first
    entry is p_j.
    """
    stop = network.bounds[0][1]
    # A state has W_1 column by column. Read row by row it is W_1^T, and every `inputs`-th entry is in W_1's first row.
    first_layer = states[..., :stop].reshape(*states.shape[:-1], -1, network.inputs)
    products = []
    for unit_layer in np.eye(stop)[:: network.inputs]:
        unit_states = states.copy()
        unit_states[..., :stop] = unit_layer
        products.append(network.coefficients(unit_states)[..., 0])
    return first_layer, np.stack(products, axis=-1)


@columns(SEED, NETWORK, DEPTH, START, LOG_LOG_TIME, *FITS)
def from_many_starts(trajectory: Trajectory) -> Tables:
    """Measure where many starts on the same data tend to.

    Quantities
    ----------
    direction
        Coefficients beta divided by their length, at every time but the first.
    margin
        Least y_i f(x_i) / (1 + log(1 + t)) over the points, at the last time.
    quasi_norm_excess
        The sum of |rho_j|^(2/L), with rho scaled to a least margin of one, over the least that this sum can be there,
        less one; at the last time. Orthogonally decomposable networks with a real S alone.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    # those of the states: data sets, times, starts
    axes = {"seed": np.arange(len(X)), "log_log_time": trajectory.time[1:], "start": np.arange(settings["starts"])}
    for network, followed_states in followed_networks(trajectory):
        states = followed_states[:, 1:]
        beta = network.coefficients(states)
        direction = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
        labels = {"network": network.name, "depth": network.depth}
        yield rows({quantities.DIRECTION: direction}, axes, **labels)
        margins = np.einsum("mni,msi,mn->msn", X, beta[:, -1], y).min(axis=-1)  # the least, shape (data sets, starts)
        ends = {MARGIN: margins[:, None]}
        if network.S is not None and np.isrealobj(network.S):
            power, rho = 2 / network.depth, singular_products(network, states[:, -1])
            least_norms = [least_quasi_norm(x @ network.S.T, label, power) for x, label in zip(X, y, strict=True)]
            excess = np.sum(np.abs(rho) ** power, axis=-1) / margins**power / np.array(least_norms)[:, None] - 1
            ends[quantities.QUASI_NORM_EXCESS] = excess[:, None]
        yield rows(ends, axes | {"log_log_time": trajectory.time[-1:]}, **labels)


@columns(SEED, SCALE, TIME, *FITS)
def from_opposed_layers(trajectory: Trajectory) -> Table:
    """Measure two diagonal layers on one point that start opposed: entries of equal size, products of the wrong sign.

    Quantities
    ----------
    loss
        Exponential loss of one point, exp(-y f(x)).
    largest_parameter
        Largest absolute value of a parameter.
    """
    X, y, scales = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings["scales"]
    states = trajectory.series["states"]
    half = states.shape[-1] // 2  # a state is w_1 and w_2, both as long as the input
    seeds = np.repeat(np.arange(len(X)), len(scales))
    outputs = np.einsum("mtj,mj->mt", states[..., :half] * states[..., half:], (y[..., None] * X)[seeds, 0])
    measures = {quantities.LOSS: np.exp(-outputs), quantities.LARGEST_PARAMETER: np.abs(states).max(axis=-1)}
    return rows(measures, {"seed": seeds, "time": trajectory.time}, scale=np.tile(scales, len(X)))
