"""The configuration resolved: roles, measuring, inheritance, sweeps, provenance, scales, fingerprints."""

import pytest
import yaml

from learning_dynamics.pipeline.plan.reasons import what_changed
from learning_dynamics.pipeline.plan.setting_sources import provenance, unstated_settings
from tests.support import plan


def test_what_is_measured_is_no_setting_of_the_run(configured):
    before, after = configured(), configured("runs.slow.measure.every", 2)
    assert after.run("toy", "slow") == before.run("toy", "slow")
    assert after.measure("toy", "slow")["settings"] == {"every": 2}
    assert after.fingerprint("run", "toy", "slow") == before.fingerprint("run", "toy", "slow")
    assert after.fingerprint("metrics", "toy", "slow") != before.fingerprint("metrics", "toy", "slow")
    # a child measures as its parent, unless it says otherwise
    assert after.measure("toy", "fast")["settings"] == {"every": 2}


def test_the_root_seed_reaches_what_draws_and_nothing_else(configured):
    other = configured(seed=7)
    assert other.data("toy", "starts")["settings"]["seed"] == 7
    assert other.run("toy", "descent")["settings"]["seed"] == 7
    assert "seed" not in other.run("toy", "slow")["settings"]
    assert other.config.configuration.scale == "seed7"
    # what does not draw itself is made from data that do
    assert other.fingerprint("run", "toy", "slow") != configured().fingerprint("run", "toy", "slow")


def sweep_block(**values):
    return {"extends": "slow", "sweep": values, "provenance": {key: {"chosen": "a scan"} for key in values}}


def test_a_swept_run_is_one_role_of_many_runs(configured):
    configured("runs.scan", sweep_block(rate=[0.1, 0.2], steps=[3, 4]))
    found = configured("figures.growth.runs", {"slow": "scan", "fast": "fast"})
    assert found.tables_for("figure", "toy", "growth") == [
        *(f"scan--rate-{rate}--steps-{steps}" for rate in (0.1, 0.2) for steps in (3, 4)),
        "fast",
    ]
    assert found.run("toy", "scan--rate-0.2--steps-3")["settings"] == {"rate": 0.2, "steps": 3}
    assert found.config.sweeps("toy") == {"scan": found.tables_for("figure", "toy", "growth")[:4]}
    assert found.drawing("figure", "toy", "growth")["runs"]["slow"]["sweep"] == {"rate": [0.1, 0.2], "steps": [3, 4]}


def test_runs_that_differ_in_measuring_alone_share_a_trajectory(configured):
    found = configured("runs.scan", sweep_block(rate=[0.1, 0.2], every=[1, 2, 4]))
    of = {name: found.measured_run("toy", name) for name in found.config.runs["toy"]}
    assert of["slow"] == "slow"
    assert of["slow--steps-20"] == "slow--steps-20"
    for rate in (0.1, 0.2):
        shared = {f"scan--rate-{rate}--every-{every}" for every in (1, 2, 4)}
        assert {of[name] for name in shared} == {f"scan--rate-{rate}--every-1"}, rate
        assert len({found.fingerprint("run", "toy", name) for name in shared}) == 1, rate
        assert len({found.fingerprint("metrics", "toy", name) for name in shared}) == 3, rate
        assert {f"toy/metrics/{name}.parquet" for name in shared} <= set(found.output_fingerprints), rate
    assert sum(name.startswith("toy/runs/scan") for name in found.output_fingerprints) == 2


def test_a_reason_belongs_to_kind_and_setting_and_is_inherited(configured):
    found = configured().config
    assert provenance(found, "toy", "runs", "slow", "rate") == "stated"
    assert provenance(found, "toy", "runs", "fast", "steps") == {"chosen": "short"}
    assert provenance(found, "toy", "data", "starts", "samples") == {"chosen": "a few"}
    rows = {(row["section"], row["name"], row["setting"]) for row in unstated_settings(found, "toy")}
    assert ("runs", "slow", "steps") in rows
    assert ("runs", "slow", "rate") not in rows


@pytest.mark.parametrize(
    ("own", "runs"),
    [
        ({"steps": 7}, ["also--rate-0.1", "also--rate-0.2"]),
        ({"rate": 0.3}, ["also"]),
        ({"sweep": {"rate": [0.3]}}, ["also--rate-0.3"]),
    ],
)
def test_a_run_that_is_like_a_sweep_is_one_less_what_it_sets(configured, own, runs):
    reasons = {key: {"chosen": "a control"} for key in ("rate", "steps")}
    scan = {"extends": "slow", "sweep": {"rate": [0.1, 0.2]}, "provenance": {"rate": {"chosen": "a scan"}}}
    configured("runs.scan", scan | {"bundle": 2})
    also = {"extends": "scan", "provenance": reasons} | own
    # its runs travel together as those of the sweep do
    bundles = configured("runs.also", also).config.bundles["toy"]
    assert {name.partition("@")[0] for name in bundles} == {"scan"} | ({"also"} if own == {"steps": 7} else set())
    found = configured("runs.scan", scan)
    assert [run for run, _ in found.config.runs_of("toy", "also")] == runs
    assert {found.run("toy", run)["settings"]["steps"] for run in runs} == {own.get("steps", 40)}
    assert {f"toy/metrics/{run}.parquet" for run in runs} <= found.output_fingerprints.keys()


def test_what_an_overlay_changes_has_the_reasons_and_expectations_that_it_gives_or_none(configured, tmp_path):
    changes = {
        "provenance": {"growth.growth": {"steps": {"stated": "table 2"}}},
        "runs": {
            "slow": {"steps": 10, "rate": 0.03},
            "fast": {"rate": 0.5, "provenance": {"rate": {"chosen": "faster"}}},
            "long": {"extends": "slow", "steps": 12},
            "longer": {"extends": "long", "steps": 14},
        },
        "claims": {"decay": {"expected": "corrected"}},
    }
    configured("runs.other", {"extends": "slow", "steps": 30})
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/toy.yaml").write_text(yaml.safe_dump(changes))
    (tmp_path / "small.yaml").write_text(f"scale: small\noverlays: [{tmp_path}/changes]\n")
    found = configured(files=[tmp_path / "small.yaml"])

    def reasons(setting, *runs):
        return [provenance(found.config, "toy", "runs", run, setting) for run in runs]

    of_kind, unchanged = {"stated": "table 2"}, {"chosen": "short"}
    assert reasons("steps", "slow", "other", "long", "longer") == [of_kind, unchanged, of_kind, of_kind]
    none = {"chosen": f"changed by {tmp_path}/changes/toy.yaml, no reason given"}
    assert reasons("rate", "slow", "fast") == [none, {"chosen": "faster"}]
    # expected verdicts belong to a scale
    assert [found.claim("toy", name)["expected"] for name in ("decay", "geometric")] == ["corrected", ""]
    assert configured().claim("toy", "geometric")["expected"] == "reproduced"


def test_what_is_made_from_what_shows_in_fingerprints(configured):
    before = configured()
    after = configured("data.starts.samples", 4)
    made = {"data": "starts", "run": "fast", "metrics": "fast", "figure": "growth"}
    for stage, name in made.items():
        assert after.fingerprint(stage, "toy", name) != before.fingerprint(stage, "toy", name), stage
    for stage, name in (("run", "descent"), ("metrics", "descent"), ("figure", "decay")):
        assert after.fingerprint(stage, "toy", name) == before.fingerprint(stage, "toy", name), stage
    assert set(before.output_fingerprints) == {
        *(f"toy/{table}.parquet" for table in ("claims", "checks", "variations")),
        "toy/data/starts.npz",
        *(f"toy/runs/{name}.npz" for name in ("descent", "slow", "fast", "slow--steps-20")),
        *(f"toy/metrics/{name}.parquet" for name in ("descent", "slow", "fast", "slow--steps-20")),
    }


def test_numbers_inside_a_mapping_of_the_command_line_are_numbers(configured):
    # as Snakemake gives `--config 'changes={toy: {runs: {slow: {rate: 1e-3, steps: 7}}}}'`
    changes = {"toy": {"runs": {"slow": {"rate": "1e-3", "steps": "7"}}, "title": "No: 1"}}
    plan = configured(scale="other", changes=changes)
    assert plan.run("toy", "slow")["settings"] == {"rate": 1e-3, "steps": 7}
    assert plan.config.paper_block("toy")["title"] == "No: 1"


def record_of(plan, stage, paper, name, **changed):
    """Return the record of what a plan's job made, with entries of its spec changed."""
    job = plan.job(stage, paper, name)
    science = dict(plan.science(stage, paper, name))
    made_of = {"spec": {**job.spec, **changed}, "science": science, "made_from": job.made_from}
    return {"stage": stage, "paper": paper, "name": name, "made_of": made_of}


def test_of_many_changed_modules_the_first_are_named_and_the_others_counted(configured):
    plan = configured()
    record = record_of(plan, "metrics", "toy", "slow")
    record["made_of"]["science"] |= {f"papers.toy.module_{letter}": "digest" for letter in "abcdef"}
    first = ", ".join(f"papers.toy.module_{letter}" for letter in "abcd")
    assert what_changed(record, plan) == f"code: {first}, 2 more"


def test_a_change_is_named_by_its_key_of_the_configuration(configured):
    scan = {"runs.scan": sweep_block(rate=[0.1, 0.2]) | {"bundle": 2}}
    before = configured(scan)
    other = "growth.shrinking"
    records = {stage: record_of(before, stage, "toy", "slow", function=other) for stage in ("run", "metrics")}
    (bundle,) = before.config.bundles["toy"]
    records["bundle"] = record_of(before, "bundle", "toy", bundle)
    after = configured({"runs.slow.measure.every": 2, "runs.slow.steps": 30})
    function = 'runs.slow.function: "growth.shrinking" -> "growth.growth"'
    assert {stage: what_changed(record, after) for stage, record in records.items()} == {
        "run": f"{function}; runs.slow.steps: 40 -> 30",
        "metrics": f"{function}; runs.slow.measure.every: 1 -> 2",
        "bundle": "runs.scan.steps: 40 -> 30; runs.scan.measure.every: 1 -> 2",
    }


def test_an_interactive_figure_is_named_in_its_own_section():
    shipped = plan(papers=["spectral_bias"])
    record = record_of(shipped, "interactive", "spectral_bias", "scale_of_the_jump", function="jump.leap")
    assert what_changed(record, shipped) == 'interactive.scale_of_the_jump.function: "jump.leap" -> "jump.jump"'


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


def test_a_run_that_many_claims_read_is_named_once(configured):
    block = configured().config.blocks("toy", "claims")["geometric"]
    before = configured({f"claims.geometric_{number}": block for number in range(5)})
    record = record_of(before, "claims", "toy", "claims")
    assert what_changed(record, configured("runs.fast.rate", 0.03)) == "metrics of fast changed"
