"""Run every row, print the table, write it to results/bench.csv, and into docs/performance.md with --write."""

from __future__ import annotations

import argparse
import os
import platform
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- measured -->\n).*?(<!-- end of what was measured -->)", re.DOTALL)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each side is timed, alternating")
    parser.add_argument("--only", default="", help="rows whose work holds this text")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    # one thread for every side: what is compared is the work, not the machine's cores
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"

    import pandas as pd
    import torch
    from tabulate import tabulate

    from bench import collapse, descent, flow, noise
    from bench.harness import timed

    torch.set_num_threads(1)
    found = []
    for family in (descent, flow, noise, collapse):
        for row in family.rows():
            if options.only in row.work:
                found.append(timed(row, options.repeats))
                print(f"{row.work}, against {row.peer}: {found[-1]['ratio']:.3g}x", flush=True)
    table = pd.DataFrame(found)
    out = ROOT / "results/bench.csv"
    out.parent.mkdir(exist_ok=True)
    table.to_csv(out, index=False, float_format="%.4g")
    shown = table.drop(columns=["ours_median_s", "peer_median_s"])
    shown["met"] = shown["met"].map({True: "yes", False: "no"})
    text = tabulate(shown, headers="keys", showindex=False, tablefmt="github", floatfmt=".3g")
    print(f"\n{text}\n\n{out}")
    if options.write:
        page = ROOT / "docs/performance.md"
        machine = f"{platform.machine()}, one thread, Python {platform.python_version()}, best of {options.repeats}"
        page.write_text(MARKS.sub(lambda found: f"{found[1]}{text}\n\n({machine}.)\n{found[2]}", page.read_text()))


if __name__ == "__main__":
    main()
