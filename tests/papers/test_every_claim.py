"""Every claim of every paper at smoke scale: its verdict, numbers and rivals as written down, and its texts.

`verdicts.yaml` and `facts.csv` have what `make verdicts` wrote down.
"""

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


written_verdicts, written_facts = functools.cache(read_verdicts), functools.cache(read_facts)
every_claim = pytest.mark.parametrize(("paper", "name"), every_name("claim"))


@every_claim
def test_its_verdict_and_the_numbers_of_its_checks_are_those_written_down(paper, name):
    known = written_verdicts().get(f"{paper}.{name}")
    assert known, "tests/papers/verdicts.yaml says nothing of it; make verdicts, and read the diff"
    assert claim_differences(claim_entry(smoke_evaluation(paper, name)), known) == []


@every_claim
def test_a_verdict_on_its_prediction_is_refused_to_its_rivals_and_another_has_a_reason(paper, name):
    found = smoke_evaluation(paper, name)
    assert found.verdict in VERDICTS
    assert found.rivals or found.verdict == "untested", "no rival was tried"
    if found.verdict in ("reproduced", "corrected"):
        assert found.verdict not in found.rivals.values()
    else:
        assert found.reason or found.verdict == "contradicted"


@every_claim
def test_its_checks_have_words_and_count_each_draw_at_most_once(paper, name):
    found = smoke_evaluation(paper, name)
    for judgement in filter(None, (found.judgement, found.corrected)):
        for check in judgement.checks:
            assert check.name, check
            assert check.criterion, check
            assert check.draws >= 1, check
            assert check.draws_for + check.draws_against + check.draws_undecided <= check.draws, check
            assert "no reason given" not in check.excluded, check.excluded


@every_claim
def test_it_can_be_judged_with_the_values_of_settings_that_vary(paper, name):
    spec = smoke(paper).claim(paper, name)
    tables = claim_tables(paper, name) if spec["vary"] else {}
    for setting, values in spec["vary"].items():
        assert setting in spec["settings"], setting
        for value in values:
            assert evaluation(paper, name, tables, **{setting: value}).verdict in VERDICTS, (setting, value)


@every_claim
def test_the_facts_in_its_published_text_are_those_written_down(paper, name):
    table = written_facts()
    known = table.loc[table.index.get_level_values("claim") == f"{paper}.{name}"].droplevel("claim")
    assert fact_differences(claim_facts(smoke_evaluation(paper, name)), known) == [], "make verdicts, and read the diff"


@every_claim
def test_each_of_its_facts_is_printed_by_a_text(paper, name):
    whose = smoke(paper)
    block = whose.config.paper_block(paper)
    printed = fields(whose.config.explanation(paper, name)) | fields(marked(paper, name).correction)
    # summary and findings are about several claims: their fields are `claim.fact`
    for text in (block.get("summary", ""), *block.get("findings", [])):
        printed |= {field.removeprefix(f"{name}.") for field in fields(text) if field.startswith(f"{name}.")}
    assert set(claim_facts(smoke_evaluation(paper, name))) <= printed


def marked(paper, name):
    """Return what the decorator `@claim` says of a claim: its correction, its quantifier."""
    return paper_function(paper, "claims", smoke(paper).claim(paper, name)["function"]).claim


def test_nothing_is_written_down_of_claims_that_do_not_exist():
    claims = {f"{paper}.{name}" for paper in PAPERS for name in smoke(paper).config.paper_block(paper)["claims"]}
    assert set(written_verdicts()) <= claims
    assert set(written_facts().index.get_level_values("claim")) <= claims


@every_claim
def test_its_statement_is_the_papers_and_has_no_number_of_a_run(paper, name):
    statement = smoke(paper).config.statement(paper, name)
    assert statement
    assert not fields(statement), "numbers of a run are explanation"


@every_claim
def test_its_explanation_has_no_typed_result_and_its_facts_fill_it(paper, name):
    explanation, found = smoke(paper).config.explanation(paper, name), smoke_evaluation(paper, name)
    assert typed_results(explanation) == []
    if found.verdict != "untested":
        assert_filled(found.facts, explanation)


@every_claim
def test_it_has_a_quantifier_and_a_correction_in_words_if_it_is_corrected(paper, name):
    about = marked(paper, name)
    assert about.quantifier, "write which quantifier the sentence has"
    assert smoke_evaluation(paper, name).verdict != "corrected" or about.correction


def claims_of_varied_settings():
    """Return each claim that the default run judges again with other values of a run's setting: paper, entry, claim."""
    cases = []
    for paper in PAPERS:
        for entry, block in SHIPPED.config.robustness_entries(paper).items():
            if "values" in block:
                cases += [pytest.param(paper, entry, name, id=f"{paper}.{entry}.{name}") for name in block["claims"]]
    return cases


@pytest.mark.parametrize(("paper", "entry", "name"), claims_of_varied_settings())
def test_the_headline_reads_the_run_whose_setting_is_varied(paper, entry, name):
    """The headline is another if every number of that run is nan: else the setting could not move it."""
    run, decisive = SHIPPED.config.robustness_entries(paper)[entry]["run"], smoke_evaluation(paper, name).decisive

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
def test_a_papers_summary_and_notation_have_no_typed_result(paper):
    about = smoke(paper).config.paper_block(paper)
    assert typed_results(about.get("summary", "")) == []
    assert typed_results(about.get("notation", "")) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_papers_summary_is_filled_by_facts_of_its_claims(paper):
    about = smoke(paper).config.paper_block(paper)
    summary = about.get("summary", "")
    claims = {field.partition(".")[0] for field in fields(summary)} - {"verdicts"}
    assert claims <= set(about["claims"])
    facts = {f"{claim}.{key}": value for claim in claims for key, value in smoke_evaluation(paper, claim).facts.items()}
    facts |= {f"verdicts.{verdict.replace(' ', '_')}": 1 for verdict in VERDICTS}  # how many claims have it
    assert_filled(facts, summary)
