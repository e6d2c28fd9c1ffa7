"""Snakemake on a made-up paper of two topics: what it makes, what an edit makes it do again, what stays."""

import shlex

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import PAPER, toy
from tests.pipeline.test_faults import assert_same_and_none_half_written

PAGE = {"figures/index.html", "results/verdicts.txt"}
CLAIMS = {"results/toy/claims.parquet"} | PAGE
DECAY = {"results/toy/runs/descent.npz", "results/toy/metrics/descent.parquet", "figures/toy/decay.pdf"}
GROWN = ("slow", "fast", "slow--steps-20")
GROWTH_RUNS = {f"results/toy/runs/{name}.npz" for name in GROWN}
GROWTH_METRICS = {f"results/toy/metrics/{name}.parquet" for name in GROWN}
GROWTH = GROWTH_RUNS | GROWTH_METRICS | {"figures/toy/growth.pdf"}
DATA = {"results/toy/data/starts.npz"}


def test_everything_that_the_configuration_names_is_made(built):
    for path in DECAY | GROWTH | DATA | CLAIMS:
        assert (built.folder / path).stat().st_size > 0, path
    claims = pd.read_parquet(built.folder / "results/claims.parquet")
    assert dict(zip(claims["claim"], claims["verdict"], strict=True)) == {
        "toy.decay": "reproduced",
        "toy.geometric": "reproduced",
    }
    assert "2 claims: 2 reproduced" in built.read("results/verdicts.txt")
    again = pd.read_parquet(built.folder / "results/toy/variations.parquet")
    assert again[["claim", "change", "what", "value", "verdict"]].to_numpy().tolist() == [
        ["toy.geometric", "threshold", "rounding", "1e-14", "reproduced"],
        ["toy.geometric", "setting", "slow.steps", "20", "reproduced"],
    ]
    record = read_stamp(built.folder / "results/toy/metrics/slow.parquet")
    assert record["settings"] == {"function": "growth.growth", "rate": 0.01, "steps": 40, "every": 1}
    assert record["versions"]["numpy"] == np.__version__
    assert (record["stage"], record["paper"], record["name"]) == ("metrics", "toy", "slow")
    drawn = read_record(built.folder / "figures/toy/growth.png")
    assert (drawn["name"], drawn["facts"], drawn["alt"]) == ("growth", {"draws": 3}, "Two bundles of curves.")


def test_a_job_can_be_copied_from_the_log_and_run_by_hand(workspace):
    made = workspace.folder / "results/toy/metrics/slow.parquet"
    before = made.read_bytes()
    command = shlex.split(read_stamp(made)["command"])
    made.unlink()
    assert workspace.cli(*command[3:]).returncode == 0
    assert made.read_bytes() == before


def test_a_second_clean_run_gives_the_same_data_and_pixels(built, tmp_path):
    again = toy(tmp_path / "project")
    # one figure needs only its own runs
    assert again.would_run("figures/toy/growth.pdf") == DATA | {path for path in GROWTH if "--" not in path}
    again.snakemake()
    assert_same_and_none_half_written(
        again, built, [*GROWTH_RUNS, *GROWTH_METRICS, *DATA, "results/claims.parquet", "results/toy/checks.parquet"]
    )
    for name in ("growth", "decay"):
        images = [matplotlib.image.imread(one.folder / f"figures/toy/{name}.png") for one in (again, built)]
        np.testing.assert_array_equal(*images)


def edit(workspace, *edits):
    for file, old, new in edits:
        workspace.edit(f"{PAPER}/{file}" if file.startswith("growth/") else file, old, new)


def test_words_and_machinery_make_nothing_again(workspace):
    edit(
        workspace,
        ("growth/runs.py", "    while len(states) <= steps:", "    # a remark\n    while (len(states) <= steps):"),
        ("growth/runs.py", '"""x grows by', '"""The state x grows by'),
        ("src/learning_dynamics/errors.py", "did you mean", "perhaps"),
        (
            "src/learning_dynamics/pipeline/commands/run.py",
            'function_name = job.spec, job.spec["function"]',
            'function_name = job.spec, str(job.spec["function"])',
        ),
        ("src/learning_dynamics/files.py", "os.fsync(written.fileno())", "pass"),
        ("config.yaml", "seed: 2023", "# the seed\nseed:   2023"),
        ("workflow/config/toy.yaml", "chosen: short", "chosen: short enough"),
    )
    assert workspace.would_run() <= PAGE


RUN = ("growth/runs.py", "* (1 + rate)", "* (1.0 + rate)")
THEORY = ("growth/theory.py", "(1 + rate)", "(1.0 + rate)")
FIGURE = ("growth/figures.py", '"blue"', '"green"')
CLAIM = ("growth/claims.py", "growing(1.01)", "growing(1.02)")
DATA_SET = (f"{PAPER}/starts.py", "rng.standard_normal()", "2 * rng.standard_normal()")
CAPTION = ("growth/figures.py", "Slow and fast growth.", "Growth, slow and fast.")
STYLE = ("src/learning_dynamics/plotting/project.mplstyle", "font.size: 9", "font.size: 10")
ENGINE = ("src/learning_dynamics/judging/verdicts.py", "np.logspace(-16, 0, 65)", "np.logspace(-16, 0, 33)")
FIGURES = {"figures/toy/growth.pdf", "figures/toy/decay.pdf"}
MEASURED = GROWTH - GROWTH_RUNS
FAST = {"results/toy/runs/fast.npz", "results/toy/metrics/fast.parquet", "figures/toy/growth.pdf"}


def test_an_edit_makes_again_what_uses_it_and_nothing_else(built, tmp_path):
    planned, expected = {}, {}
    for name, change, again in (
        ("run", [RUN], GROWTH | CLAIMS),
        ("theory", [THEORY], MEASURED | CLAIMS),
        ("data", [DATA_SET], DATA | GROWTH | CLAIMS),
        ("figure, claim", [FIGURE, CLAIM], {"figures/toy/growth.pdf"} | CLAIMS),
        ("style, engine", [STYLE, ENGINE], FIGURES | CLAIMS),
        ("caption", [CAPTION], {"figures/index.html"}),
        ("setting", ("runs", "fast", "rate", 0.03), FAST | CLAIMS),
        ("measure", ("runs", "slow", "measure", "every", 2), MEASURED | CLAIMS),
        ("claim's", ("claims", "geometric", "rounding", 2e-15), CLAIMS),
        ("resources", ("runs", "descent", "resources", {"mem_mb": 500}), set()),
    ):
        workspace = built.copy(tmp_path / name)
        if isinstance(change, list):
            edit(workspace, *change)
        else:
            workspace.configure(*change[:-1], value=change[-1])
        planned[name], expected[name] = workspace.would_run(), again
    assert {name: paths - PAGE for name, paths in planned.items()} == {
        name: paths - PAGE for name, paths in expected.items()
    }
    assert {name for name, paths in planned.items() if "figures/index.html" not in paths} <= {"resources"}


def test_a_rerun_says_which_setting_or_module_changed(workspace):
    workspace.configure("runs", "fast", "rate", value=0.03)
    workspace.configure("runs", "slow", "measure", "every", value=2)
    workspace.configure("claims", "geometric", "rounding", value=2e-15)
    edit(workspace, FIGURE)
    reasons = workspace.reasons()
    assert reasons["results/toy/runs/fast.npz"] == "runs.fast.rate: 0.02 -> 0.03"
    assert reasons["results/toy/metrics/slow.parquet"] == "runs.slow.measure.every: 1 -> 2"
    assert "claims.geometric.rounding: 1e-15 -> 2e-15" in reasons["results/toy/claims.parquet"]
    assert "code: papers.toy.growth.figures" in reasons["figures/toy/growth.pdf"]
    assert "results/toy/runs/slow.npz" not in reasons
    checked = workspace.cli("check").stderr
    assert "results/toy/runs/fast.npz: was made by other settings or other code" in checked
    assert "(runs.fast.rate: 0.02 -> 0.03)" in checked
    made = workspace.snakemake("results/toy/runs/fast.npz").stderr
    assert "runs.fast.rate: 0.02 -> 0.03" in made
    assert "runs/fast.npz" not in workspace.cli("check").stderr


def test_a_damaged_output_is_made_again_because_it_is_damaged(workspace):
    file = workspace.folder / "results/toy/data/starts.npz"
    file.write_bytes(file.read_bytes()[:-100])
    assert workspace.reasons()["results/toy/data/starts.npz"] == "is damaged"


def test_what_a_command_misses_is_made_by_what_it_says(workspace):
    # figures and claims are there: snakemake without a target has nothing to do
    (workspace.folder / "results/toy/metrics/fast.parquet").unlink()
    ended = workspace.cli("figure", "toy", "growth")
    file, says = ended.stderr.removeprefix("error: ").rstrip().split(": ")
    assert says == "no such file; run snakemake with it as the target"
    assert file in workspace.would_run(file)


@pytest.mark.parametrize("to", ["| head -n 1", "> /dev/full"])
def test_a_dry_run_whose_reader_is_gone_says_nothing_of_it(clean, to):
    ended = clean.run("sh", "-c", f"{shlex.join(clean.command('--dry-run'))} {to}")
    assert ended.stdout.count("\n") <= 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("Using workflow specific profile")


@pytest.mark.parametrize(
    ("name", "reason"), [("none.yaml", "No such file or directory"), ("workflow", "Is a directory")]
)
def test_an_overlay_that_cannot_be_read_is_one_line(clean, name, reason):
    ended = clean.snakemake("--configfile", name, check=False)
    assert ended.returncode != 0
    _, said = ended.stderr.splitlines()
    assert said == f"error: {name}: cannot be read ({reason}); name another with --configfile"


def test_a_dry_run_is_a_line_for_each_job_and_a_summary(clean):
    *jobs, counts, limits = clean.snakemake("--dry-run").stdout.splitlines()
    assert all(line.endswith(" new") and len(line) < 120 for line in jobs)
    assert counts.startswith(f"{len(jobs) + 1} jobs: ")
    assert "CPU hours, 0 GPU hours" in limits


def test_another_seed_lies_beside_and_leaves_the_first_alone(workspace):
    # another seed's folder is no paper, which a rule of papers would be tried for and fail with a traceback
    assert "Traceback" not in workspace.snakemake("--dry-run", "--config", "seed=7").stderr
    planned = workspace.would_run("--config", "seed=7", "--")
    assert {path.split("/")[1] for path in planned} == {"seed7"}
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout
