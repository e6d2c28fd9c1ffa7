"""Claims on test images, judged on made-up trainings, and Table 1 against pandas and scipy.

Made-up quantities are powers of the epoch, at epochs 1, 3, 10, 30 and 100; train errors end at epoch 10.
"""

import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.generalisation.table1 import accuracies
from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    CURVES,
    LAST,
    NETWORKS,
    ZERO_ERROR,
    both_losses,
    expected_value,
    made_up,
    trainings,
)

PAPER = "neural_collapse"
ANGLES = ("equinorm_means", "equiangular_means", "maximal_angle_means", "self_duality")

every_claim_and_quantity = pytest.mark.parametrize(
    ("claim", "quantity"), [("test_collapse_slower", "nc1"), *[("collapse_on_test_images", name) for name in ANGLES]]
)


@pytest.mark.parametrize("claim", ["test_collapse_slower", "collapse_on_test_images"])
def test_what_is_said_of_test_images_is_reproduced_as_made_up(claim):
    assert altered.verdict(claim, {"trainings": trainings()}) == "reproduced"


@every_claim_and_quantity
@pytest.mark.parametrize(("test_over_train", "expected"), [(1.1, "reproduced"), (0.9, "refused")])
def test_a_quantity_that_ends_lower_on_test_than_on_train_images_is_refused(claim, quantity, test_over_train, expected):
    # at all epochs by the same factor, which leaves the fall
    factor = test_over_train * expected_value(quantity, LAST) / expected_value(quantity, LAST, split="test")
    tables = altered.put({"trainings": trainings()}, "trainings", quantity, lambda value: factor * value, split="test")
    assert altered.verdict(claim, tables) == expected


@every_claim_and_quantity
@pytest.mark.parametrize(
    ("epoch", "further_by", "expected"),
    [
        pytest.param(10, 0.1, "refused", id="further from where errors end"),
        pytest.param(10, -0.1, "reproduced", id="less far from where errors end"),
        pytest.param(3, 0.1, "reproduced", id="further from before errors end"),
    ],
)
def test_a_quantity_may_not_fall_further_on_test_images_once_train_errors_have_ended(
    claim, quantity, epoch, further_by, expected
):
    _, power = CURVES["train", quantity]
    fall = power * np.log10(LAST / epoch) + further_by  # in decades, of which train images have the first summand
    values = [10**fall * expected_value(quantity, LAST, split="test", seed=seed) for seed in range(3)]
    tables = altered.put({"trainings": trainings()}, "trainings", quantity, values, split="test", epoch=epoch)
    assert altered.verdict(claim, tables) == expected


RISEN = 2.0  # above any of these quantities on test images where train errors end


def test_nc1_must_fall_on_test_images_too():
    tables = altered.put({"trainings": trainings()}, "trainings", "nc1", RISEN, split="test", epoch=100)
    assert altered.verdict("test_collapse_slower", tables) == "refused"


def test_norms_angles_and_self_duality_need_not_fall_on_test_images():
    tables = {"trainings": trainings()}
    for quantity in ANGLES:
        altered.put(tables, "trainings", quantity, RISEN, split="test", epoch=100)
    assert altered.verdict("collapse_on_test_images", tables) == "reproduced"


@pytest.mark.parametrize(("test_over_train", "expected"), [(1.1, "reproduced"), (0.9, "refused")])
def test_decisions_on_test_images_must_differ_more_than_on_train_images(test_over_train, expected):
    values = [test_over_train * expected_value("nc4", LAST, seed=seed) for seed in range(3)]
    tables = altered.put({"trainings": trainings()}, "trainings", "nc4", values, split="test", epoch=-1)
    assert altered.verdict("collapse_on_test_images", tables) == expected


def test_falls_on_test_images_are_compared_in_decades():
    found = support.evaluation(PAPER, "test_collapse_slower", {"trainings": trainings()})
    assert "reproduced" not in found.rivals.values()
    # over the decade of epochs from 10 to 100; seeds multiply test and train images alike
    fall_on_train, fall_on_test = 1.5, 0.5
    higher_at_end = np.log10(1.2) + (1.5 - 0.5) * 2  # 1.2 times as high at epoch 1, two decades of epochs before
    expected = {
        "fall on train minus fall on test": fall_on_train - fall_on_test,
        "test minus train images": higher_at_end,
        ": fall on test images": fall_on_test,
        "train images misclassified": 0.0,  # the premise
    }
    assert len(found.judgement.checks) == len(expected)
    for words, value in expected.items():
        assert altered.check_of(found.judgement, words).value == pytest.approx(value), words
    assert (found.facts["train"], found.facts["test"]) == pytest.approx((fall_on_train, fall_on_test))


@pytest.fixture
def trainings_that_gain_accuracy():
    """Tables by role, with test errors drawn where train errors end and at the last epoch; and the nine gains."""
    rng = np.random.default_rng(0)
    tables, gains = {"trainings": trainings()}, []
    for network in NETWORKS:
        for seed in range(3):
            start, end = 0.05 + 0.01 * rng.random(), 0.03 + 0.01 * rng.random()
            one = {"network": network, "seed": seed, "split": "test"}
            altered.put(tables, "trainings", "error", start, **one, epoch=10)
            altered.put(tables, "trainings", "error", end, **one, epoch=100)
            gains.append(100 * (start - end))  # percentage points
    return tables, gains


def test_the_gain_in_accuracy_is_a_mean_of_points_with_students_interval(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    found = support.evaluation(PAPER, "accuracy_after_zero_error", tables)
    assert found.verdict == "reproduced"
    assert "reproduced" not in found.rivals.values()
    interval = scipy.stats.ttest_1samp(gains, 0.0).confidence_interval(0.95)
    headline = found.judgement.headline
    assert headline.value == pytest.approx(np.mean(gains))
    assert (headline.lower, headline.upper) == pytest.approx((interval.low, interval.high))


def test_the_gain_in_accuracy_may_be_a_median(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    found = support.evaluation(PAPER, "accuracy_after_zero_error", tables, average="median")
    assert found.judgement.headline.value == pytest.approx(np.median(gains))


def test_the_text_has_the_least_the_median_and_the_largest_gain(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    facts = support.evaluation(PAPER, "accuracy_after_zero_error", tables).facts
    found = (facts["least"], facts["median"], facts["most"])
    assert found == pytest.approx((np.min(gains), np.median(gains), np.max(gains)))


# -- errors under both losses ----------------------------------------------------------------------

FACTOR = support.smoke(PAPER).claim(PAPER, "accuracy_comparable_to_ce")["settings"]["factor"]


def both_losses_with_errors(mse_error, ce_error):
    """Return trainings under both losses with these shares of misclassified test images at the last epoch."""
    tables = both_losses()
    altered.put(tables, "mse", "error", mse_error, split="test", epoch=-1)
    altered.put(tables, "ce", "error", ce_error, split="test", epoch=-1)
    return tables


every_ce_error = pytest.mark.parametrize("ce_error", [0.05, 0.005])


@every_ce_error
@pytest.mark.parametrize(
    ("ratio", "comparable"),
    [
        pytest.param(1.0, True, id="equal"),
        pytest.param(0.99 * FACTOR, True, id="almost too many"),
        pytest.param(1.01 * FACTOR, False, id="too many"),
        pytest.param(1 / (0.99 * FACTOR), True, id="almost too few"),
        pytest.param(1 / (1.01 * FACTOR), False, id="too few"),
    ],
)
def test_errors_are_comparable_within_the_configured_factor(ce_error, ratio, comparable):
    found = support.evaluation(PAPER, "accuracy_comparable_to_ce", both_losses_with_errors(ratio * ce_error, ce_error))
    assert (found.verdict == "reproduced") == comparable
    assert "reproduced" not in found.rivals.values()


@every_ce_error
def test_errors_under_one_loss_are_compared_with_a_multiple_of_those_under_the_other(ce_error):
    mse_error = 1.2 * ce_error
    found = support.evaluation(PAPER, "accuracy_comparable_to_ce", both_losses_with_errors(mse_error, ce_error))
    too_many_under_mse = altered.check_of(found.judgement, "test errors under MSE minus")
    too_few_under_mse = altered.check_of(found.judgement, "test errors under CE minus")
    # in percentage points
    assert too_many_under_mse.value == pytest.approx(100 * (mse_error - FACTOR * ce_error))
    assert too_few_under_mse.value == pytest.approx(100 * (ce_error - FACTOR * mse_error))
    facts = (found.facts["mse_error"], found.facts["ce_error"])
    assert facts == pytest.approx((100 * mse_error, 100 * ce_error))


def test_errors_are_compared_network_by_network():
    """VGG makes ten times the errors of the others under both losses, whose trainings are in another order.

    Pairs of different networks would widen the interval.
    """
    tables = both_losses_with_errors(0.01, 0.01)
    for role in tables:
        altered.put(tables, role, "error", 0.1, network="vgg", split="test", epoch=-1)
    tables["ce"].reverse()
    assert altered.verdict("accuracy_comparable_to_ce", tables) == "reproduced"


def test_a_training_without_a_test_error_is_compared_too():
    """By a ratio it could not be."""
    tables = both_losses_with_errors(0.01, 0.01)
    for role in tables:
        altered.put(tables, role, "error", 0.0, network="vgg", split="test", seed=0, epoch=-1)
    assert altered.verdict("accuracy_comparable_to_ce", tables) == "reproduced"


def test_errors_that_differ_from_seed_to_seed_by_more_than_their_mean_decide_nothing():
    tables = both_losses_with_errors(0.01, 0.01)
    of_seeds = (0.0, 0.0, 0.03)  # the mean is 0.01
    # the 95 % interval over nine pairs is wider than the 0.0041 by which this is less than FACTOR times 0.01
    assert scipy.stats.t.ppf(0.975, 8) * scipy.stats.sem(3 * of_seeds) > (FACTOR - 1) * 0.01
    for seed, error in enumerate(of_seeds):
        altered.put(tables, "mse", "error", error, split="test", seed=seed, epoch=-1)
    assert support.verdict(PAPER, "accuracy_comparable_to_ce", tables) == "undecided"


# -- the order of the data sets --------------------------------------------------------------------

EASIEST_FIRST = ("mnist", "svhn", "fashion_mnist", "cifar10", "stl10")  # by the test errors of Table 1


def on_five_data_sets(orders, loss="mse"):
    """Return one training of each of three networks on each of five data sets, by the role of the claim.

    Each of `orders` is a network's: the ranks of NC1 on test images, from the easiest data set to the hardest.
    """
    tables = []
    for network, order in zip(NETWORKS, orders, strict=True):
        for data, rank in zip(EASIEST_FIRST, order, strict=True):
            table = made_up(network, loss, data=data, seeds=1)
            rows = altered.rows_of(table, "nc1", split="test")
            tables.append(table[rows].assign(value=1.0 + rank))
            tables[-1].attrs = table.attrs
    return {"trainings": tables}


def correlation_with_difficulty(order, *, without_stl10=False):
    """Return Spearman's correlation of an order of data sets with their order by difficulty; STL10 is the last."""
    ranks = order[:4] if without_stl10 else order
    return scipy.stats.spearmanr(ranks, range(len(ranks))).statistic


def mean_correlation(orders):
    """Return the mean over VGG, ResNet and DenseNet; STL10 is an exception of the last two (appendix A.7)."""
    vgg, resnet, densenet = orders
    correlations = [
        correlation_with_difficulty(vgg),
        correlation_with_difficulty(resnet, without_stl10=True),
        correlation_with_difficulty(densenet, without_stl10=True),
    ]
    return np.mean(correlations)


# one in twenty of the 120 orders are 6: the last two are on either side
@pytest.mark.parametrize(
    ("order", "beyond_chance"),
    [
        pytest.param((4, 3, 2, 1, 0), False, id="reversed"),
        pytest.param((0, 1, 2, 3, 4), True, id="by difficulty"),
        pytest.param((0, 2, 1, 3, 4), True, id="6 orders correlate as much or more"),
        pytest.param((1, 0, 2, 4, 3), False, id="9 orders correlate as much or more"),
    ],
)
def test_an_order_of_data_sets_counts_if_one_in_twenty_or_fewer_correlate_as_much(order, beyond_chance):
    by_chance = np.array([mean_correlation([other] * 3) for other in itertools.permutations(range(5))])
    correlation = mean_correlation([order] * 3)
    assert (np.mean(by_chance >= correlation - 1e-9) <= 1 / 20) == beyond_chance  # orders tie, but for rounding
    found = support.evaluation(PAPER, "test_collapse_by_difficulty", on_five_data_sets([order] * 3))
    assert found.judgement.headline.value == pytest.approx(correlation)
    assert (found.verdict == "reproduced") == beyond_chance
    if beyond_chance:
        assert "reproduced" not in found.rivals.values()


# VGG's order is that of difficulty. Of ResNet's and DenseNet's four data sets two neighbours are exchanged: that leaves
# a correlation of 1 - 6 (1 + 1) / (4 (16 - 1)) = 0.8: in the mean it is (1 + 0.8 + 0.8) / 3 = 0.8667
@pytest.mark.parametrize(("correlation", "is_reproduced"), [(0.86, True), (0.87, False)])
def test_networks_with_neighbours_exchanged_correlate_with_difficulty_in_the_mean(correlation, is_reproduced):
    tables = on_five_data_sets([(0, 1, 2, 3, 4), (1, 0, 2, 3, 4), (0, 1, 3, 2, 4)])
    found = support.evaluation(PAPER, "test_collapse_by_difficulty", tables, correlation=correlation)
    assert found.judgement.headline.value == pytest.approx(2.6 / 3)
    assert (found.verdict == "reproduced") == is_reproduced


def test_trainings_under_both_losses_count_in_the_order_of_data_sets():
    by_difficulty = on_five_data_sets([range(5)] * 3, "mse")["trainings"]
    reverse = on_five_data_sets([range(5, 0, -1)] * 3, "ce")["trainings"]
    found = support.evaluation(PAPER, "test_collapse_by_difficulty", {"trainings": by_difficulty + reverse})
    assert found.judgement.headline.value == pytest.approx(0.0)  # the mean of 1 and -1
    assert found.verdict != "reproduced"


def test_without_one_of_the_five_data_sets_their_order_is_untested():
    tables = on_five_data_sets([range(5)] * 3)["trainings"]
    fewer = {"trainings": [table for table in tables if table["data"].iloc[0] != "svhn"]}
    assert support.evaluation(PAPER, "test_collapse_by_difficulty", fewer).verdict == "untested"


# -- Table 1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("network", "loss"), [("vgg", "mse"), ("densenet", "ce")])
def test_table_1_has_means_and_standard_errors_over_seeds(network, loss):
    table = made_up(network, loss, data="svhn")
    row = accuracies([table]).iloc[0]
    test_errors = table[altered.rows_of(table, "error", split="test")]
    accuracy = 100 * (1 - test_errors.pivot_table(index="epoch", columns="seed", values="value"))
    at_zero_error, at_end = accuracy.loc[10], accuracy.loc[100]  # by seed
    change = at_end - at_zero_error
    for column, values in (("zero_error", at_zero_error), ("end", at_end), ("change", change)):
        assert row[column] == pytest.approx(values.mean()), column
        assert row[f"{column}_se"] == pytest.approx(scipy.stats.sem(values)), column
    assert row["change_median"] == pytest.approx(change.median())
    assert row["seeds"] == 3


def test_table_1_has_the_papers_numbers_for_mse_alone():
    rows = accuracies([made_up("vgg", data="svhn"), made_up("densenet", "ce", data="svhn")]).set_index("network")
    assert rows.loc["vgg", ["paper_zero_error", "paper_end"]].tolist() == [89.35, 93.91]
    assert rows.loc["densenet", ["paper_zero_error", "paper_end"]].isna().all()


def made_up_with_train_errors_that_stay(**where):
    """Return a made-up table in which the train errors of some seeds, by default of all, do not end."""
    table = made_up()
    table.loc[altered.rows_of(table, "error", split="train", **where), "value"] = 0.1
    return table


def test_table_1_is_of_the_seeds_whose_train_errors_end():
    row = accuracies([made_up_with_train_errors_that_stay(seed=0)]).iloc[0]
    assert row["seeds"] == 2
    of_seeds_1_and_2 = {
        epoch: [100 * (1 - expected_value("error", epoch, split="test", seed=seed)) for seed in (1, 2)]
        for epoch in (ZERO_ERROR, LAST)
    }
    at_zero_error, at_end = (np.mean(of_seeds_1_and_2[epoch]) for epoch in (ZERO_ERROR, LAST))
    assert (row["zero_error"], row["end"]) == pytest.approx((at_zero_error, at_end))
    # of two seeds the median is the mean
    assert (row["change"], row["change_median"]) == pytest.approx((at_end - at_zero_error, at_end - at_zero_error))


def test_where_train_errors_do_not_end_table_1_has_the_accuracy_at_the_end_alone():
    row = accuracies([made_up_with_train_errors_that_stay()]).iloc[0]
    assert row["seeds"] == 0
    assert np.isfinite(row["end"])
    assert row[["zero_error", "change", "change_median"]].isna().all()
