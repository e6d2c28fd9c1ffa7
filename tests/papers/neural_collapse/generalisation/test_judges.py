"""Claims on test images, judged on made-up trainings, and Table 1 against pandas and scipy.

Made-up quantities are powers of the epoch, at epochs 1, 3, 10, 30 and 100; train errors end at epoch 10. A training is
one seed of one network, of three each. What the claims say, in the mean over trainings, by their names here:

- `test_collapse_slower`: after train errors end NC1 falls on test images too, but less than half as far as on train
  images, and ends higher
- `collapse_on_test_images`: norms and angles of class means (NC2) and self-duality (NC3) fall less than half as far on
  test images as on train images, and end higher; network and nearest class mean (NC4) differ on more images
- `accuracy_after_zero_error`: test accuracy improves after train errors end
- `accuracy_comparable_to_ce`: neither loss misclassifies more than a factor times as many test images as the other
- `test_collapse_by_difficulty`: NC1 on test images is larger on data sets with larger test errors
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
    LAST_EPOCH,
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
def test_claims_on_test_images_are_reproduced_as_made_up(claim):
    assert altered.verdict(claim, {"trainings": trainings()}) == "reproduced"


@every_claim_and_quantity
@pytest.mark.parametrize(("test_over_train", "expected"), [(1.1, "reproduced"), (0.9, "refused")])
def test_a_quantity_that_ends_lower_on_test_than_on_train_images_is_refused(claim, quantity, test_over_train, expected):
    # by one factor at all epochs, which leaves the fall
    factor = test_over_train * expected_value(quantity, LAST_EPOCH) / expected_value(quantity, LAST_EPOCH, split="test")
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", quantity, lambda value: factor * value, split="test")
    assert altered.verdict(claim, tables) == expected


@every_claim_and_quantity
@pytest.mark.parametrize(
    ("epoch", "further_by", "expected"),
    [
        pytest.param(10, 0.02, "refused", id="further from where errors end"),
        pytest.param(10, -0.02, "reproduced", id="less far from where errors end"),
        pytest.param(3, 0.1, "reproduced", id="further from before errors end"),
    ],
)
def test_a_quantity_may_fall_half_as_far_on_test_images_once_train_errors_have_ended(
    claim, quantity, epoch, further_by, expected
):
    _, power = CURVES["train", quantity]
    fall_on_train = power * np.log10(LAST_EPOCH / epoch)  # in decades, from `epoch` to the last
    fall = fall_on_train / 2 + further_by
    values = [10**fall * expected_value(quantity, LAST_EPOCH, split="test", seed=seed) for seed in range(3)]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", quantity, values, split="test", epoch=epoch)
    assert altered.verdict(claim, tables) == expected


RISEN = 2.0  # above any of these quantities on test images where train errors end


def test_nc1_must_fall_on_test_images_too():
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc1", RISEN, split="test", epoch=LAST_EPOCH)
    assert altered.verdict("test_collapse_slower", tables) == "refused"


def test_norms_angles_and_self_duality_need_not_fall_on_test_images():
    tables = {"trainings": trainings()}
    for quantity in ANGLES:
        altered.put(tables, "trainings", quantity, RISEN, split="test", epoch=LAST_EPOCH)
    assert altered.verdict("collapse_on_test_images", tables) == "reproduced"


@pytest.mark.parametrize(("test_over_train", "expected"), [(1.1, "reproduced"), (0.9, "refused")])
def test_decisions_on_test_images_must_differ_more_than_on_train_images(test_over_train, expected):
    values = [test_over_train * expected_value("nc4", LAST_EPOCH, seed=seed) for seed in range(3)]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "nc4", values, split="test", epoch=LAST_EPOCH)
    assert altered.verdict("collapse_on_test_images", tables) == expected


def test_falls_on_test_images_are_compared_in_decades():
    evaluation = support.evaluation(PAPER, "test_collapse_slower", {"trainings": trainings()})
    assert "reproduced" not in evaluation.rivals.values()
    (start_on_train, train_power), (start_on_test, test_power) = CURVES["train", "nc1"], CURVES["test", "nc1"]
    # factors of seeds cancel; falls are over a decade of epochs, and epoch 1 is two decades before the end
    assert LAST_EPOCH == 10 * ZERO_ERROR == 100
    fall_on_train, fall_on_test = train_power, test_power
    higher_at_end = np.log10(start_on_test / start_on_train) + 2 * (train_power - test_power)
    expected = {
        "fall on train images minus 2 times": fall_on_train - 2 * fall_on_test,
        "test minus train images": higher_at_end,
        ": fall on test images": fall_on_test,
        "train images misclassified": 0.0,  # the premise
    }
    assert len(evaluation.judgement.checks) == len(expected)
    for words, value in expected.items():
        assert altered.check_of(evaluation.judgement, words).value == pytest.approx(value), words
    falls = (evaluation.facts["mean_train_fall"], evaluation.facts["mean_test_fall"])
    assert falls == pytest.approx((fall_on_train, fall_on_test))


@pytest.fixture
def trainings_that_gain_accuracy():
    """Tables by role, with test errors drawn where train errors end and at the last epoch; and the nine gains.

    A gain is in percentage points of accuracy.
    """
    rng = np.random.default_rng(0)
    tables, gains = {"trainings": trainings()}, []
    for network in NETWORKS:
        for seed in range(3):
            at_zero_error, at_end = 0.05 + 0.01 * rng.random(), 0.03 + 0.01 * rng.random()
            of_training = {"network": network, "seed": seed, "split": "test"}
            altered.put(tables, "trainings", "error", at_zero_error, **of_training, epoch=ZERO_ERROR)
            altered.put(tables, "trainings", "error", at_end, **of_training, epoch=LAST_EPOCH)
            gains.append(100 * (at_zero_error - at_end))
    return tables, gains


def test_the_gain_in_accuracy_is_a_mean_of_points_with_students_interval(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    evaluation = support.evaluation(PAPER, "accuracy_after_zero_error", tables)
    assert evaluation.verdict == "reproduced"
    assert "reproduced" not in evaluation.rivals.values()
    interval = scipy.stats.ttest_1samp(gains, 0.0).confidence_interval(0.95)
    headline = evaluation.judgement.headline
    assert headline.value == pytest.approx(np.mean(gains))
    assert (headline.lower, headline.upper) == pytest.approx((interval.low, interval.high))


def test_the_gain_in_accuracy_may_be_a_median(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    evaluation = support.evaluation(PAPER, "accuracy_after_zero_error", tables, average="median")
    assert evaluation.judgement.headline.value == pytest.approx(np.median(gains))


def test_the_text_has_the_least_and_the_largest_gain(trainings_that_gain_accuracy):
    tables, gains = trainings_that_gain_accuracy
    facts = support.evaluation(PAPER, "accuracy_after_zero_error", tables).facts
    expected = {"smallest_gain": np.min(gains), "largest_gain": np.max(gains)}
    assert {name: facts[name] for name in expected} == pytest.approx(expected)


# -- errors under both losses ----------------------------------------------------------------------

# how many times as many test images one loss may misclassify as the other: the root of two
FACTOR = support.smoke(PAPER).claim(PAPER, "accuracy_comparable_to_ce")["settings"]["factor"]


def both_losses_with_errors(mse_error, ce_error):
    """Return trainings under both losses with these shares of misclassified test images at the last epoch."""
    tables = both_losses()
    altered.put(tables, "mse", "error", mse_error, split="test", epoch=LAST_EPOCH)
    altered.put(tables, "ce", "error", ce_error, split="test", epoch=LAST_EPOCH)
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
    evaluation = support.evaluation(
        PAPER, "accuracy_comparable_to_ce", both_losses_with_errors(ratio * ce_error, ce_error)
    )
    assert (evaluation.verdict == "reproduced") == comparable
    assert "reproduced" not in evaluation.rivals.values()


@every_ce_error
def test_errors_under_one_loss_are_compared_with_a_multiple_of_those_under_the_other(ce_error):
    mse_error = 1.2 * ce_error
    evaluation = support.evaluation(PAPER, "accuracy_comparable_to_ce", both_losses_with_errors(mse_error, ce_error))
    too_many_under_mse = altered.check_of(evaluation.judgement, "test errors under MSE minus")
    too_few_under_mse = altered.check_of(evaluation.judgement, "test errors under CE minus")
    # in percentage points
    assert too_many_under_mse.value == pytest.approx(100 * (mse_error - FACTOR * ce_error))
    assert too_few_under_mse.value == pytest.approx(100 * (ce_error - FACTOR * mse_error))
    facts = (evaluation.facts["mse_error"], evaluation.facts["ce_error"])
    assert facts == pytest.approx((100 * mse_error, 100 * ce_error))


def test_errors_are_compared_network_by_network():
    """VGG makes ten times the errors of the others under both losses, and trainings of one loss are in another order.

    With pairs of different networks the interval would be too wide for a verdict.
    """
    tables = both_losses_with_errors(0.01, 0.01)
    for role in tables:
        altered.put(tables, role, "error", 0.1, network="vgg", split="test", epoch=LAST_EPOCH)
    tables["ce"].reverse()
    assert altered.verdict("accuracy_comparable_to_ce", tables) == "reproduced"


def test_a_training_without_a_test_error_is_compared_too():
    """Errors are compared by a difference: a ratio of zeros would be no number."""
    tables = both_losses_with_errors(0.01, 0.01)
    for role in tables:
        altered.put(tables, role, "error", 0.0, network="vgg", split="test", seed=0, epoch=LAST_EPOCH)
    assert altered.verdict("accuracy_comparable_to_ce", tables) == "reproduced"


def test_errors_that_differ_from_seed_to_seed_by_more_than_their_mean_decide_nothing():
    ce_error = 0.01
    tables = both_losses_with_errors(0.01, ce_error)
    mse_errors = (0.0, 0.0, 0.03)  # of three seeds, as many in the mean
    # the half-width of the 95 % interval over nine pairs is more than the mean is below what is allowed
    of_nine_pairs = len(NETWORKS) * mse_errors
    assert scipy.stats.t.ppf(0.975, 8) * scipy.stats.sem(of_nine_pairs) > (FACTOR - 1) * ce_error
    for seed, error in enumerate(mse_errors):
        altered.put(tables, "mse", "error", error, split="test", seed=seed, epoch=LAST_EPOCH)
    assert support.verdict(PAPER, "accuracy_comparable_to_ce", tables) == "undecided"


# -- the order of the data sets --------------------------------------------------------------------

EASIEST_FIRST = ("mnist", "svhn", "fashion_mnist", "cifar10", "stl10")  # by the test errors of Table 1


def on_five_data_sets(orders, loss="mse"):
    """Return tables of one seed of each of NETWORKS on each of five data sets, by the role of the claim.

    Each of `orders` is a network's: the ranks of NC1 on test images, from the easiest data set to the hardest. NC1 on
    test images, which is one plus its rank at all epochs, is all that is left in the tables.
    """
    tables = []
    for network, order in zip(NETWORKS, orders, strict=True):
        for data, rank in zip(EASIEST_FIRST, order, strict=True):
            table = made_up(network, loss, data=data, seeds=1)
            ranked = table[altered.rows_of(table, "nc1", split="test")].assign(value=1.0 + rank)
            ranked.attrs = table.attrs
            tables.append(ranked)
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


# one in twenty of the 120 orders are 6: the last two cases are on either side
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
    """The correlation is with the order by difficulty, and the order of data sets the same for all networks."""
    correlations_by_chance = np.array([mean_correlation([other] * 3) for other in itertools.permutations(range(5))])
    correlation = mean_correlation([order] * 3)
    as_large = correlations_by_chance >= correlation - 1e-9  # equal ones differ by rounding
    assert (np.mean(as_large) <= 1 / 20) == beyond_chance
    evaluation = support.evaluation(PAPER, "test_collapse_by_difficulty", on_five_data_sets([order] * 3))
    assert evaluation.judgement.headline.value == pytest.approx(correlation)
    assert (evaluation.verdict == "reproduced") == beyond_chance
    if beyond_chance:
        assert "reproduced" not in evaluation.rivals.values()


# VGG's order is that of difficulty. Of ResNet's and DenseNet's four data sets, without STL10, two neighbours are
# exchanged, which leaves a correlation of 1 - 6 (1 + 1) / (4 (16 - 1)) = 0.8; in the mean it is 2.6 / 3 = 0.8667
@pytest.mark.parametrize(("correlation", "is_reproduced"), [(0.86, True), (0.87, False)])
def test_networks_with_neighbours_exchanged_correlate_with_difficulty_in_the_mean(correlation, is_reproduced):
    orders = [(0, 1, 2, 3, 4), (1, 0, 2, 3, 4), (0, 1, 3, 2, 4)]
    tables = on_five_data_sets(orders)
    evaluation = support.evaluation(PAPER, "test_collapse_by_difficulty", tables, correlation=correlation)
    assert evaluation.judgement.headline.value == pytest.approx((1 + 0.8 + 0.8) / 3)
    assert (evaluation.verdict == "reproduced") == is_reproduced


def test_trainings_under_both_losses_count_in_the_order_of_data_sets():
    by_difficulty = on_five_data_sets([range(5)] * 3, loss="mse")["trainings"]
    reversed_order = on_five_data_sets([range(5, 0, -1)] * 3, loss="ce")["trainings"]
    tables = {"trainings": by_difficulty + reversed_order}
    evaluation = support.evaluation(PAPER, "test_collapse_by_difficulty", tables)
    assert evaluation.judgement.headline.value == pytest.approx(0.0)  # the mean of 1 and -1
    assert evaluation.verdict != "reproduced"


def test_without_one_of_the_five_data_sets_their_order_is_untested():
    tables = on_five_data_sets([range(5)] * 3)["trainings"]
    fewer = {"trainings": [table for table in tables if table["data"].iloc[0] != "svhn"]}
    assert support.evaluation(PAPER, "test_collapse_by_difficulty", fewer).verdict == "untested"


# -- Table 1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("network", "loss"), [("vgg", "mse"), ("densenet", "ce")])
def test_table_1_has_means_and_standard_errors_over_seeds(network, loss):
    tables = {"trainings": [made_up(network, loss, data="svhn")]}
    # of one seed, so that means over seeds are no medians
    altered.put(tables, "trainings", "error", 0.02, split="test", seed=2, epoch=LAST_EPOCH)
    (table,) = tables["trainings"]
    row = accuracies([table]).iloc[0]
    test_errors = table[altered.rows_of(table, "error", split="test")]
    accuracy = 100 * (1 - test_errors.pivot_table(index="epoch", columns="seed", values="value"))
    at_zero_error, at_end = accuracy.loc[ZERO_ERROR], accuracy.loc[LAST_EPOCH]  # per cent, by seed
    change = at_end - at_zero_error
    assert abs(change.median() - change.mean()) > 0.1
    for column, values in (("zero_error", at_zero_error), ("end", at_end), ("change", change)):
        assert row[column] == pytest.approx(values.mean()), column
        assert row[f"{column}_se"] == pytest.approx(scipy.stats.sem(values)), column
    assert row["change_median"] == pytest.approx(change.median())
    assert row["seeds"] == 3


def test_table_1_has_the_papers_numbers_for_mse_alone():
    rows = accuracies([made_up("vgg", loss, data="svhn") for loss in ("mse", "ce")]).set_index("loss")
    of_the_paper = rows[["paper_zero_error", "paper_end"]]
    assert of_the_paper.loc["mse"].tolist() == [89.35, 93.91]  # per cent, VGG on SVHN in its Table 1
    assert of_the_paper.loc["ce"].isna().all()


def made_up_with_train_errors_that_stay(**where):
    """Return a made-up table in which train errors do not end: of the seeds that `where` names, or of all."""
    table = made_up()
    table.loc[altered.rows_of(table, "error", split="train", **where), "value"] = 0.1
    return table


def test_table_1_is_of_the_seeds_whose_train_errors_end():
    row = accuracies([made_up_with_train_errors_that_stay(seed=0)]).iloc[0]
    assert row["seeds"] == 2
    of_seeds_1_and_2 = {
        epoch: [100 * (1 - expected_value("error", epoch, split="test", seed=seed)) for seed in (1, 2)]
        for epoch in (ZERO_ERROR, LAST_EPOCH)
    }
    at_zero_error, at_end = (np.mean(of_seeds_1_and_2[epoch]) for epoch in (ZERO_ERROR, LAST_EPOCH))
    assert (row["zero_error"], row["end"]) == pytest.approx((at_zero_error, at_end))
    assert row["change"] == pytest.approx(at_end - at_zero_error)
    assert row["change_median"] == pytest.approx(at_end - at_zero_error)  # of two seeds the median is the mean


def test_where_train_errors_do_not_end_table_1_has_the_accuracy_at_the_end_alone():
    row = accuracies([made_up_with_train_errors_that_stay()]).iloc[0]
    assert row["seeds"] == 0
    assert np.isfinite(row["end"])
    assert row[["zero_error", "change", "change_median"]].isna().all()
