"""Classification of separable data: Theorems 1 and 2, Corollaries 1 to 3."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, Outcome, Untested, all_of, at_most, claim, equal
from learning_dynamics.papers.tensor_networks.limit_directions import RUN, TURN, check_directions, loss_vanishes
from learning_dynamics.papers.tensor_networks.measured import values_of
from learning_dynamics.tables import Tables


@claim("Theorem 1", "largest distance from the singular-vector equations at depth 3, extrapolated to infinite log t")
def theorem_1(tables: Tables) -> Outcome:
    """Under the exponential loss every layer of a linear tensor network tends in direction to a singular vector
    of M(−u).

    u is the limit direction of Xᵀr, which the theorem assumes to exist; runs in which Xᵀr still turns by more
    than 0.1° over the last decade of log t are left out. The distance is that of the layers' directions from
    solving the singular-vector equations, relative to the singular value. At depth 3 the layers of fully
    connected and of orthogonally decomposable networks grow like (log t)^(1/3) while what is to vanish keeps
    its size, so that the distance falls like (log t)^(−1/3): it is extrapolated with that power from the last
    two decades before log t = 10⁶. Convolutional networks with short filters and random tensors settle more
    slowly, like the two-layer networks whose second singular value is close to the first: they must have come
    within 0.2 by then.
    """
    table = tables["three_layers"]
    structured = ["fully_connected", "diagonal", "convolutional", "decomposable"]
    found = _settled(table, "singular", structured)
    intercepts, decade = (_at_infinity(found, -1 / 3, decades) for decades in (2, 1))
    ends = pd.concat(
        [_settled(each, "singular", sorted(each["network"].unique())).iloc[-1] for each in tables.values()]
    )
    return Outcome(
        all_of(
            equal(
                float(np.max(np.abs(intercepts))),
                0.0,
                0.02,
                uncertainty=float(np.max(np.abs(intercepts - decade))),
                resolution=0.1,
                because="next powers of log t; uncertainty: the fit to one decade in place of two",
            ),
            at_most(float(ends.max()), 0.2, because="all networks, depths 2 and 3, at the last time"),
        ),
        len(ends),
    )


def _at_infinity(values: pd.DataFrame, power: float, decades: float) -> np.ndarray:
    """Return the intercepts of straight lines through the last values, columns, against a power of tau, the index."""
    late = values[values.index >= values.index[-1] / 10**decades * (1 - 1e-9)]
    return np.polynomial.polynomial.polyfit(late.index.to_numpy() ** power, late.to_numpy(), 1)[0]


@claim("Theorem 2", "largest residual of the stationarity conditions in singular coordinates, depth 3, at log t = 1e6")
def theorem_2(tables: Tables) -> Outcome:
    """An orthogonally decomposable network classifies without error and tends to a stationary point of the
    ℓ_{2/L} max-margin problem.

    Stationary means that |ρ_j|^{2/L} is proportional to (Su)_j ρ_j, real and not negative, for every singular
    direction j. At depth 3 the directions that die out keep their size while the others grow, and the residual falls
    like (log t)^(−2/3). At depth 2 the problem is convex and its solution is one direction: there the angle
    to it is extrapolated to infinite log t. The theorem assumes that Xᵀr converges in direction; runs in which it
    still turns by more than 0.1° over the last decade of log t are left out. The problem at depth 3 is not
    convex, and stationary points other than its minimum are reached.
    """
    deep, flat = tables["three_layers"], tables["two_layers"]
    networks = ["diagonal", "convolutional", "decomposable"]
    residual, count = _stationary(deep, networks)
    directions, more = check_directions([(flat, {"network": ["decomposable"]})], RUN)
    return Outcome(all_of(residual, directions, loss_vanishes([deep, flat])), count + more)


@claim("Corollary 1", "largest angle to the ℓ2 max-margin direction, at infinite log t, in degrees")
def corollary_1(tables: Tables) -> Outcome:
    """Fully connected networks of any depth tend in direction to the ℓ2 max-margin classifier.

    W₁ keeps its part outside the span of the data for ever, and the other layers carry it along, so that the
    angle falls like (log t)^(−1/L): after 2·10⁶ steps of gradient descent it is still tens of degrees. Followed to
    log t = 10⁶, the angle extrapolates to zero.
    """
    check, count = check_directions([(table, {"network": ["fully_connected"]}) for table in tables.values()], RUN)
    return Outcome(all_of(check, loss_vanishes(list(tables.values()))), count)


@claim("Corollary 2", "largest residual of the stationarity conditions, depth 3, at log t = 1e6")
def corollary_2(tables: Tables) -> Outcome:
    """Diagonal networks tend in direction to a stationary point of the ℓ_{2/L} max-margin problem.

    At depth 2 it is the ℓ1 max-margin classifier, and the angle to it is extrapolated to infinite log t; a
    coordinate whose entry of Xᵀr is smaller than the largest by a factor s dies out like (log t)^(s − 1). On
    random data s is often near one: draws with a power below 1/4, or in which the support vectors do not yet
    share the weight, have not shown their limit even at log t = 10⁶ and are counted but left out. The paper's
    two points give 1/2.
    """
    return _architecture(tables, "diagonal")


@claim("Corollary 3", "largest residual of the stationarity conditions in the DFT domain, depth 3, at log t = 1e6")
def corollary_3(tables: Tables) -> Outcome:
    """Full-length convolutional networks tend in direction to a stationary point of the DFT-domain ℓ_{2/L}
    max-margin problem.

    At depth 2 the angle to the DFT-domain ℓ1 max-margin classifier is extrapolated to infinite log t, where it
    falls fast enough (see corollary_2); the paper's two points give the power 2/3. At depth 3 the problem is not
    convex, and from some initial layers the flow ends at a stationary point other than the minimum.
    """
    return _architecture(tables, "convolutional")


def _architecture(tables: Tables, network: str) -> Outcome:
    residual, count = _stationary(tables["three_layers"], [network])
    flat = [(tables[name], {"network": [network]}) for name in ("two_layers", "settling")]
    directions, more = check_directions(flat, RUN)
    return Outcome(all_of(residual, directions, loss_vanishes(list(tables.values()))), count + more)


def _settled(table: pd.DataFrame, quantity: str, networks: list[str]) -> pd.DataFrame:
    """Return a quantity by tau (rows) of the runs (columns) in which X^T r has all but stopped turning."""
    rows = table[table["network"].isin(networks)]
    turned = values_of(rows, "settled").set_index(RUN)["value"]
    values = values_of(rows, quantity).pivot_table(index="tau", columns=RUN, values="value")
    found = values.loc[:, turned[turned <= TURN].index]
    if found.shape[1] < 2:
        raise Untested(f"X^T r has settled in only {found.shape[1]} of {len(turned)} runs")
    return found


def _stationary(table: pd.DataFrame, networks: list[str]) -> tuple[Check, int]:
    residual = _settled(table, "stationarity", networks).iloc[-1]
    bound = 200 * table["tau"].max() ** (-2 / 3)
    because = f"200 (log t)^(-2/3); X^T r has settled in {len(residual)} runs"
    return at_most(float(residual.max()), bound, because=because), len(residual)
