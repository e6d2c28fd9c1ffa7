"""Claims are judged again under draws, ranges and seeds: what each of these changes, and its fingerprint."""

import numpy as np
import pytest

from learning_dynamics.pipeline.plan import free_settings, variations
from learning_dynamics.pipeline.plan.plan import Plan

SEED = 2023  # of the made-up paper's configuration
STEPS = 40  # of its runs `slow` and `fast`
FAST_RATE = 0.02  # of the run `fast`
RATES = [1e-4, 0.015]  # between which a draw may take the rate of `slow`
# of whole numbers drawn evenly, so many draws lack a given one of eight with probability (7/8)^39, a half percent
N_DRAWS = 39


def draw_layers(project, count=N_DRAWS):
    """Return what each of the first draws changes in the configuration, by section and name."""
    return [free_settings.draw_layer(project.config, "toy", draw) for draw in range(1, count + 1)]


def project_under(project, name, value):
    """Return the project under one value of the change of this name."""
    change = variations.change_named(project.config, "toy", name)
    return Plan(variations.changed_configuration(project.config, "toy", change, value))


@pytest.fixture
def layers(configured):
    """What each draw changes where the data have 2 to 9 samples, and a run takes from as many steps up to 12."""
    free = {
        "data.starts.free": {"samples": [2, 9]},
        "runs.slow.free": {"rate": RATES, "steps": ["samples", 12]},
    }
    return draw_layers(configured(free))


def test_a_draw_is_the_same_each_time(configured):
    project = configured("runs.slow.free", {"rate": RATES})
    assert draw_layers(project) == draw_layers(project)


def test_whole_numbers_are_drawn_from_all_of_their_range(layers):
    assert {layer["data"]["starts"]["samples"] for layer in layers} == {2, 3, 4, 5, 6, 7, 8, 9}


def test_a_range_that_begins_with_a_setting_begins_with_what_was_drawn_for_it(layers):
    for layer in layers:
        assert layer["data"]["starts"]["samples"] <= layer["runs"]["slow"]["steps"] <= 12, layer


def test_real_numbers_are_drawn_evenly_in_the_logarithm(layers):
    rates = np.array([layer["runs"]["slow"]["rate"] for layer in layers])
    smallest, largest = RATES
    assert rates.min() >= smallest
    assert rates.max() <= largest
    middle_of_logarithms = np.sqrt(smallest * largest)  # 1.2e-3
    share_below = np.mean(rates < middle_of_logarithms)
    # half are expected, and 0.2 is 2.5 standard errors of a share of 39 draws; of numbers drawn evenly it would be 0.08
    assert abs(share_below - 0.5) < 0.2


def test_a_setting_is_drawn_after_those_that_its_range_names(configured):
    """In whatever order the block has them."""
    configured("data.starts.free", {"samples": [2, 9]})
    project = configured("runs.slow.free", {"rate": [0.1, "steps"], "steps": ["samples", 12]})
    for layer in draw_layers(project):
        samples, slow = layer["data"]["starts"]["samples"], layer["runs"]["slow"]
        assert samples <= slow["steps"] <= 12, layer
        assert 0.1 <= slow["rate"] <= slow["steps"], layer


def test_draws_have_not_changed_since_results_on_draws_were_published(configured):
    project = configured("runs.slow.free", {"rate": RATES, "steps": [3, 9]})
    # recorded from the published version: another random generator, label or order of draws gives other numbers
    assert [layer["runs"]["slow"] for layer in draw_layers(project, 2)] == [
        {"rate": 0.006435, "steps": 5},
        {"rate": 0.01417, "steps": 9},
    ]


FREE = {"steps": [3, 9], "rate": [0.001, 0.015]}


def test_a_run_that_inherits_a_drawn_setting_has_it_too(configured):
    project = configured("runs.slow.free", FREE)
    drawn = free_settings.draw_layer(project.config, "toy", 1)["runs"]["slow"]
    on_draw = project_under(project, "draw1", 1)
    assert on_draw.run("toy", "slow")["settings"] == drawn
    # `fast` extends `slow`, with a rate of its own
    assert on_draw.run("toy", "fast")["settings"] == {"steps": drawn["steps"], "rate": FAST_RATE}


def test_each_draw_has_a_seed_of_its_own(configured):
    project = configured("runs.slow.free", FREE)
    assert [project_under(project, f"draw{draw}", draw).config.seed for draw in (1, 2)] == [SEED + 1, SEED + 2]


def test_claims_that_read_a_run_with_free_settings_are_judged_on_draws(configured):
    project = configured("runs.slow.free", FREE)
    assert free_settings.claims_on_draws(project.config, "toy") == ["geometric"]


def test_a_claim_that_refuses_draws_is_not_judged_on_them(configured):
    project = configured({"runs.slow.free": FREE, "claims.geometric.free": False})
    assert free_settings.claims_on_draws(project.config, "toy") == []


RANGE = {"run": "slow", "setting": "steps", "range": [5, 50], "claims": ["geometric"]}


def test_a_range_changes_the_named_run_and_none_that_inherits_from_it(configured):
    project = project_under(configured("robustness.range", RANGE), "range", 7)
    assert project.run("toy", "slow")["settings"]["steps"] == 7
    assert project.run("toy", "fast")["settings"]["steps"] == STEPS  # as configured


def test_under_a_range_only_the_claims_that_it_names_are_judged(configured):
    project = project_under(configured("robustness.range", RANGE), "range", 7)
    assert list(project.config.paper_block("toy")["claims"]) == ["geometric"]


def test_a_grid_of_data_sets_changes_the_named_run_and_none_that_inherits_from_it(configured):
    configured("data.others", {"source": "starts.normal", "samples": 4})
    entry = {"run": "slow", "setting": "data", "grid": ["starts", "others"], "claims": ["geometric"]}
    config = configured("robustness.other", entry).config
    layer = variations.layer_of(config, "toy", variations.change_named(config, "toy", "other"), value="others")
    assert layer == {"runs": {"slow": {"data": "others"}, "fast": {"data": "starts"}}}


def test_another_seed_is_that_of_the_data_as_well(configured):
    project = project_under(configured(), "seed2030", 2030)
    assert project.config.seed == 2030
    assert project.data("toy", "starts")["settings"]["seed"] == 2030


def test_under_another_seed_all_claims_are_judged(configured):
    project = project_under(configured(), "seed2030", 2030)
    assert list(project.config.paper_block("toy")["claims"]) == ["decay", "geometric"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param({"seeds": 2}, ["seed2024", "seed2025"], id="from the configured seed, 2023, on"),
        pytest.param({"seeds": 2, "first_seed": 3001}, ["seed3001", "seed3002"], id="from another seed on"),
        pytest.param({"seeds": 2, "first_seed": 2022}, ["seed2022", "seed2024"], id="the configured seed is no other"),
        pytest.param(
            {"seeds": 2, "draws": 1, "seeds_of": []},
            [],
            id="no seeds of this paper, and no draws, since none of its settings is free",
        ),
    ],
)
def test_the_changes_of_a_paper_are_its_ranges_and_the_seeds_that_are_asked_for(configured, options, names):
    project = configured("robustness.range", RANGE, **options)
    assert variations.names_of_changes(project.config, "toy") == ["range", *names]


VARIATIONS = {"range", "draw1", "seed7"}


@pytest.mark.parametrize(
    ("path", "value", "concerned"),
    [
        pytest.param("runs.slow.free", {"steps": [4, 9]}, {"draw1"}, id="what draws may take"),
        pytest.param("robustness.range.range", [5, 9], {"range"}, id="a range"),
        pytest.param("data.starts.samples", 7, VARIATIONS, id="a setting of the data"),
        pytest.param("runs.fast.rate", 0.03, VARIATIONS, id="a setting of a run"),
        pytest.param("claims.geometric.rounding", 2e-15, VARIATIONS, id="a setting of a claim"),
    ],
)
def test_an_edit_gives_another_fingerprint_to_the_variations_that_read_it(configured, path, value, concerned):
    def fingerprints(project):
        return {name: project.change_fingerprint("toy", name) for name in VARIATIONS}

    before = fingerprints(configured({"robustness.range": RANGE, "runs.slow.free": {"steps": [2, 3]}}))
    after = fingerprints(configured(path, value))
    assert {name for name in VARIATIONS if after[name] != before[name]} == concerned
