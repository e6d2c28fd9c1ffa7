"""What a notebook asks for, asked from a process of its own; the notebooks; the examples in docstrings."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import pandas as pd

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import PAPER
from tests.support import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
EXAMPLES = [
    ".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in find_files(SOURCE_ROOT / "learning_dynamics", "**/*.py")
    if ">>> " in file.read_text(encoding="utf-8") and "/papers/" not in file.as_posix()
]


def run(folder: Path, code: str, **variables: str) -> subprocess.CompletedProcess:
    """Run code with the package of a project's folder, from another folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}
    environment |= {"PYTHONPATH": str(folder / "src"), "MPLBACKEND": "agg", **variables}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder / "workflow", env=environment, capture_output=True, text=True
    )


def answered(folder: Path, code: str, **variables: str) -> str:
    ended = run(folder, code, **variables)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_start_imports_what_it_uses_alone():
    def topics(part):
        files = sorted((SOURCE_ROOT / "learning_dynamics/papers").glob(f"*/*/{part}.py"))
        return ", ".join(".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts) for file in files)

    every_configuration = (
        "learning_dynamics.pipeline.plan.config_files as config, learning_dynamics.pipeline.plan.plan as plan;"
        "plan.Plan(config.load())"
    )
    foreign = {
        "learning_dynamics": {"numpy", "pandas", "matplotlib", "learning_dynamics.pipeline"},
        "learning_dynamics.pipeline.commands.cli": {"numpy", "pandas", "pydantic", "ruamel", "yaml"},
        topics("runs"): {"pandas", "matplotlib", "sklearn", "torch"},
        topics("metrics"): {"matplotlib", "sklearn"},
        every_configuration: {"torch"},
    }
    for imported, others in foreign.items():
        loaded = answered(ROOT, f"import sys, {imported}; print(sorted(sys.modules))")
        assert not others & set(eval(loaded)), imported


def test_everything_of_a_run_is_found(built):
    said = answered(
        built.folder,
        """
import numpy, learning_dynamics as ld
from learning_dynamics.judging import every_draw
(paper,) = ld.paper_names()
table, flow = ld.table(paper, "descent"), ld.trajectory(paper, "descent")
assert table.attrs["settings"]["steps"] == len(flow.time) - 1
assert (ld.claims(paper)["paper"] == paper).all() and ld.claims().attrs["of"].endswith("results")
print(ld.figure(paper, "decay", look="talk").get_size_inches()[0], every_draw.__name__)
again = ld.simulate(paper, "descent")
measured = ld.measure(paper, "descent", again)
assert measured.equals(table) and measured.attrs["draw"] == table.attrs["draw"] == ("seed",)
few = ld.simulate(paper, "descent", seeds=2)
assert few.members == 2 and few.settings["seeds"] == 2
own = ld.judge(paper, "decay")
row = ld.claims().set_index("claim").loc["toy.decay"]
assert (own.verdict, own.headline.value, own.reason) == (row["verdict"], row["measured"], row["reason"])
assert own.rivals == {"a decay twice as fast": "contradicted"} and own.quantifier == "all draws"
assert "toy.decay (section 1): reproduced, of all draws" in repr(own) and "rival: a decay twice" in repr(own)
assert ld.judge(paper, "decay", {"run": few}).headline.draws == 2
mixed = table.sample(frac=1, random_state=1)
del mixed.attrs["draw"]  # as of a table that a file of another kind kept
assert ld.judge(paper, "decay", {"run": mixed}).headline == own.headline
coarse = ld.measure(paper, "descent", few)
coarse["value"] += coarse["time"] / 10
assert ld.judge(paper, "decay", {"run": coarse}).verdict == "contradicted"
# data and start are drawn alike; the data stay where they are asked to
first, other = (ld.simulate(paper, "slow", seed=seed).series["x"][0, 0] for seed in (2023, numpy.int64(7)))
kept = ld.simulate(paper, "slow", data={"seed": 2023}).series["x"][0, 0]
assert first == kept != other
nine = {role: ld.simulate(paper, role, samples=9) for role in ("slow", "fast")}
assert ld.judge(paper, "geometric", nine).headline.draws == 9
""",
    )
    assert said.split() == ["3.5", "every_draw"]


MISTAKES = (
    ("ld.table('toi', 'descent')", "no paper `toi`; did you mean `toy`?"),
    ("ld.table('toy', 'decent')", "no run `decent`; did you mean `descent`?"),
    ("ld.measure('toy', 'descent', ld.simulate('toy', 'slow'))", "this trajectory is of growth.growth"),
    ("ld.simulate('toy', 'descent', sedes=2)", "no setting `sedes`; did you mean `seeds`?"),
    ("ld.simulate('toy', 'descent', seeds=0)", "toy descent.seeds: must be 1 or more"),
    ("ld.simulate('toy', 'slow', samples=0)", "toy starts.samples: must be 1 or more"),
    ("ld.simulate('toy', 'slow', data={'sample': 1})", "unknown setting of `normal`; did you mean `samples`?"),
    ("ld.simulate('toy', 'slow', data=5)", "toy slow: data: the name of a data set, or settings of one (is 5)"),
    ("ld.simulate('toy', 'descent', data='starts')", "toy descent: takes no data set"),
    ("ld.judge('toy', 'decai')", "no claim `decai`; did you mean `decay`?"),
    (
        "import pandas; ld.judge('toy', 'decay', {'run': pandas.concat([ld.table('toy', 'descent')] * 2)})",
        "rows of the table repeat",
    ),
    ("ld.judge('toy', 'decay', {'rum': 1})", "no role `rum`; did you mean `run`?"),
    ("ld.judge('toy', 'decay', {'run': 3})", "takes a table of metrics or a trajectory (is int)"),
    ("ld.judge('toy', 'decay', {'run': ld.table('toy', 'descent')[['time']]})", "lacks the columns seed, quantity"),
    ("ld.judge('toy', 'geometric', rounding=-1.0)", "toy geometric.rounding: must be above 0"),
)
ALL_MISTAKES = """
import learning_dynamics as ld
for asked in __import__("json").loads({!r}):
    try:
        exec(asked)
    except Exception as error:
        print(error)
    else:
        print("accepted")
"""


def test_a_mistake_is_named_with_its_mend(built):
    said = answered(built.folder, ALL_MISTAKES.format(json.dumps([asked for asked, _ in MISTAKES]))).splitlines()
    assert [(asked, mend in line) for (asked, mend), line in zip(MISTAKES, said, strict=True)] == [
        (asked, True) for asked, _ in MISTAKES
    ]


CLAIMS = """
import warnings, learning_dynamics as ld
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    found = ld.claims("toy")
assert found.attrs["outdated"] == [str(one.message) for one in heard]
print(*found.attrs["outdated"], sep="\\n")
"""


def test_verdicts_say_of_which_version_they_are(workspace):
    assert answered(workspace.folder, CLAIMS).split() == []
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    other = "toy: verdicts of other settings or other code; run: snakemake toy"
    assert answered(workspace.folder, CLAIMS).strip() == other
    told = workspace.stage("verdicts", "results/claims.parquet")
    assert f"outdated: {other}" in told.stderr
    assert "2 claims: 2 reproduced\nof science and configuration " in told.stdout
    told = workspace.stage("summary")
    assert told.returncode == 1
    assert f"outdated: {other}" in told.stdout
    assert "the page to read (from an earlier run)" in told.stdout


def test_notebooks_run(whole):
    for notebook in NOTEBOOKS:
        cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
        assert cells
        answered(whole.folder, "\n\n".join(cells), LEARNING_DYNAMICS_SCALE="smoke")


def test_examples_in_docstrings_hold():
    for module in EXAMPLES:
        found = doctest.testmod(importlib.import_module(module))
        assert found.attempted
        assert not found.failed


def test_the_recipes_of_the_docs_work(workspace):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/recipes.md").read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks).replace("spectral_bias", "toy").replace("small_scale", "slow")
    ended = workspace.python("-c", code)
    assert ended.returncode == 0, ended.stderr
    measured = read_table(workspace.folder / "results/toy/metrics/slow.parquet")
    assert len(pd.read_csv(workspace.folder / "slow.csv")) == len(measured)
    assert r"\toprule" in workspace.read("claims.tex")
    assert "results/toy/benchmarks/run/slow.tsv" in ended.stdout


def test_a_matplotlibrc_changes_nothing():
    with mpl.rc_context({"axes.facecolor": "red"}), matplotlib_defaults():
        assert mpl.rcParams["axes.facecolor"] == mpl.rcParamsDefault["axes.facecolor"]
