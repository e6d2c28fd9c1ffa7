"""Draw a run's metrics against one of their columns, or as a map over two: swept settings, or any that it records."""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from pandas.api.types import is_numeric_dtype

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.roles import empty_table, parts_of_table, refuse_missing_tables
from learning_dynamics.pipeline.plan.config_files import load, output_folders
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.quantities import declared_quantities
from learning_dynamics.pipeline.plan.stale_outputs import other_tables
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.tables import values_in
from learning_dynamics.plotting import WIDTH, legible_ticks, style

At = Literal["last", "first", "largest", "smallest"]
MOMENTS = ("time", "epoch", "step")  # columns that say when
DRAWS = ("seed", "draw")  # columns that number draws
NO_AXIS = {"quantity", "value", "predicted", "lower", "upper", *DRAWS, *MOMENTS}
MAX_CONTOURS = 4
MAX_TICKS = 5
MAX_VALUES = 8  # of a column, in an error
MAX_LABEL = 44  # characters of a line
GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
}


def execute(
    paper: str,
    name: str,
    /,
    x: str,
    quantity: str | None = None,
    y: str | None = None,
    files: Sequence[Path] = (),
    where: Sequence[str] = (),
    at: At = "last",
    above: float | None = None,
    out: Path | None = None,
) -> None:
    """Draw the run `name`, swept or not, and print where; without a quantity, print which there are.

    Each draw gives one number for each value of `x` (and `y`): the quantity's last, first, largest or smallest recorded
    value, as `at` says. Of the draws the median is shown, or the share that is above a number. Lines in a map are
    contours of what the theory predicts, where the metrics hold a prediction.

    Parameters
    ----------
    paper : str
        The paper's name, as `spectral_bias`.
    name : str
        The run's name in the paper's configuration, or a sweep's.
    x : str
        A swept setting, or a column of the metrics, along the horizontal axis.
    y : str
        Another setting or column along the vertical axis, for a map. Without it lines are drawn.
    quantity : str
        A quantity of the metrics. Without it the quantities are listed.
    at : At
        last (the default), first: in time; largest, smallest: in value.
    above : float
        Draw the share of draws above this number, instead of their median.
    where : sequence of str
        COLUMN=VALUE, which rows of the metrics; index=1 is the first entry of the quantity.
    out : path
        The .pdf to write; a .png is written beside it.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    if out is not None and out.suffix != ".pdf":
        raise ProjectError(f"--out: must end in .pdf (is {out})")
    configuration = load(files, {"papers": [paper]})
    plan = Plan(configuration, check=False)  # nothing is computed: no science is imported
    check_known(name, plan.config.paper_block(paper)["runs"], "run", f"{paper} (is its --configfile given?)")
    results, figures = output_folders(configuration)
    run, folder = plan.describe_run(paper, name), results / paper / "metrics"
    sweep = run["sweep"] or {}
    others = other_tables(plan, paper, name, folder) if sweep else []
    if others:
        print(f"{folder}: {len(others)} tables are not of {name} as configured, such as {others[0].name}; delete them")

    refuse_missing_tables(plan, paper, name, folder, files)
    example = empty_table(folder, run)
    axes = [x, y] if y else [x]
    for axis in axes:
        known = [column for column in example if column not in NO_AXIS or column in sweep]
        check_known(axis, known, "axis", name)
    if x == y:
        raise ProjectError(f"--y {y}: is what --x is; name another, or leave it out to draw lines")
    first_table = folder / f"{next(iter(plan.config.tables(paper, name)))}.parquet"
    if quantity is None:
        raise ProjectError(f"--quantity: name one of {', '.join(sorted(values_in(first_table, 'quantity', {})))}")
    conditions = parse_conditions(where, example)
    unfixed = [key for key in sweep if key not in (*axes, *conditions)]
    if unfixed:
        raise ProjectError(f"{name} sweeps {', '.join(unfixed)} too; take one value with --where {unfixed[0]}=...")

    points, n_not_finite = points_of_run(
        folder, run, quantity=quantity, conditions=conditions, axes=axes, at=at, above=above
    )
    if points.empty:
        refuse_conditions(first_table, run, quantity, conditions)

    labels = Labels(plan, paper, name)
    label, what, limits = labels.of_quantity(quantity), quantity, None
    if above is not None:
        label = f"share of draws with {label} above {above:g}"
        what = f"share of draws with {quantity} above {above:g}"
        limits = (0.0, 1.0)
    title = [labels.of_name(quantity)] + [
        f"{labels.of_name(key)} {_format_value(conditions[key])}" for key in conditions
    ]
    pdf = out or figures / paper / f"{name}--{quantity}.pdf"
    with matplotlib_defaults(), style():
        figure = draw_heat_map(points, x, y, label, limits) if y else draw_lines(points, x, label)
        figure.axes[0].set_xlabel(labels.of_name(x))
        if y:
            figure.axes[0].set_ylabel(labels.of_name(y))
        legible_ticks(figure)
        figure.suptitle(", ".join(title), fontsize=8)
        for file in (pdf, pdf.with_suffix(".png")):
            with atomic_write(file) as partial:
                figure.savefig(partial, format=file.suffix[1:], metadata={"Title": f"{paper} {name} {quantity}"})
    remark = f"; {n_not_finite} are not finite" if n_not_finite else ""
    print(f"{pdf}, {pdf.with_suffix('.png')}: {what}, {len(points)} values{remark}")


def points_of_run(
    folder: Path,
    run: Mapping[str, Any],
    *,
    quantity: str,
    conditions: Mapping[str, Any],
    axes: Sequence[str],
    at: At,
    above: float | None,
) -> tuple[pd.DataFrame, int]:
    """Return what `reduce_draws` returns of the rows of a run that meet conditions, and how many are not finite.

    Runs of a sweep are read and reduced some at a time: all rows of a large sweep fill a machine's memory.
    """
    # files of single runs have no columns of swept settings
    in_files = {key: value for key, value in conditions.items() if key not in (run["sweep"] or ())}
    points, n_not_finite = [], 0
    for part in parts_of_table(folder, run, {"quantity": quantity, **in_files}):
        rows = part.astype({column: str for column in part if not is_numeric_dtype(part[column])})
        for column, value in conditions.items():
            rows = rows[rows[column] == value]
        if not rows.empty:
            points.append(reduce_draws(rows, axes, at, above))
            n_not_finite += int((~np.isfinite(rows["value"])).sum())
    table = pd.concat(points, ignore_index=True) if points else pd.DataFrame()
    return table, n_not_finite


def refuse_conditions(table: Path, run: Mapping[str, Any], quantity: str, conditions: Mapping[str, Any]) -> None:
    """Refuse conditions that no row of a run meets together; what there is instead is read from one of its tables.

    Raises
    ------
    ProjectError
        Always: that there is no such quantity, which condition no row meets, or that no row meets all of them.
    """
    quantities = sorted(values_in(table, "quantity", {}))
    if quantity not in quantities:
        raise ProjectError(f"--quantity: name one of {', '.join(quantities)}")
    sweep = run["sweep"] or {}
    met: dict[str, Any] = {"quantity": quantity}  # the conditions so far: values are looked for in rows that meet them
    for column, value in conditions.items():
        known = sweep.get(column) or values_in(table, column, met)
        if value not in known and value not in map(str, known):
            listed = ", ".join(map(str, known[:MAX_VALUES]))
            raise ProjectError(f"--where {column}={_format_value(value)}: no such rows; there are {listed}")
        if column not in sweep:
            met[column] = value
    raise ProjectError("--where: no row meets all of these conditions; leave one out")


class Labels:
    """What a picture writes for settings, columns and quantities: the paper's symbols, or their meaning in words."""

    def __init__(self, plan: Plan, paper: str, run: str) -> None:
        self._symbols = symbols_of(plan.config.paper_block(paper).get("notation", ""))
        first_run, _ = plan.config.runs_of(paper, run)[0]
        function_name = plan.config.function_name("metrics", paper, first_run)
        self._meanings = declared_quantities(paper, function_name)

    def of_name(self, name: str) -> str:
        """Return a name as its symbol, ``sigma_w1`` as that of sigma of W_1; in words if the notation has none."""
        parts = [self._symbols.get(part) for part in name.split("_")]
        if None in parts:
            return name.replace("_", " ").replace(".", " ")
        first, *others = map(str, parts)
        return f"${first}({', '.join(others)})$" if others else f"${first}$"

    def of_quantity(self, name: str) -> str:
        """Return what a quantity is, from the metrics function's docstring, with its symbol or name."""
        meaning = next((text for pattern, text in self._meanings.items() if fnmatchcase(name, pattern)), "")
        meaning = re.split(r"[.;:,(]", meaning)[0].strip()
        if not meaning or "`" in meaning:
            return self.of_name(name)
        return "\n".join(textwrap.wrap(f"{meaning[0].lower()}{meaning[1:]}, {self.of_name(name)}", MAX_LABEL))


def symbols_of(notation: str) -> dict[str, str]:
    r"""Return a paper's symbols by the name that code gives them: ``gamma`` for \gamma, ``w1`` for W_1."""
    formulas = " ".join(re.findall(r"\$([^$]*)\$", notation))
    greek = {name: f"\\{name}" for name in re.findall(r"\\([a-z]+)", formulas) if name in GREEK}
    numbered = re.findall(r"(?<![\\A-Za-z])([A-Za-z])_\{?(\d)\}?", formulas)
    return greek | {f"{letter}{number}".lower(): f"{letter}_{number}" for letter, number in numbered}


def parse_conditions(where: Sequence[str], table: pd.DataFrame) -> dict[str, Any]:
    """Return ``COLUMN=VALUE`` texts as columns and values: numbers of columns of numbers, else text."""
    values: dict[str, Any] = {}
    for text in where:
        column, _, value = text.partition("=")
        check_known(column, table.columns, "column", f"--where {text}")
        try:
            values[column] = float(value) if is_numeric_dtype(table[column]) else value
        except ValueError:
            raise ProjectError(f"--where {text}: write COLUMN=VALUE; `{column}` is a number") from None
    return values


def reduce_draws(rows: pd.DataFrame, axes: Sequence[str], at: At, above: float | None = None) -> pd.DataFrame:
    """Return one row for each point of the axes: of the draws the median, or the share above a number, at one moment.

    A draw whose value is not finite counts as not above.

    Raises
    ------
    ProjectError
        If several rows of a draw share a moment: one of what they differ by must be chosen.
    """
    draw = [*axes, *(column for column in DRAWS if column in rows and column not in axes)]
    moments = [column for column in MOMENTS if column in rows][:1]
    # of what else tells rows apart one must be chosen, or they would be mixed
    differing = [key for key in rows if key not in {*draw, *NO_AXIS} and len(rows[key].unique()) > 1]
    if differing and rows.duplicated([*draw, *moments]).any():
        raise ProjectError(
            f"a draw has several such numbers, by {', '.join(differing)}; take one of them: --where {differing[0]}=..."
        )
    order = moments if at in ("last", "first") else ["value"]
    if order:  # a draw without a value is kept: nan is sorted before the row that is taken
        ordered = rows.sort_values(order, ascending=at in ("last", "largest"), na_position="first")
        rows = ordered.groupby(draw).tail(1).sort_index()
    if above is not None:
        is_above = (rows["value"] > above) & np.isfinite(rows["value"])
        return is_above.groupby([rows[key] for key in axes], sort=False).mean().reset_index()
    numbers = [column for column in ("value", "predicted") if column in rows]
    return rows.groupby(list(axes), sort=False)[numbers].median().reset_index()


def draw_heat_map(
    points: pd.DataFrame, x: str, y: str, label: str, limits: tuple[float, float] | None = None
) -> Figure:
    """Draw the value over two columns, a cell for each pair of their values, with contours of the prediction.

    Numbers are sorted, words keep their order of appearance. Without `limits` colours span the values, on a
    logarithmic scale where these do over two decades.
    """
    across, up = _in_order(points[x]), _in_order(points[y])

    def grid(column: str) -> np.ndarray:
        table = points.pivot_table(index=y, columns=x, values=column, dropna=False)
        return table.reindex(index=up, columns=across).to_numpy()

    norm = None
    if limits:
        norm = Normalize(*limits)
    elif _spans_decades(points["value"]):
        norm = LogNorm()
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 0.48 * WIDTH))
    mesh = axis.pcolormesh(range(len(across)), range(len(up)), grid("value"), norm=norm, cmap="viridis")
    bar = figure.colorbar(mesh, label=label)
    # between words there is nothing that a contour could run through
    is_plane = is_numeric_dtype(across) and is_numeric_dtype(up) and min(len(across), len(up)) > 1
    if is_plane and _has_prediction(points):
        predicted = grid("predicted")
        levels = [tick for tick in bar.get_ticks() if np.nanmin(predicted) < tick < np.nanmax(predicted)]
        if levels:
            shown = levels[:: math.ceil(len(levels) / MAX_CONTOURS)]
            lines = axis.contour(predicted, levels=shown, colors="white", linewidths=0.9)
            for artist in (lines, *axis.clabel(lines, fmt="%g", fontsize=6)):
                artist.set_path_effects([withStroke(linewidth=2, foreground="black")])  # legible on light cells
    axis.set(xlabel=x, ylabel=y)
    _label_cells(axis.xaxis, across)
    _label_cells(axis.yaxis, up)
    return figure


def _label_cells(axis: Axis, values: np.ndarray) -> None:
    step = math.ceil(len(values) / MAX_TICKS)
    axis.set_ticks(range(0, len(values), step), [_format_value(value) for value in values[::step]])


def draw_lines(points: pd.DataFrame, x: str, label: str) -> Figure:
    """Draw the value against one column, and the prediction as a line."""
    numeric = is_numeric_dtype(points[x])
    points = points.sort_values(x) if numeric else points
    figure, axis = plt.subplots(figsize=(WIDTH / 2, 2.6))
    axis.plot(points[x].to_numpy(), points["value"], "o", markersize=3, label="measured")
    if _has_prediction(points):
        axis.plot(points[x].to_numpy(), points["predicted"], color="0.3", label="predicted")
        axis.legend()
    axis.set(xlabel=x, ylabel=label)
    if numeric and _spans_decades(points[x]):
        axis.set_xscale("log")
    if _spans_decades(points["value"]):
        axis.set_yscale("log")
    return figure


def _has_prediction(points: pd.DataFrame) -> bool:
    return "predicted" in points and bool(points["predicted"].notna().any())


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def _in_order(column: pd.Series) -> np.ndarray:
    values = column.unique()
    return np.sort(values) if is_numeric_dtype(column) else values


def _spans_decades(values: pd.Series) -> bool:
    """Whether values are positive and span more than two decades, for which an axis is logarithmic; two is chosen."""
    finite = values[np.isfinite(values)]
    return len(finite) > 0 and finite.min() > 0 and bool(finite.max() > 100 * finite.min())
