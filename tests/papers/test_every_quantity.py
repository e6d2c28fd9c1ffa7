"""Every quantity that a claim reads, as measured at smoke scale: the numbers that are written down, and the draws."""

import functools

import pandas as pd
import pytest

from learning_dynamics.pipeline.store.tables import read_table
from tests.papers.written import VARIES, agree, quantity_rows, read_quantities, runs_of_paper
from tests.support import PAPERS, metrics_file, smoke

RUNS = [(paper, run) for paper in PAPERS for run in runs_of_paper(paper)]
written = functools.cache(read_quantities)
# what tells rows of one draw apart: when, of what, by which measure
OF_A_DRAW = {
    *("time", "log_time", "log_log_time", "step", "step_size", "iteration", "epoch", "phase"),
    *("quantity", "index", "statistic", "measure"),
    *("threshold", "population", "flow", "split", "label", "example"),
}
# and what a draw is measured over in the tables of one kind of run
OVER = {
    "noise.noise_exponents": "inputs",
    "scale.scaled_flow": "gamma",
    "deep_networks.deep_regression": "scale",
    "local_optima.from_scaled_starts": "start",
    "acceleration.lp_descent": "learning_rate",
    "invariants.descent": "learning_rate",
    "training.combinations": "steps",
}


@pytest.mark.parametrize(("paper", "run"), RUNS)
def test_its_quantities_are_those_written_down(paper, run):
    known = written().get((paper, run))
    assert known is not None, "tests/papers/quantities.csv says nothing of it; make verdicts, and read the diff"
    rows = quantity_rows(paper, run, pd.read_parquet(metrics_file(smoke(paper), paper, run)))
    wrong = []
    for row in rows:
        place = (row["quantity"], row["column"])
        if place not in known.index:
            wrong.append(f"{place} is not written down")
            continue
        old = known.loc[place]
        if any(row[count] != old[count] != VARIES for count in ("rows", "finite")):
            wrong.append(f"{place}: {row['finite']} of {row['rows']} rows, written {old['finite']} of {old['rows']}")
        wrong += [
            f"{place}: {number} {row[number]:.8g}, written {old[number]:.8g} ± {old[number + '_tolerance']:.1g}"
            for number in ("size", "mix")
            if not agree(row[number], old[number], old[number + "_tolerance"])
        ]
    measured = {(row["quantity"], row["column"]) for row in rows}
    assert wrong + [f"{place} is not measured any more" for place in known.index if place not in measured] == []


@pytest.mark.parametrize(("paper", "run"), RUNS)
def test_its_draw_columns_tell_its_draws_apart(paper, run):
    whose = smoke(paper)
    table = read_table(metrics_file(whose, paper, run))
    draw, within = set(table.attrs["draw"]), {*OF_A_DRAW, OVER.get(whose.measure(paper, run)["function"])}
    assert {"seed", "draw"} & set(table) <= draw
    assert not draw & within
    again = table[table.duplicated([column for column in table if column in draw | within])]
    assert again.empty, f"rows that are told apart neither by draw columns nor by what is recorded of a draw:\n{again}"


def test_nothing_is_written_down_of_runs_that_no_claim_reads():
    assert set(written()) <= set(RUNS)
