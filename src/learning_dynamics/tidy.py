"""Tidy tables: their columns declared, their rows built from arrays, and the rows of a quantity selected again."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError, suggest_name

P = ParamSpec("P")
T = TypeVar("T")
Quantity = str  # the name of a quantity that metrics list in their docstring
# metrics of a run; ``attrs`` hold the settings it was made with, its draw columns and, of a sweep, which are ``swept``
Table = pd.DataFrame
Tables = Iterable[pd.DataFrame]  # what a metrics function yields, to be one table


@dataclass(frozen=True)
class Column:
    """A column: its name, its type (int, float, str or bool), what it means, and whether it may be empty.

    Draw columns together identify a table's draws: the rows of a draw have the same values in all of them.
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
    """Declare the columns of what a metrics function returns, a table or several, one below the other.

    Columns come in the declared order, others are left out, and the table knows its draw columns.

    Raises
    ------
    ProjectError
        When the function is called, if it does not return a column that is declared.
    """

    def declare(function: Callable[P, pd.DataFrame | Iterable[pd.DataFrame]]) -> Callable[P, pd.DataFrame]:
        @functools.wraps(function)
        def measuring(*arguments: P.args, **options: P.kwargs) -> pd.DataFrame:
            result = function(*arguments, **options)
            tables = [result] if isinstance(result, pd.DataFrame) else result
            table = joined(declared, *(_with_columns(declared, part, function) for part in tables))
            table.attrs["draw"] = tuple(column.name for column in declared if column.draw)
            return table

        measuring.columns = declared  # type: ignore[attr-defined]
        return measuring

    return declare


def _with_columns(declared: Sequence[Column], table: pd.DataFrame, function: Callable) -> pd.DataFrame:
    """Return the table that a metrics function returned; refuse it if a declared column is missing."""
    for column in declared:
        if column.name not in table:
            place = f"{function.__code__.co_filename}: `{function.__name__}`"
            raise ProjectError(f"{place} returns no column `{column.name}`, which @columns declares")
    return table


def draw_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that identify a table's draws.

    Raises
    ------
    ProjectError
        If the table knows of none: it was not measured, or its metrics function declares none.
    """
    if not table.attrs.get("draw"):
        raise ProjectError("the table does not know which columns identify its draws; name them with `draw`")
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
            # with axes (seed, time): times of shape (times,) are read at the second index, (draws, times) at both
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
    """Return the rows of a quantity in which columns have the given value, one of those listed, or meet a condition.

    A condition is a function of the column, ``sigma=lambda sigma: sigma >= 2``.

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
        values = table[column]
        if callable(wanted):
            met = wanted(values)
        elif isinstance(wanted, list | tuple | np.ndarray):
            met = values.isin(wanted)
        else:
            met = values == wanted
        chosen &= np.asarray(met, dtype=bool)
    if not chosen.any():
        suggestion = suggest_name(quantity, table["quantity"].unique()) if isinstance(quantity, str) else ""
        raise ProjectError(
            f"no rows where {', '.join(f'{key} is {value!r}' for key, value in where.items())}{suggestion}"
        )
    return table[chosen]


def cached_per_table(read: Callable[Concatenate[pd.DataFrame, P], T]) -> Callable[Concatenate[pd.DataFrame, P], T]:
    """Let what a function reads from a table be read once: claims ask for it again for every rival and every variant.

    It is for functions of a table that nobody changes and of hashable arguments. Arrays become read-only. Of results
    of another kind all callers get the same object; hand out copies of it. What was read is forgotten with the table.
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


def by_draw(table: pd.DataFrame, quantity: Quantity, **options: Any) -> np.ndarray:
    """Return a quantity as an array, shape (draws, entries); options as for `Draws` and `Draws.entries`."""
    column = options.pop("column", "value")
    return Draws(table, **options).entries(quantity, column=column)


class Draws:
    """What was measured of each draw of a table, or of several tables in turn; arrays have draws along the first axis.

    ``flows["left"]`` is one number for each draw, ``flows.entries("sigma")`` several, ``flows.largest("sigma")`` their
    largest. Draws of a table are sorted by its draw columns. Where draws of one table have more entries than those of
    another, these are padded with zeros; `per_table` and iteration go table by table.

    Parameters
    ----------
    tables : DataFrame or sequence of DataFrame
    draw : str or sequence of str, optional
        The columns that identify draws, where these are not the tables' own.
    **where
        Which rows are read, as for `select`.
    """

    def __init__(
        self, tables: pd.DataFrame | Sequence[pd.DataFrame], *, draw: str | Sequence[str] | None = None, **where: Any
    ):
        self.tables = [tables] if isinstance(tables, pd.DataFrame) else list(tables)
        self._draw, self._where = draw, where

    def where(self, **where: Any) -> Draws:
        """Return the draws read from fewer rows."""
        return Draws(self.tables, draw=self._draw, **self._where | where)

    def at_end(self, axis: str = "time") -> Draws:
        """Return the draws at the last time of their table, or at the largest value of another column."""
        return self.where(**{axis: lambda column: column == column.max()})

    def groups(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Yield the values that columns have together, sorted, each followed by the draws that have them."""
        labels = pd.concat([select(table, **self._where) for table in self.tables])[list(columns)].drop_duplicates()
        for values in labels.sort_values(list(columns)).itertuples(index=False, name=None):
            where = dict(zip(columns, values, strict=True))
            tables = [table for table in self.tables if (table[list(columns)] == list(values)).all(axis=1).any()]
            yield *values, Draws(tables, draw=self._draw, **self._where | where)

    def __iter__(self) -> Iterator[Draws]:
        return (Draws(table, draw=self._draw, **self._where) for table in self.tables)

    def per_table(self, read: Callable[[Draws], np.ndarray]) -> np.ndarray:
        """Return what is read of the draws of each table, one below the other, padded with zeros to the largest."""
        parts = [np.asarray(read(of_table)) for of_table in self]
        # (5, 3, 4) and (2, 6, 4) become (7, 6, 4)
        largest = np.max([part.shape[1:] for part in parts], axis=0)
        widths = [[(0, 0), *((0, int(width)) for width in largest - part.shape[1:])] for part in parts]
        return np.concatenate([np.pad(*pair) for pair in zip(parts, widths, strict=True)])

    def entries(self, quantity: Quantity, *axes: str, column: str = "value") -> np.ndarray:
        """Return a quantity, shape (draws, entries), or (draws, values of each of some columns, entries).

        Raises
        ------
        ProjectError
            If it was not measured, draws of a table differ in their number of entries, tables differ in their axes, or
            rows of a draw are of several runs of a sweep.
        """
        sizes = {tuple(select(table, quantity, **self._where)[list(axes)].nunique()) for table in self.tables}
        if len(sizes) > 1:
            raise ProjectError(f"`{quantity}`: tables differ in their numbers of {', '.join(axes)}; use `per_table`")

        def read(draws: Draws) -> np.ndarray:
            chosen = select(draws.tables[0], quantity, **self._where)
            draws._refuse_several_runs(chosen, axes)
            # of each row the number of its draw, -1 where a draw column is empty
            places = chosen.groupby(draws._draw_columns()).ngroup().fillna(-1).to_numpy(dtype=int)
            order = np.argsort(places, kind="stable")[np.sum(places < 0) :]  # rows that miss a draw column are of none
            counts = np.bincount(places[order])
            if len(set(counts)) > 1:
                raise ProjectError(f"`{quantity}`: draws have {sorted(set(counts.tolist()))} entries; select further")
            shape = [len(counts), *(chosen[axis].nunique() for axis in axes)]
            return chosen[column].to_numpy()[order].reshape(*shape, len(order) // max(1, math.prod(shape)))

        return self.per_table(read)

    def __getitem__(self, quantity: Quantity) -> np.ndarray:
        """Return a quantity that has one number for each draw, shape (draws,)."""
        values = self.entries(quantity)
        if values.shape[1] != 1:
            raise ProjectError(f"`{quantity}`: {values.shape[1]} numbers for each draw; select one, or read `entries`")
        return values[:, 0]

    def with_prediction(self, quantity: Quantity, *axes: str) -> tuple[np.ndarray, np.ndarray]:
        """Return what was measured and what is predicted, as `entries`."""
        return self.entries(quantity, *axes), self.entries(quantity, *axes, column="predicted")

    def largest(self, quantity: Quantity) -> np.ndarray:
        """Return the largest of each draw's numbers, shape (draws,); nan where one is."""
        return self.per_table(lambda draws: draws.entries(quantity).max(axis=1))

    def smallest(self, quantity: Quantity) -> np.ndarray:
        """Return the least of each draw's numbers, shape (draws,); nan where one is."""
        return self.per_table(lambda draws: draws.entries(quantity).min(axis=1))

    def column(self, name: str) -> np.ndarray:
        """Return what a column has in the first of each draw's rows, shape (draws,)."""
        return self.per_table(lambda draws: draws._first_rows()[name].to_numpy())

    def setting(self, key: str) -> np.ndarray:
        """Return a setting that each draw was made with, ``integration.rtol``, shape (draws,).

        Of a swept setting each draw has the value of its rows.

        Raises
        ------
        ProjectError
            If the setting is a list, or rows of a draw are of several runs of a sweep.
        """

        def read(draws: Draws) -> np.ndarray:
            table, first_rows = draws.tables[0], draws._first_rows()
            if key in swept_columns(table):
                return first_rows[key].to_numpy()
            value = functools.reduce(operator.getitem, key.split("."), settings_of(table))
            if isinstance(value, list | tuple):
                raise ProjectError(f"setting `{key}` is a list, not one value for each draw; read it by `settings_of`")
            return np.full(len(first_rows), value)

        return self.per_table(read)

    def _draw_columns(self) -> list[str]:
        names = self._draw or draw_columns(self.tables[0])
        return [names] if isinstance(names, str) else list(names)

    def _first_rows(self) -> pd.DataFrame:
        names = self._draw_columns()
        chosen = select(self.tables[0], **self._where)
        self._refuse_several_runs(chosen)
        return chosen.dropna(subset=names).drop_duplicates(names).sort_values(names)

    def _refuse_several_runs(self, chosen: pd.DataFrame, axes: Sequence[str] = ()) -> None:
        """Refuse rows of a draw that are of several runs of a sweep, and that neither draws nor axes tell apart."""
        told_apart = {*self._draw_columns(), *axes}
        mixed = [key for key in swept_columns(chosen) if key not in told_apart and len(values_of_rows(chosen, key)) > 1]
        if mixed:
            raise ProjectError(
                f"each draw mixes runs of a sweep, which differ in {', '.join(mixed)}; take the rows of one value, "
                f"table[table[{mixed[0]!r}] == ...], or name the column in `draw`"
            )


class Settings(dict[str, Any]):
    """A run's settings, in a table's ``attrs``: copies of the table share them, where pandas would copy them deeply."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Settings:
        return self


def settings_of(table: pd.DataFrame) -> dict[str, Any]:
    """Return the settings that a table was made with.

    A swept setting has the value of the table's rows; if they have several it is the list of these.
    """
    settings: dict[str, Any] = table.attrs["settings"]
    for key in swept_columns(table):
        values = values_of_rows(table, key)
        name, _, inner = key.partition(".")  # a setting of a class is `limit.rtol`
        value = values[0] if len(values) == 1 else values
        settings = settings | {name: settings[name] | {inner: value} if inner else value}
    return settings


def swept_columns(table: pd.DataFrame) -> list[str]:
    """Return the swept settings that a table has as columns; none if it is of no sweep."""
    return [key for key in table.attrs.get("swept", ()) if key in table]


def values_of_rows(table: pd.DataFrame, column: str) -> list[Any]:
    """Return the different values that a column has, in the order of the rows; None where it is empty."""
    values = table[column]
    compared = values.astype(str) if values.dtype == object else values  # lists have no hash
    different = values[~compared.duplicated()].tolist()
    return [None if value != value else value for value in different]  # nan is no value but itself


def ascending(setting: str, **tables: pd.DataFrame) -> None:
    """Refuse tables whose roles are swapped: a setting must grow from each role to the next.

    Raises
    ------
    ProjectError
        If the setting does not grow from one role to the next: both roles, and the setting of each.
    """
    values = [(role, settings_of(table)[setting]) for role, table in tables.items()]
    for (first, first_value), (second, second_value) in itertools.pairwise(values):
        if not first_value < second_value:
            raise ProjectError(
                f"roles `{first}` and `{second}`: {setting} is {first_value} and {second_value}, and must grow; "
                "swap the runs"
            )
