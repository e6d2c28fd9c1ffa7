"""Tables that say what a test wants them to say, and what a claim makes of them."""

from collections.abc import Callable
from typing import Any

from learning_dynamics.pipeline.plan.blocks import overlay
from tests.support import Tables, claim_tables, each_of_roles, evaluation, named_after_its_call

PAPER = "spectral_bias"
Alteration = Callable[[Tables], None]


@named_after_its_call
def put(
    quantity: str,
    value: float | None = None,
    *,
    times: float | None = None,
    role: str | None = None,
    draw: int | None = 0,
    column: str = "value",
    **where: object,
) -> Alteration:
    """Set the values of a quantity, or multiply them: of one draw in the first table that has it, or everywhere.

    Parameters
    ----------
    draw : int, optional
        Which draw; None for all draws of all tables.
    role : str, optional
        Change the tables of this role alone.
    """

    def alter(tables: Tables) -> None:
        changed = 0
        for table in each_of_roles(tables if role is None else {role: tables[role]}):
            rows = table["quantity"] == quantity
            for name, wanted in where.items():
                rows &= table[name] == wanted
            if draw is not None and "seed" in table:
                rows &= table["seed"] == draw
            table.loc[rows, column] = value if times is None else times * table.loc[rows, column]
            changed += int(rows.sum())
            if changed and draw is not None:
                return
        assert changed, f"no rows of {quantity!r} where {where}"

    return alter


def everywhere(quantity: str, value: float | None = None, **where: Any) -> Alteration:
    """Set or multiply the values of a quantity on all draws of all tables; see `put`."""
    return put(quantity, value, draw=None, **where)


@named_after_its_call
def with_steps(steps: int, rtol: float) -> Alteration:
    """Let every draw have taken so many steps at this rtol: their product is what integrators are allowed."""

    def alter(tables: Tables) -> None:
        for table in each_of_roles(tables):
            if "steps" in table:
                table["steps"] = steps
                table.attrs["settings"] = overlay(table.attrs["settings"], {"integration.rtol": rtol})

    return alter


def verdict_on(claim: str, *alterations: Alteration, **settings: Any) -> str:
    """Return a claim's verdict on its tables at smoke scale, altered."""
    return evaluation_on(claim, *alterations, **settings).verdict


def evaluation_on(claim: str, *alterations: Alteration, **settings: Any) -> Any:
    """Return what a claim says of its tables at smoke scale, altered."""
    tables = claim_tables(PAPER, claim)
    for alter in alterations:
        alter(tables)
    return evaluation(PAPER, claim, tables, **settings)
