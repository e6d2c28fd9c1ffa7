"""Claims on made-up trainings: what they leave undecided, which trainings they leave out, how losses are compared."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.neural_collapse.collapse import claims as collapse
from learning_dynamics.papers.neural_collapse.decomposition.claims import trainings as decomposition
from learning_dynamics.papers.neural_collapse.generalisation import claims as generalisation
from learning_dynamics.papers.neural_collapse.perturbations import claims as perturbations
from learning_dynamics.papers.neural_collapse.trainings import (
    at_errors_end,
    by_seed,
    epochs_errors_end,
    growth_since_errors_end,
    values_at_errors_end,
    without_exceptions,
)
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import CURVES, NETWORKS, luck, made_up, trainings

PREMISE = {"train_error": 1e-3}
CASES = {
    "nc1": (collapse.nc1, {"level": 0.01, **PREMISE}),
    "nc4": (collapse.nc4, {"largest_share": 0.001, **PREMISE}),
    "deviation": (
        decomposition.least_squares_deviation_negligible,
        {"largest_share": 0.1, "parts": "all", "since": "early", "decay": "trained", **PREMISE},
    ),
    "dominates": (
        decomposition.nc1_term_dominates,
        {"parts": "all", "since": "early", "decay": "trained", **PREMISE},
    ),
    "grows": (perturbations.robustness_grows_after_zero_error, {"measure": "robustness", **PREMISE}),
    "accuracy": (generalisation.accuracy_after_zero_error, {"average": "mean", **PREMISE}),
    "test_images": (generalisation.test_collapse_slower, {"average": "mean", **PREMISE}),
    "angles_on_test_images": (generalisation.collapse_on_test_images, {"average": "mean", **PREMISE}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_training_that_keeps_its_errors_leaves_what_is_said_of_the_time_after_them_undecided(case):
    claim, settings = CASES[case]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "error", 0.01, network="vgg", split="train", seed=0)
    found = evaluate(claim, tables, settings)
    assert found.verdict == "undecided"
    unmet = found.judgement.deciding
    assert unmet.is_premise
    assert (unmet.value, unmet.draws, unmet.draws_against) == (0.01, 9, 1)
    assert "the premise is not met (0.01" in found.reason


def test_a_value_that_is_missing_is_undecided():
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc1", np.nan, network="resnet", split="train", epoch=100)
    assert evaluate(collapse.nc1, tables, CASES["nc1"][1]).verdict == "undecided"


@pytest.mark.parametrize(
    ("claim", "settings"),
    [
        (collapse.mse_collapses_faster, {"until": "end"}),
        (perturbations.mse_more_robust, {"measure": "robustness", "compared_by": "ratio"}),
    ],
)
def test_losses_are_compared_pairwise_and_can_lose(claim, settings):
    mse, ce = trainings(), trainings("ce")
    assert evaluate(claim, {"mse": mse, "ce": ce[::-1]}, settings).verdict == "reproduced"
    with pytest.raises(ProjectError, match="role `mse` holds a training whose loss is ce"):
        evaluate(claim, {"mse": ce, "ce": mse}, settings)
    for tables, loss in ((mse, "ce"), (ce, "mse")):
        for table in tables:
            table.attrs["settings"]["loss"] = loss
    assert evaluate(claim, {"mse": ce, "ce": mse}, settings).verdict == "not reproduced"


def test_a_network_without_a_partner_leaves_the_comparison_untested():
    found = evaluate(collapse.mse_collapses_faster, {"mse": trainings(), "ce": trainings("ce")[:2]}, {"until": "end"})
    assert found.verdict == "untested"


def test_five_data_sets_leave_out_what_the_paper_names():
    tables = [made_up(network, data=data, seeds=1) for data in collapse.FIVE_DATA_SETS for network in NETWORKS]
    settings = {"level": 0.01, "largest_share": 0.001, **PREMISE}
    found = evaluate(collapse.five_data_sets, {"trainings": tables}, settings)
    assert found.verdict == "reproduced"
    assert found.judgement.headline.draws == 13
    assert "2 left out" in found.judgement.headline.excluded
    few = evaluate(collapse.five_data_sets, {"trainings": tables[:3]}, settings)
    assert (few.verdict, few.reason.partition(",")[0]) == ("untested", "tried on mnist")
    (kept, *_), excluded = without_exceptions([made_up("vgg", data="stl10"), made_up("resnet", data="stl10")])
    assert kept.attrs["settings"]["network"] == "vgg"
    assert list(excluded.values()) == [3]


EXCEPTIONS = {
    **CASES,
    "simplex first": (collapse.simplex_before_compression, {"share_of_way": 0.9}),
    "nc2": (collapse.nc2_not_slower, {"share_of_way": 0.9, "reading": "no_evidence", "nc2_of": "class_means"}),
}
EXCEPTIONS.pop("accuracy")  # the paper names no exceptions from its Table 1


@pytest.mark.parametrize("case", EXCEPTIONS)
def test_trainings_that_the_paper_names_as_exceptions_are_left_out_and_decide_nothing(case):
    claim, settings = EXCEPTIONS[case]
    exception = made_up("resnet", data="stl10")
    found = evaluate(claim, {"trainings": [*trainings(), exception]}, settings)
    alone = evaluate(claim, {"trainings": trainings()}, settings)
    assert found.verdict == alone.verdict
    for check, without in zip(found.judgement.checks, alone.judgement.checks, strict=True):
        assert (check.value, check.draws) == (without.value, without.draws), check.name
        assert "3 left out" in check.excluded, check.name
    nothing = evaluate(claim, {"trainings": [exception]}, settings)
    assert (nothing.verdict, nothing.reason.partition(":")[0]) == (
        "untested",
        "all trainings are exceptions by appendix A.7",
    )


def test_one_data_set_can_be_against_all_five_unless_its_train_errors_stay():
    settings = {"level": 0.01, "largest_share": 0.001, **PREMISE}
    tables = {"trainings": [made_up(network, data="fashion_mnist") for network in NETWORKS]}
    altered.put(tables, "trainings", "nc1", 0.1, network="densenet", seed=1, split="train", epoch=100)
    assert evaluate(collapse.five_data_sets, tables, settings).verdict == "not reproduced"
    altered.put(tables, "trainings", "error", 0.01, network="vgg", split="train", seed=0)
    assert evaluate(collapse.five_data_sets, tables, settings).verdict == "untested"
    other = {"trainings": [made_up(network, data="digits") for network in NETWORKS]}
    assert evaluate(collapse.five_data_sets, other, settings).reason.startswith("needs MNIST")


def expected_value(quantity, split, seed, epoch):
    """Return what `made_up` gives a quantity for a seed at an epoch: a power of the epoch."""
    start, power = CURVES[split, quantity]
    return luck(seed) * start * epoch**-power


@pytest.fixture
def errors_end_at_other_epochs():
    """A training whose train errors end at epoch 10 for seeds 0 and 2, and at epoch 30 for seed 1."""
    tables = {"trainings": [made_up()]}
    return altered.put(tables, "trainings", "error", 0.1, split="train", seed=1, epoch=10)["trainings"][0]


def test_train_errors_end_for_each_seed_at_its_first_epoch_without_a_misclassified_image(errors_end_at_other_epochs):
    assert epochs_errors_end(errors_end_at_other_epochs, 0.0).tolist() == [10, 30, 10]


def test_a_quantity_is_read_for_each_seed_where_its_train_errors_end(errors_end_at_other_epochs):
    values = at_errors_end([errors_end_at_other_epochs], "nc1", train_error=0.0)
    epochs = [10, 30, 10]  # by seed
    assert values == pytest.approx([expected_value("nc1", "train", *pair) for pair in enumerate(epochs)])


def test_values_at_fewer_epochs_are_read_at_the_next_one_after_train_errors_end(errors_end_at_other_epochs):
    measured = by_seed(errors_end_at_other_epochs, "robustness", "test").loc[[1, 30, 100]]
    values = values_at_errors_end(measured, errors_end_at_other_epochs, 0.0)
    assert values.tolist() == pytest.approx([expected_value("robustness", "test", seed, 30) for seed in range(3)])


def test_values_that_end_before_train_errors_do_are_nan(errors_end_at_other_epochs):
    measured = by_seed(errors_end_at_other_epochs, "robustness", "test").loc[[1, 10]]
    values = values_at_errors_end(measured, errors_end_at_other_epochs, 0.0)
    assert np.isnan(values).tolist() == [False, True, False]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    # of 1,000 images; the premise asks for 99.9 % train accuracy, a variant for all images
    ("wrong_images", "train_error", "decided"),
    [(1, 1e-3, True), (2, 1e-3, False), (1, 0.0, False), (0, 0.0, True)],
)
def test_train_errors_have_ended_where_no_more_images_are_wrong_than_asked_for(
    case, wrong_images, train_error, decided
):
    claim, settings = CASES[case]
    share = 1 - (1000 - wrong_images) / 1000  # rounding leaves that of one image above 1e-3, in the last digits
    tables = {"trainings": trainings()}
    for epoch in (10, 30, 100):
        altered.put(tables, "trainings", "error", share, network="vgg", split="train", seed=0, epoch=epoch)
    found = evaluate(claim, tables, settings | {"train_error": train_error})
    assert (found.verdict == "reproduced") == decided


def test_a_seed_is_read_where_it_was_measured_and_not_where_another_was():
    table = made_up()
    # robustness was measured of all seeds at the first and the last epoch, of seed 0 also at 10 and of seed 1 at 30
    kept = table["epoch"].isin([1, 100]) | ((table["seed"] == 0) & (table["epoch"] == 10))
    kept |= ((table["seed"] == 1) & (table["epoch"] == 30)) | (table["quantity"] != "robustness")
    sparse = table[kept]
    sparse.attrs = table.attrs
    values = at_errors_end([sparse], "robustness", "test", train_error=0.0)
    epochs = [10, 30, 100]  # by seed
    assert values == pytest.approx([expected_value("robustness", "test", *pair) for pair in enumerate(epochs)])
    missing = altered.put({"trainings": [sparse]}, "trainings", "robustness", np.nan, seed=1, epoch=30)["trainings"]
    assert np.isnan(at_errors_end(missing, "robustness", "test", train_error=0.0)).tolist() == [False, True, False]


def test_growth_since_errors_end_needs_two_measurements_from_there_on():
    table = made_up()
    sparse = table[table["epoch"].isin([1, 30, 100]) | (table["quantity"] != "robustness")]
    sparse.attrs = table.attrs
    tables = {"trainings": [sparse]}
    for epoch in (10, 30):  # train errors of seed 2 end at epoch 100, those of the others at 10
        altered.put(tables, "trainings", "error", 0.01, split="train", seed=2, epoch=epoch)
    growth = growth_since_errors_end(tables["trainings"], "robustness", "test", train_error=0.0)
    at_30, at_100 = ([expected_value("robustness", "test", seed, epoch) for seed in (0, 1)] for epoch in (30, 100))
    assert growth.tolist() == pytest.approx([*np.subtract(at_100, at_30), np.nan], nan_ok=True)


def test_errors_end_earlier_where_one_image_of_1000_may_be_wrong():
    table = made_up()
    early = altered.put({"trainings": [table]}, "trainings", "error", 1e-3, split="train", epoch=3)["trainings"]
    assert epochs_errors_end(early[0], 1e-3).tolist() == [3, 3, 3]
    assert epochs_errors_end(early[0], 0.0).tolist() == [10, 10, 10]
    values = at_errors_end(early, "nc1", train_error=1e-3)
    assert values == pytest.approx([expected_value("nc1", "train", seed, 3) for seed in range(3)])
