"""Matrix completion: what deep networks recover, and what nuclear-norm minimisation does."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, Untested, all_of, at_least, at_most, claim
from learning_dynamics.papers.deep_linear.draws import interval, of_minimiser
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables


@claim("Many (5K) observations", "largest mean square error over draws")
def nuclear_norm_recovers_5k(tables: Tables) -> Outcome:
    """With 5000 of 10000 entries nuclear-norm minimisation recovers the matrix.

    Recovered means: to within the slack that observed entries have, up to a factor of ten in the mean square.
    The matrix has entries of mean square one.
    """
    (table,) = tables.values()
    errors = values_of(table, "error")["value"]
    slack = float(values_of(table, "misfit")["value"].max())
    return Outcome(at_most(float(errors.max()), 10 * slack**2, because="ten times the slack squared"), len(errors))


@claim("Few (2K) observations", "log10 of the minimiser's error over depth 3's")
def depth_beats_nuclear_norm_2k(tables: Tables) -> Outcome:
    """With 2000 entries deep networks recover the matrix and nuclear-norm minimisation does not.

    Depth 3 has an error at least a hundred times smaller than the convex program's; depth 2 is in between at the
    smallest scale of the grid, which is used here, but not at s = 10⁻³. Means of logarithms over draws, with their
    95 % intervals.
    """
    convex = of_minimiser(tables["minimiser_2k"])["error"]
    gains = {
        depth: np.log10(convex / _completed(tables["completion_2k"], "error", depth)).to_numpy() for depth in (2, 3)
    }
    measured, margin = interval(gains[3])
    second, second_margin = interval(gains[2])
    return Outcome(
        all_of(
            at_least(measured, 2.0, uncertainty=margin, because="a hundred times"),
            at_least(second, 0.0, uncertainty=second_margin, because="depth 2 is not worse"),
        ),
        len(convex),
    )


@claim("Few (2K) observations", "log10 of depth 2's error over depth 3's")
def depth_3_beats_depth_2_2k(tables: Tables) -> Outcome:
    """With 2000 entries depth 3 has an error at least a hundred times smaller than depth 2.

    At the smallest scale of the grid, where depth 2 is at its best.
    """
    (table,) = tables.values()
    gain = np.log10(_completed(table, "error", 2) / _completed(table, "error", 3)).to_numpy()
    measured, margin = interval(gain)
    return Outcome(at_least(measured, 2.0, uncertainty=margin, because="a hundred times"), len(gain))


@claim(
    "Experiments testing the nuclear norm conjecture",
    "smallest nuclear norm of depth 2 or 3 over the least one, minus one",
)
def deep_has_larger_nuclear_norm(tables: Tables) -> Outcome:
    """With 2000 entries descent does not minimise the nuclear norm, against the conjecture of Gunasekar et al.

    The networks' solutions have a larger nuclear norm than the minimiser that fits the same entries, on every
    draw and at depths 2 and 3, by more than the proved optimality gap of the convex solver: they pay in nuclear
    norm for a lower rank.
    """
    least = of_minimiser(tables["minimiser_2k"])["nuclear_norm"]
    excess = min(
        float((_completed(tables["completion_2k"], "nuclear_norm", depth) / least - 1).min()) for depth in (2, 3)
    )
    gap = float(values_of(tables["minimiser_2k"], "gap")["value"].max())
    return Outcome(at_least(excess, 0.0, uncertainty=gap, because="the solver's proved gap is the margin"), len(least))


@claim(
    "Few (2K) observations", "smallest mean drop of the effective rank, from the minimiser to depth 2 and on to depth 3"
)
def depth_lowers_effective_rank(tables: Tables) -> Outcome:
    """With 2000 entries depth lowers the effective rank: minimiser above depth 2 above depth 3.

    Effective rank is the exponential of the entropy of the singular values' shares. Differences are taken draw
    by draw, at the smallest scale of the grid; 95 % intervals of their means. The scale matters: at s = 10⁻³
    depth 2 has a larger effective rank, and a larger error, than the minimiser.
    """
    ranks = [
        of_minimiser(tables["minimiser_2k"])["effective_rank"],
        *(_completed(tables["completion_2k"], "effective_rank", depth) for depth in (2, 3)),
    ]
    checks = []
    for higher, lower in itertools.pairwise(ranks):
        measured, margin = interval((higher - lower).to_numpy())
        checks.append(at_least(measured, 0.0, uncertainty=margin))
    return Outcome(all_of(*checks), len(ranks[0]))


def _completed(table: pd.DataFrame, quantity: str, depth: int) -> pd.Series:
    """Return a quantity by draw, at the smallest scale and learning rate at which every draw converged.

    Raises
    ------
    Untested
        If no scale is small enough for that.
    """
    rows = values_of(table, quantity)
    rows = rows[rows["depth"] == depth]
    for _, cell in rows.groupby(["scale", "learning_rate"]):
        if cell["converged"].all():
            return cell.set_index("draw")["value"]
    raise Untested(f"no run at depth {depth} reached the training loss asked for; raise max_steps")
