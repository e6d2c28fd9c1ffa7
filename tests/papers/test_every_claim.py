"""Every claim of every paper at smoke scale: judged, with rivals that turn it, in words that its numbers fill."""

import functools

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import VERDICTS, Evaluation
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.plan.blocks import map_roles, run_names
from learning_dynamics.pipeline.report.templates import fields
from tests.papers.written import (
    claim_differences,
    claim_entry,
    claim_facts,
    fact_differences,
    read_facts,
    read_verdicts,
)
from tests.support import PAPERS, claim_tables, evaluation, every_name, smoke
from tests.support import plan as configured
from tests.typed_results import assert_filled, typed_results

SHIPPED = configured()


@functools.cache
def smoke_evaluation(paper: str, name: str) -> Evaluation:
    return evaluation(paper, name, claim_tables(paper, name))


written, written_facts = functools.cache(read_verdicts), functools.cache(read_facts)
every_claim = pytest.mark.parametrize(("paper", "name"), every_name("claim"))


@every_claim
def test_it_is_judged_as_written_down(paper, name):
    """Its verdict and numbers are those of verdicts.yaml, rivals change it, every draw counts, choices may vary."""
    judged = smoke_evaluation(paper, name)
    check_verdict(judged)
    check_draws(judged)
    known = written().get(f"{paper}.{name}")
    assert known, "tests/papers/verdicts.yaml says nothing of it; make verdicts, and read the diff"
    assert claim_differences(claim_entry(judged), known) == []
    spec = smoke(paper).claim(paper, name)
    tables = claim_tables(paper, name) if spec["vary"] else {}
    for setting, values in spec["vary"].items():
        assert setting in spec["settings"], setting
        for value in values:
            assert evaluation(paper, name, tables, **{setting: value}).verdict in VERDICTS, (setting, value)


@every_claim
def test_its_facts_are_those_written_down(paper, name):
    """A wrong number inside its published text is noticed."""
    table = written_facts()
    known = table.loc[table.index.get_level_values("claim") == f"{paper}.{name}"].droplevel("claim")
    assert fact_differences(claim_facts(smoke_evaluation(paper, name)), known) == [], "make verdicts, and read the diff"


@every_claim
def test_its_facts_are_printed(paper, name):
    """A fact that no text prints would be missed by nobody."""
    whose = smoke(paper)
    block, about = whose.config.paper_block(paper), whose.config
    function = paper_function(paper, "claims", whose.claim(paper, name)["function"])
    printed = fields(about.explanation(paper, name)) | fields(function.claim.correction)
    in_findings = {field for text in (block.get("summary", ""), *block.get("findings", [])) for field in fields(text)}
    printed |= {field.removeprefix(f"{name}.") for field in in_findings if field.startswith(f"{name}.")}
    assert set(claim_facts(smoke_evaluation(paper, name))) <= printed


def check_verdict(found):
    assert found.verdict in VERDICTS
    assert found.rivals or found.verdict == "untested", "no rival was tried"
    if found.verdict in ("reproduced", "corrected"):
        assert found.verdict not in found.rivals.values()
    else:
        assert found.reason or found.verdict == "contradicted"


def test_nothing_is_written_down_of_claims_that_are_not_there():
    claims = {f"{paper}.{name}" for paper in PAPERS for name in smoke(paper).config.paper_block(paper)["claims"]}
    assert set(written()) <= claims
    assert set(written_facts().index.get_level_values("claim")) <= claims


def check_draws(found):
    for judgement in filter(None, (found.judgement, found.corrected)):
        for check in judgement.checks:
            assert check.name, check
            assert check.criterion, check
            assert check.draws >= 1, check
            assert check.draws_for + check.draws_against + check.draws_undecided <= check.draws, check
            assert "no reason given" not in check.excluded, check.excluded


@every_claim
def test_its_words_are_filled_by_its_numbers(paper, name):
    whose, found = smoke(paper), smoke_evaluation(paper, name)
    statement, explanation = whose.config.statement(paper, name), whose.config.explanation(paper, name)
    assert statement
    assert typed_results(explanation) == []
    assert not fields(statement), "a statement is the paper's; numbers of a run are explanation"
    if found.verdict != "untested":
        assert_filled(found.facts, explanation)
    about = paper_function(paper, "claims", whose.claim(paper, name)["function"]).claim
    assert found.verdict != "corrected" or about.correction
    assert about.quantifier, "write which quantifier the sentence has"


@pytest.mark.parametrize(
    ("paper", "check", "name"),
    [
        pytest.param(paper, check, name, id=f"{paper}.{check}.{name}")
        for paper in PAPERS
        for check, entry in SHIPPED.config.robustness_entries(paper).items()
        if "values" in entry
        for name in entry["claims"]
    ],
)
def test_the_headline_reads_the_run_that_is_varied(paper, check, name):
    """The headline is another if every number of that run is taken away: else its setting could not move it."""
    run, decisive = SHIPPED.config.robustness_entries(paper)[check]["run"], smoke_evaluation(paper, name).decisive

    def without_numbers(table):
        missing = {column: np.nan for column in ("value", "predicted") if column in table}
        return table.assign(**missing) if table.attrs["run"] == run else table

    tables = claim_tables(paper, name)
    runs = set(run_names(map_roles(lambda table: table.attrs["run"], tables)))
    if runs == {run} or decisive is None or np.isnan(decisive.headline.value):
        pytest.skip("there is no other run to read, or nothing was read")
    try:
        without = evaluation(paper, name, map_roles(without_numbers, tables)).decisive
    except ProjectError:
        pytest.skip("the claim cannot be judged without")
    # all that it says is compared: the draw that is shown may be of another run, and draws of this one count
    assert without is None or repr(decisive.headline) != repr(without.headline)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_papers_summary_is_filled_by_its_claims(paper):
    about = smoke(paper).config.paper_block(paper)
    summary = about.get("summary", "")
    assert typed_results(summary) == []
    assert typed_results(about.get("notation", "")) == []
    claims = {field.partition(".")[0] for field in fields(summary)} - {"verdicts"}
    assert claims <= set(about["claims"])
    facts = {f"{claim}.{key}": value for claim in claims for key, value in smoke_evaluation(paper, claim).facts.items()}
    facts |= {f"verdicts.{verdict.replace(' ', '_')}": 1 for verdict in VERDICTS}  # how many claims have it
    assert_filled(facts, summary)
