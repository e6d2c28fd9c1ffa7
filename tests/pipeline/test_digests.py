"""Digests are taken of the modules and tables that a job uses; of their words, a claim's statement alone counts."""

import itertools
import subprocess
import sys

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import digests, sources
from learning_dynamics.pipeline.plan.digests import science, used_modules
from learning_dynamics.pipeline.plan.sources import PACKAGE, TOPIC_MODULES

JOB = "topic.flow"  # the function `flow` of a made-up paper's topic, in RUNS
RUNS, CLAIMS = "papers/toy/topic/runs", "papers/toy/topic/claims"


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function that writes sources, by path, and returns the digests of all that a job of `toy` depends on."""
    count = itertools.count()

    def write_and_digest(sources_by_path, *, stage="run", function=JOB):
        root = tmp_path / str(next(count))
        monkeypatch.setattr(sources, "SOURCE_ROOT", root)
        for name, text in {"__init__": "", RUNS: "", **sources_by_path}.items():
            path = root / PACKAGE / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in path.relative_to(root).parents[:-1]:  # each is a package
                (root / folder / "__init__.py").touch()
            path.write_text(text, encoding="utf-8")
        digests.forget()  # those of the previous root
        return science(stage, "toy", function)

    yield write_and_digest
    digests.forget()


BASE = '''"""Words."""
import numpy as np


def flow(x, *, rate: float = 1.0):
    """Words with 'quotes' and \\n."""
    if rate < 0:
        raise ValueError("rate")
    return x * np.exp(-rate)  # a remark
'''
# edits of BASE, as (old, new)
WORDS = (
    ("# a remark", "# another"),
    ('"""Words."""\n', ""),
    ('"""Words."""\nimport', '"""It\'s longer."""\nimport'),
    ('    """Words with', '    """'),
    ("x * np.exp(-rate)", "(x\n            * np.exp( -rate ))"),
)
FORMULAS = (
    ("-rate)", "-rate / 2)"),
    ("rate: float = 1.0", "rate: float = 2.0"),
    ("rate < 0", "rate <= 0"),
    ("ValueError", "KeyError"),
    ("import numpy as np", "import jax.numpy as np"),
    ("np.exp", "np.expm1"),
    ("def flow", "def neighbour(x):\n    return x\n\n\ndef flow"),
)


def test_formulas_change_the_digest_and_words_do_not(digest):
    before = digest({RUNS: BASE})

    def changes(old, new):
        assert old in BASE
        return digest({RUNS: BASE.replace(old, new)}) != before

    assert [one for one in WORDS if changes(*one)] == []
    assert [one for one in FORMULAS if not changes(*one)] == []


FOLDER = {f"{CLAIMS}/limits": "def limit(): ...", f"{CLAIMS}/speeds": ""}


def test_claims_may_be_a_folder_of_modules(digest):
    """A job's module is the one that defines its function; its neighbours are not in the digests."""
    found = digest(FOLDER, stage="claims", function="topic.limit")
    assert {"papers.toy.topic.claims", "papers.toy.topic.claims.limits"} <= set(found)
    assert "papers.toy.topic.claims.speeds" not in found


def test_functions_of_a_folder_are_those_of_its_modules(digest):
    digest(FOLDER, stage="claims", function="topic.limit")  # writes the sources
    assert set(sources.definitions(f"{PACKAGE}.papers.toy.topic.claims")) == {"limit"}
    assert sources.topics("toy") == ["topic"]
    with pytest.raises(ProjectError, match=r"no function `limits` in .*topic/claims; did you mean `limit`"):
        sources.definition_of("claims", "toy", "topic.limits", where="claims.limit")  # begins the message


def test_the_statement_of_a_claim_is_part_of_what_is_judged(digest):
    def judged(statement, words_of_theory=""):
        claims = f'from .. import theory\n\n\ndef holds(run):\n    """{statement}"""\n    return run\n'
        modules = {CLAIMS: claims, "papers/toy/theory": f'"""{words_of_theory}"""\n'}
        return digest(modules, stage="claims", function="topic.holds")

    assert judged("It holds.") != judged("It does not.")
    assert judged("It holds.", "Words.") == judged("It holds.", "Others.")  # words of what it imports


@pytest.mark.parametrize(
    "statement",
    [
        "from learning_dynamics.measures import spectrum",
        "from learning_dynamics.measures.spectrum import largest",
        "import learning_dynamics.measures.spectrum as s",
        "from ....measures import spectrum",
        "def later():\n    match 1:\n        case 1:\n            import learning_dynamics.measures.spectrum",
        "try:\n    import absent\nexcept ImportError:\n    import learning_dynamics.measures.spectrum",
        "try:\n    pass\nfinally:\n    import learning_dynamics.measures.spectrum",
        "if False:\n    pass\nelse:\n    import learning_dynamics.measures.spectrum",
        "from learning_dynamics.papers.toy import theory",
    ],
)
def test_imports_are_followed_in_every_form(digest, statement):
    def digests_with(body):
        theory = "from ...measures import spectrum"  # which the last statement imports
        modules = {"measures/spectrum": body, "papers/toy/theory": theory, "unused": body}
        return digest({RUNS: f"{statement}\ndef flow(): ...", **modules})

    assert digests_with("largest = 1") != digests_with("largest = 2")
    assert "unused" not in digests_with("largest = 1")


def test_what_the_command_of_a_stage_imports_counts(digest):
    command = "from learning_dynamics.measures import spectrum"

    def digests_with(body):
        return digest({"pipeline/commands/run": command, "measures/spectrum": body})

    assert digests_with("x = 1") != digests_with("x = 2")
    # the command itself is machinery; what it imports is not
    assert "pipeline.commands.run" not in digests_with("x = 1")


def test_machinery_is_no_science(digest):
    def digests_with(body):
        return digest({RUNS: "from learning_dynamics import errors, files", "errors": body, "files": body})

    assert digests_with("x = 1") == digests_with("x = 2")


def test_what_importing_a_package_does_counts(digest):
    first, second = (
        digest({"papers/toy/__init__": f"import numpy\nnumpy.seterr(all={how!r})\n"}) for how in ("warn", "raise")
    )
    assert first != second


def test_a_table_next_to_the_code_counts(digest):
    before = digest({RUNS: "def flow(): ..."})
    found = []
    for number in ("1.0", "2.0"):
        (sources.SOURCE_ROOT / PACKAGE / "papers/toy/topic/t.csv").write_text(number)
        digests.forget()
        found.append(science("run", "toy", JOB))
    assert found[0].keys() - before.keys() == {"papers/toy/topic/t.csv"}
    assert found[0] != found[1]


@pytest.mark.parametrize(("paper", "topic"), [("neural_collapse", "collapse"), ("softmax_dynamics", "phases")])
def test_all_that_python_imports_is_in_the_digests(paper, topic):
    """Importing a topic's module and its command loads no module of science that their digests leave out."""
    assert topic in sources.topics(paper)
    for stage, part in TOPIC_MODULES.items():
        module = f"{PACKAGE}.papers.{paper}.{topic}.{part}"
        if sources.module_path(module) is None:
            continue
        command = f"{PACKAGE}.pipeline.commands.{stage}"
        program = f"import sys, {module}, {command}; print(*(m for m in sys.modules if m.startswith('{PACKAGE}.')))"
        loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        science_loaded = {name for name in loaded.split() if not sources.is_infrastructure(name)}
        assert module in science_loaded, stage
        # `files` imports it to find the checkout; as `files` is machinery, its imports are not followed
        science_loaded.discard(f"{PACKAGE}.environment")
        assert science_loaded <= set(used_modules(module, command)), stage
