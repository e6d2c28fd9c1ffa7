"""A job goes back into Slurm's queue; a stand-in answers."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import cluster


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param("exit 0", "no reason given", id="taken, and the job runs on"),
        pytest.param("echo held >&2; exit 1", "held", id="refused"),
    ],
)
def test_a_job_is_put_back_or_says_why_not(answer, reason, tmp_path, monkeypatch, capsys):
    """Slurm ends a job that it puts back; one that still runs after a while was not."""
    program, asked = tmp_path / "scontrol", tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\n{answer}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setattr(cluster, "REQUEUE_TIMEOUT", 0.0)
    with pytest.raises(ProjectError, match=rf"^3 of 9 epochs.*job 4711 back \({reason}\)$"):
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


def test_a_job_stops_a_minute_before_its_end_but_not_at_once():
    for limit, seconds in ((60.0, 30.0), (120.0, 60.0), (86_400.0, 86_340.0)):
        assert cluster.time_until_stop(limit) == seconds, limit
