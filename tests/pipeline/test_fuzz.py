"""Whole configurations and command lines at random: one line that a person can act on, or what was asked for.

``FUZZ_EXAMPLES=100000 FUZZ_SEED=7 python -m pytest -n 0 tests/pipeline/test_fuzz.py`` goes on for an hour.
"""

import copy
import io
import os
import random
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import learning_dynamics.papers
from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import cli, data, metrics, run
from learning_dynamics.pipeline.study import digests, sources
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.plain_yaml import read_yaml
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.reasons import unstated_settings

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
SEED = int(os.environ.get("FUZZ_SEED", "2023"))
LONGEST = 900  # characters of an answer
pytestmark = [pytest.mark.timeout(0)] if EXAMPLES else []  # as long as one asks for

WORDS = st.sampled_from(
    [
        *("slow", "fast", "descent", "starts", "growth", "decay", "geometric", "toy", "metrics", "growth.growth"),
        *("rate", "steps", "every", "like", "sweep", "kind", "measure", "data", "seed", "reproduced", "results"),
        *("", "f\n", "../x", "x" * 300, "Ünïcode", "a b", "1e-4", "--help", "-", "{}", "[]", "null", "%s", "{name}"),
        *("$(id)", "/dev/null", "\x00", "x", "value", "time", "last", "largest", "quantity", "rate=0.01", "seed=x"),
    ]
)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 2, 3, 1.5, 1e308, -0.0, 10**19, 10**400, float("nan"), float("inf"), True, False, None]),
    st.integers(-5, 50),
    st.floats(),
)
KEYS = st.one_of(WORDS, st.integers(0, 3))
VALUES = st.recursive(
    st.one_of(WORDS, NUMBERS, st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
ACTIONS = st.sampled_from(["set", "add", "delete", "move"])
STEPS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), ACTIONS, WORDS, VALUES), min_size=1, max_size=3)


def examples(count: int) -> settings:
    """Return how a test is run: others with each seed, the same with the same."""
    return settings(
        max_examples=EXAMPLES or count,
        deadline=None,
        derandomize=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def world(sources_of_toy, tmp_path_factory):
    """The made-up paper in this process: its sources, its configuration, and a folder to work in."""
    folder = tmp_path_factory.mktemp("world")
    shutil.copytree(sources_of_toy / "workflow/config", folder / "workflow/config")
    (folder / "config.yaml").write_text("seed: 2023\npapers: [toy]\nreplicated: [toy]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "SOURCE_ROOT", sources_of_toy / "src")
        patch.setattr(load, "__defaults__", (*load.__defaults__[:2], folder))
        path = [*learning_dynamics.papers.__path__, str(sources_of_toy / "src/learning_dynamics/papers")]
        patch.setattr(learning_dynamics.papers, "__path__", path)
        patch.chdir(folder)
        digests.forget()
        build(Project(load()))
        yield folder
    digests.forget()


def build(project: Project) -> None:
    """Make the made-up paper's results here, so that commands have something to read."""
    home = Path("results/toy")
    for name in project.study.paper_block("toy")["data"]:
        data.execute("toy", name, project.data("toy", name), home / f"data/{name}.npz")
    for name in project.study.runs["toy"]:
        source = project.run_data("toy", name)
        drawn = home / f"data/{source}.npz" if source else None
        run.execute("toy", name, project.run("toy", name), drawn, home / f"runs/{name}.npz")
        measured = home / f"metrics/{name}.parquet"
        metrics.execute("toy", name, home / f"runs/{name}.npz", measured, project.measure("toy", name))


def places(block: Any, path: tuple = ()) -> list[tuple]:
    found = []
    pairs = block.items() if isinstance(block, dict) else enumerate(block) if isinstance(block, list) else ()
    for key, value in pairs:
        found += [(*path, key), *places(value, (*path, key))]
    return found


def changed(block: dict, steps: list) -> dict:
    """Return a block with values set, added, deleted or moved at random places."""
    block = copy.deepcopy(block)
    for share, action, word, value in steps:
        there = places(block)
        if not there:
            break
        *way, last = there[int(share * len(there))]
        home = block
        for key in way:
            home = home[key]
        if action == "delete":
            del home[last]
        elif action == "set" or not isinstance(home, dict):
            home[last] = copy.deepcopy(value)
        elif action == "add":
            home[word] = copy.deepcopy(value)
        else:
            home[word] = home.pop(last)
    return block


def planned(project: Project) -> None:
    """Ask for all that Snakemake would: every job's orders and fingerprints."""
    assert project.outputs
    assert project.page
    for paper in project.study.papers:
        unstated_settings(project.study, paper)
        project.claims(paper)
        for name in project.study.figures(paper):
            project.tables_for("figure", paper, name)


def is_one_line(said: str) -> None:
    assert "\n" not in said.strip()
    assert len(said) < LONGEST
    # the name of an exception, as of what nobody has thought of
    assert not said.removeprefix("error: ").partition(":")[0].endswith(("Error", "Exception", "Interrupt")), said


@examples(250)
@seed(SEED)
@given(steps=STEPS, top=st.booleans())
def test_a_configuration_is_refused_in_one_line_or_planned(world, steps, top):
    whole = {"seed": 2023, "scale": "fuzz", "papers": ["toy"], "replicated": ["toy"], "replications": 0}
    block = read_yaml(world / "workflow/config/toy.yaml")
    given_values: dict[str, Any] = {"scale": "fuzz", "changes": {"toy": changed(block, steps)}}
    if top:
        given_values = changed(whole | {"changes": {"toy": {"runs": {"fast": {"rate": 0.5}}}}}, steps)
    try:
        project = Project(load((), given_values))
    except ProjectError as error:
        is_one_line(str(error))
    else:
        planned(project)


NAMES = st.one_of(st.sampled_from(["toy", "slow", "fast", "descent", "growth", "decay", "starts"]), WORDS)
FILES = st.sampled_from(
    [
        *("a.npz", "a.parquet", "a.pdf", "a.png", "a.svg", "a.yaml", "a.txt", "a.html", "a.webp", "a.tex"),
        *(".", "none/a.npz"),
        *("results/toy/metrics/slow.parquet", "results/toy/runs/slow.npz", "results/toy/data/starts.npz"),
        *(
            "results/toy/metrics",
            "none/a.parquet",
            "config.yaml",
            "workflow/config/toy.yaml",
            "/dev/null",
            "/proc/self/mem",
            "pipe.npz",
        ),
        *("pipe.yaml", "x" * 300, "\udcff"),
    ]
)
SPECS = st.one_of(
    st.sampled_from(
        [
            '{"kind": "growth.growth", "settings": {"rate": 0.01, "steps": 5}}',
            '{"kind": "growth.growth", "settings": {"every": 1}}',
            '{"source": "starts.normal", "settings": {"samples": 3, "seed": 1}}',
            '{"kind": "growth.growth", "runs": {"slow": {"name": "slow"}}, "settings": {}}',
            '{"claims": {}, "sensitivity": {}}',
            '{"claims": {"geometric": {"kind": "growth.geometric"}}, "sensitivity": {}}',
            '{"claims": {"a": {"kind": "x", "runs": {"a": 3}, "settings": {}, "vary": {}}}, "sensitivity": {}}',
            '{"claims": {}, "sensitivity": [3]}',
            '{"kind": "growth.growth", "runs": {"slow": {"name": "slow", "sweep": 3}}, "settings": {}}',
            '{"kind": "growth.growth", "runs": {"slow": 3}, "settings": {"a": {}}}',
            '{"files": [], "given": {}}',
            '{"files": ["a.yaml", 3], "given": 7}',
            '{"2023": "results", "x": 3}',
            '{"kind": 3, "settings": 4, "runs": 5, "claims": 6, "source": 7, "sensitivity": 8}',
            '{"kind": "growth.growth", "settings": {}, "runs": {}}',
            '{"kind": "growth.growth", "data": null, "settings": {}, "measure": {}, "sweep": "s", "axes": ["rate"],'
            ' "members": [[0.1], [0.2]]}',
            '{"kind": "growth.growth", "data": "starts", "settings": {"steps": 3}, "measure": {"every": 1},'
            ' "sweep": "s", "axes": ["rate"], "members": [[0.1]]}',
            '{"files": ["config.yaml"], "given": {"papers": ["toy"], "seed": "x"}}',
            *("{}", "[]", "3", "{", "null", '"x"', "[" * 100_000, "NaN"),
        ]
    ),
)
AXES = st.sampled_from(
    [
        *("rate=1,2", "rate=1:2:3", "rate=1:2:3:log", "steps=1:2:10000000", "rate=", "=", "rate=nan,inf"),
        *(
            "steps=017,1:30",
            "rate=[1,2]",
            "rate=!!set",
            "like=slow",
            "rate=-1:1:3:log",
            "steps=1e400:2:3",
            "rate=&a,*a",
        ),
    ]
)
# of an option its values; None for one that takes none
OPTIONS: dict[str, Any] = {
    **dict.fromkeys(
        ["--out", "--data", "--run", "--metrics", "--pdf", "--png", "--results", "--figures", "--claims", "--page"],
        FILES,
    ),
    **dict.fromkeys(["--out", "--data", "--run", "--metrics", "--pdf", "--png", "--results", "--figures"], FILES),
    **dict.fromkeys(["--claims", "--page", "--configfile", "--markdown"], FILES),
    **dict.fromkeys(["--style", "--called", "--x", "--y", "--quantity", "--at", "--where"], WORDS),
    **dict.fromkeys(["--fingerprint", "--made-from"], WORDS),
    **dict.fromkeys(["--spec", "--config", "--folders"], SPECS),
    **{"--vary": AXES, "--papers": NAMES, "--every": None},
    "--index": st.sampled_from(["0", "1", "-1", "x"]),
    "--above": st.sampled_from(["0", "nan", "x"]),
    "--bundle": st.sampled_from(["0", "2", "-1", "1e3", "1000", "x"]),
    "--draw": st.sampled_from(["0", "1", "-1", "x", "99999999999999999999"]),
    "--csv": st.sampled_from(["a.csv", "results/a.csv", "config.yaml", ""]),
    "--made": WORDS,
    "--minutes": st.sampled_from(["1", "0", "-1", "nan", "1e5", "x"]),
    "--since": st.sampled_from(["0", "nan", "x"]),
}
# of a stage how many names or files it is told, and its options
STAGES = {
    "data": (2, "--spec --out --fingerprint --minutes"),
    "run": (2, "--spec --out --data --made-from"),
    "metrics": (2, "--spec --run --out --made-from"),
    "figure": (2, "--spec --metrics --pdf --png --style"),
    "motion": (2, "--spec --metrics --out"),
    "interactive": (2, "--spec --metrics --out"),
    "claims": (1, "--spec --metrics --out"),
    "report": (0, "--config --results --figures --out --claims"),
    "verdicts": (1, "--page --out"),
    "replication": (0, "--folders --papers --out --markdown --pdf --png"),
    "compare": (1, ""),
    "check": (0, "--configfile"),
    "sweep": (2, "--vary --called --bundle --out --configfile"),
    "costs": (0, "--every --configfile"),
    "map": (2, "--x --y --quantity --at --where --index --above --out --configfile"),
    "summary": (0, "--papers --since --configfile"),
    "bundle": (2, "--spec --data --out --fingerprint"),
    "wild": (1, "--draw --config --out --made"),
    "turning": (2, "--config --out --made"),
    "regions": (2, "--out --csv --markdown --pdf --png"),
    "csv": (1, "--out --configfile"),
    "tex": (1, "--out --configfile"),
    "unknown": (0, ""),
}


def options_of(draw: Any, options: str) -> list[str]:
    """Return some of a stage's options with values."""
    arguments = []
    for option in options.split():
        if draw(st.integers(0, 9)):
            kind = OPTIONS[option]
            arguments += [option] if kind is None else [option, draw(kind)]
    return arguments


@st.composite
def command_lines(draw: Any) -> list[str]:
    stage = draw(st.sampled_from(sorted(STAGES)))
    count, options = STAGES[stage]
    arguments = [stage]
    if stage == "regions":
        return [*arguments, draw(st.sampled_from(["wild", "turning", "x"])), draw(FILES), *options_of(draw, options)]
    if count:
        arguments.append("toy" if stage not in ("verdicts", "compare") and draw(st.booleans()) else draw(FILES))
    if count == 2:
        arguments.append(draw(NAMES))
    return arguments + options_of(draw, options)


@examples(250)
@seed(SEED)
@given(arguments=command_lines())
def test_a_command_line_is_refused_in_one_line_or_done(world, arguments):
    for name in ("pipe.npz", "pipe.yaml"):
        if not Path(name).exists():
            os.mkfifo(name)
    before = Path("config.yaml").read_bytes(), Path("workflow/config/toy.yaml").read_bytes()
    out, err = io.StringIO(), io.StringIO()
    random.seed(0)
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "limit_memory", lambda: None)
        patch.setattr(cli, "limit_time", lambda minutes: None)
        try:
            status = cli.main(arguments)
        except SystemExit as ended:  # argparse: usage, and what is wrong
            status = ended.code
            assert "Traceback" not in err.getvalue()
        else:
            errors = [line for line in err.getvalue().splitlines() if line.startswith("error: ")]
            for line in errors[:1]:
                is_one_line(line)
            assert status == 0 or errors or out.getvalue(), arguments
    assert status in (0, 1, 2)
    assert before == (Path("config.yaml").read_bytes(), Path("workflow/config/toy.yaml").read_bytes())
