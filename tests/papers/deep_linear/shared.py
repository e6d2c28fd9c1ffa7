"""What tests of this paper share: runs as the pipeline measures them, and verdicts on altered tables."""

from collections.abc import Callable
from typing import Any

from tests.support import claim_tables, named_after_its_call, trajectory_of, verdict


def trajectory_and_table(
    run: Callable, measure: Callable, settings: dict, *data: Any, **options: Any
) -> tuple[Any, Any]:
    """Return the trajectory of a run with its settings, and its metrics; `options` are those of `measure`.

    Settings that the run does not name itself, as `rtol`, are given to it as those of its integration.
    """
    trajectory = trajectory_of(run, *data, **settings)
    trajectory.settings = settings
    return trajectory, measure(trajectory, **options)


def verdict_on(claim: str, alter: Callable[[dict], dict] | None = None, **settings: Any) -> str:
    """Return the verdict of a claim on its tables at smoke scale, altered or as they are; `settings` are the claim's.

    Settings that are not given are those of the configuration.
    """
    tables = claim_tables("deep_linear", claim)
    return verdict("deep_linear", claim, alter(tables) if alter else tables, **settings)


@named_after_its_call
def put(quantity: str, value: Any, /, *, add: bool = False, role: str | None = None, **where: Any) -> Callable:
    """Return an alteration of tables by role, which sets a quantity's values (or adds to them) where columns match.

    It changes the tables in place, in every role or in the one of `role`, and returns them. `where` has a condition for
    each of some columns: a value, or a predicate of the column. `value` may be a function of the rows that match.
    """

    def alter(tables: dict) -> dict:
        n_changed = 0
        for name, table in tables.items():
            if role not in (None, name):
                continue
            matches = (table["quantity"] == quantity).to_numpy()
            for column, condition in where.items():
                meets = condition(table[column]) if callable(condition) else table[column] == condition
                matches = matches & meets.to_numpy()
            new_value = value(table[matches]) if callable(value) else value
            if add:
                new_value = table.loc[matches, "value"] + new_value
            table.loc[matches, "value"] = new_value
            n_changed += int(matches.sum())
        assert n_changed, f"no rows of {quantity!r} where {where}"
        return tables

    return alter
