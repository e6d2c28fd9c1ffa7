"""What outlived a killed Snakemake is found in `squeue`'s answer; a job goes back into the queue. Stand-ins answer."""

from pathlib import Path

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study import cluster
from learning_dynamics.pipeline.study.cluster import check_no_orphaned_jobs, queued_jobs

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
    assert queued_jobs(HERE) == ["9", "12"]
    with pytest.raises(ProjectError, match=r"2 jobs .* scancel 9 12$"):
        check_no_orphaned_jobs(HERE)


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
    check_no_orphaned_jobs(HERE)


def test_a_controller_that_does_not_answer_stops_nothing(squeue):
    squeue(f"12|rule_run|{HERE}\n", status=1)
    check_no_orphaned_jobs(HERE)


def test_without_slurm_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert queued_jobs(HERE) == []


@pytest.mark.parametrize("taken", [True, False])
def test_a_job_is_put_back_or_says_why_not(taken, tmp_path, monkeypatch, capsys):
    program = tmp_path / "scontrol"
    asked = tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\n{"exit 0" if taken else "echo held >&2; exit 1"}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setattr(cluster, "REQUEUE_TIMEOUT", 0.0)
    with pytest.raises(ProjectError, match=r"^3 of 9 epochs.*job 4711 back \((no reason given|held)\)$"):
        cluster.requeue("3 of 9 epochs are trained")
    assert asked.read_text() == "requeue 4711\n"
    assert "3 of 9 epochs are trained: job 4711 goes back into Slurm's queue" in capsys.readouterr().err


def test_only_a_submission_that_was_told_so_goes_back(monkeypatch):
    monkeypatch.delenv(cluster.REQUEUE, raising=False)
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    assert not cluster.may_requeue()  # inside somebody's allocation
    monkeypatch.setenv(cluster.REQUEUE, "1")
    assert cluster.may_requeue()
    monkeypatch.delenv("SLURM_JOB_ID")
    assert not cluster.may_requeue()


@pytest.mark.parametrize(("limit", "seconds"), [(60.0, 30.0), (120.0, 60.0), (86_400.0, 86_340.0)])
def test_a_job_goes_back_a_minute_before_its_end_but_not_at_once(limit, seconds):
    assert cluster.time_until_requeue(limit) == seconds
