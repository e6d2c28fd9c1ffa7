"""Steps of descent by initialisation, rates and losses against the guarantee, and the saddle at zero weights.

The guarantee is the theorem of slide 22 (Arora et al. 2019, theorem 1) for the loss ||W - W*||_F^2 / 2 of the
end-to-end matrix W of N layers, with the target W*. It assumes of the start that every matrix with a singular value up
to the margin c has more loss, and that the layers are nearly balanced. The excess of a loss is the loss less the least
one, here zero. The relative excess is the excess over that at the first time.

What metrics read of their runs. Constants without a shape have shape (members,), and so has `member`, the number of the
draw, which all runs have:

- `initialisation_range`: series `steps`, the fewest steps of descent, -1 where it arrived at no learning rate, and
  `learning_rate`, the rate that needs them, both of shape (members, 1). Constants `size`, the Frobenius norm of W at
  the start, `depth`, `init` and `deviation`
- `guarantee`: series `end_to_end` W, (members, times, n, n), where times are numbers of steps. Constants `target`,
  (members, n, n), `imbalance`, `case`, and `learning_rate`, which turns numbers of steps into flow time
- `margins`: W and `target` as for `guarantee`; times are in units of c^(2/N - 1). Constants `margin` c, `depth`,
  `start`
- `convex_losses`: W and `target` as for `guarantee`; times are flow time. Constants `factor`, (members, n, n), a square
  root S of the inputs' covariance S S^T, `loss`, the name of the loss, and `start`
- `one_output`: series `start_distance`, (members, 1), the distance of the start from the target. Constants
  `iterations`, a number of steps, -1 where descent did not reach the tolerance and -2 where there was no descent,
  `dimension`, the number of inputs, and `over_root`, whether the start's deviation is over the root of the dimension
- `zero_weights`: series `fall`, (members, distances), with distances from zero weights, ascending, instead of times.
  Constants `target`, (members, n, n), `hessian`, (members, most, most), with zeros behind the first `parameters`
  rows and columns, `parameters` and `depth`
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.convergence import theory
from learning_dynamics.papers.deep_linear.convergence.convex import LOSSES
from learning_dynamics.papers.deep_linear.convergence.quantities import (
    CONVERGED,
    CURVATURE,
    FALL,
    IMBALANCE,
    INITIAL_EXCESS,
    INITIAL_NORM,
    LEARNING_RATE,
    LOSS_OVER_SINGULAR,
    MEETS_ASSUMPTION,
    NEXT_TERM,
    ORDER,
    OVER_DIMENSION,
    OVER_ROOT,
    RELATIVE_EXCESS,
    RELATIVE_LOSS,
    SMALLEST_RATE,
    STEPS,
)
from learning_dynamics.papers.deep_linear.tables import DEPTH
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(
    DEPTH,
    Column("init", "str", "balanced, or layer_wise: independent Gaussian layers", draw=True),
    Column("deviation", "float", "standard deviation of the end-to-end matrix's entries", draw=True),
    SEED,
    QUANTITY,
    VALUE_IF_ANY,
)
def initialisation_range(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how long descent takes from each start.

    Quantities
    ----------
    steps
        Steps to a loss within the tolerance of the least one, at the learning rate that needs fewest; empty where
        descent arrived at no rate.
    learning_rate
        The learning rate that needs the fewest steps; empty where descent arrived at no rate.
    initial_norm
        Frobenius norm of the end-to-end matrix at the start.
    """
    constants = trajectory.constants
    steps, rate = (trajectory.series[name][:, 0] for name in ("steps", "learning_rate"))
    # both at once, stacked along a new first axis: nan where no rate arrived
    steps, rate = np.where(steps < 0, np.nan, (steps, rate))
    return rows(
        {STEPS: steps, LEARNING_RATE: rate, INITIAL_NORM: constants["size"]},
        {"seed": constants["member"]},
        depth=constants["depth"],
        init=constants["init"],
        deviation=constants["deviation"],
    )


@columns(
    Column("case", "str", "which assumption on the initialisation is broken, if any", draw=True),
    SEED,
    TIME,
    QUANTITY,
    VALUE_IF_ANY,
    PREDICTED,
)
def guarantee(trajectory: Trajectory, *, floor: Positive) -> Tables:
    """Measure descent with and without the assumptions; time is eta t, learning rate times number of steps.

    Quantities
    ----------
    relative_excess
        Excess of the loss over its least value, which is half the squared distance from the target, over the excess at
        the start; predicted the guaranteed bound exp(-c^(2(N-1)/N) eta t), with the margin c (Arora et al. 2019,
        theorem 1).
    initial_excess
        Half the squared distance from the target at the start, by which `relative_excess` is divided. In rows of the
        last time, as are the next two.
    imbalance
        Largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j at the start.
    smallest_rate
        The smallest of -log(relative excess) / (eta t) over the steps until the relative excess falls below `floor`;
        nan where the loss is not finite.
    """
    constants, settings = trajectory.constants, trajectory.settings
    excess = _relative_excess(trajectory)
    time = trajectory.time * constants["learning_rate"][:, None]  # eta t, shape (members, times)
    bound = np.exp(-theory.guaranteed_rate(settings["margin"], settings["depth"]) * time)
    yield rows({RELATIVE_EXCESS: (excess, bound)}, {"seed": constants["member"], "time": time}, case=constants["case"])
    first = 0.5 * np.sum((trajectory.series["end_to_end"][:, 0] - constants["target"]) ** 2, axis=(-2, -1))
    yield rows(
        {
            IMBALANCE: constants["imbalance"],
            INITIAL_EXCESS: first,
            SMALLEST_RATE: _smallest_rate(excess, time, floor),
        },
        {"seed": constants["member"]},
        time=time[:, -1],
        case=constants["case"],
    )


@columns(
    DEPTH,
    Column("margin", "float", "c: matrices with a singular value up to this have more loss than the start", draw=True),
    Column("start", "str", "where the flow starts", draw=True),
    SEED,
    QUANTITY,
    VALUE_IF_ANY,
    PREDICTED,
)
def margins(trajectory: Trajectory, *, floor: Positive) -> pd.DataFrame:
    """Measure how fast the loss falls along a flow.

    Quantities
    ----------
    smallest_rate
        The smallest of -log(relative excess) / t over the times t until the relative excess falls below `floor`;
        predicted the guaranteed rate c^(2(N-1)/N), with the margin c (Arora et al. 2019, theorem 1). nan where the loss
        is not finite.
    """
    constants = trajectory.constants
    guaranteed = theory.guaranteed_rate(constants["margin"], constants["depth"])
    scaled_time = trajectory.time  # in units of c^(2/N - 1)
    rate = _smallest_rate(_relative_excess(trajectory), scaled_time, floor)
    # from a rate per unit of scaled time to one per unit of flow time, which is c^(2/N - 1) times the scaled time
    rate *= constants["margin"] ** (1 - 2 / constants["depth"])
    return rows(
        {SMALLEST_RATE: (rate, guaranteed)},
        {"seed": constants["member"]},
        depth=constants["depth"],
        margin=constants["margin"],
        start=constants["start"],
    )


def _relative_excess(trajectory: Trajectory) -> np.ndarray:
    """Return half the squared distance from the target over that at the first time, shape (members, times)."""
    W, target = trajectory.series["end_to_end"], trajectory.constants["target"][:, None]
    excess = 0.5 * np.sum((W - target) ** 2, axis=(-2, -1))
    return excess / excess[:, :1]


def _smallest_rate(loss: np.ndarray, time: np.ndarray, floor: float) -> np.ndarray:
    """Return by member the smallest of -log(loss) / time, until the loss falls below the floor; shape (members,).

    `loss` is relative, one at the first time, of shape (members, times); `time` has the same shape or (times,). Times
    count until the loss is first at most the floor: what an integrator or rounding leaves may rise above it
    again long after. Times count from where the loss has changed by 1e-6: at first a flow's fall is lost in the
    rounding of the loss (chosen: a thousand times the relative tolerance of the flows). Members whose loss is not
    finite have the rate nan.
    """
    is_above = np.minimum.accumulate(loss, axis=1) > floor
    has_fallen = np.abs(loss - 1) > 1e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(is_above & has_fallen, -np.log(loss) / time, np.inf)
    rate[:, 0] = np.inf  # time is zero here
    return np.where(np.isfinite(loss).all(axis=1), rate.min(axis=1), np.nan)


@columns(
    Column("loss", "str", "the convex loss", draw=True),
    Column("start", "str", "below, or beyond, singular matrices' loss", draw=True),
    SEED,
    TIME,
    QUANTITY,
    VALUE_IF_ANY,
)
def convex_losses(trajectory: Trajectory) -> Tables:
    """Measure convex losses along a flow.

    Quantities
    ----------
    relative_loss
        Loss over the loss at the first time.
    loss_over_singular
        Loss at the first time over a lower bound on the loss of singular matrices, in rows of time 0.
    """
    constants = trajectory.constants
    relative_loss, over_singular = [], []
    of_members = (constants[name] for name in ("target", "factor", "loss"))
    for W, target, factor, name in zip(trajectory.series["end_to_end"], *of_members, strict=True):
        loss = LOSSES[name]
        value = loss.value(W - target, factor)
        relative_loss.append(value / value[0])
        over_singular.append(value[0] / loss.least_on_singular(target, factor))
    labels = {name: constants[name] for name in ("loss", "start")}
    yield rows({RELATIVE_LOSS: relative_loss}, {"seed": constants["member"], "time": trajectory.time}, **labels)
    yield rows({LOSS_OVER_SINGULAR: over_singular}, {"seed": constants["member"]}, time=0.0, **labels)


@columns(
    Column("dimension", "int", "number of inputs", draw=True),
    Column("deviation", "str", "of the start's entries: over the dimension, or over its root", draw=True),
    SEED,
    QUANTITY,
    VALUE_IF_ANY,
)
def one_output(trajectory: Trajectory) -> pd.DataFrame:
    """Measure random balanced starts with one output.

    Quantities
    ----------
    meets_assumption
        Whether the start is closer to the target, of norm one, than any row vector of norm at most the margin: 1 or 0.
    converged
        Whether descent reached the tolerance: 1 or 0; empty where there was no descent.
    """
    constants, settings = trajectory.constants, trajectory.settings
    margin = settings["margin"] * settings["deviation"] / constants["dimension"]
    quantities = {
        # the nearest row vector of a norm up to the margin is 1 - margin away from the target
        MEETS_ASSUMPTION: (trajectory.series["start_distance"][:, 0] < 1 - margin).astype(float),
        CONVERGED: np.where(constants["iterations"] == -2, np.nan, constants["iterations"] >= 0),
    }
    return rows(
        quantities,
        {"seed": constants["member"]},
        dimension=constants["dimension"],
        deviation=np.where(constants["over_root"], OVER_ROOT, OVER_DIMENSION),
    )


@columns(DEPTH, SEED, QUANTITY, VALUE_IF_ANY, PREDICTED)
def zero_weights(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the saddle at zero weights, with sigma_1 the largest singular value of the target.

    Every layer is epsilon times one of unit norm, along the direction in which the loss falls fastest; the distance
    from zero weights is epsilon. There the fall of the loss from zero weights is epsilon^N sigma_1 - epsilon^(2N) / 2.

    Quantities
    ----------
    order
        Slope of the logarithm of the fall against log epsilon, between the two smallest epsilon; predicted the depth N.
    curvature
        Smallest eigenvalue of the Hessian at zero weights, over sigma_1; predicted -1 at depth 2 and 0 beyond.
    fall
        Fall of the loss at the smallest epsilon; predicted its leading term, epsilon^N sigma_1.
    next_term
        The fall's second and last term over its leading one at the smallest epsilon, epsilon^N / (2 sigma_1).
    """
    constants = trajectory.constants
    # distances are epsilon, by which each layer of unit norm is multiplied, ascending
    fall, distance = trajectory.series["fall"], trajectory.time
    # the slope of log fall between the two smallest distances
    order = np.diff(np.log(fall[:, :2]), axis=1)[:, 0] / np.diff(np.log(distance[:2]))
    smallest = [
        np.linalg.eigvalsh(hessian[:count, :count])[0]
        for hessian, count in zip(constants["hessian"], constants["parameters"], strict=True)
    ]
    # sigma_1 of the target, and of the loss's gradient at zero, which is minus the target
    first = np.linalg.svd(constants["target"], compute_uv=False)[:, 0]
    # epsilon^N sigma_1, so that leading / (2 sigma_1^2) below is epsilon^N / (2 sigma_1)
    leading = distance[0] ** constants["depth"] * first
    quantities = {
        ORDER: (order, constants["depth"]),
        CURVATURE: (np.array(smallest) / first, np.where(constants["depth"] == 2, -1.0, 0.0)),
        FALL: (fall[:, 0], leading),
        NEXT_TERM: (leading / (2 * first**2), np.nan),
    }
    return rows(quantities, {"seed": constants["member"]}, depth=constants["depth"])
