"""What a notebook asks for, asked from a process of its own; the notebooks; the examples in docstrings."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
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
    """Run code with the package of a project's folder, from another folder; a file, whose lines a traceback shows."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}
    environment |= {"PYTHONPATH": str(folder / "src"), "MPLBACKEND": "agg", **variables}
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, "asked.py")
        file.write_text(code, encoding="utf-8")
        return subprocess.run(
            [sys.executable, file], cwd=folder / "workflow", env=environment, capture_output=True, text=True
        )


def output_of(folder: Path, code: str, **variables: str) -> str:
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
        loaded = output_of(ROOT, f"import sys, {imported}; print(sorted(sys.modules))")
        assert not others & set(eval(loaded)), imported


def test_everything_of_a_run_is_found(built):
    said = output_of(
        built.folder,
        """
import numpy, learning_dynamics as ld
from learning_dynamics.judging import every_draw
(paper,) = ld.paper_names()
table, flow = ld.table(paper, "descent"), ld.trajectory(paper, "descent")
assert table.attrs["settings"]["steps"] == len(flow.time) - 1
assert (ld.claims(paper)["paper"] == paper).all() and ld.claims().attrs["of"].endswith("results")
print(ld.figure(paper, "decay", style="talk").get_size_inches()[0], every_draw.__name__)
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
assert "draw" not in mixed.attrs and not mixed.index.is_monotonic_increasing  # what is given stays as it is
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
    ("ld.figure('toy', 'decay', look='talk')", "toy decay: look is now style: style='talk'"),
    (
        "table = ld.table('toy', 'descent'); ld.judge('toy', 'decay', {'run': table.astype({'value': 'float32'})})",
        "column 'value' is float32, and claims decide by more digits",
    ),
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
    said = output_of(built.folder, ALL_MISTAKES.format(json.dumps([asked for asked, _ in MISTAKES]))).splitlines()
    assert [(asked, line) for (asked, mend), line in zip(MISTAKES, said, strict=True) if mend not in line] == []


SWEEP = {
    "changes": {
        "toy": {
            "runs": {
                "scan": {"extends": "slow", "sweep": {"rate": [0.01, 0.02, 0.04], "every": [1, 10]}},
                "packed": {"extends": "scan", "bundle": 4},
            }
        }
    }
}
FRAMES = """
import learning_dynamics as ld
project = ld.project("{folder}/sweep.yaml")
assert "scan" in project.runs("toy") and "scan" not in ld.runs("toy")
scan, packed = (project.table("toy", run) for run in ("scan", "packed"))
assert scan.equals(packed) and scan.attrs["settings"] == packed.attrs["settings"]
# a row for each run, draw and measurement
assert scan.groupby(["rate", "every"])["seed"].nunique().tolist() == [3] * 6
few = project.table("toy", "packed", "x", rate=0.02, seed=[0, 2], time=40.0)
same = scan[(scan["rate"] == 0.02) & scan["seed"].isin([0, 2]) & (scan["time"] == 40)]
assert few.reset_index(drop=True).equals(same.reset_index(drop=True)) and len(few)
assert few.attrs["settings"] == scan.attrs["settings"]
for asked in ({{"quantity": "y"}}, {{"rat": 1}}, {{"time": -1.0}}):
    try:
        project.table("toy", "scan", **asked)
    except Exception as error:
        print(error)
"""


def test_a_sweep_is_one_data_frame(workspace):
    workspace.write("sweep.yaml", json.dumps(SWEEP))
    workspace.snakemake("--configfile", "sweep.yaml", "--", "toy_scan", "toy_packed")
    assert output_of(workspace.folder, FRAMES.format(folder=workspace.folder)).splitlines() == [
        "toy scan: no quantity `y`; known are: x",
        "toy scan: no column `rat`; did you mean `rate`?",
        "no rows where time is -1.0",
    ]


EDITED = r"""
import pathlib, subprocess, sys, warnings, learning_dynamics as ld
project = ld.project(seed=7)
file = pathlib.Path("{folder}/workflow/config/toy.yaml")
before = ld.table("toy", "slow")
file.write_text(file.read_text().replace("steps: 40", "steps: 50"))
try:
    ld.table("toy", "slow")
except Exception as error:
    print(error)
assert project.simulate("toy", "slow").settings["steps"] == ld.simulate("toy", "slow").settings["steps"] == 50
subprocess.run([sys.executable, "-m", "snakemake", "--cores", "1", "--", "results/toy/metrics/slow.parquet"],
               cwd="{folder}", check=True, capture_output=True)
assert ld.table("toy", "slow")["time"].max() == 50
source = pathlib.Path("{folder}/src/learning_dynamics/papers/toy/growth/metrics.py")
source.write_text(source.read_text() + "\nVERSION = 2\n")
try:
    ld.table("toy", "slow")
except Exception as error:
    print(error)
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    ld.simulate("toy", "slow")
print(*(one.message for one in heard))
"""


def test_a_notebook_sees_what_is_edited_while_it_is_open(workspace):
    stale, again, restart = output_of(workspace.folder, EDITED.format(folder=workspace.folder)).splitlines()
    for line in (stale, again):
        assert "results/toy/metrics/slow.parquet: was made by other settings or other code" in line, line
    assert restart == "the project's source has changed since this kernel read it; restart the kernel"


TORCH = """
import json, torch, learning_dynamics as ld

def state():
    return [torch.get_num_threads(), str(torch.get_default_dtype()), torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), str(torch.empty(1).device)]

torch.set_num_threads(2)
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
with torch.autocast("cpu"), torch.no_grad(), torch.inference_mode():
    outside = state()
    kept = ld.simulate("toy", "slow").constants["torch"].tolist()
    assert state() == outside
print(json.dumps([kept, outside]))
"""


def test_a_training_has_the_torch_of_a_job_whatever_the_notebook_sets(workspace):
    file = f"{PAPER}/growth/runs.py"
    state = (
        "torch.get_num_threads(), str(torch.get_default_dtype()), torch.is_grad_enabled(), "
        'torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), str(torch.empty(1).device)'
    )
    constants = '{"torch": np.array([' + state + "], dtype=object)}"
    workspace.edit(file, '{"x": np.array(states).T})', '{"x": np.array(states).T}, ' + constants + ")")
    workspace.edit(file, "import numpy as np", "import numpy as np\nimport torch")
    kept, outside = json.loads(output_of(workspace.folder, TORCH))
    assert outside == [2, "torch.float64", False, True, True, "meta"]
    assert kept == [1, "torch.float32", True, False, False, "cpu"]


SHOWN = """
import learning_dynamics as ld
print(repr(ld.simulate("toy", "slow")))
print(ld.project("{folder}/sweep.yaml").simulate("toy", "scan"))
"""


def test_what_is_simulated_is_shown_in_a_few_lines(workspace):
    workspace.write("sweep.yaml", json.dumps(SWEEP))
    *run, sweep = output_of(workspace.folder, SHOWN.format(folder=workspace.folder)).splitlines()
    assert run[:2] == ["Trajectory: 3 members, 41 times from 0 to 40", "  series: x (3, 41)"]
    assert len(run) == 4
    assert "rate 0.01" in run[3]
    assert sweep.startswith("6 trajectories, by name: ['scan--rate-0.01--every-1', ")


CLAIMS = """
import warnings, learning_dynamics as ld
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    found = ld.claims("toy")
assert len(heard) == bool(found.attrs["outdated"]) and found.attrs["outdated"] == [str(one.message) for one in heard]
print(*found.attrs["outdated"], sep="\\n")
"""


def test_verdicts_say_of_which_version_they_are(workspace):
    assert output_of(workspace.folder, CLAIMS).split() == []
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    other = "toy: verdicts of other settings or other code; run: snakemake toy"
    assert output_of(workspace.folder, CLAIMS).strip() == other
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
        assert cells, notebook
        output_of(whole.folder, "\n\n".join(cells), LEARNING_DYNAMICS_SCALE="smoke")


def test_examples_in_docstrings_hold():
    for module in EXAMPLES:
        found = doctest.testmod(importlib.import_module(module))
        assert found.attempted, module
        assert not found.failed, module


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
