"""The singular vectors that stand still, the learning curve on whitened data, and its jumps."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, at_most, claim, equal
from learning_dynamics.papers.spectral_bias.evidence import flow_error, largest_error, led_by, members, trajectory_error
from learning_dynamics.papers.spectral_bias.selections import select
from learning_dynamics.tables import Tables


@claim("Theorem C.11", "largest part of β off the diagonal in the singular basis of β*, relative to |β|")
def theorem_c_11(tables: Tables) -> Outcome:
    """β, Z1 and α share left singular vectors, β, Z2 and α right ones; on whitened data they stand still, at β*'s.

    The first part holds for any data, and is measured on whitened and on Gaussian data by the commutators of
    ββᵀ with W1 W1ᵀ and of βᵀβ with W2ᵀW2. The second is measured on whitened data alone; on Gaussian data the
    vectors do turn.
    """
    whitened = {name: table for name, table in tables.items() if (table["quantity"] == "turning").any()}
    turning = max(select(table, "turning", "flow")["value"].max() for table in whitened.values())
    shared = max(select(table, "shared_vectors", "flow")["value"].max() for table in tables.values())
    # relative to |beta|, which is as small as gamma at first: one entry's error over one entry's size
    allowed = 10 * flow_error(whitened)
    return Outcome(
        led_by(
            equal(float(turning), 0.0, allowed, because="10 entries' errors of 4 rtol"),
            equal(float(shared), 0.0, flow_error(tables), because="4 rtol"),
        ),
        members(tables),
    )


@claim(
    "Theorem C.12",
    "limit of σ_i(β) / σ_i(β*) at time ln(1/γ) / (2σ_i(β*)), the largest of i",
    correction="at the jump itself the limit is σ/(1 + 2σ), as the theorem's own proof finds",
)
def theorem_c_12(tables: Tables) -> Outcome:
    """On whitened data σ_i(β) has a closed form, whose limit at time ln(1/γ)t is 0 for t < 1/(2σ) and σ from 1/(2σ) on.

    The closed form holds at every scale: against networks of width 200 at γ = 1 and 10⁻⁴, and down to
    γ = 10⁻³². The limit holds before and after the jump. At t = 1/(2σ), where the theorem prints σ (and section
    3.2 prints 0), neither holds: the value there is σ/(1 + 2σ), as the last lines of the proof say.
    """
    curves = {name: table for name, table in tables.items() if name != "jump"}
    closed = max(largest_error(curves, "sigma_beta", "flow"), largest_error({"jump": tables["jump"]}, "sigma_beta"))
    formula = equal(closed, 0.0, trajectory_error(tables), because="integration against formula: 5000 rtol")
    table = tables["jump"]
    at_jump = table[(table["gamma"] == table["gamma"].min()) & (table["limit"] > 0)]
    at_jump = at_jump.loc[at_jump.groupby("index")["time"].idxmin()]
    final = table.groupby("index")["limit"].max()
    reached = at_jump["value"].to_numpy() / final[at_jump["index"]].to_numpy()
    proof = 1 / (1 + 2 * final[at_jump["index"]].to_numpy())
    return Outcome(
        led_by(equal(float(reached.max()), 1.0, 1e-6, because="the smallest scale's distance from its limit"), formula),
        members(tables),
        corrected=led_by(
            equal(
                float(np.max(np.abs(reached - proof))),
                0.0,
                1e-6,
                because="the smallest scale's distance from its limit",
            ),
            formula,
        ),
        reason="the closed form is right; the limit's value at the jump is printed as σ",
    )


@claim("Section 3.2, jump process", "largest distance of the extrapolated jump time from 1/(2σ_i), relative to it")
def jump_process(tables: Tables) -> Outcome:
    """As γ vanishes, σ_i(β) at time ln(1/γ)t jumps from 0 to σ_i(β*) at t = 1/(2σ_i(β*)), the largest first.

    Simulated down to γ = 10⁻³². The time at which σ_i passes half its limit is 1/(2σ) + ln(2σ)/(2σ ln(1/γ)), so
    it approaches 1/(2σ) only logarithmically; it is extrapolated from the two smallest scales. Away from the
    jump the distance to the step shrinks with every scale. What happens at the instant itself is the subject of
    Theorem C.12.
    """
    (table,) = tables.values()
    limits = _vanishing_scale(_activation_times(table))
    predicted = 1 / (2 * limits["limit"])
    away = table[(table["time"] - 1 / (2 * table.groupby("index")["value"].transform("max"))).abs() > 0.25]
    distance = (away["value"] - away["limit"]).abs().groupby(away["gamma"]).max().sort_index(ascending=False)
    shrinking = float((distance.to_numpy()[1:] / distance.to_numpy()[:-1]).max())
    return Outcome(
        led_by(
            equal(
                float(((limits["time"] - predicted) / predicted).abs().max()),
                0.0,
                1e-4,
                because="interpolation between recorded times",
            ),
            at_most(shrinking, 1.0, because="each scale nearer to the step than the one before"),
        ),
        members(tables),
    )


def _activation_times(table: pd.DataFrame) -> pd.DataFrame:
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


def _vanishing_scale(times: pd.DataFrame) -> pd.DataFrame:
    """Extrapolate activation times to gamma = 0, linearly in 1 / ln(1/gamma), from the two smallest scales."""
    found = []
    for index, rows in times.groupby("index"):
        last = rows.sort_values("gamma").head(2)
        slope, intercept = np.polyfit(1 / np.log(1 / last["gamma"]), last["time"], 1)
        found.append((index, rows["limit"].iloc[0], intercept, slope))
    return pd.DataFrame(found, columns=["index", "limit", "time", "slope"])
