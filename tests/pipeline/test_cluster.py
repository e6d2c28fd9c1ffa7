"""A job that is out of time may go back into Slurm's queue: which job may, when it stops, what it asks of Slurm.

A script replaces Slurm's `scontrol`; test_slurm.py has a real Slurm.
"""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import cluster


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        # Slurm ends a job that goes back into the queue; if the job still runs, it has not gone back
        pytest.param(
            "exit 0", "Slurm took job 4711 back, but did not end it in 0 seconds", id="accepted, and the job runs on"
        ),
        pytest.param("echo held >&2; exit 1", r"Slurm did not put job 4711 back \(held\)", id="refused"),
        pytest.param("exit 1", r"Slurm did not put job 4711 back \(no reason given\)", id="refused without a word"),
    ],
)
def test_a_job_that_slurm_does_not_put_back_says_why(answer, message, tmp_path, monkeypatch, capsys):
    scontrol, calls = tmp_path / "scontrol", tmp_path / "calls"
    scontrol.write_text(f'#!/bin/sh\necho "$@" > {calls}\n{answer}\n')
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setattr(cluster, "REQUEUE_TIMEOUT", 0.0)  # for how long the job waits for its end
    with pytest.raises(ProjectError, match=rf"^3 of 9 epochs are trained; {message}$"):
        cluster.requeue("3 of 9 epochs are trained")
    assert calls.read_text() == "requeue 4711\n"
    assert "3 of 9 epochs are trained: job 4711 goes back into Slurm's queue" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "may_requeue"),
    [
        pytest.param({cluster.REQUEUE: "1", "SLURM_JOB_ID": "4711"}, True, id="a job of a submission that allows it"),
        pytest.param({"SLURM_JOB_ID": "4711"}, False, id="inside an allocation that somebody works in"),
        pytest.param({cluster.REQUEUE: "1"}, False, id="without Slurm"),
    ],
)
def test_only_a_job_whose_submission_allows_it_goes_back(variables, may_requeue, monkeypatch):
    for name in (cluster.REQUEUE, "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cluster.may_requeue() == may_requeue


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        pytest.param(60.0, 30.0, id="short limit: halfway"),
        pytest.param(120.0, 60.0, id="two minutes: both rules agree"),
        pytest.param(86_400.0, 86_340.0, id="long limit: a minute before its end"),
    ],
)
def test_a_job_stops_a_minute_before_its_limit_or_halfway(limit, seconds):
    assert cluster.time_until_stop(limit) == seconds
