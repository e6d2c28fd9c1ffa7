"""Faults on purpose: kills, orphans, spoilt files, edits meanwhile; afterwards all is as if nothing had been.

Every test belongs to a fault and a promise; docs/reliability.md is made from them.
"""

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from tests.pipeline.conftest import PAPER, Workspace, toy
from tests.pipeline.reliability import DOCUMENT, table
from tests.pipeline.slurm import PATIENCE, until

FAST = "results/toy/runs/fast.npz"
TARGET = "results/toy/metrics/fast.parquet"
GROWTH = ("results/toy/data/starts.npz", FAST, TARGET)
STEPS = 40  # of the runs `slow` and `fast`
STEPS_BEFORE_HOLD = 3  # after which a run waits that is held
PAUSE = 0.05  # seconds a step
SAME = "same bits"
LINE = "one-line error"
fault = pytest.mark.fault


def assert_same_and_none_half_written(disturbed: Workspace, undisturbed: Workspace, paths=GROWTH) -> None:
    """Assert that outputs are equal, but for the command noted in them, and that `disturbed` has no half file."""
    for path in paths:
        made, expected = disturbed.folder / path, undisturbed.folder / path
        if path.endswith(".parquet"):
            pd.testing.assert_frame_equal(pd.read_parquet(made), pd.read_parquet(expected), check_exact=True)
        elif path.endswith(".npz"):
            with np.load(made) as arrays, np.load(expected) as expected_arrays:
                assert set(arrays.files) == set(expected_arrays.files), path
                for name in set(arrays.files) - {"learning_dynamics"}:  # which notes the command
                    assert arrays[name].tobytes() == expected_arrays[name].tobytes(), (path, name)
        else:
            assert made.read_bytes() == expected.read_bytes(), path
    assert not list(disturbed.folder.glob("results/**/.*.partial")), "half files are left"


def job_of(folder: Path) -> psutil.Process:
    """Return the process of a run that works in a folder, once there is one."""
    found: list[psutil.Process] = []

    def look() -> bool:
        for process in psutil.process_iter(["cmdline", "cwd"]):
            words = process.info["cmdline"] or []
            if words[1:4] == ["-m", "learning_dynamics", "run"] and process.info["cwd"] == str(folder):
                found.append(process)
        return bool(found)

    until(look, f"a run in {folder}")
    return found[0]


def steps_in(workspace: Workspace) -> list[str]:
    """Return a line for each step that was taken in a workspace; one that is taken twice has two."""
    log = workspace.folder / "steps"
    return log.read_text().splitlines() if log.exists() else []


def wait_for_steps(workspace: Workspace, count: int) -> None:
    until(lambda: len(steps_in(workspace)) >= count, f"step {count} of the run", pause=0.01)


@pytest.fixture
def slow(tmp_path, built) -> Workspace:
    """The made-up paper before anything is built, its growth slow enough to be interrupted and logging its steps."""
    workspace = toy(tmp_path / "project")
    workspace.variables |= {"GROWTH_PAUSE": str(PAUSE), "GROWTH_LOG": str(workspace.folder / "steps")}
    return workspace


@pytest.fixture
def held(slow) -> Workspace:
    """The same paper, whose growth waits after `STEPS_BEFORE_HOLD` as long as there is a file `hold`."""
    (slow.folder / "hold").touch()
    slow.variables |= {"GROWTH_PAUSE": "0", "GROWTH_HOLD": str(slow.folder / "hold")}
    return slow


def start_and_hold(workspace: Workspace, target: str) -> subprocess.Popen:
    """Start Snakemake in the workspace `held`, and return when its run waits."""
    running = workspace.start(target)
    wait_for_steps(workspace, STEPS_BEFORE_HOLD)
    return running


def release(workspace: Workspace) -> None:
    (workspace.folder / "hold").unlink()


def end(running: subprocess.Popen) -> str:
    """Wait for a process to end, and return what it has printed."""
    try:
        return running.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        raise


# -- kills ------------------------------------------------------------------------------------------------------------

MOMENTS = random.Random(2023)
WHOM = {"SIGKILL": ("job", "Snakemake", "both", "group"), "SIGTERM": ("job", "Snakemake"), "SIGINT": ("job", "group")}
KILLS = [
    # at a step before the last ones, so that the run has not ended when the signal comes
    pytest.param(signal.Signals[name], whom, MOMENTS.randint(1, STEPS - 5), id=f"{name}-{whom}")
    for name, whoms in WHOM.items()
    for whom in whoms
]


@fault("SIGKILL, SIGTERM or SIGINT to job, Snakemake or both at any moment", SAME)
@pytest.mark.parametrize(("sent", "whom", "step"), KILLS)
def test_a_kill_at_any_moment_loses_nothing(slow, built, sent, whom, step):
    running = slow.start(TARGET)
    wait_for_steps(slow, step)
    if whom == "group":
        os.killpg(running.pid, sent)
    job = job_of(slow.folder) if whom in ("job", "both") else None
    # Snakemake first: it would notice that its job has died, and might end by itself before its own signal
    if whom in ("Snakemake", "both"):
        running.send_signal(sent)
    if job is not None:
        job.send_signal(sent)
    end(running)
    before = len(steps_in(slow))
    if sent == signal.SIGKILL and whom != "job":
        assert "--unlock" in slow.snakemake(TARGET, check=False).stderr
        slow.snakemake("--unlock")
    slow.snakemake(TARGET)
    assert_same_and_none_half_written(slow, built)
    # no step is taken twice but one under way; only a job that outlives its Snakemake is run again from the start
    outlived = sent == signal.SIGKILL and whom == "Snakemake"
    most_steps = 2 * STEPS if outlived else STEPS + 1
    assert len(steps_in(slow)) <= most_steps, f"{sent.name} to {whom} at step {step}, {before} steps when it had ended"
    assert not list(slow.folder.glob("results/toy/resume/*/*"))


@fault("a time limit that a run outlasts", "its state is kept: the same command goes on from there")
def test_a_run_that_is_out_of_time_keeps_what_it_has_reached(slow, built):
    slow.snakemake("results/toy/data/starts.npz")
    # its 40 steps take twenty seconds; it stops after half of twelve, enough to begin on a busy machine
    slow.variables["GROWTH_PAUSE"] = "0.5"
    ended = slow.cli("run", "toy", "fast", "--minutes", "0.2")
    assert "steps are taken in the time that was granted; run the same command again to go on" in ended.stderr
    assert 0 < len(steps_in(slow)) < STEPS
    slow.variables["GROWTH_PAUSE"] = "0"
    slow.snakemake(TARGET)
    assert_same_and_none_half_written(slow, built)
    assert len(steps_in(slow)) == STEPS


@fault("SIGTERM to `judge`", "its Snakemake ends too, once the job under way has")
def test_what_ends_judge_ends_its_snakemake(held):
    judging = subprocess.Popen(
        [sys.executable, "-m", "learning_dynamics", "judge", "toy.geometric", "--cores", "1"],
        cwd=held.folder,
        env=held.environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for_steps(held, STEPS_BEFORE_HOLD)
    judging.terminate()
    release(held)
    said = end(judging)
    assert judging.returncode != 0
    assert "toy.geometric: " not in said
    assert not (held.folder / "results/toy/metrics/slow.parquet").exists()  # which the claim reads as well


@fault("Ctrl-C", "a line for each job under way; the same command goes on")
def test_an_interrupted_job_is_a_line_that_says_how_to_go_on(held):
    running = start_and_hold(held, FAST)
    os.killpg(running.pid, signal.SIGINT)
    said = end(running)
    assert running.returncode != 0
    assert "interrupted  run toy fast; to go on, type the same command again\n" in said
    assert not re.search("FAILED|Traceback|KeyboardInterrupt|again, alone", said), said


@fault("a run is killed twice", SAME)
def test_a_run_that_is_killed_twice_goes_on_from_where_it_was(slow, built):
    for step in (10, 25):
        running = slow.start(TARGET)
        wait_for_steps(slow, step)
        os.killpg(running.pid, signal.SIGKILL)
        end(running)
        assert not (slow.folder / FAST).exists(), f"killed at step {step}"
        slow.snakemake("--unlock")
    slow.snakemake(TARGET)
    assert_same_and_none_half_written(slow, built)
    assert len(steps_in(slow)) <= STEPS + 2  # at each kill one step was under way


@fault("SIGSTOP, later SIGCONT", SAME)
def test_a_run_that_is_stopped_for_a_while_goes_on(held, built):
    running = start_and_hold(held, TARGET)
    os.killpg(running.pid, signal.SIGSTOP)
    job = job_of(held.folder)
    job.suspend()
    until(lambda: job.status() == psutil.STATUS_STOPPED, "the job's stop")
    release(held)
    assert len(steps_in(held)) == STEPS_BEFORE_HOLD  # though nothing holds it any more
    job.resume()
    os.killpg(running.pid, signal.SIGCONT)
    end(running)
    assert running.returncode == 0
    assert_same_and_none_half_written(held, built)
    assert len(steps_in(held)) == STEPS


def test_while_jobs_are_at_work_snakemake_sleeps(held):
    command = held.command(FAST, "results/toy/runs/slow.npz", "--cores", "1")  # one run after the other
    running = subprocess.Popen(command, cwd=held.folder, env=held.environment, start_new_session=True)
    wait_for_steps(held, STEPS_BEFORE_HOLD)
    threads_before = set(os.listdir(f"/proc/{running.pid}/task"))
    time.sleep(2.2)  # a limit of so many jobs a second would wake it each second, by a timer that is a thread
    threads_after = set(os.listdir(f"/proc/{running.pid}/task"))
    release(held)
    assert running.wait(PATIENCE) == 0
    assert threads_before == threads_after, "it is woken by timers, each a thread"


# -- two at once ------------------------------------------------------------------------------------------------------


@fault("Snakemake is killed, its job continues, another starts with a new setting", "the orphan's output is rerun")
def test_what_an_orphan_writes_is_made_again(held):
    running = start_and_hold(held, FAST)
    orphan = job_of(held.folder)
    running.kill()
    held.configure("runs", "fast", "rate", value=0.5)
    other = Workspace(held.folder)
    other.snakemake("--unlock")
    other.snakemake(TARGET)
    release(held)
    _, alive = psutil.wait_procs([orphan], timeout=PATIENCE)
    assert alive == []
    end(running)
    other.snakemake(TARGET)
    # the largest of three normal starts times 1.5^40 = 1e7, where the old rate, 0.02, gives a factor 2
    assert pd.read_parquet(held.folder / TARGET)["value"].abs().max() > 1e3
    assert "Nothing to be done" in other.snakemake("--dry-run", TARGET).stdout


# -- edits meanwhile --------------------------------------------------------------------------------------------------


@fault("a second Snakemake would make the same files", "it refuses; the first goes on")
@fault("a formula is edited during a run", "rerun at the next start")
def test_a_run_under_way_minds_neither_a_second_start_nor_an_edit(held, built):
    running = start_and_hold(held, FAST)
    second = held.snakemake(TARGET, check=False)
    assert second.returncode != 0
    assert "cannot be locked" in second.stderr + second.stdout
    held.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    release(held)
    end(running)
    assert running.returncode == 0
    data_and_run = GROWTH[:2]
    assert_same_and_none_half_written(held, built, data_and_run)
    assert FAST in held.would_run(TARGET)
    held.snakemake(TARGET)
    # the largest of three normal starts times 2.02^40 = 1e12, where the formula that was there gives a factor 2
    assert pd.read_parquet(held.folder / TARGET)["value"].abs().max() > 1e9


@fault("a formula is edited after planning, before the job", LINE)
def test_a_job_refuses_a_source_that_was_edited_since_it_was_planned(workspace):
    log = "results/toy/logs/run/fast.log"
    command = f"python -m learning_dynamics run toy fast --plan .snakemake/plan.jsonl > {log} 2>&1"
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    before = (workspace.folder / FAST).read_bytes()
    ended = workspace.run("bash", "-c", command)
    assert ended.returncode == 1
    assert workspace.read(log).count("\n") == 1
    assert "have changed since Snakemake planned this job" in workspace.read(log)
    assert (workspace.folder / FAST).read_bytes() == before


# -- files spoilt, swapped, dated -------------------------------------------------------------------------------------


# functions that spoil the output `path`; `other` is another output


def truncate(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def swap(path: Path, other: Path) -> None:
    # the file keeps its time, by which Snakemake would see that it is another
    times = path.stat()
    shutil.copy(other, path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def overwrite(path: Path, other: Path) -> None:
    times = path.stat()
    path.write_bytes(b"somebody else's\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


SPOILERS = (truncate, empty, swap, overwrite)
# by stage: an output, and another that takes its place
SPOILT = {
    "data": ("results/toy/data/starts.npz", "results/toy/runs/slow.npz"),
    "run": (FAST, "results/toy/runs/slow.npz"),
    "metrics": (TARGET, "results/toy/metrics/slow.parquet"),
    "claims": ("results/toy/claims.parquet", "results/toy/checks.parquet"),
    "picture": ("figures/toy/growth.png", "figures/toy/decay.png"),
    "drawing": ("figures/toy/growth.pdf", "figures/toy/decay.pdf"),
    "vector": ("figures/toy/growth.svg", "figures/toy/decay.svg"),
    "joined": ("results/claims.parquet", "results/toy/claims.parquet"),
    "page": ("figures/index.html", "figures/toy/decay.pdf"),
    "table": ("results/verdicts.txt", "figures/index.html"),
}
# outputs that are not the first of their job: that one, by which `would_run` names the job
MADE_WITH = {
    "figures/toy/growth.png": "figures/toy/growth.pdf",
    "figures/toy/growth.svg": "figures/toy/growth.pdf",
    "results/claims.parquet": "figures/index.html",
}


@fault("an output is truncated, emptied or replaced, same time", SAME)
@fault("a rerun output is replaced again", "rerun")
def test_spoilt_outputs_are_made_again(workspace, built):
    for spoil, (path, other) in zip(itertools.cycle(SPOILERS), SPOILT.values()):
        spoil(workspace.folder / path, built.folder / other)
    spoilt = {MADE_WITH.get(path, path) for path, _ in SPOILT.values()}
    assert spoilt <= workspace.would_run()
    workspace.snakemake()
    assert_same_and_none_half_written(workspace, built, [path for path, _ in SPOILT.values()])
    assert workspace.cli("check").returncode == 0
    swap(workspace.folder / FAST, built.folder / "results/toy/runs/slow.npz")
    workspace.snakemake(TARGET)
    assert_same_and_none_half_written(workspace, built)


@fault("one output of a stage is replaced, same time", "rerun, with everything downstream")
def test_a_swapped_output_is_seen_wherever_it_lies(workspace, built):
    for stage in ("data", "metrics", "claims", "picture", "page"):
        path, other = SPOILT[stage]
        swap(workspace.folder / path, built.folder / other)
        planned = workspace.would_run()
        assert MADE_WITH.get(path, path) in planned, stage
        assert not any("descent" in name or "decay" in name for name in planned), stage  # outputs of the other topic
        swap(workspace.folder / path, built.folder / path)  # as it was


# -- what is stale, and what is not -----------------------------------------------------------------------------------

NOTHING = "Nothing to be done"


@fault("sources dated in the future", "no rerun")
@fault("Snakemake's records are deleted", "no rerun")
@fault("an edit is undone, after a dry run or without Snakemake's records", "no rerun")
def test_what_is_right_stays(workspace):
    later = time.time() + 1e6  # twelve days
    for path in [*(workspace.folder / PAPER).rglob("*.py"), workspace.folder / "config.yaml"]:
        os.utime(path, (later, later))
    assert NOTHING in workspace.snakemake("--dry-run").stdout
    shutil.rmtree(workspace.folder / ".snakemake")
    assert NOTHING in workspace.snakemake("--dry-run").stdout
    shutil.rmtree(workspace.folder / ".snakemake")
    starts, as_it_was, edited = f"{PAPER}/starts.py", "rng.standard_normal()", "2 * rng.standard_normal()"
    workspace.edit(starts, as_it_was, edited)
    assert GROWTH[0] in workspace.would_run()
    workspace.edit(starts, edited, as_it_was)
    assert NOTHING in workspace.snakemake("--dry-run").stdout
    assert NOTHING in workspace.snakemake("--dry-run", "--rerun-triggers", "mtime", "--").stdout


@fault("the folder is copied without times (`cp -r`)", "no rerun")
@fault("results alone are copied without times", "`snakemake --touch` accepts all but stale ones")
def test_copies_are_taken_over_but_no_stale_one(clean, built, tmp_path):
    copy = Workspace(tmp_path / "copy")
    shutil.copytree(built.folder, copy.folder, copy_function=shutil.copy)
    assert NOTHING in copy.snakemake("--dry-run").stdout
    for top in ("results", "figures"):
        shutil.copytree(built.folder / top, clean.folder / top, copy_function=shutil.copy)
    clean.snakemake("--touch")
    assert NOTHING in clean.snakemake("--dry-run").stdout
    clean.configure("runs", "fast", "rate", value=0.03)
    clean.snakemake("--touch")
    assert {FAST, TARGET} <= clean.would_run()
    assert "results/toy/runs/slow.npz" not in clean.would_run()


@fault("edited sources with an old date (`rsync -t`, `cp -p`)", "rerun")
@fault("a setting is edited, `--rerun-triggers mtime`", "rerun")
@fault("Snakemake's records are deleted, then an edit", "rerun")
def test_what_is_stale_is_made_again_whatever_snakemake_looks_at(workspace):
    source = f"{PAPER}/decay/runs.py"
    workspace.edit(source, "(1 - step * rate)", "(1.0 - step * rate)")
    os.utime(workspace.folder / source, (1e9, 1e9))  # in 2001
    workspace.configure("runs", "fast", "measure", "every", value=2)
    as_planned = workspace.would_run()
    by_times = workspace.would_run("--rerun-triggers", "mtime", "--")
    shutil.rmtree(workspace.folder / ".snakemake")
    without_records = workspace.would_run()
    for planned in (as_planned, by_times, without_records):
        assert {TARGET, "results/toy/runs/descent.npz", "results/toy/metrics/descent.parquet"} <= planned, planned
        assert not {FAST, "results/toy/runs/slow.npz", "results/toy/metrics/slow.parquet"} & planned, planned


# -- the machine ------------------------------------------------------------------------------------------------------


@fault("the disk is full", LINE)
def test_a_full_disk_is_named_and_leaves_no_file(clean):
    # the job that draws the data may write files of 2000 bytes, and 2000 numbers take 16000
    clean.configure("data", "starts", "samples", value=2000)
    clean.edit(f"{PAPER}/starts.py", "import numpy as np", "import resource\nimport signal\n\nimport numpy as np")
    clean.edit(
        f"{PAPER}/starts.py",
        "    return {",
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n    return {",
    )
    ended = clean.snakemake(GROWTH[0], check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert f"error: {GROWTH[0]}: cannot be written (File too large)" in said
    assert said.count("error: ") == 1
    assert "Traceback" not in said
    assert not list(clean.folder.glob("results/toy/data/*"))


@fault("memory is too small", LINE)
def test_a_run_that_does_not_fit_into_memory_is_named_with_its_settings(clean):
    clean.configure("runs", "descent", "steps", value=10**10)  # 80 GB for each of five draws
    ended = clean.snakemake("results/toy/runs/descent.npz", check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert "error: run descent: does not fit into this machine's memory" in said
    assert "steps: 10000000000" in said
    assert said.count("error: ") == 1
    assert "Traceback" not in said


@fault("a file where a folder should be", LINE)
def test_a_file_where_a_folder_should_be_is_named_and_kept(clean):
    (clean.folder / "results").write_text("in the way")
    ended = clean.snakemake(GROWTH[0], check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert f"error: {clean.folder / 'results'}: is a file, where a folder should be; move it" in said
    assert "Traceback" not in said
    assert (clean.folder / "results").read_text() == "in the way"


@fault("results are links to another disk", SAME)
@fault("the folder's name is shell, template or path syntax", "it works")
def test_a_folder_may_lie_anywhere_and_have_any_name(built, tmp_path):
    name = 'p$(touch executed)`touch executed`;touch executed {b} it\'s "so" a:b ä&*?[x]'
    workspace = built.copy(tmp_path / name)
    (tmp_path / "large").mkdir()
    for top in ("results", "figures"):
        (workspace.folder / top).rename(tmp_path / "large" / top)
        (workspace.folder / top).symlink_to(tmp_path / "large" / top)
    (workspace.folder / FAST).unlink()
    (workspace.folder / TARGET).unlink()
    workspace.snakemake(TARGET)
    assert_same_and_none_half_written(workspace, built)
    assert not list(tmp_path.rglob("executed"))


# -- mistakes in sources and configuration while results lie there ----------------------------------------------------


def add_syntax_error(workspace, file):
    """Put a line that is no Python at a file's end; return its number."""
    sound = workspace.read(file)
    workspace.write(file, sound + "\ndef broken(:\n")
    return sound.count("\n") + 2


@fault("a syntax error in a job's module", LINE)
# a kind of run, and a module that it imports
@pytest.mark.parametrize("file", [f"{PAPER}/growth/runs.py", f"{PAPER}/growth/theory.py"])
def test_a_syntax_error_in_a_job_s_module_is_one_line_of_a_dry_run(workspace, file):
    line = add_syntax_error(workspace, file)
    ended = workspace.snakemake("--dry-run", check=False)
    said = ended.stderr + ended.stdout
    assert ended.returncode != 0
    assert f"{file}:{line}: " in said
    assert "invalid syntax" in said
    assert said.count("error: ") == 1
    assert "Traceback" not in said


@fault("a syntax error in a module that plans", "Snakemake stops, and names file and line")
def test_a_syntax_error_in_a_module_that_plans_is_named_with_its_line_by_snakemake(workspace):
    file = "src/learning_dynamics/pipeline/plan/config_files.py"
    line = add_syntax_error(workspace, file)
    ended = workspace.snakemake("--dry-run", check=False)
    assert ended.returncode != 0
    assert f'{file}", line {line}:\n' in ended.stderr + ended.stdout


@fault("a syntax error in another module of the pipeline", "one-line error of the command that imports it")
@pytest.mark.parametrize("module", ["errors.py", "pipeline/commands/cli.py", "pipeline/commands/check.py"])
def test_a_syntax_error_in_another_module_of_the_pipeline_is_one_line_of_a_command(workspace, module):
    file = f"src/learning_dynamics/{module}"
    line = add_syntax_error(workspace, file)
    ended = workspace.cli("check")
    assert ended.returncode != 0
    assert f"{file}:{line}: SyntaxError: " in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@fault("a misspelt field in a caption", "one-line error; the previous pages stay")
def test_a_misspelt_field_leaves_the_previous_pages_until_it_is_corrected(workspace):
    pages = ("figures/index.html", "figures/toy.html", "results/claims.parquet")
    before = [(workspace.folder / page).read_bytes() for page in pages]
    workspace.edit(f"{PAPER}/growth/figures.py", "{draws}", "{drawz}")
    for _ in range(2):  # the second start tries again
        ended = workspace.snakemake(check=False)
        assert ended.returncode != 0
        assert "`growth`: the text has a field `{drawz}` that nothing fills; did you mean `draws`?" in ended.stderr
        assert [(workspace.folder / page).read_bytes() for page in pages] == before
    workspace.edit(f"{PAPER}/growth/figures.py", "{drawz}", "all {draws}")
    workspace.snakemake()
    assert "all 3 draws each" in workspace.read("figures/toy.html")


@fault("a missing, empty, broken or binary configuration file", LINE)
@fault("an unknown target", LINE)
@fault("unknown values on the command line", LINE)
def test_a_mistake_on_the_command_line_is_named_with_its_fix(built, tmp_path):
    def file_of(name, content):
        """Write a file, and return its path as the command line has it."""
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    # by configuration file: words of the answer of `check`; Snakemake has words of its own for what is no YAML
    of_check = {
        str(tmp_path / "more.yaml"): "more.yaml: no such file",
        file_of("empty.yaml", b""): "empty.yaml: must be a mapping",
        file_of("broken.yaml", b"seed: [\n"): "broken.yaml:2: ",
        file_of("latin.yaml", b"seed: \xff\n"): "latin.yaml: ",
    }
    for file, words in of_check.items():
        checked = built.cli("check", "--configfile", file)
        assert (checked.returncode, checked.stderr.count("\n")) == (1, 1), file
        assert words in checked.stderr, file
    # by arguments: words of Snakemake's answer
    of_snakemake = {
        ("--configfile", file_of("misspelt.yaml", b"seeed: 1\n")): "seeed: unknown key; did you mean `seed`?",
        ("--config", "seed=x"): "error: --config: seed: must be a whole number",
        ("--config", "papers=[tyo]"): "error: --config: papers: no configuration of paper `tyo`",
        ("nothing",): "nothing makes `nothing`",
        ("figures/toy/grwth.pdf",): "no figure `grwth`; did you mean `growth`?",
        ("results/toy/runs/fats.npz",): "no run `fats`; did you mean `fast`?",
    }
    for arguments, words in of_snakemake.items():
        ended = built.snakemake("--dry-run", *arguments, check=False)
        assert ended.returncode != 0, arguments
        assert words in ended.stderr + ended.stdout, arguments
        assert "Traceback" not in ended.stderr + ended.stdout, arguments


def test_the_document_lists_these_tests():
    assert DOCUMENT.read_text(encoding="utf-8") == table(), "run: python -m tests.pipeline.reliability"
