"""Quantities are declared where they are measured, and a misspelt one is refused before anything runs."""

from __future__ import annotations

import csv
from fnmatch import fnmatchcase

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline import quantities
from learning_dynamics.pipeline.stages.functions import paper_function
from learning_dynamics.tidy import QUANTITY
from tests.support import PAPERS, ROOT, smoke


def measured(paper: str) -> dict[str, set[str]]:
    """Return what is measured at small scale, by kind of run, of tables with a column of quantities."""
    found: dict[str, set[str]] = {}
    study = smoke(paper).study
    with open(ROOT / "tests/papers/quantities.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["paper"] == paper:
                found.setdefault(study.runs[paper][row["run"]][1].get("kind") or kind_of(paper, row["run"]), set()).add(
                    row["quantity"]
                )
    return {kind: names for kind, names in found.items() if QUANTITY in paper_function(paper, "metrics", kind).columns}


def kind_of(paper: str, run: str) -> str:
    return smoke(paper).measure(paper, run)["kind"]


@pytest.mark.parametrize("paper", PAPERS)
def test_what_is_measured_is_declared_with_a_meaning_and_nothing_else(paper):
    for kind, names in measured(paper).items():
        declared = quantities.declared(paper, kind)
        assert all(len(meaning) > 3 for meaning in declared.values()), kind
        missing = {name for name in names if not any(fnmatchcase(name, one) for one in declared)}
        assert not missing, f"{kind}: {sorted(missing)} are measured, not declared"
        idle = {one for one in declared if not any(fnmatchcase(name, one) for name in names)}
        assert not idle, f"{kind}: {sorted(idle)} are declared, not measured at small scale"
