"""Draw a run's metrics against one of their columns, or as a map over two: swept settings, or any that it records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.roles import load_table
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.study.config import load, output_folders
from learning_dynamics.pipeline.study.project import Project
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
    project = Project(configuration)
    check_known(name, project.study.paper_block(paper)["runs"], "run", f"{paper} (is its --configfile given?)")
    results, figures = output_folders(configuration)
    described = project.describe_run(paper, name)
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
        conditions = (
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in chosen.items()
        )
        figure.suptitle(", ".join([quantity, *conditions]), fontsize=8)
        for file in (pdf, pdf.with_suffix(".png")):
            with atomic_write(file) as partial:
                figure.savefig(partial, format=file.suffix[1:], metadata={"Title": f"{paper} {name} {quantity}"})
    n_not_finite = int((~np.isfinite(rows["value"])).sum())
    print(
        f"{pdf}, {pdf.with_suffix('.png')}: {label}, {len(points)} values"
        + (f"; {n_not_finite} are not finite" if n_not_finite else "")
    )


def parse_conditions(where: Sequence[str], table: pd.DataFrame) -> dict[str, Any]:
    """Return ``COLUMN=VALUE`` texts as columns and values: numbers of columns of numbers, else text."""
    values: dict[str, Any] = {}
    for text in where:
        column, _, value = text.partition("=")
        check_known(column, table.columns, "column", f"--where {text}")
        try:
            values[column] = float(value) if _is_numeric(table[column]) else value
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
        existing = rows[column].unique()
        rows = rows[(rows[column].astype(str) if isinstance(value, str) else rows[column]) == value]
        if rows.empty:
            shown = ", ".join(
                [*map(str, existing[:MAX_VALUES_SHOWN]), *(["..."] if len(existing) > MAX_VALUES_SHOWN else [])]
            )
            raise ProjectError(f"--where {column}={value}: there are {shown}")
    return rows


def reduce_draws(rows: pd.DataFrame, axes: Sequence[str], at: str, above: float | None = None) -> pd.DataFrame:
    """Return one row for each point of the axes: of the draws the median, or the share above a number, at one moment.

    Parameters
    ----------
    rows : DataFrame
        Of one quantity.
    axes : sequence of str
        The columns that it is drawn over.
    at : {'last', 'first', 'largest', 'smallest'}
    above : float, optional
        Return the share of draws whose value lies above it, and no prediction.

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
        mend = "--index 1" if "index" in differing else f"--where {differing[0]}=..."
        raise ProjectError(f"a draw has several such numbers, by {', '.join(differing)}; take one of them: {mend}")
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
    across, up = (np.sort(points[key].unique()) if _is_numeric(points[key]) else points[key].unique() for key in (x, y))
    if min(len(across), len(up)) < 2:
        raise ProjectError(f"a map needs two or more values of both {x} and {y}; leave --y out to draw lines")

    def grid(column: str) -> np.ndarray:
        table = points.pivot_table(index=y, columns=x, values=column, dropna=False)
        return table.reindex(index=up, columns=across).to_numpy()

    values = grid("value")
    finite = values[np.isfinite(values)]
    spans_decades = bool(finite.size) and finite.min() > 0 and finite.max() > 100 * finite.min()
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 0.48 * WIDTH))
    centres = [cells if _is_numeric(cells) else np.arange(len(cells)) for cells in (across, up)]
    norm = Normalize(*limits) if limits else LogNorm() if spans_decades else None
    mesh = axis.pcolormesh(*map(_cell_edges, centres), values, norm=norm, cmap="viridis")
    bar = figure.colorbar(mesh, label=label)
    # between words, and between draws, there is nothing that a contour could run through
    continuous = _is_numeric(across) and _is_numeric(up) and not {x, y} & set(DRAWS)
    if continuous and "predicted" in points and points["predicted"].notna().any():
        predicted = grid("predicted")
        low, high = np.nanmin(predicted), np.nanmax(predicted)
        ticks = [tick for tick in bar.get_ticks() if low < tick < high] or np.linspace(low, high, MAX_CONTOURS + 2)[
            1:-1
        ]
        levels = np.array(ticks[:: -(-len(ticks) // MAX_CONTOURS)])
        # between cells, contours run on the scale of the colours
        logarithmic = isinstance(norm, LogNorm) and low > 0
        scale, back = (np.log, np.exp) if logarithmic else (np.positive, np.positive)
        if high > low:
            lines = axis.contour(across, up, scale(predicted), levels=scale(levels), colors="white", linewidths=0.9)
            lines.set_path_effects([withStroke(linewidth=2.2, foreground="black")])
            for text in axis.clabel(lines, fmt=lambda level: f"{back(level):g}", fontsize=6):
                text.set_path_effects([withStroke(linewidth=1.5, foreground="black")])
    axis.set(xlabel=x, ylabel=y)
    _set_scale(axis, "x", across)
    _set_scale(axis, "y", up)
    return figure


def _is_numeric(values: Any) -> bool:
    dtype = np.asarray(values).dtype
    return bool(np.issubdtype(dtype, np.number))


def _set_scale(axis: Axes, which: str, values: np.ndarray) -> None:
    """Let an axis be logarithmic where its values are; words and few numbers become its ticks."""
    if _is_numeric(values):
        axis.set(**{f"{which}scale": _scale(values)})
        if len(values) <= MAX_TICKS:
            axis.set(**{f"{which}ticks": values, f"{which}ticklabels": [f"{value:g}" for value in values]})
            getattr(axis, f"{which}axis").set_minor_locator(NullLocator())
    else:
        axis.set(**{f"{which}ticks": np.arange(len(values)), f"{which}ticklabels": [str(value) for value in values]})


def draw_lines(points: pd.DataFrame, x: str, label: str) -> Figure:
    """Draw the value against one column, and the prediction as a line."""
    points = points.sort_values(x) if _is_numeric(points[x]) else points
    figure, axis = plt.subplots(figsize=(WIDTH / 2, 2.6))
    numeric = _is_numeric(points[x])
    across = points[x].to_numpy() if numeric else points[x].astype(str).to_numpy()
    axis.plot(across, points["value"], "o", markersize=3, label="measured")
    if "predicted" in points and points["predicted"].notna().any():
        axis.plot(across, points["predicted"], color="0.3", label="predicted")
        axis.legend()
    axis.set(xlabel=x, ylabel=label)
    if numeric:
        axis.set_xscale(_scale(across))
    values = points["value"]
    if (values > 0).all() and values.max() > 100 * values.min():
        axis.set_yscale("log")
    return figure


def _scale(values: np.ndarray) -> str:
    """Return log where values are spaced more evenly in their logarithms."""
    ordered = np.unique(values)
    if ordered[0] <= 0 or len(ordered) < 3:
        return "log" if ordered[0] > 0 and ordered[-1] > 20 * ordered[0] else "linear"

    def uneven(gaps: np.ndarray) -> float:
        return float(gaps.max() / gaps.min())

    return "log" if uneven(np.diff(np.log(ordered))) < uneven(np.diff(ordered)) else "linear"


def _cell_edges(centres: np.ndarray) -> np.ndarray:
    """Return the ends of cells around values, halfway on the scale that they are drawn on."""
    logarithmic = _scale(centres) == "log"
    positions = np.log(centres) if logarithmic else centres.astype(float)
    middle = (positions[1:] + positions[:-1]) / 2
    ends = np.concatenate([[2 * positions[0] - middle[0]], middle, [2 * positions[-1] - middle[-1]]])
    return np.exp(ends) if logarithmic else ends
