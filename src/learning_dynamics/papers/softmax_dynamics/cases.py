"""Draws of maps and trainings with skew and a bottleneck, and of controls that lack one of the two."""

from typing import Literal

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.falls import PHASES
from learning_dynamics.tidy import Quantity, Table, select

Within = Literal["fall", "fall_rare", "fall_learning"]  # when the rank falls: at any time, or in a window of learning
# the cases, by the names that `case_rows` takes, in words for figures of maps and of trainings
CONTROLS = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": r"skewed, $d \geq V - 1$"}
CASES = CONTROLS | {"wide": "skewed, $d = {most}$"}
SETTING = ["scale", "learning_rate", "batch", "steps"]  # columns that tell settings apart which any class sizes have
MEMBER_COLUMNS = ["method", "decay", *SETTING, "counts", "dimension", "seed"]


def case_rows(rows: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return the rows of draws with skew and a bottleneck (treated), without skew (equal), or no bottleneck (wide)."""
    narrow = rows["dimension"] == rows["dimension"].min()
    # logits do not change with their mean: one dimension less than classes is no bottleneck; as many dashes are in the
    # name of their sizes, 4-2-1-1
    wide = ~narrow & (rows["dimension"] >= rows["counts"].str.count("-"))
    selection = {"treated": rows["skewed"] & narrow, "equal": ~rows["skewed"] & narrow, "wide": rows["skewed"] & wide}
    return rows[selection[case]]


def map_draws(table: Table, quantity: Quantity, measure: str, threshold: float, *, control: str = "") -> pd.DataFrame:
    """Return the rows of a map's quantity, a draw each: all, or those of one of the `CONTROLS`.

    `measure` is a rank's name in `spectra.MEASURES`; a quantity that depends on no threshold has it as zero.
    """
    rows = select(table, quantity, measure=measure, threshold=threshold)
    return case_rows(rows, control) if control else rows


def case_draws(table: Table, case: str, population: str, threshold: float) -> pd.DataFrame:
    """Return the draws of one of the `CASES`, a row each, by setting and seed.

    Columns learned and shows, of bool: whether the training has learned its examples, and whether it has and its rank
    falls, rises and falls again while the rarest classes are learned.
    """
    rows = select(table, PHASES, threshold=threshold, population=population).set_index(MEMBER_COLUMNS)
    learned = select(table, HAS_LEARNED).set_index(MEMBER_COLUMNS)["value"].reindex(rows.index) == 1
    return case_rows(rows.assign(learned=learned, shows=learned & (rows["value"] == 1)).reset_index(), case)
