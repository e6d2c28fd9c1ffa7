"""Which draws of a map are treated and which are controls."""

from typing import Literal

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.draws import at_threshold
from learning_dynamics.tidy import Quantity, Table

Within = Literal["fall", "fall_rare", "fall_learning"]  # when the rank falls: at any time, or in a window of learning
CONTROLS = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": r"skewed, $d \geq V - 1$"}


def map_draws(table: Table, quantity: Quantity, measure: str, threshold: float, *, control: str = "") -> pd.DataFrame:
    """Return the rows of a quantity: all, or the treated ones (skewed, the map's least d), or one of the `CONTROLS`."""
    rows = at_threshold(table, quantity, threshold, measure=measure)
    if not control:
        return rows
    narrow = rows["dimension"] == table["dimension"].min()
    selection = {
        "treated": rows["skewed"] & narrow,
        "equal": ~rows["skewed"] & narrow,
        # logits do not change with their mean: one dimension less than classes is no bottleneck
        "wide": rows["skewed"] & ~narrow & (rows["dimension"] >= rows["classes"] - 1),
    }[control]
    return rows[selection]
