"""Claims on made-up trainings: what they leave undecided, which trainings they leave out, how losses are compared.

A training is one seed of one network, of three each. Epochs are 1, 3, 10, 30 and 100; train errors end at 10. The
claims say how quantities fall or grow from there on: their premise is that train errors end in every training.
"""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.neural_collapse.collapse import claims as collapse
from learning_dynamics.papers.neural_collapse.decomposition.claims import largest_terms
from learning_dynamics.papers.neural_collapse.generalisation import claims as generalisation
from learning_dynamics.papers.neural_collapse.perturbations import claims as perturbations
from learning_dynamics.papers.neural_collapse.trainings import (
    at_errors_end,
    by_seed,
    epochs_errors_end,
    growth_since_errors_end,
    values_at_errors_end,
    without_stl10_exceptions,
)
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    BEFORE_DROP,
    LAST_EPOCH,
    NETWORKS,
    ZERO_ERROR,
    expected_value,
    made_up,
    trainings,
)

PREMISE = {"train_error": 1e-3}  # the share of train images that may stay misclassified
# claims on training beyond zero train error, with settings under which made-up trainings pass
CASES = {
    # NC1 falls, and ends at the level or below
    "nc1": (collapse.nc1, {"level": 0.01, **PREMISE}),
    # network and nearest class mean differ on at most that share of the train images at the end
    "nc4": (collapse.nc4, {"largest_share": 0.001, **PREMISE}),
    # L_LS^perp, what the network's own classifier adds to the loss, is at most a tenth of L_LS from an early epoch on
    "deviation": (
        largest_terms.least_squares_deviation_negligible,
        {"largest_share": 0.1, "parts": "all", "since": "early", "decay": "trained", **PREMISE},
    ),
    # L_NC1 is the largest term of the loss from an early epoch on
    "dominates": (
        largest_terms.nc1_term_dominates,
        {"parts": "all", "since": "early", "decay": "trained", **PREMISE},
    ),
    # robustness grows
    "grows": (perturbations.robustness_grows_after_zero_error, {"measure": "robustness", **PREMISE}),
    # test accuracy improves
    "accuracy": (generalisation.accuracy_after_zero_error, {"average": "mean", **PREMISE}),
    # NC1 falls on test images too, but less far than on train images
    "test_images": (generalisation.test_collapse_slower, {"average": "mean", "much": 2.0, **PREMISE}),
    # NC2 and NC3 fall less far on test images than on train images, and end higher; NC4 ends higher
    "angles_on_test_images": (generalisation.collapse_on_test_images, {"average": "mean", "much": 2.0, **PREMISE}),
}


@pytest.mark.parametrize("case", CASES)
def test_one_training_whose_train_errors_do_not_end_leaves_a_claim_undecided(case):
    claim, settings = CASES[case]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "error", 0.01, network="vgg", split="train", seed=0)
    evaluation = evaluate(claim, tables, settings)
    assert evaluation.verdict == "undecided"
    unmet = evaluation.judgement.deciding
    assert unmet.is_premise
    assert unmet.value == 0.01  # the share of train images that stays misclassified
    assert (unmet.draws, unmet.draws_against) == (3 * len(NETWORKS), 1)  # three seeds of each network
    assert "the premise is not met (0.01" in evaluation.reason


def test_a_last_value_that_is_missing_leaves_the_claim_undecided():
    claim, settings = CASES["nc1"]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc1", np.nan, network="resnet", split="train", epoch=LAST_EPOCH)
    assert evaluate(claim, tables, settings).verdict == "undecided"


every_comparison_of_losses = pytest.mark.parametrize(
    ("claim", "settings"),
    [
        pytest.param(collapse.mse_collapses_faster, {"until": "end"}, id="faster"),
        pytest.param(
            perturbations.mse_more_robust, {"measure": "robustness", "compared_by": "ratio"}, id="more robust"
        ),
    ],
)


@every_comparison_of_losses
def test_trainings_under_both_losses_pair_by_network_whatever_their_order(claim, settings):
    tables = {"mse": trainings("mse"), "ce": trainings("ce")[::-1]}
    assert evaluate(claim, tables, settings).verdict == "reproduced"


@every_comparison_of_losses
def test_trainings_under_another_loss_than_their_role_names_are_refused(claim, settings):
    with pytest.raises(ProjectError, match="role `mse` holds a training whose loss is ce"):
        evaluate(claim, {"mse": trainings("ce"), "ce": trainings("mse")}, settings)


@every_comparison_of_losses
def test_mse_can_lose_the_comparison(claim, settings):
    tables = {"mse": trainings("ce"), "ce": trainings("mse")}
    for loss in tables:
        for table in tables[loss]:
            table.attrs["settings"]["loss"] = loss  # each loss is given the numbers of the other
    assert evaluate(claim, tables, settings).verdict == "not reproduced"


def test_a_network_without_a_partner_leaves_the_comparison_untested():
    two_networks = trainings("ce")[:2]
    evaluation = evaluate(collapse.mse_collapses_faster, {"mse": trainings(), "ce": two_networks}, {"until": "end"})
    assert evaluation.verdict == "untested"


NC1_LEVEL = 0.01  # the largest NC1 at the last epoch
FIVE_DATA_SETS_SETTINGS = {"level": NC1_LEVEL, "largest_share": 0.001, **PREMISE}


def test_the_sentence_on_five_data_sets_leaves_out_its_two_exceptions():
    """They are ResNet and DenseNet on STL10 (appendix A.7)."""
    tables = [made_up(network, data=data, seeds=1) for data in collapse.FIVE_DATA_SETS for network in NETWORKS]
    evaluation = evaluate(collapse.five_data_sets, {"trainings": tables}, FIVE_DATA_SETS_SETTINGS)
    assert evaluation.verdict == "reproduced"
    assert evaluation.judgement.headline.draws == 5 * len(NETWORKS) - 2
    assert "2 left out" in evaluation.judgement.headline.excluded


def test_vgg_on_stl10_is_no_exception_and_resnet_on_it_is_one():
    included, excluded = without_stl10_exceptions([made_up("vgg", data="stl10"), made_up("resnet", data="stl10")])
    assert [table.attrs["settings"]["network"] for table in included] == ["vgg"]
    assert list(excluded.values()) == [3]  # trainings: the seeds of ResNet


# the paper names no exceptions from its Table 1
CASES_WITH_EXCEPTIONS = {name: case for name, case in CASES.items() if name != "accuracy"} | {
    "simplex first": (collapse.simplex_before_compression, {"share_of_way": 0.9}),
    "nc2": (collapse.nc2_not_slower, {"share_of_way": 0.9, "reading": "no_evidence", "nc2_of": "class_means"}),
}


@pytest.mark.parametrize("case", CASES_WITH_EXCEPTIONS)
def test_trainings_that_the_paper_names_as_exceptions_are_left_out_of_every_check(case):
    claim, settings = CASES_WITH_EXCEPTIONS[case]
    exception = made_up("resnet", data="stl10")
    with_exception = evaluate(claim, {"trainings": [*trainings(), exception]}, settings)
    without = evaluate(claim, {"trainings": trainings()}, settings)
    assert with_exception.verdict == without.verdict
    for check, expected in zip(with_exception.judgement.checks, without.judgement.checks, strict=True):
        assert (check.value, check.draws) == (expected.value, expected.draws), check.name
        assert "3 left out" in check.excluded, check.name  # trainings: the seeds of the exception


@pytest.mark.parametrize("case", CASES_WITH_EXCEPTIONS)
def test_exceptions_alone_leave_a_claim_untested(case):
    claim, settings = CASES_WITH_EXCEPTIONS[case]
    evaluation = evaluate(claim, {"trainings": [made_up("resnet", data="stl10")]}, settings)
    assert evaluation.verdict == "untested"
    assert evaluation.reason.startswith("all trainings are exceptions by appendix A.7:")


def evaluate_five_data_sets_on(tables):
    return evaluate(collapse.five_data_sets, tables, FIVE_DATA_SETS_SETTINGS)


def test_one_data_set_that_collapses_does_not_confirm_the_sentence_on_five():
    evaluation = evaluate_five_data_sets_on({"trainings": [made_up(network, data="mnist") for network in NETWORKS]})
    assert evaluation.verdict == "untested"
    assert evaluation.reason.startswith("tried on mnist,")


def test_one_data_set_can_refute_the_sentence_on_five_unless_its_train_errors_stay():
    tables = {"trainings": [made_up(network, data="fashion_mnist") for network in NETWORKS]}
    too_high = 1.1 * NC1_LEVEL
    altered.put(tables, "trainings", "nc1", too_high, network="densenet", seed=1, split="train", epoch=LAST_EPOCH)
    assert evaluate_five_data_sets_on(tables).verdict == "not reproduced"
    altered.put(tables, "trainings", "error", 0.01, network="vgg", split="train", seed=0)
    assert evaluate_five_data_sets_on(tables).verdict == "untested"


def test_a_data_set_that_is_none_of_the_five_says_nothing_of_them():
    evaluation = evaluate_five_data_sets_on({"trainings": [made_up(network, data="digits") for network in NETWORKS]})
    assert evaluation.verdict == "untested"
    assert evaluation.reason.startswith("needs MNIST")


@pytest.fixture
def training_of_unequal_seeds():
    """A table of trainings whose train errors end at epoch 10 for seeds 0 and 2, and at epoch 30 for seed 1."""
    tables = {"trainings": [made_up()]}
    altered.put(tables, "trainings", "error", 0.1, split="train", seed=1, epoch=10)
    (table,) = tables["trainings"]
    return table


def test_train_errors_of_a_seed_end_at_its_first_epoch_without_a_misclassified_image(training_of_unequal_seeds):
    assert epochs_errors_end(training_of_unequal_seeds, train_error=0.0).tolist() == [10, 30, 10]


def test_a_quantity_is_read_for_each_seed_where_its_train_errors_end(training_of_unequal_seeds):
    values = at_errors_end([training_of_unequal_seeds], "nc1", train_error=0.0)
    expected = [expected_value("nc1", epoch, seed=seed) for seed, epoch in enumerate((10, 30, 10))]
    assert values == pytest.approx(expected)


def test_a_quantity_of_fewer_epochs_is_read_at_the_next_one_after_train_errors_end(training_of_unequal_seeds):
    measured = by_seed(training_of_unequal_seeds, "robustness", "test").loc[[1, 30, 100]]
    values = values_at_errors_end(measured, training_of_unequal_seeds, train_error=0.0)
    expected = [expected_value("robustness", 30, split="test", seed=seed) for seed in range(3)]
    assert values.tolist() == pytest.approx(expected)


def test_a_quantity_that_is_not_measured_since_train_errors_ended_is_nan(training_of_unequal_seeds):
    measured = by_seed(training_of_unequal_seeds, "robustness", "test").loc[[1, 10]]
    values = values_at_errors_end(measured, training_of_unequal_seeds, train_error=0.0)
    assert np.isnan(values).tolist() == [False, True, False]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    # the premise asks for 99.9 % train accuracy, a variant for all images
    ("n_wrong", "train_error", "is_met"),
    [(1, 1e-3, True), (2, 1e-3, False), (1, 0.0, False), (0, 0.0, True)],
)
def test_the_premise_is_met_where_no_more_of_1000_images_are_wrong_than_it_allows(case, n_wrong, train_error, is_met):
    claim, settings = CASES[case]
    # by one minus the accuracy, which makes the share of one image larger than 1e-3 by rounding
    share = 1 - (1000 - n_wrong) / 1000
    tables = {"trainings": trainings()}
    for epoch in (ZERO_ERROR, BEFORE_DROP, LAST_EPOCH):
        altered.put(tables, "trainings", "error", share, network="vgg", split="train", seed=0, epoch=epoch)
    evaluation = evaluate(claim, tables, settings | {"train_error": train_error})
    assert (evaluation.verdict == "reproduced") == is_met


@pytest.fixture
def robustness_of_single_seeds():
    """A table whose robustness is measured at the first and the last epoch, of seed 0 also at 10, of seed 1 also at 30.

    Train errors end at epoch 10.
    """
    table = made_up()
    is_measured = (
        table["epoch"].isin([1, LAST_EPOCH])
        | ((table["seed"] == 0) & (table["epoch"] == 10))
        | ((table["seed"] == 1) & (table["epoch"] == 30))
    )
    is_other_quantity = table["quantity"] != "robustness"
    sparse = table[is_other_quantity | is_measured]
    sparse.attrs = table.attrs
    return sparse


def test_a_seed_is_read_at_an_epoch_at_which_it_was_measured_itself(robustness_of_single_seeds):
    values = at_errors_end([robustness_of_single_seeds], "robustness", "test", train_error=0.0)
    expected = [
        expected_value("robustness", epoch, split="test", seed=seed) for seed, epoch in enumerate((10, 30, 100))
    ]
    assert values == pytest.approx(expected)


def test_a_measurement_that_gave_no_number_is_not_replaced_by_a_later_one(robustness_of_single_seeds):
    tables = {"trainings": [robustness_of_single_seeds]}
    altered.put(tables, "trainings", "robustness", np.nan, seed=1, epoch=30)
    values = at_errors_end(tables["trainings"], "robustness", "test", train_error=0.0)
    assert np.isnan(values).tolist() == [False, True, False]


def test_growth_since_errors_end_needs_two_measurements_from_there_on():
    table = made_up()
    is_measured = table["epoch"].isin([1, 30, 100])
    is_other_quantity = table["quantity"] != "robustness"
    sparse = table[is_other_quantity | is_measured]
    sparse.attrs = table.attrs
    tables = {"trainings": [sparse]}
    for epoch in (10, 30):  # so that train errors of seed 2 end at epoch 100, where one measurement is left
        altered.put(tables, "trainings", "error", 0.01, split="train", seed=2, epoch=epoch)
    growth = growth_since_errors_end(tables["trainings"], "robustness", "test", train_error=0.0)
    of_seeds_0_and_1 = [
        expected_value("robustness", 100, split="test", seed=seed)
        - expected_value("robustness", 30, split="test", seed=seed)
        for seed in (0, 1)
    ]
    assert growth.tolist() == pytest.approx([*of_seeds_0_and_1, np.nan], nan_ok=True)


# no train image is wrong from epoch 10 on, and here one of 1000 at epoch 3
@pytest.mark.parametrize(("train_error", "epoch"), [(1e-3, 3), (0.0, 10)])
def test_errors_end_earlier_where_one_image_of_1000_may_be_wrong(train_error, epoch):
    tables = {"trainings": [made_up()]}
    altered.put(tables, "trainings", "error", 1e-3, split="train", epoch=3)
    assert epochs_errors_end(tables["trainings"][0], train_error).tolist() == [epoch] * 3  # for each seed
    values = at_errors_end(tables["trainings"], "nc1", train_error=train_error)
    assert values == pytest.approx([expected_value("nc1", epoch, seed=seed) for seed in range(3)])
