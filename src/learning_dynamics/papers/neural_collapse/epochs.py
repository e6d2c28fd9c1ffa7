"""Scalar quantities of trainings, read from their metrics: epochs by seeds, and where train errors end."""

from __future__ import annotations

import pandas as pd


def by_seed(table: pd.DataFrame, quantity: str, split: str = "train") -> pd.DataFrame:
    """Return a scalar quantity with measured epochs as rows and seeds as columns.

    Parameters
    ----------
    table : DataFrame
        Columns seed, epoch, split, quantity, value among others.
    """
    rows = table[(table["quantity"] == quantity) & (table["split"] == split)]
    return rows.pivot_table(index="epoch", columns="seed", values="value", dropna=False)


def zero_error_epochs(table: pd.DataFrame) -> pd.Series:
    """Return for each seed the first measured epoch without an error on the train images; nan if there is none."""
    none = by_seed(table, "error") == 0
    return none.idxmax().where(none.any()).astype(float)


def at_zero_error_and_end(values: pd.DataFrame, table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return a quantity, by seed, where train errors end and at the last epoch; nan where they never end.

    Parameters
    ----------
    values : DataFrame
        Epochs by seeds. A quantity that is measured at fewer epochs is taken at the first of them at or after
        the end of errors.
    table : DataFrame
        The training's metrics.
    """
    reached = zero_error_epochs(table)
    start = pd.Series(float("nan"), index=reached.index)
    for seed, epoch in reached.dropna().items():
        later = values.loc[values.index >= epoch, seed].dropna()
        if len(later):
            start[seed] = later.iloc[0]
    return start, values.iloc[-1].where(reached.notna())
