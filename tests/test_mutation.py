"""Mutation testing: what the operators change, what is drawn, how it is counted."""

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


def test_operators_exist_and_ours_do_as_their_examples_say():
    for kind in OURS.values():
        for example in kind.examples():
            assert mutate_code(example.pre_mutation_code, kind(), example.occurrence) == example.post_mutation_code, (
                kind,
                example,
            )
    for name in OPERATORS:
        provider, _, operator = name.partition("/")
        assert operator in list(OPERATOR_PROVIDERS[provider]), name


def drawn(folder, source, count=1000, seed=1):
    """Return the mutations of a session that is drawn of one source."""
    file = folder / "module.py"
    file.write_text(source)
    session = folder / f"{seed}-{count}.sqlite"
    session.unlink(missing_ok=True)
    drawing.write_session(session, "group", [file], seed, count)
    with use_db(str(session), WorkDB.Mode.open) as database:
        return [item.mutations[0] for item in database.work_items]


def test_a_seed_draws_the_same_and_another_one_others(tmp_path):
    source = "".join(f"a{line} = b * {line + 2}\n" for line in range(40))
    first, again, other = (drawn(tmp_path, source, 6, seed) for seed in (1, 1, 2))
    assert first == again
    assert len(first) == len({mutation.start_pos[0] for mutation in first}) == 6
    assert first != other


def session_of(folder, *results):
    """Write a session of mutants of one line each; results are pairs of test outcome and output."""
    path, normal = folder / "session.sqlite", work_item.WorkerOutcome.NORMAL
    with use_db(str(path), WorkDB.Mode.create) as database:
        for number, (outcome, output) in enumerate(results):
            mutation = work_item.MutationSpec("f.py", "core/AddNot", 0, (number + 1, 0), (number + 1, 1))
            database.add_work_item(work_item.WorkItem.single(str(number), mutation))
            diff = f"--- mutation diff ---\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-  old {number}\n+  new {number}"
            database.set_result(str(number), work_item.WorkResult(normal, output, outcome, diff))
    return path


KILLED, SURVIVED = work_item.TestOutcome.KILLED, work_item.TestOutcome.SURVIVED
MUTANTS = [  # test outcome, output, and as what it counts
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
    assert list(mutants["outcome"]) == [expected for *_, expected in MUTANTS]


def test_shares_are_of_what_moves_a_number(mutants):
    row = score.scores(mutants)
    assert row["drawn"] == 6
    assert row["move a number"] == 4
    assert row["noticed, %"] == "50 (15-85)"  # Wilson's interval for 2 of 4
    assert row["without the net, %"] == "25 (5-70)"


def test_the_table_has_a_row_for_each_topic_each_paper_and_all(mutants):
    rows = score.table(mutants).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["p/topic", "**p**", "**all**"]


def test_an_equivalent_mutant_without_a_reason_is_refused():
    with pytest.raises(ValueError, match="say why"):
        score.results({}, [KNOWN | {"because": ""}])
