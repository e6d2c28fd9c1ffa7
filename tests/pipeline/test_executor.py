"""The project's Slurm executor, over a stand-in for the one that it subclasses; a real Slurm is in test_slurm.py."""

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
    """A job that may be submitted three times, by name."""

    group, attempt, restart_times = False, 1, 2
    log, output = (), ()

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
            # of "unknown" the queue says nothing: it is neither active nor reported

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
    """A graph with a job for each output, all of which are to run."""
    jobs = [SimpleNamespace(output=[output], input=list(inputs)) for output in outputs]
    return SimpleNamespace(jobs=jobs, needrun_jobs=lambda: iter(jobs))


@pytest.fixture
def executor(monkeypatch):
    """The project's executor on a base whose methods are the stand-in's, without a workflow."""
    for name, method in vars(StandIn).items():
        if not name.startswith("__"):
            monkeypatch.setattr(plugin.SlurmExecutor, name, method, raising=False)
    made = plugin.Executor.__new__(plugin.Executor)
    made.submitted, made.reports, made.reported, made.array_jobs = [], [], set(), set()
    made.loop, made.submitter, made.wait = None, None, True
    made.reasons_shown, made.is_ending, made.run_uuid = set(), False, "learning-dynamics_mine"
    made.dag = dag()
    made.logger = logging.getLogger("test")
    monkeypatch.setattr(plugin, "PAUSE", 0.0)
    monkeypatch.setattr(plugin, "controller_is_down", lambda: False)
    return made


def active_jobs(executor, *states):
    async def look():
        return [job.job async for job in executor.check_active_jobs([SubmittedJobInfo(Job(state)) for state in states])]

    return asyncio.run(look())


def test_a_job_of_which_the_queue_says_nothing_stays_active(executor):
    assert active_jobs(executor, "unknown", "unknown") == ["unknown", "unknown"]
    assert not executor.reports


def test_a_job_that_ended_is_reported_once_and_is_no_longer_active(executor, caplog):
    assert active_jobs(executor, "running", "done", "failed") == ["running"]
    assert executor.reports == [("done", "success"), ("failed", "why")]
    assert not caplog.records  # that the controller does not answer


def test_what_an_earlier_look_reported_does_not_count_at_the_next(executor):
    job = SubmittedJobInfo(Job("unknown"))
    executor.reported = {id(job)}  # Python gives the id of a job that has gone to a new one

    async def look():
        return [each async for each in executor.check_active_jobs([job])]

    assert asyncio.run(look()) == [job]


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
        assert executor.reports == [(job, "a submission failed: TypeError: no such argument") for job in jobs], method
        executor.reports.clear()
        assert not executor.submitted, method
    # of a thread, the loop that submits is told
    calls = []
    executor.loop = SimpleNamespace(call_soon_threadsafe=calls.append)
    executor.run_job(Job("broken"))
    assert not executor.reports
    calls[0]()
    assert [job for job, _ in executor.reports] == ["broken"]


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
        assert executor.reports.pop() == ("job", reason), reason
        assert (job.attempt > job.restart_times) is permanent, reason  # where Snakemake tries again
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
        assert executor.additional_general_args() == general, arrays
        assert executor.get_job_args(SimpleNamespace(name="run", threads=3)) == asked, arrays


def test_a_single_job_that_slurm_may_requeue_is_told_so(executor):
    for requeue, group, told in ((True, False, True), (True, True, False), (False, False, False)):
        executor.workflow = SimpleNamespace(executor_settings=SimpleNamespace(requeue=requeue, gpu_options=None))
        executed = executor.format_job_exec(SimpleNamespace(name="run", is_group=lambda group=group: group))
        assert executed == ("export LEARNING_DYNAMICS_REQUEUE=1; " if told else "") + "python -m snakemake run", requeue
        assert plugin.REQUEUE == cluster.REQUEUE, requeue


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
        alone.Executor(None, logging.getLogger("test"))


def test_every_method_that_it_overrides_is_still_there():
    ours = {name for name, value in vars(plugin.Executor).items() if callable(value) and not name.startswith("_")}
    assert not [name for name in ours if not hasattr(plugin.SlurmExecutor, name)]


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
        assert plugin.controller_is_down() is down, answer


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


ORPHANS = "12|learning-dynamics_killed|rule_run_wildcards_toy_slow|{0}\n9|learning-dynamics_killed|rule_metrics|{0}\n"
OUT, OTHER = "results/toy/runs/slow.npz", "results/toy/runs/fast.npz"


@pytest.fixture
def here(executor, squeue, tmp_path):
    """A folder to submit from, in which the executor is to make `OUT`, and nothing is queued."""
    executor.workflow, executor.dag = SimpleNamespace(workdir_init=str(tmp_path)), dag(OUT)
    squeue("")
    return tmp_path


def beside(folder, *makes, alive=True, machine=None, age=0.0, job_name="learning-dynamics_killed"):
    """Leave the file of another Snakemake that makes files; a live one has this process' number."""
    here = submitters.this_process(job_name, makes)
    started = here.started if alive else here.started - 100.0
    submitters.write(folder, replace(here, started=started, machine=machine or here.machine, host="login2"))
    file = folder / submitters.FOLDER / job_name
    os.utime(file, (file.stat().st_atime - age, file.stat().st_mtime - age))


def refusal(executor):
    with pytest.raises(WorkflowError) as error:
        executor.run_jobs(["job"])
    assert not executor.submitted
    return str(error.value)


def test_a_snakemake_that_makes_other_files_is_no_hindrance_while_it_is_at_work(executor, here, squeue, caplog):
    beside(here, OTHER)
    squeue(ORPHANS.format(here))
    executor.run_jobs(["one"])
    squeue(ORPHANS.format(here) + f"13|{executor.run_uuid}|rule_run|{here}\n")
    executor.run_jobs(["two"])
    assert (executor.submitted, caplog.messages) == (["one", "two"], [])


def test_a_snakemake_at_work_on_the_same_files_is_named_and_its_jobs_are_left_alone(executor, here, squeue):
    beside(here, OTHER, OUT)
    for queue in ("", ORPHANS.format(here)):
        squeue(queue)
        said = refusal(executor)
        assert f"another Snakemake (process {os.getpid()} on login2) is at work in {here} and makes {OUT}" in said, (
            queue
        )
        assert "scancel" not in said, queue
    executor.dag = dag("results/claims.parquet", inputs=[OTHER])  # it reads what the other makes
    assert f"makes {OTHER} as well" in refusal(executor)


def test_jobs_that_a_killed_snakemake_has_left_are_cancelled_only_where_they_make_the_same_files(
    executor, here, squeue, caplog
):
    squeue(ORPHANS.format(here))
    assert refusal(executor).endswith("cancel them, then start again: scancel 9 12")  # nothing is known of them
    beside(here, OUT, alive=False)
    assert f"2 jobs of a Snakemake that has ended (process {os.getpid()} on login2) are still in" in refusal(executor)
    submitters.remove(here, "learning-dynamics_killed")
    beside(here, OTHER, alive=False)
    executor.run_jobs(["one"])
    assert executor.submitted == ["one"]
    assert "they make no file that is asked for now: 9 12" in caplog.messages[0]


def test_a_snakemake_on_another_machine_is_at_work_as_long_as_it_touches_its_file(executor, here):
    beside(here, OUT, machine="another", age=300.0)
    assert "is at work" in refusal(executor)
    submitters.remove(here, "learning-dynamics_killed")
    beside(here, OUT, machine="another", age=2 * submitters.SILENCE)
    executor.run_jobs(["one"])
    files = [file.name for file in (here / submitters.FOLDER).iterdir()]
    assert files == [executor.run_uuid]  # that of one that has ended, and has no jobs, is gone
    file = here / submitters.FOLDER / executor.run_uuid
    os.utime(file, (0, 0))
    active_jobs(executor, "running")
    assert file.stat().st_mtime > 0
    executor.shutdown()
    assert not file.exists()


def test_where_no_file_can_be_touched_a_process_of_this_machine_is_at_work_all_the_same(here, monkeypatch):
    def touch(_file):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    beside(here, OUT)
    monkeypatch.setattr(submitters.Path, "touch", touch)
    assert [at_work for _, at_work in submitters.read(here)] == [True]
    beside(here, OUT, machine="another", job_name="learning-dynamics_elsewhere")
    with pytest.raises(OSError, match="quota"):  # whether that one is at work cannot be seen
        list(submitters.read(here))


def test_a_snakemake_on_another_machine_that_ends_while_its_file_is_read_is_not_at_work(here, monkeypatch):
    beside(here, OUT, machine="another")
    age = submitters._age

    def age_of_a_removed_file(file):
        file.unlink()
        return age(file)

    monkeypatch.setattr(submitters, "_age", age_of_a_removed_file)
    assert [at_work for _, at_work in submitters.read(here)] == [False]


def test_others_jobs_and_a_slurm_that_does_not_answer_stop_nothing(squeue, monkeypatch, tmp_path):
    for line in (
        "12|name|rule_run_wildcards_spectral_bias_small_scale|/home/someone/elsewhere",
        f"12|bash|(null)|{HERE}",  # a shell or a Snakemake that itself runs under Slurm
        "slurm_load_jobs error: Unable to contact slurm controller",
    ):
        squeue(line + "\n")
        assert plugin.queued_jobs(HERE) == {}, line
    monkeypatch.setenv("LC_ALL", "C")
    squeue("7|a|rule_run|/home/b\udce4r/elsewhere\n12|a|rule_run|/home/m\u00fcller/dynamics\n")
    assert plugin.queued_jobs(Path("/home/m\u00fcller/dynamics")) == {"a": ["12"]}
    squeue(f"12|a|rule_run|{HERE}\n")
    assert plugin.queued_jobs(HERE) == {"a": ["12"]}
    squeue(f"12|a|rule_run|{HERE}\n", status=1)
    assert plugin.queued_jobs(HERE) == {}
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert plugin.queued_jobs(HERE) == {}


# -- jobs that wait, or that need not be tried again -------------------------------------------------------------------


def test_slurms_reason_for_jobs_that_wait_is_shown_once_with_the_first_of_them(executor, squeue, caplog):
    drained = "Nodes required for job are DOWN, DRAINED or reserved"
    squeue(f"7|rule_run_wildcards_toy_slow|{drained}\n8|rule_metrics|{drained}\n9|rule_run|None\n")
    active_jobs(executor, "running")
    active_jobs(executor, "running")
    squeue("9|rule_run_wildcards_toy_fast|Priority\n")
    active_jobs(executor, "running")
    assert caplog.messages == [
        f"Slurm keeps job 7 (run toy_slow) and 1 more waiting: {drained}",
        "Slurm keeps job 9 (run toy_fast) waiting: Priority",
    ]


def test_sigterm_cancels_jobs_that_wait_and_is_handed_on(executor, here, squeue, tmp_path, monkeypatch):
    cancelled = tmp_path / "cancelled"
    heard = []
    scancel = tmp_path / "scancel"
    scancel.write_text(f'#!/bin/sh\necho "$@" >> {cancelled}\n')
    scancel.chmod(0o755)
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("SIGTERM"))
    try:
        executor.run_jobs(["one"])
        signal.raise_signal(signal.SIGTERM)
        until(cancelled.exists, "the call of scancel", seconds=30)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["SIGTERM"]
    # one that comes into the queue after that
    squeue("7|rule_run_wildcards_toy_slow|Priority\n")
    active_jobs(executor, "running")
    assert cancelled.read_text().splitlines() == ["--state=PENDING --name=learning-dynamics_mine"] * 2


@pytest.mark.parametrize(
    ("said", "futile"),
    [
        ("error: results/a.npz: cannot be written (Disk quota exceeded); free space, then", True),
        ("error: x: the source or the settings have changed since Snakemake planned this job; run", True),
        ("error: does not fit into this machine's memory", False),
        ("error: not finished after 30 minutes", False),
    ],
)
def test_a_job_that_more_memory_cannot_help_is_not_submitted_again(executor, tmp_path, caplog, said, futile):
    (tmp_path / "log").write_text(f"some line\n{said}\n")
    job = Job("job")
    job.log = [tmp_path / "log", tmp_path / "none"]
    executor.report_job_error(SubmittedJobInfo(job, external_jobid="7"), msg="SLURM-job '7' failed")
    assert (job.attempt > job.restart_times) is futile
    assert ("is not submitted again, since more memory and time would not help: " in caplog.text) is futile


def test_a_full_disk_is_noticed_where_there_was_no_room_for_a_log(executor, tmp_path, monkeypatch, caplog):
    def full(*_, **__):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    job = Job("job")
    job.output = [tmp_path / "table.parquet"]
    executor.report_job_error(SubmittedJobInfo(job, external_jobid="7"), msg="failed")
    assert (job.attempt, list(tmp_path.iterdir())) == (1, [])
    monkeypatch.setattr(plugin.tempfile, "TemporaryFile", full)
    executor.report_job_error(SubmittedJobInfo(job, external_jobid="7"), msg="failed")
    assert job.attempt > job.restart_times
    assert f"{tmp_path}: Disk quota exceeded" in caplog.text


def test_a_machine_without_slurm_is_told_so_in_a_line(clean, tmp_path):
    # all programs but Slurm's
    programs = {path.name: path for folder in ("/usr/bin", "/bin") for path in Path(folder).glob("*")}
    (tmp_path / "bin").mkdir()
    for name, path in programs.items():
        if name != "sbatch":
            (tmp_path / "bin" / name).symlink_to(path)
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


def test_options_for_gpus_reach_jobs_that_ask_for_one_alone(executor):
    settings = SimpleNamespace(requeue=True, gpu_options="--constraint=a100")
    executor.workflow = SimpleNamespace(executor_settings=settings)
    for gpu, group, script in (
        (1, False, "#SBATCH --constraint=a100\nexport LEARNING_DYNAMICS_REQUEUE=1; python -m snakemake run"),
        (1, True, "#SBATCH --constraint=a100\npython -m snakemake run"),
        (0, True, "python -m snakemake run"),
    ):
        job = SimpleNamespace(name="run", is_group=lambda group=group: group, resources={"gpu": gpu})
        assert executor.format_job_exec(job) == script, gpu
