"""A run of some of the papers keeps the results of the others, and the first page says which of them are older."""

from subprocess import CompletedProcess

import pandas as pd
import pytest

from tests.pipeline.conftest import Workspace

ONLY_TOY = ("--config", "papers=[toy]")


@pytest.fixture(scope="module")
def two_papers(built, tmp_path_factory) -> Workspace:
    """The project with two papers, `toy` and `other`, both with results; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("two") / "project")
    added = workspace.cli("new", "other")
    assert added.returncode == 0, added.stderr
    workspace.snakemake()
    return workspace


def sections_of_first_page(workspace: Workspace) -> dict[str, str]:
    """Return the HTML of the first page on each paper, from the link to the paper's page on, by the paper's name."""
    # the list of all figures follows the last paper
    of_papers, _, _ = workspace.read("figures/index.html").partition('<section id="figures"')
    _, *sections = of_papers.split('<h2><a href="')
    return {section.partition(".html")[0]: section for section in sections}


def claims(workspace: Workspace) -> pd.DataFrame:
    """Return the table of the claims of all papers."""
    return pd.read_parquet(workspace.folder / "results/claims.parquet")


@pytest.fixture(scope="module")
def toy_again(two_papers, tmp_path_factory) -> Workspace:
    """Both papers, one of them run again with another setting; not to be changed."""
    workspace = two_papers.copy(tmp_path_factory.mktemp("again") / "project")
    workspace.configure("runs", "fast", "rate", value=0.03)
    workspace.snakemake(*ONLY_TOY)
    return workspace


def test_a_run_of_one_paper_keeps_the_claims_of_the_other(two_papers, toy_again):
    before, after = claims(two_papers), claims(toy_again)
    assert sorted(before["paper"].unique()) == ["other", "toy"]
    assert list(after["claim"]) == list(before["claim"])
    pd.testing.assert_frame_equal(after[after["paper"] == "other"], before[before["paper"] == "other"])


def test_a_run_of_one_paper_keeps_the_page_of_the_other(two_papers, toy_again):
    assert toy_again.read("figures/other.html") == two_papers.read("figures/other.html")


def test_the_first_page_says_which_results_are_of_an_earlier_run(toy_again):
    sections = sections_of_first_page(toy_again)
    assert "These are results of an earlier run." in sections["other"]
    assert "These are results of" not in sections["toy"]


@pytest.mark.parametrize("options", [(), ("--papers", "toy"), ("--papers", "other")])
def test_check_finds_nothing_stale_after_a_run_of_one_paper(toy_again, options):
    checked = toy_again.cli("check", *options)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_check_names_the_papers_that_the_last_run_made(toy_again):
    assert "the first page and the table of all claims are of a run of: toy\n" in toy_again.cli("check").stdout


def test_a_second_run_of_the_same_paper_has_nothing_to_do(toy_again):
    assert "Nothing to be done" in toy_again.snakemake("--dry-run", *ONLY_TOY).stdout


def test_a_run_of_all_papers_makes_the_first_page_again_without_older_results(toy_again, tmp_path):
    workspace = toy_again.copy(tmp_path / "project")
    assert workspace.would_run() == {"figures/index.html", "results/texts.filled", "results/verdicts.txt"}
    workspace.snakemake()
    assert "earlier run" not in workspace.read("figures/index.html")
    checked = workspace.cli("check")
    assert checked.returncode == 0, checked.stderr


@pytest.fixture(scope="module")
def run_beside_stale(two_papers, tmp_path_factory) -> tuple[Workspace, CompletedProcess]:
    """A run of `toy` while `other` has results of other settings and an unexpected verdict; not to be changed.

    It is the project after the run, and how Snakemake ended.
    """
    workspace = two_papers.copy(tmp_path_factory.mktemp("stale") / "project")
    # the claim of `other` is reproduced; after its run was made, the rate is changed
    workspace.configure("claims", "decay", "expected", value="contradicted", file="workflow/config/other.yaml")
    workspace.configure("runs", "descent", "rate", value=0.5, file="workflow/config/other.yaml")
    workspace.configure("runs", "fast", "rate", value=0.03)  # so that `toy` has something to run again
    return workspace, workspace.snakemake(*ONLY_TOY, check=False)


@pytest.fixture(scope="module")
def other_is_stale(run_beside_stale) -> Workspace:
    """The project after that run."""
    workspace, _ = run_beside_stale
    return workspace


def test_an_unexpected_verdict_of_another_paper_does_not_fail_the_run(run_beside_stale):
    _, ended = run_beside_stale
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_first_page_says_which_results_are_of_other_settings(other_is_stale):
    sections = sections_of_first_page(other_is_stale)
    assert "These are results of an earlier run, with other settings or other code." in sections["other"]
    assert "These are results of" not in sections["toy"]


def test_check_refuses_results_of_other_settings_and_not_the_table_of_all_claims(other_is_stale):
    checked = other_is_stale.cli("check")
    assert checked.returncode == 1
    assert "results/other/claims.parquet: was made by other settings or other code" in checked.stderr
    assert "results/claims.parquet" not in checked.stderr


def test_check_of_the_paper_that_was_run_passes(other_is_stale):
    checked = other_is_stale.cli("check", "--papers", "toy")
    assert checked.returncode == 0, checked.stderr


def test_verdicts_of_other_settings_are_called_outdated_and_decide_nothing(other_is_stale):
    printed = other_is_stale.cli("verdicts", "results/claims.parquet")
    assert printed.returncode == 0, printed.stderr
    assert "outdated: other: verdicts of other settings or other code; run: snakemake other" in printed.stderr


def test_another_paper_of_which_a_file_is_missing_is_left_out_and_the_log_says_why(two_papers, tmp_path):
    workspace = two_papers.copy(tmp_path / "project")
    missing = "figures/other/decay.png"
    (workspace.folder / missing).unlink()
    workspace.configure("runs", "fast", "rate", value=0.03)  # so that `toy` has something to run again
    workspace.snakemake(*ONLY_TOY)
    assert list(claims(workspace)["paper"].unique()) == ["toy"]
    assert workspace.read("results/logs/page.log").startswith(f"other is left out: {missing}: no such file")
