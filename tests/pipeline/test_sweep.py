"""`sweep` writes a configuration overlay from one line; Snakemake makes its runs, and `map` draws them.

The swept run is `slow` of the made-up paper (toy/toy.yaml), with the settings `rate` and `steps`.
"""

import itertools
import shlex
import subprocess

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from learning_dynamics.pipeline.commands.map import Labels, draw_heat_map, reduce_draws
from learning_dynamics.pipeline.commands.sweep import parse_axis
from tests.pipeline.conftest import Workspace, refusal, toy

TYPES = {"gamma": float, "width": int, "init": str, "horizon": float | None}  # of settings of a made-up run


@pytest.mark.parametrize(
    ("setting", "text", "values"),
    [
        pytest.param("gamma", "1e-4,2", [1e-4, 2.0], id="numbers"),
        pytest.param("init", "orthogonal,gaussian", ["orthogonal", "gaussian"], id="words"),
        pytest.param("horizon", "5,null", [5.0, None], id="none"),
        pytest.param("gamma", "true,1", [True, 1.0], id="no number, which the run refuses"),
        pytest.param("width", "10:50:5", [10, 20, 30, 40, 50], id="a range of whole numbers"),
        pytest.param("width", "10:1000:3:log", [10, 100, 1000], id="a logarithmic range of whole numbers"),
        pytest.param("width", "1:3:6", [1, 2, 3], id="more values than whole numbers"),
        pytest.param("gamma", "0:1:3", [0.0, 0.5, 1.0], id="a range of real numbers"),
        pytest.param(
            "gamma", "1e-6:1:7:log", [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0], id="a logarithmic range of real numbers"
        ),
        pytest.param("horizon", "5:100:3", [5.0, 52.5, 100.0], id="whole ends of a real setting"),
        pytest.param("width", "1:3:3,10:30:3,100", [1, 2, 3, 10, 20, 30, 100], id="ranges and a number"),
        pytest.param("gamma", "0.123456789,0.5", [0.123456789, 0.5], id="many digits that are written"),
        # (0.123456789 + 1) / 2 = 0.5617283945, to six digits
        pytest.param("gamma", "0.123456789:1:3", [0.123456789, 0.561728, 1.0], id="many digits between two ends"),
    ],
)
def test_an_axis_has_the_values_that_are_written_and_the_type_of_its_setting(setting, text, values):
    parsed_setting, parsed_values = parse_axis(f"{setting}={text}", TYPES)
    assert parsed_setting == setting
    assert parsed_values == values
    # 1 == 1.0 == True
    assert [type(value) for value in parsed_values] == [type(value) for value in values]


@pytest.mark.parametrize(
    "text",
    [
        *("gamma", "gamma=", "gamma=1:2", "width=1:2:3:4:5", "gamma=1:2:3:exp"),
        pytest.param("gamma=0:1:3:log", id="gamma=0:1:3:log, from zero"),
        pytest.param("gamma=0:inf:3", id="gamma=0:inf:3, without an end"),
        pytest.param("gamma=1:2:1", id="gamma=1:2:1, one value of two ends"),
    ],
)
def test_an_axis_that_is_no_range_is_refused_with_the_grammar(text):
    assert "SETTING=FIRST:LAST:COUNT" in refusal(parse_axis, text, TYPES)


def test_a_wrong_range_of_a_real_setting_is_refused_without_a_word_on_whole_numbers():
    assert "whole numbers" not in refusal(parse_axis, "gamma=1:2", TYPES)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("width=1.5:3:2", "whole numbers"),
        ("gama=1,2", "did you mean `gamma`"),
        pytest.param("gamma=[1,2", "write SETTING=VALUE", id="an open bracket"),
    ],
)
def test_an_axis_that_the_run_cannot_have_is_refused_with_advice(text, advice):
    assert advice in refusal(parse_axis, text, TYPES)


def printed_arguments(stdout: str, program: str) -> list[str]:
    """Return the arguments of the one printed command that runs a program."""
    (line,) = (line.strip() for line in stdout.splitlines() if line.startswith(f"  {program} "))
    return shlex.split(line.removeprefix(program))


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> tuple[Workspace, str]:
    """The made-up paper with a sweep of four runs in sweep.yaml, and what `sweep` printed; nothing is built."""
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
    assert (option, placeholder) == ("--quantity", "QUANTITY")  # which a person is to replace
    return workspace, arguments


def test_without_a_file_the_overlay_is_printed(built):
    bundled = built.cli("sweep", "toy", "slow", "--vary", "steps=1:100:100", "--bundle", "30")
    assert bundled.stdout.startswith("# 100 runs like slow of toy, 30 to a job")
    assert yaml.safe_load(bundled.stdout)["changes"]["toy"]["runs"]["slow_sweep"]["bundle"] == 30


@pytest.mark.parametrize(
    ("run", "arguments", "is_suggested"),
    [
        pytest.param("descent", "--vary step=0.01:0.1:100", False, id="long runs"),
        pytest.param("short", "--vary step=0.01:0.1:100", True, id="many runs"),
        pytest.param("short", "--vary step=0.01:0.1:99", False, id="fewer"),
        pytest.param("short", "--vary step=0.01:0.1:100 --bundle 50", False, id="bundled"),
    ],
)
def test_bundles_are_suggested_for_many_short_runs(clean, run, arguments, is_suggested):
    clean.write("short.yaml", "changes: {toy: {runs: {short: {extends: descent, seeds: 2, resources: {}}}}}\n")
    ended = clean.cli("sweep", "toy", run, *arguments.split(), "--out", "many.yaml", "--configfile", "short.yaml")
    assert ended.returncode == 0, ended.stderr
    assert ("add --bundle 100" in ended.stdout) == is_suggested


def test_the_overlay_in_the_file_is_a_run_that_extends_the_swept_one(swept):
    workspace, _ = swept
    block = {"extends": "slow", "sweep": {"rate": [0.01, 1.0], "steps": [10, 20]}}
    assert yaml.safe_load(workspace.read("sweep.yaml")) == {"changes": {"toy": {"runs": {"slow_sweep": block}}}}


def test_the_printed_command_makes_the_metrics_of_the_runs_and_nothing_else(made):
    workspace, _ = made
    assert sorted(path.name for path in (workspace.folder / "results/toy/metrics").iterdir()) == [
        "slow_sweep--rate-0.01--steps-10.parquet",
        "slow_sweep--rate-0.01--steps-20.parquet",
        "slow_sweep--rate-1.0--steps-10.parquet",
        "slow_sweep--rate-1.0--steps-20.parquet",
    ]


def test_map_without_a_quantity_names_those_that_can_be_drawn(made):
    workspace, arguments = made
    assert workspace.cli(*arguments).stderr == "error: --quantity: name one of x\n"


def test_map_asks_for_one_value_of_a_swept_setting_that_is_no_axis(made):
    workspace, _ = made
    refused = workspace.cli("map", "toy", "slow_sweep", "--x", "rate", "--quantity", "x", "--configfile", "sweep.yaml")
    assert "slow_sweep sweeps steps too; take one value with --where steps=..." in refused.stderr


def test_the_printed_command_with_a_quantity_draws_the_runs(made):
    workspace, arguments = made
    drawn = workspace.cli(*arguments, "--quantity", "x", "--where", "seed=0")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stderr == ""
    with Image.open(workspace.folder / "figures/toy/slow_sweep--x.png") as image:
        counts = [count for count, _ in image.convert("RGB").getcolors(maxcolors=2**24)]
    n_large_areas = sum(count > 0.05 * sum(counts) for count in counts)
    # white, and two colours: of the four cells that of rate 1 and 20 steps is far from the others, which look alike
    assert n_large_areas == 3


@pytest.fixture
def few(clean):
    """The made-up paper and the file few.yaml: a bundled sweep `few`, with settings of its runs and data from --set."""
    ended = clean.cli(
        *("sweep", "toy", "slow", "--vary", "rate=0.01,0.02", "--set", "steps=7", "every=2", "samples=1"),
        *("--name", "few", "--bundle", "2", "--out", "few.yaml"),
    )
    assert ended.returncode == 0, ended.stderr
    return clean


def test_a_setting_given_with_set_is_of_the_run_of_its_measuring_or_of_a_data_set(few):
    changes = yaml.safe_load(few.read("few.yaml"))["changes"]["toy"]
    assert changes["data"] == {"few": {"source": "starts.normal", "samples": 1}}
    assert changes["runs"]["few"] == {
        "extends": "slow",
        "data": "few",
        "steps": 7,
        "measure": {"every": 2},
        "sweep": {"rate": [0.01, 0.02]},
        "bundle": 2,
    }


def test_a_map_of_a_sweep_that_is_not_made_says_what_makes_it(few):
    refused = few.cli("map", "toy", "few", "--x", "rate", "--quantity", "x", "--configfile", "few.yaml")
    command = "snakemake --cores all --configfile few.yaml -- toy_few"
    assert refused.stderr == f"error: toy few: 1 of 1 tables are missing; run: {command}\n"


def test_a_bundled_sweep_has_one_table_of_the_settings_that_were_given(few):
    few.snakemake("--configfile", "few.yaml", "--", "toy_few")
    (file,) = (few.folder / "results/toy/metrics").glob("few@*.parquet")
    table = pd.read_parquet(file)
    assert sorted(set(table["rate"])) == [0.01, 0.02]
    assert sorted(set(table["time"])) == [0.0, 2.0, 4.0, 6.0]  # `every=2` of `steps=7`
    assert set(table["seed"]) == {0}  # `samples=1`


@pytest.fixture
def sweep(clean):
    """Return a function that sweeps the run `slow` and returns the error, which is one line or nothing."""

    def error_of_sweep(*arguments: str) -> str:
        ended = clean.cli("sweep", "toy", "slow", *arguments)
        assert len(ended.stderr.splitlines()) == ended.returncode, ended.stderr
        return ended.stderr

    return error_of_sweep


FOUR_RATES = "rate=0.005,0.01,0.02,0.03"


def test_a_file_of_a_sweep_takes_further_values_after_those_that_it_has(clean, sweep):
    assert sweep("--vary", "rate=0.01,0.02", "--out", "sweep.yaml") == ""
    assert sweep("--vary", "rate=0.01,0.02", "--out", "sweep.yaml") == ""
    assert sweep("--vary", FOUR_RATES, "--out", "sweep.yaml") == ""
    # so bundles of the first values stay as they are
    assert "[0.01, 0.02, 0.005, 0.03]" in clean.read("sweep.yaml")


def test_a_file_of_a_bundled_sweep_keeps_its_bundles(clean):
    def sweep(*arguments: str) -> str:
        ended = clean.cli("sweep", "toy", "slow", "--vary", FOUR_RATES, "--out", "sweep.yaml", *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def bundle() -> int:
        return yaml.safe_load(clean.read("sweep.yaml"))["changes"]["toy"]["runs"]["slow_sweep"]["bundle"]

    changed = "sweep.yaml: has bundles of"
    assert changed not in sweep("--bundle", "2")
    continued = sweep()
    assert "4 runs like slow of toy, 2 to a job" in continued
    assert changed not in continued
    assert bundle() == 2
    assert "sweep.yaml: has bundles of 3 runs now, and had 2 before" in sweep("--bundle", "3")
    assert bundle() == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(
            "--vary rate=0.04 --set steps=7",
            "rate=0.01,0.02 would disappear; write the old values too: --vary rate=0.01,0.02,NEW",
            id="new values alone",
        ),
        pytest.param(
            "--vary rate=0.01:0.03:2 --set steps=7",
            "rate=0.02 would disappear; write the old values too: --vary rate=0.02,NEW",
            id="a range without an old value",
        ),
        pytest.param("--vary rate=0.01:0.02:2", "its runs have steps=7; give them after --set steps=7", id="no --set"),
        pytest.param("--vary rate=0.01,0.02 --set steps=8", "its runs have steps=7; ", id="another --set"),
        pytest.param(
            "--vary rate=0.01,0.02 --set steps=7 every=2", "no --set every; leave it out", id="one more --set"
        ),
        pytest.param("--vary every=1,2 --set steps=7", "varies rate, in this order; ", id="another setting"),
        pytest.param("--vary rate=0.01,0.02 every=1,2", "varies rate, in this order; ", id="one more setting"),
    ],
)
def test_a_file_of_a_sweep_is_not_overwritten_with_fewer_values_or_other_settings(clean, sweep, arguments, problem):
    assert sweep("--vary", "rate=0.01,0.02", "--set", "steps=7", "--out", "sweep.yaml") == ""
    before = clean.read("sweep.yaml")
    error = sweep(*arguments.split(), "--out", "sweep.yaml")
    assert error.startswith("error: sweep.yaml: ")
    assert problem in error
    assert "or name another file with --out" in error
    assert clean.read("sweep.yaml") == before


def test_a_file_of_a_sweep_of_a_data_set_asks_for_its_settings(few):
    refused = few.cli("sweep", "toy", "slow", "--vary", "rate=0.01,0.02", "--name", "few", "--out", "few.yaml")
    assert "few.yaml: its runs have samples=1, steps=7, every=2; give them after --set" in refused.stderr
    of_another_run = few.cli(
        *("sweep", "toy", "fast", "--vary", "rate=0.01,0.02", "--set", "steps=7", "every=2", "samples=1"),
        *("--name", "few", "--out", "few.yaml"),
    )
    assert "few.yaml: has a few of another run or data set" in of_another_run.stderr


def test_a_file_of_a_sweep_is_not_overwritten_with_its_settings_in_another_order(sweep):
    # runs are named by their settings in the order of the sweep
    assert sweep("--vary", "rate=0.01,0.02", "steps=10,20", "--out", "both.yaml") == ""
    refused = sweep("--vary", "steps=10,20", "rate=0.01,0.02", "--out", "both.yaml")
    assert "both.yaml: varies rate, steps, in this order; " in refused


def test_an_error_names_the_first_of_many_values_that_would_disappear(sweep):
    assert sweep("--vary", "steps=1:20:20", "--out", "many.yaml") == ""
    assert "many.yaml: steps=1,2,3,4,5,6,7,8,... would disappear" in sweep("--vary", "steps=21", "--out", "many.yaml")


def test_a_file_that_is_no_sweep_is_not_overwritten(clean, sweep):
    refused = sweep("--vary", "rate=1,2", "--out", "config.yaml")
    assert "config.yaml: is there, and has no slow_sweep of toy; name another file with --out" in refused
    assert clean.read("config.yaml").startswith("seed: 2023")


def test_a_sweep_is_refused_beside_tables_of_another_one_of_the_same_name(clean, sweep):
    assert sweep("--vary", "rate=0.01,0.02", "--out", "sweep.yaml") == ""
    clean.snakemake("--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    assert sweep("--vary", "rate=0.005:0.03:4", "--out", "more.yaml").startswith(
        "error: results/toy/metrics: has 2 tables of another sweep slow_sweep, such as slow_sweep--rate-0.01.parquet; "
        "choose another --name, or delete it: find results/toy -name 'slow_sweep[.@-]*' -delete"
    )
    assert "of another sweep slow_sweep" in sweep("--vary", "rate=0.01,0.02", "--set", "steps=9")
    assert sweep("--vary", "rate=0.1:0.3:4", "--name", "wide", "--out", "more.yaml") == ""


def test_check_counts_what_is_left_of_a_removed_sweep_until_the_printed_command_deletes_it(clean, sweep):
    assert sweep("--vary", "rate=0.01,0.02", "--set", "samples=1", "--out", "sweep.yaml") == ""
    clean.snakemake("--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    left_over = "5 files are of nothing in this configuration, such as results/toy/data/slow_sweep.npz"
    assert "of nothing" not in clean.cli("check", "--configfile", "sweep.yaml").stdout
    assert left_over in clean.cli("check").stdout  # a data set, two runs and their tables
    refused = sweep("--vary", "rate=0.01,0.02", "--set", "samples=1", "steps=3")
    command = shlex.split(refused.partition("delete it: ")[2])
    subprocess.run(command, cwd=clean.folder, check=True)
    assert "of nothing" not in clean.cli("check").stdout
    assert list(clean.folder.glob("results/toy/**/*slow_sweep*")) == []


def test_map_and_check_name_the_table_of_a_value_that_was_taken_out_of_the_file(clean, sweep):
    assert sweep("--vary", "rate=0.01,0.02,0.03", "--out", "sweep.yaml") == ""
    clean.snakemake("--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    clean.edit("sweep.yaml", ", 0.03", "")
    drawn = clean.cli("map", "toy", "slow_sweep", "--x", "rate", "--quantity", "x", "--configfile", "sweep.yaml")
    assert "1 tables are not of slow_sweep as configured, such as slow_sweep--rate-0.03.parquet" in drawn.stdout
    checked = clean.cli("check", "--configfile", "sweep.yaml")
    assert "slow_sweep--rate-0.03.parquet: is not of the sweep slow_sweep as configured; delete it" in checked.stderr
    assert "1 stale, damaged or left over" in checked.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--vary rate=1,2 --vary rate=3,4", "--vary rate: is given twice; write all of its values in one"),
        ("--vary rate=1,2 --set rate=3", "--set rate: is given twice; remove one"),
        ("--vary rate=1,2 --set steps=3,4", "--set steps=3,4: takes one value; --vary takes several"),
        ("--vary rate=1,2 --set setps=3", "the run has no setting `setps`; did you mean `steps`?"),
        ("--vary rate=1,1.0", "sweep.rate: must not hold a value twice"),
        ("--vary rate=true", "rate: must be a number (is True)"),
        ("--vary rate=1,2 --set steps=0", "--vary or --set: runs.slow_sweep.steps: must be 1 or more"),
        ("--vary seed=1,2", "`seed=1,2`: is no setting of a run; --set seeds=40 makes more draws, and --config seed=7"),
        ("--vary samples=1,2", "--vary samples: is a setting of the data set, starts, and is given with --set"),
        ("--vary rate=1,2 --name fast", "toy has a run `fast`; choose another --name"),
        ("--vary rate=1,2 --name Fast", "runs.Fast: must match"),
    ],
)
def test_a_wrong_sweep_is_refused_in_one_line(built, arguments, words):
    refused = built.cli("sweep", "toy", "slow", *arguments.split())
    assert refused.returncode == 1
    assert words in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


NOTATION = r"flow from $I_\gamma$: $W_1(0) = \sqrt{2\gamma} P$ in $\mathbb{R}^{d}$; $\sigma_i$ are singular values"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param("gamma", r"$\gamma$", id="a symbol of the notation"),
        pytest.param("sigma_w1", r"$\sigma(W_1)$", id="two symbols of the notation"),
        pytest.param("sigma_w2", "sigma w2", id="a symbol and one that the notation has not"),
        pytest.param("integration.points", "integration points", id="no symbol"),
        pytest.param("sqrt", "sqrt", id="a command of LaTeX that is no symbol"),
    ],
)
def test_a_label_of_an_axis_has_the_symbols_of_the_notation(configured, name, label):
    assert Labels(configured("notation", NOTATION), "toy", "slow").of_name(name) == label


def test_a_label_of_a_quantity_has_the_first_clause_of_its_meaning(configured):
    # "The state, predicted to grow by a factor 1 + rate a step." (toy/growth/metrics.py)
    assert Labels(configured(), "toy", "slow").of_quantity("x") == "the state, x"


# one entry of a vector at the first of two times, and two at the last
TWO_ENTRIES = pd.DataFrame(
    {"rate": 1.0, "seed": 0, "time": [0.0, 1.0, 1.0], "index": [1, 1, 2], "value": [1.0, 2.0, 3.0]}
)


@pytest.mark.parametrize("at", ["first", "last", "largest", "smallest"])
def test_a_map_of_several_entries_is_refused_with_the_option_that_takes_one(at):
    assert "--where index=..." in refusal(reduce_draws, TWO_ENTRIES, axes=["rate"], at=at)


@pytest.mark.parametrize(("at", "value"), [("first", 2.0), ("last", 3.0), ("largest", 4.0), ("smallest", 1.0)])
def test_a_draw_is_reduced_to_its_value_at_one_moment(at, value):
    # its rows are not in the order of time: from time 0 to 3 the values are 2, 4, 1 and 3
    draw = pd.DataFrame({"rate": 1.0, "seed": 0, "time": [1.0, 3.0, 0.0, 2.0], "value": [4.0, 3.0, 2.0, 1.0]})
    assert reduce_draws(draw, axes=["rate"], at=at)["value"].item() == value


def test_several_draws_are_reduced_to_their_median():
    draws = pd.DataFrame({"rate": 1.0, "draw": [0, 1, 2], "value": [1.0, 2.0, 9.0]})
    assert reduce_draws(draws, axes=["rate"], at="last")["value"].item() == 2.0


@pytest.mark.parametrize(
    ("values", "share"),
    [
        pytest.param([1.0, 3.0, np.nan, np.nan], 0.5, id="one of two draws has no value"),
        pytest.param([np.inf] * 4, 0.0, id="both draws are infinite"),
    ],
)
def test_a_draw_that_is_not_finite_counts_as_not_above_a_number(values, share):
    two_draws = pd.DataFrame({"rate": 1.0, "seed": [0, 0, 1, 1], "time": [0.0, 1.0, 0.0, 1.0], "value": values})
    assert reduce_draws(two_draws, axes=["rate"], at="largest", above=0.0)["value"].item() == share


def test_words_of_an_axis_keep_their_order_and_numbers_are_sorted():
    cells = itertools.product([10.0, 1.0, 100.0], [("uniform", 1.0), ("skewed", 2.0)])
    points = pd.DataFrame([{"rate": rate, "sizes": word, "value": factor * rate} for rate, (word, factor) in cells])
    axis, _ = draw_heat_map(points, x="rate", y="sizes", label="x").axes  # the other is the colour bar
    assert [text.get_text() for text in axis.get_yticklabels()] == ["uniform", "skewed"]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["1", "10", "100"]
    (mesh,) = axis.collections
    assert mesh.get_array().tolist() == [[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]]  # a row for each word


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("slow --x tme", "slow: no axis `tme`"),
        ("slow --x index --y index", "--y index: is what --x is"),
        ("slow --x index --where index=one", "`index` is a number"),
        ("slow --x index --where index=99", "--where index=99: no such rows; there are 0"),
        ("slwo --x rate", "no run `slwo`; did you mean `slow`?"),
        ("slow --x index --out map.jpg", "must end in .pdf (is map.jpg)"),
    ],
)
def test_a_wrong_map_of_a_run_that_is_no_sweep_is_refused(built, arguments, words):
    # such a run is drawn over the columns of its table
    refused = built.cli("map", "toy", *arguments.split(), "--quantity", "x")
    assert refused.returncode == 1
    assert words in refused.stderr
