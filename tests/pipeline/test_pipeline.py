"""Snakemake really run: what it makes, what an edit makes it do again, what a kill leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from learning_dynamics.tables import read_provenance

from learning_dynamics.claims import as_expected
from learning_dynamics.pipeline.config import Project, load_config
from learning_dynamics.pipeline.sources import defining_module
from tests.pipeline.conftest import cut
from tests.support import SCHEMA, SMOKE

BIAS = "src/learning_dynamics/papers/spectral_bias"
FIG1A = ("figures/spectral_bias/fig1a.pdf", "figures/spectral_bias/fig1a.png")


@pytest.fixture(scope="module")
def project(built):
    return Project(load_config(built.folder / "config.yaml"), SCHEMA)


def test_everything_that_the_configuration_names_is_made(whole):
    project = Project(load_config(*SMOKE), SCHEMA)
    for paper in project.papers:
        for name in project.figures(paper):
            for kind in ("pdf", "png"):
                assert (whole.folder / f"figures/{paper}/{name}.{kind}").stat().st_size > 5_000
        claims = pd.read_parquet(whole.folder / f"results/{paper}/claims.parquet")
        assert set(claims["claim"]) == {f"{paper}.{name}" for name in project.claims(paper)["claims"]}
    joined = pd.read_parquet(whole.folder / "results/claims.parquet")
    assert set(joined["paper"]) == set(project.papers)
    assert all(as_expected(row.verdict, row.expected) for row in joined.itertuples())
    assert "claims:" in whole.read("results/verdicts.txt")


def test_nothing_is_left_to_do(built):
    assert "Nothing to be done" in built.snakemake("--dry-run").stdout


def test_outputs_carry_their_provenance(built):
    record = read_provenance(built.folder / "results/spectral_bias/metrics/small_scale.parquet")
    assert record["settings"]["gamma"] == 1.0e-4
    assert record["seed"] == 2023
    assert record["command"].startswith("python -m learning_dynamics metrics spectral_bias small_scale")
    assert record["versions"]["numpy"] == np.__version__
    assert len(record["config_digest"]) == 64
    pdf = (built.folder / FIG1A[0]).read_bytes()
    assert b"learning_dynamics" in pdf
    from PIL import Image

    with Image.open(built.folder / FIG1A[1]) as image:
        assert json.loads(image.text["learning_dynamics"])["name"] == "fig1a"


def test_a_job_can_be_copied_from_the_log_and_run_by_hand(workspace):
    made = workspace.folder / "results/spectral_bias/metrics/small_scale.parquet"
    before = made.read_bytes()
    command = read_provenance(made)["command"]
    made.unlink()
    environment = workspace.environment | {"PYTHONPATH": str(workspace.folder / "src")}
    subprocess.run(command.split(), cwd=workspace.folder, env=environment, check=True)
    assert made.read_bytes() == before


def test_a_second_clean_run_gives_the_same_data_and_pixels(built, tmp_path):
    again = cut(tmp_path / "project")
    again.snakemake(*FIG1A, "results/spectral_bias/claims.parquet")
    compare(again, built)


def compare(one, other):
    """Assert that the outputs of fig1a and the claims are the same in both folders."""
    for table in ("metrics/large_scale", "metrics/small_scale", "metrics/gaussian_scale", "claims"):
        path = f"results/spectral_bias/{table}.parquet"
        if (one.folder / path).exists():
            pd.testing.assert_frame_equal(
                pd.read_parquet(one.folder / path), pd.read_parquet(other.folder / path), check_exact=True
            )
    np.testing.assert_array_equal(
        matplotlib.image.imread(one.folder / FIG1A[1]), matplotlib.image.imread(other.folder / FIG1A[1])
    )
    assert (one.folder / FIG1A[0]).read_bytes() == (other.folder / FIG1A[0]).read_bytes()


# -- what an edit reruns ---------------------------------------------------------------------------

PAGE = {"figures/index.html", "results/verdicts.txt"}


def figures_of(project, paper):
    return {f"figures/{paper}/{name}.pdf" for name in project.figures(paper)}


def of_flow(part, function):
    """Return whether a function of spectral_bias is defined in the part's topic module `flow`."""
    return defining_module("spectral_bias", part, function).endswith(f".{part}.flow")


def test_a_figure_edit_redraws_only_figures_of_its_topic(workspace, project):
    workspace.edit(f"{BIAS}/figures/flow.py", "along the gradient flow, with", "along gradient flow, with")
    names = [name for name in project.figures("spectral_bias") if of_flow("figures", name)]
    assert workspace.would_run() == {f"figures/spectral_bias/{name}.pdf" for name in names} | PAGE


@pytest.mark.parametrize("part", ["runs", "metrics", "figures"])
def test_an_edit_of_a_topic_that_no_job_calls_reruns_nothing(workspace, part):
    path = f"{BIAS}/{part}/noise.py"
    (workspace.folder / path).write_text(workspace.read(path) + "\nEDITED = True\n")
    assert workspace.would_run() == set()


def test_a_style_edit_redraws_every_figure_and_nothing_else(workspace, project):
    workspace.edit("src/learning_dynamics/plotting/project.mplstyle", "font.size: 9", "font.size: 10")
    assert workspace.would_run() == set().union(*(figures_of(project, paper) for paper in project.papers)) | PAGE


def test_a_claims_edit_reruns_claims_alone(workspace):
    workspace.edit(f"{BIAS}/claims/flow.py", '"""The limits and invariants', '"""Limits and invariants')
    assert workspace.would_run() == {"results/spectral_bias/claims.parquet"} | PAGE


def test_a_metrics_edit_simulates_nothing_again(workspace, project):
    workspace.edit(f"{BIAS}/metrics/flow.py", '"""Singular values', '"""The singular values')
    planned = workspace.would_run()
    assert not any("/runs/" in path or "/data/" in path for path in planned)
    measured = {path for path in planned if "/metrics/" in path}
    needed = {
        *project.claims_runs("spectral_bias"),
        *(run for name in project.figures("spectral_bias") for run in project.figure_runs("spectral_bias", name)),
    }
    assert measured == {
        f"results/spectral_bias/metrics/{run}.parquet"
        for run in needed
        if of_flow("metrics", project.run("spectral_bias", run)["kind"])
    }


def test_a_model_edit_simulates_again(workspace):
    workspace.edit("src/learning_dynamics/models/two_layer.py", '"""Two-layer', '"""Linear two-layer')
    assert "results/spectral_bias/runs/small_scale.npz" in workspace.would_run()


def test_a_touch_reruns_nothing(workspace):
    later = time.time() + 10
    for path in (workspace.folder / BIAS).rglob("*.py"):
        os.utime(path, (later, later))
    os.utime(workspace.folder / "config.yaml", (later, later))
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout


def test_a_run_edit_reruns_its_chain_only(workspace):
    workspace.configure("papers", "spectral_bias", "runs", "gaussian_scale", "variance", value=0.02)
    planned = workspace.would_run()
    changed = {path for path in planned if "/runs/" in path}
    assert "results/spectral_bias/runs/gaussian_scale.npz" in changed
    assert "results/spectral_bias/runs/small_scale.npz" not in changed
    assert "results/spectral_bias/runs/large_scale.npz" not in changed
    assert not any("/data/" in path for path in planned)
    assert FIG1A[0] in planned


def test_a_caption_is_part_of_its_figure(workspace):
    workspace.edit(f"{BIAS}/figures/flow.py", "At small scale only the first k grow", "At small scale just k grow")
    assert FIG1A[0] in workspace.would_run(*FIG1A)


def test_one_figure_needs_only_its_own_runs(tmp_path, project):
    planned = cut(tmp_path / "project").would_run(FIG1A[0])
    assert {path for path in planned if "/runs/" in path} == {
        f"results/spectral_bias/runs/{name}.npz" for name in project.figure_runs("spectral_bias", "fig1a")
    }


# -- mistakes and kills ----------------------------------------------------------------------------


def test_a_mistake_in_the_configuration_is_one_line_and_starts_nothing(tmp_path):
    workspace = cut(tmp_path / "project")
    workspace.configure("papers", "spectral_bias", "runs", "small_scale", "gamma", value=-1.0)
    ended = workspace.snakemake(check=False)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert (
        "error: config.yaml: papers.spectral_bias.runs.small_scale.gamma: must be above 0.0 (is -1.0)"
    ) in ended.stderr
    assert not (workspace.folder / "results").exists()


def test_a_diverging_run_fails_alone_with_its_reason(tmp_path):
    workspace = cut(tmp_path / "project")
    workspace.configure("papers", "spectral_bias", "runs", "gaussian_scale", "variance", value=1.7e308)
    targets = [f"results/spectral_bias/runs/{name}_scale.npz" for name in ("gaussian", "large")]
    ended = workspace.snakemake(*targets, check=False)
    assert ended.returncode == 1
    assert "error: member 0: gradient flow stopped at time 0 (step 1)" in ended.stderr + ended.stdout
    assert [(workspace.folder / target).exists() for target in targets] == [False, True]


def test_an_unexpected_verdict_fails_loudly_and_keeps_the_page(workspace):
    workspace.configure("papers", "spectral_bias", "claims", "lemma_3_2", "expected", value="contradicted")
    ended = workspace.snakemake(check=False)
    assert ended.returncode == 1
    assert "spectral_bias.lemma_3_2: verdict `reproduced`, expected `contradicted`" in ended.stderr + ended.stdout
    assert "expected: contradicted" in workspace.read("figures/index.html")


@pytest.mark.parametrize("delay", [2.5, 4.0, 5.5, 7.0])
def test_a_kill_at_any_moment_loses_nothing(built, tmp_path, delay):
    workspace = cut(tmp_path / "project")
    targets = [*FIG1A, "results/spectral_bias/claims.parquet"]
    running = subprocess.Popen(
        workspace.command(*targets), cwd=workspace.folder, env=workspace.environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(delay)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    workspace.snakemake(*targets)
    compare(workspace, built)
    assert not list(workspace.folder.glob("results/**/*.partial"))
