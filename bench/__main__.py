"""Run every row, print the tables, write them under results, and into docs/performance.md with --write."""

import argparse
import io
import os
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import Any

SECTIONS = ("clock", "comparisons", "memory", "pipeline")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each side is timed, alternating")
    parser.add_argument("--only", default="", help="rows whose name contains this text; nothing is written")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=SECTIONS, help="some tables")
    parser.add_argument("--clock", action="store_true", help="how fast this machine is, alone")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args()
    if options.clock:
        options.sections = ["clock"]
    some = bool(options.only) or set(options.sections) != set(SECTIONS)
    if options.write and some:
        parser.error("--write takes all rows")
    # one thread for every side: what is compared is the work, not the machine's cores
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

    import pandas as pd

    from bench import page

    tables = {}
    for name in options.sections:
        with redirect_stderr(io.StringIO()):  # progress bars
            tables[name] = pd.DataFrame(rows(name, options.only, options.repeats))
        if tables[name].empty:
            continue
        print(f"\n{page.HEADINGS[name]}\n\n{page.table(name, tables[name])}", flush=True)
        if not some:
            file = page.ROOT / "results" / ("bench.csv" if name == "comparisons" else f"bench_{name}.csv")
            file.parent.mkdir(exist_ok=True)
            tables[name].to_csv(file, index=False, float_format="%.6g")
    if options.write:
        page.write(tables, options.repeats)


def rows(section: str, only: str, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a section whose names contain a text."""
    import torch

    from bench import clock, collapse, descent, flow, harness, memory, noise, pipeline, training

    torch.set_num_threads(1)
    if section == "clock":
        yield from (row for row in clock.rows(repeats) if only in row["piece"])
    elif section == "comparisons":
        for family in (descent, flow, noise, collapse, training):
            yield from (harness.timed(row, repeats) for row in family.rows() if only in row.work)
    elif section == "memory":
        yield from (row for name in memory.WORKS if only in name for row in memory.rows(name))
    else:
        yield from pipeline.rows(only)


if __name__ == "__main__":
    main()
