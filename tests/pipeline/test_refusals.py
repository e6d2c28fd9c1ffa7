"""Wrong values, of a made-up paper's configuration and of the command line, are refused before anything is written.

The message names the file and the key, and says what to type. A row of a table is a path of keys, the value that is set
there (`...` deletes it), and words of the message.
"""

import os

import pytest

from learning_dynamics import judging
from learning_dynamics.pipeline.commands import cli
from learning_dynamics.pipeline.plan import schema
from learning_dynamics.pipeline.store.records import is_expected
from tests.pipeline.conftest import refusal
from tests.pipeline.test_store import COLUMNS, RECORD, table, write_table

LONG_NAME = "x" * 300


def sweep_block(**values):
    """Return the block of a run that extends `slow` and sweeps some settings, with a reason for each."""
    return {"extends": "slow", "sweep": values, "provenance": {key: {"chosen": "a scan"} for key in values}}


def test_keys_that_have_another_name_now_are_refused_with_it(refuses):
    refuses(
        ("runs.fast.like", "slow", "runs.fast.like: unknown key; it is now `extends`"),
        ("runs.fast.kind", "growth.growth", "runs.fast.kind: unknown key; it is now `function`"),
        ("runs.new", {"kind": "growth.growth"}, "runs.new.kind: unknown key; it is now `function`"),
        ("figures.new", {"kind": "growth.growth", "runs": {}}, "figures.new.kind: unknown key; it is now `function`"),
        ("claims.new", {"kind": "growth.growth", "runs": {}}, "claims.new.kind: unknown key; it is now `function`"),
        ("telling", "growth", "telling: unknown key; it is now `lead_figure`"),
    )


def test_misspelt_keys_and_names_are_refused_with_what_they_may_mean(refuses):
    refuses(
        ("lead_figrue", "growth", "lead_figrue: unknown key; did you mean `lead_figure`?"),
        ("runs.fast.extend", "slow", "runs.fast.extend: unknown key; did you mean `extends`?"),
        ("runs.slwo", {"steps": 20}, "runs.slwo.function: missing; did you mean the run `slow`? Else name a function"),
        ("runs.fast.extends", "slwo", "runs.fast.extends: no run `slwo`; did you mean `slow`"),
        ("runs.slow.data", "strats", "runs.slow.data: no data set `strats`; did you mean `starts`"),
        ("data.starts.source", "strats.normal", "data.starts.source: `strats.normal`: no module `strats`"),
    )


def test_wrong_runs_and_data_sets_are_refused(refuses):
    refuses(
        # `every` is a setting of measuring, `rate` one of the run
        ("runs.slow.every", 2, "workflow/config/toy.yaml: runs.slow.every: unknown setting of `growth`"),
        ("runs.slow.measure", {"rate": 1.0}, "runs.slow.measure.rate: unknown setting of `growth`"),
        ("runs.slow.measure.every", 0, "runs.slow.measure.every: must be 1 or more (is 0)"),
        ("runs.slow.function", ..., "runs.slow.function: missing; name a function"),
        ("runs.slow.data", ..., "runs.slow.data: `growth.growth` takes a data set; add `data:`"),
        ("runs.descent.data", "starts", "runs.descent.data: `decay.descent` takes no data set; remove `data:`"),
        ("runs.slow.extends", "fast", "refers back to itself"),  # `fast` extends `slow`
        ("runs.fast.resources", {"runtime": 2_000_000}, "must be 525600 or less"),
        ("runs." + LONG_NAME, {"extends": "slow"}, "must have 80 characters or fewer"),
        ("runs.fast.rate", "x" * 10_000, "must be a number"),
        ("data.starts.samples", 1.5, "data.starts.samples: must be a whole number"),
    )


def test_wrong_sweeps_are_refused(refuses):
    refuses(
        ("runs.scan", sweep_block(rate=[0.1, -1.0]), "scan.rate: must be above 0"),
        ("runs.scan", sweep_block(rate=[]), "runs.scan.sweep.rate: must have 1 values or more (is [])"),
        ("runs.scan", sweep_block(rate=[0.1, 0.1]), "sweep.rate: must not hold a value twice"),
        ("runs.scan", sweep_block(rate=[1, 1.0]), "sweep.rate: must not hold a value twice"),
        ("runs.scan", sweep_block(seed=[1, 2]), "runs.scan.sweep.seed: further draws are not a sweep; raise `seeds`"),
        ("runs.scan", sweep_block(rtae=[0.1]), "scan.rtae: unknown setting of `growth`; did you mean `rate`"),
        ("runs.scan", sweep_block(rate=["../x"]), "runs.scan.sweep: `scan--rate-../x` cannot be a file's name"),
        ("runs.scan", sweep_block(rate=[1e-3], steps=[*range(1, 2000)], every=[*range(1, 2000)]), "sweep fewer values"),
        ("runs.fast.sweep", {"rate": [1.0], "steps": [10**290]}, "cannot be a file's name; sweep fewer settings"),
        ("runs.fast.sweep", {"measure": ["slow", "fast"]}, "runs.fast.sweep.measure: is no setting of a run"),
        # `toy_metrics` is the target of all metrics, and would be that of this sweep
        ("runs.metrics", sweep_block(rate=[0.1, 0.2]), "runs.metrics: `snakemake toy_metrics` makes something else"),
    )


def test_wrong_bundles_are_refused(refuses):
    refuses(
        ("runs.scan", {"extends": "slow", "bundle": 5}, "runs.scan.bundle: is for the runs of a sweep"),
        ("runs.scan", sweep_block(rate=[0.1]) | {"bundle": 1}, "runs.scan.bundle: must be 2 or more (is 1)"),
        (
            "runs.scan",
            {"extends": "slow", "sweep": {"function": ["growth.growth"]}, "bundle": 2},
            "of one function; remove it",
        ),
    )


def test_a_bundled_run_cannot_be_varied(refuses, configured):
    configured("runs.scan", sweep_block(rate=[0.1, 0.2]) | {"bundle": 2})
    refuses(("robustness.slow_steps.run", "scan", "robustness.slow_steps.run: `scan` runs in bundles"))


@pytest.mark.parametrize("runs", ["figures.growth.runs", "claims.geometric.runs"])
def test_wrong_runs_of_a_figure_or_claim_are_refused(refuses, runs):
    refuses(
        (runs, {"slow": "slow"}, f"workflow/config/toy.yaml: {runs}.fast: missing; name the run that is the fast"),
        (runs, {"slow": "slow", "fats": "fast"}, f"{runs}.fats: `"),
        (runs, {"slow": "slow", "fats": "fast"}, "has no such role; did you mean `fast`"),
        (runs, {"slow": "slow", "fast": "fats"}, f"{runs}.fast: no run `fats`; did you mean `fast`"),
        (runs, {"slow": ["slow"], "fast": "fast"}, f"{runs}.slow: must be one run"),
        (runs, ["slow", "fast"], f"{runs}: must be a mapping"),
    )


def test_wrong_settings_of_figures_and_claims_are_refused(refuses):
    refuses(
        ("figures.growth.member", 99, "figures.growth.member: unknown setting of `growth`"),
        ("claims.geometric.figure", "decay", "claims.geometric.figure: `decay` shows none of the claim's runs"),
        ("claims.geometric.figure", "grwth", "claims.geometric.figure: no figure `grwth`; did you mean `growth`"),
        ("claims.geometric.function", "growth.geometry", "claims.geometric.function: no function `geometry`"),
        ("claims.geometric.rounding", ..., "claims.geometric.rounding: missing; add it"),
        ("claims.geometric.vary", {"rouding": [1.0]}, "vary.rouding: no setting of this claim `rouding`; did you mean"),
        ("claims.geometric.vary", {"rounding": [-1.0]}, "vary.rounding: must be above 0"),
        ("claims.geometric.free", {"steps": [3, 9]}, "claims.geometric.free: must be False"),
    )


TWO = "undecided or reproduced"  # two verdicts, which need a reason why rounding decides


def test_wrong_expected_verdicts_are_refused(refuses):
    refuses(
        ("claims.geometric.expected", "fine", "claims.geometric.expected: no verdict `fine`; one of reproduced, corr"),
        ("claims.geometric.expected", "reproduced or fine", "claims.geometric.expected: no verdict `fine`"),
        ("claims.geometric.expected", "{fine}", "claims.geometric.expected: no verdict `{fine}`"),
        ("claims.geometric.expected", TWO, "claims.geometric.expected: names two verdicts; give one, or a key of both"),
        ("claims.geometric.expected", {TWO: ""}, "claims.geometric.expected: names two verdicts; give one"),
        ("claims.geometric.expected", {TWO: None}, "claims.geometric.expected: names two verdicts; give one"),
        ("claims.geometric.expected", {f"{TWO} or corrected": "rounding"}, "expected: names more than two verdicts"),
        ("claims.geometric.expected", ["reproduced"], "claims.geometric.expected: must be a verdict"),
    )


def test_the_configuration_knows_every_verdict():
    assert schema.VERDICTS == judging.VERDICTS


def test_either_of_two_verdicts_is_expected_with_the_reason_why_rounding_decides(configured):
    plan = configured("claims.geometric.expected", {TWO: "trained in float32"})
    assert plan.claim("toy", "geometric")["expected"] == TWO
    assert is_expected("undecided", TWO)
    assert is_expected("reproduced", TWO)
    assert not is_expected("corrected", TWO)


RANGE = {"run": "slow", "setting": "steps", "range": [5, 50], "claims": ["geometric"]}


def test_wrong_variations_are_refused(refuses):
    refuses(
        ("robustness.slow_steps.run", "slwo", "robustness.slow_steps.run: no run `slwo`; did you mean `slow`"),
        ("robustness.slow_steps.run", "descent", "claim `geometric` does not use run `descent`"),
        ("robustness.slow_steps.setting", "stpes", "slow_steps.setting: no setting of `slow`; did you mean `steps`"),
        ("robustness.slow_steps.values", [0], "robustness.slow_steps.setting: must be 1 or more"),
        ("robustness.slow_steps.values", [40], "robustness.slow_steps.values: 40 is the run's own; give others"),
        ("robustness.slow_steps.claims", ["geometry"], "robustness.slow_steps.claims: no claim `geometry`"),
        ("robustness.draw3", RANGE, "is the name of a seed or draw; rename it"),
    )


def test_wrong_ranges_of_random_settings_are_refused(refuses):
    refuses(
        ("runs.slow.free", {"stpes": [1, 9]}, "runs.slow.free.stpes: no setting of `slow`; did you mean `steps`?"),
        ("runs.slow.free", {"steps": [0, 9]}, "runs.slow.free.steps: must be 1 or more"),
        ("runs.slow.free", {"steps": [9, 2]}, "runs.slow.free.steps: from the smaller to the larger"),
        ("runs.slow.free", {"data": [["starts"]]}, "runs.slow.free.data: no data set `['starts']`"),
        ("runs.slow.free", {"rate": [0.1, "stpes"]}, "runs.slow.free.rate: `stpes` is no number and names none"),
        (
            "runs.slow.free",
            {"rate": [0.1, "steps"], "steps": [1, "rate"]},
            "toy: runs.slow.free: ranges name one another: rate, steps, rate; write a number in one of them",
        ),
    )


def test_wrong_ranges_of_variations_are_refused(refuses):
    refuses(
        ("robustness.range", RANGE | {"range": [0, 50]}, "must be 1 or more"),
        ("robustness.range", RANGE | {"range": [50, 5]}, "from the smaller to the larger"),
        ("robustness.range", RANGE | {"range": [5, 10**101]}, "must be 1e+100 or less"),
        ("robustness.range", RANGE | {"setting": "rate", "range": [1, 2]}, "write its ends with a"),
        ("robustness.range", RANGE | {"data": "starts"}, "give `run` or `data`"),
        ("robustness.range", RANGE | {"values": [5, 6]}, "give one of `values`, `grid` and `range`"),
    )


def test_a_variation_of_an_overlay_without_its_setting_is_refused(configured):
    other = {"scale": "other", "changes": {"toy": {"robustness": {"other": {"run": "slow"}}}}}
    assert "robustness.other.setting: missing; add it" in refusal(configured, **other)


def test_a_setting_of_measuring_that_has_its_default_cannot_be_varied(refuses, configured):
    # a setting that no block has below `measure` would be laid over those of the simulation
    configured("runs.slow.measure", ...)
    entry = {"run": "slow", "setting": "every", "claims": ["geometric"]}
    words = "`every` of `slow` has its default; write it there below `measure`"
    refuses(
        ("robustness.range", entry | {"range": [2, 4]}, f"robustness.range.setting: {words}"),
        ("robustness.slow_steps", entry | {"values": [2]}, f"robustness.slow_steps.setting: {words}"),
        ("runs.slow.free", {"every": [1, 2]}, f"runs.slow.free.every: {words}"),
    )


def test_missing_provenance_is_refused(refuses, configured):
    without_steps = {kind: dict(block) for kind, block in configured().config.paper_block("toy")["provenance"].items()}
    del without_steps["growth.growth"]["steps"]
    refuses(
        ("provenance", without_steps, "steps: has no provenance; add it to this block"),
        (
            "provenance",
            {**without_steps, "growth.growth": {}},
            "provenance: {rate: stated, steps: stated, every: stated}",
        ),
        ("runs.fast.provenance", {}, "runs.fast.rate: has no provenance"),
        ("runs.scan", {"extends": "slow", "sweep": {"rate": [0.1, 0.2]}}, "runs.scan.rate: has no provenance"),
    )


def test_wrong_provenance_is_refused(refuses):
    own = "runs.slow.provenance"
    refuses(
        *((own, {"rate": reason}, f"{own}.rate") for reason in ("guessed", {"chosen": 3}, {}, ["stated"], None)),
        (own, {"rtae": "stated"}, f"{own}.rtae: no setting"),
        ("data.starts.provenance", {"smaples": "stated"}, "data.starts.provenance.smaples: no setting"),
        (
            "provenance",
            {"growth.grwth": {"rate": "stated"}},
            "provenance.growth.grwth: no kind of run, source",
        ),
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seeds": 300_000}, "seeds: must be 200 or less"),
        ({"seed": 7.0}, "seed: must be a whole number"),
        ({"scale": "s", "changes": {"toy": {"data": {"more": {}}}}}, "data.more.source: missing; add it"),
        ({"seeds_of": ["toi"]}, "seeds_of: no paper `toi`; did you mean `toy`?"),
        ({"changes": {"toy": {"runs": {"fast": {1: 2}}}}}, "runs.fast.1: a key must be text; quote it"),
        ({"replications": 3}, "--config: replications: unknown key"),
    ],
)
def test_wrong_values_of_the_command_line_are_refused(given, words, configured):
    assert words in refusal(configured, **given)


# -- commands --------------------------------------------------------------------------------------------------------

# beginnings of commands, about a run that is shipped
RUN = ("run", "spectral_bias", "small_scale")
SWEEP = ("sweep", "spectral_bias", "small_scale", "--vary")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder to work in, with a person's own files: a configuration, a text, a table, and a pipe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    for name in ("config.yaml", "text.txt"):
        (tmp_path / name).write_text("mine: 1\n")
    write_table("table.parquet", table(), COLUMNS, RECORD)
    os.mkfifo("pipe.yaml")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "spectral_bias", "smal_scale"], "no run `smal_scale`; did you mean `small_scale`?"),
        (["data", "spectral_bias", "regression"], "no data set `regression`; did you mean"),
        (["figure", "spectral_bias", "fig1"], "no figure `fig1`; did you mean `fig1b`?"),
        (["bundle", "spectral_bias", "small_scale"], "spectral_bias: no bundle `small_scale`"),
        ([*RUN, "--fingerprint", "x"], "have changed since"),
        ([*RUN, "--plan", "plan.jsonl"], "plan.jsonl: no such plan"),
        ([*RUN, "--plan", "text.txt"], "text.txt: has no job `run spectral_bias small_scale`"),
        (["run", "../x", "small_scale"], "no paper `../x`"),
        ([*SWEEP, "gamma=1:2:100000000"], "ask for at most 100000 values"),
        ([*SWEEP, "extends=slow,fast"], "the run has no setting `extends`"),
        ([*SWEEP, "seed=1,2"], "--set seeds=40 makes more draws"),
        ([*SWEEP, "gamma=1,2", "--out", "pipe.yaml"], "is no file that could be replaced"),
        (["verdicts"], "results/claims.parquet: no such file; run snakemake"),
        (["verdicts", "text.txt"], "text.txt: damaged, or not written by learning-dynamics"),
        (["verdicts", "table.parquet"], "has other columns than are looked for here"),
        (["check", "--configfile", "text.txt"], "text.txt"),
    ],
)
def test_a_command_that_is_refused_says_why_in_one_line_and_writes_nothing(arguments, words, elsewhere, capsys):
    before = sorted(elsewhere.rglob("*"))
    assert cli.main(arguments) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    assert words in message
    assert sorted(elsewhere.rglob("*")) == before
    assert (elsewhere / "config.yaml").read_text() == "mine: 1\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: command"),
        (["rnu"], "invalid choice"),
        (["run", "spectral_bias"], "required: name"),
        ([*RUN, "--minutes", "nan"], "must be a positive number"),
        ([*RUN, "--minutes", "1h"], "must be a positive number (is 1h)"),
        (["check", "more"], "unrecognized"),
    ],
)
def test_arguments_that_a_command_does_not_take_end_it_with_status_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
