"""A function may take a class of settings: how it is configured, refused, swept, drawn, simulated and recorded."""

import shutil

import pytest
import yaml

from learning_dynamics.pipeline.commands.sweep import types_of_settings
from learning_dynamics.pipeline.plan import free_settings, variations
from learning_dynamics.pipeline.plan.config_files import merge, read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.setting_sources import provenance, unstated_settings
from tests.pipeline.conftest import PAPER, TOY, refusal, toy

PACE = {"horizon": 4.0, "points": 5, "rtol": 1e-6}  # of the run `tea` in toy/cooling.yaml


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
    """The project whose configuration `configured` changes: here the one with the topic `cooling`."""
    return cooling.folder


@pytest.fixture(scope="module")
def built(cooling):
    """The made-up paper with the topic `cooling`, all its runs measured; not to be changed."""
    cooling.snakemake("toy_metrics")
    return cooling


def test_a_run_inherits_a_class_key_by_key(configured):
    project = configured()
    assert project.run("toy", "tea")["settings"] == {"rate": 0.5, "pace": PACE}
    # `soup` extends `tea` and gives its horizon alone
    assert project.run("toy", "soup")["settings"] == {"rate": 0.5, "pace": PACE | {"horizon": 8.0}}


def test_a_class_of_the_metrics_may_change_without_the_run(configured):
    before = configured()
    after = configured("runs.soup.measure", {"met": {"rtol": 0.1}})
    assert after.measure("toy", "soup")["settings"] == {"met": {"rtol": 0.1}}
    assert after.fingerprint("run", "toy", "soup") == before.fingerprint("run", "toy", "soup")


def test_an_error_names_the_class_and_the_key_within_it(refuses):
    refuses(
        ("runs.tea.pace.rtol", 0.0, "runs.tea.pace.rtol: must be above 0.0 (is 0.0)"),
        ("runs.soup.pace.hroizon", 1.0, "runs.soup.pace.hroizon: unknown setting of `Pace`; did you mean `horizon`?"),
        ("runs.soup.pace", None, "runs.soup.pace: must be a mapping of settings (is None)"),
        ("runs.soup", {"extends": "tea", "pace.rtol": 1.0}, "runs.soup.pace.rtol: unknown setting of `cooling`"),
        ("runs.teas.sweep", {"pace.rtlo": [1.0]}, "teas.pace.rtlo: unknown setting of `Pace`; did you mean `rtol`"),
        ("runs.teas.sweep", {"pace.rtol": [1.0, -1.0]}, "runs.teas.pace.rtol: must be above 0"),
        ("runs.tea.free", {"pace.rtol": [0.0, 1.0]}, "runs.tea.free.pace.rtol: must be above 0"),
        ("provenance.Pace.hroizon", "stated", "provenance.Pace.hroizon: no setting `hroizon`; did you mean `horizon`"),
        ("provenance.Accuracy", {}, "runs.tea.pace.rtol: has no provenance, nor have met.rtol; add it"),
    )


def reason(config, run, key):
    """Return the reason why a setting of a run was chosen."""
    return provenance(config, "toy", "runs", run, key)["chosen"]


def test_reasons_of_a_class_are_those_of_its_parts_unless_the_function_has_its_own(configured):
    config = configured().config
    assert reason(config, "tea", "pace.horizon") == "long enough"  # of `Pace`
    assert reason(config, "tea", "pace.rtol") == "accurate"  # of `Accuracy`, from which `Pace` inherits
    assert reason(config, "tea", "pace.points") == "few"  # of `cooling.cooling`, where `Pace` says "many"
    assert reason(config, "tea", "met.rtol") == "accurate"  # of `Accuracy`, the class of this setting


def test_a_run_may_give_its_own_reason_for_a_key_of_a_class(configured):
    assert reason(configured().config, "soup", "pace.horizon") == "it is hotter"


def test_settings_that_are_not_stated_are_listed_by_the_key_within_their_class(configured):
    rows = unstated_settings(configured().config, "toy")
    values = {(row["name"], row["setting"]): row["value"] for row in rows}
    assert values["soup", "pace.horizon"] == 8.0
    assert values["soup", "pace.points"] == 5
    assert values["teas", "pace.rtol"] == [1e-3, 1e-5]


def test_a_key_of_a_class_may_be_swept(configured):
    project = configured()
    assert dict(project.config.runs_of("toy", "teas")) == {
        "teas--pace.rtol-0.001": {"pace.rtol": 1e-3},
        "teas--pace.rtol-1e-05": {"pace.rtol": 1e-5},
    }
    assert project.run("toy", "teas--pace.rtol-0.001")["settings"]["pace"] == PACE | {"rtol": 1e-3}


def test_a_key_of_a_class_of_the_metrics_may_be_swept_over_one_run(configured):
    project = configured("runs.teas.sweep", {"met.rtol": [1e-3, 1e-5]})
    assert project.measure("toy", "teas--met.rtol-0.001")["settings"] == {"met": {"rtol": 1e-3}}
    assert project.measured_run("toy", "teas--met.rtol-0.001") == "tea"


def test_the_command_sweep_knows_the_keys_of_a_class(configured):
    types = types_of_settings(configured().config, "toy", "tea")
    assert types.keys() == {"rate", "pace.horizon", "pace.points", "pace.rtol", "met.rtol"}


# a claim that reads these runs, so that they can be judged again
WARM = {"function": "growth.geometric", "runs": {"slow": "tea", "fast": "soup"}, "rounding": 1e-15}
# entries of `robustness:`
OTHER_RATES = {"run": "tea", "setting": "rate", "grid": [1.0, 2.0], "claims": ["warm"]}
OTHER_HORIZONS = {"run": "tea", "setting": "pace.horizon", "values": [2.0], "claims": ["warm"]}


def test_a_default_that_another_run_inherits_cannot_be_varied(refuses, configured):
    # `soup` is to keep the rate that it inherits from `tea` while that of `tea` changes; no block has a value to keep
    configured({"claims.warm": WARM, "runs.tea.rate": ...})
    words = "robustness.fast.setting: `soup` inherits `rate` from `tea`, where it has its default; write it in `tea`"
    refuses(("robustness.fast", OTHER_RATES, words))


def test_runs_that_inherit_a_setting_keep_it_while_it_is_varied(configured):
    config = configured({"claims.warm": WARM, "robustness.fast": OTHER_RATES}).config
    layer = variations.layer_of(config, "toy", variations.change_named(config, "toy", "fast"), value=2.0)
    # `soup` and `teas` extend `tea`, whose configured rate is 0.5
    assert layer == {"runs": {"tea": {"rate": 2.0}, "soup": {"rate": 0.5}, "teas": {"rate": 0.5}}}


def test_runs_that_inherit_a_key_of_a_class_keep_it_while_it_is_varied(configured):
    change = variations.Change(
        name="long",
        kind="setting",
        what="tea.pace.horizon",
        claims=[],
        grid=[2.0],
        entry={"run": "tea", "setting": "pace.horizon"},
    )
    layer = variations.layer_of(configured().config, "toy", change, value=2.0)
    # `teas` inherits the horizon; `soup` has its own
    assert layer == {"runs": {"tea": {"pace": {"horizon": 2.0}}, "teas": {"pace": {"horizon": 4.0}}}}


def test_another_value_of_a_key_of_a_class_is_a_run_of_its_own(configured):
    project = configured({"claims.warm": WARM, "robustness.long": OTHER_HORIZONS})
    assert project.run("toy", "tea--pace.horizon-2.0")["settings"]["pace"] == PACE | {"horizon": 2.0}


def test_the_configured_value_of_a_key_of_a_class_is_no_other_value(configured):
    configured({"claims.warm": WARM, "robustness.long": OTHER_HORIZONS})
    message = refusal(configured, "robustness.long.values", [PACE["horizon"]])
    assert "robustness.long.values: 4.0 is the run's own" in message


@pytest.mark.parametrize("draw", range(1, 10))
def test_keys_of_a_class_may_be_drawn_and_be_ends_of_ranges(configured, draw):
    config = configured(
        {
            "claims.warm": WARM,
            "runs.tea.free": {"rate": [0.1, "pace.points"], "pace.points": [3, 6]},
            "runs.soup.free": {"pace.horizon": [5.0, 6.0]},
        }
    ).config
    drawn = free_settings.draw_layer(config, "toy", draw)["runs"]
    assert 3 <= drawn["tea"]["pace"]["points"] <= 6
    assert 0.1 <= drawn["tea"]["rate"] <= drawn["tea"]["pace"]["points"]
    assert 5.0 <= drawn["soup"]["pace"]["horizon"] <= 6.0
    change = variations.change_named(config, "toy", f"draw{draw}")
    on_draw = Plan(variations.changed_configuration(config, "toy", change, draw))
    tea, soup = (on_draw.run("toy", name)["settings"]["pace"] for name in ("tea", "soup"))
    assert tea == PACE | drawn["tea"]["pace"]
    assert soup == tea | drawn["soup"]["pace"]  # `soup` extends `tea`


# -- simulated and recorded --------------------------------------------------------------------------------------------


def test_records_have_a_class_of_settings_as_a_mapping(built):
    of_table, of_trajectory = built.values(
        "ld.table('toy', 'tea').attrs['settings']['pace']", "ld.trajectory('toy', 'soup').settings['pace']"
    )
    assert of_table == PACE
    assert of_trajectory == PACE | {"horizon": 8.0}


def test_the_table_of_a_sweep_over_a_key_has_a_column_of_its_name(built):
    code = "table = ld.table('toy', 'teas')"
    largest, settings = built.values(
        "table.groupby('pace.rtol')['value'].max().round(6).tolist()", "table.attrs['settings']['pace']", code=code
    )
    assert largest == [1.00001, 1.001]  # at time 0 the runs have 1 + rtol
    assert settings == PACE | {"rtol": [1e-3, 1e-5]}


def test_a_run_is_simulated_with_another_value_of_a_key(built):
    (pace,) = built.values("ld.simulate('toy', 'tea', pace={'rtol': 1e-2}).settings['pace']")
    assert pace == PACE | {"rtol": 1e-2}


def test_a_sweep_over_a_key_is_simulated_and_measured_to_the_same_table(built):
    code = "simulated = ld.simulate('toy', 'teas')"
    names, is_same = built.values(
        "list(simulated)", "ld.measure('toy', 'teas', simulated).equals(ld.table('toy', 'teas'))", code=code
    )
    assert names == ["teas--pace.rtol-0.001", "teas--pace.rtol-1e-05"]
    assert is_same


@pytest.fixture(scope="module")
def bundled(built, tmp_path_factory):
    """The same project with the sweep `teas` once more, as `together`, in one bundle."""
    workspace = built.copy(tmp_path_factory.mktemp("bundled") / "project")
    together = {"extends": "teas", "sweep": {"pace.rtol": [1e-3, 1e-5]}, "bundle": 2}
    workspace.configure("runs", "together", value=together)
    workspace.snakemake("toy_together")
    return workspace


def test_a_bundle_of_a_sweep_over_a_key_has_the_same_table(bundled):
    assert bundled.values("ld.table('toy', 'together').equals(ld.table('toy', 'teas'))") == [True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            "ld.simulate('toy', 'tea', pace={'rtlo': 1.0})",
            "toy tea.pace.rtlo: unknown setting of `Pace`; did you mean `rtol`?",
            id="a misspelt key",
        ),
        pytest.param(
            "ld.simulate('toy', 'teas', pace={'rtol': 1.0})",
            "toy teas.pace.rtol: is swept; name one of its runs: teas--pace.rtol-0.001",
            id="a value of a key that is swept",
        ),
        pytest.param(
            "ld.trajectory('toy', 'together--pace.rtol-0.001')",
            "bundles leave no trajectories",
            id="the trajectory of a run of a bundle",
        ),
    ],
)
def test_a_call_that_does_not_fit_a_class_is_refused(bundled, call, message):
    ended = bundled.python("-c", f"import learning_dynamics as ld\n{call}")
    assert ended.returncode == 1
    assert message in ended.stderr
