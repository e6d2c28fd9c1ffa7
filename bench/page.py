"""What was measured as tables and a chart: on the terminal, under results, and in docs/performance.md."""

import platform
import re
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from tabulate import tabulate

from bench.growth import exponent
from learning_dynamics.plotting import COLOURS, WIDTH, style

ROOT = Path(__file__).resolve().parent.parent
PAGE, CHART = ROOT / "docs/performance.md", ROOT / "docs/performance.png"
MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- end of what was measured -->)", re.DOTALL)
HEADINGS = {
    "clock": "The clock",
    "comparisons": "Against what one would take instead",
    "growth": "Cost against size",
    "memory": "Memory against size",
    "limits": "What the machine allows",
    "pipeline": "The pipeline",
    "stages": "The stages at laptop scale",
}


def table(found: pd.DataFrame) -> str:
    """Return a table in Markdown; what is not known is left empty."""
    shown = found.astype(object).where(found.notna(), None)
    if "met" in shown:
        shown["met"] = shown["met"].map({True: "yes", False: "no", None: ""})
    return tabulate(shown, headers="keys", showindex=False, tablefmt="github", floatfmt=".3g", missingval="")


def brief(name: str, found: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a reader wants of a table of measurements."""
    if name == "comparisons":
        return found.drop(columns=["ours_median_s", "peer_median_s"])
    return {"growth": fitted, "memory": weighed}.get(name, lambda table: table)(found)


def fitted(growth: pd.DataFrame) -> pd.DataFrame:
    """Return, for each curve, the exponent that fits and the one that is expected."""
    return pd.DataFrame(
        [
            {
                "work": work,
                "grows with": size,
                "from": f"{points['value'].min():.3g}",
                "to": f"{points['value'].max():.3g}",
                "exponent": exponent(points["value"].to_numpy(), points["seconds"].to_numpy()),
                "expected": points["expected"].iloc[0],
                "because": points["because"].iloc[0],
            }
            for (work, size), points in growth.groupby(["work", "size"], sort=False)
        ]
    )


def weighed(memory: pd.DataFrame) -> pd.DataFrame:
    """Return, for each side of each work, its megabytes by size, and the power that fits.

    Ours is held against a peer at the largest size that both have.
    """
    found = []
    for work, sides in memory.groupby("work", sort=False):
        ours = sides[sides["by"] == "ours"].set_index("value")["MB"]
        for by, side in sides.groupby("by", sort=False):
            # memory comes in pages, and a power is fitted to logarithms
            sizes = side.set_index("value")["MB"].clip(lower=0.1)
            share = None if by == "ours" else ours[sizes.index[-1]] / sizes.iloc[-1]
            goal = None if by == "ours" or pd.isna(side["goal"].iloc[0]) else side["goal"].iloc[0]
            found.append(
                {
                    "work": work,
                    "by": by,
                    "MB": "; ".join(f"{size:,} {side['size'].iloc[0]}: {MB:.1f}" for size, MB in sizes.items()),
                    "exponent": exponent(sizes.index.to_numpy(), sizes.to_numpy()),
                    "ours over it": share,
                    "goal": goal,
                    "met": None if goal is None else bool(share <= goal),
                }
            )
    return pd.DataFrame(found)


def draw(growth: pd.DataFrame, path: Path) -> None:
    """Draw each curve with the power law that fits it (line) and the expected one through its last point (dashes)."""
    curves = list(growth.groupby(["work", "size"], sort=False))
    with style():
        figure, axes = plt.subplots(2, -(-len(curves) // 2), figsize=(1.4 * WIDTH, 4.6), squeeze=False)
        for axis in axes.flat[len(curves) :]:
            axis.set_visible(False)
        for axis, ((work, size), points) in zip(axes.flat, curves, strict=False):
            sizes, costs = points["value"].to_numpy(dtype=float), points["seconds"].to_numpy()
            power, expected = exponent(sizes, costs), float(points["expected"].iloc[0])
            centre = np.exp(np.mean(np.log(costs) - power * np.log(sizes)))
            axis.loglog(sizes, costs, "o", color=COLOURS["blue"])
            axis.loglog(sizes, centre * sizes**power, color=COLOURS["blue"], lw=1.0)
            axis.loglog(sizes, costs[-1] * (sizes / sizes[-1]) ** expected, "--", color=COLOURS["grey"], lw=1.0)
            axis.set(title=f"{work}\nexponent {power:.2f}, expected {expected:g}", xlabel=size)
            axis.minorticks_off()
            axis.set_xticks(
                sizes,
                [f"{value:g}" if value < 1e5 else f"{value:.0e}".replace("+0", "").replace("+", "") for value in sizes],
            )
            # whole decades, so that there are two labels at least
            axis.set_ylim(10 ** np.floor(np.log10(costs.min() / 1.2)), 10 ** np.ceil(np.log10(1.2 * costs.max())))
        for row in axes:
            row[0].set_ylabel("seconds")
        figure.savefig(path, dpi=100)
        plt.close(figure)


def write(tables: Mapping[str, pd.DataFrame], repeats: int) -> None:
    """Put all tables and the chart into docs/performance.md."""
    draw(tables["growth"], CHART)
    machine = (
        f"{platform.machine()}, one thread for each side, Python {platform.python_version()}; the least of {repeats} "
        "times, medians in `results/bench.csv`."
    )
    parts = [machine]
    for name, heading in HEADINGS.items():
        parts.append(f"## {heading}")
        if name == "growth":
            alt = "Eight panels of seconds against size in double logarithmic axes; points lie near straight lines."
            parts.append(
                f"![{alt}]({CHART.name})\n\nPoints and lines: measured, and the power that fits. Dashes: expected."
            )
        parts.append(table(brief(name, tables[name])))
    text = "\n\n".join(parts)
    PAGE.write_text(
        MARKS.sub(lambda found: f"{found[1]}{text}\n{found[2]}", PAGE.read_text(encoding="utf-8")), encoding="utf-8"
    )
