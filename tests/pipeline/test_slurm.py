"""The pipeline on a real Slurm, which is started here: whatever goes wrong, results are those of an undisturbed run.

A scenario is a function that causes a fault and asserts what the pipeline promises then, as its docstring says.
Scenarios run side by side, each in a checkout of its own, since they spend their time waiting for Slurm. The one test
takes the outcome of each.
"""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
import yaml

from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline import slurm
from tests.pipeline.conftest import toy
from tests.pipeline.slurm import PATIENCE, Slurm, until

pytestmark = pytest.mark.skipif(bool(slurm.missing()), reason=slurm.missing())

PAPER, FIGURE, RUN = "toy", "growth", "slow"
CONFIG = f"workflow/config/{PAPER}.yaml"
TRAINED = f"results/{PAPER}/runs/{RUN}.npz"
PROFILE = (
    *("--profile", "profiles/slurm", "--latency-wait", "10"),
    *("--slurm-patient-init-seconds-before-status-checks", "2"),
)
# appended to the module of the run stage: before a run is saved, it waits as long as there is a file `hold`, and writes
# a file `held`; meanwhile it takes as many MiB of memory as a file `appetite` says
HOLDING = """

def _holding(save):
    import time

    def held(*arguments):
        appetite = b"x" * (int(Path("appetite").read_text()) << 20) if Path("appetite").exists() else b""
        while Path("hold").exists():
            Path("held").touch()
            time.sleep(0.1)
        del appetite
        save(*arguments)

    return held


save_trajectory = _holding(save_trajectory)
"""


class Checkout:
    """A copy of the project with the made-up paper alone, and a Slurm to submit to."""

    def __init__(self, folder: Path, cluster: Slurm) -> None:
        self.folder, self.cluster = folder, cluster
        self.variables = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder / "src")}
        self.started: list[subprocess.Popen] = []

    def snakemake(self, *arguments: str, **variables: str) -> subprocess.Popen:
        """Start Snakemake; what it prints goes to the file `screen<n>`."""
        with open(self.folder / f"screen{len(self.started)}", "wb") as screen:
            self.started.append(
                subprocess.Popen(
                    # a test runner in the background may ignore the interrupts that Snakemake is to hear
                    ["env", "--default-signal=INT", sys.executable, "-m", "snakemake", *arguments],
                    cwd=self.folder,
                    env=self.cluster.environment | self.variables | variables,
                    stdin=subprocess.DEVNULL,
                    stdout=screen,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        return self.started[-1]

    def screen(self, started: subprocess.Popen) -> str:
        return (self.folder / f"screen{self.started.index(started)}").read_text()

    def finish(self, started: subprocess.Popen) -> int:
        return started.wait(PATIENCE)

    def succeed(self, started: subprocess.Popen) -> None:
        assert self.finish(started) == 0, self.screen(started)

    def submit(self, *arguments: str, **variables: str) -> subprocess.Popen:
        return self.snakemake(*PROFILE, *arguments, **variables)

    def hold(self) -> None:
        (self.folder / "hold").touch()

    def release(self) -> None:
        (self.folder / "hold").unlink()

    def submit_and_hold(self, *arguments: str) -> subprocess.Popen:
        """Submit jobs, and return when the first of their runs is done but for saving, where it waits for `release`."""
        self.hold()
        started = self.submit(*(arguments or (TRAINED,)))
        until(lambda: (self.folder / "held").exists() or started.poll() is not None, "a run under way")
        assert started.poll() is None, self.screen(started)
        return started

    def jobs(self) -> list[dict[str, str]]:
        return self.cluster.jobs(self.folder)

    def states(self) -> list[str]:
        return [job["JobState"] for job in self.jobs()]

    def configure(self, run: str, **settings: Any) -> None:
        file = self.folder / CONFIG
        config = yaml.safe_load(file.read_text())
        config["runs"].setdefault(run, {}).update(settings)
        file.write_text(yaml.safe_dump(config, sort_keys=False))

    def stage_processes(self) -> list[psutil.Process]:
        """Return the processes of the project's stages that work in this folder."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(self.folder) and process.cmdline()[1:3] == ["-m", "learning_dynamics"]:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def start_again(self, job: dict[str, str]) -> None:
        """Let a requeued job start now: Slurm would hold it back for two minutes.

        Within the second in which a node has killed a job it refuses to start it, and the job would fail.
        """
        time.sleep(2)
        self.cluster.query("scontrol", "update", f"jobid={job['JobId']}", "starttime=now")

    def stop(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with all its results, made without a cluster."""
    workspace = toy(tmp_path_factory.mktemp("undisturbed") / "checkout")
    with open(workspace.folder / "src/learning_dynamics/pipeline/commands/run.py", "a") as module:
        module.write(HOLDING)
    workspace.snakemake()
    return workspace.folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    with slurm.running() as started:
        yield started


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, undisturbed: Path, cluster: Slurm, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future]]:
    """The outcomes of the scenarios whose tests were selected, by name; all of them are under way."""
    selected = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    scenarios = [callspec.params["scenario"] for callspec in selected if callspec is not None]
    with ThreadPoolExecutor(max_workers=6) as threads:
        yield {
            scenario.__name__: threads.submit(act, scenario, undisturbed, cluster, tmp_path_factory.mktemp("fault"))
            for scenario in scenarios
        }


def act(scenario: Callable, undisturbed: Path, cluster: Slurm, folder: Path) -> None:
    """Play a scenario in a fresh checkout whose data sets are made, and compare its results."""
    checkout = Checkout(folder / "checkout", cluster)
    shutil.copytree(undisturbed, checkout.folder, ignore=_outputs_and_caches)
    shutil.copytree(undisturbed / f"results/{PAPER}/data", checkout.folder / f"results/{PAPER}/data")
    try:
        scenario(checkout)
    finally:
        checkout.stop()
    assert_same_results(undisturbed, checkout.folder)
    assert not list(checkout.folder.rglob("*.partial"))  # files that are half written


def _outputs_and_caches(folder: str, names: list[str]) -> list[str]:
    """Return which of a folder's files and folders were made there, for `copytree` to leave them out."""
    top_level = "Snakefile" in names
    return [name for name in names if name == "__pycache__" or (top_level and name in ("results", "figures"))]


def assert_same_results(undisturbed: Path, folder: Path) -> None:
    """Assert that the run `TRAINED` was made, and that all runs and tables are those of `undisturbed`, bit by bit."""
    made = [path.relative_to(folder) for path in folder.glob("results/**/*") if path.suffix in (".npz", ".parquet")]
    # the resume point of a run that failed is no result
    made = [path for path in made if "resume" not in path.parts]
    assert Path(TRAINED) in made
    for path in made:
        if path.suffix == ".npz":
            (arrays, _), (expected, _) = load_arrays(folder / path), load_arrays(undisturbed / path)
            assert arrays.keys() == expected.keys(), path
            for name in expected:
                np.testing.assert_array_equal(arrays[name], expected[name], err_msg=f"{path}: {name}")
        else:
            pd.testing.assert_frame_equal(read_table(folder / path), read_table(undisturbed / path), check_exact=True)


# -- scenarios --------------------------------------------------------------------------------------


def whole_pipeline(checkout: Checkout) -> None:
    """Everything runs on the cluster; each run is a job of its own, and what takes seconds travels together."""
    checkout.configure("fast", resources={"gpu": 1})
    checkout.succeed(checkout.submit())
    page = (checkout.folder / "figures/index.html").read_text()
    assert FIGURE in page
    assert (checkout.folder / f"figures/{PAPER}/{FIGURE}.pdf").read_bytes().startswith(b"%PDF")
    assert (checkout.folder / "results/verdicts.txt").exists()
    jobs = {job["Comment"]: job for job in checkout.jobs()}
    assert {job["JobState"] for job in jobs.values()} == {"COMPLETED"}
    assert all(job["JobName"].startswith("learning-dynamics_") for job in jobs.values())
    # the one run that asks for a GPU is given one, and nothing else is
    gpus = {name: job["TresPerJob"] for name, job in jobs.items() if "TresPerJob" in job}
    assert gpus == {f"rule_run_wildcards_{PAPER}_fast": "gres:gpu:1"}
    # runs are jobs of their own; what takes seconds travels together
    runs = [path.stem for path in (checkout.folder / f"results/{PAPER}/runs").glob("*.npz")]
    assert sum(name.startswith("rule_run_") for name in jobs) == len(runs)
    assert sum(name.startswith("rule_metrics_") for name in jobs) == 1
    assert sum(name.startswith("rule_publish_") for name in jobs) == 1
    assert len(jobs) == len(runs) + 2


def cancelled_job(checkout: Checkout) -> None:
    """A job that somebody cancels is submitted again."""
    started = checkout.submit_and_hold()
    checkout.cluster.query("scancel", checkout.jobs()[0]["JobId"])
    until(lambda: checkout.states()[:1] == ["CANCELLED"], "the job's cancellation")
    checkout.release()
    checkout.succeed(started)
    assert checkout.states() == ["CANCELLED", "COMPLETED"]


def killed_process(checkout: Checkout) -> None:
    """A job whose process is killed is submitted again."""
    started = checkout.submit_and_hold()
    for process in checkout.stage_processes():
        process.kill()
    checkout.release()
    checkout.succeed(started)
    assert checkout.states() == ["FAILED", "COMPLETED"]


def failed_node(checkout: Checkout) -> None:
    """A job whose node fails is requeued by Slurm, and starts on another node."""
    started = checkout.submit_and_hold(TRAINED, "--default-resources", "slurm_partition=fragile", "mem_mb=1000")
    (job,) = checkout.jobs()
    node = job["NodeList"]
    assert node in ("n3", "n4")
    try:
        checkout.cluster.query("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        until(lambda: checkout.jobs()[0]["Restarts"] == "1", "the job's return to the queue")
        until(lambda: not checkout.stage_processes(), "the end of the job's processes")
        (checkout.folder / "held").unlink()
        checkout.start_again(job)
        until((checkout.folder / "held").exists, "the job on another node")
        assert checkout.jobs()[0]["NodeList"] not in (node, "")
        checkout.release()
        checkout.succeed(started)
    finally:
        checkout.cluster.query("scontrol", "update", f"nodename={node}", "state=resume")


def past_its_time(checkout: Checkout) -> None:
    """A job that runs into its time limit is submitted again with twice the time."""
    checkout.configure(RUN, resources={"runtime": 1})
    # Snakemake looks at the queue after 22, 54 and 96 s; Slurm ends the job between 60 and 90 s
    checkout.hold()
    started = checkout.submit(TRAINED, "--slurm-patient-init-seconds-before-status-checks", "22")
    # Slurm asks a job to end before it counts it as over its time: one that ends at once has failed
    until(lambda: checkout.states() in (["TIMEOUT"], ["FAILED"]), "the end of the job's time")
    checkout.release()
    checkout.succeed(started)
    first, second = checkout.states()
    assert first in ("TIMEOUT", "FAILED")
    assert second == "COMPLETED"
    assert [job["TimeLimit"] for job in checkout.jobs()] == ["00:01:00", "00:02:00"]


def requeued_at_a_resume_point(checkout: Checkout) -> None:
    """A run that stops at a resume point before its time is over is requeued and goes on from there."""
    # forty steps of 1.8 s take 72 s, and a run in a job of two minutes stops a minute before the end, to go on later
    checkout.configure(RUN, resources={"runtime": 2})
    steps = checkout.folder / "steps"
    started = checkout.submit(TRAINED, "--retries", "0", GROWTH_PAUSE="1.8", GROWTH_LOG=str(steps))
    until(lambda: any(job["Restarts"] == "1" for job in checkout.jobs()), "the job's return to the queue")
    until(lambda: not checkout.stage_processes(), "the end of the job's processes")
    before = len(steps.read_text().splitlines())
    assert 1 < before < 40
    (job,) = checkout.jobs()
    checkout.start_again(job)
    checkout.succeed(started)
    assert checkout.states() == ["COMPLETED"]
    # the second part goes on where the first one stopped
    assert [int(line.split()[1]) for line in steps.read_text().splitlines()] == list(range(1, 41))
    assert not list((checkout.folder / f"results/{PAPER}/resume").iterdir())


def out_of_memory(checkout: Checkout) -> None:
    """A job that takes more memory than it asked for is submitted again with twice as much."""
    # the job's processes need some 200 MB without the appetite
    checkout.configure(RUN, resources={"mem_mb": 1000})
    (checkout.folder / "appetite").write_text("1200")
    checkout.hold()
    started = checkout.submit(TRAINED)
    until(lambda: checkout.states()[:1] == ["FAILED"], "the end of the job's memory")
    checkout.release()
    checkout.succeed(started)
    assert checkout.states() == ["FAILED", "COMPLETED"]
    assert [job["MinMemoryNode"] for job in checkout.jobs()] == ["1000M", "2000M"]


def killed_snakemake(checkout: Checkout) -> None:
    """After Snakemake was killed its job goes on; a second Snakemake names the command that cancels it."""
    started = checkout.submit_and_hold()
    started.kill()
    started.wait()
    (orphan,) = checkout.jobs()
    assert orphan["JobState"] == "RUNNING"

    locked = checkout.submit(TRAINED)
    assert checkout.finish(locked) == 1
    assert "--unlock" in checkout.screen(locked)
    assert checkout.finish(checkout.submit("--unlock")) == 0
    second = checkout.submit(TRAINED)
    assert checkout.finish(second) == 1
    (command,) = re.findall(r"scancel [\d ]+", checkout.screen(second))
    assert command.split() == ["scancel", orphan["JobId"]]
    checkout.cluster.query(*command.split())
    until(lambda: checkout.states() == ["CANCELLED"], "the orphan's cancellation")

    checkout.release()
    checkout.succeed(checkout.submit(TRAINED))
    assert checkout.states() == ["CANCELLED", "COMPLETED"]


def refused(checkout: Checkout, resource: str, reason: str) -> None:
    """Slurm refuses a run, and a group of jobs that measure, for a resource: neither is submitted again.

    The terminal says why.
    """
    (checkout.folder / "bin").mkdir()
    # this Slurm keeps no accounts; here it has one, `physics`
    accounts = checkout.folder / "bin/sacctmgr"
    accounts.write_text("#!/bin/sh\necho physics\n")
    accounts.chmod(0o755)
    path = f"{accounts.parent}:{checkout.cluster.environment['PATH']}"
    resources = ("--default-resources", "mem_mb=500", resource)
    table = f"results/{PAPER}/metrics/{RUN}.parquet"
    for target, name in ((TRAINED, "run"), (table, "metrics")):
        started = checkout.submit(target, *resources, PATH=path)
        assert checkout.finish(started) == 1, target
        screen = checkout.screen(started)
        assert screen.count(f"FAILED  {name} {PAPER} {RUN}\n") == 1, target
        assert reason in screen, target
        if target == TRAINED:
            assert checkout.jobs() == [], target
            # without the wrong resource the run is made, and the table can be asked for
            checkout.succeed(checkout.submit(TRAINED, "--default-resources", "mem_mb=500"))
    assert checkout.states() == ["COMPLETED"]


def misspelt_account(checkout: Checkout) -> None:
    """A misspelt account is refused with those that there are; see `refused`."""
    refused(checkout, "slurm_account=phisics", "The given account phisics appears to be invalid. Available accounts:")


def misspelt_partition(checkout: Checkout) -> None:
    """A misspelt partition is refused with its name; see `refused`."""
    refused(checkout, "slurm_partition=mian", "invalid partition specified: mian")


def second_snakemake(checkout: Checkout) -> None:
    """A second Snakemake for the same file is refused, and the job of the first goes on."""
    started = checkout.submit_and_hold()
    second = checkout.submit(TRAINED)
    assert checkout.finish(second) == 1
    assert "cannot be locked" in checkout.screen(second)
    assert checkout.states() == ["RUNNING"]
    checkout.release()
    checkout.succeed(started)
    assert checkout.states() == ["COMPLETED"]


def second_for_other_files(checkout: Checkout) -> None:
    """A second Snakemake makes other files beside the first; one for the same files is refused and told the reason."""
    started = checkout.submit_and_hold()
    (first,) = checkout.jobs()
    held = checkout.submit(f"results/{PAPER}/runs/fast.npz")
    until(lambda: len(checkout.jobs()) == 2, "the second Snakemake's job beside the first one's")
    assert "scancel" not in checkout.screen(held)
    # whoever unlocks the folder meanwhile is still not let in, and is not told to cancel anything
    assert checkout.finish(checkout.submit("--unlock")) == 0
    third = checkout.submit(TRAINED)
    assert checkout.finish(third) == 1
    screen = checkout.screen(third)
    assert f"another Snakemake (process {started.pid} on " in screen
    assert f"is at work in {checkout.folder} and makes {TRAINED} as well" in screen
    assert "scancel" not in screen
    assert "Traceback" not in screen
    assert first["JobId"] in [job["JobId"] for job in checkout.jobs() if job["JobState"] == "RUNNING"]
    checkout.release()
    checkout.succeed(started)
    checkout.succeed(held)
    assert checkout.states() == ["COMPLETED", "COMPLETED"]
    assert not list((checkout.folder / ".snakemake/submitters").iterdir())


def drained_nodes(checkout: Checkout) -> None:
    """The terminal says why Slurm keeps a job waiting; Snakemake ends on request, and cancels the job."""
    with slurm.running() as checkout.cluster:
        checkout.cluster.query("scontrol", "update", "nodename=n[1-2]", "state=drain", "reason=test")
        started = checkout.submit(TRAINED)
        until(lambda: "Slurm keeps job" in checkout.screen(started), "Slurm's reason on the screen")
        (job,) = checkout.jobs()
        screen = checkout.screen(started)
        assert re.search(rf"Slurm keeps job {job['JobId']} \(run {PAPER}_{RUN}\) waiting: .*DRAINED", screen), screen
        assert "account" not in screen
        # asked to end, it does not wait for a job that cannot start
        started.send_signal(signal.SIGTERM)
        assert checkout.finish(started) == 1
        assert checkout.states() == ["CANCELLED"]
        assert checkout.screen(started).count("Slurm keeps job") == 1
        checkout.cluster.query("scontrol", "update", "nodename=n[1-2]", "state=resume")
        checkout.succeed(checkout.submit(TRAINED))


def options_for_gpus(checkout: Checkout) -> None:
    """Options for jobs with a GPU reach these jobs alone."""
    checkout.configure("fast", resources={"gpu": 1})
    runs = [f"results/{PAPER}/runs/{run}.npz" for run in (RUN, "fast")]
    checkout.succeed(checkout.submit(*runs, "--slurm-patient-gpu-options=--nice=100"))
    jobs = {job["Comment"].rpartition("_")[2]: job for job in checkout.jobs()}
    assert {name: int(job["Nice"]) for name, job in jobs.items()} == {RUN: 0, "fast": 100}


def refused_while_jobs_wait(checkout: Checkout) -> None:
    """Jobs that wait keep their logs while another Snakemake is refused, or has nothing to do."""
    # Slurm holds the jobs back, so that all of them wait while a second Snakemake comes and is refused
    runs = [f"results/{PAPER}/runs/{run}.npz" for run in (RUN, "fast")]
    started = checkout.submit(*runs, "--retries", "0", "--default-resources", "mem_mb=500", "slurm_extra='--hold'")
    until(lambda: checkout.states() == ["PENDING"] * len(runs), "jobs that wait")
    logs = checkout.folder / "results/logs/slurm"
    waiting = sorted(logs.rglob("*"))
    assert waiting
    second = checkout.submit(*runs)
    assert checkout.finish(second) == 1
    assert "cannot be locked" in checkout.screen(second)
    # one that has nothing to do is let in, and leaves the others' folders alone as well
    idle = checkout.submit(f"results/{PAPER}/data/starts.npz")
    assert checkout.finish(idle) == 0, checkout.screen(idle)
    assert sorted(logs.rglob("*")) == waiting
    assert checkout.states() == ["PENDING"] * len(runs)
    checkout.cluster.query("scontrol", "release", *(job["JobId"] for job in checkout.jobs()))
    checkout.succeed(started)
    assert checkout.states() == ["COMPLETED"] * len(runs)


def interrupted_snakemake(checkout: Checkout) -> None:
    """Snakemake that is interrupted cancels its job."""
    started = checkout.submit_and_hold()
    started.send_signal(signal.SIGINT)
    assert checkout.finish(started) == 1
    until(lambda: checkout.states() == ["CANCELLED"], "the job's cancellation")
    checkout.release()
    checkout.succeed(checkout.submit(TRAINED))


def failed_sibling(checkout: Checkout) -> None:
    """One run fails and is shown with its log; the other, which is under way, is finished."""
    failing = "explosive"
    checkout.configure(failing, extends=RUN, rate=1.0e300, provenance={"rate": "stated"})
    started = checkout.submit_and_hold(TRAINED, f"results/{PAPER}/runs/{failing}.npz", "--retries", "0")
    until(lambda: "FAILED" in checkout.states(), "the failure")
    until(lambda: f"FAILED  run {PAPER} {failing}" in checkout.screen(started), "the failure on the screen")
    assert "RUNNING" in checkout.states()
    checkout.release()
    assert checkout.finish(started) == 1
    assert (checkout.folder / TRAINED).exists()
    # the failed job's log, not only its name
    assert "error: growth left the finite numbers" in checkout.screen(started)
    # Slurm's own log of it stays as well
    logs = list((checkout.folder / "results/logs/slurm").rglob("*.log"))
    assert any(failing in str(log.relative_to(checkout.folder)) for log in logs), logs


def crashed_controller(checkout: Checkout) -> None:
    """A job is not lost while the controller, which has crashed, does not answer."""
    # with one look at the queue at a time, a single one that fails would be enough to lose the job
    with slurm.running() as checkout.cluster:
        started = checkout.submit_and_hold(TRAINED, "--slurm-patient-status-attempts", "1")
        (job,) = checkout.jobs()
        checkout.cluster.save_state(job["JobId"])  # a crash loses what is younger
        checkout.cluster.stop_controller(crash=True)
        until(lambda: "does not answer" in checkout.screen(started), "a look at the queue that fails")
        checkout.cluster.start_controller()
        until(lambda: checkout.states() == ["RUNNING"], "the job in the queue again")
        checkout.release()
        checkout.succeed(started)
        assert checkout.states() == ["COMPLETED"]


def restarted_controller(checkout: Checkout) -> None:
    """A submission waits until the controller is there again, or until Snakemake is interrupted."""
    with slurm.running() as checkout.cluster:
        checkout.cluster.stop_controller()
        for interrupted in (True, False):
            started = checkout.submit(TRAINED, "--retries", "0")
            until(lambda started=started: "the submission waits" in checkout.screen(started), "the submission's wait")
            if interrupted:
                started.send_signal(signal.SIGINT)
                assert checkout.finish(started) == 1, interrupted
        checkout.cluster.start_controller()
        checkout.succeed(started)
        assert checkout.states() == ["COMPLETED"]


SCENARIOS = (
    crashed_controller,
    past_its_time,
    requeued_at_a_resume_point,
    whole_pipeline,
    killed_snakemake,
    failed_node,
    out_of_memory,
    killed_process,
    cancelled_job,
    failed_sibling,
    second_snakemake,
    second_for_other_files,
    drained_nodes,
    options_for_gpus,
    refused_while_jobs_wait,
    interrupted_snakemake,
    misspelt_account,
    misspelt_partition,
    restarted_controller,
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_after_a_fault_promises_are_kept_and_results_are_those_of_an_undisturbed_run(
    scenario: Callable, outcomes: dict[str, Future]
) -> None:
    # raises what the scenario raised; a scenario waits a few times, each for `PATIENCE` at most
    outcomes[scenario.__name__].result(timeout=3 * PATIENCE)
