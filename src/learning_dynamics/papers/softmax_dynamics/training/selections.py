"""Draws of trainings with and without skew and bottleneck, and whether they learned and show the phases."""

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.draws import at_threshold
from learning_dynamics.tidy import Table, select

CASES = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": "skewed, $d = {most}$"}
SETTING = ["learning_rate", "batch", "steps"]
MEMBER = ["method", "decay", *SETTING, "counts", "dimension", "scale", "seed"]


def case_draws(table: Table, case: str, population: str, threshold: float) -> pd.DataFrame:
    """Return the draws of one of the `CASES`, a row each, by setting and seed.

    Columns learned and shows, of bool: whether the training has learned its examples, and whether it has and its rank
    falls, rises and falls again while the rarest classes are learned. Treated are skewed classes in the least
    dimension; equal and wide lack one of the two.
    """
    rows = at_threshold(table, "phases", threshold, population=population).set_index(MEMBER)
    learned = select(table, "learned").set_index(MEMBER)["value"].reindex(rows.index) == 1
    rows = rows.assign(learned=learned, shows=learned & (rows["value"] == 1)).reset_index()
    least, most = rows["dimension"].min(), rows["dimension"].max()
    selection = {
        "treated": rows["skewed"] & (rows["dimension"] == least),
        "equal": ~rows["skewed"] & (rows["dimension"] == least),
        "wide": rows["skewed"] & (rows["dimension"] == most),
    }[case]
    return rows[selection]
