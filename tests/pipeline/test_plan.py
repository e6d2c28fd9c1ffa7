"""`Plan` resolves the configuration of a made-up paper (toy/toy.yaml): blocks, sweeps, reasons and fingerprints.

The fixture `configured` changes that file and returns the plan; changes of one test add up.
"""

import pytest
import yaml

from learning_dynamics.pipeline.plan.reasons import what_changed
from learning_dynamics.pipeline.plan.setting_sources import provenance, unstated_settings
from tests.support import plan as plan_of_project


def test_a_setting_of_measuring_changes_the_metrics_of_a_run_and_not_the_run(configured):
    before, after = configured(), configured("runs.slow.measure.every", 2)
    assert after.run("toy", "slow") == before.run("toy", "slow")
    assert after.measure("toy", "slow")["settings"] == {"every": 2}
    assert after.fingerprint("run", "toy", "slow") == before.fingerprint("run", "toy", "slow")
    assert after.fingerprint("metrics", "toy", "slow") != before.fingerprint("metrics", "toy", "slow")


def test_a_run_is_measured_as_the_run_that_it_extends(configured):
    # `fast` extends `slow`, and has no block `measure`
    assert configured("runs.slow.measure.every", 2).measure("toy", "fast")["settings"] == {"every": 2}


def test_the_root_seed_is_a_setting_of_functions_that_draw_and_of_no_other(configured):
    other = configured(seed=7)
    assert other.data("toy", "starts")["settings"]["seed"] == 7
    assert other.run("toy", "descent")["settings"]["seed"] == 7
    assert "seed" not in other.run("toy", "slow")["settings"]
    # `slow` does not draw, but starts from a data set that is drawn
    assert other.fingerprint("run", "toy", "slow") != configured().fingerprint("run", "toy", "slow")


def test_another_seed_is_a_scale_of_its_own(configured):
    assert configured(seed=7).config.configuration.scale == "seed7"


def sweep_block(**values):
    """Return the block of a run that extends `slow` and sweeps some settings, with a reason for each."""
    return {"extends": "slow", "sweep": values, "provenance": {key: {"chosen": "a scan"} for key in values}}


def test_a_swept_run_is_one_role_of_many_runs(configured):
    configured("runs.scan", sweep_block(rate=[0.1, 0.2], steps=[3, 4]))
    plan = configured("figures.growth.runs", {"slow": "scan", "fast": "fast"})
    runs_of_scan = [
        "scan--rate-0.1--steps-3",
        "scan--rate-0.1--steps-4",
        "scan--rate-0.2--steps-3",
        "scan--rate-0.2--steps-4",
    ]
    assert plan.config.sweeps("toy") == {"scan": runs_of_scan}
    assert plan.run("toy", "scan--rate-0.2--steps-3")["settings"] == {"rate": 0.2, "steps": 3}
    assert plan.tables_for("figure", "toy", "growth") == [*runs_of_scan, "fast"]
    assert plan.drawing("figure", "toy", "growth")["runs"]["slow"]["sweep"] == {"rate": [0.1, 0.2], "steps": [3, 4]}


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_runs_that_differ_only_in_how_they_are_measured_share_a_trajectory(configured, rate):
    # `every` is a setting of measuring
    plan = configured("runs.scan", sweep_block(rate=[0.1, 0.2], every=[1, 2, 4]))
    same_rate = [f"scan--rate-{rate}--every-{every}" for every in (1, 2, 4)]
    assert {plan.measured_run("toy", run) for run in same_rate} == {f"scan--rate-{rate}--every-1"}
    assert len({plan.fingerprint("run", "toy", run) for run in same_rate}) == 1
    assert len({plan.fingerprint("metrics", "toy", run) for run in same_rate}) == len(same_rate)
    outputs = plan.output_fingerprints
    assert {f"toy/metrics/{run}.parquet" for run in same_rate} <= set(outputs)
    assert [name for name in outputs if name.startswith(f"toy/runs/scan--rate-{rate}")] == [
        f"toy/runs/scan--rate-{rate}--every-1.npz"
    ]


@pytest.mark.parametrize("run", ["slow", "slow--steps-20"])
def test_other_runs_are_measured_by_their_own_trajectory(configured, run):
    assert configured().measured_run("toy", run) == run


def test_the_reason_of_a_setting_is_that_of_its_kind_of_run_and_is_inherited(configured):
    config = configured().config
    assert provenance(config, "toy", "runs", "slow", "rate") == "stated"
    assert provenance(config, "toy", "runs", "fast", "steps") == {"chosen": "short"}  # as in `slow`, which it extends
    assert provenance(config, "toy", "data", "starts", "samples") == {"chosen": "a few"}


def test_unstated_settings_are_those_that_were_chosen(configured):
    rows = unstated_settings(configured().config, "toy")
    settings_of_slow = {row["setting"] for row in rows if (row["section"], row["name"]) == ("runs", "slow")}
    assert "steps" in settings_of_slow
    assert "rate" not in settings_of_slow


STEPS = 40  # of the run `slow`


def configure_sweep_and_child(configured, child, **bundle):
    """Return the plan with a sweep `scan` of two rates, and a run `also` that extends it by the keys of `child`."""
    reasons = {key: {"chosen": "a control"} for key in ("rate", "steps")}
    scan = sweep_block(rate=[0.1, 0.2]) | bundle
    return configured({"runs.scan": scan, "runs.also": {"extends": "scan", "provenance": reasons} | child})


@pytest.mark.parametrize(
    ("child", "runs", "steps"),
    [
        pytest.param({"steps": 7}, ["also--rate-0.1", "also--rate-0.2"], 7, id="another setting: it is the same sweep"),
        pytest.param({"rate": 0.3}, ["also"], STEPS, id="the swept setting: it is one run"),
        pytest.param({"sweep": {"rate": [0.3]}}, ["also--rate-0.3"], STEPS, id="a sweep: it has its own values"),
    ],
)
def test_a_run_that_extends_a_sweep_sweeps_the_settings_that_it_leaves_alone(configured, child, runs, steps):
    plan = configure_sweep_and_child(configured, child)
    assert [run for run, _ in plan.config.runs_of("toy", "also")] == runs
    assert {plan.run("toy", run)["settings"]["steps"] for run in runs} == {steps}
    assert {f"toy/metrics/{run}.parquet" for run in runs} <= plan.output_fingerprints.keys()


@pytest.mark.parametrize(
    ("child", "bundled"),
    [
        pytest.param({"steps": 7}, {"scan", "also"}, id="two runs"),
        pytest.param({"rate": 0.3}, {"scan"}, id="one run"),
        pytest.param({"sweep": {"rate": [0.3]}}, {"scan"}, id="a sweep of one run"),
    ],
)
def test_several_runs_that_extend_a_bundled_sweep_are_bundled(configured, child, bundled):
    plan = configure_sweep_and_child(configured, child, bundle=2)
    # a bundle is named after its run, as `scan@...`
    assert {bundle.partition("@")[0] for bundle in plan.config.bundles["toy"]} == bundled


def at_another_scale(configured, folder, changes):
    """Return the plan under an overlay that names the scale `small` and changes the made-up paper."""
    (folder / "changes").mkdir()
    (folder / "changes/toy.yaml").write_text(yaml.safe_dump(changes))
    (folder / "small.yaml").write_text(f"scale: small\noverlays: [{folder}/changes]\n")
    return configured(files=[folder / "small.yaml"])


def test_a_setting_that_an_overlay_changes_has_the_reason_of_the_overlay_or_none(configured, tmp_path):
    changes = {
        "provenance": {"growth.growth": {"steps": {"stated": "table 2"}}},
        "runs": {
            "slow": {"steps": 10, "rate": 0.03},
            "fast": {"rate": 0.5, "provenance": {"rate": {"chosen": "faster"}}},
            "long": {"extends": "slow", "steps": 12},
            "longer": {"extends": "long", "steps": 14},
        },
    }
    configured("runs.other", {"extends": "slow", "steps": 30})
    config = at_another_scale(configured, tmp_path, changes).config

    def reasons(setting, *runs):
        return {run: provenance(config, "toy", "runs", run, setting) for run in runs}

    by_overlay, unchanged = {"stated": "table 2"}, {"chosen": "short"}
    assert reasons("steps", "slow", "other", "long", "longer") == {
        "slow": by_overlay,
        "other": unchanged,  # the overlay does not change its steps
        "long": by_overlay,
        "longer": by_overlay,
    }
    no_reason = {"chosen": f"changed by {tmp_path}/changes/toy.yaml, no reason given"}
    assert reasons("rate", "slow", "fast") == {"slow": no_reason, "fast": {"chosen": "faster"}}


def test_a_reason_in_the_block_of_a_run_is_of_the_value_there_and_not_of_that_of_an_overlay(configured, tmp_path):
    by_block = {"chosen": "as the block says"}
    own_reason = {"extends": "slow", "rate": 0.2, "provenance": {"rate": by_block}}
    configured("runs.changed", own_reason)
    configured("runs.kept", own_reason)
    config = at_another_scale(configured, tmp_path, {"runs": {"changed": {"rate": 0.3}}}).config
    assert provenance(config, "toy", "runs", "kept", "rate") == by_block
    no_reason = {"chosen": f"changed by {tmp_path}/changes/toy.yaml, no reason given"}
    assert provenance(config, "toy", "runs", "changed", "rate") == no_reason


def test_an_overlay_may_give_the_reason_of_a_value_that_it_does_not_change(configured, tmp_path):
    configured("runs.other", {"extends": "slow", "steps": 30})
    by_overlay = {"chosen": "explained later"}
    changes = {"runs": {"other": {"provenance": {"steps": by_overlay}}}}
    config = at_another_scale(configured, tmp_path, changes).config
    assert provenance(config, "toy", "runs", "other", "steps") == by_overlay


def test_a_scale_expects_only_the_verdicts_that_its_overlay_gives(configured, tmp_path):
    assert configured().claim("toy", "geometric")["expected"] == "reproduced"
    small = at_another_scale(configured, tmp_path, {"claims": {"decay": {"expected": "corrected"}}})
    assert small.claim("toy", "decay")["expected"] == "corrected"
    assert small.claim("toy", "geometric")["expected"] == ""


STARTS_AND_WHAT_IS_MADE_FROM_THEM = [("data", "starts"), ("run", "fast"), ("metrics", "fast"), ("figure", "growth")]
MADE_WITHOUT_STARTS = [("run", "descent"), ("metrics", "descent"), ("figure", "decay")]


def test_a_change_of_data_changes_the_fingerprints_of_what_is_made_from_them_alone(configured):
    before = configured()
    after = configured("data.starts.samples", 4)
    for stage, name in STARTS_AND_WHAT_IS_MADE_FROM_THEM:
        assert after.fingerprint(stage, "toy", name) != before.fingerprint(stage, "toy", name), stage
    for stage, name in MADE_WITHOUT_STARTS:
        assert after.fingerprint(stage, "toy", name) == before.fingerprint(stage, "toy", name), stage


def test_every_output_below_results_has_a_fingerprint(configured):
    # `slow--steps-20` is a run of `robustness:`
    assert set(configured().output_fingerprints) == {
        *(f"toy/{table}.parquet" for table in ("claims", "checks", "variations")),
        "toy/data/starts.npz",
        *(f"toy/runs/{name}.npz" for name in ("descent", "slow", "fast", "slow--steps-20")),
        *(f"toy/metrics/{name}.parquet" for name in ("descent", "slow", "fast", "slow--steps-20")),
    }


def test_numbers_that_the_command_line_gives_as_text_are_numbers(configured):
    # as Snakemake gives `--config 'changes={toy: {runs: {slow: {rate: 1e-3, steps: 7}}}}'`
    changes = {"toy": {"runs": {"slow": {"rate": "1e-3", "steps": "7"}}, "title": "No: 1"}}
    plan = configured(scale="other", changes=changes)
    assert plan.run("toy", "slow")["settings"] == {"rate": 1e-3, "steps": 7}
    assert plan.config.paper_block("toy")["title"] == "No: 1"  # text stays text, though YAML reads a mapping in it


def record_of(plan, stage, paper, name, **changed):
    """Return the record of what a plan's job made, with entries of its spec changed."""
    job = plan.job(stage, paper, name)
    science = dict(plan.science(stage, paper, name))
    made_of = {"spec": {**job.spec, **changed}, "science": science, "made_from": job.made_from}
    return {"stage": stage, "paper": paper, "name": name, "made_of": made_of}


def test_of_many_changed_modules_the_first_are_named_and_the_others_counted(configured):
    plan = configured()
    record = record_of(plan, "metrics", "toy", "slow")
    # modules that the table was made with and that the plan has no more
    record["made_of"]["science"] |= {f"papers.toy.{letter}": "a digest" for letter in "abcdef"}
    assert what_changed(record, plan) == "code: papers.toy.a, papers.toy.b, papers.toy.c, papers.toy.d, 2 more"


def test_a_change_is_named_by_its_key_of_the_configuration(configured):
    before = configured("runs.scan", sweep_block(rate=[0.1, 0.2]) | {"bundle": 2})
    (bundle,) = before.config.bundles["toy"]
    records = {
        "run": record_of(before, "run", "toy", "slow", function="growth.shrinking"),
        "metrics": record_of(before, "metrics", "toy", "slow", function="growth.shrinking"),
        "bundle": record_of(before, "bundle", "toy", bundle),
    }
    after = configured({"runs.slow.measure.every": 2, "runs.slow.steps": 30})
    function = 'runs.slow.function: "growth.shrinking" -> "growth.growth"'
    assert {stage: what_changed(record, after) for stage, record in records.items()} == {
        "run": f"{function}; runs.slow.steps: 40 -> 30",
        "metrics": f"{function}; runs.slow.measure.every: 1 -> 2",
        "bundle": "runs.scan.steps: 40 -> 30; runs.scan.measure.every: 1 -> 2",
    }


def test_an_interactive_figure_is_named_in_its_own_section():
    shipped = plan_of_project(papers=["spectral_bias"])
    record = record_of(shipped, "interactive", "spectral_bias", "scale_of_the_jump", function="jump.leap")
    assert what_changed(record, shipped) == 'interactive.scale_of_the_jump.function: "jump.leap" -> "jump.jump"'


# the first two are keys of other blocks as well
@pytest.mark.parametrize("entry", ["settings", "runs", "slow_steps"])
def test_an_entry_of_robustness_is_named_whatever_its_name(entry, configured):
    robustness = {"run": "slow", "setting": "steps", "values": [20], "claims": ["geometric"]}
    before = configured("robustness", {entry: robustness})
    record = record_of(before, "claims", "toy", "claims")
    after = configured(f"robustness.{entry}.values", [20, 30])
    assert what_changed(record, after).split("; ") == [
        f"robustness.{entry}.values: [20] -> [20, 30]",
        "metrics of slow--steps-30 are read",
    ]


def test_a_changed_run_that_many_claims_read_is_named_once(configured):
    block = configured().config.blocks("toy", "claims")["geometric"]
    before = configured({f"claims.geometric_{number}": block for number in range(5)})
    record = record_of(before, "claims", "toy", "claims")
    assert what_changed(record, configured("runs.fast.rate", 0.03)) == "metrics of fast changed"
