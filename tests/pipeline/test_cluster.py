"""What outlived a killed Snakemake is found in `squeue`'s answer; a stand-in gives the answers here."""

import asyncio
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline import cluster
from learning_dynamics.pipeline.cluster import (
    check_nothing_left_behind,
    jobs_of,
    outlast_the_controller,
    submissions_do_their_own_work,
)

HERE = Path("/home/someone/project with | in its name")


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def answer(text: str, status: int = 0) -> None:
        (tmp_path / "answer").write_text(text)
        program = tmp_path / "squeue"
        program.write_text(f"#!/bin/sh\ncat '{tmp_path}/answer'\nexit {status}\n")
        program.chmod(0o755)

    return answer


def test_jobs_of_this_folder_are_named_with_their_mend(squeue):
    squeue(f"12|rule_run_wildcards_spectral_bias_small_scale|{HERE}\n9|rule_metrics_metrics|{HERE}\n")
    assert jobs_of(HERE) == ["9", "12"]
    with pytest.raises(ProjectError, match=r"2 jobs .* scancel 9 12$"):
        check_nothing_left_behind(HERE)


@pytest.mark.parametrize(
    "line",
    [
        "12|rule_run_wildcards_spectral_bias_small_scale|/home/someone/elsewhere",
        f"12|(null)|{HERE}",  # a shell or a Snakemake that itself runs under Slurm
        "slurm_load_jobs error: Unable to contact slurm controller",
        "",
    ],
)
def test_others_jobs_do_not_matter(squeue, line):
    squeue(line + "\n")
    check_nothing_left_behind(HERE)


def test_a_controller_that_does_not_answer_stops_nothing(squeue):
    squeue(f"12|rule_run|{HERE}\n", status=1)
    check_nothing_left_behind(HERE)


def test_without_slurm_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert jobs_of(HERE) == []


@pytest.fixture
def executor(monkeypatch):
    """The executor's module with stand-ins that the patch replaces, put back afterwards."""
    plugin = pytest.importorskip("snakemake_executor_plugin_slurm")

    async def look(command, logger):
        return (None, None) if command == "away" else ({"7": "RUNNING"}, 0.1)

    submitted = []
    monkeypatch.setattr(plugin, "query_job_status", look)

    def submit(self, jobs):
        if "broken" in jobs:
            try:
                raise TypeError("no such argument")
            except TypeError:  # as the executor's own handler does for groups
                raise AttributeError("no attribute 'rule'") from None
        submitted.extend(jobs if isinstance(jobs, list) else [jobs])

    monkeypatch.setattr(plugin.Executor, "run_job", submit)
    monkeypatch.setattr(plugin.Executor, "run_array_jobs", submit)
    monkeypatch.setattr(plugin.Executor, "shutdown", lambda self: submitted.append("shut down"))
    outlast_the_controller()
    return plugin, submitted


@pytest.mark.parametrize(("command", "states"), [("away", {}), ("squeue", {"7": "RUNNING"})])
def test_a_look_at_the_queue_that_fails_says_nothing_of_any_job(executor, command, states):
    plugin, _ = executor
    logger = logging.getLogger("test")
    assert asyncio.run(plugin.query_job_status(command, logger))[0] == states


def test_a_submission_waits_until_the_controller_answers(executor, monkeypatch):
    plugin, submitted = executor
    down = iter([True, True, False])
    monkeypatch.setattr(cluster, "controller_is_down", lambda: next(down))
    monkeypatch.setattr(cluster.time, "sleep", lambda seconds: None)
    waiting = SimpleNamespace(wait=True, logger=logging.getLogger("test"))
    plugin.Executor.run_job(waiting, "job")
    assert submitted == ["job"]
    assert not list(down)


def test_a_submission_that_is_called_off_waits_no_longer(executor, monkeypatch):
    plugin, submitted = executor
    monkeypatch.setattr(cluster, "controller_is_down", lambda: True)
    waiting = SimpleNamespace(wait=True, logger=logging.getLogger("test"))
    monkeypatch.setattr(cluster.time, "sleep", lambda seconds: plugin.Executor.shutdown(waiting))
    plugin.Executor.run_array_jobs(waiting, ["a", "b"])
    assert submitted == ["shut down"]


@pytest.mark.parametrize(
    ("method", "given", "jobs"),
    [("run_job", "broken", ["broken"]), ("run_array_jobs", ["a", "broken"], ["a", "broken"])],
)
def test_a_submission_that_raises_is_told_of_its_jobs(executor, monkeypatch, method, given, jobs):
    plugin, submitted = executor
    monkeypatch.setattr(cluster, "controller_is_down", lambda: False)
    told = []
    waiting = SimpleNamespace(_report_job_error_threadsafe=lambda info, why: told.append((info.job, why)))
    getattr(plugin.Executor, method)(waiting, given)
    assert [job for job, _ in told] == jobs
    assert {why for _, why in told} == {"a submission failed: TypeError: no such argument"}
    assert not submitted


@pytest.mark.parametrize(
    ("arrays", "general", "asked"),
    [
        (set(), "--executor local --resources abreast=1", "--target-jobs run --cores all --cores 3"),
        ({"run"}, "--executor slurm-jobstep", "--target-jobs run --cores all"),
    ],
)
def test_one_snakemake_does_the_jobs_of_a_submission(monkeypatch, arrays, general, asked):
    plugin = pytest.importorskip("snakemake_executor_plugin_slurm")
    monkeypatch.setattr(plugin.Executor, "additional_general_args", lambda self: "--executor slurm-jobstep")
    monkeypatch.setattr(plugin.Executor, "get_job_args", lambda self, job: f"--target-jobs {job.name} --cores all")
    submissions_do_their_own_work()
    executor = SimpleNamespace(array_jobs=arrays)
    assert plugin.Executor.additional_general_args(executor) == general
    assert plugin.Executor.get_job_args(executor, SimpleNamespace(name="run", threads=3)) == asked


@pytest.mark.parametrize(
    ("answer", "down"),
    [
        ("Slurmctld(primary) at one is UP", False),
        ("Slurmctld(primary) at one is DOWN", True),
        ("Slurmctld(primary) at one is DOWN\nSlurmctld(backup) at two is UP", False),
        ("scontrol: error: not for users", False),
        (None, False),
    ],
)
def test_a_controller_is_down_where_slurm_says_so(tmp_path, monkeypatch, answer, down):
    monkeypatch.setenv("PATH", str(tmp_path) + (":/bin:/usr/bin" if answer else ""))
    if answer:
        program = tmp_path / "scontrol"
        program.write_text(f"#!/bin/sh\ncat <<END\n{answer}\nEND\n")
        program.chmod(0o755)
    assert cluster.controller_is_down() is down
