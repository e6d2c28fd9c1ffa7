"""Draws of maps and trainings by case: with skew and a bottleneck, and two controls that lack one of them.

A map is the table of a run of `compression`, and a training that of a run of `training`. V is the number of classes. A
bottleneck is a number of dimensions too small for the classes.

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
# names of the cases in figures; `least` is the fewest dimensions in the table
CASES = {"treated": "skewed, $d = {least}$", "equal": "equal, $d = {least}$", "wide": r"skewed, $d \geq V - 1$"}
SETTING = ["scale", "learning_rate", "batch", "steps"]  # columns that say how a member is trained, by one method
# columns that together name a member of a training
MEMBER_COLUMNS = ["method", "decay", *SETTING, "counts", "dimension", "seed"]


def case_rows(rows: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return the rows of draws of one of the `CASES`."""
    is_skewed, is_narrow = rows["skewed"], rows["dimension"] == rows["dimension"].min()
    # a number added to all logits of an example changes no prediction, so that V - 1 dimensions are no bottleneck
    dimensions_needed = rows["counts"].map(sizes_of).map(len) - 1
    is_wide = ~is_narrow & (rows["dimension"] >= dimensions_needed)
    selection = {"treated": is_skewed & is_narrow, "equal": ~is_skewed & is_narrow, "wide": is_skewed & is_wide}
    return rows[selection[case]]


def map_draws(table: Table, quantity: Quantity, measure: str, threshold: float, *, case: str = "") -> pd.DataFrame:
    """Return the rows of a map's quantity, a row for each draw: all, or those of one of the `CASES`.

    `measure` is a rank's name in `spectra.MEASURES`. `threshold` is the least change of the rank that counts as a fall,
    one of those at which the map was measured, or 0 for a quantity that depends on none.
    """
    rows = select(table, quantity, measure=measure, threshold=threshold)
    return case_rows(rows, case) if case else rows


def case_draws(table: Table, case: str, population: str, threshold: float) -> pd.DataFrame:
    """Return the draws of one of the `CASES`, a row each, by setting and seed.

    Added columns of bool: learned, whether the training has learned its examples; and shows, whether it has learned
    them and its rank over the population falls, rises, and falls again while the rarest classes are learned, each by
    the threshold or more. Of a training that failed both are False.
    """
    rows = select(table, PHASES, threshold=threshold, population=population).set_index(MEMBER_COLUMNS)
    has_learned = select(table, HAS_LEARNED).set_index(MEMBER_COLUMNS)["value"]
    learned = has_learned.reindex(rows.index) == 1  # in the order of `rows`
    draws = rows.assign(learned=learned, shows=learned & (rows["value"] == 1))
    return case_rows(draws.reset_index(), case)
