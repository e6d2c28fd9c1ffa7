"""Tables with single numbers altered, and what a claim says of them."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from learning_dynamics.judging import evaluate
from learning_dynamics.pipeline.commands.functions import paper_function
from tests import support

PAPER = "neural_collapse"
Alteration = Callable[[support.Tables], support.Tables]


def rows_of(table: pd.DataFrame, quantity: str, **where: Any) -> pd.Series:
    """Return which rows hold a quantity where columns match; ``epoch=-1`` and ``time=-1`` are the last."""
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
    """Set the values of a quantity, or apply a function to them: in all tables of a role or one network's.

    A table is replaced by a copy: what claims have read of the old one is remembered with it.
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


def verdict(claim: str, tables: Mapping[str, Any], **settings: Any) -> str:
    """Return "reproduced" or "corrected" if the claim's judge lets a prediction pass on given tables, else "refused".

    Rivals do not count: they do where a claim is evaluated on tables that nobody altered.
    """
    spec = support.smoke(PAPER).claim(PAPER, claim)
    function = paper_function(PAPER, "claims", spec["function"])
    evaluation = evaluate(function, tables, spec["settings"] | settings, verdict_alone=True)
    if evaluation.judgement.state == "fails" and evaluation.corrected:
        return "corrected" if evaluation.corrected.state == "holds" else "refused"
    return "reproduced" if evaluation.judgement.state == "holds" else "refused"
