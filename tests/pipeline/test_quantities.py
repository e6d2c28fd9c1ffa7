"""Quantities are declared where they are measured, and a misspelt one is refused before anything runs."""

import csv
import re
from fnmatch import fnmatchcase

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.study import quantities, sources
from learning_dynamics.tidy import QUANTITY
from tests.support import PAPERS, ROOT, smoke


def measured(paper: str) -> dict[str, set[str]]:
    """Return what is measured at small scale, by kind of run, of tables with a column of quantities."""
    found: dict[str, set[str]] = {}
    whole = smoke(paper)
    with open(ROOT / "tests/papers/quantities.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["paper"] == paper:
                found.setdefault(whole.measure(paper, row["run"])["kind"], set()).add(row["quantity"])
    return {kind: names for kind, names in found.items() if QUANTITY in paper_function(paper, "metrics", kind).columns}


OF_OVERLAYS = {"continued_batches", "continued_whole"}  # measured where an overlay asks for it


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_measured_is_declared_with_a_meaning_and_nothing_else(paper):
    for kind, names in measured(paper).items():
        declared = quantities.declared_quantities(paper, kind)
        assert all(len(meaning) > 3 for meaning in declared.values()), kind
        missing = {name for name in names if not any(fnmatchcase(name, one) for one in declared)}
        assert not missing, f"{kind}: {sorted(missing)} are measured, not declared"
        idle = {one for one in declared if not any(fnmatchcase(name, one) for name in names)} - OF_OVERLAYS
        assert not idle, f"{kind}: {sorted(idle)} are declared, not measured at small scale"


SOURCES = {
    "decay/metrics.py": '''
def decay(trajectory):
    """Measure a decay.

    Quantities
    ----------
    x, speed
        Where it is and how fast, in units of the start.
    power_*
        Its powers.
    `of_ends`

    Returns
    -------
    table
    """

def of_ends(trajectory):
    """Measure the ends.

    Quantities
    ----------
    limit
        Where it ends.
    """
''',
    "decay/claims.py": """
from learning_dynamics.papers.waves.reading import last
from learning_dynamics.tidy import Quantity, by_draw

def holds(run, *, name: str = "nothing"):
    x, ends = by_draw(run, "x"), last(run, quantity="limit")

    def judge(reading: Quantity):
        yield every_draw(name, by_draw(run, reading), at_most=1.0)

    return Finding(judge, "PRINTED", rivals={"twice": "speed"})

def helped(run):
    return _both(run, "power_2")

def _both(run, *several: Quantity, first: Quantity = "DEFAULT"):
    return [last(run, one) for one in (first, *several)]
""",
    "reading.py": """
from learning_dynamics.tidy import Quantity, select

def last(table, quantity: Quantity | None = None):
    return select(table, ["HELPER", "x"] if quantity is None else quantity)
""",
}


@pytest.fixture
def waves(tmp_path, monkeypatch):
    """Return a function that writes the paper `waves` with a text in place of a placeholder."""
    folder = tmp_path / "learning_dynamics/papers/waves"

    def write(placeholder: str = "", text: str = "x") -> None:
        (folder / "decay").mkdir(parents=True, exist_ok=True)
        for name, source in SOURCES.items():
            source = source.replace(placeholder, text) if placeholder else source
            (folder / name).write_text(re.sub("PRINTED|HELPER|DEFAULT", "x", source), encoding="utf-8")
        tidy = tmp_path / "learning_dynamics/tidy.py"
        tidy.write_text((ROOT / "src/learning_dynamics/tidy.py").read_text(encoding="utf-8"), encoding="utf-8")

    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    return write


def refuse(claim: str) -> None:
    quantities.refuse_undeclared("claims", "waves", f"decay.{claim}", "waves.yaml: claims.it", ["decay.decay"])


def test_quantities_are_listed_with_their_meanings_those_of_helpers_too(waves):
    waves()
    assert dict(quantities.declared_quantities("waves", "decay.decay")) == {
        "x": "Where it is and how fast, in units of the start.",
        "speed": "Where it is and how fast, in units of the start.",
        "power_*": "Its powers.",
        "limit": "Where it ends.",
    }


@pytest.mark.parametrize("claim", ["holds", "helped"])
def test_what_is_declared_may_be_asked_for(waves, claim):
    waves()
    refuse(claim)


@pytest.mark.parametrize(
    ("placeholder", "claim"),
    [('(run, "x")', "holds"), ('"limit"', "holds"), ('"speed"', "holds"), ("PRINTED", "holds"), ("HELPER", "helped"),
     ("DEFAULT", "helped"),
     ('"power_2"', "helped")],
)  # fmt: skip
def test_a_misspelt_quantity_is_refused_wherever_it_is_asked_for(waves, placeholder, claim):
    quoted = placeholder.replace('"x"', '"speeds"').replace('"limit"', '"speeds"').replace('"speed"', '"speeds"')
    wrong = quoted.replace('"power_2"', '"speeds"') if '"' in placeholder else "speeds"
    waves(placeholder, wrong)
    with pytest.raises(ProjectError, match=r"\.py:\d+ asks for `speeds`, which none .* did you mean `speed`\?"):
        refuse(claim)


def test_a_measured_quantity_that_is_not_listed_is_refused(waves):
    waves()
    quantities.refuse_unlisted("waves", "decay.decay", ["x", "power_0.5"])
    with pytest.raises(ProjectError, match="measures spede; list it under `Quantities`"):
        quantities.refuse_unlisted("waves", "decay.decay", ["x", "spede"])


def test_a_reference_to_a_function_that_is_not_there_is_refused(waves):
    waves("`of_ends`", "`of_end`")
    with pytest.raises(ProjectError, match="no function `of_end`"):
        quantities.declared_quantities("waves", "decay.decay")
