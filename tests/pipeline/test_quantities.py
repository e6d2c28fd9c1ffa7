"""Quantities are declared where they are measured."""

import csv
from fnmatch import fnmatchcase

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.plan import quantities, sources
from learning_dynamics.tidy import QUANTITY
from tests.support import PAPERS, ROOT, smoke


def quantities_by_kind(paper: str) -> dict[str, set[str]]:
    """Return what is measured at small scale, by kind of run, of tables with a column of quantities."""
    found: dict[str, set[str]] = {}
    whole = smoke(paper)
    with open(ROOT / "tests/papers/quantities.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["paper"] == paper:
                found.setdefault(whole.measure(paper, row["run"])["function"], set()).add(row["quantity"])
    return {kind: names for kind, names in found.items() if QUANTITY in paper_function(paper, "metrics", kind).columns}


OF_OVERLAYS = {"continued_batches", "continued_whole"}  # measured where an overlay asks for it


def test_what_is_measured_is_declared_with_a_meaning_and_nothing_else():
    for paper in PAPERS:
        for kind, names in quantities_by_kind(paper).items():
            declared = quantities.declared_quantities(paper, kind)
            assert all(len(meaning) > 3 for meaning in declared.values()), kind
            missing = {name for name in names if not any(fnmatchcase(name, one) for one in declared)}
            assert not missing, f"{kind}: {sorted(missing)} are measured, not declared"
            idle = {one for one in declared if not any(fnmatchcase(name, one) for name in names)} - OF_OVERLAYS
            assert not idle, f"{kind}: {sorted(idle)} are declared, not measured at small scale"


METRICS = '''
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
'''


@pytest.fixture
def waves(tmp_path, monkeypatch):
    """Return a function that writes the metrics of the paper `waves` with one text replaced by another."""
    file = tmp_path / "learning_dynamics/papers/waves/decay/metrics.py"
    file.parent.mkdir(parents=True)
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    return lambda old="", new="": file.write_text(METRICS.replace(old, new) if old else METRICS, encoding="utf-8")


def test_quantities_are_listed_with_their_meanings_or_refused(waves):
    waves()
    assert dict(quantities.declared_quantities("waves", "decay.decay")) == {
        "x": "Where it is and how fast, in units of the start.",
        "speed": "Where it is and how fast, in units of the start.",
        "power_*": "Its powers.",
        "limit": "Where it ends.",
    }
    quantities.refuse_unlisted("waves", "decay.decay", ["x", "power_0.5"])
    with pytest.raises(ProjectError, match="measures spede; list it under `Quantities`"):
        quantities.refuse_unlisted("waves", "decay.decay", ["x", "spede"])
    waves("`of_ends`", "`of_end`")
    with pytest.raises(ProjectError, match="no function `of_end`"):
        quantities.declared_quantities("waves", "decay.decay")
