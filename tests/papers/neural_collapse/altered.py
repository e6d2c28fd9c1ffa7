"""Alter single numbers in the tables that a claim reads, and ask for the claim's verdict on them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from learning_dynamics.judging import Check, Judgement, evaluate
from learning_dynamics.pipeline.commands.functions import paper_function
from tests import support

PAPER = "neural_collapse"
LAST_TIME = -1  # as a time in `rows_of` and `put`: the last of the table


def id_of(value: Any) -> str | None:
    """Return what the name of a test has for a parameter that selects rows; None for other parameters."""
    if not isinstance(value, Mapping):
        return None
    return ", ".join(f"{column} {of_rows}" for column, of_rows in value.items()) or "all rows"


def rows_of(table: pd.DataFrame, quantity: str, **where: Any) -> pd.Series:
    """Return a mask of the rows that have a quantity, and given values in other columns."""
    rows = table["quantity"] == quantity
    for column, value in where.items():
        is_last_time = column == "time" and value == LAST_TIME
        rows &= table[column] == (table[column].max() if is_last_time else value)
    return rows


def places_of_network(tables: list[pd.DataFrame], network: str | None = None, data: str | None = None) -> list[int]:
    """Return which tables are trainings of a network, on a data set; all of them where neither is named."""
    places = []
    for place, table in enumerate(tables):
        is_of_network = network is None or table.attrs.get("settings", {}).get("network") == network
        is_on_data = data is None or (table["data"] == data).all()
        if is_of_network and is_on_data:
            places.append(place)
    return places


def put(
    tables: support.Tables,
    role: str,
    quantity: str,
    change: Any,
    *,
    network: str | None = None,
    data: str | None = None,
    **where: Any,
) -> None:
    """Change the values of a quantity in the tables of a role, in place.

    `change` is the new value, as many new values as there are rows, or a function of the old values. Changed are the
    rows that `rows_of` selects for `where`, all rows of the quantity without it. Of a list of trainings `network` and
    `data` choose some.

    In `tables` a changed table is replaced by a copy, because claims remember what they have read of the old one.
    """
    given = tables[role]
    several = given if isinstance(given, list) else [given]
    places = places_of_network(several, network, data)
    assert places, (role, network, data)
    for place in places:
        table = several[place] = several[place].copy()
        rows = rows_of(table, quantity, **where)
        assert rows.any(), (role, quantity, where)
        table.loc[rows, "value"] = change(table.loc[rows, "value"]) if callable(change) else change
    tables[role] = given if isinstance(given, list) else several[0]


def check_of(judgement: Judgement, words: str) -> Check:
    """Return the one check of a judgement whose name has these words."""
    checks = [check for check in judgement.checks if words in check.name]
    assert len(checks) == 1, (words, [check.name for check in judgement.checks])
    return checks[0]


def verdict(claim: str, tables: Mapping[str, Any], **settings: Any) -> str:
    """Return "reproduced" if a claim's checks hold on given tables as printed, "corrected" if only as corrected.

    Everything else is "refused", undecided checks included. `settings` replace configured ones. Rivals are not judged,
    for speed: `support.evaluation` judges them too, and has the verdicts that the project publishes.
    """
    spec = support.smoke(PAPER).claim(PAPER, claim)
    function = paper_function(PAPER, "claims", spec["function"])
    evaluation = evaluate(function, tables, spec["settings"] | settings, verdict_alone=True)
    if evaluation.judgement.state == "fails" and evaluation.corrected:
        return "corrected" if evaluation.corrected.state == "holds" else "refused"
    return "reproduced" if evaluation.judgement.state == "holds" else "refused"
