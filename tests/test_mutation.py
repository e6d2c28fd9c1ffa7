"""Mutation testing: what its operators change in a source, which mutations a seed draws, how mutants are counted."""

import pytest

pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")

from cosmic_ray import work_item
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import OPERATOR_PROVIDERS
from cosmic_ray.work_db import WorkDB, use_db
from mutation import drawing, score
from mutation.operators import OPERATORS, OURS

if "learning_dynamics" not in OPERATOR_PROVIDERS:
    pytest.skip("the entry point of the operators is not installed: pip install --editable .", allow_module_level=True)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_that_is_used_exists(name):
    provider, _, operator = name.partition("/")
    assert operator in list(OPERATOR_PROVIDERS[provider])


@pytest.mark.parametrize("operator", OURS.values())
def test_our_operators_change_their_examples_as_these_say(operator):
    for example in operator.examples():
        mutated = mutate_code(example.pre_mutation_code, operator(), example.occurrence)
        assert mutated == example.post_mutation_code, example


def draw_mutations(folder, source, count, seed):
    """Return the mutations, at most `count`, that a seed draws from one source."""
    file = folder / "module.py"
    file.write_text(source)
    session = folder / f"{seed}-{count}.sqlite"
    session.unlink(missing_ok=True)
    drawing.write_session(session, "group", [file], seed, count)
    with use_db(str(session), WorkDB.Mode.open) as database:
        return [item.mutations[0] for item in database.work_items]


COUNT = 6  # mutations to draw, far fewer than there are
FORTY_LINES = "".join(f"a{line} = b * {line + 2}\n" for line in range(40))


def test_a_seed_draws_the_same_mutations_again_and_another_seed_draws_others(tmp_path):
    first, again, other = (draw_mutations(tmp_path, FORTY_LINES, COUNT, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_each_mutation_that_is_drawn_is_on_a_line_of_its_own(tmp_path):
    mutations = draw_mutations(tmp_path, FORTY_LINES, COUNT, seed=1)
    lines = {mutation.start_pos[0] for mutation in mutations}
    assert len(mutations) == len(lines) == COUNT


def session_of(folder, *results):
    """Write a session of mutants of one line each, and return its path; results are pairs of outcome and output."""
    path, normal = folder / "session.sqlite", work_item.WorkerOutcome.NORMAL
    with use_db(str(path), WorkDB.Mode.create) as database:
        for number, (outcome, output) in enumerate(results):
            mutation = work_item.MutationSpec("f.py", "core/AddNot", 0, (number + 1, 0), (number + 1, 1))
            database.add_work_item(work_item.WorkItem.single(str(number), mutation))
            diff = f"--- mutation diff ---\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-  old {number}\n+  new {number}"
            database.set_result(str(number), work_item.WorkResult(normal, output, outcome, diff))
    return path


KILLED, SURVIVED = work_item.TestOutcome.KILLED, work_item.TestOutcome.SURVIVED
# test outcome, output, and as what the mutant counts. Tests run in stages, each of which prints its name: the tests of
# the science, the verdicts written down, the numbers written down, and, where all pass, whether a number moved
MUTANTS = [
    (KILLED, "stage: tests\n", "tests"),
    (KILLED, "stage: tests\n.\nstage: verdicts\n", "verdicts"),
    (KILLED, "stage: verdicts\nstage: numbers\n", "moved"),
    (SURVIVED, "stage: numbers\nstage: moved\n", "moved"),
    (SURVIVED, "stage: moved\n", "equivalent"),
    (SURVIVED, "stage: unmoved\n", "unmoved"),
]
KNOWN = {"file": "f.py", "before": "old 4", "after": "new 4", "because": "..."}  # the equivalent one


@pytest.fixture
def mutants(tmp_path):
    session = session_of(tmp_path, *((outcome, output) for outcome, output, _ in MUTANTS))
    return score.results({"p/topic": session}, [KNOWN])


def test_a_mutant_counts_as_what_noticed_it_or_as_what_it_moves(mutants):
    assert list(mutants["outcome"]) == [expected for _outcome, _output, expected in MUTANTS]


def test_shares_are_of_what_moves_a_number(mutants):
    row = score.scores(mutants)
    assert row["drawn"] == len(MUTANTS)
    assert row["move a number"] == len(MUTANTS) - 2  # not the one that is unmoved, nor the equivalent one
    # by tests and by verdicts: 2 of 4, with Wilson's interval; by tests alone: 1 of 4
    assert row["noticed, %"] == "50 (15-85)"
    assert row["without the net, %"] == "25 (5-70)"


def test_the_table_has_a_row_for_each_topic_each_paper_and_all(mutants):
    rows = score.table(mutants).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["p/topic", "**p**", "**all**"]


def test_an_equivalent_mutant_without_a_reason_is_refused():
    with pytest.raises(ValueError, match="say why"):
        score.results({}, [KNOWN | {"because": ""}])
