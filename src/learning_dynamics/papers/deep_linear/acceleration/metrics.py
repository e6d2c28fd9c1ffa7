"""How fast descent on regressions is, by depth.

Time counts steps. `lp_descent` reads one series, the first, and constants; a member is a depth, a rule and a start:

- `loss`, shape (members, 1 + max_steps): the mean of |x.w - y|^p after each number of steps, at the best learning rate
- `iterations`, (members, rates): steps to the tolerance at each learning rate, -1 where it was not reached
- `learning_rate`, (rates,): the grid that all members share
- `least_loss` and `features`, one number each: the least loss, and how many columns the data have
- `depth`, `rule` and `member`, the number of the start: (members,)

`two_samples` reads series of shape (members, 1) and constants of shape (members,):

- `steps` and `rate`: steps to the tolerance at the largest stable learning rate, -1 without one, and that rate
- `fewest`: fewest steps to the tolerance over all rates, -1 where none arrives
- `exponent` p, `stiffness` kappa, `depth` and `start`, the number of the start
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.acceleration.quantities import FEATURES, FEWEST_STEPS, ITERATIONS, STEPS
from learning_dynamics.papers.deep_linear.tables import DEPTH
from learning_dynamics.settings import Count
from learning_dynamics.tidy import QUANTITY, SEED, VALUE_IF_ANY, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    DEPTH,
    Column("rule", "str", "network: descent on the layers; end_to_end: the preconditioned update itself", draw=True),
    SEED,
    QUANTITY,
    Column("learning_rate", "float", "of the run", nullable=True),
    Column("iteration", "int", "of the loss; 0 for other quantities"),
    VALUE_IF_ANY,
)
def lp_descent(trajectory: Trajectory, *, curve_points: Count) -> Tables:
    """Measure descent on an l_p regression.

    Quantities
    ----------
    iterations
        Iterations to the tolerance, one row for each learning rate; empty where it was not reached.
    excess
        (loss - least loss) / least loss along the run with the best learning rate, at `curve_points` evenly spaced
        iterations and, since most is lost at first, at as many in equal ratios.
    features
        Number of columns of the data.
    """
    constants = trajectory.constants
    grid, iterations, least = constants["learning_rate"], constants["iterations"], constants["least_loss"]
    labels = {"depth": constants["depth"], "rule": constants["rule"]}
    members = constants["member"]
    # steps to the tolerance; nan where a rate does not reach it
    reached = np.where(iterations < 0, np.nan, iterations)
    yield rows({ITERATIONS: reached}, {"seed": members, "learning_rate": grid}, **labels, iteration=0)
    # the rate whose loss was recorded: of several that need equally few steps the smallest, as in the run
    best = grid[np.where(iterations < 0, np.inf, iterations).argmin(axis=1)]
    last = len(trajectory.time) - 1
    places = np.union1d(np.linspace(0, last, curve_points), np.geomspace(1, last, curve_points))
    curve_iterations = np.unique(places.round().astype(int))
    excess = trajectory.series["loss"][:, curve_iterations] / least - 1
    yield rows({"excess": excess}, {"seed": members, "iteration": curve_iterations}, **labels, learning_rate=best)
    count = np.full(len(members), constants["features"])
    yield rows({FEATURES: count}, {"seed": members}, **labels, learning_rate=np.nan, iteration=0)


@columns(
    DEPTH,
    Column("exponent", "float", "p of the loss", draw=True),
    Column("stiffness", "float", "length of the long sample; the other one has length one", draw=True),
    SEED,
    QUANTITY,
    VALUE_IF_ANY,
)
def two_samples(trajectory: Trajectory) -> pd.DataFrame:
    """Measure descent on two samples.

    Quantities
    ----------
    steps
        Steps to the tolerance at the largest stable learning rate; empty where no rate is stable.
    learning_rate
        The largest stable learning rate; empty where there is none.
    fewest_steps
        Fewest steps to the tolerance over all rates, with those that land there by luck; empty where none does.
    """
    constants = trajectory.constants
    labels = {name: constants[name] for name in ("depth", "exponent", "stiffness")}
    steps, rate, fewest = (trajectory.series[name][:, 0] for name in ("steps", "rate", "fewest"))
    quantities = {
        STEPS: np.where(steps < 0, np.nan, steps),
        "learning_rate": np.where(steps < 0, np.nan, rate),
        FEWEST_STEPS: np.where(fewest < 0, np.nan, fewest),
    }
    return rows(quantities, {"seed": constants["start"]}, **labels)
