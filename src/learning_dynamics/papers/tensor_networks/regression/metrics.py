"""Limits of regression against the minimisers that are predicted (Theorem 4; Lemma 5.1).

Symbols are those of `quantities`: coefficients beta = S^T rho, initial weights eta, the function Q of Theorem 4.

- `interpolation`: the series ``flow_<depth>`` (data sets, scales, parameters) has limits of the flow, with scales alpha
  instead of times. The constant ``eta_<depth>`` (data sets, m) has the weights eta of the m singular coordinates. `X`
  is (data sets, samples, inputs) and `y` (data sets, samples). In the code `features` are X S^T, (data sets, samples,
  m), and `back` is S^T, (inputs, m), which takes rho to coefficients.
- `depth_functions`: the series `state` (2 * depths, times, 2) has p_L and q_L, for each depth first forward and then
  backward in time. The constant `reached` (2 * depths,) has the times t at which |q_L| passes the setting `last`,
  negative backward. Times are t over that time.
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
PLOTTED = 61  # scales of `MINIMISER_CURVE`


@columns(*LIMITS)
def interpolation(trajectory: Trajectory) -> Tables:
    """Measure limits of regression against the minimisers of Q (Theorem 4; Corollaries 5 and 6).

    Quantities
    ----------
    coefficient
        Coefficients at the limit, predicted by the minimiser of Q (Theorem 4).
    printed_minimiser
        `coefficient`, predicted by the minimiser of Q(F z), with the Fourier transform F but without the factor that
        the singular values of the data tensor have, as Corollary 6 is printed (errata 7); convolutional networks alone.
    other_depth
        `coefficient`, predicted by the minimiser of Q for a layer more.
    other_scale
        `coefficient`, predicted by the minimiser of Q for twice the scale.
    weighted_l1, weighted_l2
        `coefficient`, predicted by the interpolating rho of least l1 or l2 norm with the weights of Remark 4.
    plain_l1, plain_l2
        `coefficient`, predicted by the interpolating rho of least l1 or l2 norm.
    vanishing_power
        Power of alpha with which the minimiser of Q vanishes outside the support of the rho of least l1 norm, between
        the two scales of `theory.SMALL`; predicted by the multipliers of the least l1 norm. Nan where these are not
        unique, or the minimiser is not found. Two layers alone, not convolutional networks.
    small_weighted_l1, small_weighted_l2, small_plain_l1, small_plain_l2
        Coefficients of the minimiser of Q at the scale `theory.SMALL_DEEP`, predicted by the rho of least norm that the
        name says; nan where the minimiser is not found. Three layers and more alone, not convolutional networks.
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
        if even:  # the transform of an even sequence is real, so that everything below is
            features, back = features.real, back.real
        beta = network.coefficients(trajectory.series[f"flow_{depth}"])
        # the arguments (features, labels, weights) for each data set
        data = list(zip(features, y, trajectory.constants[f"eta_{depth}"], strict=True))
        # a dict for each data set, then one dict of arrays (data sets, scales, inputs)
        members = [_predictions(*data_set, back, scales=scales, depth=depth) for data_set in data]
        predicted = {name: np.array([member[name] for member in members]) for name in members[0]}
        if even:
            # As printed, rho is F z. On even vectors F is real and its own inverse: z is F rho, and X z is (X F) rho.
            F = tensor_network.fourier(X.shape[-1]).real
            programs = [(x @ F, label, eta) for x, (_, label, eta) in zip(X, data, strict=True)]
            predicted[quantities.PRINTED_MINIMISER] = np.array(
                [_minimisers(*program, F, scales=scales, depth=depth) for program in programs]
            )
        measures = {name: (beta, coefficients) for name, coefficients in predicted.items()}
        seeds = {"seed": np.arange(len(X))}
        yield rows(measures, seeds | {"scale": scales}, depth=depth)
        if depth == 2 and not even:
            # Shape (data sets, 2, 1): the power and its prediction. The one scale is the smaller of those compared.
            powers = np.array([vanishing_power(*data_set) for data_set in data])[:, :, None]
            axes = seeds | {"scale": SMALL[-1:]}
            yield rows({quantities.VANISHING_POWER: (powers[:, 0], powers[:, 1])}, axes, depth=depth)
        if depth > 2 and not even:
            ends = np.array([back @ small_scale_minimiser(*data_set, depth) for data_set in data])[:, None]
            # of the predictions, which have no scale in them, those at the first scale are taken
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
    """Measure where gradient descent ends, as `interpolation` measures where the flow does.

    Quantities
    ----------
    `interpolation`
    """
    return interpolation(trajectory)


def _predictions(
    features: np.ndarray, y: np.ndarray, eta: np.ndarray, back: np.ndarray, *, scales: np.ndarray, depth: int
) -> dict[str, np.ndarray]:
    """Return the coefficients of one data set that each quantity predicts, shape (scales, inputs) each."""

    def minimum_norm_solution(weights: np.ndarray, norm: Norm) -> np.ndarray:
        """Return S^T rho for the rho with the least norm of rho / weights, repeated for every scale."""
        return np.tile(back @ (weights * minimum_norm(features * weights, y, norm)), (len(scales), 1))

    # Remark 4's sum_j |rho_j| |eta_j|^(2 - L) is the l1 norm of rho / eta^(L - 2), and sum_j rho_j^2 eta_j^(2 - 2L) the
    # squared l2 norm of rho / eta^(L - 1). Signs of these weights cancel: they multiply features and solution.
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
        Time t, predicted by the closed form of the inverse of h_L at the integrated h_L(t).
    penalty_over_h
        H_L(h) / |h| at h = h_L(t), for all times but the start, where h is zero; predicted in closed form. H_L is the
        integral of the inverse of h_L; by parts it is t h - q^2 / 2, because (q^2 / 2)' = h.
    time_of_last_q
        Time at which |q_L| passes the setting `last`, negative backward in time; predicted in closed form.
    """
    settings = trajectory.settings
    # one pair for each depth and direction in time, in the order of the loops below
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
