"""Tidy tables: their columns declared, their rows built from arrays, and the rows of a quantity selected again."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError, suggest_name

P = ParamSpec("P")
T = TypeVar("T")
Quantity = str  # the name of a quantity that metrics list in their docstring
Table = pd.DataFrame  # metrics of a run; ``attrs`` hold the settings it was made with, and its draw columns


@dataclass(frozen=True)
class Column:
    """A column: its name, its type (int, float, str or bool), what it means, and whether it may be empty.

    Draw columns together tell a table's draws apart: the rows of a draw have the same values in all of them.
    """

    name: str
    type: str
    description: str
    nullable: bool = False
    draw: bool = False


SEED = Column("seed", "int", "ensemble member: an independent draw of data and initialisation", draw=True)
TIME = Column("time", "float", "gradient-flow time; for descent, step size times number of steps")
QUANTITY = Column("quantity", "str", "what the value is; see the metrics function")
INDEX = Column("index", "int", "1, 2, ... for entries, in descending order for singular values; 0 for scalars")
VALUE = Column("value", "float", "measured")
VALUE_IF_ANY = replace(VALUE, nullable=True)
PREDICTED = Column("predicted", "float", "what the theory gives for it, where it does", nullable=True)


def columns(*declared: Column) -> Callable:
    """Declare the columns of the table that a metrics function returns; the table knows its draw columns."""

    def declare(function: Callable[P, pd.DataFrame]) -> Callable[P, pd.DataFrame]:
        @functools.wraps(function)
        def measuring(*arguments: P.args, **options: P.kwargs) -> pd.DataFrame:
            table = function(*arguments, **options)
            table.attrs["draw"] = tuple(column.name for column in declared if column.draw)
            return table

        measuring.columns = declared  # type: ignore[attr-defined]
        return measuring

    return declare


def draw_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that tell a table's draws apart.

    Raises
    ------
    ProjectError
        If the table knows of none: it was not measured, or its metrics function declares none.
    """
    if not table.attrs.get("draw"):
        raise ProjectError("the table does not know which columns tell its draws apart; name them with `draw`")
    return list(table.attrs["draw"])


def rows(measured: Mapping[str, Any], axes: Mapping[str, Any], **labels: Any) -> pd.DataFrame:
    """Return one row for each number of each quantity.

    Parameters
    ----------
    measured : mapping from quantity to array, or to a pair of array and prediction
        Arrays have one axis for each of `axes`, in that order, and at most one more, whose entries are numbered
        from 1 in the column ``index`` (0 where there is no such axis). Predictions are broadcast to the values.
    axes : mapping from column to coordinates
        Coordinates have the shape of their axis, or of all axes up to theirs (recorded times that differ by member).
    **labels
        Further columns: one value for all rows, or one for each entry of the first axis.

    Returns
    -------
    DataFrame
        Columns: axes, labels, quantity, index, value, predicted.

    Raises
    ------
    ValueError
        If an array has too few or too many axes.
    """
    sizes = []
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*axes, *labels, "index", "value", "predicted")}
    for quantity, entry in measured.items():
        value, predicted = entry if isinstance(entry, tuple) else (entry, np.nan)
        value = np.asarray(value, dtype=float)
        if not len(axes) <= value.ndim <= len(axes) + 1:
            raise ValueError(f"{quantity}: {value.ndim} axes for coordinates {list(axes)} and an index")
        indices = [grid.ravel() for grid in np.indices(value.shape)]
        for depth, (name, coordinates) in enumerate(axes.items(), start=1):
            coordinates = np.asarray(coordinates)
            parts[name].append(coordinates[tuple(indices[depth - coordinates.ndim : depth])])
        for name, label in labels.items():
            if np.ndim(label):
                parts[name].append(np.asarray(label)[indices[0]])
        parts["index"].append(indices[-1] + 1 if value.ndim > len(axes) else np.zeros(value.size, dtype=int))
        parts["value"].append(value.ravel())
        parts["predicted"].append(np.broadcast_to(predicted, value.shape).ravel())
        sizes.append(value.size)
    table: dict[str, Any] = {name: np.concatenate(arrays) if arrays else labels[name] for name, arrays in parts.items()}
    # a column at a time: a frame for each quantity took most of the time of measuring a small run
    table["quantity"] = pd.array(list(measured), dtype="str").repeat(sizes)
    order = [*axes, *labels, "quantity", "index", "value", "predicted"]
    return pd.DataFrame({name: table[name] for name in order}, index=pd.RangeIndex(sum(sizes)))


def joined(declared: Sequence[Column], *tables: pd.DataFrame) -> pd.DataFrame:
    """Return tables one below the other, with the declared columns in their order."""
    return pd.concat(tables, ignore_index=True)[[column.name for column in declared]]


def select(table: pd.DataFrame, quantity: Quantity | list[Quantity] | None = None, **where: Any) -> pd.DataFrame:
    """Return the rows of a quantity in which columns have the given value, or one of those listed.

    Raises
    ------
    ProjectError
        If there are none: what was not measured is an error, not an empty table.
    """
    if quantity is not None:
        where = {"quantity": quantity, **where}
    chosen = np.ones(len(table), dtype=bool)
    for column, wanted in where.items():
        if column not in table:
            raise ProjectError(f"the table has no column `{column}`{suggest_name(column, table.columns)}")
        listed = isinstance(wanted, list | tuple | np.ndarray)
        chosen &= (table[column].isin(wanted) if listed else table[column] == wanted).to_numpy()
    if not chosen.any():
        suggestion = suggest_name(quantity, table["quantity"].unique()) if isinstance(quantity, str) else ""
        raise ProjectError(
            f"no rows where {', '.join(f'{key} is {value!r}' for key, value in where.items())}{suggestion}"
        )
    return table[chosen]


def remembered(read: Callable[Concatenate[pd.DataFrame, P], T]) -> Callable[Concatenate[pd.DataFrame, P], T]:
    """Let what a function reads from a table be read once: claims ask for it again for every rival and every variant.

    For functions of a table that nobody changes and of hashable arguments. Arrays become read-only; of other things
    callers are given copies by who reads them. What was read is forgotten with the table.
    """
    results: dict[int, dict[Any, Any]] = {}

    @functools.wraps(read)
    def reading(table: pd.DataFrame, *arguments: P.args, **options: P.kwargs) -> T:
        if id(table) not in results:
            results[id(table)] = {}
            weakref.finalize(table, results.pop, id(table), None)
        key = (arguments, tuple(options.items()))
        of_table = results[id(table)]
        if key not in of_table:
            result = read(table, *arguments, **options)
            if isinstance(result, np.ndarray):
                result.flags.writeable = False
            of_table[key] = result
        return cast(T, of_table[key])

    return reading


def by_draw(
    table: pd.DataFrame,
    quantity: Quantity,
    *,
    draw: str | Sequence[str] | None = None,
    column: str = "value",
    **where: Any,
) -> np.ndarray:
    """Return a quantity as an array, shape (draws, entries): draws sorted, entries in the table's order.

    `draw` names the columns that tell draws apart, where these are not the table's own.

    Raises
    ------
    ProjectError
        If there are no such rows, or draws differ in their number of entries.
    """
    chosen = select(table, quantity, **where)
    draws = chosen.groupby(draw or draw_columns(table)).ngroup().fillna(-1).to_numpy()
    order = np.argsort(draws, kind="stable")[np.sum(draws < 0) :]  # rows that miss a draw column are of none
    values = chosen[column].to_numpy()[order]
    groups = np.split(values, np.flatnonzero(np.diff(draws[order])) + 1) if len(values) else []
    if len({len(group) for group in groups}) > 1:
        raise ProjectError(
            f"`{quantity}`: draws have {sorted({len(group) for group in groups})} entries; select further"
        )
    return np.array(groups)


class Settings(dict[str, Any]):
    """A run's settings, in a table's ``attrs``: copies of the table share them, where pandas would copy them deeply."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Settings:
        return self


def settings_of(table: pd.DataFrame) -> dict[str, Any]:
    """Return the settings that a table was made with."""
    return table.attrs["settings"]


def ascending(setting: str, **tables: pd.DataFrame) -> None:
    """Refuse tables whose roles are swapped: a setting must grow from each role to the next.

    Raises
    ------
    ProjectError
        It names two roles, and the setting of each.
    """
    values = [(role, settings_of(table)[setting]) for role, table in tables.items()]
    for (first, first_value), (second, second_value) in itertools.pairwise(values):
        if not first_value < second_value:
            raise ProjectError(
                f"roles `{first}` and `{second}`: {setting} is {first_value} and {second_value}, and must grow; "
                "swap the runs"
            )
