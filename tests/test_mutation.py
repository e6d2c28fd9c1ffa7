"""Mutation testing: what the operators change, what is drawn, which tests a mutant faces, how it is counted."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")

from cosmic_ray import work_item
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import OPERATOR_PROVIDERS
from cosmic_ray.work_db import WorkDB, use_db
from mutation import drawing, score, trial
from mutation.operators import OPERATORS, OURS

from tests.support import PAPERS, ROOT

if "learning_dynamics" not in OPERATOR_PROVIDERS:
    pytest.skip("the entry point of the operators is not installed: pip install --editable .", allow_module_level=True)

SOURCE = '''"""Words with a number, 1."""

from __future__ import annotations


@claim("Theorem 1", scope="all of 2")
def judged(x: list[3], *, width: int) -> float:
    """More words, 4."""
    if x is None:
        raise ValueError(f"{x} is not 5")
    return at_most("the value 6", x, because="rounding of 7")


limit: float = 8.0
'''


def test_operators_exist_and_ours_do_as_their_examples_say():
    for kind in OURS.values():
        for example in kind.examples():
            assert mutate_code(example.pre_mutation_code, kind(), example.occurrence) == example.post_mutation_code
    for name in OPERATORS:
        provider, _, operator = name.partition("/")
        assert operator in list(OPERATOR_PROVIDERS[provider])


def drawn(folder, source, count=1000, seed=1):
    """Return the mutations of a session that is drawn of one source."""
    file = folder / "module.py"
    file.write_text(source)
    session = folder / f"{seed}-{count}.sqlite"
    session.unlink(missing_ok=True)
    drawing.write_session(session, "group", [file], seed, count)
    with use_db(str(session), WorkDB.Mode.open) as database:
        return [item.mutations[0] for item in database.work_items]


def test_words_are_left_alone_and_decorated_functions_are_not(tmp_path):
    lines = {mutation.start_pos[0] for mutation in drawn(tmp_path, SOURCE)}
    assert lines == {9, 14}  # the condition, and the limit; no docstring, annotation, reason, name or error
    (mutation,) = drawn(tmp_path, "@claim('x')\ndef f(x):\n    return x + 1\n", seed=2)
    assert mutation.start_pos[0] == 3


def test_a_seed_draws_the_same_and_another_one_others(tmp_path):
    source = "".join(f"a{line} = b * {line + 2}\n" for line in range(40))
    first, again, other = (drawn(tmp_path, source, 6, seed) for seed in (1, 1, 2))
    assert first == again
    assert len(first) == len({mutation.start_pos[0] for mutation in first}) == 6
    assert first != other


def test_groups_are_all_topics_and_the_library_but_no_drawings():
    groups = drawing.groups(ROOT)
    assert {name.partition("/")[0] for name in groups} == {*PAPERS, "dynamics", "measures", "datasets", "judges"}
    names = {file.name for files in groups.values() for file in files}
    assert names.isdisjoint(drawing.DRAWN)
    assert all((ROOT / file).is_file() for files in groups.values() for file in files)


@pytest.mark.parametrize(
    ("file", "first", "among", "absent"),
    [
        ("papers/spectral_bias/jump/claims.py", "tests/papers/spectral_bias/jump", "test_two_layer", "deep_linear"),
        ("papers/spectral_bias/two_layer.py", "tests/papers/spectral_bias/test_two_layer.py", "jump", "deep_linear"),
        ("dynamics/gradient_flow.py", "tests/dynamics/test_gradient_flow.py", "test_ensemble", "tests/measures"),
        ("judging.py", "tests/test_judging.py", "tests/test_evidence.py", "tests/measures"),
    ],
)
def test_a_modules_own_tests_come_first(file, first, among, absent, monkeypatch):
    monkeypatch.chdir(ROOT)
    files = trial.test_files(trial.Path("src/learning_dynamics", file))
    assert files[0].startswith(first)
    assert any(among in test for test in files)
    assert not any(absent in test or "test_every" in test for test in files)


def test_claims_that_a_mutant_concerns_come_with_the_runs_that_changed():
    before = {"both": {"": "a", "x": "1", "y": "2"}, "one": {"": "b", "x": "1"}, "none": {"": "c", "z": "3"}}
    now = {"both": {"": "a", "x": "5", "y": "6"}, "one": {"": "b", "x": "5"}, "none": {"": "c", "z": "3"}}
    assert trial.concerned(before, now) == [("name", "one"), ("member", "x"), ("name", "both"), ("member", "y")]
    assert trial.concerned(before, before) == []


TESTS = """import pytest

@pytest.mark.parametrize(("paper", "name"), [("p", "dear"), ("p", "cheap"), ("p", "other")])
def test_claim(paper, name):
    print("ran", name)

def test_that_never_ends():
    while True:
        pass
"""


@pytest.mark.parametrize(
    ("order", "ran", "code"),
    [
        ([("p", "name", "cheap"), ("p", "name", "dear")], ["cheap", "dear"], 0),
        (["test_it.py"], ["dear", "cheap", "other"], -signal.SIGPROF),
    ],
    ids=["claims in their order", "a test that never ends"],
)
def test_a_stage_keeps_to_its_order_and_its_time(order, ran, code, tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    script = "from mutation import trial; trial.TEST_SECONDS = 3; trial.OPTIONS = ('-sq', '-p', 'no:cacheprovider');"
    script += f"trial.stage('tests', ['test_it.py'], trial.Limits({order}, 60, ['test_it.py']))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == code
    assert ended.stdout.startswith("stage: tests\n")
    assert [line.split()[-1] for line in ended.stdout.splitlines() if "ran " in line] == ran


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


def test_the_scores_are_of_what_moves_a_number(tmp_path):
    killed, survived = work_item.TestOutcome.KILLED, work_item.TestOutcome.SURVIVED
    outputs = ["stage: tests\n", "stage: tests\n.\nstage: verdicts\n", "stage: verdicts\nstage: numbers\n"]
    ends = ["stage: numbers\nstage: moved\n", "stage: moved\n", "stage: unmoved\n"]
    session = session_of(tmp_path, *((killed, text) for text in outputs), *((survived, text) for text in ends))
    known = {"file": "f.py", "before": "old 4", "after": "new 4", "because": "..."}
    mutants = score.results({"p/topic": session}, [known])
    assert list(mutants["outcome"]) == ["tests", "verdicts", "moved", "moved", "equivalent", "unmoved"]
    row = score.scores(mutants)
    assert row["drawn"] == 6
    assert row["move a number"] == 4
    assert row["noticed, %"] == "50 (15-85)"  # Wilson's interval for 2 of 4
    assert row["without the net, %"] == "25 (5-70)"
    rows = score.table(mutants).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == ["p/topic", "**p**", "**all**"]
    with pytest.raises(ValueError, match="say why"):
        score.results({"p/topic": session}, [known | {"because": ""}])
