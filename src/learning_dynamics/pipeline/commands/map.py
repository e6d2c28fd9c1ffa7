"""Draw a run's metrics against one of their columns, or as a map over two: swept settings, or any that it records."""

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator
from pandas.api.types import is_numeric_dtype

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.roles import load_table
from learning_dynamics.pipeline.plan.config_files import load, output_folders
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.plotting import WIDTH, legible_ticks, style
from learning_dynamics.tidy import select

REDUCTIONS = ("last", "first", "largest", "smallest")
MOMENTS = ("time", "epoch", "step")  # columns that say when
DRAWS = ("seed", "draw")  # columns that say of which draw
NO_AXIS = {"quantity", "value", "predicted", "lower", "upper", *MOMENTS, *DRAWS}
MAX_CONTOURS = 4
MAX_TICKS = 8
MAX_VALUES_SHOWN = 8  # named in an error


def execute(
    paper: str,
    name: str,
    /,
    x: str,
    quantity: str | None = None,
    y: str | None = None,
    files: Sequence[Path] = (),
    where: Sequence[str] = (),
    at: str = "last",
    index: int | None = None,
    above: float | None = None,
    out: Path | None = None,
) -> None:
    """Draw the run `name`, swept or not, and say where; without a quantity, say which there are.

    Each draw gives one number for each value of `x` (and `y`): the quantity `at` its last, first, largest or smallest
    recorded moment or value. Of the draws the median is shown, or the share that lies above a number. Lines in a map
    are contours of what the theory predicts, where the metrics hold a prediction.

    Parameters
    ----------
    x, y : str
        A swept setting or column of the metrics, along the horizontal and the vertical axis.
    quantity : str
        Of the metrics.
    index : int
        Which entry of the quantity, from 1.
    at : str
        last (the default), first: in time; largest, smallest: in value.
    above : float
        Draw the share of draws above this number, in place of their median.
    where : sequence of str
        COLUMN=VALUE, which rows of the metrics.
    out : path
        The .pdf to write; a .png is written beside it.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    if out is not None and out.suffix != ".pdf":
        raise ProjectError(f"--out: must end in .pdf (is {out})")
    configuration = load(files, {"papers": [paper]})
    plan = Plan(configuration)
    check_known(name, plan.config.paper_block(paper)["runs"], "run", f"{paper} (is its --configfile given?)")
    results, figures = output_folders(configuration)
    described = plan.describe_run(paper, name)
    swept = list(described["sweep"] or ())
    table = load_table(results / paper / "metrics", described, members_as="draw")
    axes = [x, *([y] if y else [])]
    for axis in axes:
        check_known(axis, [column for column in table if column not in NO_AXIS or column in swept], "axis", name)
    if x == y:
        raise ProjectError(f"--y {y}: is what --x is; name another, or leave it out to draw lines")
    quantities = sorted(table["quantity"].unique())
    if quantity is None or quantity not in quantities:
        raise ProjectError(f"--quantity: name one of {', '.join(quantities)}")
    chosen = parse_conditions(where, table) | ({} if index is None else {"index": index})
    pdf = out or figures / paper / f"{name}--{quantity}.pdf"
    rows = select_rows(select(table, quantity), chosen)
    unfixed = [setting for setting in swept if setting not in (*axes, *chosen, *DRAWS)]
    if unfixed:
        raise ProjectError(f"{name} sweeps {', '.join(unfixed)} too; take one value with --where {unfixed[0]}=...")
    points = reduce_draws(rows, axes, at, above)
    label = quantity if above is None else f"share of draws with {quantity} above {above:g}"
    with matplotlib_defaults(), style():
        limits = None if above is None else (0.0, 1.0)
        figure = draw_heat_map(points, x, y, label, limits) if y else draw_lines(points, x, label)
        legible_ticks(figure)
        conditions = [f"{key} {_written(value)}" for key, value in chosen.items()]
        figure.suptitle(", ".join([quantity, *conditions]), fontsize=8)
        for file in (pdf, pdf.with_suffix(".png")):
            with atomic_write(file) as partial:
                figure.savefig(partial, format=file.suffix[1:], metadata={"Title": f"{paper} {name} {quantity}"})
    lost = int((~np.isfinite(rows["value"])).sum())
    remark = f"; {lost} are not finite" if lost else ""
    print(f"{pdf}, {pdf.with_suffix('.png')}: {label}, {len(points)} values{remark}")


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


def select_rows(rows: pd.DataFrame, chosen: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that meet all conditions.

    Raises
    ------
    ProjectError
        It names the first condition that no row meets, and some of the values that there are.
    """
    for column, value in chosen.items():
        known = list(map(str, rows[column].unique()))
        rows = rows[(rows[column].astype(str) if isinstance(value, str) else rows[column]) == value]
        if rows.empty:
            more = ["..."] if len(known) > MAX_VALUES_SHOWN else []
            raise ProjectError(f"--where {column}={value}: there are {', '.join(known[:MAX_VALUES_SHOWN] + more)}")
    return rows


def reduce_draws(rows: pd.DataFrame, axes: Sequence[str], at: str, above: float | None = None) -> pd.DataFrame:
    """Return one row for each point of the axes: of the draws the median, or the share above a number, at one moment.

    Raises
    ------
    ProjectError
        If several rows of a draw share a moment: one of what they differ by must be chosen.
    """
    if at not in REDUCTIONS:
        raise ProjectError(f"--at {at}: must be one of {', '.join(REDUCTIONS)}")
    draw = [*axes, *(column for column in DRAWS if column in rows and column not in axes)]
    moment = next((column for column in MOMENTS if column in rows), None)
    # of what else tells rows apart one must be chosen, or they would be mixed
    differing = [key for key in rows if key not in {*draw, *NO_AXIS} and len(rows[key].unique()) > 1]
    if differing and (rows.groupby([*draw, *([moment] if moment else [])], observed=True).size() > 1).any():
        fix = "--index 1" if "index" in differing else f"--where {differing[0]}=..."
        raise ProjectError(f"a draw has several such numbers, by {', '.join(differing)}; take one of them: {fix}")
    if at in ("last", "first") and moment is not None:
        when = rows.groupby(draw, observed=True)[moment].transform("max" if at == "last" else "min")
        rows = rows[rows[moment] == when]
    elif at in ("largest", "smallest"):
        best = rows.groupby(draw, observed=True)["value"].transform("max" if at == "largest" else "min")
        # a draw without a value stays one
        rows = rows[(rows["value"] == best) | best.isna()].drop_duplicates(draw)
    if above is not None:
        # a value that is not finite is a draw, too: it counts as not above
        is_above = (rows["value"] > above) & np.isfinite(rows["value"])
        return is_above.rename("value").groupby([rows[key] for key in axes], sort=False).mean().reset_index()
    value_columns = ["value", *(["predicted"] if "predicted" in rows else [])]
    return rows.groupby(list(axes), sort=False)[value_columns].median().reset_index()


def draw_heat_map(
    points: pd.DataFrame, x: str, y: str, label: str, limits: tuple[float, float] | None = None
) -> Figure:
    """Draw the value over two columns, with contours of the prediction; words stand in their order of appearance.

    Without `limits` colours span the values, on a logarithmic scale where these do over two decades.
    """
    across, up = _in_order(points[x]), _in_order(points[y])
    if min(len(across), len(up)) < 2:
        raise ProjectError(f"a map needs two or more values of both {x} and {y}; leave --y out to draw lines")

    def grid(column: str) -> np.ndarray:
        table = points.pivot_table(index=y, columns=x, values=column, dropna=False)
        return table.reindex(index=up, columns=across).to_numpy()

    norm = Normalize(*limits) if limits else LogNorm() if _spans_decades(points["value"]) else None
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 0.48 * WIDTH))
    mesh = axis.pcolormesh(_cell_edges(across), _cell_edges(up), grid("value"), norm=norm, cmap="viridis")
    bar = figure.colorbar(mesh, label=label)
    # between words, and between draws, there is nothing that a contour could run through
    continuous = is_numeric_dtype(across) and is_numeric_dtype(up) and not {x, y} & set(DRAWS)
    if continuous and "predicted" in points and points["predicted"].notna().any():
        predicted = grid("predicted")
        low, high = np.nanmin(predicted), np.nanmax(predicted)
        ticks = [tick for tick in bar.get_ticks() if low < tick < high]
        levels = np.array(ticks or np.linspace(low, high, MAX_CONTOURS + 2)[1:-1])
        levels = levels[:: -(-len(levels) // MAX_CONTOURS)]
        # between cells, contours run on the scale of the colours
        scale, back = (np.log, np.exp) if isinstance(norm, LogNorm) and low > 0 else (np.positive, np.positive)
        if high > low:
            lines = axis.contour(across, up, scale(predicted), levels=scale(levels), colors="white", linewidths=0.9)
            lines.set_path_effects([withStroke(linewidth=2.2, foreground="black")])
            for text in axis.clabel(lines, fmt=lambda level: f"{back(level):g}", fontsize=6):
                text.set_path_effects([withStroke(linewidth=1.5, foreground="black")])
    for which, name, values in (("x", x, across), ("y", y, up)):
        axis.set(**{f"{which}label": name, f"{which}scale": _scale(values)})
        if not is_numeric_dtype(values) or len(values) <= MAX_TICKS:
            labels = [_written(value) for value in values]
            axis.set(**{f"{which}ticks": _positions(values), f"{which}ticklabels": labels})
            getattr(axis, f"{which}axis").set_minor_locator(NullLocator())
    return figure


def draw_lines(points: pd.DataFrame, x: str, label: str) -> Figure:
    """Draw the value against one column, and the prediction as a line."""
    numeric = is_numeric_dtype(points[x])
    points = points.sort_values(x) if numeric else points.astype({x: str})
    figure, axis = plt.subplots(figsize=(WIDTH / 2, 2.6))
    axis.plot(points[x].to_numpy(), points["value"], "o", markersize=3, label="measured")
    if "predicted" in points and points["predicted"].notna().any():
        axis.plot(points[x].to_numpy(), points["predicted"], color="0.3", label="predicted")
        axis.legend()
    axis.set(xlabel=x, ylabel=label)
    if numeric:
        axis.set_xscale(_scale(points[x].to_numpy()))
    if _spans_decades(points["value"]):
        axis.set_yscale("log")
    return figure


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, Real) else str(value)


def _in_order(column: pd.Series) -> np.ndarray:
    values = column.unique()
    return np.sort(values) if is_numeric_dtype(column) else values


def _positions(values: np.ndarray) -> np.ndarray:
    """Return where values stand on an axis: numbers at themselves, words one after the other."""
    return values.astype(float) if is_numeric_dtype(values) else np.arange(float(len(values)))


def _spans_decades(values: pd.Series) -> bool:
    finite = values[np.isfinite(values)]
    return len(finite) > 0 and finite.min() > 0 and bool(finite.max() > 100 * finite.min())


def _scale(values: np.ndarray) -> str:
    """Return log where numbers are spaced more evenly in their logarithms."""
    ordered = np.unique(_positions(values))
    if ordered[0] <= 0 or len(ordered) < 3:
        return "log" if ordered[0] > 0 and ordered[-1] > 20 * ordered[0] else "linear"
    even, even_in_logs = (gaps.max() / gaps.min() for gaps in (np.diff(ordered), np.diff(np.log(ordered))))
    return "log" if even_in_logs < even else "linear"


def _cell_edges(values: np.ndarray) -> np.ndarray:
    """Return the ends of cells around values, halfway on the scale that they are drawn on."""
    to, back = (np.log, np.exp) if _scale(values) == "log" else (np.positive, np.positive)
    centres = to(_positions(values))
    middle = (centres[1:] + centres[:-1]) / 2
    return back(np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]]))
