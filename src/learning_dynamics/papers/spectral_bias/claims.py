"""What is concluded: each claim of the paper held against the measurements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, all_of, at_most, claim, equal

Tables = Mapping[str, pd.DataFrame]

# Error of DOP853 along these flows in units of its rtol, relative to the largest weight: at most 1.6 over
# 100 seeds, three scales and rtol from 1e-9 to 1e-12; doubled and rounded up.
FLOW_ERROR = 4.0


def _select(table: pd.DataFrame, phase: str, quantity: str) -> pd.DataFrame:
    return table[(table["phase"] == phase) & (table["quantity"] == quantity)]


def _members(tables: Tables) -> int:
    return sum(table["seed"].nunique() for table in tables.values())


def _largest_error(tables: Tables, phase: str, quantity: str) -> float:
    """Largest |measured - predicted| over seeds, times and indices, relative to the run's largest value."""
    errors = []
    for table in tables.values():
        rows = _select(table, phase, quantity)
        errors.append(np.max(np.abs(rows["value"] - rows["predicted"])) / rows["value"].max())
    return float(np.max(errors))


def _flow_error(tables: Tables) -> float:
    return FLOW_ERROR * max(table.attrs["settings"]["rtol"] for table in tables.values())


def _left_open(tables: Tables, quantity: str) -> float:
    """Error of a quantity at the limit: that of the flow, and what the remaining residual leaves open."""
    return _flow_error(tables) + max(
        float(_select(table, "limit", quantity)["value"].max()) for table in tables.values()
    )


@claim("Lemma 3.2", "largest |Z1ᵀZ1 − Z2Z2ᵀ − 2γI| along the flow, relative to |Z1ᵀZ1|")
def lemma_3_2(tables: Tables) -> Outcome:
    """The imbalance Z1ᵀZ1 − Z2Z2ᵀ of the projected layers stays at 2γ times the identity.

    The check has meaning only where the integrator resolves 2γ itself: a run whose error hides a tenth of
    it leaves the claim undecided.
    """
    checks = []
    for table in tables.values():
        scale = float(_select(table, "flow", "scale")["value"].max())
        drift = float(_select(table, "flow", "imbalance")["value"].max()) / scale
        resolution = 0.1 * 2 * table.attrs["settings"]["gamma"] / scale
        tolerance = FLOW_ERROR * table.attrs["settings"]["rtol"]
        checks.append(equal(drift, 0.0, tolerance, resolution=resolution, because="4 rtol"))
    return Outcome(all_of(*checks), _members(tables))


@claim("Theorem 3.1 (i)", "largest loss at the end of the flow, relative to the loss at its start")
def theorem_3_1_i(tables: Tables) -> Outcome:
    """Gradient flow from the orthogonal initialisation reaches zero loss, whatever the scale γ.

    The flow is followed until the residual falls below a bound that the configuration sets, or until its
    patience ends; a flow that stays at a saddle or at a poor minimum misses the bound. The loss is
    quadratic in the residual.
    """
    ratios, bounds = [], []
    for table in tables.values():
        start = _select(table, "flow", "loss").groupby("seed")["value"].first()
        end = _select(table, "limit", "loss").groupby("seed")["value"].first()
        ratios.append((end / start).max())
        bounds.append(table.attrs["settings"]["residual"] ** 2)
    check = at_most(float(np.max(ratios)), float(np.max(bounds)), because="the square of the residual asked for")
    return Outcome(check, _members(tables))


@claim("Theorem 3.1 (ii)", "largest |β − β*| / |β*| at the end of the flow, β* = pinv(X) Y")
def theorem_3_1_ii(tables: Tables) -> Outcome:
    """The predictor converges to the interpolator of minimum l2 norm, for every scale γ.

    There are d − n directions in which an interpolator may differ from β*; a predictor with a part in any
    of them misses β* by far more than the remaining residual explains.
    """
    distance = max(_select(table, "limit", "distance")["value"].max() for table in tables.values())
    check = equal(
        float(distance),
        0.0,
        _left_open(tables, "distance_bound"),
        because="remaining residual / smallest σ(X), and 4 rtol",
    )
    return Outcome(check, _members(tables))


@claim("Corollary 3.1", "largest error of σ_i(W1) at the end of the flow, relative to the largest σ_1(W1)")
def corollary_3_1(tables: Tables) -> Outcome:
    """At the end of the flow the hidden layer's singular values are those that γ and β* fix.

    The first k are (√(σ_i(β*)² + γ²) + γ)^½ and the other d − k stay at √(2γ): a small scale leaves a hidden
    layer of rank k, a large one a layer of full rank.
    """
    resolution = min(
        0.1 * np.sqrt(2 * table.attrs["settings"]["gamma"]) / _select(table, "limit", "sigma_w1")["value"].max()
        for table in tables.values()
    )
    check = equal(
        _largest_error(tables, "limit", "sigma_w1"),
        0.0,
        _left_open(tables, "sigma_w1_bound"),
        resolution=float(resolution),
        because="remaining residual / smallest σ(X), and 4 rtol",
    )
    return Outcome(check, _members(tables))


@claim("Lemma C.10", "largest error of σ_i(Z1) and σ_i(Z2) along the flow, relative to the largest")
def lemma_c_10(tables: Tables) -> Outcome:
    """Along the whole flow the spectrum of β alone fixes the spectra of both layers.

    σ(Z1)² = γ + √(γ² + σ(β)²) and σ(Z2)² = −γ + √(γ² + σ(β)²). Each layer is held against the measured
    spectrum of β at the same time; Z1 and W1 = Z1 P share their singular values, as do Z2 and W2.
    """
    tolerance = _flow_error(tables)
    return Outcome(
        all_of(
            equal(_largest_error(tables, "flow", "sigma_w1"), 0.0, tolerance, because="4 rtol"),
            equal(_largest_error(tables, "flow", "sigma_w2"), 0.0, tolerance, because="4 rtol"),
        ),
        _members(tables),
    )
