"""Digests are of the code and tables that a job uses. Of docstrings they contain a claim's only, and no comments."""

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


def edited(old, new):
    """Return the module `BASE` after an edit."""
    assert old in BASE
    return BASE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("# a remark", "# another", id="another comment"),
        pytest.param('"""Words."""\n', "", id="no docstring of the module"),
        pytest.param('"""Words."""\nimport', '"""It\'s longer."""\nimport', id="another docstring of the module"),
        pytest.param('    """Words with', '    """', id="another docstring of the function"),
        pytest.param("x * np.exp(-rate)", "(x\n            * np.exp( -rate ))", id="spaces and line ends"),
    ],
)
def test_comments_docstrings_and_layout_do_not_change_the_digest(digest, old, new):
    assert digest({RUNS: edited(old, new)}) == digest({RUNS: BASE})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("-rate)", "-rate / 2)", id="another formula"),
        pytest.param("rate: float = 1.0", "rate: float = 2.0", id="another default"),
        pytest.param("rate < 0", "rate <= 0", id="another condition"),
        pytest.param("ValueError", "KeyError", id="another exception"),
        pytest.param("import numpy as np", "import jax.numpy as np", id="another library"),
        pytest.param("np.exp", "np.expm1", id="another function"),
        pytest.param("def flow", "def neighbour(x):\n    return x\n\n\ndef flow", id="a new function beside it"),
    ],
)
def test_an_edit_of_the_code_changes_the_digest(digest, old, new):
    assert digest({RUNS: edited(old, new)}) != digest({RUNS: BASE})


CLAIMS_IN_A_FOLDER = {f"{CLAIMS}/limits": "def limit(): ...", f"{CLAIMS}/speeds": ""}


def test_of_a_folder_of_claims_only_the_module_of_the_function_is_in_the_digests(digest):
    used = digest(CLAIMS_IN_A_FOLDER, stage="claims", function="topic.limit")
    assert {"papers.toy.topic.claims", "papers.toy.topic.claims.limits"} <= set(used)
    assert "papers.toy.topic.claims.speeds" not in used


def test_functions_of_a_folder_are_those_of_its_modules(digest):
    digest(CLAIMS_IN_A_FOLDER, stage="claims", function="topic.limit")  # writes the sources
    assert set(sources.definitions(f"{PACKAGE}.papers.toy.topic.claims")) == {"limit"}
    assert sources.topics("toy") == ["topic"]
    with pytest.raises(ProjectError, match=r"no function `limits` in .*topic/claims; did you mean `limit`"):
        sources.definition_of("claims", "toy", "topic.limits", where="claims.limit")  # begins the message


def test_a_claims_docstring_is_in_its_digest_and_those_of_its_imports_are_not(digest):
    def digest_of_claim(statement, docstring_of_theory=""):
        claims = f'from .. import theory\n\n\ndef holds(run):\n    """{statement}"""\n    return run\n'
        modules = {CLAIMS: claims, "papers/toy/theory": f'"""{docstring_of_theory}"""\n'}
        return digest(modules, stage="claims", function="topic.holds")

    assert digest_of_claim("It holds.") != digest_of_claim("It does not.")
    assert digest_of_claim("It holds.", "Words.") == digest_of_claim("It holds.", "Others.")


@pytest.mark.parametrize(
    "import_statement",
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
def test_imports_are_followed_in_every_form(digest, import_statement):
    def digests_with(body):
        theory = "from ...measures import spectrum"  # the last statement imports it, and this imports `spectrum`
        modules = {"measures/spectrum": body, "papers/toy/theory": theory, "unused": body}
        return digest({RUNS: f"{import_statement}\ndef flow(): ...", **modules})

    assert digests_with("largest = 1") != digests_with("largest = 2")
    assert "unused" not in digests_with("largest = 1")


def test_science_that_the_command_of_a_stage_imports_is_in_the_digests(digest):
    command = "from learning_dynamics.measures import spectrum"

    def digests_with(body):
        return digest({"pipeline/commands/run": command, "measures/spectrum": body})

    assert digests_with("x = 1") != digests_with("x = 2")
    # the command itself is of the pipeline, which computes no result
    assert "pipeline.commands.run" not in digests_with("x = 1")


def test_modules_that_compute_no_result_are_not_in_the_digests(digest):
    def digests_with(body):
        return digest({RUNS: "from learning_dynamics import errors, files", "errors": body, "files": body})

    assert digests_with("x = 1") == digests_with("x = 2")


def test_the_init_of_a_package_is_in_the_digests(digest):
    def digests_with(how):
        return digest({"papers/toy/__init__": f"import numpy\nnumpy.seterr(all={how!r})\n"})

    assert digests_with("warn") != digests_with("raise")


def test_a_table_next_to_the_code_is_in_the_digests(digest):
    without_table = digest({RUNS: "def flow(): ..."})

    def digests_with(number):
        (sources.SOURCE_ROOT / PACKAGE / "papers/toy/topic/t.csv").write_text(number)
        digests.forget()
        return science("run", "toy", JOB)

    with_table = digests_with("1.0")
    assert with_table.keys() - without_table.keys() == {"papers/toy/topic/t.csv"}
    assert digests_with("2.0") != with_table


@pytest.mark.parametrize(("paper", "topic"), [("neural_collapse", "collapse"), ("softmax_dynamics", "phases")])
def test_all_science_that_python_imports_for_a_job_is_in_its_digests(paper, topic):
    """Python imports a topic's module and its command; the digests are to have every module of science among these."""
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
        # only `files` imports it, to find the checkout, and imports of `files` are not followed: it computes no result
        science_loaded.discard(f"{PACKAGE}.environment")
        assert science_loaded <= set(used_modules(module, command)), stage
