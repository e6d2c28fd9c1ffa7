"""What figures and claims select from the metrics tables."""

from __future__ import annotations

import numpy as np
import pandas as pd


def chosen(table: pd.DataFrame, measure: str, threshold: float, *, skewed: bool) -> pd.DataFrame:
    """Return a grid's rows of one measure and threshold, with skewed classes or with equal ones."""
    rows = table[(table["measure"] == measure) & np.isclose(table["threshold"], threshold)]
    return rows[(rows["largest"] > rows["smallest"]) == skewed]
