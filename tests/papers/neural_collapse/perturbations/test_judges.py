"""Claims on robustness, on made-up trainings."""

import numpy as np
import pytest
import scipy

from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import CE_SLOWER, LAST, NETWORKS, both_losses, trainings

PAPER = "neural_collapse"
MEASURES = ("robustness_smallest", "robustness")


def values_at(tables, quantity, epoch):
    return np.concatenate([table.loc[altered.rows_of(table, quantity, epoch=epoch), "value"] for table in tables])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_ratio_at_the_last_epoch_decides_by_the_chosen_measure(measure):
    found = support.evaluation(PAPER, "mse_more_robust", both_losses(), measure=measure)
    assert found.verdict == "reproduced"
    ratios = values_at(both_losses()["mse"], measure, 100) / values_at(both_losses()["ce"], measure, 100)
    power = {"robustness": 0.5, "robustness_smallest": 0.3}[measure]
    assert found.judgement.headline.value == pytest.approx(2 * power * (1 - CE_SLOWER))  # two decades of epochs
    assert (found.facts["least"], found.facts["most"]) == pytest.approx((ratios.min(), ratios.max()))
    for loss, tables in both_losses().items():
        for name, quantity in ((f"{loss}_smallest", "robustness_smallest"), (f"{loss}_deepfool", "robustness")):
            assert found.facts[name] == pytest.approx(scipy.stats.gmean(values_at(tables, quantity, 100))), name
    for quantity in MEASURES:
        tables = altered.put(both_losses(), "mse", quantity, lambda v: v / 1e3, epoch=100)
        expected = "refused" if quantity == measure else "reproduced"
        assert altered.verdict("mse_more_robust", tables, measure=measure) == expected, quantity


def robustness_of_ratios(logs):
    """Return trainings under both losses whose ratios of robustness are powers of ten, one for each pair."""
    tables = both_losses()
    for place, log in enumerate(logs):
        network, seed = NETWORKS[place // 3], place % 3
        one = {"network": network, "seed": seed, "epoch": 100}
        altered.put(tables, "ce", "robustness", 0.1, **one)
        altered.put(tables, "mse", "robustness", 0.1 * 10**log, **one)
    return tables


@pytest.mark.parametrize(("least", "expected"), [(1.01, "reproduced"), (0.99, "refused")])
def test_the_whole_interval_of_the_mean_log_ratio_is_above_zero(least, expected):
    spread = np.linspace(-1, 1, 9)
    half_width = scipy.stats.t.ppf(0.975, 8) * spread.std(ddof=1) / 3
    tables = robustness_of_ratios(spread + least * half_width)
    assert altered.verdict("mse_more_robust", tables) == expected


def test_one_pair_that_gains_by_magnitudes_does_not_make_up_for_eight_that_lose():
    tables = robustness_of_ratios([3.0] + 8 * [-0.5])
    robustness = (values_at(tables[loss], "robustness", 100).mean() for loss in ("mse", "ce"))
    assert np.divide(*robustness) > 100  # the arithmetic means speak for MSE
    assert support.verdict(PAPER, "mse_more_robust", tables) == "undecided"
    found = support.evaluation(PAPER, "mse_more_robust", tables)
    assert found.judgement.headline.value == pytest.approx(-1 / 9)


def test_by_the_difference_large_gains_outweigh_many_small_losses():
    # 0.1 * 10**log: three pairs gain 0.9 each, six lose 0.09
    tables = robustness_of_ratios(3 * [1.0] + 6 * [-1.0])
    by_difference = support.evaluation(PAPER, "mse_more_robust", tables, compared_by="difference")
    assert by_difference.judgement.headline.value == pytest.approx((3 * 0.9 - 6 * 0.09) / 9)
    by_ratio = support.evaluation(PAPER, "mse_more_robust", tables)
    assert by_ratio.judgement.headline.value == pytest.approx(-1 / 3)


@pytest.mark.parametrize(("decades", "expected"), [(2.3, "reproduced"), (1.7, "refused")])
def test_magnitudes_are_decades_of_the_network_with_the_largest_ratio(decades, expected):
    tables = both_losses()
    for seed, more in enumerate((-0.1, 0.0, 0.1)):
        (resnet,) = altered.places_of_network(tables["ce"], "resnet")
        least = values_at([tables["ce"][resnet]], "robustness", 100)[seed]
        altered.put(tables, "mse", "robustness", 10 ** (decades + more) * least, network="resnet", seed=seed, epoch=100)
    found = support.evaluation(PAPER, "robustness_by_magnitudes", tables)
    assert (found.verdict == "reproduced") == (expected == "reproduced")
    assert found.judgement.headline.value == pytest.approx(decades)
    assert found.judgement.headline.upper == pytest.approx(decades + 0.1 * scipy.stats.t.ppf(0.975, 2) / 3**0.5)
    assert (found.facts["least"], found.facts["most"]) == pytest.approx((10 ** (decades - 0.1), 10 ** (decades + 0.1)))
    assert found.facts["smallest"] == pytest.approx(LAST ** (0.3 * (1 - CE_SLOWER)))
    assert found.facts["networks"] == 3
    assert altered.verdict("robustness_by_magnitudes", tables, measure="robustness_smallest") == "refused"
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=decades - 0.3) == "reproduced"


@pytest.mark.parametrize("measure", MEASURES)
def test_growth_is_from_the_end_of_errors(measure):
    found = support.evaluation(PAPER, "robustness_grows_after_zero_error", {"trainings": trainings()}, measure=measure)
    assert found.verdict == "reproduced"
    power = {"robustness": 0.5, "robustness_smallest": 0.3}[measure]
    assert found.judgement.headline.value == pytest.approx(0.05 * 1.02 * (100**power - 10**power))
    growth = values_at(trainings(), "robustness", 100) - values_at(trainings(), "robustness", 10)
    assert found.facts == found.facts | {"median": np.median(growth), "mean": np.mean(growth)}
    for epoch, expected in ((3, "reproduced"), (10, "refused")):
        tables = altered.put({"trainings": trainings()}, "trainings", measure, 9.0, epoch=epoch)
        assert altered.verdict("robustness_grows_after_zero_error", tables, measure=measure) == expected, epoch


def test_deepfool_must_overshoot_late_and_not_early():
    found = support.evaluation(PAPER, "deepfool_finds_the_boundary", {"trainings": trainings()})
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(np.log10(0.5 / 0.3))
    assert found.facts["families"] == "VGG and ResNet and DenseNet"
    shorter = altered.put(
        {"trainings": trainings()}, "trainings", "robustness", 0.29, network="resnet", seed=2, epoch=100
    )
    facts = support.evaluation(PAPER, "deepfool_finds_the_boundary", shorter).facts
    assert (facts["families"], facts["longer"], facts["trainings"]) == ("VGG and DenseNet", 8, 9)
    # what it finds at the first epoch, 0.05, is put beyond where decisions change, 0.3
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness", lambda v: v * 0.31 / 0.05, network="vgg", seed=1, epoch=1)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    tables = altered.put({"trainings": trainings()}, "trainings", "robustness_crossing", 0.6, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    # a single training that does not overshoot moves the mean, and not the median
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness_crossing", 1e4, network="vgg", seed=0, epoch=100)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == "refused"
    assert altered.verdict("deepfool_finds_the_boundary", tables, average="median") == "reproduced"
