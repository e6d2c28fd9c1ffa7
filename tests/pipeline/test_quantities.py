"""The section `Quantities` of a metrics function declares what it measures: compared with what was measured, and read.

`tests/papers/quantities.csv` lists what every run of the shipped papers measures at smoke scale.
"""

import csv
from fnmatch import fnmatchcase

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.plan import quantities, sources
from learning_dynamics.tidy import QUANTITY
from tests.pipeline.conftest import PAPER
from tests.support import PAPERS, ROOT, smoke


def measured_quantities(paper: str) -> dict[str, set[str]]:
    """Return what is measured at smoke scale, by metrics function, of tables with a column of quantities."""
    measured: dict[str, set[str]] = {}
    with open(ROOT / "tests/papers/quantities.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["paper"] == paper:
                function = smoke(paper).measure(paper, row["run"])["function"]
                measured.setdefault(function, set()).add(row["quantity"])
    assert measured, paper
    return {
        function: names
        for function, names in measured.items()
        if QUANTITY in paper_function(paper, "metrics", function).columns
    }


@pytest.mark.parametrize("paper", PAPERS)
def test_every_measured_quantity_is_declared(paper):
    for function, names in measured_quantities(paper).items():
        declared = quantities.declared_quantities(paper, function)
        # a declared name may be a pattern, as `power_*`
        undeclared = {name for name in names if not any(fnmatchcase(name, pattern) for pattern in declared)}
        assert undeclared == set(), function


OF_OVERLAYS = {"continued_batches", "continued_whole"}  # measured where an overlay asks for it, not at smoke scale


@pytest.mark.parametrize("paper", PAPERS)
def test_every_declared_quantity_is_measured(paper):
    for function, names in measured_quantities(paper).items():
        declared = quantities.declared_quantities(paper, function)
        unmeasured = {pattern for pattern in declared if not any(fnmatchcase(name, pattern) for name in names)}
        assert unmeasured - OF_OVERLAYS == set(), function


@pytest.mark.parametrize("paper", PAPERS)
def test_every_declared_quantity_has_a_meaning(paper):
    for function in measured_quantities(paper):
        for name, meaning in quantities.declared_quantities(paper, function).items():
            assert len(meaning) > 3, f"{function}: {name}"  # or it is a dash or dots


METRICS_OF_GROWTH = f"{PAPER}/growth/metrics.py"
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
def metrics_of_waves(tmp_path, monkeypatch):
    """The file of the metrics of a paper `waves`, topic `decay`: `METRICS`."""
    file = tmp_path / "learning_dynamics/papers/waves/decay/metrics.py"
    file.parent.mkdir(parents=True)
    file.write_text(METRICS, encoding="utf-8")
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    return file


def test_declared_quantities_are_read_with_their_meanings(metrics_of_waves):
    """Those of a function that is named, here `of_ends`, are among them."""
    assert dict(quantities.declared_quantities("waves", "decay.decay")) == {
        "x": "Where it is and how fast, in units of the start.",
        "speed": "Where it is and how fast, in units of the start.",
        "power_*": "Its powers.",
        "limit": "Where it ends.",
    }


def test_a_quantity_that_is_not_declared_is_refused(metrics_of_waves):
    quantities.refuse_unlisted("waves", "decay.decay", ["x", "power_0.5"])
    with pytest.raises(ProjectError, match="measures spede; list it under `Quantities`"):
        quantities.refuse_unlisted("waves", "decay.decay", ["x", "spede"])


def test_a_declared_column_that_is_not_returned_is_refused(workspace):
    old, new = '(x, predicted)}, {"seed": np.arange(len(x)), "time": time}', 'x}, {"seed": np.arange(len(x))}'
    workspace.edit(METRICS_OF_GROWTH, old, new)
    ended = workspace.cli("metrics", "toy", "slow")
    assert ended.returncode == 1
    message = "`growth` returns no column `time`, which @columns declares"
    assert ended.stderr == f"error: {workspace.folder}/{METRICS_OF_GROWTH}: {message}\n"


def test_the_quantities_of_a_function_that_does_not_exist_are_refused(metrics_of_waves):
    metrics_of_waves.write_text(METRICS.replace("`of_ends`", "`of_end`"), encoding="utf-8")
    with pytest.raises(ProjectError, match="no function `of_end`"):
        quantities.declared_quantities("waves", "decay.decay")
