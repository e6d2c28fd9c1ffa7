"""Tables at smoke scale in which a test sets some values, and the verdict of a claim on them.

A verdict is `reproduced` if the claim holds as printed, `corrected` if only its correction does, `contradicted` if
neither does (`not reproduced` of an experiment), and `undecided` if a wrong prediction, a rival, passes all checks too,
or if draws or intervals leave open whether a check holds.
"""

from collections.abc import Callable
from typing import Any

from learning_dynamics.judging import Check, Evaluation, Judgement
from learning_dynamics.pipeline.plan.blocks import overlay
from tests.support import Tables, claim_tables, each_of_roles, evaluation, named_after_its_call, smoke

PAPER = "spectral_bias"
Alteration = Callable[[Tables], None]  # changes tables in place


@named_after_its_call
def put(
    quantity: str,
    value: float | None = None,
    *,
    factor: float | None = None,
    role: str | None = None,
    draw: int | None = 0,
    column: str = "value",
    **where: object,
) -> Alteration:
    """Return an alteration that sets the values of a quantity, or multiplies them.

    It changes one draw, in the first table that has rows of it, or with `draw=None` all draws of all tables. Where a
    table has no draws, as one of growth rates, all its rows count as the draw's.

    Parameters
    ----------
    quantity : str
    value : float, optional
        What to set; without it, values are multiplied by `factor`.
    draw : int, optional
        Which draw; None for all.
    role : str, optional
        Change the tables of this role alone.
    column : str
        `value`, which is measured, or `predicted`.
    **where
        Change only rows with these values in other columns, as `index=1` or `phase="limit"`.
    """

    def alter(tables: Tables) -> None:
        changed = 0
        for table in each_of_roles(tables if role is None else {role: tables[role]}):
            rows = table["quantity"] == quantity
            for name, wanted in where.items():
                rows &= table[name] == wanted
            if draw is not None and "seed" in table:
                rows &= table["seed"] == draw
            table.loc[rows, column] = value if factor is None else factor * table.loc[rows, column]
            changed += int(rows.sum())
            if changed and draw is not None:
                return
        assert changed, f"no rows of {quantity!r} where {where}"

    return alter


def everywhere(quantity: str, value: float | None = None, **where: Any) -> Alteration:
    """Return an alteration that sets a quantity on all draws of all tables, or multiplies it with `factor=`."""
    return put(quantity, value, draw=None, **where)


def value_and_interval(value: float, half: float) -> dict[str, float]:
    """Return columns: a value, and the ends of its interval, a half-width to each side."""
    return {"value": value, "lower": value - half, "upper": value + half}


def put_rate(quantity: str, value: float, half: float, **where: Any) -> Alteration:
    """Return an alteration that sets a growth rate, and its interval, where rows are as `where` says; see `put`."""

    def alter(tables: Tables) -> None:
        for column, number in value_and_interval(value, half).items():
            put(quantity, number, column=column, **where)(tables)

    return alter


@named_after_its_call
def with_steps(steps: int, rtol: float) -> Alteration:
    """Return an alteration: every draw has taken so many steps at this rtol.

    Claims allow the integrator an error of their product.
    """

    def alter(tables: Tables) -> None:
        for table in each_of_roles(tables):
            if "steps" in table:
                table["steps"] = steps
                table.attrs["settings"] = overlay(table.attrs["settings"], {"integration.rtol": rtol})

    return alter


def verdict_on(claim: str, *alterations: Alteration, **settings: Any) -> str:
    """Return a claim's verdict on its tables at smoke scale, altered."""
    return evaluation_on(claim, *alterations, **settings).verdict


def evaluation_on(claim: str, *alterations: Alteration, **settings: Any) -> Evaluation:
    """Return what a claim says of its tables at smoke scale, altered."""
    tables = claim_tables(PAPER, claim)
    for alter in alterations:
        alter(tables)
    return evaluation(PAPER, claim, tables, **settings)


def check_of(judgement: Judgement, words: str) -> Check:
    """Return the one check of a judgement whose name has these words."""
    found = [check for check in judgement.checks if words in check.name]
    assert len(found) == 1, (words, [check.name for check in judgement.checks])
    return found[0]


def settings_of_role(claim: str, role: str) -> dict[str, Any]:
    """Return the settings, at smoke scale, of the run that a claim reads in a role; nothing is run for it."""
    whose = smoke(PAPER)
    return whose.job("run", PAPER, whose.claim(PAPER, claim)["runs"][role]["name"]).spec["settings"]
