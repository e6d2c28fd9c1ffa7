"""The package as notebooks use it, `import learning_dynamics as ld`, each time in a process of its own.

The notebooks and the recipes of the documentation are run as well, and, in this process, the examples in docstrings.
"""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT
from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import PAPER
from tests.support import ROOT


def module_name(file: Path) -> str:
    """Return the name under which a file of the package is imported."""
    return ".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")


NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
MODULES_WITH_EXAMPLES = [
    module_name(file)
    for file in find_files(SOURCE_ROOT / "learning_dynamics", "**/*.py")
    if ">>> " in file.read_text(encoding="utf-8")
]


def run(folder: Path, code: str, **variables: str) -> subprocess.CompletedProcess:
    """Run code with the package of a project's folder, in another working folder, as a notebook does.

    The code is in a file, so that a traceback shows its lines.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COV"))}
    environment |= {"PYTHONPATH": str(folder / "src"), "MPLBACKEND": "agg", **variables}
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, "notebook.py")
        file.write_text(code, encoding="utf-8")
        return subprocess.run(
            [sys.executable, file], cwd=folder / "workflow", env=environment, capture_output=True, text=True
        )


def output_of(folder: Path, code: str, **variables: str) -> str:
    """Run code in this way, and return what it prints."""
    ended = run(folder, code, **variables)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def values_of(folder: Path, *expressions: str, code: str = "") -> list[Any]:
    """Return the values of expressions after some code, as JSON has them; `ld` is the package of a project's folder."""
    program = f"import json\nimport learning_dynamics as ld\n{code}\nprint(json.dumps([{', '.join(expressions)}]))"
    return json.loads(output_of(folder, program))


def modules_of_topics(name: str) -> str:
    """Return the modules of this name in all papers' topics, separated by commas as after `import`."""
    return ", ".join(map(module_name, sorted((SOURCE_ROOT / "learning_dynamics/papers").glob(f"*/*/{name}.py"))))


@pytest.mark.parametrize(
    ("imported", "code", "forbidden"),
    [
        pytest.param(
            "learning_dynamics",
            "",
            {"numpy", "pandas", "matplotlib", "learning_dynamics.pipeline"},
            id="the package",
        ),
        pytest.param(
            "learning_dynamics.pipeline.commands.cli",
            "",
            {"numpy", "pandas", "pydantic", "ruamel", "yaml"},
            id="the commands",
        ),
        pytest.param(modules_of_topics("runs"), "", {"pandas", "matplotlib", "sklearn", "torch"}, id="all runs"),
        pytest.param(modules_of_topics("metrics"), "", {"matplotlib", "sklearn"}, id="all metrics"),
        pytest.param(
            "learning_dynamics.pipeline.plan.config_files as config, learning_dynamics.pipeline.plan.plan as plan",
            "plan.Plan(config.load())",
            {"torch"},
            id="the plan of all papers",
        ),
    ],
)
def test_an_import_and_the_code_after_it_load_no_library_that_they_do_not_need(imported, code, forbidden):
    loaded = output_of(ROOT, f"import sys, {imported}\n{code}\nprint(*sys.modules)").split()
    assert "learning_dynamics" in loaded
    assert forbidden & set(loaded) == set()


# -- what a notebook asks for ------------------------------------------------------------------------------------------


def test_the_table_and_the_trajectory_of_a_run_are_found(built):
    steps, times = values_of(
        built.folder,
        "ld.table('toy', 'descent').attrs['settings']['steps']",
        "len(ld.trajectory('toy', 'descent').time)",
    )
    assert times == steps + 1


def test_the_papers_and_their_claims_are_found(built):
    papers, of_claims = values_of(built.folder, "ld.paper_names()", "ld.claims('toy')['paper'].unique().tolist()")
    assert papers == of_claims == ["toy"]


def test_claims_are_read_from_the_results_of_the_project_and_say_so(built):
    # where no claim has been judged they are the published ones
    (source,) = values_of(built.folder, "ld.claims().attrs['of']")
    assert Path(source).samefile(built.folder / "results")


def test_a_figure_is_drawn_in_the_style_that_is_asked_for(built):
    code = """
def size_of_label(style):
    return ld.figure("toy", "decay", style=style).axes[0].xaxis.label.get_size()
"""
    in_paper, in_talk = values_of(built.folder, "size_of_label('paper')", "size_of_label('talk')", code=code)
    assert (in_paper, in_talk) == (9.5, 12.5)  # `axes.labelsize` of the two style sheets


def test_a_run_is_simulated_and_measured_again_to_the_same_table(built):
    code = """
table = ld.table("toy", "descent")
measured = ld.measure("toy", "descent", ld.simulate("toy", "descent"))
"""
    is_same, *draws = values_of(
        built.folder, "measured.equals(table)", "measured.attrs['draw']", "table.attrs['draw']", code=code
    )
    assert is_same
    assert draws == [["seed"], ["seed"]]


def test_a_run_is_simulated_with_other_settings(built):
    code = "few = ld.simulate('toy', 'descent', seeds=2)"
    assert values_of(built.folder, "few.members", "few.settings['seeds']", code=code) == [2, 2]


def test_a_claim_is_judged_as_on_the_page(built):
    code = """
judged = ld.judge("toy", "decay")
row = ld.claims().set_index("claim").loc["toy.decay"]
"""
    in_notebook, on_page = values_of(
        built.folder,
        "[judged.verdict, judged.headline.value, judged.reason]",
        "[row['verdict'], row['measured'], row['reason']]",
        code=code,
    )
    assert in_notebook == on_page


def test_a_claim_that_is_judged_shows_its_quantifier_and_its_rivals(built):
    rivals, quantifier, shown = values_of(
        built.folder, "judged.rivals", "judged.quantifier", "repr(judged)", code="judged = ld.judge('toy', 'decay')"
    )
    assert rivals == {"a decay twice as fast": "contradicted"}
    assert quantifier == "all draws"
    assert "toy.decay (section 1): reproduced, of all draws" in shown
    assert "rival: a decay twice" in shown


def test_a_claim_is_judged_on_a_trajectory_that_is_given(built):
    code = "few = ld.simulate('toy', 'descent', seeds=2)"
    assert values_of(built.folder, "ld.judge('toy', 'decay', {'run': few}).headline.draws", code=code) == [2]


def test_a_claim_is_judged_on_trajectories_that_are_given_for_several_roles(built):
    code = "nine = {role: ld.simulate('toy', role, samples=9) for role in ('slow', 'fast')}"
    assert values_of(built.folder, "ld.judge('toy', 'geometric', nine).headline.draws", code=code) == [9]


def test_a_claim_is_judged_on_a_table_that_is_given(built):
    code = """
wrong = ld.table("toy", "descent")
wrong["value"] += wrong["time"] / 10  # it does not decay: at the end, time 5, it is 0.5 too large
"""
    assert values_of(built.folder, "ld.judge('toy', 'decay', {'run': wrong}).verdict", code=code) == ["contradicted"]


def test_the_order_of_rows_does_not_count_and_a_table_that_is_judged_is_not_changed(built):
    code = """
mixed = ld.table("toy", "descent").sample(frac=1, random_state=1)
del mixed.attrs["draw"]  # as of a table that was read from a CSV file
before = mixed.copy()
judged = ld.judge("toy", "decay", {"run": mixed})
"""
    is_same, is_unchanged, has_draw = values_of(
        built.folder,
        "judged.headline == ld.judge('toy', 'decay').headline",
        "mixed.equals(before)",
        "'draw' in mixed.attrs",
        code=code,
    )
    assert is_same
    assert is_unchanged
    assert not has_draw


def test_another_seed_draws_other_data_unless_the_data_have_a_seed(built):
    code = """
import numpy
def first_state(**settings):
    return float(ld.simulate("toy", "slow", **settings).series["x"][0, 0])
"""
    by_default, of_2023, of_7, of_data_with_a_seed = values_of(
        built.folder,
        "first_state()",
        "first_state(seed=2023)",
        "first_state(seed=numpy.int64(7))",
        "first_state(seed=7, data={'seed': 2023})",
        code=code,
    )
    assert of_2023 == by_default  # the configured seed
    assert of_7 != by_default
    assert of_data_with_a_seed == by_default


MISTAKES = (  # calls, and words of their answers
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
MAKE_MISTAKES = """
import json
import learning_dynamics as ld
for call in json.loads({calls!r}):
    try:
        exec(call)
    except Exception as error:
        print(error)
    else:
        print("accepted")
"""


@pytest.fixture(scope="module")
def answers(built):
    """Return the answer to each call of `MISTAKES`, which is one line; one process makes all of them."""
    calls = [call for call, _ in MISTAKES]
    lines = output_of(built.folder, MAKE_MISTAKES.format(calls=json.dumps(calls))).splitlines()
    return dict(zip(calls, lines, strict=True))


@pytest.mark.parametrize(("call", "words"), MISTAKES)
def test_the_answer_to_a_mistake_names_it(call, words, answers):
    assert words in answers[call]


# code of a function: the message of the error that a call raises
DEFINE_REFUSAL = """
def refusal(function, *arguments, **settings):
    try:
        function(*arguments, **settings)
    except Exception as error:
        return str(error)

"""
# an overlay with a sweep of six runs, `packed` in bundles of four and two
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


@pytest.fixture(scope="module")
def swept(built, tmp_path_factory):
    """Return the folder of a project that has made a sweep, as `scan` run by run and as `packed` in bundles."""
    workspace = built.copy(tmp_path_factory.mktemp("swept") / "project")
    workspace.write("sweep.yaml", json.dumps(SWEEP))
    workspace.snakemake("--configfile", "sweep.yaml", "--", "toy_scan", "toy_packed")
    return workspace.folder


def values_of_sweep(folder: Path, *expressions: str, code: str = "") -> list[Any]:
    """Return the values of expressions as `values_of` does; `project` is the project with the sweep."""
    code = f"project = ld.project({str(folder / 'sweep.yaml')!r})\n{code}"
    return values_of(folder, *expressions, code=code)


def test_a_sweep_of_an_overlay_is_a_run_of_the_project_with_that_overlay_and_not_of_the_package(swept):
    assert values_of_sweep(swept, "'scan' in project.runs('toy')", "'scan' in ld.runs('toy')") == [True, False]


def test_a_sweep_is_one_table_with_the_draws_of_every_run(swept):
    (draws,) = values_of_sweep(
        swept, "project.table('toy', 'scan').groupby(['rate', 'every'])['seed'].nunique().tolist()"
    )
    n_draws, n_runs = 3, 6  # of the data set `starts`, and of `SWEEP`
    assert draws == [n_draws] * n_runs


def test_bundles_give_the_table_of_a_sweep_without_bundles(swept):
    code = "scan, packed = (project.table('toy', run) for run in ('scan', 'packed'))"
    assert values_of_sweep(
        swept, "scan.equals(packed)", "scan.attrs['settings'] == packed.attrs['settings']", code=code
    ) == [True, True]


def test_reading_a_sweep_that_is_not_finished_says_how_much_is_missing_and_what_makes_it(swept):
    more = json.loads(json.dumps(SWEEP))
    more["changes"]["toy"]["runs"]["scan"]["sweep"]["rate"].append(0.08)
    (swept / "more.yaml").write_text(json.dumps(more))
    code = f"{DEFINE_REFUSAL}project = ld.project('more.yaml')"
    (message,) = values_of(swept, "refusal(project.table, 'toy', 'scan', 'x', rate=0.01)", code=code)
    command = "snakemake --cores all --configfile more.yaml -- toy_scan"
    # of eight runs the two at the new rate
    assert message == f"toy scan: 2 of 8 tables are missing; run: {command}"


def test_judging_without_the_tables_of_a_run_says_what_makes_them(swept):
    (message,) = values_of(swept, "refusal(ld.project(seed=7).judge, 'toy', 'geometric')", code=DEFINE_REFUSAL)
    command = "snakemake --cores all --config seed=7 -- results/seed7/toy/metrics/slow.parquet"
    assert message == f"toy slow: 1 of 1 tables are missing; run: {command}"


@pytest.mark.parametrize("run", ["scan", "packed"])
@pytest.mark.parametrize(
    "rows",
    [
        "project.table('toy', {run!r}, rate=0.01, every=1)",
        "project.table('toy', {run!r}).query('rate == 0.01 and every == 1')",
        "dict(list(project.table('toy', {run!r}).groupby(['rate', 'every'])))[0.01, 1]",  # as docs/scaling.md has it
    ],
)
def test_a_claim_is_judged_at_one_value_of_a_sweep_as_on_that_run(swept, run, rows):
    code = f"judged = ld.judge('toy', 'geometric', {{'slow': {rows.format(run=run)}}})"
    assert values_of_sweep(
        swept, "judged.verdict", "judged.headline == ld.judge('toy', 'geometric').headline", code=code
    ) == ["reproduced", True]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("table[table['every'] == 1]", "the table has 3 values of `rate`, and the claim is judged at one; give table["),
        ("table[table['rate'] == 0.01]", "the table has 2 values of `every`"),
        ("table.drop(columns='rate')", "the table lacks the columns rate"),
    ],
)
def test_a_claim_is_not_judged_on_several_values_of_a_sweep_at_once(swept, rows, words):
    code = f"""{DEFINE_REFUSAL}
table = project.table("toy", "scan")
"""
    (message,) = values_of_sweep(swept, f"refusal(ld.judge, 'toy', 'geometric', {{'slow': {rows}}})", code=code)
    assert words in message


def test_a_selection_of_a_sweeps_rows_has_the_settings_of_the_sweep(swept):
    code = """
scan = project.table("toy", "scan")
few = project.table("toy", "packed", "x", rate=0.02, seed=[0, 2], time=40.0)
expected = scan[(scan["rate"] == 0.02) & scan["seed"].isin([0, 2]) & (scan["time"] == 40)]
"""
    rows, is_same, has_settings = values_of_sweep(
        swept,
        "len(few)",
        "few.reset_index(drop=True).equals(expected.reset_index(drop=True))",
        "few.attrs['settings'] == scan.attrs['settings']",
        code=code,
    )
    # two draws at the last time, of runs that record every step and every tenth
    assert rows == 2 * 2
    assert is_same
    assert has_settings


def test_mistakes_in_a_selection_of_a_sweep_are_named(swept):
    assert values_of_sweep(
        swept,
        "refusal(project.table, 'toy', 'scan', quantity='y')",
        "refusal(project.table, 'toy', 'scan', rat=1)",
        "refusal(project.table, 'toy', 'scan', time=-1.0)",
        code=DEFINE_REFUSAL,
    ) == [
        "toy scan: no quantity `y`; known are: x",
        "toy scan: no column `rat`; did you mean `rate`?",
        "no rows where time is -1.0",
    ]


# -- what is edited or set while a notebook is open --------------------------------------------------------------------


STALE = "results/toy/metrics/slow.parquet: was made by other settings or other code"
EDIT_CONFIGURATION = """
import pathlib, subprocess, sys
project = ld.project(seed=7)  # with a seed it is another project than that of `ld`
for project_or_package in (project, ld):  # let both read the configuration
    project_or_package.simulate("toy", "slow")
file = pathlib.Path("{folder}/workflow/config/toy.yaml")
file.write_text(file.read_text().replace("steps: 40", "steps: 50"))
refused = refusal(ld.table, "toy", "slow")
subprocess.run([sys.executable, "-m", "snakemake", "--cores", "1", "--", "results/toy/metrics/slow.parquet"],
               cwd="{folder}", check=True, capture_output=True)
"""
EDIT_SOURCE = """
import pathlib, warnings
ld.table("toy", "slow")  # let it read the sources
file = pathlib.Path("{folder}/src/learning_dynamics/papers/toy/growth/metrics.py")
file.write_text(file.read_text() + "\\nVERSION = 2\\n")
refused = refusal(ld.table, "toy", "slow")
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    ld.simulate("toy", "slow")
"""


def test_an_open_notebook_sees_an_edit_of_the_configuration(workspace):
    refused, steps_of_project, steps_of_package, last_time = values_of(
        workspace.folder,
        "refused",
        "project.simulate('toy', 'slow').settings['steps']",
        "ld.simulate('toy', 'slow').settings['steps']",
        "ld.table('toy', 'slow')['time'].max()",
        code=DEFINE_REFUSAL + EDIT_CONFIGURATION.format(folder=workspace.folder),
    )
    assert STALE in refused
    assert steps_of_project == steps_of_package == 50
    assert last_time == 50  # of the table that Snakemake has made again


def test_an_open_notebook_is_to_be_restarted_after_an_edit_of_the_source(workspace):
    refused, heard = values_of(
        workspace.folder,
        "refused",
        "[str(one.message) for one in heard]",
        code=DEFINE_REFUSAL + EDIT_SOURCE.format(folder=workspace.folder),
    )
    assert STALE in refused
    assert heard == ["the project's source has changed since this kernel read it; restart the kernel"]


# an expression: the settings of torch in a process
TORCH_STATE = (
    "{'threads': torch.get_num_threads(), 'type': str(torch.get_default_dtype()), 'grad': torch.is_grad_enabled(), "
    "'inference': torch.is_inference_mode_enabled(), 'autocast': torch.is_autocast_enabled('cpu'), "
    "'device': str(torch.empty(1).device)}"
)
CHANGE_TORCH = f"""
import torch
torch.set_num_threads(2)
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
with torch.autocast("cpu"), torch.no_grad(), torch.inference_mode():
    before = {TORCH_STATE}
    inside = ld.simulate("toy", "slow").constants["torch"].item()
    after = {TORCH_STATE}
"""


def test_a_simulation_has_the_torch_of_a_job_whatever_the_notebook_sets(workspace):
    file = f"{PAPER}/growth/runs.py"
    # the run records these settings as a constant
    constants = f'{{"torch": np.array({TORCH_STATE}, dtype=object)}}'
    workspace.edit(file, '{"x": np.array(states).T})', '{"x": np.array(states).T}, ' + constants + ")")
    workspace.edit(file, "import numpy as np", "import numpy as np\nimport torch")
    before, inside, after = values_of(workspace.folder, "before", "inside", "after", code=CHANGE_TORCH)
    of_a_job = {"threads": 1, "type": "torch.float32", "grad": True, "inference": False, "autocast": False}
    assert inside == of_a_job | {"device": "cpu"}
    of_the_notebook = {"threads": 2, "type": "torch.float64", "grad": False, "inference": True, "autocast": True}
    assert before == after == of_the_notebook | {"device": "meta"}


def test_a_trajectory_is_shown_by_its_size_and_its_settings(built):
    (text,) = values_of(built.folder, "repr(ld.simulate('toy', 'slow'))")
    size, series, _, settings = text.splitlines()
    assert size == "Trajectory: 3 members, 41 times from 0 to 40"
    assert series == "  series: x (3, 41)"
    assert "rate 0.01" in settings


def test_the_trajectories_of_a_sweep_are_shown_by_their_number_and_their_names(swept):
    (text,) = values_of_sweep(swept, "str(project.simulate('toy', 'scan'))")
    assert text.startswith("6 trajectories, by name: ['scan--rate-0.01--every-1', ")
    assert "\n" not in text


OUTDATED = "toy: verdicts of other settings or other code; run: snakemake toy"
READ_CLAIMS = """
import warnings
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    outdated = ld.claims("toy").attrs["outdated"]
"""


@pytest.fixture
def with_outdated_verdicts(workspace):
    """The made-up paper with a source that was edited after its verdicts were made."""
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    return workspace


def test_a_notebook_warns_of_outdated_verdicts(with_outdated_verdicts):
    listed, heard = values_of(
        with_outdated_verdicts.folder, "outdated", "[str(one.message) for one in heard]", code=READ_CLAIMS
    )
    assert listed == heard == [OUTDATED]


def test_a_notebook_does_not_warn_of_verdicts_that_are_not_outdated(built):
    listed, heard = values_of(built.folder, "outdated", "[str(one.message) for one in heard]", code=READ_CLAIMS)
    assert listed == heard == []


def test_the_list_of_verdicts_names_those_that_are_outdated(with_outdated_verdicts):
    listed = with_outdated_verdicts.cli("verdicts", "results/claims.parquet")
    assert f"outdated: {OUTDATED}" in listed.stderr


def test_the_list_of_verdicts_counts_them_and_names_their_science_and_configuration(built):
    listed = built.cli("verdicts", "results/claims.parquet")
    assert "2 claims: 2 reproduced\nof science and configuration " in listed.stdout


def test_the_summary_of_outdated_verdicts_fails_and_names_them(with_outdated_verdicts):
    summary = with_outdated_verdicts.cli("summary")
    assert summary.returncode == 1
    assert f"outdated: {OUTDATED}" in summary.stdout
    assert "the page to read (from an earlier run)" in summary.stdout


# -- notebooks, examples and recipes -----------------------------------------------------------------------------------


def test_there_are_notebooks_and_examples():
    assert NOTEBOOKS
    assert MODULES_WITH_EXAMPLES


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_notebooks_run(notebook, whole):
    cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    output_of(whole.folder, "\n\n".join(cells), LEARNING_DYNAMICS_SCALE="smoke")


@pytest.mark.parametrize("module", MODULES_WITH_EXAMPLES)
def test_examples_in_docstrings_hold(module):
    examples = doctest.testmod(importlib.import_module(module))
    assert examples.attempted > 0
    assert examples.failed == 0


def test_the_recipes_of_the_docs_work(workspace):
    """The first writes `slow.csv`, the second `claims.tex`, and the third prints the time and memory of each job."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/recipes.md").read_text(encoding="utf-8"), re.DOTALL)
    # as printed, but of the made-up paper and its run `slow`
    code = "\n".join(blocks).replace("spectral_bias", "toy").replace("small_scale", "slow")
    ended = workspace.python("-c", code)
    assert ended.returncode == 0, ended.stderr
    measured = read_table(workspace.folder / "results/toy/metrics/slow.parquet")
    assert len(pd.read_csv(workspace.folder / "slow.csv")) == len(measured)
    assert r"\toprule" in workspace.read("claims.tex")
    assert "results/toy/benchmarks/run/slow.tsv" in ended.stdout
