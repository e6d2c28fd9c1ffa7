"""Alter single numbers in the tables that a claim reads, and ask for the claim's verdict on them."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from learning_dynamics.judging import Check, Judgement, evaluate
from learning_dynamics.pipeline.commands.functions import paper_function
from tests import support

PAPER = "neural_collapse"
Alteration = Callable[[support.Tables], support.Tables]


def rows_of(table: pd.DataFrame, quantity: str, **where: Any) -> pd.Series:
    """Return which rows have a quantity, and given values in other columns; ``epoch=-1``, ``time=-1`` are the last."""
    rows = table["quantity"] == quantity
    for column, value in where.items():
        if value == -1 and column in ("epoch", "time"):
            value = table[column].max()
        rows &= table[column] == value
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
) -> support.Tables:
    """Change the values of a quantity in the tables of a role, and return all tables.

    `change` is the new value, as many new values as there are rows, or a function of the old values. Changed are the
    rows that `rows_of` returns for `where`. Of a list of trainings `network` and `data` choose some.

    In the mapping a changed table is replaced by a copy, because claims remember what they have read of the old one.
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
    return tables


def check_of(judgement: Judgement, words: str) -> Check:
    """Return the one check of a judgement whose name has these words."""
    found = [check for check in judgement.checks if words in check.name]
    assert len(found) == 1, (words, [check.name for check in judgement.checks])
    return found[0]


def verdict(claim: str, tables: Mapping[str, Any], **settings: Any) -> str:
    """Return whether a claim's checks hold on given tables as printed, "reproduced", or else as "corrected".

    Everything else is "refused", undecided checks included. Rivals are not judged, for speed: `support.evaluation`
    judges them too, and has the verdicts that the project publishes.
    """
    spec = support.smoke(PAPER).claim(PAPER, claim)
    function = paper_function(PAPER, "claims", spec["function"])
    evaluation = evaluate(function, tables, spec["settings"] | settings, verdict_alone=True)
    if evaluation.judgement.state == "fails" and evaluation.corrected:
        return "corrected" if evaluation.corrected.state == "holds" else "refused"
    return "reproduced" if evaluation.judgement.state == "holds" else "refused"
