"""Two-layer networks under gradient descent: Theorem 5 and the experiments of Section 6."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, Untested, all_of, at_least, at_most, claim, equal
from learning_dynamics.papers.tensor_networks.measured import values_of
from learning_dynamics.settings import Positive
from learning_dynamics.tables import Tables


@claim("Theorem 5", "largest distance of gradient descent's limit from the formula, extrapolated to step size zero")
def theorem_5(tables: Tables) -> Outcome:
    """Two layers trained on one data point tend to the limits that Theorem 5 gives in closed form.

    Gradient descent itself ends at a distance that is proportional to its step size: at most 2e-3 at the
    paper's step of 1e-3, which no eye can see in its figures. The line through the limits at the two smallest
    steps meets step size zero at the formula. For networks with equal singular values, such as fully connected
    ones, the theorem's condition holds in some choice of singular vectors, and that suffices.
    """
    table = tables["step_sizes"]
    condition = values_of(table, "condition")["value"].min()
    if condition <= 0:
        raise Untested("the initial directions do not fulfil the theorem's condition")
    errors = values_of(table, "error")
    smallest = sorted(errors["step"].unique())[1:3]
    largest = errors.groupby("step")["value"].max()
    groups = errors.pivot_table(index=["network", "scale"], columns="step", values="value", aggfunc="max")
    # errors that the remaining residual could explain show no order
    groups = groups[groups[smallest[0]] > 1e3 * values_of(table, "residual")["value"].max()]
    order = np.log(groups[smallest[1]] / groups[smallest[0]]) / np.log(smallest[1] / smallest[0])
    # the second-order term of the step size, estimated from the first-order one at the same steps
    second = 10 * largest[smallest[0]] * largest[smallest[1]]
    return Outcome(
        all_of(
            equal(float(largest[0.0]), 0.0, float(second), because="the square of the error at the steps used"),
            equal(float((order - 1).abs().max()), 0.0, 0.02, because="order of the error in the step size, less one"),
        ),
        len(values_of(table, "error", step=0.0)),
    )


@claim("Section 6", "largest distance between the printed solutions and those of a convex solver")
def min_norm_points(tables: Tables, *, printed: dict[str, list[float]]) -> Outcome:
    """The interpolators of least ℓ2, ℓ1 and DFT-domain ℓ1 norm are [0.2, 0.4], [0, 0.5] and [0.33, 0.33], and
    the classification data have the same max-margin directions.

    The paper's classification data are special: in the convolutional case both points lie exactly on the
    margin, [⅓, ⅓], so that the multipliers are not unique.
    """
    distances = []
    for name, wanted in printed.items():
        target = np.asarray(wanted, dtype=float)
        for run in ("regression", "classification"):
            solution = values_of(tables[run], "reference", network=name).sort_values("index")["value"].to_numpy()
            if run == "classification":
                solution = solution / np.linalg.norm(solution) * np.linalg.norm(target)
            distances.append(np.max(np.abs(solution - target)))
    return Outcome(equal(float(max(distances)), 0.0, 0.005, because="two decimals are printed"), len(distances))


@claim("Section 6, regression", "largest ratio of the spread of limits at the smallest α to that at the largest")
def small_scale_forgets_direction(tables: Tables) -> Outcome:
    """The limits of gradient descent depend less on the initial direction when the initial scale is small.

    The spread is the largest distance between the limits of one network from the four initial coefficients.
    From α = 1 they lie all along the line of global minima, from α = 0.01 next to the point of least norm.
    """
    table = tables["regression"]
    spread = {key: _spread(rows) for key, rows in values_of(table, "limit").groupby(["network", "scale"])}
    small, large = table["scale"][table["scale"] > 0].min(), table["scale"].max()
    ratios = [spread[network, small] / spread[network, large] for network in table["network"].unique()]
    return Outcome(at_most(max(ratios), 0.1, because="the ratio of scales is 0.01"), len(spread))


def _spread(limits: pd.DataFrame) -> float:
    points = limits.pivot_table(index="direction", columns="index", values="value").to_numpy()
    return float(np.max(np.linalg.norm(points[:, None] - points[None], axis=-1)))


@claim(
    "Section 6, classification",
    "smallest difference between directions from different initial coefficients at α = 1, in degrees",
)
def finite_loss_remembers_initialisation(tables: Tables) -> Outcome:
    """Stopped at a loss of about 1e-5, the direction of the classifier still depends on the initial
    coefficients and on α.

    The theorems say that directions forget the initialisation, and they do, but like a power of log t (figure
    log_time): two million steps are log t = 7. For every network the largest angle to its max-margin direction
    among the initial coefficients is of the order of ten degrees at α = 1.
    """
    table = tables["classification"]
    last = table[table["time"] == table["time"].max()]
    largest = table["scale"].max()
    angles = values_of(last, "angle", scale=largest)
    spread = angles.groupby("network")["value"].max()
    limits = values_of(last, "limit", scale=largest)
    apart = []
    for _, rows in limits.groupby("network"):
        points = rows.pivot_table(index="direction", columns="index", values="value").to_numpy()
        heading = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        apart.append(np.ptp(heading))
    return Outcome(
        all_of(
            at_least(float(min(apart)), 2.0, because="a visible angle between classifiers from different starts"),
            at_least(float(spread.min()), 2.0, because="a visible angle to the max-margin direction"),
        ),
        len(angles),
    )


@claim("Section 6, classification", "largest loss after two million steps")
def final_loss(tables: Tables, *, bound: Positive) -> Outcome:
    """Every classification run ends at a loss of about 1e-5 or less.

    The loss at time t is near 1/(t |∇f|²), the same for every network up to a factor of two: it is printed as
    an order of magnitude, and held to half a decade.
    """
    table = tables["classification"]
    losses = values_of(table[table["time"] == table["time"].max()], "loss")["value"]
    return Outcome(
        at_most(float(losses.max()), bound * np.sqrt(10), because="the nearest power of ten is the one printed"),
        len(losses),
    )
