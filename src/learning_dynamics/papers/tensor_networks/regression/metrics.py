"""Limits of regression against the minimisers that are predicted (Theorem 4; Lemma 5.1).

- `interpolation`: ``flow_<depth>`` (data sets, scales, parameters) has limits, with scales alpha instead of times;
  ``eta_<depth>`` (data sets, m) the weights of m singular coordinates. `X` (data sets, samples, inputs), `y` (data
  sets, samples). Features, X S^T, are (data sets, samples, m). `back` is S^T: coefficients are S^T rho.
- `depth_functions`: `state` (2 depths, times, 2) has p and q, of each depth first forward and then backward in time;
  `reached` (2 depths,) the time at which |q| passes its bound, negative backward. Times are shares of that time.
"""

import numpy as np

from learning_dynamics.papers.tensor_networks import norm_like, tensor_network
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.regression import quantities
from learning_dynamics.papers.tensor_networks.regression.theory import (
    SMALL,
    SMALL_DEEP,
    small_scale_minimiser,
    vanishing_power,
)
from learning_dynamics.papers.tensor_networks.solutions import Norm, minimum_norm
from learning_dynamics.papers.tensor_networks.tables import DEPTH, FOLLOWED, MEASURED, OTHER_DEPTH, OTHER_SCALE, SCALE
from learning_dynamics.tidy import SEED, TIME, Column, Table, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

LIMITS = (SEED, DEPTH, SCALE, *FOLLOWED)
PLOTTED = 61


@columns(*LIMITS)
def interpolation(trajectory: Trajectory) -> Tables:
    """Measure limits of regression against the minimisers of Q (Theorem 4; Corollaries 5 and 6).

    Quantities
    ----------
    coefficient
        Coefficients at the limit, predicted by the minimiser of Q (Theorem 4).
    printed_minimiser
        `coefficient`, predicted by the minimiser of Q(F z) without the factor of the data tensor's singular values, as
        Corollary 6 is printed (errata 7); convolutional networks alone.
    other_depth
        `coefficient`, predicted by the minimiser of Q for a layer more.
    other_scale
        `coefficient`, predicted by the minimiser of Q for twice the scale.
    weighted_l1, weighted_l2
        `coefficient`, predicted by the solution of least l1 or l2 norm with the weights of Remark 4.
    plain_l1, plain_l2
        `coefficient`, predicted by the solution of least l1 or l2 norm.
    vanishing_power
        Power of alpha with which entries outside the support of the least l1 norm vanish in the minimiser of Q, between
        the two scales of `SMALL`; predicted by that norm's multipliers. Nan where these are not unique, or the
        minimiser is not found. Two layers alone, not convolutional networks.
    small_weighted_l1, small_weighted_l2, small_plain_l1, small_plain_l2
        The minimiser of Q at the scale `SMALL_DEEP`, predicted by the solution of least norm that the name says; nan
        where it is not found. Three layers and more alone, not convolutional networks.
    minimiser_curve
        First coefficient of the minimiser of Q, on a fine grid of scales; no run enters it. A single data set alone.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    scales = trajectory.time
    even = settings["network"] == "convolutional"
    for depth in settings["depths"]:
        network = network_of(settings["network"], X.shape[-1], depth, settings["seed"])
        assert network.S is not None
        features, back = X @ network.S.T, network.S.T
        if even:  # an even sequence's transform is real, and so is the program
            features, back = features.real, back.real
        beta = network.coefficients(trajectory.series[f"flow_{depth}"])
        # of each data set the arguments features, labels and weights
        data = list(zip(features, y, trajectory.constants[f"eta_{depth}"], strict=True))
        members = [_predictions(*data_set, back, scales=scales, depth=depth) for data_set in data]
        predicted = {name: np.array([member[name] for member in members]) for name in members[0]}
        if even:
            # as printed, rho is F z: the features are X F, and z is F rho, as the real F of even vectors is its inverse
            F = tensor_network.fourier(X.shape[-1]).real
            programs = [(x @ F, label, eta) for x, (_, label, eta) in zip(X, data, strict=True)]
            predicted[quantities.PRINTED_MINIMISER] = np.array(
                [_minimisers(*program, F, scales=scales, depth=depth) for program in programs]
            )
        measures = {name: (beta, coefficients) for name, coefficients in predicted.items()}
        seeds = {"seed": np.arange(len(X))}
        yield rows(measures, seeds | {"scale": scales}, depth=depth)
        if depth == 2 and not even:
            powers = np.array([vanishing_power(*data_set) for data_set in data])[:, :, None]
            axes = seeds | {"scale": SMALL[-1:]}
            yield rows({quantities.VANISHING_POWER: (powers[:, 0], powers[:, 1])}, axes, depth=depth)
        if depth > 2 and not even:
            ends = np.array([back @ small_scale_minimiser(*data_set, depth) for data_set in data])[:, None]
            measures = {
                at_small: (ends, predicted[name][:, :1]) for name, at_small in quantities.AT_SMALL_SCALE.items()
            }
            yield rows(measures, seeds | {"scale": [SMALL_DEEP]}, depth=depth)
        if len(X) == 1:
            grid = np.geomspace(scales.min(), scales.max(), PLOTTED)
            curve = _minimisers(*data[0], back, scales=grid, depth=depth)[:, 0]
            yield rows({quantities.MINIMISER_CURVE: curve[None]}, seeds | {"scale": grid}, depth=depth)


@columns(*LIMITS)
def interpolation_by_descent(trajectory: Trajectory) -> Table:
    """Measure gradient descent's limits.

    Quantities
    ----------
    `interpolation`
    """
    return interpolation(trajectory)


def _predictions(
    features: np.ndarray, y: np.ndarray, eta: np.ndarray, back: np.ndarray, *, scales: np.ndarray, depth: int
) -> dict[str, np.ndarray]:
    """Return predicted coefficients of one data set, shape (scales, inputs), by what predicts them."""

    def minimum_norm_solution(weights: np.ndarray, norm: Norm) -> np.ndarray:
        """Return S^T rho at the rho of least norm of rho / weights, at every scale the same, shape (scales, inputs)."""
        return np.tile(back @ (weights * minimum_norm(features * weights, y, norm)), (len(scales), 1))

    # Remark 4's norms sum_j |rho_j| |eta_j|^(2 - L) and sum_j rho_j^2 eta_j^(2 - 2L) are those of rho over the weights
    return {
        quantities.COEFFICIENT: _minimisers(features, y, eta, back, scales=scales, depth=depth),
        OTHER_DEPTH: _minimisers(features, y, eta, back, scales=scales, depth=depth + 1),
        OTHER_SCALE: _minimisers(features, y, eta, back, scales=2 * scales, depth=depth),
        quantities.WEIGHTED_L1: minimum_norm_solution(eta ** (depth - 2), "l1"),
        quantities.WEIGHTED_L2: minimum_norm_solution(eta ** (depth - 1), "l2"),
        quantities.PLAIN_L1: minimum_norm_solution(np.ones_like(eta), "l1"),
        quantities.PLAIN_L2: minimum_norm_solution(np.ones_like(eta), "l2"),
    }


def _minimisers(
    features: np.ndarray, y: np.ndarray, eta: np.ndarray, back: np.ndarray, *, scales: np.ndarray, depth: int
) -> np.ndarray:
    """Return the coefficients ``back @ rho`` at the minimiser rho of Q, shape (scales, inputs)."""
    return np.array(
        [back @ norm_like.norm_like_minimiser(features, y, eta, scale=scale, depth=depth) for scale in scales]
    )


@columns(DEPTH, Column("sign", "int", "1 forward, -1 backward in time", draw=True), TIME, *MEASURED)
def depth_functions(trajectory: Trajectory) -> Tables:
    """Measure the functions of Lemma 5.1.

    Quantities
    ----------
    q
        q_L, predicted in closed form.
    h
        h_L = p_L^(L-1) q_L, predicted in closed form.
    time_of_h
        Time at which h_L takes its value, predicted by the inverse of h_L in closed form.
    penalty_over_h
        H_L at the value of h_L, relative to that value's size, after the start; predicted in closed form. It is the
        integral of the inverse of h_L, by parts t h - q^2 / 2, because (q^2 / 2)' = h.
    time_of_last_q
        Time at which |q_L| passes the bound of the configuration, with the sign of the direction in time; predicted in
        closed form.
    """
    settings = trajectory.settings
    # one after the other in the order of the loops
    ways = zip(trajectory.constants["reached"], trajectory.series["state"], strict=True)
    for depth in settings["depths"]:
        for sign in (1, -1):
            reached, states = next(ways)
            times, (p, q) = trajectory.time * reached, states.T
            h = p ** (depth - 1) * q
            measures = {
                quantities.Q: (q, norm_like.depth_q(times, depth)),
                quantities.H: (h, norm_like.depth_h(times, depth)),
                quantities.TIME_OF_H: (times, norm_like.depth_h_inverse(h, depth)),
            }
            labels = {"depth": depth, "sign": sign}
            yield rows(measures, {"time": times}, **labels)
            penalty = (times * h - q**2 / 2)[1:] / np.abs(h[1:])
            closed = norm_like.depth_penalty(h[1:], depth) / np.abs(h[1:])
            yield rows({quantities.PENALTY_OVER_H: (penalty, closed)}, {"time": times[1:]}, **labels)
            end = norm_like.depth_time(np.array([sign * settings["last"]]), depth)
            yield rows({quantities.TIME_OF_LAST_Q: (times[-1:], end)}, {"time": times[-1:]}, **labels)
