"""Claims on robustness, judged on made-up trainings whose robustness is a power of the epoch."""

import numpy as np
import pytest
import scipy

from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    CE_SLOWER,
    CURVES,
    LAST,
    NETWORKS,
    ZERO_ERROR,
    both_losses,
    expected_value,
    seed_factor,
    trainings,
)

PAPER = "neural_collapse"
MEASURES = ("robustness_smallest", "robustness")
# the power of the epoch by which a measure grows under MSE; under cross-entropy it is CE_SLOWER times that
POWERS = {measure: -CURVES["test", measure][1] for measure in MEASURES}
every_measure = pytest.mark.parametrize("measure", MEASURES)


def values_at(tables, quantity, epoch):
    """Return a quantity at an epoch, for each seed of each table."""
    return np.concatenate([table.loc[altered.rows_of(table, quantity, epoch=epoch), "value"] for table in tables])


# -- MSE against cross-entropy ---------------------------------------------------------------------


@every_measure
def test_the_mean_logarithm_of_the_ratio_at_the_last_epoch_is_compared_with_zero(measure):
    found = support.evaluation(PAPER, "mse_more_robust", both_losses(), measure=measure)
    assert found.verdict == "reproduced"
    ratio = LAST ** (POWERS[measure] * (1 - CE_SLOWER))  # the same for all: seeds and first values cancel
    assert found.judgement.headline.value == pytest.approx(np.log10(ratio))


@every_measure
@pytest.mark.parametrize("altered_measure", MEASURES)
def test_only_the_chosen_measure_decides_which_loss_is_more_robust(measure, altered_measure):
    # by either measure MSE is at most twice as robust as made up: at a thousandth of that it loses
    tables = altered.put(both_losses(), "mse", altered_measure, lambda values: values / 1e3, epoch=100)
    expected = "refused" if altered_measure == measure else "reproduced"
    assert altered.verdict("mse_more_robust", tables, measure=measure) == expected


@every_measure
def test_the_text_has_the_least_and_the_largest_ratio_of_the_chosen_measure(measure):
    facts = support.evaluation(PAPER, "mse_more_robust", both_losses(), measure=measure).facts
    of_mse, of_ce = (values_at(both_losses()[loss], measure, epoch=100) for loss in ("mse", "ce"))
    ratios = of_mse / of_ce
    assert (facts["least"], facts["most"]) == pytest.approx((ratios.min(), ratios.max()))


@pytest.mark.parametrize("loss", ["mse", "ce"])
def test_the_text_has_geometric_means_of_both_measures(loss):
    facts = support.evaluation(PAPER, "mse_more_robust", both_losses()).facts
    for name, quantity in ((f"{loss}_smallest", "robustness_smallest"), (f"{loss}_deepfool", "robustness")):
        values = values_at(both_losses()[loss], quantity, epoch=100)
        assert facts[name] == pytest.approx(scipy.stats.gmean(values)), name


CE_ROBUSTNESS = 0.1  # of all trainings of `both_losses_with_ratios`


def both_losses_with_ratios(log_ratios):
    """Return trainings under both losses, three networks of three seeds, with nine given log10 of ratios at the end.

    The ratio is that of robustness under MSE to robustness under cross-entropy.
    """
    tables = both_losses()
    pairs = [{"network": network, "seed": seed, "epoch": 100} for network in NETWORKS for seed in range(3)]
    for pair, log_ratio in zip(pairs, log_ratios, strict=True):
        altered.put(tables, "ce", "robustness", CE_ROBUSTNESS, **pair)
        altered.put(tables, "mse", "robustness", CE_ROBUSTNESS * 10**log_ratio, **pair)
    return tables


@pytest.mark.parametrize(("mean_over_half_width", "expected"), [(1.01, "reproduced"), (0.99, "refused")])
def test_the_whole_interval_of_the_mean_log_ratio_is_above_zero(mean_over_half_width, expected):
    spread = np.linspace(-1, 1, 9)  # of nine pairs, around their mean
    half_width = scipy.stats.t.ppf(0.975, 8) * spread.std(ddof=1) / np.sqrt(9)  # Student's 95 % interval
    tables = both_losses_with_ratios(mean_over_half_width * half_width + spread)
    assert altered.verdict("mse_more_robust", tables) == expected


def test_one_pair_that_gains_by_magnitudes_does_not_make_up_for_eight_that_lose():
    tables = both_losses_with_ratios([3.0] + 8 * [-0.5])
    # by arithmetic means MSE would be a hundred times as robust
    mean_of_mse, mean_of_ce = (values_at(tables[loss], "robustness", epoch=100).mean() for loss in ("mse", "ce"))
    assert mean_of_mse > 100 * mean_of_ce
    found = support.evaluation(PAPER, "mse_more_robust", tables)
    mean = (3.0 - 8 * 0.5) / 9
    # nine logarithms, one 3.0 and eight -0.5, deviate by 3.5 / 3: the 95 % interval of their mean has zero in it
    assert -mean < scipy.stats.t.ppf(0.975, 8) * (3.5 / 3) / np.sqrt(9)
    assert found.verdict == "undecided"
    assert found.judgement.headline.value == pytest.approx(mean)


def test_large_gains_outweigh_more_losses_by_the_difference_and_not_by_the_ratio():
    tables = both_losses_with_ratios(3 * [1.0] + 6 * [-1.0])
    by_difference = support.evaluation(PAPER, "mse_more_robust", tables, compared_by="difference")
    gain, loss = CE_ROBUSTNESS * (10 - 1), CE_ROBUSTNESS * (1 - 0.1)
    assert by_difference.judgement.headline.value == pytest.approx((3 * gain - 6 * loss) / 9)
    by_ratio = support.evaluation(PAPER, "mse_more_robust", tables)
    assert by_ratio.judgement.headline.value == pytest.approx((3 * 1.0 - 6 * 1.0) / 9)


# -- by several magnitudes -------------------------------------------------------------------------

SPREAD_OF_SEEDS = np.array([-0.1, 0.0, 0.1])  # in decades, around the mean of ResNet's three ratios
# of the mean of three: 0.1 is their standard deviation
HALF_WIDTH = scipy.stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)


def resnet_more_robust_by(decades):
    """Return trainings in which ResNet is the network with the largest ratio: `decades` in the mean over seeds."""
    tables = both_losses()
    (resnet,) = altered.places_of_network(tables["ce"], "resnet")
    of_ce = values_at([tables["ce"][resnet]], "robustness", epoch=100)
    of_mse = of_ce * 10 ** (decades + SPREAD_OF_SEEDS)
    for seed, value in enumerate(of_mse):
        altered.put(tables, "mse", "robustness", value, network="resnet", seed=seed, epoch=100)
    return tables


# two decades are asked for, of the whole interval: mean less HALF_WIDTH, 0.25
@pytest.mark.parametrize(("decades", "is_reproduced"), [(2.3, True), (2.2, False), (1.7, False)])
def test_the_network_with_the_largest_ratio_is_more_robust_by_two_decades(decades, is_reproduced):
    found = support.evaluation(PAPER, "robustness_by_magnitudes", resnet_more_robust_by(decades))
    assert (found.verdict == "reproduced") == is_reproduced
    headline = found.judgement.headline
    assert (headline.value, headline.upper) == pytest.approx((decades, decades + HALF_WIDTH))


def test_the_number_of_decades_that_are_asked_for_is_a_setting():
    tables = resnet_more_robust_by(1.7)  # the lower end is 1.7 less HALF_WIDTH: 1.45
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=1.4) == "reproduced"
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=1.5) == "refused"


def test_magnitudes_may_be_judged_by_the_smallest_known_perturbation():
    tables = resnet_more_robust_by(2.3)  # DeepFool's: the other measure is as made up, below one decade
    assert altered.verdict("robustness_by_magnitudes", tables, measure="robustness_smallest") == "refused"


def test_the_text_on_magnitudes_has_the_ratios_of_both_measures():
    facts = support.evaluation(PAPER, "robustness_by_magnitudes", resnet_more_robust_by(2.3)).facts
    assert (facts["least"], facts["most"]) == pytest.approx((10**2.2, 10**2.4))  # over seeds
    assert facts["smallest"] == pytest.approx(LAST ** (POWERS["robustness_smallest"] * (1 - CE_SLOWER)))
    assert facts["networks"] == 3


# -- growth after the end of train errors ----------------------------------------------------------


@every_measure
def test_growth_is_counted_from_where_train_errors_end(measure):
    found = support.evaluation(PAPER, "robustness_grows_after_zero_error", {"trainings": trainings()}, measure=measure)
    assert found.verdict == "reproduced"
    at_end_of_errors, at_end = (expected_value(measure, epoch, split="test") for epoch in (ZERO_ERROR, LAST))
    # seed 1 has the mean of the factors of three seeds
    assert found.judgement.headline.value == pytest.approx(seed_factor(1) * (at_end - at_end_of_errors))


@every_measure
@pytest.mark.parametrize(
    ("epoch", "expected"),
    [pytest.param(3, "reproduced", id="before errors end"), pytest.param(10, "refused", id="where errors end")],
)
def test_robustness_that_is_largest_where_errors_end_does_not_grow(measure, epoch, expected):
    # the made-up measures end at 0.5 and 0.2
    tables = altered.put({"trainings": trainings()}, "trainings", measure, 9.0, epoch=epoch)
    assert altered.verdict("robustness_grows_after_zero_error", tables, measure=measure) == expected


def test_the_text_has_the_growth_of_deepfools_measure():
    found = support.evaluation(
        PAPER, "robustness_grows_after_zero_error", {"trainings": trainings()}, measure="robustness_smallest"
    )
    growth = values_at(trainings(), "robustness", epoch=100) - values_at(trainings(), "robustness", epoch=10)
    assert (found.facts["median"], found.facts["mean"]) == pytest.approx((np.median(growth), np.mean(growth)))


# -- whether DeepFool finds the nearest boundary ---------------------------------------------------

# made up: the mean distance of known crossings is 0.3 at all epochs, DeepFool's 0.05 at the first and 0.5 at the last
CROSSING = expected_value("robustness_crossing", LAST, split="test")
AT_FIRST, AT_LAST = (expected_value("robustness", epoch, split="test") for epoch in (1, LAST))


def test_deepfool_overshoots_at_the_last_epoch():
    found = support.evaluation(PAPER, "deepfool_finds_the_boundary", {"trainings": trainings()})
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(np.log10(AT_LAST / CROSSING))
    assert found.facts["families"] == "VGG and ResNet and DenseNet"


def test_a_family_is_named_if_deepfool_overshoots_in_all_of_its_trainings():
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness", 0.97 * CROSSING, network="resnet", seed=2, epoch=100)
    facts = support.evaluation(PAPER, "deepfool_finds_the_boundary", tables).facts
    assert (facts["families"], facts["longer"], facts["trainings"]) == ("VGG and DenseNet", 8, 9)


@pytest.mark.parametrize(("over_crossing", "expected"), [(0.99, "reproduced"), (1.01, "refused")])
def test_one_training_in_which_deepfool_overshoots_at_the_first_epoch_is_refused(over_crossing, expected):
    tables = {"trainings": trainings()}
    # both measures of a seed have the same factor, which cancels
    altered.put(
        tables,
        "trainings",
        "robustness",
        lambda values: values * over_crossing * CROSSING / AT_FIRST,
        network="vgg",
        seed=1,
        epoch=1,
    )
    assert altered.verdict("deepfool_finds_the_boundary", tables) == expected


@pytest.mark.parametrize(("over_deepfools", "expected"), [(0.99, "reproduced"), (1.01, "refused")])
def test_known_crossings_beyond_deepfools_at_the_last_epoch_are_refused(over_deepfools, expected):
    # both measures of a seed have the same factor as made up, and so they have it here
    crossings = [over_deepfools * AT_LAST * seed_factor(seed) for seed in range(3)]
    tables = altered.put({"trainings": trainings()}, "trainings", "robustness_crossing", crossings, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == expected


@pytest.mark.parametrize(("average", "expected"), [("mean", "refused"), ("median", "reproduced")])
def test_one_training_far_from_overshooting_moves_the_mean_and_not_the_median(average, expected):
    """DeepFool's distance over the crossing is 10^0.2 in eight trainings, and 10^-4.3 in the ninth."""
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness_crossing", 1e4, network="vgg", seed=0, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables, average=average) == expected
