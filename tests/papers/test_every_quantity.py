"""Every run that a claim reads, as measured at smoke scale: its quantities are those written down, its draws distinct.

`quantities.csv` has what `make verdicts` wrote down: of each quantity a count of rows and two sums over them.
"""

import functools

import pandas as pd
import pytest

from learning_dynamics.pipeline.store.tables import read_table
from tests.papers.written import VARIES, agree, quantity_rows, read_quantities, runs_of_paper
from tests.support import PAPERS, metrics_file, smoke

RUNS = [(paper, run) for paper in PAPERS for run in runs_of_paper(paper)]
written_quantities = functools.cache(read_quantities)
# columns that distinguish rows of one draw: when, of what, by which measure
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
    known = written_quantities().get((paper, run))
    assert known is not None, "tests/papers/quantities.csv says nothing of it; make verdicts, and read the diff"
    rows = quantity_rows(paper, run, pd.read_parquet(metrics_file(smoke(paper), paper, run)))
    wrong = []
    for row in rows:
        place = (row["quantity"], row["column"])
        if place not in known.index:
            wrong.append(f"{place} is not written down")
            continue
        old = known.loc[place]
        for count in ("rows", "finite"):
            if old[count] != VARIES and row[count] != old[count]:
                wrong.append(f"{place}: {count} {row[count]}, written {old[count]}")
        for number in ("size", "mix"):
            allowed = old[f"{number}_tolerance"]
            if not agree(row[number], old[number], allowed):
                wrong.append(f"{place}: {number} {row[number]:.8g}, written {old[number]:.8g} ± {allowed:.1g}")
    measured = {(row["quantity"], row["column"]) for row in rows}
    wrong += [f"{place} is not measured any more" for place in known.index if place not in measured]
    assert wrong == []


@pytest.mark.parametrize(("paper", "run"), RUNS)
def test_its_draw_columns_and_the_columns_within_a_draw_identify_each_row(paper, run):
    whose = smoke(paper)
    table = read_table(metrics_file(whose, paper, run))
    of_draws = set(table.attrs["draw"])
    within_a_draw = {*OF_A_DRAW, OVER.get(whose.measure(paper, run)["function"])}
    assert {"seed", "draw"} & set(table) <= of_draws
    assert not of_draws & within_a_draw
    twice = table[table.duplicated([column for column in table if column in of_draws | within_a_draw])]
    assert twice.empty, f"neither draw columns nor columns within a draw distinguish these rows from others:\n{twice}"


def test_nothing_is_written_down_of_runs_that_no_claim_reads():
    assert set(written_quantities()) <= set(RUNS)
