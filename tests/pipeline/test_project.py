"""The configuration resolved: roles, measuring, inheritance, sweeps, provenance, scales, fingerprints."""

import pytest
import yaml

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study.reasons import provenance, unstated_settings
from learning_dynamics.pipeline.study.sweeps import sweep_members


def refused(configured, path, value):
    with pytest.raises(ProjectError) as error:
        configured(path, value)
    assert "\n" not in str(error.value)
    return str(error.value)


# -- roles -----------------------------------------------------------------------------------------------------------


def test_roles_are_given_by_name_with_fingerprints(configured):
    roles = configured().claim("toy", "geometric")["runs"]
    assert {role: spec["name"] for role, spec in roles.items()} == {"slow": "slow", "fast": "fast"}
    assert roles["slow"]["fingerprint"] == configured().fingerprint("metrics", "toy", "slow")


def test_the_order_in_which_roles_stand_does_not_matter(configured):
    before = configured().claims("toy")["claims"]["geometric"]
    after = configured("claims.geometric.runs", {"fast": "fast", "slow": "slow"}).claims("toy")["claims"]["geometric"]
    assert after == before


@pytest.mark.parametrize("section", ["figures.growth", "claims.geometric"])
@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"slow": "slow"}, "runs.fast: missing; name the run that is the fast of"),
        ({"slow": "slow", "fast": "fast", "fats": "fast"}, "runs.fats: `"),
        ({"slow": "slow", "fats": "fast"}, "has no such role; did you mean `fast`"),
        ({"slow": "slow", "fast": "fats"}, "runs.fast: no run `fats`; did you mean `fast`"),
        ({"slow": ["slow"], "fast": "fast"}, "runs.slow: must be one run"),
        ({"slow": "slow", "fast": []}, "runs.fast"),
        ({}, "runs.slow: missing"),
        (["slow", "fast"], "runs: must be a mapping"),
        ({"slow": "slow", "fast": 3}, "runs.fast: must be a list"),
    ],
)
def test_missing_misspelt_and_swapped_roles_are_refused(configured, section, runs, message):
    found = refused(configured, f"{section}.runs", runs)
    assert f"workflow/config/toy.yaml: {section}.runs" in found
    assert message in found


def test_a_figure_that_shows_none_of_the_claims_runs_is_refused(configured):
    found = refused(configured, "claims.geometric.figure", "decay")
    assert "claims.geometric.figure: `decay` shows none of the claim's runs" in found


# -- settings of running and of measuring ------------------------------------------------------------------------------


def test_what_is_measured_is_no_setting_of_the_run(configured):
    before, after = configured(), configured("runs.slow.measure.every", 2)
    assert after.run("toy", "slow") == before.run("toy", "slow")
    assert after.measure("toy", "slow")["settings"] == {"every": 2}
    assert after.fingerprint("run", "toy", "slow") == before.fingerprint("run", "toy", "slow")
    assert after.fingerprint("metrics", "toy", "slow") != before.fingerprint("metrics", "toy", "slow")
    # a child measures as its parent, unless it says otherwise
    assert after.measure("toy", "fast")["settings"] == {"every": 2}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("runs.slow.every", 2, "runs.slow.every: unknown setting of `growth`"),
        ("runs.slow.measure", {"rate": 1.0}, "runs.slow.measure.rate: unknown setting of `growth`"),
        ("runs.slow.measure.every", 0, "runs.slow.measure.every: must be 1 or more (is 0)"),
        ("runs.slow.rate", -1.0, "runs.slow.rate: must be above 0.0 (is -1.0)"),
        ("runs.slow.data", ..., "runs.slow.data: kind `growth.growth` does not agree; add `data:`"),
        ("runs.descent.data", "starts", "runs.descent.data: kind `decay.descent` does not agree; remove `data:`"),
        ("runs.slow.kind", ..., "runs.slow.kind: missing; name a function"),
    ],
)
def test_a_faulty_key_is_named_with_the_run_that_has_it(configured, path, value, message):
    assert message in refused(configured, path, value)


def test_a_child_inherits_and_an_error_of_its_own_is_its_own(configured):
    assert configured().run("toy", "fast")["settings"] == {"rate": 0.02, "steps": 40}
    assert "toy.yaml: runs.fast.steps: must be 1 or more" in refused(configured, "runs.fast.steps", 0)


def test_the_root_seed_reaches_what_draws_and_nothing_else(configured):
    other = configured(seed=7)
    assert other.data("toy", "starts")["settings"]["seed"] == 7
    assert other.run("toy", "descent")["settings"]["seed"] == 7
    assert "seed" not in other.run("toy", "slow")["settings"]
    assert other.study.configuration.scale == "seed7"
    # what does not draw itself is made from data that do
    assert other.fingerprint("run", "toy", "slow") != configured().fingerprint("run", "toy", "slow")


# -- sweeps ------------------------------------------------------------------------------------------------------------


def test_a_sweep_is_the_product_of_its_values():
    members = sweep_members("flow", {"width": [20, 40], "gamma": [1.0, 0.5]})
    assert [name for name, _ in members] == [
        "flow--width-20--gamma-1.0",
        "flow--width-20--gamma-0.5",
        "flow--width-40--gamma-1.0",
        "flow--width-40--gamma-0.5",
    ]
    assert members[1][1] == {"width": 20, "gamma": 0.5}


def swept(**values):
    return {"like": "slow", "sweep": values, "provenance": {key: {"chosen": "a scan"} for key in values}}


def test_a_swept_run_is_one_role_of_many_members(configured):
    configured("runs.scan", swept(rate=[0.1, 0.2], steps=[3, 4]))
    found = configured("figures.growth.runs", {"slow": "scan", "fast": "fast"})
    assert found.tables_for("figure", "toy", "growth") == [
        *(f"scan--rate-{rate}--steps-{steps}" for rate in (0.1, 0.2) for steps in (3, 4)),
        "fast",
    ]
    assert found.run("toy", "scan--rate-0.2--steps-3")["settings"] == {"rate": 0.2, "steps": 3}
    assert found.study.sweeps("toy") == {"scan": found.tables_for("figure", "toy", "growth")[:4]}
    assert found.drawing("figure", "toy", "growth")["runs"]["slow"]["sweep"] == {"rate": [0.1, 0.2], "steps": [3, 4]}


def test_a_sweep_of_measuring_runs_are_the_same_but_measured_otherwise(configured):
    found = configured("runs.scan", swept(every=[1, 2]))
    assert found.measure("toy", "scan--every-2")["settings"] == {"every": 2}
    assert found.run("toy", "scan--every-2") == found.run("toy", "slow")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": [0.1, -1.0]}, "scan.rate: must be above 0"),
        ({"rate": []}, "sweep.rate"),
        ({}, "sweep"),
        ({"rate": [0.1, 0.1]}, "sweep.rate"),
        ({"rtae": [0.1]}, "scan.rtae: unknown setting of `growth`; did you mean `rate`"),
        ({"rate": 0.1}, "sweep.rate: must be a list"),
        ({"rate": [[0.1]]}, "scan"),
        ({"rate": ["a b"]}, "scan"),
        ({"rate": ["../x"]}, "scan"),
        ({"rate": [{"a": 1}]}, "scan"),
        ({"rate": [None]}, "runs.scan.rate: must be a number"),
        ({"rate": [1.0e-3], "steps": list(range(1, 2000)), "every": list(range(1, 2000))}, "runs; sweep fewer values"),
    ],
)
def test_a_sweep_that_cannot_be_run_is_refused(configured, values, message):
    assert message in refused(configured, "runs.scan", swept(**values))


def test_an_overlay_with_a_sweep_beside_the_runs_replaces_nothing(configured, tmp_path):
    overlay = tmp_path / "scan.yaml"
    overlay.write_text(yaml.safe_dump({"changes": {"toy": {"runs": {"scan": swept(rate=[0.1])}}}}))
    found = configured(files=[overlay])
    assert found.study.configuration.scale is None
    assert found.fingerprint("metrics", "toy", "slow") == configured().fingerprint("metrics", "toy", "slow")


def test_members_that_differ_in_measuring_alone_share_a_trajectory(configured):
    found = configured("runs.scan", swept(rate=[0.1, 0.2], every=[1, 2, 4]))
    of = {name: found.trajectory("toy", name) for name in found.study.runs["toy"]}
    assert of["slow"] == "slow"
    assert of["slow--steps-20"] == "slow--steps-20"
    for rate in (0.1, 0.2):
        shared = {f"scan--rate-{rate}--every-{every}" for every in (1, 2, 4)}
        assert {of[name] for name in shared} == {f"scan--rate-{rate}--every-1"}
        assert len({found.fingerprint("run", "toy", name) for name in shared}) == 1
        assert len({found.fingerprint("metrics", "toy", name) for name in shared}) == 3
        assert {f"toy/metrics/{name}.parquet" for name in shared} <= set(found.outputs)
    assert sum(name.startswith("toy/runs/scan") for name in found.outputs) == 2


def test_a_sweep_over_what_is_measured_takes_the_trajectory_of_the_run_that_it_is_like(configured):
    found = configured("runs.scan", swept(every=[2, 4]))
    assert {found.trajectory("toy", f"scan--every-{every}") for every in (2, 4)} == {"slow"}
    assert not any(name.startswith("toy/runs/scan") for name in found.outputs)


def test_what_a_robustness_entry_measures_otherwise_is_not_run_again(configured):
    entry = {"run": "slow", "setting": "every", "values": [2], "claims": ["geometric"]}
    found = configured("robustness", {"coarser": entry})
    assert found.trajectory("toy", "slow--every-2") == "slow"


# -- robustness --------------------------------------------------------------------------------------------------------


def test_a_robustness_entry_has_members_that_claims_need(configured):
    found = configured()
    (check,) = found.claims("toy")["robustness"].values()
    assert [member["name"] for member in check["members"]] == ["slow--steps-20"]
    assert "slow--steps-20" in found.tables_for("claims", "toy")
    assert "slow--steps-20" not in found.tables_for("figure", "toy", "growth")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("run", "slwo", "robustness.slow_steps.run: no run `slwo`; did you mean `slow`"),
        ("run", "descent", "claim `geometric` does not use run `descent`"),
        ("setting", "stpes", "robustness.slow_steps.setting: no setting of `slow`; did you mean `steps`"),
        ("values", [0], "robustness.slow_steps.setting: must be 1 or more"),
        ("values", [], "robustness.slow_steps.values"),
        ("values", [40], "robustness.slow_steps.values: 40 is the run's own; give others"),
        ("claims", ["geometry"], "robustness.slow_steps.claims: no claim `geometry`"),
    ],
)
def test_a_robustness_entry_that_means_nothing_is_refused(configured, key, value, message):
    assert message in refused(configured, f"robustness.slow_steps.{key}", value)


def test_a_robustness_entry_that_an_overlay_leaves_incomplete_is_refused(configured):
    with pytest.raises(ProjectError, match=r"robustness\.other\.setting: missing; add it"):
        configured(scale="other", changes={"toy": {"robustness": {"other": {"run": "slow"}}}})


# -- variants ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "claims.geometric.vary",
            {"rouding": [1.0]},
            "vary.rouding: no setting of this claim; did you mean `rounding`",
        ),
        ("claims.geometric.vary", {"rounding": [-1.0]}, "vary.rounding: must be above 0"),
        ("claims.geometric.vary", {"rounding": []}, "vary.rounding"),
        ("claims.geometric.rounding", ..., "claims.geometric.rounding: missing; add it"),
        ("claims.geometric.expected", "fine", "claims.geometric.expected: must match"),
        ("claims.geometric.kind", "growth.geometry", "claims.geometric.kind: no function `geometry`"),
        ("claims.geometric.kind", "growth.np", "claims.geometric.kind: no function `np`"),
        ("claims.geometric.kind", "grwth.geometric", "claims.geometric.kind: `grwth.geometric`"),
        ("claims.geometric.figure", "grwth", "claims.geometric.figure: no figure `grwth`; did you mean `growth`"),
        ("runs.slow.mesure", {"every": 1}, "toy.yaml: runs.slow.mesure: unknown key; did you mean `measure`?"),
        ("figures.growth.member", 99, "figures.growth.member: unknown setting of `growth`"),
        ("data.starts.source", "strats.normal", "data.starts.source: `strats.normal`: no module `strats`"),
        ("data.starts.source", "starts.norml", "no function `norml`"),
        ("data.starts.samples", 1.5, "data.starts.samples: must be a whole number"),
        ("runs.slow.data", "strats", "runs.slow.data: no data set `strats`; did you mean `starts`"),
        ("runs.fast.like", "slwo", "runs.fast.like: no run `slwo`; did you mean `slow`"),
        ("runs.fast.like", "fast", "runs.fast.like: refers back to itself"),
        ("runs.slow.like", "fast", "refers back to itself"),
    ],
)
def test_names_and_settings_are_held_against_functions(configured, path, value, message):
    assert message in refused(configured, path, value)


# -- provenance --------------------------------------------------------------------------------------------------------


def test_a_reason_belongs_to_kind_and_setting_and_is_inherited(configured):
    found = configured().study
    assert provenance(found, "toy", "runs", "slow", "rate") == "stated"
    assert provenance(found, "toy", "runs", "fast", "steps") == {"chosen": "short"}
    assert provenance(found, "toy", "data", "starts", "samples") == {"chosen": "a few"}
    rows = {(row["section"], row["name"], row["setting"]) for row in unstated_settings(found, "toy")}
    assert ("runs", "slow", "steps") in rows
    assert ("runs", "slow", "rate") not in rows


@pytest.mark.parametrize("path", ["provenance.growth.growth.steps", "provenance.starts.normal.samples"])
def test_a_setting_without_provenance_is_refused(configured, sources_of_toy, path):
    _, module, function, key = path.split(".")
    config = yaml.safe_load((sources_of_toy / "workflow/config/toy.yaml").read_text())
    block = config["provenance"][f"{module}.{function}"]
    del block[key]
    found = refused(configured, "provenance", config["provenance"])
    assert f".{key}: has no provenance; add it to this block" in found


def test_what_a_paper_states_is_not_said_of_a_value_that_a_child_sets(configured):
    found = refused(configured, "runs.fast.provenance", {})
    assert "runs.fast.rate: has no provenance" in found


@pytest.mark.parametrize(
    ("own", "members"),
    [
        ({"steps": 7}, ["also--rate-0.1", "also--rate-0.2"]),
        ({"rate": 0.3}, ["also"]),
        ({"sweep": {"rate": [0.3]}}, ["also--rate-0.3"]),
    ],
)
def test_a_run_that_is_like_a_sweep_is_one_less_what_it_sets(configured, own, members):
    reasons = {key: {"chosen": "a control"} for key in ("rate", "steps")}
    scan = {"like": "slow", "sweep": {"rate": [0.1, 0.2]}, "provenance": {"rate": {"chosen": "a scan"}}}
    configured("runs.scan", scan)
    found = configured("runs.also", {"like": "scan", "provenance": reasons} | own)
    assert [member for member, _ in found.study.members("toy", "also")] == members
    assert {found.run("toy", member)["settings"]["steps"] for member in members} == {own.get("steps", 40)}
    assert not found.study.bundles["toy"]
    assert "bundle" not in found.study.resolved("toy", "runs", "also")
    assert {f"toy/metrics/{member}.parquet" for member in members} <= found.outputs.keys()
    # whose members travel together as those of the sweep do
    configured("runs.scan", scan | {"bundle": 2})
    bundles = configured("runs.also", {"like": "scan", "provenance": reasons} | own).study.bundles["toy"]
    assert set(bundles) == {"scan@0001"} | ({"also@0001"} if own == {"steps": 7} else set())


def test_what_is_stated_of_one_value_is_not_said_of_a_sweep(configured):
    found = refused(configured, "runs.scan", {"like": "slow", "sweep": {"rate": [0.1, 0.2]}})
    assert "runs.scan.rate: has no provenance" in found
    assert "`stated` and `code` do not apply to a value that a run overrides or sweeps" in found


@pytest.mark.parametrize("reason", ["guessed", {"guessed": "why"}, {"chosen": 3}, {}, "chosen", ["stated"], None])
def test_a_provenance_that_is_none_is_refused(configured, reason):
    assert "runs.slow.provenance.rate" in refused(configured, "runs.slow.provenance", {"rate": reason})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("runs.slow.provenance", {"rtae": "stated"}, "runs.slow.provenance.rtae: no setting"),
        ("data.starts.provenance", {"smaples": "stated"}, "data.starts.provenance.smaples: no setting"),
        (
            "provenance",
            {"growth.grwth": {"rate": "stated"}},
            "provenance.growth.grwth: no kind of run or source",
        ),
    ],
)
def test_a_reason_for_nothing_is_refused(configured, path, value, message):
    assert message in refused(configured, path, value)


def overlay_of(tmp_path, changes):
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes/toy.yaml").write_text(yaml.safe_dump(changes))
    (tmp_path / "small.yaml").write_text(f"scale: small\noverlays: [{tmp_path}/changes]\n")
    return tmp_path / "small.yaml"


def test_an_overlay_that_changes_a_value_brings_its_reason_or_none_is_given(configured, tmp_path):
    overlay = overlay_of(
        tmp_path,
        {
            "runs": {"slow": {"steps": 10}, "fast": {"rate": 0.5, "provenance": {"rate": {"chosen": "faster"}}}},
            "claims": {"decay": {"expected": "corrected"}},
        },
    )
    found = configured(files=[overlay])
    assert provenance(found.study, "toy", "runs", "slow", "steps") == {
        "chosen": f"changed by {tmp_path}/changes/toy.yaml, no reason given"
    }
    assert provenance(found.study, "toy", "runs", "fast", "rate") == {"chosen": "faster"}
    assert provenance(found.study, "toy", "runs", "slow", "rate") == "stated"
    # expected verdicts belong to a scale
    assert found.claim("toy", "decay")["expected"] == "corrected"
    assert found.claim("toy", "geometric")["expected"] == ""
    assert configured().claim("toy", "geometric")["expected"] == "reproduced"


def test_a_reason_that_an_overlay_gives_a_kind_is_that_of_the_values_that_it_sets(configured, tmp_path):
    block = {"kind": "growth.growth", "data": "starts", "rate": 0.01, "steps": 30, "measure": {"every": 1}}
    configured("runs.other", block)
    added = {"like": "slow", "rate": 0.04, "steps": 12}
    changes = {
        "provenance": {"growth.growth": {"steps": {"stated": "table 2"}, "rate": "code"}},
        "runs": {"slow": {"steps": 10}, "long": added, "longer": {"like": "long", "steps": 14}},
    }
    study = configured(files=[overlay_of(tmp_path, changes)]).study
    found = {name: provenance(study, "toy", "runs", name, "steps") for name in ("slow", "other", "long", "longer")}
    stated = {"stated": "table 2"}
    assert found == {"slow": stated, "other": {"chosen": "short"}, "long": stated, "longer": stated}
    found = {name: provenance(study, "toy", "runs", name, "rate") for name in ("other", "long")}
    assert found == {"other": "stated", "long": "code"}


# -- fingerprints ------------------------------------------------------------------------------------------------------


def test_what_is_made_from_what_shows_in_fingerprints(configured):
    before = configured()
    after = configured("data.starts.samples", 4)
    for stage, name in (
        ("data", "starts"),
        ("run", "slow"),
        ("run", "fast"),
        ("metrics", "fast"),
        ("figure", "growth"),
    ):
        assert after.fingerprint(stage, "toy", name) != before.fingerprint(stage, "toy", name)
    for stage, name in (("run", "descent"), ("metrics", "descent"), ("figure", "decay")):
        assert after.fingerprint(stage, "toy", name) == before.fingerprint(stage, "toy", name)
    assert set(before.outputs) == {
        *(f"toy/{table}.parquet" for table in ("claims", "parts", "again")),
        "toy/data/starts.npz",
        *(f"toy/runs/{name}.npz" for name in ("descent", "slow", "fast", "slow--steps-20")),
        *(f"toy/metrics/{name}.parquet" for name in ("descent", "slow", "fast", "slow--steps-20")),
    }


def test_words_are_read_from_docstrings(configured):
    found = configured().study
    assert found.statement("toy", "decay").startswith("Gradient descent with a small step follows $x(t)")
    assert found.explanation("toy", "decay") == "The largest error over {draws} draws is {value:.1e} of the start."
    assert found.caption("toy", "growth").startswith("Slow and fast growth.\n\n{draws} draws each")


def test_a_sweep_whose_target_is_taken_is_refused(configured):
    sweep = {"like": "slow", "provenance": {"rate": "stated"}, "sweep": {"rate": [0.1, 0.2]}}
    assert "runs.metrics: `snakemake toy_metrics` makes something else" in refused(configured, "runs.metrics", sweep)


def test_a_scale_is_not_called_as_a_paper_that_was_not_chosen(configured, tmp_path):
    (tmp_path / "workflow/config/other.yaml").write_text("title: another\n")
    with pytest.raises(ProjectError, match="scale: is the name of a paper"):
        configured(scale="other")


def test_numbers_inside_a_mapping_of_the_command_line_are_numbers(configured):
    # as Snakemake gives `--config 'changes={toy: {runs: {slow: {rate: 1e-3, steps: 7}}}}'`
    changes = {"toy": {"runs": {"slow": {"rate": "1e-3", "steps": "7"}}, "title": "No: 1"}}
    project = configured(scale="other", changes=changes)
    assert project.run("toy", "slow")["settings"] == {"rate": 1e-3, "steps": 7}
    assert project.study.paper_block("toy")["title"] == "No: 1"
