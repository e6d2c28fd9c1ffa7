"""Measurements as tables: on the terminal, under results, and in docs/performance.md."""

import platform
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from tabulate import tabulate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- end of what was measured -->)", re.DOTALL)
HEADINGS = {
    "clock": "The clock",
    "comparisons": "Against alternatives",
    "memory": "Memory against size",
    "pipeline": "The pipeline",
}
COLUMNS = {  # of results/bench.csv, as the page names them
    "peer": "alternative",
    "ours_s": "ours (s)",
    "peer_s": "alternative (s)",
    "ratio": "alternative / ours",
    "at speed one": "seconds at speed one",
}


def table(section: str, rows: pd.DataFrame) -> str:
    """Return the table of a section in Markdown; unknown numbers are left empty."""
    if section == "comparisons":
        rows = rows.drop(columns=["ours_median_s", "peer_median_s"])
    shown = memory_by_side(rows) if section == "memory" else rows
    shown = shown.astype(object).where(shown.notna(), None)
    if "met" in shown:
        shown["met"] = shown["met"].map({True: "yes", False: "no", None: ""})
    shown = shown.rename(columns=COLUMNS)
    return tabulate(shown, headers="keys", showindex=False, tablefmt="github", floatfmt=".3g", missingval="")


def memory_by_side(memory: pd.DataFrame) -> pd.DataFrame:
    """Return, for each side of each work, its megabytes by size, and the power of the size that fits.

    Ours is compared with a peer at the largest size that both have.
    """
    rows = []
    for work, sides in memory.groupby("work", sort=False):
        ours = sides[sides["by"] == "ours"].set_index("value")["MB"]
        for by, side in sides.groupby("by", sort=False):
            # memory comes in pages, and a power is fitted to logarithms
            sizes = side.set_index("value")["MB"].clip(lower=0.1)
            share, goal = None, None
            if by != "ours":
                share = ours[sizes.index[-1]] / sizes.iloc[-1]
                if pd.notna(side["goal"].iloc[0]):
                    goal = side["goal"].iloc[0]
            rows.append(
                {
                    "work": work,
                    "by": by,
                    "MB": "; ".join(f"{size:,} {side['size'].iloc[0]}: {MB:.1f}" for size, MB in sizes.items()),
                    "exponent": float(np.polyfit(np.log(sizes.index.to_numpy(float)), np.log(sizes), 1)[0]),
                    "ours over it": share,
                    "goal": goal,
                    "met": None if goal is None else bool(share <= goal),
                }
            )
    return pd.DataFrame(rows)


def write(tables: Mapping[str, pd.DataFrame], repeats: int) -> None:
    """Put all tables into docs/performance.md."""
    parts = [
        f"{platform.machine()}, one thread for each side, Python {platform.python_version()}; the least of {repeats} "
        "times, medians in `results/bench.csv`."
    ]
    for name, heading in HEADINGS.items():
        parts += [f"## {heading}", table(name, tables[name])]
    text = "\n\n".join(parts)
    page = MARKS.sub(lambda marks: f"{marks[1]}{text}\n{marks[2]}", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")
