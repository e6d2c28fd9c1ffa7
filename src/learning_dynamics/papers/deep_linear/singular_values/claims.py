"""Singular values by depth: one after another in matrix completion, and under one observed entry."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, Outcome, all_of, at_least, at_most, claim, equal
from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables


@claim("Dynamics of singular values", "smallest gain in separation of rises, from depth 1 to 2 and from 2 to 3")
def depth_separates_singular_values(tables: Tables) -> Outcome:
    """The deeper the network, the more its singular values rise one after another.

    A singular value has risen when it passes half of what it ends at, and is rising between a tenth and nine
    tenths of it. Separation is the time from the first to the last of the leading five (the matrix's rank),
    over the median time that a rise takes: zero when all rise together.
    """
    (table,) = tables.values()
    sigma = values_of(table, "sigma")
    rank = round(float(values_of(table, "effective_rank").groupby("depth")["value"].last().min()))
    separation = {
        key: _separation(rows, rank) for key, rows in sigma[sigma["index"] <= rank].groupby(["depth", "draw"])
    }
    found = pd.DataFrame(separation, index=["separation", "resolution"]).T.rename_axis(["depth", "draw"])
    checks = []
    for depth in (1, 2):
        shallow, deep = found.loc[depth], found.loc[depth + 1]
        gain = float((deep["separation"] - shallow["separation"]).min())
        hidden = float(deep["resolution"].max() + shallow["resolution"].max())
        checks.append(at_least(gain, 0.0, uncertainty=hidden, because="on every draw; recorded times are the margin"))
    return Outcome(all_of(*checks), len(found.loc[1]))


def _separation(rows: pd.DataFrame, rank: int) -> tuple[float, float]:
    """Return the time between the first rise and the last, and between records, both over the time of one rise."""
    wide = rows.pivot_table(index="time", columns="index", values="value")
    times = wide.index.to_numpy()

    def passed(level: float) -> np.ndarray:
        when = []
        for index in range(1, rank + 1):
            share = wide[index].to_numpy() / wide[index].iloc[-1]
            after = max(int(np.argmax(share >= level)), 1)
            when.append(np.interp(level, share[after - 1 : after + 1], times[after - 1 : after + 1]))
        return np.array(when)

    duration = float(np.median(passed(0.9) - passed(0.1)))
    middle = passed(0.5)
    return float(middle.max() - middle.min()) / duration, float(times[1] - times[0]) / duration


ONE_MEASUREMENT = "It holds for one linear measurement ⟨A, W⟩ whose singular vectors are those of W."


@claim("Theoretical example: one observed entry", "departure of σ_2(σ_1) from the best line, over σ_2's range",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_1(tables: Tables) -> Outcome:
    """At depth 1 the smaller singular value is a linear function of the larger.

    The relation follows from the law for singular values when ⟨A, u_r v_rᵀ⟩ stays constant, that is for a
    measurement aligned with W: dσ_2/dσ_1 is then the ratio of A's singular values. A single entry has A of rank
    one. Aligned with W it never moves σ_2; not aligned, it turns the singular vectors, and σ_2 settles at the
    same kind of limit at every depth, depth 1 included. So a single entry does not tell depths apart. With
    A = diag(1, ½) the line is exact.
    """
    return _relation(tables, 1)


@claim("Theoretical example: one observed entry", "departure of log σ_2 from the best line in log σ_1, over its range",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_2(tables: Tables) -> Outcome:
    """At depth 2 the smaller singular value is a power of the larger.

    For an aligned measurement the exponent is the ratio of A's singular values, and a straight line in logarithms
    shows it; for a single entry there is no such line. See depth 1.
    """
    return _relation(tables, 2)


@claim("Theoretical example: one observed entry",
       "departure of σ_2^−(1−2/N) from the best line in σ_1^−(1−2/N), over its range; N = 3",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_3(tables: Tables) -> Outcome:
    """From depth 3 on the smaller singular value has an asymptote, however large the larger grows.

    For an aligned measurement σ_2^(−1/3) is affine in σ_1^(−1/3), so σ_2 stays below start · (1 − ratio)^(−3),
    which is also checked. For a single entry σ_2 levels off too, but at every depth, and not along this curve.
    """
    table = tables["one_measurement"]
    settings = table.attrs["settings"]
    rows = values_of(table, "sigma")
    reached = float(rows[(rows["depth"] == 3) & (rows["index"] == 2)]["value"].max())
    limit = theory.limiting_singular_value(settings["start"], settings["ratio"], 3)
    return _relation(tables, 3, also=at_most(reached, limit, because="the asymptote"))


def _relation(tables: Tables, depth: int, also: Check | None = None) -> Outcome:
    table = tables["one_measurement"]
    tolerance = 1e3 * table.attrs["settings"]["rtol"]
    because = "a thousand rtol of the integrator"
    aligned = equal(_misfit(table, depth), 0.0, tolerance, because=because)
    return Outcome(
        equal(_misfit(tables["one_entry"], depth), 0.0, tolerance, resolution=0.1, because=because),
        tables["one_entry"]["seed"].nunique(),
        corrected=aligned if also is None else all_of(aligned, also),
        reason="One entry is a measurement of rank one: it turns the singular vectors and leaves the second one behind",
    )


def _misfit(table: pd.DataFrame, depth: int) -> float:
    """Return how far sigma_2 is from the best curve of the depth's family, over the range that it covers.

    In the family's own coordinates the curve is a straight line, fitted by least squares.
    """
    worst = 0.0
    for _, rows in values_of(table, "sigma")[lambda rows: rows["depth"] == depth].groupby("seed"):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        larger, smaller = (theory.relation_coordinate(wide[index].to_numpy(), depth) for index in (1, 2))
        fitted = np.polynomial.Polynomial.fit(larger, smaller, 1)(larger)
        worst = max(worst, float(np.max(np.abs(smaller - fitted)) / np.ptp(smaller)))
    return worst
