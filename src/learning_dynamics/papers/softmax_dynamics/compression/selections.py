"""Which draws of a map are treated and which are controls."""

from typing import Literal

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.draws import case_rows
from learning_dynamics.tidy import Quantity, Table, select

Within = Literal["fall", "fall_rare", "fall_learning"]  # when the rank falls: at any time, or in a window of learning
CONTROLS = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": r"skewed, $d \geq V - 1$"}


def map_draws(table: Table, quantity: Quantity, measure: str, threshold: float, *, control: str = "") -> pd.DataFrame:
    """Return the rows of a quantity: all, or those of one of the `CONTROLS`."""
    rows = select(table, quantity, measure=measure, threshold=threshold)
    return case_rows(rows, control) if control else rows
