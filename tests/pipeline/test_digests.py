"""What digests are taken of: the modules and tables that a job uses; words change none of them."""

import subprocess
import sys

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import digests, sources
from learning_dynamics.pipeline.plan.digests import science, used_modules
from learning_dynamics.pipeline.plan.sources import PACKAGE, TOPIC_MODULES

JOB = "topic.flow"  # of a made-up paper: papers/toy/topic/runs.py


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function: what the job of a made-up paper depends on, given its modules, ``a__b`` in folder a."""
    count = iter(range(10**6))

    def of(stage="run", kind=JOB, **modules):
        monkeypatch.setattr(sources, "SOURCE_ROOT", root := tmp_path / str(next(count)))
        for name, text in {"__init__": "", "papers__toy__topic__runs": "", **modules}.items():
            path = root / PACKAGE / f"{name if name.startswith('__') or '/' in name else name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in path.relative_to(root).parents[:-1]:
                (root / folder / "__init__.py").touch()
            path.write_text(text, encoding="utf-8")
        digests.forget()
        return science(stage, "toy", kind)

    yield of
    digests.forget()


BASE = '''"""Words."""
import numpy as np


def flow(x, *, rate: float = 1.0):
    """Words with 'quotes' and \\n."""
    if rate < 0:
        raise ValueError("rate")
    return x * np.exp(-rate)  # a remark
'''
WORDS = (
    ("# a remark", "# another"),
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


def test_formulas_change_it_and_words_do_not(digest):
    def changes(old, new):
        assert old in BASE
        return digest(papers__toy__topic__runs=BASE.replace(old, new)) != before

    before = digest(papers__toy__topic__runs=BASE)
    assert [one for one in WORDS if changes(*one)] == []
    assert [one for one in FORMULAS if not changes(*one)] == []


def test_a_folder_of_claims_is_as_a_file_of_claims(digest):
    """A job's module is the one in the folder that defines its function; another of them is not in its digests."""
    modules = {"papers__toy__topic__claims__limits": "def limit(): ...", "papers__toy__topic__claims__speeds": ""}
    found = digest(stage="claims", kind="topic.limit", **modules)
    assert {"papers.toy.topic.claims", "papers.toy.topic.claims.limits"} <= set(found)
    assert "papers.toy.topic.claims.speeds" not in found
    assert set(sources.definitions(f"{PACKAGE}.papers.toy.topic.claims")) == {"limit"}
    assert sources.topics("toy") == ["topic"]
    with pytest.raises(ProjectError, match=r"no function `limits` in .*topic/claims; did you mean `limit`"):
        sources.definition_of("claims", "toy", "topic.limits", "claims.limit")


def test_the_statement_of_a_claim_is_part_of_what_is_judged(digest):
    def judged(words):
        claims = f'def holds(run):\n    """{words}"""\n    return run\n'
        return digest("claims", "topic.holds", papers__toy__topic__claims=claims)

    assert judged("It holds.") != judged("It does not.")


@pytest.mark.parametrize(
    "statement",
    [
        "from learning_dynamics.measures import spectrum",
        "from learning_dynamics.measures.spectrum import largest",
        "import learning_dynamics.measures.spectrum as s",
        "from ....measures import spectrum",
        "def later():\n    match 1:\n        case 1:\n            import learning_dynamics.measures.spectrum",
        "from learning_dynamics.papers.toy import theory",
    ],
)
def test_imports_are_followed_in_every_form(digest, statement):
    def of(body):
        theory = "from ...measures import spectrum"
        modules = {"measures__spectrum": body, "papers__toy__theory": theory, "unused": body}
        return digest(papers__toy__topic__runs=f"{statement}\ndef flow(): ...", **modules)

    assert of("largest = 1") != of("largest = 2")
    assert "unused" not in of("largest = 1")


def test_machinery_is_no_science(digest):
    def of(body):
        return digest(papers__toy__topic__runs="from learning_dynamics import errors, files", errors=body, files=body)

    assert of("x = 1") == of("x = 2")


def test_what_importing_a_package_does_counts(digest):
    first, second = (digest(**{"papers/toy/__init__": f"import numpy\nnumpy.seterr(all={how!r})\n"}) for how in "ab")
    assert first != second


def test_a_table_that_lies_beside_the_code_is_read(digest):
    before = digest(papers__toy__topic__runs="def flow(): ...")
    found = []
    for number in ("1.0", "2.0"):
        (sources.SOURCE_ROOT / PACKAGE / "papers/toy/topic/t.csv").write_text(number)
        digests.forget()
        found.append(science("run", "toy", JOB))
    assert found[0].keys() - before.keys() == {"papers/toy/topic/t.csv"}
    assert found[0] != found[1]


@pytest.mark.parametrize(("paper", "topic"), [("neural_collapse", "collapse"), ("softmax_dynamics", "phases")])
def test_all_that_python_imports_is_in_the_digests(paper, topic):
    """No module of science is loaded by importing a topic's module, or its command, that its digests leave out."""
    for stage, part in TOPIC_MODULES.items():
        module = f"{PACKAGE}.papers.{paper}.{topic}.{part}"
        if sources.module_path(module) is None:
            continue
        program = f"import sys, {module}; print(*(name for name in sys.modules if name.startswith('{PACKAGE}.')))"
        loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        science_loaded = {name for name in loaded.split() if not sources.is_infrastructure(name)}
        assert module in science_loaded, stage
        assert science_loaded <= set(used_modules(module, f"{PACKAGE}.pipeline.commands.{stage}")), stage
