"""The tool that plants errors: what it changes, what it leaves alone, what it counts, and that it cleans up."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")

from cosmic_ray.mutating import mutate_code
from mutation import drawing, score, workplace
from mutation.baseline import Baseline
from mutation.campaign import Campaign, Task
from mutation.operators import COSMIC_RAY, OURS, operators
from mutation.trial import RTOL, difference, plain

from tests.support import PAPERS, ROOT

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


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_our_operators_do_as_their_examples_say(kind):
    for example in kind.examples():
        assert mutate_code(example.pre_mutation_code, kind(), example.occurrence) == example.post_mutation_code


def test_every_operator_that_is_named_exists():
    assert len(operators()) == len(set(COSMIC_RAY)) + len(OURS)


def drawn(tmp_path, source, count=1000, seed=1):
    (tmp_path / "src").mkdir(exist_ok=True)
    file = tmp_path / "src/module.py"
    file.write_text(source)
    return drawing.draw("group", [file.relative_to(tmp_path)], tmp_path, seed, count)


def test_words_are_left_alone_and_decorated_functions_are_not(tmp_path):
    lines = {one.line for seed in range(20) for one in drawn(tmp_path, SOURCE, seed=seed)}
    assert lines == {9, 14}  # the condition, and the limit; no docstring, annotation, reason, name or error
    reached = {
        one.after
        for seed in range(20)
        for one in drawn(tmp_path, "@claim('x')\ndef f(x):\n    return x + 1\n", seed=seed)
    }
    assert {"    return x - 1", "    return x + 1000"} <= reached


def test_a_seed_draws_the_same_and_another_one_others():
    files = drawing.groups(ROOT)["spectral_bias/jump"]
    first, again, other = (drawing.draw("spectral_bias/jump", files, ROOT, seed, 6) for seed in (1, 1, 2))
    assert first == again
    assert len({one.id for one in first}) == 6
    assert {one.id for one in first} != {one.id for one in other}
    for one in first:
        text = one.text(ROOT)
        assert one.after in text
        assert text != (ROOT / one.file).read_text()


def test_groups_are_all_topics_and_the_library_but_no_drawings():
    groups = drawing.groups(ROOT)
    assert {name.partition("/")[0] for name in groups} == {*PAPERS, "dynamics", "measures", "datasets", "judges"}
    names = {file.name for files in groups.values() for file in files}
    assert names.isdisjoint(drawing.DRAWN)
    assert all((ROOT / file).is_file() for files in groups.values() for file in files)


def test_numbers_that_move_by_more_than_rounding_differ():
    table = pd.DataFrame({"value": [1.0, np.nan], "case": ["a", None]})
    assert difference(plain(table), plain(table.copy()), "t") == ""
    near, far = table.copy(), table.copy()
    near["value"] *= 1 + RTOL / 2
    far["value"] *= 1 + 2 * RTOL
    assert difference(plain(near), plain(table), "t") == ""
    assert difference(plain(far), plain(table), "t") == "t, value"
    assert difference(plain(table.assign(case=["b", None])), plain(table), "t") == "t, case"
    assert difference(plain(table.iloc[:1]), plain(table), "t") == "t, value"
    assert difference({"a": [1.0, {"b": "holds"}]}, {"a": [1.0, {"b": "fails"}]}, "c") == "c, a [1], b"
    assert difference({"a": 1}, {"b": 1}, "c") == "c"


KNOWN = Baseline(
    tests={
        "tests/papers/p/topic/test_own.py": {"seconds": 30.0, "modules": ["m"]},
        "tests/papers/p/test_slow.py": {"seconds": 6.0, "modules": ["m"]},
        "tests/papers/p/test_quick.py": {"seconds": 5.0, "modules": ["m"]},
        "tests/papers/p/test_other.py": {"seconds": 0.0, "modules": ["n"]},
    },
    claims={
        "p.dear": {"seconds": 1.0, "modules": [], "members": ["p.long", "p.short"]},
        "p.cheap": {"seconds": 1.0, "modules": [], "members": ["p.short"]},
        "p.other": {"seconds": 0.0, "modules": ["n"], "members": []},
    },
    members={
        "p.long": {"seconds": 10.0, "modules": ["m"], "path": ""},
        "p.short": {"seconds": 2.0, "modules": ["m"], "path": ""},
    },
)


def test_a_topics_own_tests_come_first_then_the_quickest():
    file = "src/learning_dynamics/papers/p/topic/theory.py"
    own = "tests/papers/p/topic/test_own.py"
    assert KNOWN.tests_of(file, "m", 10.0) == [own]
    assert KNOWN.tests_of(file, "m", 40.0) == [own, "tests/papers/p/test_quick.py"]
    assert KNOWN.tests_of(file, "m", 41.0)[2:] == ["tests/papers/p/test_slow.py"]


def test_claims_are_those_a_module_has_a_part_in_and_tables_are_made_once():
    assert KNOWN.claims_of("m", 5.0) == ["p.cheap"]
    assert KNOWN.claims_of("m", 14.0) == ["p.cheap", "p.dear"]
    assert KNOWN.seconds_of([], ["p.cheap", "p.dear"], "m") == (0, 1 + 2 + 1 + 10)


def result(outcome, group="p/topic", name="x"):
    return {"id": name, "group": group, "outcome": outcome, "by": "", "file": "f", "before": " a", "after": " b"}


def test_the_scores_are_of_what_moves_a_number():
    results = [result(kind, name=str(at)) for at, kind in enumerate(["tests", "verdicts", "moved", "moved", "unmoved"])]
    assert score.row("p", score.counts(results, same={"3"})) == ["p", 5, 1, 1, 3, 2, "67%", 1, "33%"]
    assert score.row("p", score.counts([], set()))[-1] == ""
    lines = score.table([*results, result("tests", group="dynamics")], set()).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["p/topic", "**p**", "**dynamics**", "**all**"]


def test_an_equivalent_mutant_is_one_that_is_listed_with_a_reason():
    listed = {"file": "f", "before": "a", "after": "b"}
    assert score.equivalent([result("moved")], [listed | {"because": "..."}]) == {"x"}
    assert score.equivalent([result("moved")], [listed | {"after": "c", "because": "..."}]) == set()
    with pytest.raises(ValueError, match="say why"):
        score.equivalent([], [listed])


def test_what_is_listed_as_equivalent_is_still_there():
    for one in yaml.safe_load(score.EQUIVALENT.read_text()):
        assert one["before"].strip() in (ROOT / one["file"]).read_text()


def read_planted(out):
    import planted

    out.write_text(json.dumps({"number": planted.NUMBER}))


def test_a_mutant_is_planted_in_a_copy_and_taken_out_again(tmp_path, monkeypatch):
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "tests").mkdir()
    (project / "src/planted.py").write_text("NUMBER = 1\n")
    monkeypatch.setattr(workplace, "ROOT", project)
    monkeypatch.setattr(workplace, "HOME", tmp_path / "home")
    campaign = Campaign(workers=2)
    (mutant,) = drawing.draw("group", [project.joinpath("src/planted.py").relative_to(project)], project, 1, 1)
    seen, outs = [], [tmp_path / "mutated.json", tmp_path / "whole.json"]
    tasks = [
        Task(out.stem, read_planted, (out,), lambda took, ended: seen.append((took["exit"], ended)), planted)
        for out, planted in zip(outs, (mutant, None), strict=True)
    ]
    places = [workplace.copy_of(campaign.original, tmp_path / name) for name in ("one", "other")]
    campaign._carry_out(tasks, places, tmp_path, "tried")
    assert seen == [(0, False)] * 2
    mutated, whole = (json.loads(out.read_text())["number"] for out in outs)
    assert whole == 1
    assert f"NUMBER = {mutated}" in " ".join(mutant.after.split())
    assert mutated != 1
    for place in [project, campaign.original, *places]:
        assert (place / "src/planted.py").read_text() == "NUMBER = 1\n"


def exhausting():
    workplace.allow(0.2)
    while True:
        pass


def test_a_mutant_that_never_ends_is_ended_by_the_time_it_computes(tmp_path):
    process = workplace.fork(exhausting, tmp_path, tmp_path, tmp_path / "log")
    process.join(60)
    assert process.exitcode == -24
