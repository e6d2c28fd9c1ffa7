"""From one line to a configuration overlay, to its runs, to their picture."""

import itertools
import shlex

import numpy as np
import pandas as pd
import pytest
import yaml

from learning_dynamics.pipeline.commands.map import Labels, draw_heat_map, reduce_draws
from learning_dynamics.pipeline.commands.sweep import parse_axis
from tests.pipeline.conftest import Workspace, refusal, toy

KINDS = {"gamma": float, "width": int, "init": str, "horizon": float | None}


def test_axis():
    for text, values in (
        ("gamma=1e-6:1:7:log", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ("width=10:50:5", [10, 20, 30, 40, 50]),
        ("width=10:1000:3:log", [10, 100, 1000]),
        # more values than there are whole numbers between the ends
        ("width=1:3:6", [1, 2, 3]),
        ("gamma=0:1:3", [0.0, 0.5, 1.0]),
        # whole ends do not make a real setting whole
        ("horizon=5:100:3", [5.0, 52.5, 100.0]),
        ("horizon=5,null", [5.0, None]),
        # no number: the run refuses it
        ("gamma=true,1", [True, 1.0]),
        ("width=1:3:3,10:30:3,100", [1, 2, 3, 10, 20, 30, 100]),
        ("init=orthogonal,gaussian", ["orthogonal", "gaussian"]),
        ("gamma=1e-4,2", [1e-4, 2.0]),
        # what is written is kept; what lies between two ends is rounded
        ("gamma=0.123456789,0.5", [0.123456789, 0.5]),
        ("gamma=0.123456789:1:3", [0.123456789, 0.561728, 1.0]),
    ):
        setting, found = parse_axis(text, KINDS)
        assert setting == text.partition("=")[0], text
        assert found == values, text
        assert [type(value) for value in found] == [type(value) for value in values], text


def test_axes_that_no_run_can_follow_are_refused():
    grammar = "SETTING=FIRST:LAST:COUNT"
    refused = {
        **dict.fromkeys(("gamma", "gamma=", "gamma=1:2", "gamma=1:2:3:exp", "gamma=0:1:3:log"), grammar),
        **dict.fromkeys(("width=1:2:3:4:5", "gamma=0:inf:3", "gamma=1:2:1"), grammar),
        "width=1.5:3:2": "whole numbers",
        "gama=1,2": "did you mean `gamma`",
        "gamma=[1,2": "write SETTING=VALUE",
    }
    assert [text for text, mend in refused.items() if mend not in refusal(parse_axis, text, KINDS)] == []
    assert "whole numbers" not in refusal(parse_axis, "gamma=1:2", KINDS)  # of a real setting


def printed_arguments(stdout: str, program: str) -> list[str]:
    """Return the arguments of the one printed command that runs a program."""
    (line,) = (line.strip() for line in stdout.splitlines() if line.startswith(f"  {program} "))
    return shlex.split(line.removeprefix(program))


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> tuple[Workspace, str]:
    """The made-up paper with a sweep of four runs in a file, and what was said of it; nothing is built."""
    workspace = toy(tmp_path_factory.mktemp("swept") / "project")
    arguments = ("--vary", "rate=0.01:1:2:log", "steps=10:20:2", "--out", "sweep.yaml")
    ended = workspace.cli("sweep", "toy", "slow", *arguments)
    assert ended.returncode == 0, ended.stderr
    return workspace, ended.stdout


@pytest.fixture(scope="module")
def made(swept) -> tuple[Workspace, list[str]]:
    """The same after the printed command that builds, and the arguments of the one that draws, without a quantity."""
    workspace, stdout = swept
    workspace.snakemake(*printed_arguments(stdout, "snakemake --cores all"))
    *arguments, option, placeholder = printed_arguments(stdout, "python -m learning_dynamics")
    assert (option, placeholder) == ("--quantity", "QUANTITY")
    return workspace, arguments


def test_a_sweep_without_a_file_is_printed_as_one(built):
    bundled = built.cli("sweep", "toy", "slow", "--vary", "steps=1:100:100", "--bundle", "30")
    assert bundled.stdout.startswith("# 100 runs like slow of toy, 30 to a job")
    assert yaml.safe_load(bundled.stdout)["changes"]["toy"]["runs"]["slow_sweep"]["bundle"] == 30


def test_what_is_written_extends_the_run_by_the_values_asked_for(swept):
    workspace, _ = swept
    block = {"extends": "slow", "sweep": {"rate": [0.01, 1.0], "steps": [10, 20]}}
    assert yaml.safe_load(workspace.read("sweep.yaml")) == {"changes": {"toy": {"runs": {"slow_sweep": block}}}}


def test_the_printed_command_makes_the_metrics_of_the_runs_and_nothing_else(made):
    workspace, _ = made
    files = sorted(path.stem for path in (workspace.folder / "results/toy/metrics").iterdir())
    assert files == [f"slow_sweep--rate-{rate}--steps-{steps}" for rate in (0.01, 1.0) for steps in (10, 20)]


def test_a_picture_asks_for_its_quantity_and_for_one_value_of_what_is_no_axis(made):
    workspace, arguments = made
    asked = workspace.cli(*arguments)
    assert asked.stderr == "error: --quantity: name one of x\n"
    mixed = workspace.cli("map", "toy", "slow_sweep", "--x", "rate", "--quantity", "x", "--configfile", "sweep.yaml")
    assert "slow_sweep sweeps steps too; take one value with --where steps=..." in mixed.stderr


def test_the_printed_command_draws_the_runs_once_it_is_told_what(made):
    workspace, arguments = made
    drawn = workspace.cli(*arguments, "--quantity", "x", "--where", "seed=0")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stderr == ""
    assert (workspace.folder / "figures/toy/slow_sweep--x.png").stat().st_size > 5_000


def test_a_setting_of_all_runs_is_given_with_set(clean):
    arguments = ("--vary", "rate=0.01,0.02", "--set", "steps=7", "every=2", "samples=1", "--name", "few")
    written = clean.cli("sweep", "toy", "slow", *arguments, "--bundle", "2", "--out", "few.yaml")
    assert written.returncode == 0, written.stderr
    changes = yaml.safe_load(clean.read("few.yaml"))["changes"]["toy"]
    assert changes["data"] == {"few": {"source": "starts.normal", "samples": 1}}
    assert changes["runs"]["few"] == {
        "extends": "slow",
        "data": "few",
        "steps": 7,
        "measure": {"every": 2},
        "sweep": {"rate": [0.01, 0.02]},
        "bundle": 2,
    }
    clean.snakemake("--configfile", "few.yaml", "--", "toy_few")
    (file,) = (clean.folder / "results/toy/metrics").glob("few@*.parquet")
    table = pd.read_parquet(file)
    assert (sorted(set(table["time"])), sorted(set(table["rate"])), set(table["seed"])) == (
        [0.0, 2.0, 4.0, 6.0],
        [0.01, 0.02],
        {0},
    )


@pytest.fixture
def sweep(clean):
    """Return a function that writes a sweep of the made-up paper, and returns its error of one line or nothing."""

    def written(*arguments: str) -> str:
        ended = clean.cli("sweep", "toy", *arguments)
        assert len(ended.stderr.splitlines()) == ended.returncode, ended.stderr
        return ended.stderr

    return written


def test_a_file_of_a_sweep_takes_further_values_and_no_other_sweep(clean, sweep):
    first = ("slow", "--vary", "rate=0.01,0.02", "--out", "sweep.yaml")
    assert sweep(*first) == ""
    assert sweep(*first) == ""
    assert sweep("slow", "--vary", "rate=0.005,0.01,0.02,0.03", "--out", "sweep.yaml") == ""
    # new values come last: bundles of the others stay as they are
    assert "[0.01, 0.02, 0.005, 0.03]" in clean.read("sweep.yaml")
    other_file = "sweep.yaml: is there, and is not this sweep or fewer of its values; name another file with --out"
    assert other_file in sweep(*first)
    assert other_file in sweep("slow", "--vary", "steps=10,20", "--out", "sweep.yaml")
    # one setting more, with all values of the other
    both = ("rate=0.005,0.01,0.02,0.03", "steps=10,20")
    assert other_file in sweep("slow", "--vary", *both, "--out", "sweep.yaml")
    # the order of settings is in the names of runs
    assert sweep("slow", "--vary", *both, "--out", "both.yaml") == ""
    assert "both.yaml: is there, and is not this sweep" in sweep("slow", "--vary", *both[::-1], "--out", "both.yaml")
    assert "config.yaml: is there, and is not this sweep" in sweep("slow", "--vary", "rate=1,2", "--out", "config.yaml")
    assert clean.read("config.yaml").startswith("seed: 2023")


def test_tables_of_another_sweep_of_the_same_name_are_named(clean, sweep):
    assert sweep("slow", "--vary", "rate=0.01,0.02", "--out", "sweep.yaml") == ""
    clean.snakemake("--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    assert sweep("slow", "--vary", "rate=0.005:0.03:4", "--out", "more.yaml").startswith(
        "error: results/toy/metrics: has 2 tables of another sweep slow_sweep, such as slow_sweep--rate-0.01.parquet; "
        "choose another --name, or delete them: rm results/toy/metrics/slow_sweep[@-]*"
    )
    assert "of another sweep slow_sweep" in sweep("slow", "--vary", "rate=0.01,0.02", "--set", "steps=9")
    assert sweep("slow", "--vary", "rate=0.1:0.3:4", "--name", "wide", "--out", "more.yaml") == ""


def test_tables_of_values_that_were_taken_out_by_hand_are_named(clean, sweep):
    assert sweep("slow", "--vary", "rate=0.01,0.02,0.03", "--out", "sweep.yaml") == ""
    clean.snakemake("--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    clean.edit("sweep.yaml", ", 0.03", "")
    drawn = clean.cli("map", "toy", "slow_sweep", "--x", "rate", "--quantity", "x", "--configfile", "sweep.yaml")
    assert "1 tables are not of slow_sweep as configured, such as slow_sweep--rate-0.03.parquet" in drawn.stdout
    checked = clean.cli("check", "--configfile", "sweep.yaml")
    assert "slow_sweep--rate-0.03.parquet: is not of the sweep slow_sweep as configured; delete it" in checked.stderr
    assert "1 stale, damaged or left over" in checked.stdout


def test_what_a_sweep_cannot_be_asked_for(built):
    for arguments, words in {
        ("--vary", "rate=1,2", "--vary", "rate=3,4"): "--vary rate: is given twice; write all of its values in one",
        ("--vary", "rate=1,2", "--set", "rate=3"): "--set rate: is given twice; remove one",
        ("--vary", "rate=1,2", "--set", "steps=3,4"): "--set steps=3,4: takes one value; --vary takes several",
        ("--vary", "rate=1,2", "--set", "setps=3"): "the run has no setting `setps`; did you mean `steps`?",
        ("--vary", "rate=1,1.0"): "sweep.rate: must not hold a value twice",
        ("--vary", "rate=true"): "rate: must be a number (is True)",
        ("--vary", "rate=1,2", "--set", "steps=0"): "--vary or --set: runs.slow_sweep.steps: must be 1 or more",
        ("--vary", "seed=1,2"): "`seed=1,2`: is no setting of a run; further draws are `seeds`, and --config seed=7",
        ("--vary", "rate=1,2", "--name", "fast"): "toy has a run `fast`; choose another --name",
        ("--vary", "rate=1,2", "--name", "Fast"): "runs.Fast: must match",
    }.items():
        refused = built.cli("sweep", "toy", "slow", *arguments)
        assert refused.returncode == 1, arguments
        assert words in refused.stderr, arguments
        assert len(refused.stderr.splitlines()) == 1, arguments


NOTATION = r"flow from $I_\gamma$: $W_1(0) = \sqrt{2\gamma} P$ in $\mathbb{R}^{d}$; $\sigma_i$ are singular values"


def test_axes_have_the_symbols_of_the_notation(configured):
    plan = configured("notation", NOTATION)
    labels = Labels(plan, "toy", "slow")
    for name, label in {
        "gamma": r"$\gamma$",
        "sigma_w1": r"$\sigma(W_1)$",
        "sigma_w2": "sigma w2",
        "integration.points": "integration points",
        "sqrt": "sqrt",
    }.items():
        assert labels.of_name(name) == label, name
    assert labels.of_quantity("x") == "the state, x"


def test_a_draw_is_reduced_to_one_value_of_one_entry():
    columns = {"rate": 1.0, "seed": 0, "time": [0.0, 1.0, 1.0], "index": [1, 1, 2], "value": [1.0, 2.0, 3.0]}
    mixed = pd.DataFrame(columns)
    for at in ("first", "last", "largest", "smallest"):
        assert "--where index=..." in refusal(reduce_draws, mixed, ["rate"], at), at
    one = mixed[mixed["index"] == 1]
    assert [reduce_draws(one, ["rate"], at)["value"].item() for at in ("first", "largest")] == [1.0, 2.0]
    numbered = pd.DataFrame({"rate": 1.0, "draw": [0, 1, 2], "value": [1.0, 2.0, 9.0]})
    assert reduce_draws(numbered, ["rate"], "last")["value"].tolist() == [2.0]
    # one without a value stays a draw
    lost = pd.DataFrame(
        {"rate": 1.0, "seed": [0, 0, 1, 1], "time": [0.0, 1.0] * 2, "value": [1.0, 3.0, np.nan, np.nan]}
    )
    assert reduce_draws(lost, ["rate"], "largest", above=0.0)["value"].tolist() == [0.5]
    assert reduce_draws(lost.assign(value=np.inf), ["rate"], "last", above=0.0)["value"].tolist() == [0.0]


def test_words_keep_their_order_and_numbers_are_sorted():
    cells = itertools.product([10.0, 1.0, 100.0], ["uniform", "skewed"])
    found = pd.DataFrame([{"rate": rate, "sizes": sizes, "value": rate} for rate, sizes in cells])
    figure = draw_heat_map(found, "rate", "sizes", "x")
    axis = figure.axes[0]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["uniform", "skewed"]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["1", "10", "100"]
    assert axis.collections[0].get_array().tolist() == [[1.0, 10.0, 100.0]] * 2


def test_a_run_that_is_no_sweep_is_drawn_over_its_own_columns(clean):
    clean.snakemake("--", "results/toy/metrics/slow.parquet")
    for arguments, mend in {
        ("--x", "tme"): "slow: no axis `tme`",
        ("--x", "index", "--y", "index"): "--y index: is what --x is",
        ("--x", "index", "--where", "index=one"): "`index` is a number",
        ("--x", "index", "--where", "index=99"): "--where index=99: no such rows; there are 0",
    }.items():
        wrong = clean.cli("map", "toy", "slow", *arguments, "--quantity", "x")
        assert wrong.returncode == 1, arguments
        assert mend in wrong.stderr, arguments
    missing = clean.cli("map", "toy", "slwo", "--x", "rate", "--quantity", "x")
    assert "no run `slwo`; did you mean `slow`?" in missing.stderr
    picture = clean.cli("map", "toy", "slow", "--x", "index", "--quantity", "x", "--out", "map.jpg")
    assert "must end in .pdf (is map.jpg)" in picture.stderr
