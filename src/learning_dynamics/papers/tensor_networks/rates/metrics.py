"""The loss along the flow beside the constants of the paper's bounds.

Shapes: of the exponential loss ``<network>_<depth>`` (members, times, parameters), layers divided by (1 + log(1 +
t))^(1/L), members data sets and margins, the latter varying fastest; `best` (data sets, inputs), the l2 max-margin
classifiers; times are log(1 + log(1 + t)). Of the squared loss ``<network>_<depth>`` (data sets, times, scales,
samples), residuals and no states; times are in units of the bound's time constant, which scales change. `X` (data sets,
samples, inputs), `y` (data sets, samples).
"""

import numpy as np

from learning_dynamics.papers.tensor_networks.architectures import followed_networks
from learning_dynamics.papers.tensor_networks.rates import quantities
from learning_dynamics.papers.tensor_networks.rates.theory import decomposable_constant, one_point_constant
from learning_dynamics.papers.tensor_networks.tables import DEPTH, FOLLOWED, NETWORK, SCALE
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

LOWEST = 1e-14  # of the loss at the start: below, rounding of the residuals shows


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
        c of D.1.1's bound, alpha^(2L-2) lambda^(L-1) s_min(S)^2 gamma^2 with alpha = 1 and gamma the l2 max margin; at
        the start.
    one_point_bound_constant
        c of E.1.1's bound, alpha^2 lambda |s|^2 with alpha = 1; at the start, for two layers and one point alone.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    margins = np.array(settings["margins"], dtype=float)
    width = 1 / np.linalg.norm(trajectory.constants["best"], axis=1)  # the l2 max margin gamma
    seeds, starts = np.repeat(np.arange(len(X)), len(margins)), np.tile(margins, len(X))
    log_time = np.expm1(trajectory.time)
    for network, states in followed_networks(trajectory):
        outputs = np.einsum("mni,mti->mtn", X[seeds], network.coefficients(states)) * y[seeds][:, None]
        # of divided layers the output is divided by 1 + log(1 + t), whatever the depth
        outputs *= (1 + log_time)[:, None]
        log_loss = np.log(np.exp(-outputs).sum(axis=-1))
        labels = {"network": network.name, "depth": network.depth, "start_margin": starts}
        yield rows({quantities.LOG_LOSS: log_loss}, {"seed": seeds, "log_time": log_time}, **labels)
        constant = decomposable_constant(network, 1.0, settings["imbalance"]) * width[seeds] ** 2
        once = {quantities.BOUND_CONSTANT: constant[:, None]}
        if network.depth == 2 and X.shape[1] == 1:
            constants = [one_point_constant(network, x, 1.0, settings["imbalance"]) for x in X[seeds, 0]]
            once[quantities.ONE_POINT_BOUND_CONSTANT] = np.array(constants)[:, None]
        yield rows(once, {"seed": seeds, "log_time": log_time[:1]}, **labels)


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
        log(L(0) / L(t)) / t, in units of the bound's rate: at least one, by (62), and in fully connected networks by
        the steps of H.1, which prints half of that (errata 12). Nan once the loss is within rounding.
    one_point_speed
        log(L(0) / L(t)) / t, in units of the rate of (73): at least one by (73). Nan once the loss is within rounding;
        two layers and one point alone, not fully connected networks.
    """
    X, settings = trajectory.constants["X"], trajectory.settings
    times = trajectory.time[1:]
    axes = {"seed": np.arange(len(X)), "scale": np.array(settings["scales"], dtype=float), "time": times}
    for network, residuals in followed_networks(trajectory):
        loss = 0.5 * np.sum(residuals**2, axis=-1)
        share = loss[:, 1:] / loss[:, :1]
        with np.errstate(divide="ignore"):
            speed = np.where(share > LOWEST, -np.log(share) / times[:, None], np.nan)
        # to (data sets, scales, times)
        measures = {quantities.SPEED: np.swapaxes(speed, 1, 2)}
        if network.depth == 2 and X.shape[1] == 1 and network.name != "fully_connected":
            constant = decomposable_constant(network, 1.0, 1.0)
            units = [constant * (x @ x) / one_point_constant(network, x, 1.0, 1.0) for x in X[:, 0]]
            measures[quantities.ONE_POINT_SPEED] = measures[quantities.SPEED] * np.array(units)[:, None, None]
        yield rows(measures, axes, network=network.name, depth=network.depth)
