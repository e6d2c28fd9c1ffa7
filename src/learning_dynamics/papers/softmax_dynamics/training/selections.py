"""Draws of trainings with and without skew and bottleneck, and whether they learned and show the phases."""

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.draws import case_rows
from learning_dynamics.tidy import Table, select

CASES = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": "skewed, $d = {most}$"}
SETTING = ["learning_rate", "batch", "steps"]
MEMBER = ["method", "decay", *SETTING, "counts", "dimension", "scale", "seed"]


def case_draws(table: Table, case: str, population: str, threshold: float) -> pd.DataFrame:
    """Return the draws of one of the `CASES`, a row each, by setting and seed.

    Columns learned and shows, of bool: whether the training has learned its examples, and whether it has and its rank
    falls, rises and falls again while the rarest classes are learned.
    """
    rows = select(table, "phases", threshold=threshold, population=population).set_index(MEMBER)
    learned = select(table, "learned").set_index(MEMBER)["value"].reindex(rows.index) == 1
    return case_rows(rows.assign(learned=learned, shows=learned & (rows["value"] == 1)).reset_index(), case)
