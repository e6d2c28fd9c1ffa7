"""Draw a sweep: a quantity of its runs against one swept setting, or as a map over two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.config import load
from learning_dynamics.pipeline.project import Project
from learning_dynamics.pipeline.stages.tables import load_table
from learning_dynamics.plotting import WIDTH, style
from learning_dynamics.tidy import select

REDUCTIONS = ("last", "first", "largest", "smallest")
MOST_CONTOURS = 4
GRAMMAR = "write COLUMN=VALUE, for example phase=limit"


def execute(
    paper: str,
    name: str,
    x: str,
    quantity: str | None = None,
    y: str | None = None,
    files: Sequence[Path] = (),
    where: Sequence[str] = (),
    at: str = "last",
    index: int | None = None,
    out: Path | None = None,
) -> None:
    """Draw the sweep `name` and say where; without a quantity, say which there are.

    Each run gives one number: the quantity `at` its last, first, largest or smallest recorded time or value, for each
    draw, and of the draws the median. Lines in a map are contours of what the theory predicts, where the metrics hold
    a prediction.
    """
    configuration = load(files, {"papers": [paper]})
    project = Project(configuration)
    sweeps = project.sweeps(paper)
    if name not in sweeps:
        raise ProjectError(f"{paper} has no swept run `{name}`{near(name, sweeps)}; give its file with --configfile")
    scale = configuration.scale or ""
    described = project.described(paper, name)
    swept = list(described["sweep"])
    table = load_table(Path("results", scale, paper, "metrics"), described)
    for given in (x, *([y] if y else [])):
        if given not in swept:
            raise ProjectError(f"{name} does not sweep `{given}`{near(given, swept)}")
    if quantity is None:
        raise ProjectError(f"--quantity: name one of {', '.join(sorted(table['quantity'].unique()))}")
    chosen = conditions(where, table) | ({} if index is None else {"index": index})
    found = reduced(select(table, quantity, **chosen), swept, at)
    others = [setting for setting in swept if setting not in (x, y, *chosen)]
    if others:
        raise ProjectError(f"{name} sweeps {', '.join(others)} too; take one value with --where {others[0]}=...")
    pdf = out or Path("figures", scale, paper, f"{name}--{quantity}.pdf")
    with style():
        figure = heat_map(found, x, y, quantity) if y else lines(found, x, quantity)
        figure.suptitle(
            f"{quantity}"
            + "".join(
                f", {key} {value:g}" if isinstance(value, float) else f", {key} {value}"
                for key, value in chosen.items()
            ),
            fontsize=8,
        )
        for file in (pdf, pdf.with_suffix(".png")):
            with replacing(file) as partial:
                figure.savefig(partial, format=file.suffix[1:], metadata={"Title": f"{paper} {name} {quantity}"})
    print(f"{pdf}, {pdf.with_suffix('.png')}: {quantity} of {len(found)} runs")


def conditions(where: Sequence[str], table: pd.DataFrame) -> dict[str, Any]:
    """Return ``COLUMN=VALUE`` texts as columns and values of the column's type."""
    found = {}
    for text in where:
        column, equals, value = text.partition("=")
        if not equals:
            raise ProjectError(f"--where {text}: {GRAMMAR}")
        if column not in table:
            raise ProjectError(f"--where {text}: the metrics have no column `{column}`{near(column, table.columns)}")
        numeric = pd.api.types.is_numeric_dtype(table[column])
        try:
            found[column] = float(value) if numeric else value
        except ValueError:
            raise ProjectError(f"--where {text}: `{column}` is a number") from None
    return found


def reduced(rows: pd.DataFrame, swept: Sequence[str], at: str) -> pd.DataFrame:
    """Return one row for each run: median over draws of the value, and of the prediction, at one moment of each draw.

    Raises
    ------
    ProjectError
        If several rows of a draw share the moment: the quantity has entries, of which one must be chosen.
    """
    if at not in REDUCTIONS:
        raise ProjectError(f"--at {at}: must be one of {', '.join(REDUCTIONS)}")
    draw = [*swept, *(column for column in ("seed",) if column in rows)]
    if at in ("last", "first"):
        if "time" in rows:
            time = rows.groupby(draw)["time"].transform("max" if at == "last" else "min")
            rows = rows[rows["time"] == time]
        several = rows.groupby(draw).size()
        if (several > 1).any():
            known = {*draw, "value", "predicted", "time"}
            columns = [key for key in rows if key not in known and len(rows[key].unique()) > 1]
            mend = "--index 1" if "index" in columns else f"--where {columns[0]}=..." if columns else "--at largest"
            raise ProjectError(f"a draw has {several.max()} such numbers; take one of them, for example with {mend}")
    else:
        best = rows.groupby(draw)["value"].transform("max" if at == "largest" else "min")
        rows = rows[rows["value"] == best].drop_duplicates(draw)
    kept = ["value", *(["predicted"] if "predicted" in rows else [])]
    return rows.groupby(list(swept))[kept].median().reset_index()


def heat_map(found: pd.DataFrame, x: str, y: str, quantity: str) -> Figure:
    """Draw the value over two settings, with contours of the prediction."""
    grid = found.pivot_table(index=y, columns=x, values="value", dropna=False)
    across, up = grid.columns.to_numpy(), grid.index.to_numpy()
    if min(grid.shape) < 2 or not all(np.issubdtype(axis.dtype, np.number) for axis in (across, up)):
        raise ProjectError(f"a map needs two or more numbers of both {x} and {y}; leave --y out to draw lines")
    values = grid.to_numpy()
    positive = values[np.isfinite(values) & (values > 0)]
    wide = positive.size == np.isfinite(values).sum() and positive.size and positive.max() > 100 * positive.min()
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 0.48 * WIDTH))
    mesh = axis.pcolormesh(_edges(across), _edges(up), values, norm=LogNorm() if wide else None, cmap="viridis")
    bar = figure.colorbar(mesh, label=quantity)
    if "predicted" in found and found["predicted"].notna().any():
        predicted = found.pivot_table(index=y, columns=x, values="predicted", dropna=False).to_numpy()
        low, high = np.nanmin(predicted), np.nanmax(predicted)
        if high > low:
            ticks = [tick for tick in bar.get_ticks() if low < tick < high]
            levels = ticks[:: -(-len(ticks) // MOST_CONTOURS)] if ticks else MOST_CONTOURS
            drawn = axis.contour(across, up, predicted, levels=levels, colors="white", linewidths=0.9)
            drawn.set_path_effects([withStroke(linewidth=2.2, foreground="black")])
            for label in axis.clabel(drawn, fontsize=6):
                label.set_path_effects([withStroke(linewidth=1.5, foreground="black")])
    axis.set(xlabel=x, ylabel=y, xscale=_scale(across), yscale=_scale(up))
    return figure


def lines(found: pd.DataFrame, x: str, quantity: str) -> Figure:
    """Draw the value against one setting, and the prediction as a line."""
    figure, axis = plt.subplots(figsize=(WIDTH / 2, 2.6))
    numeric = pd.api.types.is_numeric_dtype(found[x])
    across = found[x].to_numpy() if numeric else found[x].astype(str).to_numpy()
    axis.plot(across, found["value"], "o", markersize=3, label="measured")
    if "predicted" in found and found["predicted"].notna().any():
        axis.plot(across, found["predicted"], color="0.3", label="predicted")
        axis.legend()
    axis.set(xlabel=x, ylabel=quantity)
    if numeric:
        axis.set_xscale(_scale(across))
    values = found["value"]
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


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the ends of cells around values, halfway on the scale that they are drawn on."""
    logarithmic = _scale(centres) == "log"
    places = np.log(centres) if logarithmic else centres.astype(float)
    middle = (places[1:] + places[:-1]) / 2
    ends = np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])
    return np.exp(ends) if logarithmic else ends
