"""All papers at smoke scale, as Snakemake makes them: verdicts as expected, every figure, and nothing left to do."""

import pandas as pd
import pytest

from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.records import is_expected
from tests.support import PAPERS, SMOKE, plan


@pytest.fixture(scope="module")
def configuration():
    """The plan at smoke scale."""
    return plan(SMOKE)


@pytest.fixture(scope="module")
def claims(whole):
    """The table of the claims of all papers, as it was made."""
    return pd.read_parquet(whole.folder / "results/smoke/claims.parquet")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_configured_claim_of_a_paper_has_a_verdict_and_no_other_has(claims, configuration, paper):
    names = {f"{paper}.{name}" for name in configuration.claims(paper)["claims"]}
    assert set(claims["claim"][claims["paper"] == paper]) == names


def test_claims_of_all_papers_are_in_one_table(claims, whole):
    assert sorted(set(claims["paper"])) == sorted(PAPERS)
    n_claims = sum(claims["origin"] != "ours")  # without observations, which no paper states
    assert f"\n{n_claims} claims: " in whole.read("results/smoke/verdicts.txt")


def test_every_verdict_is_as_expected_at_smoke_scale(claims):
    assert [row.claim for row in claims.itertuples() if not is_expected(row.verdict, row.expected)] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_is_drawn(whole, configuration, paper):
    for name in configuration.config.figures(paper):
        file = whole.folder / f"figures/smoke/{paper}/{name}"
        assert file.with_suffix(".pdf").stat().st_size > 5_000, name  # a blank page has 1200 bytes
        assert read_record(file.with_suffix(".png"))["name"] == name


def test_snakemake_has_nothing_left_to_do(whole):
    assert "Nothing to be done" in whole.snakemake("--dry-run").stdout


def test_check_finds_nothing_of_another_configuration(whole):
    checked = whole.cli("check", *whole.overlay)
    assert checked.returncode == 0, checked.stderr
    assert ", 0 stale, damaged or left over" in checked.stdout
