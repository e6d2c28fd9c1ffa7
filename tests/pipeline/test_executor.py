"""The project's Slurm executor alone: a stand-in replaces the executor that it subclasses, scripts replace Slurm.

test_slurm.py has a real Slurm.
"""

import asyncio
import errno
import importlib
import logging
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from learning_dynamics.pipeline.plan import cluster
from tests.pipeline.slurm import until

plugin = importlib.import_module("snakemake_executor_plugin_slurm_patient")
submitters = importlib.import_module("snakemake_executor_plugin_slurm_patient.submitters")
pytest.importorskip("snakemake_executor_plugin_slurm")


class Job(str):
    """A job, which is its name; it is at its first attempt, and Snakemake may restart it twice."""

    group = False  # whether it is a group of jobs
    attempt = 1
    restart_times = 2
    log = ()  # its files
    output = ()

    def is_group(self):
        return self.group

    @property
    def name(self):
        return str(self)

    def is_tried_again(self):
        """Whether Snakemake submits the job again after it has failed."""
        return self.attempt <= self.restart_times


class StandIn:
    """The methods of the executor's base: `submitted` lists the jobs that they submit, `reports` how jobs ended.

    What happens to a job depends on its name: "broken" cannot be submitted; "running", "done" and "failed" are known to
    Slurm's queue, and "unknown" is not.
    """

    def submit(self, job_or_jobs):
        jobs = job_or_jobs if isinstance(job_or_jobs, list) else [job_or_jobs]
        if "broken" in jobs:
            try:
                raise TypeError("no such argument")
            except TypeError:  # the base's own handler of errors fails for groups, in this way
                raise AttributeError("no attribute 'rule'") from None
        self.submitted.extend(jobs)

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
            # "unknown" is neither active nor reported

    def report_job_success(self, job_info):
        self.reports.append((job_info.job, "success"))

    def report_job_error(self, job_info, msg=None, aux_logs=None):
        self.reports.append((job_info.job, msg))

    def additional_general_args(self):
        return "--executor slurm-jobstep"

    def format_job_exec(self, job):
        return f"python -m snakemake {job.name}"

    def get_job_args(self, job):
        return f"--target-jobs {job.name} --cores all"


def dag(*outputs, inputs=()):
    """Return Snakemake's graph of jobs: one for each output, all of them to be run, and each with these inputs."""
    jobs = [SimpleNamespace(output=[output], input=list(inputs)) for output in outputs]
    return SimpleNamespace(jobs=jobs, needrun_jobs=lambda: iter(jobs))


RUN_NAME = "learning-dynamics_mine"  # of the jobs of this executor's Snakemake, in Slurm's queue


@pytest.fixture
def executor(monkeypatch):
    """The project's executor, whose base has the stand-in's methods, as before its first submission."""
    for name, method in vars(StandIn).items():
        if not name.startswith("__"):
            monkeypatch.setattr(plugin.SlurmExecutor, name, method, raising=False)
    made = plugin.Executor.__new__(plugin.Executor)  # not initialised: the base would look for Slurm
    # the stand-in's
    made.submitted = []
    made.reports = []
    # the base's
    made.array_jobs = set()
    made.wait = True
    made.run_uuid = RUN_NAME
    made.dag = dag()
    made.logger = logging.getLogger("test")
    # what `Executor.__init__` sets
    made.loop = None
    made.submitter = None
    made.reported = set()
    made.reasons_shown = set()
    made.is_ending = False
    monkeypatch.setattr(plugin, "PAUSE", 0.0)
    monkeypatch.setattr(plugin, "controller_is_down", lambda: False)
    return made


def active_jobs(executor, jobs):
    """Let the executor look at the queue; return those of some submitted jobs that it then says are active."""

    async def look():
        return [job async for job in executor.check_active_jobs(jobs)]

    return asyncio.run(look())


def submitted_jobs(*names):
    """Return submitted jobs of these names, which say how the queue knows them (`StandIn`)."""
    return [SubmittedJobInfo(Job(name)) for name in names]


def test_a_job_of_which_the_queue_says_nothing_stays_active(executor):
    jobs = submitted_jobs("unknown", "unknown")
    assert active_jobs(executor, jobs) == jobs
    assert not executor.reports


def test_a_job_that_ended_is_reported_once_and_is_no_longer_active(executor, caplog):
    running, done, failed = submitted_jobs("running", "done", "failed")
    assert active_jobs(executor, [running, done, failed]) == [running]
    assert executor.reports == [("done", "success"), ("failed", "why")]
    assert not caplog.records  # no warning that the controller does not answer


def test_a_job_that_the_previous_look_reported_may_be_unknown_at_this_one(executor):
    (job,) = submitted_jobs("unknown")
    # the executor identifies jobs by `id`, which Python gives to a new object when an old one is gone
    executor.reported = {id(job)}
    assert active_jobs(executor, [job]) == [job]


def test_a_submission_waits_until_the_controller_answers(executor, monkeypatch):
    down = iter([True, True, False])
    monkeypatch.setattr(plugin, "controller_is_down", lambda: next(down))
    executor.run_job("job")
    assert executor.submitted == ["job"]
    assert not list(down)  # all three answers were asked for


def test_a_submission_that_waits_is_called_off_by_a_shutdown(executor, monkeypatch):
    monkeypatch.setattr(plugin, "controller_is_down", lambda: True)
    monkeypatch.setattr(plugin.time, "sleep", lambda seconds: executor.shutdown())
    executor.run_array_jobs(["a", "b"])
    assert executor.submitted == ["shut down"]


FAILED = "a submission failed: TypeError: no such argument"


def test_a_submission_that_raises_fails_its_job_with_the_reason(executor):
    executor.run_job(Job("broken"))
    assert executor.reports == [("broken", FAILED)]
    assert not executor.submitted


def test_a_submission_of_an_array_that_raises_fails_all_of_its_jobs(executor):
    executor.run_array_jobs([Job("a"), Job("broken")])
    assert executor.reports == [("a", FAILED), ("broken", FAILED)]
    assert not executor.submitted


def test_a_submission_that_raises_in_a_thread_is_reported_in_the_loop(executor):
    calls = []
    executor.loop = SimpleNamespace(call_soon_threadsafe=calls.append)
    executor.run_job(Job("broken"))
    assert not executor.reports
    for call in calls:
        call()
    assert executor.reports == [("broken", FAILED)]


@pytest.mark.parametrize(
    ("reason", "is_permanent"),
    [
        ("sbatch: error: invalid partition specified: mian\nsbatch: error: Batch job submission failed: ...", True),
        ("a submission failed: WorkflowError: The given account phisics appears to be invalid. Available ...", True),
        ("Invalid generic resource (gres) specification", True),
        ("sbatch: unrecognized option '--gress=gpu:1'", True),
        ("Unable to contact slurm controller (connect failure)", False),
        ("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", False),
        ("SLURM-job '7' failed, SLURM status is: 'TIMEOUT'", False),
        (None, False),
    ],
)
def test_a_job_that_slurm_will_always_refuse_is_not_submitted_again(executor, caplog, reason, is_permanent):
    job = Job("job")
    executor.report_job_error(SubmittedJobInfo(job), msg=reason)
    assert executor.reports == [("job", reason)]
    assert job.is_tried_again() is not is_permanent
    assert not caplog.messages  # of a single job Snakemake shows the reason


def test_the_reason_why_a_group_was_refused_is_logged(executor, caplog):
    group = Job("job")
    group.group = True
    executor.report_job_error(SubmittedJobInfo(group), "no such partition\n    sbatch call:\n        sbatch ...")
    assert caplog.messages == ["group job: no such partition"]


@pytest.mark.parametrize(
    ("array_jobs", "general_arguments", "job_arguments"),
    [
        pytest.param(
            set(),
            "--executor local --resources abreast=1",
            "--target-jobs run --cores all --cores 3",  # of several counts the last one holds
            id="one Snakemake on the processors that the job asked for",
        ),
        pytest.param({"run"}, "--executor slurm-jobstep", "--target-jobs run --cores all", id="arrays as in the base"),
    ],
)
def test_one_snakemake_does_the_jobs_of_a_submission(executor, array_jobs, general_arguments, job_arguments):
    executor.array_jobs = array_jobs
    assert executor.additional_general_args() == general_arguments
    assert executor.get_job_args(SimpleNamespace(name="run", threads=3)) == job_arguments


@pytest.mark.parametrize(
    ("requeue", "is_group", "script"),
    [
        pytest.param(True, False, "export LEARNING_DYNAMICS_REQUEUE=1; python -m snakemake run", id="may be requeued"),
        pytest.param(True, True, "python -m snakemake run", id="a group"),
        pytest.param(False, False, "python -m snakemake run", id="without requeueing"),
    ],
)
def test_a_single_job_that_slurm_may_requeue_has_a_variable_that_says_so(executor, requeue, is_group, script):
    executor.workflow = SimpleNamespace(executor_settings=SimpleNamespace(requeue=requeue, gpu_options=None))
    assert executor.format_job_exec(SimpleNamespace(name="run", is_group=lambda: is_group)) == script


def test_the_variable_is_the_one_that_jobs_read():
    assert plugin.REQUEUE == cluster.REQUEUE


@pytest.mark.parametrize("missing", ["Executor", "the package"])
def test_without_the_executor_that_it_subclasses_the_plugin_says_what_to_install(monkeypatch, missing):
    slurm = importlib.import_module("snakemake_executor_plugin_slurm")
    if missing == "the package":
        monkeypatch.setitem(sys.modules, "snakemake_executor_plugin_slurm", None)  # importing it raises ImportError
    else:
        monkeypatch.delattr(slurm, missing)
    # the project's executor, imported again in this state
    reimported = importlib.util.module_from_spec(importlib.util.find_spec("snakemake_executor_plugin_slurm_patient"))
    reimported.__spec__.loader.exec_module(reimported)
    with pytest.raises(WorkflowError) as error:
        reimported.Executor(None, logging.getLogger("test"))
    assert "the executor slurm-patient needs snakemake-executor-plugin-slurm 2.6.1 to 2.8 (" in str(error.value)
    assert "; pip install 'learning-dynamics[cluster]'" in str(error.value)


def test_every_public_method_that_the_executor_overrides_is_one_of_the_base():
    own = {name for name, value in vars(plugin.Executor).items() if callable(value) and not name.startswith("_")}
    assert {name for name in own if not hasattr(plugin.SlurmExecutor, name)} == set()


def write_program(folder, name, script):
    """Write a shell script that replaces one of Slurm's programs."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("answer", "is_down"),
    [
        pytest.param("Slurmctld(primary) at one is UP", False, id="up"),
        pytest.param("Slurmctld(primary) at one is DOWN", True, id="down"),
        pytest.param("Slurmctld(primary) at one is DOWN\nSlurmctld(backup) at two is UP", False, id="its backup is up"),
        pytest.param("scontrol: error: not for users", False, id="scontrol does not say"),
    ],
)
def test_a_controller_is_down_where_scontrol_says_so(tmp_path, monkeypatch, answer, is_down):
    write_program(tmp_path, "scontrol", f"cat <<END\n{answer}\nEND")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert plugin.controller_is_down() is is_down


def test_without_slurm_no_controller_is_down(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # an empty folder: no program is found, and so no `scontrol`
    assert not plugin.controller_is_down()


# -- other Snakemakes in the same folder, and their jobs ---------------------------------------------------------------

KILLED = "learning-dynamics_killed"  # the name of another Snakemake's jobs
MADE_HERE = "results/toy/runs/slow.npz"  # by the jobs of this executor
NOT_MADE_HERE = "results/toy/runs/fast.npz"


@pytest.fixture
def squeue(tmp_path, monkeypatch):
    """Return a function that sets what the program `squeue` prints, and its exit status.

    A line is a job's number, its name, which all jobs of a Snakemake share, a comment, which begins with the rule, and
    the folder it was submitted from; or, of jobs that wait, its number, the comment and Slurm's reason.
    """
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def answer(text: str, status: int = 0) -> None:
        (tmp_path / "answer").write_bytes(os.fsencode(text))
        write_program(tmp_path, "squeue", f"cat '{tmp_path}/answer'\nexit {status}")

    return answer


def jobs_of_another(folder):
    """Return the lines of `squeue` for jobs 12 and 9, which another Snakemake submitted from a folder."""
    return f"12|{KILLED}|rule_run_wildcards_toy_slow|{folder}\n9|{KILLED}|rule_metrics|{folder}\n"


@pytest.fixture
def here(executor, squeue, tmp_path):
    """A folder from which the executor is to submit jobs that make `MADE_HERE`; nothing is queued."""
    executor.workflow = SimpleNamespace(workdir_init=str(tmp_path))
    executor.dag = dag(MADE_HERE)
    squeue("")
    return tmp_path


def leave_file_of_another(folder, *makes, alive=True, machine=None, age=0.0):
    """Write the file of another Snakemake, which makes the files `makes` with jobs of the name `KILLED`.

    It has the number of this process; if it is not `alive`, it was an earlier process of this number. It is on this
    machine unless another one is named, and its file was last touched `age` seconds ago.
    """
    this = submitters.this_process(KILLED, makes)
    started = this.started if alive else this.started - 100.0
    submitters.write(folder, replace(this, started=started, machine=machine or this.machine, host="login2"))
    file = folder / submitters.FOLDER / KILLED
    os.utime(file, (file.stat().st_atime - age, file.stat().st_mtime - age))


def refusal_to_submit(executor):
    """Return the message with which the executor refuses to submit a job, and assert that it submits none."""
    with pytest.raises(WorkflowError) as error:
        executor.run_jobs(["job"])
    assert executor.submitted == []
    return str(error.value)


def test_another_snakemake_at_work_on_other_files_is_no_hindrance(executor, here, squeue, caplog):
    leave_file_of_another(here, NOT_MADE_HERE)
    squeue(jobs_of_another(here))
    executor.run_jobs(["one"])
    squeue(jobs_of_another(here) + f"13|{executor.run_uuid}|rule_run|{here}\n")  # now with a job of its own
    executor.run_jobs(["two"])
    assert executor.submitted == ["one", "two"]
    assert caplog.messages == []


@pytest.mark.parametrize("has_jobs", [False, True])
def test_another_snakemake_at_the_same_files_is_named_and_its_jobs_are_left_alone(executor, here, squeue, has_jobs):
    leave_file_of_another(here, NOT_MADE_HERE, MADE_HERE)
    squeue(jobs_of_another(here) if has_jobs else "")
    message = refusal_to_submit(executor)
    assert f"another Snakemake (process {os.getpid()} on login2) is at work in {here} and makes {MADE_HERE}" in message
    assert "scancel" not in message


def test_another_snakemake_that_makes_what_this_one_reads_is_named(executor, here):
    leave_file_of_another(here, NOT_MADE_HERE)
    executor.dag = dag("results/claims.parquet", inputs=[NOT_MADE_HERE])
    assert f"makes {NOT_MADE_HERE} as well" in refusal_to_submit(executor)


def test_jobs_of_a_snakemake_of_which_nothing_is_known_are_to_be_cancelled(executor, here, squeue):
    squeue(jobs_of_another(here))
    assert refusal_to_submit(executor).endswith("cancel them, then start again: scancel 9 12")


def test_jobs_of_an_ended_snakemake_are_to_be_cancelled_if_they_make_the_same_files(executor, here, squeue):
    squeue(jobs_of_another(here))
    leave_file_of_another(here, MADE_HERE, alive=False)
    message = refusal_to_submit(executor)
    assert f"2 jobs of a Snakemake that has ended (process {os.getpid()} on login2) are still in" in message


def test_jobs_of_an_ended_snakemake_continue_if_they_make_other_files(executor, here, squeue, caplog):
    squeue(jobs_of_another(here))
    leave_file_of_another(here, NOT_MADE_HERE, alive=False)
    executor.run_jobs(["one"])
    assert executor.submitted == ["one"]
    assert "they make no file that is asked for now: 9 12" in caplog.messages[0]


def test_a_snakemake_elsewhere_that_touched_its_file_of_late_is_at_work(executor, here):
    leave_file_of_another(here, MADE_HERE, machine="another", age=0.9 * submitters.SILENCE)
    assert "is at work" in refusal_to_submit(executor)


def test_a_snakemake_elsewhere_that_did_not_touch_its_file_of_late_has_ended(executor, here):
    leave_file_of_another(here, MADE_HERE, machine="another", age=1.1 * submitters.SILENCE)
    executor.run_jobs(["one"])
    # its file is removed, since it has no jobs in the queue; this Snakemake's is there
    assert [file.name for file in (here / submitters.FOLDER).iterdir()] == [executor.run_uuid]


def test_a_snakemake_touches_its_file_at_each_look_and_removes_it_at_its_end(executor, here):
    executor.run_jobs(["one"])
    file = here / submitters.FOLDER / executor.run_uuid
    os.utime(file, (0, 0))
    active_jobs(executor, submitted_jobs("running"))
    assert file.stat().st_mtime > 0
    executor.shutdown()
    assert not file.exists()


@pytest.fixture
def full_disk(monkeypatch):
    """No file can be touched."""

    def touch(_file):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(submitters.Path, "touch", touch)


def test_on_a_full_disk_a_live_process_of_this_machine_is_at_work(here, full_disk):
    leave_file_of_another(here, MADE_HERE)
    assert [at_work for _, at_work in submitters.read(here)] == [True]


def test_on_a_full_disk_looking_for_a_snakemake_of_another_machine_is_an_error(here, full_disk):
    leave_file_of_another(here, MADE_HERE, machine="another")
    with pytest.raises(OSError, match=os.strerror(errno.EDQUOT)):
        list(submitters.read(here))


def test_a_snakemake_elsewhere_that_ends_while_its_file_is_read_is_not_at_work(here, monkeypatch):
    leave_file_of_another(here, MADE_HERE, machine="another")
    age = submitters._age

    def age_of_a_removed_file(file):
        file.unlink()
        return age(file)

    monkeypatch.setattr(submitters, "_age", age_of_a_removed_file)
    assert [at_work for _, at_work in submitters.read(here)] == [False]


ODD_FOLDER = Path("/home/someone/project with | in its name")  # the sign between columns of `squeue`


def test_jobs_that_snakemakes_submitted_from_a_folder_are_found_by_their_name(squeue):
    squeue(f"12|a|rule_run|{ODD_FOLDER}\n")
    assert plugin.queued_jobs(ODD_FOLDER) == {"a": ["12"]}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("12|a|rule_run_wildcards_toy_slow|/home/someone/elsewhere", id="of another folder"),
        pytest.param(f"12|bash|(null)|{ODD_FOLDER}", id="a shell, or a Snakemake that itself runs under Slurm"),
        pytest.param("slurm_load_jobs error: Unable to contact slurm controller", id="a message"),
    ],
)
def test_other_lines_of_the_queue_are_no_jobs_of_a_folder(squeue, line):
    squeue(f"{line}\n")
    assert plugin.queued_jobs(ODD_FOLDER) == {}


def test_names_of_folders_may_have_any_bytes_whatever_the_locale(squeue, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    # the first folder is a name in Latin-1, which is no UTF-8
    squeue("7|a|rule_run|/home/b\udce4r/elsewhere\n12|a|rule_run|/home/m\u00fcller/dynamics\n")
    assert plugin.queued_jobs(Path("/home/m\u00fcller/dynamics")) == {"a": ["12"]}


def test_where_squeue_fails_no_jobs_are_found(squeue):
    squeue(f"12|a|rule_run|{ODD_FOLDER}\n", status=1)
    assert plugin.queued_jobs(ODD_FOLDER) == {}


def test_without_squeue_no_jobs_are_found(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # an empty folder: no program is found, and so no `squeue`
    assert plugin.queued_jobs(ODD_FOLDER) == {}


# -- jobs that wait, or that need not be tried again -------------------------------------------------------------------


def test_slurms_reason_for_jobs_that_wait_is_shown_once_with_the_first_of_them(executor, squeue, caplog):
    drained = "Nodes required for job are DOWN, DRAINED or reserved"
    squeue(f"7|rule_run_wildcards_toy_slow|{drained}\n8|rule_metrics|{drained}\n9|rule_run|None\n")
    active_jobs(executor, submitted_jobs("running"))
    active_jobs(executor, submitted_jobs("running"))
    squeue("9|rule_run_wildcards_toy_fast|Priority\n")
    active_jobs(executor, submitted_jobs("running"))
    assert caplog.messages == [
        f"Slurm keeps job 7 (run toy_slow) and 1 more waiting: {drained}",
        "Slurm keeps job 9 (run toy_fast) waiting: Priority",
    ]


CANCEL_WAITING = f"--state=PENDING --name={RUN_NAME}"  # options of scancel


@pytest.fixture
def sigterms():
    """The SIGTERMs that were handed on to the handler that there was before the executor's."""
    received = []
    previous_handler = signal.signal(signal.SIGTERM, lambda *_: received.append("SIGTERM"))
    yield received
    signal.signal(signal.SIGTERM, previous_handler)


def test_sigterm_cancels_jobs_that_wait_and_is_handed_on(executor, here, squeue, sigterms):
    calls = here / "calls of scancel"
    write_program(here, "scancel", f'echo "$@" >> "{calls}"')
    executor.run_jobs(["one"])
    signal.raise_signal(signal.SIGTERM)
    until(calls.exists, "the call of scancel", seconds=30)
    assert sigterms == ["SIGTERM"]
    # a job that comes into the queue later is cancelled at the next look
    squeue("7|rule_run_wildcards_toy_slow|Priority\n")
    active_jobs(executor, submitted_jobs("running"))
    assert calls.read_text().splitlines() == [CANCEL_WAITING, CANCEL_WAITING]


@pytest.mark.parametrize(
    ("last_line", "is_futile"),  # of its log, and whether another attempt would be
    [
        ("error: results/a.npz: cannot be written (Disk quota exceeded); free space, then", True),
        ("error: x: the source or the settings have changed since Snakemake planned this job; run", True),
        ("error: does not fit into this machine's memory", False),
        ("error: not finished after 30 minutes", False),
    ],
)
def test_a_job_that_more_memory_cannot_help_is_not_submitted_again(executor, tmp_path, caplog, last_line, is_futile):
    (tmp_path / "log").write_text(f"some line\n{last_line}\n")
    job = Job("job")
    job.log = [tmp_path / "log", tmp_path / "never_written"]
    executor.report_job_error(SubmittedJobInfo(job, external_jobid="7"), msg="SLURM-job '7' failed")
    assert job.is_tried_again() is not is_futile
    assert ("is not submitted again, since more memory and time would not help: " in caplog.text) is is_futile


@pytest.fixture
def job_without_log(tmp_path):
    """A job that failed and has no log; its output is in a folder that is there."""
    job = Job("job")
    job.output = [tmp_path / "table.parquet"]
    return job


def test_a_job_that_left_no_log_on_a_disk_with_room_is_submitted_again(executor, job_without_log, tmp_path):
    executor.report_job_error(SubmittedJobInfo(job_without_log, external_jobid="7"), msg="failed")
    assert job_without_log.is_tried_again()
    assert list(tmp_path.iterdir()) == []  # the file that tries the disk is gone


def test_a_job_that_left_no_log_on_a_full_disk_is_not_submitted_again(
    executor, job_without_log, tmp_path, monkeypatch, caplog
):
    def full(*_, **__):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(plugin.tempfile, "TemporaryFile", full)
    executor.report_job_error(SubmittedJobInfo(job_without_log, external_jobid="7"), msg="failed")
    assert not job_without_log.is_tried_again()
    assert f"{tmp_path}: Disk quota exceeded" in caplog.text


def test_on_a_machine_without_slurm_one_line_says_where_to_go(clean, tmp_path):
    (tmp_path / "bin").mkdir()  # all programs but Slurm's `sbatch`
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            link = tmp_path / "bin" / program.name
            if program.name != "sbatch" and not link.is_symlink():
                link.symlink_to(program)
    clean.variables["PATH"] = f"{Path(sys.executable).parent}:{tmp_path / 'bin'}"
    ended = clean.run(sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", "results/toy/data/starts.npz")
    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if not line.startswith("Using profiles ")]
    assert line.startswith("error: this machine has no Slurm (no sbatch on PATH): go to a login node of the cluster")


def test_the_plugins_search_for_an_account_is_not_shown(caplog):
    logger = logging.getLogger("of a Snakemake")
    logger.addFilter(plugin._is_worth_showing)
    for text in (
        "No SLURM account given, trying to guess.",
        "No account was given, not able to get a SLURM account via sacct: sacct: invalid option -- '1'",
        "Unable to guess SLURM account. Trying to proceed without.",
        "Guessed SLURM account: physics",
    ):
        logger.warning(text)
    assert caplog.messages == ["Guessed SLURM account: physics"]


@pytest.mark.parametrize(
    ("gpu", "is_group", "script"),
    [
        pytest.param(
            1,
            False,
            "#SBATCH --constraint=a100\nexport LEARNING_DYNAMICS_REQUEUE=1; python -m snakemake run",
            id="a job with a GPU",
        ),
        pytest.param(1, True, "#SBATCH --constraint=a100\npython -m snakemake run", id="a group with a GPU"),
        pytest.param(0, True, "python -m snakemake run", id="a group without a GPU"),
    ],
)
def test_options_for_gpus_reach_only_jobs_that_ask_for_one(executor, gpu, is_group, script):
    settings = SimpleNamespace(requeue=True, gpu_options="--constraint=a100")
    executor.workflow = SimpleNamespace(executor_settings=settings)
    job = SimpleNamespace(name="run", is_group=lambda: is_group, resources={"gpu": gpu})
    assert executor.format_job_exec(job) == script
