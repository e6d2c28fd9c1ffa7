"""What is read from many trainings at once: falls, extremes, and means over seeds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Check, Untested, all_of, at_least
from learning_dynamics.papers.neural_collapse.epochs import at_zero_error_and_end, by_seed, zero_error_epochs
from learning_dynamics.tables import Tables


def trained_with(tables: Tables, loss: str) -> dict[str, pd.DataFrame]:
    """Trainings under a loss, mse or ce, by run."""
    return {run: table for run, table in tables.items() if table.attrs["settings"]["loss"] == loss}


def paired(tables: Tables) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Trainings of the same data set and network under MSE and under cross-entropy."""
    mse, ce = trained_with(tables, "mse"), trained_with(tables, "ce")
    names = {run.rpartition("_")[0]: table for run, table in ce.items()}
    pairs = [(table, names[run.rpartition("_")[0]]) for run, table in mse.items() if run.rpartition("_")[0] in names]
    if not pairs:
        raise Untested("needs the same network trained under both losses; name such runs in the configuration")
    return pairs


def members(tables: Tables) -> int:
    """Number of seeds over all trainings."""
    return sum(table["seed"].nunique() for table in tables.values())


def falls_after_zero_error(table: pd.DataFrame, quantity: str, split: str = "train") -> pd.Series:
    """How many times smaller a quantity is at the end than at the first epoch without a train error, by seed."""
    start, end = at_zero_error_and_end(by_seed(table, quantity, split), table)
    return start / end


def least_median(networks: Iterable[pd.Series]) -> float:
    """The smallest, over networks, of the median over seeds; nan, which decides nothing, if a seed has no value."""
    return float(np.min([series.median(skipna=False) for series in networks]))


def never_without_error(tables: Tables) -> str:
    """Say how many trainings keep train errors to the end; empty if none does."""
    missing = sum(int(zero_error_epochs(table).isna().sum()) for table in tables.values())
    return f"{missing} trainings never classify every train image correctly" if missing else ""


def above_zero(networks: Iterable[pd.Series], *, together: bool = False) -> Check:
    """Hold the mean over seeds of each network above zero; over all trainings where that is asked for, or one each.

    The measurement's uncertainty is the half-width of the mean's 95 % interval by Student's distribution.
    """
    groups = list(networks)
    if together or min(len(group) for group in groups) < 2:
        groups, over = [pd.concat(groups)], "all trainings"
    else:
        over = "seeds, for each network"
    checks = []
    for group in groups:
        spread = stats.t.ppf(0.975, len(group) - 1) * group.std(ddof=1) / np.sqrt(len(group)) if len(group) > 1 else 0.0
        mean = float(group.mean(skipna=False))
        interval = float(spread) if np.isfinite(mean) else 0.0
        checks.append(at_least(mean, 0.0, uncertainty=interval, because=f"95 % interval over {over}"))
    return all_of(*checks)
