"""Faults on purpose: kills, orphans, spoilt files, edits meanwhile; afterwards all is as if nothing had been.

Every test belongs to a fault and a promise; docs/reliability.md is made from them.
"""

import itertools
import os
import random
import shutil
import signal
import subprocess
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
PAUSE = 0.05  # seconds a step, 40 steps
SAME = "same bits"
LINE = "one-line error"
fault = pytest.mark.fault


def same(one: Workspace, other: Workspace, paths=GROWTH) -> None:
    """Assert that outputs are equal, but for the command that is noted in them."""
    for path in paths:
        first, second = one.folder / path, other.folder / path
        if path.endswith(".parquet"):
            pd.testing.assert_frame_equal(pd.read_parquet(first), pd.read_parquet(second), check_exact=True)
        elif path.endswith(".npz"):
            with np.load(first) as left, np.load(second) as right:
                assert set(left.files) == set(right.files)
                for name in set(left.files) - {"learning_dynamics"}:
                    assert left[name].tobytes() == right[name].tobytes()
        else:
            assert first.read_bytes() == second.read_bytes()
    assert not list(one.folder.glob("results/**/.*.partial")), "half files are left"


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
    log = workspace.folder / "steps"
    return log.read_text().splitlines() if log.exists() else []


def wait_for_steps(workspace: Workspace, count: int) -> None:
    until(lambda: len(steps_in(workspace)) >= count, f"step {count} of the run", pause=0.01)


@pytest.fixture
def slow(tmp_path, built) -> Workspace:
    """The made-up paper with data made, its growth slow enough to be interrupted and logging its steps."""
    workspace = toy(tmp_path / "project")
    workspace.variables |= {"GROWTH_PAUSE": str(PAUSE), "GROWTH_LOG": str(workspace.folder / "steps")}
    return workspace


def end(running: subprocess.Popen) -> str:
    try:
        return running.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        raise


# -- kills ------------------------------------------------------------------------------------------------------------

MOMENTS = random.Random(2023)
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
KILLS = [
    pytest.param(name, whom, MOMENTS.randint(1, 35), id=f"{name}-{whom}")
    for name, whom in (
        *(("SIGKILL", whom) for whom in ("job", "Snakemake", "both", "group")),
        *(("SIGTERM", whom) for whom in ("job", "Snakemake")),
        *(("SIGINT", whom) for whom in ("job", "group")),
    )
]


@fault("SIGKILL, SIGTERM or SIGINT to job, Snakemake or both at any moment", SAME)
@pytest.mark.parametrize(("name", "whom", "step"), KILLS)
def test_a_kill_at_any_moment_loses_nothing(slow, built, name, whom, step):
    running = slow.start(TARGET)
    wait_for_steps(slow, step)
    if whom == "group":
        os.killpg(running.pid, SIGNALS[name])
    if whom in ("job", "both"):
        job_of(slow.folder).send_signal(SIGNALS[name])
    if whom in ("Snakemake", "both"):
        running.send_signal(SIGNALS[name])
    end(running)
    before = len(steps_in(slow))
    if name == "SIGKILL" and whom != "job":
        assert "--unlock" in slow.snakemake(TARGET, check=False).stderr
        slow.snakemake("--unlock")
    slow.snakemake(TARGET)
    same(slow, built)
    # what had been reached was not done again
    assert len(steps_in(slow)) <= 40 + 1 or whom == "Snakemake", before
    assert not list(slow.folder.glob("results/toy/resume/*/*"))


@fault("a run is killed twice", SAME)
def test_a_run_that_is_killed_twice_goes_on_from_where_it_was(slow, built):
    for step in (10, 25):
        running = slow.start(TARGET)
        wait_for_steps(slow, step)
        os.killpg(running.pid, signal.SIGKILL)
        end(running)
        assert not (slow.folder / FAST).exists()
        slow.snakemake("--unlock")
    slow.snakemake(TARGET)
    same(slow, built)
    assert len(steps_in(slow)) <= 40 + 2


@fault("SIGSTOP, later SIGCONT", SAME)
def test_a_run_that_is_stopped_for_a_while_goes_on(slow, built):
    running = slow.start(TARGET)
    wait_for_steps(slow, 10)
    os.killpg(running.pid, signal.SIGSTOP)
    job = job_of(slow.folder)
    job.suspend()
    until(lambda: job.status() == psutil.STATUS_STOPPED, "the job's stop")
    reached = len(steps_in(slow))
    time.sleep(5 * PAUSE)  # in which a job that is not stopped would take steps
    assert len(steps_in(slow)) == reached
    job.resume()
    os.killpg(running.pid, signal.SIGCONT)
    end(running)
    assert running.returncode == 0
    same(slow, built)
    assert len(steps_in(slow)) == 40


# -- two at once ------------------------------------------------------------------------------------------------------


@fault("Snakemake is killed, its job continues, another starts with a new setting", "the orphan's output is rerun")
def test_what_an_orphan_writes_is_made_again(slow):
    running = slow.start(FAST)
    wait_for_steps(slow, 5)
    orphan = job_of(slow.folder)
    running.kill()
    slow.configure("runs", "fast", "rate", value=0.5)
    hurried = Workspace(slow.folder, variables={"GROWTH_PAUSE": "0"})
    hurried.snakemake("--unlock")
    hurried.snakemake(TARGET)
    assert not psutil.wait_procs([orphan], timeout=PATIENCE)[1]
    end(running)
    hurried.snakemake(TARGET)
    assert pd.read_parquet(slow.folder / TARGET)["value"].abs().max() > 1e3
    assert "Nothing to be done" in hurried.snakemake("--dry-run", TARGET).stdout


@fault("a second Snakemake starts in the folder", "it refuses; the first goes on")
def test_a_second_start_is_refused_and_the_first_goes_on(slow, built):
    slow.variables["GROWTH_PAUSE"] = str(6 * PAUSE)  # on a busy machine too, the second plans while the first works
    running = slow.start(TARGET)
    wait_for_steps(slow, 2)
    second = slow.snakemake(TARGET, check=False)
    assert second.returncode != 0
    assert "cannot be locked" in second.stderr + second.stdout
    end(running)
    assert running.returncode == 0
    same(slow, built)


# -- edits meanwhile --------------------------------------------------------------------------------------------------


@fault("a formula is edited during a run", "rerun at the next start")
def test_an_edit_while_a_run_goes_is_not_what_ran(slow, built):
    running = slow.start(FAST)
    wait_for_steps(slow, 3)
    slow.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    end(running)
    assert FAST in slow.would_run(TARGET)
    hurried = Workspace(slow.folder)
    hurried.snakemake(TARGET)
    assert pd.read_parquet(slow.folder / TARGET)["value"].abs().max() > 1e9


@fault("a formula is edited after planning, before the job", LINE)
def test_a_job_refuses_a_source_that_was_edited_since_it_was_planned(workspace):
    planned = workspace.snakemake("--dry-run", "--force", FAST, "--printshellcmds").stdout
    lines = [line.strip().removeprefix("Shell command: ") for line in planned.splitlines()]
    command = next(line for line in lines if line.startswith("python -m learning_dynamics run"))
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (2 + rate)")
    before = (workspace.folder / FAST).read_bytes()
    ended = workspace.run("bash", "-c", command)
    assert ended.returncode == 1
    log = workspace.read("results/toy/logs/runs/fast.log")
    assert log.count("\n") == 1
    assert "have changed since Snakemake planned this job" in log
    assert (workspace.folder / FAST).read_bytes() == before


# -- files spoilt, swapped, dated -------------------------------------------------------------------------------------


def truncated(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def swapped(path: Path, other: Path) -> None:
    # as `cp -p`: Snakemake's records see the same time
    times = path.stat()
    shutil.copy(other, path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def foreign(path: Path, other: Path) -> None:
    times = path.stat()
    path.write_bytes(b"somebody else's\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


SPOILT = {
    "data": ("results/toy/data/starts.npz", "results/toy/runs/slow.npz"),
    "run": (FAST, "results/toy/runs/slow.npz"),
    "metrics": (TARGET, "results/toy/metrics/slow.parquet"),
    "claims": ("results/toy/claims.parquet", "results/toy/parts.parquet"),
    "picture": ("figures/toy/growth.png", "figures/toy/decay.png"),
    "drawing": ("figures/toy/growth.pdf", "figures/toy/decay.pdf"),
    "vector": ("figures/toy/growth.svg", "figures/toy/decay.svg"),
    "joined": ("results/claims.parquet", "results/toy/claims.parquet"),
    "page": ("figures/index.html", "figures/toy/decay.pdf"),
    "table": ("results/verdicts.txt", "figures/index.html"),
}
# the first output of the job that makes it, where it is not itself
MADE_WITH = {
    "figures/toy/growth.png": "figures/toy/growth.pdf",
    "figures/toy/growth.svg": "figures/toy/growth.pdf",
    "results/claims.parquet": "figures/index.html",
}


@fault("an output is truncated, emptied or replaced, same time", SAME)
def test_spoilt_outputs_are_made_again(workspace, built):
    for spoil, (path, other) in zip(itertools.cycle((truncated, emptied, swapped, foreign)), SPOILT.values()):
        spoil(workspace.folder / path, built.folder / other)
    spoilt = {MADE_WITH.get(path, path) for path, _ in SPOILT.values()}
    assert spoilt <= workspace.would_run()
    workspace.snakemake()
    same(workspace, built, [path for path, _ in SPOILT.values()])
    assert workspace.stage("check").returncode == 0


@fault("one output of a stage is replaced, same time", "rerun, with everything downstream")
def test_a_swapped_output_is_seen_wherever_it_lies(workspace, built):
    for stage in ("data", "metrics", "claims", "picture", "page"):
        path, other = SPOILT[stage]
        swapped(workspace.folder / path, built.folder / other)
        planned = workspace.would_run()
        assert MADE_WITH.get(path, path) in planned
        assert not any("descent" in name or "decay" in name for name in planned)
        swapped(workspace.folder / path, built.folder / path)


@fault("a rerun output is replaced again", "rerun")
def test_what_was_made_again_is_looked_at_again(workspace, built):
    for _ in range(2):
        swapped(workspace.folder / FAST, built.folder / SPOILT["run"][1])
        workspace.snakemake(TARGET)
        same(workspace, built)


@fault("an edit is undone, after a dry run or without Snakemake's records", "no rerun")
def test_an_edit_that_is_taken_back_makes_nothing_again(workspace):
    starts = (f"{PAPER}/starts.py", "rng.standard_normal()", "2 * rng.standard_normal()")
    before = {path: path.read_bytes() for path in (workspace.folder / "results").rglob("*.parquet")}
    shutil.rmtree(workspace.folder / ".snakemake")
    workspace.edit(*starts)
    assert GROWTH[0] in workspace.would_run()
    workspace.edit(starts[0], *reversed(starts[1:]))
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout
    assert "Nothing to be done" in workspace.snakemake("--dry-run", "--rerun-triggers", "mtime", "--").stdout
    assert all(path.read_bytes() == content for path, content in before.items())


@fault("Snakemake's records are deleted", "no rerun")
def test_without_snakemakes_records_what_is_right_stays(workspace):
    shutil.rmtree(workspace.folder / ".snakemake")
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout


@fault("Snakemake's records are deleted, then an edit", "rerun")
def test_without_snakemakes_records_what_is_stale_is_made_again(workspace):
    shutil.rmtree(workspace.folder / ".snakemake")
    workspace.configure("runs", "fast", "measure", "every", value=2)
    workspace.edit(f"{PAPER}/decay/runs.py", "(1 - step * rate)", "(1.0 - step * rate)")
    planned = workspace.would_run()
    assert {TARGET, "results/toy/runs/descent.npz", "results/toy/metrics/descent.parquet"} <= planned
    assert not {FAST, "results/toy/runs/slow.npz", "results/toy/metrics/slow.parquet"} & planned


@fault("edited sources with an old date (`rsync -t`, `cp -p`)", "rerun")
def test_an_edit_with_an_old_date_is_an_edit(workspace):
    source = workspace.folder / PAPER / "growth/runs.py"
    workspace.edit(f"{PAPER}/growth/runs.py", "* (1 + rate)", "* (1.0 + rate)")
    os.utime(source, (1e9, 1e9))
    assert FAST in workspace.would_run()


@fault("sources dated in the future", "no rerun")
def test_sources_of_the_future_change_nothing(workspace):
    later = time.time() + 1e6
    for path in [*(workspace.folder / PAPER).rglob("*.py"), workspace.folder / "config.yaml"]:
        os.utime(path, (later, later))
    assert "Nothing to be done" in workspace.snakemake("--dry-run").stdout


# -- the machine ------------------------------------------------------------------------------------------------------


def limited(workspace: Workspace, limit: str, *targets: str) -> subprocess.CompletedProcess:
    command = f"{limit}; exec {' '.join(workspace.command(*targets))}"
    return subprocess.run(
        ["bash", "-c", command], cwd=workspace.folder, env=workspace.environment, capture_output=True, text=True
    )


@fault("the folder is copied without times (`cp -r`)", "no rerun")
def test_copies_of_results_and_records_are_taken_over(built, tmp_path):
    copy = Workspace(tmp_path / "project")
    shutil.copytree(built.folder, copy.folder, copy_function=shutil.copy)
    assert "Nothing to be done" in copy.snakemake("--dry-run").stdout


@fault("results alone are copied without times", "`snakemake --touch` accepts all but stale ones")
def test_touch_takes_results_over_but_no_stale_one(clean, built):
    for top in ("results", "figures"):
        shutil.copytree(built.folder / top, clean.folder / top, copy_function=shutil.copy)
    clean.snakemake("--touch")
    assert "Nothing to be done" in clean.snakemake("--dry-run").stdout
    clean.configure("runs", "fast", "rate", value=0.03)
    clean.snakemake("--touch")
    assert {FAST, TARGET} <= clean.would_run()
    assert "results/toy/runs/slow.npz" not in clean.would_run()


@fault("a setting is edited, `--rerun-triggers mtime`", "rerun")
def test_nothing_stale_is_served_whatever_snakemake_looks_at(workspace):
    workspace.configure("runs", "fast", "rate", value=0.03)
    planned = workspace.would_run("--rerun-triggers", "mtime", "--")
    assert {"results/toy/runs/fast.npz", "results/toy/metrics/fast.parquet", "results/toy/claims.parquet"} <= planned


@fault("the disk is full", LINE)
def test_a_full_disk_is_said_and_leaves_no_half_file(clean, built):
    clean.configure("data", "starts", "samples", value=2000)
    clean.edit(f"{PAPER}/starts.py", "import numpy as np", "import resource\nimport signal\n\nimport numpy as np")
    clean.edit(
        f"{PAPER}/starts.py",
        "    return {",
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n    return {",
    )
    ended = clean.snakemake(GROWTH[0], check=False)
    assert ended.returncode == 1
    assert f"error: {GROWTH[0]}: cannot be written (File too large)" in ended.stdout + ended.stderr
    assert not list(clean.folder.glob("results/toy/data/*"))


@fault("memory is too small", LINE)
def test_a_run_that_does_not_fit_is_said(clean):
    clean.configure("data", "starts", "samples", value=3)
    clean.configure("runs", "descent", "steps", value=10**10)
    ended = clean.snakemake("results/toy/runs/descent.npz", check=False)
    assert ended.returncode == 1
    text = ended.stdout + ended.stderr
    assert "error: run descent: does not fit into this machine's memory" in text
    assert "steps: 10000000000" in text
    assert "Traceback" not in text


@fault("a file where a folder should be", LINE)
def test_a_file_in_the_way_is_named(clean):
    (clean.folder / "results").write_text("in the way")
    ended = clean.snakemake(GROWTH[0], check=False)
    assert ended.returncode != 0
    assert "results" in ended.stdout + ended.stderr
    assert (clean.folder / "results").read_text() == "in the way"


@fault("results are links to another disk", SAME)
def test_results_may_lie_elsewhere(clean, built, tmp_path):
    for name in ("results", "figures"):
        (tmp_path / f"large/{name}").mkdir(parents=True)
        (clean.folder / name).symlink_to(tmp_path / f"large/{name}")
    clean.snakemake(TARGET)
    same(clean, built)
    ignored = clean.run("bash", "-c", "cp /dev/stdin .gitignore; git init -q . && git check-ignore results figures")
    assert ignored.returncode in (0, 1)


@fault("PYTHONOPTIMIZE=2", "the same claims and words")
def test_claims_keep_their_words_without_docstrings(workspace, built):
    workspace.variables["PYTHONOPTIMIZE"] = "2"
    (workspace.folder / "results/toy/claims.parquet").unlink()
    workspace.snakemake("results/toy/claims.parquet")
    same(workspace, built, ["results/toy/claims.parquet", "results/toy/parts.parquet"])


# -- mistakes in sources and configuration while results lie there ----------------------------------------------------


@fault("a syntax error in a job's module", LINE)
def test_a_syntax_error_is_one_line_also_with_results_present(workspace):
    file = f"{PAPER}/growth/theory.py"
    workspace.write(file, workspace.read(file) + "\ndef broken(:\n")
    line = workspace.read(file).count("\n")
    ended = workspace.snakemake("--dry-run", check=False)
    assert ended.returncode != 0
    said = [text for text in ended.stderr.splitlines() if text.startswith("error: ")]
    assert len(said) == 1
    assert f"{file}:{line}: " in said[0]
    assert "Traceback" not in ended.stderr


@fault("a syntax error in the pipeline", LINE)
def test_a_syntax_error_in_the_pipeline_names_its_line(workspace):
    file = "src/learning_dynamics/pipeline/plan/config_files.py"
    workspace.write(file, workspace.read(file) + "\ndef broken(:\n")
    ended = workspace.snakemake("--dry-run", check=False)
    assert ended.returncode != 0
    said = ended.stderr + ended.stdout  # a dry run speaks on standard output
    assert "config.py" in said
    assert str(workspace.read(file).count("\n")) in said


@fault("a missing, empty, broken or binary configuration file", LINE)
def test_a_configuration_file_that_is_none_is_named(built, tmp_path):
    for content, message in (
        (None, "more.yaml: no such file"),
        (b"", "more.yaml: must be a mapping"),
        (b"seed: [\n", "more.yaml:2: "),
        (b"seeed: 1\n", "seeed: unknown key; did you mean `seed`?"),
    ):
        file = tmp_path / "more.yaml"
        if content is not None:
            file.write_bytes(content)
        checked = built.stage("check", "--configfile", str(file))
        assert (checked.returncode, checked.stderr.count("\n")) == (1, 1)
        assert message in checked.stderr
        # Snakemake itself reads the file before it reads ours, and has words of its own for what is no YAML
        ended = built.snakemake("--dry-run", "--configfile", str(file), check=False)
        assert ended.returncode != 0 or content == b""
        if content is not None and message.startswith("seeed"):
            assert message in ended.stderr
            assert "Traceback" not in ended.stderr


@fault("an unknown target", LINE)
def test_an_unknown_target_is_named(built):
    for target, message in (
        ("nothing", "No rule to produce nothing"),
        ("figures/toy/grwth.pdf", "no figure `grwth`; did you mean `growth`?"),
        ("results/toy/runs/fats.npz", "no run `fats`; did you mean `fast`?"),
    ):
        ended = built.snakemake("--dry-run", target, check=False)
        said = ended.stderr + ended.stdout
        assert ended.returncode != 0
        assert message in said


@fault("unknown values on the command line", LINE)
def test_values_of_the_command_line_are_held_against_the_schema(workspace):
    for given, message in (
        ("seeed=1", "did you mean `seed`"),
        ("seed=x", "seed: must be a whole number"),
        ("papers=[tyo]", "tyo"),
        ("scale=toy", "is the name of a paper"),
    ):
        ended = workspace.snakemake("--dry-run", "--config", given, check=False)
        assert ended.returncode != 0
        said = ended.stderr + ended.stdout
        assert "error: --config: " in said
        assert message in said
        assert "Traceback" not in said


def test_a_dotted_name_on_the_command_line_is_refused_in_snakemakes_words(workspace):
    # read before any line of the project is
    ended = workspace.snakemake("--dry-run", "--config", "runs.fast.rate=1", check=False)
    assert ended.returncode != 0
    assert ended.stdout.rstrip().endswith("Config entry must start with a valid identifier.")


# -- a folder's name --------------------------------------------------------------------------------------------------


@fault("the folder's name is shell, template or path syntax", "it works")
def test_a_folders_name_is_a_name(built, tmp_path):
    name = 'p$(touch executed)`touch executed`;touch executed {b} it\'s "so" a:b ä&*?[x]'
    workspace = built.copy(tmp_path / name)
    (workspace.folder / TARGET).unlink()
    workspace.snakemake(TARGET)
    same(workspace, built)
    assert not list(tmp_path.rglob("executed"))


def test_the_document_lists_these_tests():
    assert DOCUMENT.read_text(encoding="utf-8") == table(), "run: python -m tests.pipeline.reliability"
