"""Steps of descent by initialisation, rates and losses against the guarantee, and the saddle at zero weights.

What metrics read of their runs; constants without a shape are (members,):

- `initialisation_range`: series `steps`, a number of steps, and `learning_rate`, shape (members, 1); `size`, a
  Frobenius norm
- `guarantee`: series `end_to_end` W, shape (members, times, n, n); `target`, (members, n, n); `imbalance`;
  `learning_rate`, which turns the recorded times, numbers of steps, into flow time
- `margins`: W and `target` as before; `margin` c. Times are in units of c^(2/N - 1) at depth N
- `convex_losses`: W and `target` as before; `factor`, (members, n, n), the root S of the inputs' covariance; `loss`,
  the name of the loss. Times are flow time
- `one_output`: series `start_distance`, (members, 1); `iterations`, a number of steps, -1 where descent did not arrive
  and -2 where it was not followed; `dimension`; `over_root`
- `zero_weights`: series `fall`, (members, distances), with distances from zero weights instead of times; `target`,
  (members, n, n); `hessian`, (members, most, most), zeros behind the first `parameters` rows and columns
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
        Steps to the optimum at the best learning rate; empty where none converged.
    learning_rate
        The best learning rate; empty where none converged.
    initial_norm
        Frobenius norm of the end-to-end matrix at the start.
    """
    constants = trajectory.constants
    steps, rate = (trajectory.series[name][:, 0] for name in ("steps", "learning_rate"))
    # both at once, stacked along a new first axis
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
    """Measure descent with and without the assumptions; time is learning rate eta times number of steps.

    Quantities
    ----------
    relative_excess
        Excess of the loss over its least value, half the squared distance from the target, over that at the start;
        predicted the guaranteed bound exp(-c^(2(N-1)/N) eta t), c the margin (Arora et al.
        2019, theorem 1).
    initial_excess
        Half the squared distance from the target at the start, by which `relative_excess` is divided.
    imbalance
        Largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j at the start.
    smallest_rate
        The smallest of -log(relative excess) / (eta t) until the excess falls below `floor` of the first; nan for a
        loss that is not finite.
    """
    constants, settings = trajectory.constants, trajectory.settings
    excess = _relative_excess(trajectory)
    time = trajectory.time * constants["learning_rate"][:, None]
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
        The smallest of -log(relative excess) / t until the excess falls below `floor` of the first; predicted the
        guaranteed rate c^(2(N-1)/N) (Arora et al. 2019, theorem 1). nan for a loss that is not finite.
    """
    constants = trajectory.constants
    guaranteed = theory.guaranteed_rate(constants["margin"], constants["depth"])
    scaled_time = trajectory.time  # in units of c^(2/N - 1)
    rate = _smallest_rate(_relative_excess(trajectory), scaled_time, floor)
    rate *= constants["margin"] ** (1 - 2 / constants["depth"])  # per flow time
    return rows(
        {SMALLEST_RATE: (rate, guaranteed)},
        {"seed": constants["member"]},
        depth=constants["depth"],
        margin=constants["margin"],
        start=constants["start"],
    )


def _relative_excess(trajectory: Trajectory) -> np.ndarray:
    """Return half the squared distance from the target over the first one, shape (members, times)."""
    W, target = trajectory.series["end_to_end"], trajectory.constants["target"][:, None]
    excess = 0.5 * np.sum((W - target) ** 2, axis=(-2, -1))
    return excess / excess[:, :1]


def _smallest_rate(loss: np.ndarray, time: np.ndarray, floor: float) -> np.ndarray:
    """Return by member the smallest of -log(loss) / time until a relative loss falls below the floor.

    What an integrator or rounding leaves may rise above the floor again, long after the loss fell below it: times count
    until the first such fall. At first a flow's fall is lost in the rounding of the loss: times count from a fall of
    1e-6 on (chosen: a thousand times the relative tolerance of the flows). A loss that is not finite has no rate: nan.
    """
    is_above = np.minimum.accumulate(loss, axis=1) > floor
    has_fallen = np.abs(loss - 1) > 1e-6
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(is_above & has_fallen, -np.log(loss) / time, np.inf)
    rate[:, 0] = np.inf
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
        Loss over the first one.
    loss_over_singular
        The first loss over a lower bound on that of singular matrices, in rows of time 0.
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
        Whether the start is closer to the target than any matrix of norm at most the margin: 1 or 0.
    converged
        Whether descent reached the tolerance: 1 or 0; empty where it was not followed.
    """
    constants, settings = trajectory.constants, trajectory.settings
    margin = settings["margin"] * settings["deviation"] / constants["dimension"]
    quantities = {
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
    """Measure the saddle at zero weights.

    Quantities
    ----------
    order
        Power of the distance epsilon with which the loss falls along the steepest direction; predicted the depth.
    curvature
        Smallest eigenvalue of the Hessian, over the target's largest singular value; predicted -1 at depth 2 and 0
        beyond.
    fall
        Fall of the loss at the smallest distance; predicted its leading term, epsilon^N sigma_1.
    next_term
        Share of the leading term that the next and last term takes at the smallest distance.
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
    # sigma_1 of the gradient at zero, which is minus the target
    first = np.linalg.svd(constants["target"], compute_uv=False)[:, 0]
    # the fall is epsilon^N sigma_1 - epsilon^(2N) / 2, and the second term epsilon^N / (2 sigma_1) of the first
    leading = distance[0] ** constants["depth"] * first
    quantities = {
        ORDER: (order, constants["depth"]),
        CURVATURE: (np.array(smallest) / first, np.where(constants["depth"] == 2, -1.0, 0.0)),
        FALL: (fall[:, 0], leading),
        NEXT_TERM: (leading / (2 * first**2), np.nan),
    }
    return rows(quantities, {"seed": constants["member"]}, depth=constants["depth"])
