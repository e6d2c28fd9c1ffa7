"""Draws of maps and trainings by case: with skew and a bottleneck, and two controls that lack one of them.

- `treated`: skewed classes, the fewest dimensions
- `equal`: equal classes, the fewest dimensions
- `wide`: skewed classes, V - 1 dimensions or more, which are no bottleneck for V classes
"""

from typing import Literal

import pandas as pd

from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.falls import PHASES
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.tidy import Quantity, Table, select

Within = Literal["fall", "fall_rare", "fall_learning"]  # when the rank falls: at any time, or in a window of learning
# in the words of a figure, with the fewest dimensions as `least`
CASES = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": r"skewed, $d \geq V - 1$"}
SETTING = ["scale", "learning_rate", "batch", "steps"]  # columns of a setting of training, without class sizes
MEMBER_COLUMNS = ["method", "decay", *SETTING, "counts", "dimension", "seed"]


def case_rows(rows: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return the rows of draws of one of the `CASES`."""
    is_skewed, is_narrow = rows["skewed"], rows["dimension"] == rows["dimension"].min()
    # predictions do not change with the mean of the logits, so that V - 1 dimensions are no bottleneck
    dimensions_needed = rows["counts"].map(sizes_of).map(len) - 1
    is_wide = ~is_narrow & (rows["dimension"] >= dimensions_needed)
    selection = {"treated": is_skewed & is_narrow, "equal": ~is_skewed & is_narrow, "wide": is_skewed & is_wide}
    return rows[selection[case]]


def map_draws(table: Table, quantity: Quantity, measure: str, threshold: float, *, case: str = "") -> pd.DataFrame:
    """Return the rows of a map's quantity, a row for each draw: all, or those of one of the `CASES`.

    `measure` is a rank's name in `spectra.MEASURES`; a quantity that depends on no threshold has it as zero.
    """
    rows = select(table, quantity, measure=measure, threshold=threshold)
    return case_rows(rows, case) if case else rows


def case_draws(table: Table, case: str, population: str, threshold: float) -> pd.DataFrame:
    """Return the draws of one of the `CASES`, a row each, by setting and seed.

    Added columns of bool: learned, whether the training has learned its examples, and shows, whether it has and its
    rank falls, rises and falls again while the rarest classes are learned.
    """
    rows = select(table, PHASES, threshold=threshold, population=population).set_index(MEMBER_COLUMNS)
    has_learned = select(table, HAS_LEARNED).set_index(MEMBER_COLUMNS)["value"]
    learned = has_learned.reindex(rows.index) == 1
    draws = rows.assign(learned=learned, shows=learned & (rows["value"] == 1))
    return case_rows(draws.reset_index(), case)
