"""A run of some papers leaves what there is of the others as it is, and says which results are older."""

import pandas as pd
import pytest

from tests.pipeline.conftest import Workspace

TOY = ("--config", "papers=[toy]")
OTHER_PAGE = "figures/other.html"


@pytest.fixture(scope="module")
def two_once(built, tmp_path_factory) -> Workspace:
    """Two papers, both with results; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("two") / "project")
    assert workspace.stage("new", "other").returncode == 0
    workspace.snakemake()
    return workspace


@pytest.fixture
def two(two_once, tmp_path) -> Workspace:
    return two_once.copy(tmp_path / "project")


def claims(workspace: Workspace) -> pd.DataFrame:
    return pd.read_parquet(workspace.folder / "results/claims.parquet")


def test_a_run_of_one_paper_keeps_the_rows_and_pages_of_the_others(two):
    before, page = claims(two), two.read(OTHER_PAGE)
    assert sorted(before["paper"].unique()) == ["other", "toy"]
    two.configure("runs", "fast", "rate", value=0.03)
    two.snakemake(*TOY)
    after = claims(two)
    pd.testing.assert_frame_equal(after[after["paper"] == "other"], before[before["paper"] == "other"])
    assert list(after["claim"]) == list(before["claim"])
    front = two.read("figures/index.html")
    assert 'href="other.html' in front
    assert front.count("These are results of an earlier run.") == 1
    assert two.read(OTHER_PAGE) == page
    # nothing is stale, of both papers and of each
    for papers in ([], ["toy"], ["other"]):
        checked = two.stage("check", *(["--papers", *papers] if papers else []))
        assert (checked.returncode, checked.stderr) == (0, ""), papers
    assert "the first page and the table of all claims are of a run of: toy\n" in two.stage("check").stdout
    assert "Nothing to be done" in two.snakemake("--dry-run", *TOY).stdout
    # all papers together are joined again
    assert two.would_run() == {"figures/index.html", "results/verdicts.txt"}
    two.snakemake()
    assert "earlier run" not in two.read("figures/index.html")
    assert two.stage("check").returncode == 0


def test_results_of_other_settings_are_called_so_and_decide_nothing(two):
    two.configure("claims", "decay", "expected", value="contradicted", file="workflow/config/other.yaml")
    two.configure("runs", "descent", "rate", value=0.5, file="workflow/config/other.yaml")
    two.configure("runs", "fast", "rate", value=0.03)
    two.snakemake(*TOY)  # the other paper's verdict, which is not the expected one, is none of this run
    assert "These are results of an earlier run, with other settings or other code." in two.read("figures/index.html")
    checked = two.stage("check")
    assert checked.returncode == 1
    assert "results/other/claims.parquet: was made by other settings or other code" in checked.stderr
    assert "results/claims.parquet" not in checked.stderr
    assert two.stage("check", "--papers", "toy").returncode == 0
    shown = two.stage("verdicts", "results/claims.parquet")
    assert shown.returncode == 0
    assert "outdated: other: verdicts of other settings or other code; run: snakemake other" in shown.stderr


def test_another_papers_results_that_cannot_be_read_are_left_out_with_a_line(two):
    (two.folder / "figures/other/decay.png").unlink()
    two.configure("runs", "fast", "rate", value=0.03)
    two.snakemake(*TOY)
    assert list(claims(two)["paper"].unique()) == ["toy"]
    assert two.read("results/logs/page.log").startswith("other is left out: figures/other/decay.png: no such file")
