"""Settings that belong together: a class of them in the configuration, in what varies it, in what is recorded."""

import shutil

import pytest
import yaml

from learning_dynamics.pipeline.commands.sweep import types_of_settings
from learning_dynamics.pipeline.plan import free_settings, variations
from learning_dynamics.pipeline.plan.config_files import merge, read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.setting_sources import provenance, unstated_settings
from tests.pipeline.conftest import PAPER, TOY, refusal, toy

PACE = {"horizon": 4.0, "points": 5, "rtol": 1e-6}


@pytest.fixture(scope="module")
def cooling(tmp_path_factory):
    """The made-up paper with a topic whose runs take a class of settings; not to be changed."""
    workspace = toy(tmp_path_factory.mktemp("classes") / "project")
    shutil.copy(TOY / "pace.py", workspace.folder / PAPER)
    shutil.copytree(TOY / "cooling", workspace.folder / PAPER / "cooling")
    config = read_yaml(workspace.folder / "workflow/config/toy.yaml")
    merge(config, read_yaml(TOY / "cooling.yaml"))
    workspace.write("workflow/config/toy.yaml", yaml.safe_dump(config, sort_keys=False))
    return workspace


@pytest.fixture(scope="module")
def sources_of_toy(cooling):
    return cooling.folder


@pytest.fixture(scope="module")
def built(cooling):
    cooling.snakemake("toy_metrics")
    return cooling


def test_a_child_inherits_a_class_key_by_key(configured):
    assert configured().run("toy", "tea")["settings"] == {"rate": 0.5, "pace": PACE}
    assert configured().run("toy", "soup")["settings"] == {"rate": 0.5, "pace": PACE | {"horizon": 8.0}}
    other = configured("runs.soup.measure", {"met": {"rtol": 0.1}})
    assert other.measure("toy", "soup")["settings"] == {"met": {"rtol": 0.1}}
    assert other.fingerprint("run", "toy", "soup") == configured().fingerprint("run", "toy", "soup")


def test_errors_name_the_whole_key(refuses):
    refuses(
        ("runs.tea.pace.rtol", 0.0, "runs.tea.pace.rtol: must be above 0.0 (is 0.0)"),
        ("runs.soup.pace.hroizon", 1.0, "runs.soup.pace.hroizon: unknown setting of `Pace`; did you mean `horizon`?"),
        ("runs.soup.pace", None, "runs.soup.pace: must be a mapping of settings (is None)"),
        ("runs.soup", {"extends": "tea", "pace.rtol": 1.0}, "runs.soup.pace.rtol: unknown setting of `cooling`"),
        ("runs.teas.sweep", {"pace.rtlo": [1.0]}, "teas.pace.rtlo: unknown setting of `Pace`; did you mean `rtol`"),
        ("runs.teas.sweep", {"pace.rtol": [1.0, -1.0]}, "runs.teas.pace.rtol: must be above 0"),
        ("runs.tea.free", {"pace.rtol": [0.0, 1.0]}, "runs.tea.free.pace.rtol: must be above 0"),
        ("provenance.Pace.hroizon", "stated", "provenance.Pace.hroizon: no setting `hroizon`; did you mean `horizon`"),
        ("provenance.Accuracy", {}, "runs.tea.pace.rtol: has no provenance; add it"),
    )


def test_a_reason_is_given_once_for_a_class_and_may_differ_by_kind_and_run(configured):
    config = configured().config

    def reason(run, key):
        return provenance(config, "toy", "runs", run, key)["chosen"]

    assert [reason("tea", f"pace.{key}") for key in PACE] == ["long enough", "few", "accurate"]
    assert reason("tea", "met.rtol") == "accurate"  # a class that others inherit from, taken by itself
    assert reason("soup", "pace.horizon") == "it is hotter"
    listed = {(row["name"], row["setting"]): row["value"] for row in unstated_settings(config, "toy")}
    assert listed["soup", "pace.horizon"] == 8.0
    assert listed["soup", "pace.points"] == 5
    assert listed["teas", "pace.rtol"] == [1e-3, 1e-5]


def test_what_varies_a_run_reaches_inside(configured):
    found = configured()
    runs = dict(found.config.runs_of("toy", "teas"))
    assert runs == {"teas--pace.rtol-0.001": {"pace.rtol": 1e-3}, "teas--pace.rtol-1e-05": {"pace.rtol": 1e-5}}
    assert found.run("toy", "teas--pace.rtol-0.001")["settings"]["pace"] == PACE | {"rtol": 1e-3}
    measuring = configured("runs.teas.sweep", {"met.rtol": [1e-3, 1e-5]})
    assert measuring.measure("toy", "teas--met.rtol-0.001")["settings"] == {"met": {"rtol": 1e-3}}
    assert measuring.measured_run("toy", "teas--met.rtol-0.001") == "tea"
    assert types_of_settings(found.config, "toy", "tea").keys() == {
        "rate",
        *(f"pace.{key}" for key in PACE),
        "met.rtol",
    }


WARM = {"function": "growth.geometric", "runs": {"slow": "tea", "fast": "soup"}, "rounding": 1e-15}


def test_what_inherits_a_default_cannot_be_told_to_keep_it(refuses, configured):
    # `soup` has the rate of `tea`, which no block gives: a layer that changes it there could not write it here
    configured({"claims.warm": WARM, "runs.tea.rate": ...})
    entry = {"run": "tea", "setting": "rate", "grid": [1.0, 2.0], "claims": ["warm"]}
    words = "robustness.fast.setting: `soup` inherits `rate` from `tea`, where it has its default; write it in `tea`"
    refuses(("robustness.fast", entry, words))
    configured("runs.tea.rate", 0.5)
    found = configured("robustness.fast", entry).config
    layer = variations.layer_of(found, "toy", variations.change_named(found, "toy", "fast"), 2.0)
    assert layer == {"runs": {"tea": {"rate": 2.0}, "soup": {"rate": 0.5}, "teas": {"rate": 0.5}}}


def test_what_is_judged_again_reaches_inside_and_may_name_what_is_inside(configured):
    config = configured().config
    change = variations.Change(
        name="long",
        kind="setting",
        what="tea.pace.horizon",
        claims=[],
        grid=[2.0],
        entry={"run": "tea", "setting": "pace.horizon"},
    )
    layer = variations.layer_of(config, "toy", change, 2.0)  # what inherits stays as it is
    assert layer == {"runs": {"tea": {"pace": {"horizon": 2.0}}, "teas": {"pace": {"horizon": 4.0}}}}
    configured("claims.warm", WARM)
    check = {"run": "tea", "setting": "pace.horizon", "values": [2.0], "claims": ["warm"]}
    found = configured("robustness.long", check)
    assert found.run("toy", "tea--pace.horizon-2.0")["settings"]["pace"] == PACE | {"horizon": 2.0}
    configured("runs.tea.free", {"rate": [0.1, "pace.points"], "pace.points": [3, 6]})
    config = configured("runs.soup.free", {"pace.horizon": [5.0, 6.0]}).config
    for draw in range(1, 10):
        drawing = variations.change_named(config, "toy", f"draw{draw}")
        layer = free_settings.draw_layer(config, "toy", draw)
        assert 0.1 <= layer["runs"]["tea"]["rate"] <= layer["runs"]["tea"]["pace"]["points"] <= 6, draw
        drawn = Plan(variations.changed_configuration(config, "toy", drawing, draw))
        tea, soup = (drawn.run("toy", name)["settings"]["pace"] for name in ("tea", "soup"))
        assert tea == PACE | layer["runs"]["tea"]["pace"], draw
        assert soup == tea | layer["runs"]["soup"]["pace"], draw
    own = refusal(configured, "robustness.long.values", [4.0])
    assert "robustness.long.values: 4.0 is the run's own" in own


def test_a_run_is_given_an_instance_and_its_record_is_a_mapping(built, tmp_path):
    workspace = built.copy(tmp_path / "project")
    workspace.configure(
        "runs", "together", value={"extends": "teas", "sweep": {"pace.rtol": [1e-3, 1e-5]}, "bundle": 2}
    )
    workspace.snakemake("toy_together")
    said = workspace.python(
        "-c",
        """
import learning_dynamics as ld
from learning_dynamics.tidy import settings_of
assert settings_of(ld.table("toy", "tea"))["pace"]["rtol"] == 1e-6
assert ld.trajectory("toy", "soup").settings["pace"] == {"horizon": 8.0, "points": 5, "rtol": 1e-6}
swept = ld.table("toy", "teas")
assert list(swept.groupby("pace.rtol")["value"].max().round(6)) == [1.00001, 1.001]
assert settings_of(swept)["pace"] == {"horizon": 4.0, "points": 5, "rtol": [1e-3, 1e-5]}
again = ld.simulate("toy", "tea", pace={"rtol": 1e-2})
assert again.settings["pace"] == {"horizon": 4.0, "points": 5, "rtol": 1e-2}
assert ld.table("toy", "together").equals(swept)
simulated = ld.simulate("toy", "teas")
assert list(simulated) == ["teas--pace.rtol-0.001", "teas--pace.rtol-1e-05"]
assert ld.measure("toy", "teas", simulated).equals(swept)
for action, run, bad in (
    (ld.simulate, "tea", {"pace": {"rtlo": 1.0}}), (ld.simulate, "teas", {"pace": {"rtol": 1.0}}),
    (ld.trajectory, "together--pace.rtol-0.001", {}),
):
    try:
        action("toy", run, **bad)
    except Exception as error:
        print(error)
""",
    )
    assert said.returncode == 0, said.stderr
    misspelt, swept, bundled = said.stdout.splitlines()
    assert "toy tea.pace.rtlo: unknown setting of `Pace`; did you mean `rtol`?" in misspelt
    assert "toy teas.pace.rtol: is swept; name one of its runs: teas--pace.rtol-0.001" in swept
    assert "bundles leave no trajectories" in bundled
