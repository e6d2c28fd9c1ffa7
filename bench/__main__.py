"""Run every row, print the tables, write them under results, and into docs/performance.md with --write."""

import argparse
import io
import os
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import Any

SECTIONS = ("clock", "comparisons", "growth", "memory", "limits", "pipeline", "stages")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each side is timed, alternating")
    parser.add_argument("--only", default="", help="rows whose name holds this text; nothing is written")
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
        with redirect_stderr(io.StringIO()):  # how far loops are
            tables[name] = pd.DataFrame(measured(name, options.only, options.repeats))
        if tables[name].empty:
            continue
        print(f"\n{page.HEADINGS[name]}\n\n{page.table(page.brief(name, tables[name]))}", flush=True)
        if not some:
            file = page.ROOT / "results" / ("bench.csv" if name == "comparisons" else f"bench_{name}.csv")
            file.parent.mkdir(exist_ok=True)
            tables[name].to_csv(file, index=False, float_format="%.6g")
    if not some:
        print(f"\n{page.ROOT / 'results/bench.csv'}, and bench_<section>.csv beside it")
    if options.write:
        page.write(tables, options.repeats)


def measured(section: str, only: str, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a section whose names hold a text."""
    import torch

    from bench import (
        collapse,
        descent,
        flow,
        growth,
        harness,
        limits,
        log_time,
        memory,
        noise,
        pipeline,
        training,
    )
    from learning_dynamics.measures import clock

    torch.set_num_threads(1)
    if section == "clock":
        yield from (row for row in clock.rows(repeats) if only in row["piece"])
    elif section == "comparisons":
        for family in (descent, flow, log_time, noise, training, collapse):
            for row in family.rows():
                if only in row.work:
                    yield harness.timed(row, repeats)
    elif section == "growth":
        for curve in growth.curves():
            if only in curve.work:
                yield from growth.timed(curve, min(repeats, 3))
    elif section == "memory":
        for name, work in memory.WORKS.items():
            if only in work.what:
                yield from memory.rows(name)
    elif section == "limits":
        yield from (row for row in limits.rows(repeats) if only in row["work"])
    elif section == "pipeline":
        yield from pipeline.rows(only)
    elif not only:
        yield from pipeline.stages().to_dict("records")


if __name__ == "__main__":
    main()
