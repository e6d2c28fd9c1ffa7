"""What claims are judged again under: draws, ranges, seeds; what each changes, and what its fingerprint is of."""

import pytest

from learning_dynamics.pipeline.plan import free_settings, variations
from learning_dynamics.pipeline.plan.plan import Plan

SEED = 2023  # of the made-up paper's configuration


def layers_of(found, count=40):
    return [free_settings.draw_layer(found.config, "toy", draw) for draw in range(1, count)]


def project_under(found, name, value):
    """The project under one value of a change."""
    change = variations.change_named(found.config, "toy", name)
    return Plan(variations.changed_configuration(found.config, "toy", change, value))


def test_a_draw_stays_in_its_ranges_and_is_the_same_each_time(configured):
    found = configured(
        {
            "data.starts.free": {"samples": [2, 9]},
            "runs.slow.free": {"rate": [1e-4, 0.015], "steps": ["samples", 12]},  # as many steps as samples, or more
        }
    )
    layers = layers_of(found)
    assert layers == layers_of(found)  # drawn again
    samples = [layer["data"]["starts"]["samples"] for layer in layers]
    assert set(samples) == set(range(2, 10))
    rates = [layer["runs"]["slow"]["rate"] for layer in layers]
    assert 1e-4 <= min(rates) < 1e-3 < 5e-3 < max(rates) <= 0.015  # by the logarithm
    for low, layer in zip(samples, layers, strict=True):
        assert low <= layer["runs"]["slow"]["steps"] <= 12, layer


def test_a_setting_is_drawn_after_those_that_its_range_names_in_any_order_of_the_block(configured):
    configured("data.starts.free", {"samples": [2, 9]})
    found = configured("runs.slow.free", {"rate": [0.1, "steps"], "steps": ["samples", 12]})
    for layer in layers_of(found):
        samples, slow = layer["data"]["starts"]["samples"], layer["runs"]["slow"]
        assert samples <= slow["steps"] <= 12, layer
        assert 0.1 <= slow["rate"] <= slow["steps"], layer


def test_draws_are_those_that_were_published(configured):
    # written down when they were, by the label that draws had then
    found = configured("runs.slow.free", {"rate": [1e-4, 0.015], "steps": [3, 9]})
    assert [layer["runs"]["slow"] for layer in layers_of(found, 3)] == [
        {"rate": 0.006435, "steps": 5},
        {"rate": 0.01417, "steps": 9},
    ]


def test_what_inherits_a_drawn_setting_is_drawn_with_it(configured):
    found = configured("runs.slow.free", {"steps": [3, 9], "rate": [0.001, 0.015]})
    drawn, layer = project_under(found, "draw1", 1), free_settings.draw_layer(found.config, "toy", 1)
    fast, slow = (drawn.run("toy", name)["settings"] for name in ("fast", "slow"))
    assert fast["steps"] == slow["steps"] == layer["runs"]["slow"]["steps"]
    assert (fast["rate"], slow["rate"]) == (0.02, layer["runs"]["slow"]["rate"])  # the fast run has its own
    assert drawn.config.seed == SEED + 1  # draw 1 is of a seed of its own


def test_a_claim_is_judged_on_draws_where_its_runs_are_drawn_unless_it_says_otherwise(configured):
    found = configured("runs.slow.free", {"steps": [3, 9], "rate": [0.001, 0.015]})
    assert free_settings.claims_on_draws(found.config, "toy") == ["geometric"]
    assert free_settings.claims_on_draws(configured("claims.geometric.free", False).config, "toy") == []


RANGE = {"run": "slow", "setting": "steps", "range": [5, 50], "claims": ["geometric"]}


def test_a_range_changes_the_named_run_alone(configured):
    found = project_under(configured("robustness.range", RANGE), "range", 7)
    assert [found.run("toy", name)["settings"]["steps"] for name in ("slow", "fast")] == [7, 40]
    assert list(found.config.paper_block("toy")["claims"]) == ["geometric"]


def test_a_grid_of_data_sets_changes_the_named_run_alone(configured):
    configured("data.others", {"source": "starts.normal", "samples": 4})
    entry = {"run": "slow", "setting": "data", "grid": ["starts", "others"], "claims": ["geometric"]}
    found = configured("robustness.other", entry).config
    layer = variations.layer_of(found, "toy", variations.change_named(found, "toy", "other"), "others")
    assert layer == {"runs": {"slow": {"data": "others"}, "fast": {"data": "starts"}}}


def test_a_seed_changes_every_draw(configured):
    found = project_under(configured(), "seed2030", 2030)
    assert found.data("toy", "starts")["settings"]["seed"] == found.config.seed == 2030
    assert list(found.config.paper_block("toy")["claims"]) == ["decay", "geometric"]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param({"seeds": 2}, ["seed2024", "seed2025"], id="from the configured seed, 2023, on"),
        pytest.param({"seeds": 2, "first_seed": 3001}, ["seed3001", "seed3002"], id="from another seed on"),
        pytest.param({"seeds": 2, "first_seed": 2022}, ["seed2022", "seed2024"], id="the configured seed is no other"),
        pytest.param(
            {"seeds": 2, "draws": 1, "seeds_of": []}, [], id="no seeds of this paper, nor what could be drawn"
        ),
    ],
)
def test_the_changes_of_a_paper_are_its_ranges_and_the_seeds_that_are_asked_for(configured, given, names):
    found = configured("robustness.range", RANGE, **given)
    assert list(variations.changes(found.config, "toy")) == ["range", *names]


def test_a_fingerprint_is_of_all_that_a_change_reads(configured):
    everything = {"range", "draw1", "seed7"}

    def fingerprints(*path_and_value):
        found = configured(*path_and_value)
        return {name: found.change_fingerprint("toy", name) for name in everything}

    before = fingerprints({"robustness.range": RANGE, "runs.slow.free": {"steps": [2, 3]}})
    for path, value, concerned in (
        ("runs.slow.free", {"steps": [4, 9]}, {"draw1"}),
        ("robustness.range.range", [5, 9], {"range"}),
        ("data.starts.samples", 7, everything),
        ("runs.fast.rate", 0.03, everything),
        ("claims.geometric.rounding", 2e-15, everything),
    ):
        after = fingerprints(path, value)
        assert {name for name in everything if after[name] != before[name]} == concerned, path
        before = after
