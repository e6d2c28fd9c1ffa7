"""How fast descent on regressions is, by depth.

The loss is the mean of |x.w - y|^p over samples x with labels y, for end-to-end weights w. Time counts steps.

`lp_descent` reads one series, the first below, and constants. A member is a depth, a rule and a start. The tolerance is
reached where the loss exceeds the least one by at most `tolerance` of it. The best learning rate of a member is the one
that reaches it in the fewest steps.

- `loss`, shape (members, 1 + max_steps): the loss after 0, 1, ... steps, at the member's best learning rate
- `iterations`, (members, rates): steps to the tolerance at each learning rate, -1 where it was not reached
- `learning_rate`, (rates,): the learning rates, ascending, the same for all members
- `least_loss` and `features`, one number each: the least loss, and how many columns the data have
- `depth`, `rule` and `member`, the number of the start: (members,)

`two_samples` reads series of shape (members, 1) and constants of shape (members,). Here the tolerance is a share of the
loss at zero weights; `steps_at_limit` says which learning rates are stable.

- `steps` and `rate`: steps to the tolerance at the largest stable learning rate, -1 without one, and that rate
- `fewest`: fewest steps to the tolerance over all learning rates that were tried, -1 where none arrives
- `exponent` p; `stiffness`, the length kappa of the long sample; `depth`; `start`, the number of the start
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
        The first iteration with loss <= (1 + tolerance) * least loss, in one row for each learning rate; empty where no
        iteration has such a loss.
    excess
        (loss - least loss) / least loss at the best learning rate, the one with the fewest iterations. There are
        `curve_points` evenly spaced iterations and, since the loss falls most at first, as many in equal ratios.
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
    # The rate whose loss was recorded. Of several that need equally few steps `argmin` takes the first, the smallest,
    # as in the run
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
        Steps until the loss is at most the tolerance times the loss at zero weights, at the largest stable learning
        rate; empty where no rate is stable, or the largest that is tried is.
    learning_rate
        The largest stable learning rate; empty where `steps` is.
    fewest_steps
        The fewest steps over all learning rates that are tried, also over those beyond the stable ones, which may
        arrive by luck; empty where none arrives.
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
