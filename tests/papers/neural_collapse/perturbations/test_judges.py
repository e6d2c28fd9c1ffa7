"""Claims on robustness, judged on made-up trainings whose robustness is a power of the epoch.

A training is one seed of one network, of three each; epochs are 1, 3, 10, 30 and 100, and train errors end at 10.
`robustness` is DeepFool's: the mean over test images of |r| / |x|, with the perturbation r by which it changes the
network's decision on x. `robustness_crossing` is the mean distance of a crossing of the decision boundary on the way to
a train image, and `robustness_smallest` that of the smallest perturbation that is known. What the claims say, by their
names here:

- `mse_more_robust`: at the last epoch the logarithm of robustness under MSE over that under cross-entropy, of the same
  network and seed, is above zero in the mean, with its whole 95 % interval
- `robustness_by_magnitudes`: on the network where that ratio is largest it is two powers of ten or more, in the
  geometric mean over seeds, with its whole interval
- `robustness_grows_after_zero_error`: the last robustness less that where train errors end is above zero in the mean
- `deepfool_finds_the_boundary`: DeepFool's mean is no larger than the crossings' at the first epoch, in any training,
  and larger at the last, in the mean over trainings
"""

import numpy as np
import pytest
import scipy

from tests import support
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import (
    CE_SLOWER,
    CURVES,
    LAST_EPOCH,
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
    """Return a quantity at an epoch, for each seed of each table, shape (trainings,)."""
    return np.concatenate([table.loc[altered.rows_of(table, quantity, epoch=epoch), "value"] for table in tables])


# -- MSE against cross-entropy ---------------------------------------------------------------------


@every_measure
def test_mse_is_more_robust_by_the_mean_logarithm_of_the_ratio_at_the_last_epoch(measure):
    evaluation = support.evaluation(PAPER, "mse_more_robust", both_losses(), measure=measure)
    assert evaluation.verdict == "reproduced"
    ratio = LAST_EPOCH ** (POWERS[measure] * (1 - CE_SLOWER))  # of each pair: factors of seeds and first values cancel
    assert evaluation.judgement.headline.value == pytest.approx(np.log10(ratio))


@every_measure
@pytest.mark.parametrize("altered_measure", MEASURES)
def test_only_the_chosen_measure_decides_which_loss_is_more_robust(measure, altered_measure):
    # as made up MSE is at most twice as robust by either measure: at a thousandth of its robustness it loses
    assert LAST_EPOCH ** (max(POWERS.values()) * (1 - CE_SLOWER)) < 2
    tables = both_losses()
    altered.put(tables, "mse", altered_measure, lambda values: values / 1e3, epoch=LAST_EPOCH)
    expected = "refused" if altered_measure == measure else "reproduced"
    assert altered.verdict("mse_more_robust", tables, measure=measure) == expected


@every_measure
def test_the_text_has_the_least_and_the_largest_ratio_of_the_chosen_measure(measure):
    tables = both_losses()
    # as made up all ratios are equal: one is raised, and one lowered
    for network, factor in (("resnet", 3.0), ("vgg", 0.5)):
        altered.put(
            tables, "mse", measure, lambda made_up, by=factor: by * made_up, network=network, seed=1, epoch=LAST_EPOCH
        )
    facts = support.evaluation(PAPER, "mse_more_robust", tables, measure=measure).facts
    ratios = np.divide(*(values_at(tables[loss], measure, epoch=LAST_EPOCH) for loss in ("mse", "ce")))
    assert ratios.max() > 5 * ratios.min()
    assert (facts["smallest_ratio"], facts["largest_ratio"]) == pytest.approx((ratios.min(), ratios.max()))


@pytest.mark.parametrize("loss", ["mse", "ce"])
def test_the_text_has_geometric_means_of_both_measures(loss):
    facts = support.evaluation(PAPER, "mse_more_robust", both_losses()).facts
    for name, quantity in ((f"{loss}_smallest", "robustness_smallest"), (f"{loss}_deepfool", "robustness")):
        values = values_at(both_losses()[loss], quantity, epoch=LAST_EPOCH)
        assert facts[name] == pytest.approx(scipy.stats.gmean(values)), name


CE_ROBUSTNESS = 0.1  # of all trainings of `both_losses_with_ratios`


def both_losses_with_ratios(log_ratios):
    """Return trainings under both losses with nine given log10 of ratios at the last epoch, network by network.

    The ratio is robustness under MSE over robustness under cross-entropy, of one of three seeds of three networks.
    """
    tables = both_losses()
    pairs = [{"network": network, "seed": seed, "epoch": LAST_EPOCH} for network in NETWORKS for seed in range(3)]
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


def test_a_thousandfold_gain_of_one_pair_among_eight_losses_leaves_the_claim_undecided():
    log_ratios = [3.0] + 8 * [-0.5]
    tables = both_losses_with_ratios(log_ratios)
    # by arithmetic means MSE would be a hundred times as robust
    means = {loss: values_at(tables[loss], "robustness", epoch=LAST_EPOCH).mean() for loss in ("mse", "ce")}
    assert means["mse"] > 100 * means["ce"]
    evaluation = support.evaluation(PAPER, "mse_more_robust", tables)
    # the mean is below zero, but its 95 % interval has zero in it
    mean = np.mean(log_ratios)
    assert mean < 0 < mean + scipy.stats.t.ppf(0.975, 8) * scipy.stats.sem(log_ratios)
    assert evaluation.verdict == "undecided"
    assert evaluation.judgement.headline.value == pytest.approx(mean)


def test_large_gains_outweigh_more_losses_by_the_difference_and_not_by_the_ratio():
    log_ratios = np.array(3 * [1.0] + 6 * [-1.0])
    tables = both_losses_with_ratios(log_ratios)
    by_difference = support.evaluation(PAPER, "mse_more_robust", tables, compared_by="difference")
    mean_difference = CE_ROBUSTNESS * np.mean(10**log_ratios - 1)
    assert mean_difference > 0
    assert by_difference.judgement.headline.value == pytest.approx(mean_difference)
    by_ratio = support.evaluation(PAPER, "mse_more_robust", tables)
    assert np.mean(log_ratios) < 0
    assert by_ratio.judgement.headline.value == pytest.approx(np.mean(log_ratios))


# -- by several magnitudes -------------------------------------------------------------------------

SPREAD_OF_SEEDS = np.array([-0.1, 0.0, 0.1])  # in decades, around the mean of ResNet's three ratios
HALF_WIDTH = scipy.stats.t.ppf(0.975, 2) * scipy.stats.sem(SPREAD_OF_SEEDS)  # of the mean's 95 % interval: 0.25


def resnet_more_robust_by(decades):
    """Return trainings in which ResNet's ratio at the last epoch is 10^`decades` in the geometric mean over seeds.

    The ratio is robustness under MSE over that under cross-entropy; of the other networks it is as made up, below 10.
    """
    tables = both_losses()
    (resnet,) = altered.places_of_network(tables["ce"], "resnet")
    ce_robustness = values_at([tables["ce"][resnet]], "robustness", epoch=LAST_EPOCH)
    mse_robustness = ce_robustness * 10 ** (decades + SPREAD_OF_SEEDS)
    for seed, value in enumerate(mse_robustness):
        altered.put(tables, "mse", "robustness", value, network="resnet", seed=seed, epoch=LAST_EPOCH)
    return tables


# two decades are asked for, of the whole interval: of the mean less HALF_WIDTH, 0.25
@pytest.mark.parametrize(
    ("decades", "is_reproduced"),
    [
        pytest.param(2.3, True, id="interval above two decades"),
        pytest.param(2.2, False, id="mean above two decades"),
        pytest.param(1.7, False, id="mean below two decades"),
    ],
)
def test_the_network_with_the_largest_ratio_is_more_robust_by_two_decades(decades, is_reproduced):
    evaluation = support.evaluation(PAPER, "robustness_by_magnitudes", resnet_more_robust_by(decades))
    assert (evaluation.verdict == "reproduced") == is_reproduced
    headline = evaluation.judgement.headline
    assert (headline.value, headline.upper) == pytest.approx((decades, decades + HALF_WIDTH))


def test_the_number_of_decades_that_are_asked_for_is_a_setting():
    tables = resnet_more_robust_by(1.7)  # the lower end of the interval is 1.7 - HALF_WIDTH = 1.45
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=1.4) == "reproduced"
    assert altered.verdict("robustness_by_magnitudes", tables, magnitudes=1.5) == "refused"


def test_magnitudes_may_be_judged_by_the_smallest_known_perturbation():
    tables = resnet_more_robust_by(2.3)  # by DeepFool's measure; by the other the ratio is as made up, below 10
    assert altered.verdict("robustness_by_magnitudes", tables, measure="robustness_smallest") == "refused"


def test_the_text_on_magnitudes_has_the_ratios_of_both_measures():
    facts = support.evaluation(PAPER, "robustness_by_magnitudes", resnet_more_robust_by(2.3)).facts
    ratios_of_seeds = 10 ** (2.3 + SPREAD_OF_SEEDS)
    of_seeds = (facts["smallest_ratio_of_seeds"], facts["largest_ratio_of_seeds"])
    assert of_seeds == pytest.approx((ratios_of_seeds.min(), ratios_of_seeds.max()))
    # by the smallest known perturbation the ratio is as made up
    as_made_up = LAST_EPOCH ** (POWERS["robustness_smallest"] * (1 - CE_SLOWER))
    assert facts["largest_ratio_by_smallest_perturbation"] == pytest.approx(as_made_up)
    assert facts["n_networks"] == len(NETWORKS)


# -- growth after the end of train errors ----------------------------------------------------------


@every_measure
def test_growth_is_counted_from_where_train_errors_end(measure):
    evaluation = support.evaluation(
        PAPER, "robustness_grows_after_zero_error", {"trainings": trainings()}, measure=measure
    )
    assert evaluation.verdict == "reproduced"
    at_end_of_errors, at_end = (expected_value(measure, epoch, split="test") for epoch in (ZERO_ERROR, LAST_EPOCH))
    # seed 1 has the mean of the factors of three seeds
    assert evaluation.judgement.headline.value == pytest.approx(seed_factor(1) * (at_end - at_end_of_errors))


@every_measure
@pytest.mark.parametrize(
    ("epoch", "expected"),
    [pytest.param(3, "reproduced", id="before errors end"), pytest.param(10, "refused", id="where errors end")],
)
def test_robustness_that_is_largest_where_errors_end_does_not_grow(measure, epoch, expected):
    peak = 9.0  # the made-up measures end at 0.5 and 0.2
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", measure, peak, epoch=epoch)
    assert altered.verdict("robustness_grows_after_zero_error", tables, measure=measure) == expected


def test_the_text_has_the_growth_of_deepfools_measure():
    """Whichever measure decides."""
    tables = {"trainings": trainings()}
    # of one training, so that the mean is not the median
    altered.put(tables, "trainings", "robustness", 3.0, network="vgg", seed=2, epoch=LAST_EPOCH)
    evaluation = support.evaluation(PAPER, "robustness_grows_after_zero_error", tables, measure="robustness_smallest")
    at_zero_error, at_end = (values_at(tables["trainings"], "robustness", epoch) for epoch in (ZERO_ERROR, LAST_EPOCH))
    growth = at_end - at_zero_error
    assert abs(np.median(growth) - np.mean(growth)) > 0.1
    averages = (evaluation.facts["median_growth"], evaluation.facts["mean_growth"])
    assert averages == pytest.approx((np.median(growth), np.mean(growth)))


# -- whether DeepFool finds the nearest boundary ---------------------------------------------------

# made up, but for the factor of a seed: the mean distance of known crossings is 0.3 at all epochs, DeepFool's 0.05 at
# the first and 0.5 at the last
CROSSING = expected_value("robustness_crossing", LAST_EPOCH, split="test")
DEEPFOOL_AT_FIRST, DEEPFOOL_AT_LAST = (expected_value("robustness", epoch, split="test") for epoch in (1, LAST_EPOCH))


def test_deepfool_overshoots_at_the_last_epoch():
    evaluation = support.evaluation(PAPER, "deepfool_finds_the_boundary", {"trainings": trainings()})
    assert evaluation.verdict == "reproduced"
    assert evaluation.judgement.headline.value == pytest.approx(np.log10(DEEPFOOL_AT_LAST / CROSSING))
    assert evaluation.facts["families_longer"] == "VGG and ResNet and DenseNet"


def test_a_family_is_named_if_deepfool_overshoots_in_all_of_its_trainings():
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness", 0.97 * CROSSING, network="resnet", seed=2, epoch=LAST_EPOCH)
    facts = support.evaluation(PAPER, "deepfool_finds_the_boundary", tables).facts
    assert facts["families_longer"] == "VGG and DenseNet"
    assert (facts["n_longer"], facts["n_trainings"]) == (8, 9)  # trainings in which DeepFool overshoots, and all


@pytest.mark.parametrize(("over_crossing", "expected"), [(0.99, "reproduced"), (1.01, "refused")])
def test_one_training_in_which_deepfool_overshoots_at_the_first_epoch_is_refused(over_crossing, expected):
    tables = {"trainings": trainings()}
    # the factor of the seed, which both measures have, cancels
    altered.put(
        tables,
        "trainings",
        "robustness",
        lambda values: values * over_crossing * CROSSING / DEEPFOOL_AT_FIRST,
        network="vgg",
        seed=1,
        epoch=1,
    )
    assert altered.verdict("deepfool_finds_the_boundary", tables) == expected


@pytest.mark.parametrize(("over_deepfools", "expected"), [(0.99, "reproduced"), (1.01, "refused")])
def test_known_crossings_beyond_deepfools_at_the_last_epoch_are_refused(over_deepfools, expected):
    # made-up measures have the factor of their seed, and so the crossings have it here
    crossings = [over_deepfools * DEEPFOOL_AT_LAST * seed_factor(seed) for seed in range(3)]
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness_crossing", crossings, epoch=LAST_EPOCH)
    assert altered.verdict("deepfool_finds_the_boundary", tables) == expected


@pytest.mark.parametrize(("average", "expected"), [("mean", "refused"), ("median", "reproduced")])
def test_one_training_far_from_overshooting_moves_the_mean_and_not_the_median(average, expected):
    """DeepFool's distance over the crossing's is 10^0.2 in eight trainings, and 10^-4.3 in the ninth."""
    tables = {"trainings": trainings()}
    altered.put(tables, "trainings", "robustness_crossing", 1e4, network="vgg", seed=0, epoch=LAST_EPOCH)
    assert altered.verdict("deepfool_finds_the_boundary", tables, average=average) == expected
