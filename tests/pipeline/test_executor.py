"""The Slurm executor of ours, over a stand-in for the one that it subclasses; a real Slurm is in test_slurm.py."""

import asyncio
import importlib
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from learning_dynamics.pipeline.plan import cluster

plugin = importlib.import_module("snakemake_executor_plugin_slurm_patient")
pytest.importorskip("snakemake_executor_plugin_slurm")


class Job(str):
    """A job that may be submitted three times, by name."""

    group, attempt, restart_times = False, 1, 2

    def is_group(self):
        return self.group

    @property
    def name(self):
        return str(self)


class StandIn:
    """Does what the executor's base does, and writes down what it is asked."""

    def submit(self, what):
        if "broken" in what:
            try:
                raise TypeError("no such argument")
            except TypeError:  # as the executor's own handler does for groups
                raise AttributeError("no attribute 'rule'") from None
        self.submitted.extend(what if isinstance(what, list) else [what])

    run_job = run_array_jobs = run_jobs = submit

    def shutdown(self):
        self.submitted.append("shut down")

    async def check_active_jobs(self, active_jobs):
        for job in active_jobs:
            if job.job == "running":
                yield job
            elif job.job == "done":
                self.report_job_success(job)
            elif job.job == "failed":
                self.report_job_error(job, msg="why")

    def report_job_success(self, job_info):
        self.told.append((job_info.job, "success"))

    def report_job_error(self, job_info, msg=None, aux_logs=None):
        self.told.append((job_info.job, msg))

    def additional_general_args(self):
        return "--executor slurm-jobstep"

    def format_job_exec(self, job):
        return f"python -m snakemake {job.name}"

    def get_job_args(self, job):
        return f"--target-jobs {job.name} --cores all"


@pytest.fixture
def executor(monkeypatch):
    """An executor of ours whose base's methods are the stand-in's, without a workflow."""
    for name, method in vars(StandIn).items():
        if not name.startswith("__"):
            monkeypatch.setattr(plugin.SlurmExecutor, name, method, raising=False)
    made = plugin.Executor.__new__(plugin.Executor)
    made.submitted, made.told, made.reported, made.array_jobs = [], [], set(), set()
    made.loop, made.looked_for_orphans, made.wait = None, False, True
    made.logger = logging.getLogger("test")
    monkeypatch.setattr(plugin, "PAUSE", 0.0)
    monkeypatch.setattr(plugin, "controller_is_down", lambda: False)
    return made


def looked_at(executor, *states):
    async def look():
        return [job.job async for job in executor.check_active_jobs([SubmittedJobInfo(Job(state)) for state in states])]

    return asyncio.run(look())


def test_jobs_are_reported_once_and_stay_active_where_the_queue_says_nothing(executor):
    assert looked_at(executor, "unknown", "unknown") == ["unknown", "unknown"]
    assert not executor.told
    assert looked_at(executor, "running", "done", "failed") == ["running"]
    assert executor.told == [("done", "success"), ("failed", "why")]


def test_a_submission_waits_until_the_controller_answers_or_it_is_called_off(executor, monkeypatch):
    down = iter([True, True, False])
    monkeypatch.setattr(plugin, "controller_is_down", lambda: next(down))
    executor.run_job("job")
    assert executor.submitted == ["job"]
    assert not list(down)
    monkeypatch.setattr(plugin, "controller_is_down", lambda: True)
    monkeypatch.setattr(plugin.time, "sleep", lambda seconds: executor.shutdown())
    executor.run_array_jobs(["a", "b"])
    assert executor.submitted == ["job", "shut down"]


def test_a_submission_that_raises_fails_its_jobs_with_the_reason(executor):
    for method, given, jobs in (
        ("run_job", Job("broken"), ["broken"]),
        ("run_array_jobs", [Job("a"), Job("broken")], ["a", "broken"]),
    ):
        getattr(executor, method)(given)
        assert executor.told == [(job, "a submission failed: TypeError: no such argument") for job in jobs]
        executor.told.clear()
        assert not executor.submitted
    # of a thread, the loop that submits is told
    calls = []
    executor.loop = SimpleNamespace(call_soon_threadsafe=calls.append)
    executor.run_job(Job("broken"))
    assert not executor.told
    calls[0]()
    assert [job for job, _ in executor.told] == ["broken"]


def test_what_is_refused_for_good_is_not_submitted_again_and_a_group_says_why(executor, caplog):
    for reason, permanent in (
        ("sbatch: error: invalid partition specified: mian\nsbatch: error: Batch job submission failed: ...", True),
        ("a submission failed: WorkflowError: The given account phisics appears to be invalid. Available ...", True),
        ("Invalid generic resource (gres) specification", True),
        ("sbatch: unrecognized option '--gress=gpu:1'", True),
        ("Unable to contact slurm controller (connect failure)", False),
        ("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", False),
        ("SLURM-job '7' failed, SLURM status is: 'TIMEOUT'", False),
        (None, False),
    ):
        job = Job("job")
        executor.report_job_error(SubmittedJobInfo(job), msg=reason)
        assert executor.told.pop() == ("job", reason)
        assert (job.attempt > job.restart_times) is permanent  # where Snakemake tries again
    assert not caplog.messages  # Snakemake shows it of a job, not of a group
    job.group = True
    executor.report_job_error(SubmittedJobInfo(job), "no such partition\n    sbatch call:\n        sbatch ...")
    assert caplog.messages == ["group job: no such partition"]


def test_one_snakemake_does_the_jobs_of_a_submission(executor):
    for arrays, general, asked in (
        (set(), "--executor local --resources abreast=1", "--target-jobs run --cores all --cores 3"),
        ({"run"}, "--executor slurm-jobstep", "--target-jobs run --cores all"),
    ):
        executor.array_jobs = arrays
        assert executor.additional_general_args() == general
        assert executor.get_job_args(SimpleNamespace(name="run", threads=3)) == asked


def test_a_single_job_that_slurm_may_requeue_is_told_so(executor):
    for requeue, group, told in ((True, False, True), (True, True, False), (False, False, False)):
        executor.workflow = SimpleNamespace(executor_settings=SimpleNamespace(requeue=requeue))
        executed = executor.format_job_exec(SimpleNamespace(name="run", is_group=lambda group=group: group))
        assert executed == ("export LEARNING_DYNAMICS_REQUEUE=1; " if told else "") + "python -m snakemake run"
        assert plugin.REQUEUE == cluster.REQUEUE


@pytest.mark.parametrize("missing", ["Executor", "the package"])
def test_without_what_it_subclasses_it_says_what_to_install(monkeypatch, missing):
    slurm = importlib.import_module("snakemake_executor_plugin_slurm")
    if missing == "the package":
        monkeypatch.setitem(sys.modules, "snakemake_executor_plugin_slurm", None)
    else:
        monkeypatch.delattr(slurm, missing)
    alone = importlib.util.module_from_spec(importlib.util.find_spec("snakemake_executor_plugin_slurm_patient"))
    alone.__spec__.loader.exec_module(alone)
    with pytest.raises(Exception, match=r"needs snakemake-executor-plugin-slurm 2\.6\.1 to 2\.8"):
        alone.Executor(None, None)


def test_every_method_that_it_overrides_is_still_there():
    ours = [name for name in vars(plugin.Executor) if callable(vars(plugin.Executor)[name]) and name != "_submit"]
    assert not [name for name in ours if name != "_report_failed" and not hasattr(plugin.SlurmExecutor, name)]


def test_a_controller_is_down_where_slurm_says_so(tmp_path, monkeypatch):
    for answer, down in (
        (None, False),
        ("Slurmctld(primary) at one is UP", False),
        ("Slurmctld(primary) at one is DOWN", True),
        ("Slurmctld(primary) at one is DOWN\nSlurmctld(backup) at two is UP", False),
        ("scontrol: error: not for users", False),
    ):
        monkeypatch.setenv("PATH", str(tmp_path) + (":/bin:/usr/bin" if answer else ""))
        if answer:
            program = tmp_path / "scontrol"
            program.write_text(f"#!/bin/sh\ncat <<END\n{answer}\nEND\n")
            program.chmod(0o755)
        assert plugin.controller_is_down() is down


# -- jobs of a Snakemake that was killed

HERE = Path("/home/someone/project with | in its name")


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def answer(text: str, status: int = 0) -> None:
        (tmp_path / "answer").write_bytes(os.fsencode(text))
        program = tmp_path / "squeue"
        program.write_text(f"#!/bin/sh\ncat '{tmp_path}/answer'\nexit {status}\n")
        program.chmod(0o755)

    return answer


def test_nothing_is_submitted_beside_jobs_of_a_killed_snakemake(executor, squeue):
    squeue(f"12|rule_run_wildcards_spectral_bias_small_scale|{HERE}\n9|rule_metrics_metrics|{HERE}\n")
    executor.workflow = SimpleNamespace(workdir_init=str(HERE))
    with pytest.raises(WorkflowError, match=r"2 jobs .* scancel 9 12$"):
        executor.run_jobs([])
    assert not executor.submitted
    squeue("")
    executor.run_jobs(["one"])
    squeue(f"12|rule_run|{HERE}\n")
    executor.run_jobs(["two"])  # these are its own
    assert executor.submitted == ["one", "two"]


def test_others_jobs_and_a_slurm_that_does_not_answer_stop_nothing(squeue, monkeypatch, tmp_path):
    for line in (
        "12|rule_run_wildcards_spectral_bias_small_scale|/home/someone/elsewhere",
        f"12|(null)|{HERE}",  # a shell or a Snakemake that itself runs under Slurm
        "slurm_load_jobs error: Unable to contact slurm controller",
    ):
        squeue(line + "\n")
        assert plugin.queued_jobs(HERE) == []
    monkeypatch.setenv("LC_ALL", "C")
    squeue("7|rule_run|/home/b\udce4r/elsewhere\n12|rule_run|/home/m\u00fcller/dynamics\n")
    assert plugin.queued_jobs(Path("/home/m\u00fcller/dynamics")) == ["12"]
    squeue(f"12|rule_run|{HERE}\n", status=1)
    assert plugin.queued_jobs(HERE) == []
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert plugin.queued_jobs(HERE) == []
