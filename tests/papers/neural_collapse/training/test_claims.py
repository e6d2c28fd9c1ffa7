"""Every claim on training: reproduced where collapse is as the paper tells it, refused on altered measurements.

The measurements are made up, so that what a claim asks for is seen without training a network.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.claims import evaluate
from learning_dynamics.papers.neural_collapse.collapse import claims as collapse
from learning_dynamics.papers.neural_collapse.robustness import claims as robustness
from learning_dynamics.settings import functions_of
from tests.support import Tables, project, scaled, verdict

PAPER = "neural_collapse"
EPOCHS = np.array([1, 3, 10, 30, 100])
ZERO_ERROR = 10
# value at the first epoch, and by which power of the epoch it falls
CURVES = {
    ("train", "nc1"): (1.0, 1.5),
    ("test", "nc1"): (1.2, 0.5),
    ("train", "nc4"): (1e-3, 1.0),
    ("train", "self_duality"): (1.0, 0.5),
    ("train", "loss_nc1"): (0.1, 0.3),
    ("train", "loss_nc23"): (0.1, 2.0),
    ("train", "loss_ls_perp"): (0.001, 0.5),
    ("test", "robustness"): (0.05, -0.5),
    ("test", "robustness_crossing"): (1.0, 0.0),
    ("test", "error"): (0.1, 0.5),
} | {
    ("train", f"{name}_{vectors}"): (1.0, 0.5)
    for name in ("equinorm", "equiangular", "maximal_angle")
    for vectors in ("means", "classifiers")
}


def made_up(run: str, seeds: int = 3) -> pd.DataFrame:
    """Metrics of a training that collapses, a little differently for each seed; less so under cross-entropy."""
    loss = run.rpartition("_")[2]
    rows = []
    for seed in range(seeds):
        luck = 1 + 0.02 * seed
        for (split, quantity), (start, power) in CURVES.items():
            weaker = 0.8 if loss == "ce" and quantity in ("nc1", "robustness") else 1.0
            rows += [
                (seed, epoch, split, quantity, luck * start * float(epoch) ** (-power * weaker)) for epoch in EPOCHS
            ]
        rows += [(seed, epoch, "train", "error", 0.5 * (epoch < ZERO_ERROR)) for epoch in EPOCHS]
    table = pd.DataFrame(rows, columns=["seed", "epoch", "split", "quantity", "value"])
    table.attrs["settings"] = {"loss": loss, "epochs": 100, "drops": [0.3333, 0.6667]}
    return table


def tables_of(claim: str) -> Tables:
    runs = project().claims(PAPER)["claims"][claim]["runs"] if claim != "five_data_sets" else ["mnist_vgg_mse"]
    return {run: made_up(run) for run in runs}


def in_one_run(alter, run: str = "digits_densenet_mse"):
    """One network that behaves otherwise is enough to refuse a claim about every network."""

    def altered(tables: Tables) -> Tables:
        alter({run: tables[run]})
        return tables

    return altered


ALTERED = {
    "nc1": in_one_run(scaled("nc1", 1e3, split="train", epoch=100)),
    "nc2_equinorm": in_one_run(scaled("equinorm_classifiers", 10.0, epoch=100)),
    "nc2_equiangular": in_one_run(scaled("equiangular_means", 10.0, epoch=100)),
    "nc2_maximal_angle": in_one_run(scaled("maximal_angle_classifiers", 10.0, epoch=100)),
    "nc3": in_one_run(scaled("self_duality", 10.0, epoch=100)),
    "nc4": in_one_run(scaled("nc4", 1e3, epoch=100)),
    "least_squares_deviation_negligible": in_one_run(scaled("loss_ls_perp", 1e3)),
    "nc23_vanishes_first": in_one_run(scaled("loss_nc23", 1e-4, epoch=1)),
    "mse_collapses_faster": in_one_run(scaled("nc1", 100.0, split="train", epoch=100)),
    "mse_more_robust": in_one_run(scaled("robustness", 0.1, epoch=100)),
    "robustness_grows_after_zero_error": in_one_run(scaled("robustness", 0.1, epoch=100)),
    "deepfool_finds_the_boundary": in_one_run(scaled("robustness", 100.0)),
    "test_collapse_slower": in_one_run(scaled("nc1", 0.01, split="test", epoch=100)),
    "accuracy_after_zero_error": scaled("error", 10.0, split="test", epoch=100),
    "five_data_sets": scaled("nc1", 100.0, split="train", epoch=100),
}


def test_every_claim_on_training_has_an_alteration():
    defined, configured = set(functions_of(PAPER, "claims")), project().claims(PAPER)["claims"]
    assert defined == set(configured)
    on_central_path = {
        name for name in defined if any(run.startswith("central_path") for run in configured[name]["runs"])
    }
    assert set(ALTERED) == defined - on_central_path


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_holds_where_collapse_is_as_told(claim):
    assert verdict(PAPER, claim, tables_of(claim)) == "reproduced"


@pytest.mark.parametrize("claim", ALTERED)
def test_claim_turns_on_altered_measurements(claim):
    assert verdict(PAPER, claim, ALTERED[claim](tables_of(claim))) == "contradicted"


@pytest.mark.parametrize(
    "claim", sorted(set(ALTERED) - {"nc4", "nc23_vanishes_first", "mse_collapses_faster", "mse_more_robust"})
)
def test_without_zero_error_nothing_is_decided(claim):
    """What is claimed of the time after the last train error cannot be seen in a training that has errors."""
    tables = tables_of(claim)
    for table in tables.values():
        table.loc[(table["quantity"] == "error") & (table["split"] == "train"), "value"] = 0.1
    assert verdict(PAPER, claim, tables) == "not reproduced"


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        # noise at the full learning rate, gone after its first drop
        ("least_squares_deviation_negligible", scaled("loss_ls_perp", 100.0, epoch=10)),
        # steps that overshoot once outputs are saturated
        ("deepfool_finds_the_boundary", scaled("robustness", 10.0, epoch=100)),
        # a deviation that falls with the learning rate, below everything
        ("nc23_vanishes_first", scaled("loss_ls_perp", 1e-5, epoch=100)),
    ],
)
def test_what_holds_for_a_part_of_training_is_told_from_the_rest(claim, alter):
    assert verdict(PAPER, claim, alter(tables_of(claim))) == "corrected"


@pytest.mark.parametrize(
    ("claim", "quantity"),
    [
        ("nc1", "nc1"),
        ("nc2_equinorm", "equinorm_means"),
        ("nc2_equiangular", "equiangular_classifiers"),
        ("nc2_maximal_angle", "maximal_angle_means"),
        ("nc3", "self_duality"),
    ],
)
def test_a_fall_that_comes_before_zero_error_is_told_from_one_after(claim, quantity):
    """Collapse as far as before, nearly all of it while there are train errors."""
    alter = scaled(quantity, 30.0 if quantity == "nc1" else 3.0, split="train", epoch=100)
    assert verdict(PAPER, claim, in_one_run(alter)(tables_of(claim))) == "corrected"


@pytest.mark.parametrize(
    ("claim", "quantity", "split"),
    [("nc1", "nc1", "train"), ("nc3", "self_duality", "train"), ("test_collapse_slower", "nc1", "test")],
)
def test_a_network_is_judged_by_the_median_of_its_seeds(claim, quantity, split):
    """One seed in three that behaves otherwise turns nothing, two do."""
    tables = tables_of(claim)
    alter = [scaled(quantity, 1e3 if split == "train" else 1e-3, split=split, epoch=100, seed=seed) for seed in (0, 2)]
    assert verdict(PAPER, claim, in_one_run(alter[0])(tables)) == "reproduced"
    assert verdict(PAPER, claim, in_one_run(alter[1])(tables)) == "contradicted"


def test_a_difference_within_its_spread_is_undecided():
    tables = tables_of("mse_more_robust")
    for seed, factor in enumerate((0.5, 1.0, 2.0)):
        scaled("robustness", factor, seed=seed)({"one": tables["digits_vgg_ce"]})
    assert verdict(PAPER, "mse_more_robust", tables) == "not reproduced"


def test_single_seeds_are_taken_together():
    runs = project().claims(PAPER)["claims"]["mse_more_robust"]["runs"]
    tables = {run: made_up(run, seeds=1) for run in runs}
    scaled("robustness", 1.1)({"one": tables["digits_vgg_ce"]})
    outcome = robustness.mse_more_robust(tables)
    assert outcome.samples == 6
    assert outcome.printed.uncertainty > 0
    assert "all trainings" in outcome.printed.criterion


def test_the_paper_s_data_sets_are_untested_without_them():
    found = evaluate(collapse.five_data_sets, {}, {"factor": 10.0, "share": 0.001})
    assert found["verdict"] == "untested"
    assert "full.yaml" in found["reason"]


def test_losses_are_not_compared_without_both():
    tables = {"digits_vgg_mse": made_up("digits_vgg_mse")}
    assert verdict(PAPER, "mse_collapses_faster", tables) == "untested"
