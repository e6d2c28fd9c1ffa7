"""All five papers at smoke scale, as `make figures` makes them."""

import pandas as pd
import pytest

from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.records import is_expected
from tests.support import PAPERS, SMOKE, plan

SCALE = "smoke"


@pytest.fixture(scope="module")
def configuration():
    return plan(SMOKE)


def test_every_paper_has_its_verdicts_as_expected(whole, configuration):
    joined = pd.read_parquet(whole.folder / f"results/{SCALE}/claims.parquet")
    assert sorted(set(joined["paper"])) == sorted(PAPERS)
    for paper in PAPERS:
        names = {f"{paper}.{name}" for name in configuration.claims(paper)["claims"]}
        assert set(joined["claim"][joined["paper"] == paper]) == names, paper
    assert all(is_expected(row.verdict, row.expected) for row in joined.itertuples())
    assert "claims:" in whole.read(f"results/{SCALE}/verdicts.txt")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_is_drawn(whole, configuration, paper):
    for name in configuration.config.figures(paper):
        drawn = whole.folder / f"figures/{SCALE}/{paper}/{name}"
        assert drawn.with_suffix(".pdf").stat().st_size > 5_000, name
        assert read_record(drawn.with_suffix(".png"))["name"] == name, name


def test_nothing_is_left_to_do_and_everything_is_of_this_configuration(whole):
    assert "Nothing to be done" in whole.snakemake("--dry-run").stdout
    checked = whole.cli("check", "--configfile", "workflow/config/smoke.yaml")
    assert checked.returncode == 0, checked.stderr
    assert ", 0 stale, damaged or left over" in checked.stdout
