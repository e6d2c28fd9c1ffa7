"""The loss along the flow, and the constants and rates of the paper's bounds on it.

Exponential loss: the series ``<network>_<depth>`` (members, times, parameters) have the layers divided by
(1 + log(1 + t))^(1/L), and times are log(1 + log(1 + t)). Members are all pairs of a data set and a margin at the
start; margins vary fastest. `best` (data sets, inputs) are the l2 max-margin classifiers, with a least margin of one.

Squared loss: the series ``<network>_<depth>`` (data sets, times, scales, samples) have the residuals f(x_i) - y_i.
Times are in units of one over the rate of the bound (62), which differs between scales. ``imbalance_<network>_<depth>``
(data sets, 2) have the start's lambda, and the largest number in its place.

Both: `X` (data sets, samples, inputs), `y` (data sets, samples).
"""

import numpy as np

from learning_dynamics.papers.tensor_networks.architectures import followed_networks
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import decomposable_constant, one_point_constant
from learning_dynamics.papers.tensor_networks.tables import DEPTH, FOLLOWED, NETWORK, SCALE
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

# The least L(t) / L(0) that is measured: there residuals are 1e-7 of those at the start, near the integrator's error.
LOWEST = 1e-14


@columns(
    SEED,
    NETWORK,
    DEPTH,
    Column("start_margin", "float", "least margin at the start", draw=True),
    Column("log_time", "float", "log(1 + t)"),
    *FOLLOWED,
)
def exponential_loss(trajectory: Trajectory) -> Tables:
    """Measure how fast the exponential loss falls.

    Quantities
    ----------
    log_loss
        Logarithm of the loss, the sum of exp(-y_i f(x_i)).
    bound_constant
        The constant c of D.1.1's bound, alpha^(2L-2) lambda^(L-1) s_min(S)^2 gamma^2, with alpha = 1, the setting
        `imbalance` as lambda, and the l2 max margin gamma; listed at the first time.
    one_point_bound_constant
        The constant c of E.1.1's bound, alpha^2 lambda |s|^2, with alpha = 1 and the singular values s of M(x); listed
        at the first time, for two layers and one point alone.
    """
    X, y, imbalance = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings["imbalance"]
    margins_tried = np.array(trajectory.settings["margins"], dtype=float)  # shape (margins,)
    l2_max_margin = 1 / np.linalg.norm(trajectory.constants["best"], axis=1)  # gamma, shape (data sets,)
    # the data set and the margin at the start of each member, shape (members,) each
    seeds = np.repeat(np.arange(len(X)), len(margins_tried))
    margin_of_member = np.tile(margins_tried, len(X))
    log_time = np.expm1(trajectory.time)
    for network, states in followed_networks(trajectory):
        # margins of the points, shape (members, times, samples)
        margins = np.einsum("mni,mti->mtn", X[seeds], network.coefficients(states)) * y[seeds][:, None]
        # states have each of the L layers divided by (1 + log(1 + t))^(1/L), and so their product by 1 + log(1 + t)
        margins *= (1 + log_time)[:, None]
        log_loss = np.log(np.exp(-margins).sum(axis=-1))  # shape (members, times)
        labels = {"network": network.name, "depth": network.depth, "start_margin": margin_of_member}
        yield rows({quantities.LOG_LOSS: log_loss}, {"seed": seeds, "log_time": log_time}, **labels)
        # constants of the bounds, shape (members,) each
        bound = decomposable_constant(network, scale=1.0, imbalance=imbalance) * l2_max_margin[seeds] ** 2
        at_start = {quantities.BOUND_CONSTANT: bound[:, None]}
        if network.depth == 2 and X.shape[1] == 1:
            one_point_bounds = [one_point_constant(network, x, scale=1.0, imbalance=imbalance) for x in X[seeds, 0]]
            at_start[quantities.ONE_POINT_BOUND_CONSTANT] = np.array(one_point_bounds)[:, None]
        yield rows(at_start, {"seed": seeds, "log_time": log_time[:1]}, **labels)


@columns(
    SEED,
    NETWORK,
    DEPTH,
    SCALE,
    Column("time", "float", "gradient-flow time, in units of the bound's time constant"),
    *FOLLOWED,
)
def squared_loss(trajectory: Trajectory) -> Tables:
    """Measure how fast the squared loss falls.

    Quantities
    ----------
    speed
        log(L(0) / L(t)) / t over the rate of the bound (62): at least one, if the bound holds. For fully connected
        networks the rate is that of the steps of H.1, twice the rate that H.1 prints (errata 12). Nan once L(t) / L(0)
        is below `LOWEST`.
    one_point_speed
        log(L(0) / L(t)) / t over the rate of the bound (73): at least one, if the bound holds. Nan once L(t) / L(0) is
        below `LOWEST`; two layers and one point alone, not fully connected networks.
    rate_of_largest
        The bound's rate with the largest number in lambda's place, over its rate: (largest / least)^(L-1), one at
        least. Listed at the first time.
    """
    X, settings = trajectory.constants["X"], trajectory.settings
    times = trajectory.time[1:]  # at the first time, zero, there is no speed
    axes = {"seed": np.arange(len(X)), "scale": np.array(settings["scales"], dtype=float), "time": times}
    for network, residuals in followed_networks(trajectory):
        loss = 0.5 * np.sum(residuals**2, axis=-1)  # shape (data sets, times, scales)
        relative_loss = loss[:, 1:] / loss[:, :1]  # L(t) / L(0), without the first time
        with np.errstate(divide="ignore"):
            speed = np.where(relative_loss > LOWEST, -np.log(relative_loss) / times[:, None], np.nan)
        measures = {quantities.SPEED: np.swapaxes(speed, 1, 2)}  # (data sets, scales, times)
        if network.depth == 2 and X.shape[1] == 1 and network.name != "fully_connected":
            # The rate of (62) over that of (73), s_min(S)^2 s_min(X)^2 / |s|^2, takes one speed to the other. Scale and
            # imbalance cancel, so that they are set to one, and s_min(X) of one point is |x|.
            constant = decomposable_constant(network, scale=1.0, imbalance=1.0)
            rates_of_62_over_73 = [
                constant * (x @ x) / one_point_constant(network, x, scale=1.0, imbalance=1.0) for x in X[:, 0]
            ]
            conversion = np.array(rates_of_62_over_73)[:, None, None]
            measures[quantities.ONE_POINT_SPEED] = measures[quantities.SPEED] * conversion
        labels = {"network": network.name, "depth": network.depth}
        yield rows(measures, axes, **labels)
        least, largest = trajectory.constants[f"imbalance_{network.name}_{network.depth}"].T  # shape (data sets,) each
        rate_of_largest = (largest / least) ** (network.depth - 1)
        at_start = np.broadcast_to(rate_of_largest[:, None, None], (len(X), len(axes["scale"]), 1))
        yield rows({quantities.RATE_OF_LARGEST: at_start}, axes | {"time": times[:1]}, **labels)
