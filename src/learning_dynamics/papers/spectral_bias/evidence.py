"""What the claims read from the metrics tables: selections, largest errors, and the errors that methods make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Check, all_of

Tables = Mapping[str, pd.DataFrame]

# Error of DOP853 along these flows in units of its rtol, relative to the largest weight: at most 1.6 over
# 100 seeds, three scales and rtol from 1e-9 to 1e-12; doubled and rounded up.
FLOW_ERROR = 4.0
# Difference of two flows integrated apart, or of a flow and a formula in time, in units of rtol relative to the
# largest value: interpolation between steps dominates. At most 1300 over the runs here; times four.
TRAJECTORY_ERROR = 5e3


def select(table: pd.DataFrame, quantity: str, phase: str | None = None) -> pd.DataFrame:
    """Return the rows of a quantity, of one phase where there are phases."""
    rows = table[table["quantity"] == quantity]
    return rows if phase is None else rows[rows["phase"] == phase]


def members(tables: Tables) -> int:
    """Number of ensemble members in all tables."""
    return sum(table["seed"].nunique() for table in tables.values())


def largest_error(tables: Tables, quantity: str, phase: str | None = None) -> float:
    """Largest |value - predicted| over members, times and indices, relative to the table's largest value."""
    errors = []
    for table in tables.values():
        rows = select(table, quantity, phase)
        errors.append(np.max(np.abs(rows["value"] - rows["predicted"])) / rows["value"].abs().max())
    return float(np.max(errors))


def rtol(tables: Tables) -> float:
    """Largest rtol of the tables' runs."""
    return max(table.attrs["settings"]["rtol"] for table in tables.values())


def flow_error(tables: Tables) -> float:
    """Error that integration leaves in what the flow conserves."""
    return FLOW_ERROR * rtol(tables)


def trajectory_error(tables: Tables) -> float:
    """Error that integration leaves when one trajectory is held against another."""
    return TRAJECTORY_ERROR * rtol(tables)


def limit_error(tables: Tables, bound: str) -> float:
    """Error of quantities at the limit: that of the flow, and what the remaining residual leaves open for them."""
    left_open = max(select(table, bound, "limit")["value"].max() for table in tables.values())
    return flow_error(tables) + float(left_open)


def spectra(table: pd.DataFrame, at: float, phase: str | None = None) -> np.ndarray:
    """Singular values of W1, shape (members, count), at the recorded time nearest to `at`, or at the limit."""
    rows = select(table, "sigma_w1", phase)
    if phase != "limit":
        times = rows["time"].unique()
        rows = rows[rows["time"] == times[np.argmin(np.abs(times - at))]]
    return rows.pivot_table(index="seed", columns="index", values="value").to_numpy()


def carried(spectrum: np.ndarray, count: int) -> np.ndarray:
    """Share of |W|^2 in the `count` largest singular values, shape (members,)."""
    squares = spectrum**2
    return squares[:, :count].sum(axis=1) / squares.sum(axis=1)


def statistic(table: pd.DataFrame, quantity: str, name: str, at: float) -> tuple[float, float, float]:
    """Value of an ensemble statistic at the recorded time nearest to `at`, half its 95 % interval, prediction."""
    rows = table[(table["quantity"] == quantity) & (table["statistic"] == name)]
    row = rows.loc[(rows["time"] - at).abs().idxmin()]
    return (
        float(row["value"]),
        float(max(row["upper"] - row["value"], row["value"] - row["lower"])),
        float(row["predicted"]),
    )


def rate(table: pd.DataFrame, quantity: str) -> tuple[float, float, float]:
    """An almost sure growth rate, half its 95 % interval, and its prediction."""
    row = table[table["quantity"] == quantity].iloc[0]
    return float(row["value"]), float((row["upper"] - row["lower"]) / 2), float(row["predicted"])


def settled_rank(table: pd.DataFrame, share: int, at: float) -> pd.Series:
    """How many singular values carry `share` percent of |W|^2 at a recorded time, by seed."""
    rows = select(table, "rank")
    rows = rows[rows["index"] == share]
    return rows[rows["time"] == at].set_index("seed")["value"]


def first_saddles(table: pd.DataFrame, share: int) -> pd.Series:
    """Rank of the hidden layer when the loss settles on its first plateau after the start, by seed.

    Seeds whose loss curve has no second plateau are left out.
    """
    starts = select(table, "plateau_start")
    starts = starts[starts["index"] == 2].set_index("seed")["value"]
    rows = select(table, "rank")
    rows = rows[rows["index"] == share].set_index(["seed", "time"])["value"]
    return pd.Series({seed: rows.loc[(seed, time)] for seed, time in starts.items()}, dtype=float)


def activation_times(table: pd.DataFrame) -> pd.DataFrame:
    """When each singular value of the jump process passes half of its limit, in rescaled time.

    The logarithm of s / (limit - s) is linear in time near the jump and is interpolated.

    Returns
    -------
    DataFrame with columns gamma, index, limit, time
    """
    found = []
    for (gamma, index), rows in table.groupby(["gamma", "index"]):
        limit = rows["limit"].max()
        inside = rows[(rows["value"] > 0.01 * limit) & (rows["value"] < 0.99 * limit)]
        odds = np.log(inside["value"] / (limit - inside["value"]))
        found.append((gamma, index, limit, float(np.interp(0.0, odds, inside["time"]))))
    return pd.DataFrame(found, columns=["gamma", "index", "limit", "time"])


def vanishing_scale(times: pd.DataFrame) -> pd.DataFrame:
    """Extrapolate activation times to gamma = 0, linearly in 1 / ln(1/gamma), from the two smallest scales."""
    found = []
    for index, rows in times.groupby("index"):
        last = rows.sort_values("gamma").head(2)
        slope, intercept = np.polyfit(1 / np.log(1 / last["gamma"]), last["time"], 1)
        found.append((index, rows["limit"].iloc[0], intercept, slope))
    return pd.DataFrame(found, columns=["index", "limit", "time", "slope"])


def euler_bias(exact: float, discrete: float) -> float:
    """Relative error of the Euler-Maruyama scheme's own moment."""
    return abs(discrete - exact) / exact


def twice(half_width: float) -> float:
    """Half-width of a 95 % interval to two standard errors, which a claim allows on top of the interval."""
    return 2 * half_width / float(stats.norm.ppf(0.975))


def led_by(first: Check, *others: Check) -> Check:
    """Combine checks that must all hold; while they do, show the first, which holds the claim's quantity."""
    worst = all_of(first, *others)
    if worst.state != "holds" or not others:
        return worst
    return replace(first, criterion=f"{first.criterion}; and {'; '.join(other.criterion for other in others)}")
