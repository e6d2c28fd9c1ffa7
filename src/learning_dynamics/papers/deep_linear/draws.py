"""Quantities by draw, and intervals over draws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.papers.deep_linear.measured import values_of

Found = Mapping[str, pd.Series]  # quantities by draw
ROW = ("error", "nuclear_norm", "effective_rank")


def of_minimiser(table: pd.DataFrame) -> Found:
    """Return what was measured of nuclear-norm minimisers, by draw."""
    return {name: values_of(table, name).set_index("draw")["value"] for name in ROW}


def interval(values: pd.Series | np.ndarray) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval."""
    if not len(values):
        return np.nan, np.inf
    return float(np.mean(values)), _t(values) * float(stats.sem(values)) if len(values) > 1 else np.inf


def prediction(values: pd.Series | np.ndarray) -> tuple[float, float]:
    """Return the mean and the half-width of the 95 % interval of one further draw."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else np.inf
    return float(np.mean(values)), _t(values) * spread * np.sqrt(1 + 1 / len(values))


def _t(values: pd.Series | np.ndarray) -> float:
    return float(stats.t.ppf(0.975, len(values) - 1)) if len(values) > 1 else np.inf
