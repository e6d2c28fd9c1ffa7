"""Snakemake on a made-up paper of two topics: what it makes, what it makes again after an edit, and what it leaves.

`decay` and `growth` are the topics. `growth` has a data set, `starts`, and the runs `slow`, `fast` and, for robustness,
`slow--steps-20`; `decay` has the run `descent` (toy/toy.yaml).
"""

import shlex

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import PAPER
from tests.pipeline.test_faults import assert_same_and_none_half_written

# outputs, by what they are made from
PAGE = {"figures/index.html", "results/texts.filled", "results/verdicts.txt"}  # made by nearly every change
CLAIMS = {"results/toy/claims.parquet"} | PAGE
DECAY = {"results/toy/runs/descent.npz", "results/toy/metrics/descent.parquet", "figures/toy/decay.pdf"}
GROWTH_RUNS = {f"results/toy/runs/{name}.npz" for name in ("slow", "fast", "slow--steps-20")}
GROWTH_METRICS = {f"results/toy/metrics/{name}.parquet" for name in ("slow", "fast", "slow--steps-20")}
GROWTH = GROWTH_RUNS | GROWTH_METRICS | {"figures/toy/growth.pdf"}
DATA = {"results/toy/data/starts.npz"}


# that texts are filled is an empty file
@pytest.mark.parametrize("path", sorted((DECAY | GROWTH | DATA | CLAIMS) - {"results/texts.filled"}))
def test_everything_that_the_configuration_names_is_made(built, path):
    assert (built.folder / path).stat().st_size > 0


def test_both_claims_are_judged_and_counted(built):
    claims = pd.read_parquet(built.folder / "results/claims.parquet")
    assert claims[["claim", "verdict"]].to_numpy().tolist() == [
        ["toy.decay", "reproduced"],
        ["toy.geometric", "reproduced"],
    ]
    assert "2 claims: 2 reproduced" in built.read("results/verdicts.txt")


def test_a_claim_is_judged_again_with_other_thresholds_and_settings(built):
    """They are those that the configuration names."""
    variations = pd.read_parquet(built.folder / "results/toy/variations.parquet")
    assert variations[["claim", "change", "what", "value", "verdict"]].to_numpy().tolist() == [
        ["toy.geometric", "threshold", "rounding", "1e-14", "reproduced"],
        ["toy.geometric", "setting", "slow.steps", "20", "reproduced"],
    ]


def test_metrics_say_from_which_job_and_settings_they_are(built):
    record = read_stamp(built.folder / "results/toy/metrics/slow.parquet")
    assert record["settings"] == {"function": "growth.growth", "rate": 0.01, "steps": 40, "every": 1}
    assert record["versions"]["numpy"] == np.__version__
    assert (record["stage"], record["paper"], record["name"]) == ("metrics", "toy", "slow")


def test_a_figure_has_its_name_its_facts_and_its_alternative_text(built):
    record = read_record(built.folder / "figures/toy/growth.png")
    assert (record["name"], record["facts"], record["alt"]) == ("growth", {"draws": 3}, "Two bundles of curves.")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('r"""Slow', '_ = r"""Slow', " has no docstring; write its caption there, first"),
        ("{draws}", "{drawz}", ": the text has a field `{drawz}` that nothing fills; did you mean `draws`?"),
        (', alt="Two bundles of curves."', "", " has no alternative text; return Plot(figure, alt=...)"),
    ],
    ids=["no docstring", "a misspelt field", "no alternative text"],
)
def test_a_figure_without_its_texts_is_refused(workspace, old, new, message):
    workspace.edit(f"{PAPER}/growth/figures.py", old, new)
    ended = workspace.cli("figure", "toy", "growth")
    assert ended.returncode == 1
    assert ended.stderr == f"error: {workspace.folder}/{PAPER}/growth/figures.py: `growth`{message}\n"


def test_the_command_in_an_outputs_record_makes_the_same_output_again(workspace):
    table = workspace.folder / "results/toy/metrics/slow.parquet"
    before = table.read_bytes()
    python, _, module, *arguments = shlex.split(read_stamp(table)["command"])
    assert (python, module) == ("python", "learning_dynamics")
    table.unlink()
    assert workspace.cli(*arguments).returncode == 0
    assert table.read_bytes() == before


def test_a_second_clean_run_gives_the_same_data_and_pixels(built, clean):
    clean.snakemake()
    tables = ["results/claims.parquet", "results/toy/checks.parquet"]
    assert_same_and_none_half_written(clean, built, [*GROWTH_RUNS, *GROWTH_METRICS, *DATA, *tables])
    for name in ("growth", "decay"):
        again, before = (matplotlib.image.imread(one.folder / f"figures/toy/{name}.png") for one in (clean, built))
        np.testing.assert_array_equal(again, before, err_msg=name)


def test_a_figure_as_target_needs_its_own_runs_only(clean):
    # `slow--steps-20` is a run that only a claim reads
    of_another_length = {path for path in GROWTH if "steps-20" in path}
    assert clean.would_run("figures/toy/growth.pdf") == DATA | (GROWTH - of_another_length)


def edit(workspace, change):
    """Make a change, which is a file, the old text and the new; a file of the topic `growth` may be named within it."""
    file, old, new = change
    workspace.edit(f"{PAPER}/{file}" if file.startswith("growth/") else file, old, new)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            ("growth/runs.py", "    while len(states) <= steps:", "    # a remark\n    while (len(states) <= steps):"),
            id="a comment and brackets in a run",
        ),
        pytest.param(("growth/runs.py", '"""x grows by', '"""The state x grows by'), id="the docstring of a run"),
        pytest.param(("src/learning_dynamics/errors.py", "did you mean", "perhaps"), id="a message"),
        pytest.param(
            (
                "src/learning_dynamics/pipeline/commands/run.py",
                'function_name = job.spec, job.spec["function"]',
                'function_name = job.spec, str(job.spec["function"])',
            ),
            id="code of the pipeline",
        ),
        pytest.param(
            ("src/learning_dynamics/files.py", "os.fsync(written.fileno())", "pass"), id="code that writes files"
        ),
        pytest.param(("config.yaml", "seed: 2023", "# the seed\nseed:   2023"), id="a comment in the configuration"),
        pytest.param(
            ("workflow/config/toy.yaml", "chosen: short", "chosen: short enough"), id="the reason of a setting"
        ),
    ],
)
def test_words_and_code_of_the_pipeline_make_no_result_again(workspace, change):
    edit(workspace, change)
    assert workspace.would_run() <= PAGE


ANOTHER_COLOUR = ("growth/figures.py", '"blue"', '"green"')  # an edit of the figure `growth`
FIGURES = {"figures/toy/growth.pdf", "figures/toy/decay.pdf"}
GROWTH_BUT_RUNS = GROWTH - GROWTH_RUNS
FAST = {"results/toy/runs/fast.npz", "results/toy/metrics/fast.parquet", "figures/toy/growth.pdf"}


@pytest.mark.parametrize(
    ("change", "made_again"),
    [
        pytest.param(("growth/runs.py", "* (1 + rate)", "* (1.0 + rate)"), GROWTH | CLAIMS, id="a run"),
        pytest.param(("growth/theory.py", "(1 + rate)", "(1.0 + rate)"), GROWTH_BUT_RUNS | CLAIMS, id="the theory"),
        pytest.param(
            (f"{PAPER}/starts.py", "rng.standard_normal()", "2 * rng.standard_normal()"),
            DATA | GROWTH | CLAIMS,
            id="a data set",
        ),
        pytest.param(ANOTHER_COLOUR, {"figures/toy/growth.pdf"}, id="a figure"),
        pytest.param(("growth/claims.py", "growing(1.01)", "growing(1.02)"), CLAIMS, id="a claim"),
        pytest.param(
            ("src/learning_dynamics/plotting/project.mplstyle", "font.size: 9", "font.size: 10"),
            FIGURES,
            id="the style of figures",
        ),
        pytest.param(
            ("src/learning_dynamics/judging/verdicts.py", "np.logspace(-16, 0, 65)", "np.logspace(-16, 0, 33)"),
            CLAIMS,
            id="how claims are judged",
        ),
        pytest.param(("growth/figures.py", "Slow and fast growth.", "Growth, slow and fast."), set(), id="a caption"),
    ],
)
def test_an_edit_of_code_makes_again_what_uses_it_and_nothing_else_but_the_page(workspace, change, made_again):
    edit(workspace, change)
    would_run = workspace.would_run()
    assert would_run - PAGE == made_again - PAGE
    assert "figures/index.html" in would_run


@pytest.mark.parametrize(
    ("keys", "value", "made_again"),
    [
        pytest.param(["runs", "fast", "rate"], 0.03, FAST | CLAIMS, id="a run"),
        pytest.param(["runs", "slow", "measure", "every"], 2, GROWTH_BUT_RUNS | CLAIMS, id="how a run is measured"),
        pytest.param(["claims", "geometric", "rounding"], 2e-15, CLAIMS, id="a claim"),
    ],
)
def test_a_changed_setting_makes_again_what_uses_it_and_nothing_else_but_the_page(workspace, keys, value, made_again):
    workspace.configure(*keys, value=value)
    would_run = workspace.would_run()
    assert would_run - PAGE == made_again - PAGE
    assert "figures/index.html" in would_run


def test_changed_resources_make_nothing_again(workspace):
    workspace.configure("runs", "descent", "resources", value={"mem_mb": 500})
    assert workspace.would_run() <= PAGE


@pytest.fixture
def changed(workspace):
    """The made-up paper, built, after changes of a run, of how another is measured, of a claim, and of a figure."""
    workspace.configure("runs", "fast", "rate", value=0.03)
    workspace.configure("runs", "slow", "measure", "every", value=2)
    workspace.configure("claims", "geometric", "rounding", value=2e-15)
    edit(workspace, ANOTHER_COLOUR)
    return workspace


def test_a_dry_run_says_which_setting_or_module_changed(changed):
    reasons = changed.reasons()
    assert reasons["results/toy/runs/fast.npz"] == "runs.fast.rate: 0.02 -> 0.03"
    assert reasons["results/toy/metrics/slow.parquet"] == "runs.slow.measure.every: 1 -> 2"
    assert "claims.geometric.rounding: 1e-15 -> 2e-15" in reasons["results/toy/claims.parquet"]
    assert "code: papers.toy.growth.figures" in reasons["figures/toy/growth.pdf"]
    assert "results/toy/runs/slow.npz" not in reasons


def test_check_names_a_run_of_other_settings_until_it_is_made_again(changed):
    before = changed.cli("check").stderr
    assert "results/toy/runs/fast.npz: was made by other settings or other code" in before
    assert "(runs.fast.rate: 0.02 -> 0.03)" in before
    log = changed.snakemake("results/toy/runs/fast.npz").stderr
    assert "runs.fast.rate: 0.02 -> 0.03" in log
    assert "runs/fast.npz" not in changed.cli("check").stderr


def test_a_damaged_output_is_made_again_because_it_is_damaged(workspace):
    file = workspace.folder / "results/toy/data/starts.npz"
    file.write_bytes(file.read_bytes()[:-100])
    assert workspace.reasons()["results/toy/data/starts.npz"] == "is damaged"


def test_a_file_that_a_command_misses_is_made_by_snakemake_with_it_as_the_target(workspace):
    # figures and claims are there: snakemake without a target has nothing to do
    file = "results/toy/metrics/fast.parquet"
    (workspace.folder / file).unlink()
    ended = workspace.cli("figure", "toy", "growth")
    assert ended.stderr == f"error: {file}: no such file; run snakemake with it as the target\n"
    assert file in workspace.would_run(file)


@pytest.mark.parametrize("redirection", ["| head -n 1", "> /dev/full"])
def test_a_dry_run_that_cannot_write_its_output_ends_without_an_error_message(clean, redirection):
    ended = clean.run("sh", "-c", f"{shlex.join(clean.command('--dry-run'))} {redirection}")
    assert ended.stdout.count("\n") <= 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("Using workflow specific profile")


@pytest.mark.parametrize(
    ("name", "reason"), [("none.yaml", "No such file or directory"), ("workflow", "Is a directory")]
)
def test_an_overlay_that_cannot_be_read_is_one_line(clean, name, reason):
    ended = clean.snakemake("--configfile", name, check=False)
    assert ended.returncode != 0
    profile, error = ended.stderr.splitlines()
    assert profile.startswith("Using workflow specific profile")
    assert error == f"error: {name}: cannot be read ({reason}); name another with --configfile"


def test_a_dry_run_is_a_line_for_each_job_and_a_summary(clean):
    *jobs, counts, limits = clean.snakemake("--dry-run").stdout.splitlines()
    assert jobs
    for line in jobs:
        assert line.endswith(" new")
        assert len(line) < 120, line  # or a terminal of usual width would wrap it
    assert counts.startswith(f"{len(jobs) + 1} jobs: ")  # and the rule `all`, which has no output
    assert "CPU hours, 0 GPU hours" in limits


def test_results_of_another_seed_are_planned_in_a_folder_of_their_own(workspace):
    planned = workspace.would_run("--config", "seed=7", "--")
    second_folders = {path.split("/")[1] for path in planned}  # as in results/seed7/toy/claims.parquet
    assert second_folders == {"seed7"}
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout


def test_the_folder_of_another_seed_is_not_taken_for_a_paper(workspace):
    # or a rule of papers would be tried for it, and fail with a traceback
    assert "Traceback" not in workspace.snakemake("--dry-run", "--config", "seed=7").stderr
