"""Claims on test images: how collapse shows on them, how accuracy goes on, and how it compares between losses.

A draw is one training: a network, a data set, a loss, a seed. Arrays have shape (trainings,) unless they say otherwise.
Quantities of collapse are zero where it is complete (section 1.1): NC1, the features' variance within classes over that
between them; NC2, the spreads of the class means' norms and of their cosines, and the mean distance of these cosines
from -1 / (C - 1), that of the largest angle between C classes; NC3, the squared distance of classifiers from class
means, both of unit norm; NC4, the share of images on which network and nearest class mean differ. On test images, class
means and covariances are those of test features, but for NC4, which has the class means of train images.

Train errors end at the first recorded epoch at which no more than a share `train_error` of the train images is
misclassified. A quantity's fall is log10 of its value there minus log10 of its last one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np
import scipy

from learning_dynamics import evidence
from learning_dynamics.judging import Check, Claim, Facts, Untested, at_least, at_most, claim
from learning_dynamics.papers.neural_collapse.generalisation.table1 import PAPER_TABLE_1
from learning_dynamics.papers.neural_collapse.signs import Average, above_zero, with_every_second_sign_turned
from learning_dynamics.papers.neural_collapse.training.quantities import (
    EQUIANGULAR_MEANS,
    EQUINORM_MEANS,
    ERROR,
    IN_WORDS,
    MAXIMAL_ANGLE_MEANS,
    NC1,
    NC4,
    SELF_DUALITY,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    FIVE_DATA_SETS,
    NEEDS_FIVE_DATA_SETS,
    SCOPE,
    at_errors_end,
    at_first_epoch,
    at_the_end,
    data_and_network,
    on_five_data_sets,
    paired,
    premise_errors_end,
    without_stl10_exceptions,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/neural_collapse.yaml:
# - average (`test_collapse_slower`, `collapse_on_test_images`, `accuracy_after_zero_error`): whether the mean over
#   trainings must be above zero, or the median
# - much (`test_collapse_slower`, `collapse_on_test_images`): how many times as far, in decades, a quantity falls on
#   train images if it falls "much slower" on test images; chosen: twice
# - train_error (`test_collapse_slower`, `collapse_on_test_images`, `accuracy_after_zero_error`): largest share of train
#   images misclassified at which train errors count as ended: one in a thousand, at which Papyan, Han and Donoho 2020
#   mark the effective beginning of the terminal phase of training
# - correlation (`test_collapse_by_difficulty`): least rank correlation that is "roughly monotonic"; chosen
# - factor (`accuracy_comparable_to_ce`): ratio of the two losses' test errors from which on they are not comparable:
#   the root of two, the geometric mean of 1 and 2

# chosen, one in twenty: a correlation is beyond chance if at most this share of all orders of the data sets reaches it
CHANCE = 0.05


def _slower_on_test(
    quantity: Quantity,
    included: Sequence[Table],
    excluded: Mapping[str, int],
    *,
    average: Average,
    much: float,
    train_error: float,
) -> Iterator[Check]:
    """Yield checks that a quantity falls much less on test than on train images after train errors end, and ends
    higher.

    On train images it must fall more than `much` times as far, in decades, as on test images. `excluded` has the number
    of trainings that were left out, by the reason.
    """
    train_fall, test_fall = (_fall(included, quantity, split, train_error) for split in ("train", "test"))
    train_end, test_end = (np.log10(at_the_end(included, quantity, split)) for split in ("train", "test"))
    label = f"$\\log_{{10}}$ of {IN_WORDS[quantity]}"
    yield _above_zero_on_test(
        f"{label}: fall on train images minus {much:g} times the fall on test images",
        train_fall - much * test_fall,
        average,
        excluded,
        with_splits_exchanged=test_fall - much * train_fall,
    )
    yield _above_zero_on_test(
        f"{label}: test minus train images, last epoch",
        test_end - train_end,
        average,
        excluded,
        with_splits_exchanged=train_end - test_end,
    )


def _fall(trainings: Sequence[Table], quantity: Quantity, split: str, train_error: float) -> np.ndarray:
    """Return by how many decades a quantity falls on the images of a split after train errors end, (trainings,)."""
    value_at_errors_end = at_errors_end(trainings, quantity, split, train_error=train_error)
    return np.log10(value_at_errors_end) - np.log10(at_the_end(trainings, quantity, split))


def _above_zero_on_test(
    name: str, values: np.ndarray, average: Average, excluded: Mapping[str, int], *, with_splits_exchanged: np.ndarray
) -> Check:
    """Check that the average over trainings is above zero, with rivals that exchange test and train images.

    `with_splits_exchanged` are the values for test images where `values` are for train images, and the reverse.
    """
    rivals = {
        "test and train images exchanged": with_splits_exchanged,
        # Where a value is a difference between test and train images, the other sign exchanges both. The fall on test
        # images by itself is no such difference: exchanged with the fall on train images, which is above zero too, it
        # would pass. With the other sign the fall is a rise
        "test and train images exchanged in every second training": with_every_second_sign_turned(values),
    }
    return above_zero(name, values, average, excluded=excluded, rivals=rivals)


@claim("Figure 12", scope=SCOPE + ", both losses", empirical=True, quantifier="an average")
def test_collapse_slower(
    trainings: Sequence[Table], *, average: Average, much: Positive, train_error: Fraction
) -> Claim:
    """In training beyond zero train error variability collapses on test images too, but much more slowly and less
    deeply than on train images, in the mean over trainings.

    Falls are counted from the end of train errors to the last epoch. Three quantities, in decades, must be above zero:
    the fall of NC1 on test images; its fall on train images minus {much:g} times that on test images, as the paper says
    "much slower" and not how much; and its last value on test images minus that on train images. NC1 falls by
    {mean_test_fall:.2g} decades on test images and by {mean_train_fall:.2g} on train images, in the mean over
    trainings. All test classes have the same weight.
    """
    # excluded: how many trainings are left out, by the reason
    included, excluded = without_stl10_exceptions(trainings)
    yield from _slower_on_test(NC1, included, excluded, average=average, much=much, train_error=train_error)
    train_fall, test_fall = (_fall(included, NC1, split, train_error) for split in ("train", "test"))
    yield _above_zero_on_test(
        f"$\\log_{{10}}$ of {IN_WORDS[NC1]}: fall on test images",
        test_fall,
        average,
        excluded,
        with_splits_exchanged=train_fall,  # above zero, so that this rival passes here; the two checks before refuse it
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    yield Facts(much=much, mean_train_fall=np.mean(train_fall), mean_test_fall=np.mean(test_fall))


test_collapse_slower.__test__ = False  # a claim, not a test


@claim(
    "Figure 12",
    scope="MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, three networks each, both losses",
    empirical=True,
    quantifier="a number",
)
def test_collapse_by_difficulty(trainings: Sequence[Table], *, correlation: Fraction) -> Claim:
    """On test images NC1 at the last epoch is roughly monotonic with the difficulty of the data set.

    The paper names no measure of difficulty. Here it is the mean test error of the paper's own three networks (Table
    1), which are not the networks whose NC1 is measured. Spearman's rank correlation of NC1 and difficulty over data
    sets, in the mean over networks and losses, must be {correlation:g} or more, and beyond chance. Networks share five
    data sets and are not independent. Chance is therefore one random order of the data sets for all networks: at most
    one in twenty of the 120 orders may reach the correlation of the order by difficulty.
    """
    included, excluded = without_stl10_exceptions(on_five_data_sets(trainings))
    if {data_and_network(table).data for table in included} != set(FIVE_DATA_SETS):
        raise Untested(NEEDS_FIVE_DATA_SETS)
    # NC1 of test images at the last epoch, the mean over seeds, by (network, loss) and then by data set
    nc1_by_network: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for table in included:
        data, network = data_and_network(table)
        nc1 = float(at_the_end([table], NC1, "test").mean())
        nc1_by_network[network, settings_of(table)["loss"]][data] = nc1

    def rank_correlation(difficulty: Mapping[str, float]) -> float:
        """Return Spearman's correlation of NC1 and a difficulty by data set, the mean over networks and losses.

        It is rounded, so that orders with the same correlation tie. ResNet and DenseNet, exceptions on STL10, have
        their correlation over the four other data sets.
        """
        correlations = []
        for nc1_by_data in nc1_by_network.values():
            difficulties = [difficulty[data] for data in nc1_by_data]
            correlations.append(scipy.stats.spearmanr(list(nc1_by_data.values()), difficulties).statistic)
        # 9 digits are chosen: rounding is below, and different orders differ by more
        return round(float(np.mean(correlations)), 9)

    # Correlations by chance: each of the 120 orders of the data sets is taken for the order by difficulty, the rank of
    # a data set in it for the difficulty
    orders = [dict(zip(FIVE_DATA_SETS, ranks, strict=True)) for ranks in permutations(range(len(FIVE_DATA_SETS)))]
    chance_correlations = np.array([rank_correlation(order) for order in orders])
    # the least correlation that at most a share CHANCE of all orders reaches; infinite if more orders than that tie at
    # the top
    beyond_chance = [value for value in chance_correlations if np.mean(chance_correlations >= value) <= CHANCE]
    least_beyond_chance = min(beyond_chance, default=np.inf)

    def with_chance_interval(difficulty: Mapping[str, float]) -> evidence.Estimate:
        """Return the rank correlation with the interval that reaches `least_beyond_chance` to each side.

        Its lower end is zero or more if and only if the correlation is beyond chance. `at_least` with the bound zero
        then holds; it is undecided where zero is inside the interval, and fails where the interval is below zero.
        """
        value = rank_correlation(difficulty)
        return evidence.Estimate(
            value=value,
            lower=value - least_beyond_chance,
            upper=value + least_beyond_chance,
            draws=len(FIVE_DATA_SETS),
            how="one in twenty orders of the data sets",
        )

    # test errors at the end in per cent, the mean over the paper's networks
    published_errors: dict[str, float] = {}
    for data in FIVE_DATA_SETS:
        accuracies_at_end = [
            at_end
            for (published_data, _network), (_zero_error, at_end) in PAPER_TABLE_1.items()
            if published_data == data
        ]
        published_errors[data] = float(np.mean([100 - accuracy for accuracy in accuracies_at_end]))
    # each rival is another difficulty, and changes the correlation; a check that it leaves undecided refuses it
    wrong_difficulties: dict[str, dict[str, float]] = {
        "smaller on harder data sets": {data: -error for data, error in published_errors.items()},
        # the rank in the alphabet taken for the difficulty
        "an order that has no reason, the alphabet's": {data: rank for rank, data in enumerate(sorted(FIVE_DATA_SETS))},
    }
    yield at_least(
        "rank correlation of NC1 on test images and difficulty over data sets, beyond chance",
        with_chance_interval(published_errors),
        0.0,
        because="an order drawn at random, shared by the networks",
        excluded=excluded,  # trainings, where draws of this check are data sets
        rivals={
            phrase: {"estimate": with_chance_interval(difficulty)} for phrase, difficulty in wrong_difficulties.items()
        },
    )
    yield at_least(
        "rank correlation of NC1 on test images and difficulty over data sets, its size",
        rank_correlation(published_errors),
        correlation,
        because="roughly monotonic",
        rivals={
            phrase: {"estimate": rank_correlation(difficulty)} for phrase, difficulty in wrong_difficulties.items()
        },
    )
    yield Facts(correlation=correlation)


test_collapse_by_difficulty.__test__ = False  # a claim, not a test


@claim("Appendix A.8", scope=SCOPE + ", MSE", empirical=True, quantifier="an average")
def collapse_on_test_images(
    trainings: Sequence[Table], *, average: Average, much: Positive, train_error: Fraction
) -> Claim:
    """On test images the other phenomena of neural collapse behave as variability does, in training beyond zero train
    error and in the mean over trainings. The class means' spreads of norms and angles, and their distances from the
    largest angle and from the classifiers, fall much more slowly than on train images, and end higher. Network and
    nearest class mean differ on more images.

    Each of these four quantities must fall more than {much:g} times as far on train images as on test images, in
    decades from where train errors end (`test_collapse_slower`), and end higher on test images. A quantity that rises
    on test images counts as slower. Of the share of images on which network and nearest class mean differ (NC4) only
    the last values are compared: on train images it is often zero when train errors end, and cannot fall.
    """
    # excluded: how many trainings are left out, by the reason
    included, excluded = without_stl10_exceptions(trainings)
    for quantity in (EQUINORM_MEANS, EQUIANGULAR_MEANS, MAXIMAL_ANGLE_MEANS, SELF_DUALITY):
        yield from _slower_on_test(quantity, included, excluded, average=average, much=much, train_error=train_error)
    train_nc4, test_nc4 = (at_the_end(included, NC4, split) for split in ("train", "test"))
    yield _above_zero_on_test(
        f"{IN_WORDS[NC4]}: test minus train images, last epoch",
        test_nc4 - train_nc4,
        average,
        excluded,
        with_splits_exchanged=train_nc4 - test_nc4,
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    yield Facts(much=much)


@claim(
    "Table 1",
    scope=SCOPE + "; learning rates chosen, as in the paper, for a low test error at the last epoch",
    empirical=True,
    quantifier="an average",
)
def accuracy_after_zero_error(trainings: Sequence[Table], *, average: Average, train_error: Fraction) -> Claim:
    """Under MSE, test accuracy improves when training goes on beyond zero train error, in the mean over trainings.

    The gain is counted from the first recorded epoch at which train errors have ended (at most {train_error:.1%} of the
    train images misclassified) to the last. The {average} gain is {value:.2g} percentage points, and its whole 95 %
    interval must be above zero; over trainings gains run from {smallest_gain:.1f} to {largest_gain:.1f}. Trainings
    share their test images: another test set would shift all gains together, which the interval leaves out. Learning
    rates were chosen for a low test error on the same images, at the last epoch of shorter trainings, which favours a
    gain. In the paper one of fifteen networks gets worse (figure `table1` has its gains).
    """
    # Shares of test images misclassified, shape (trainings,) each; accuracy gains what they lose. No training is left
    # out, as the paper names no exceptions from its Table 1. A gain is nan where train errors never end: the premise is
    # then not met
    error_at_errors_end = at_errors_end(trainings, ERROR, "test", train_error=train_error)
    gain = 100 * (error_at_errors_end - at_the_end(trainings, ERROR, "test"))

    yield above_zero(
        "gain in test accuracy, percentage points",
        gain,
        average,
        rivals={  # each is another gain
            "start and end exchanged in every second training": with_every_second_sign_turned(gain),
        },
    )
    yield premise_errors_end(trainings, train_error=train_error)
    yield Facts(
        train_error=train_error,
        average=average,
        smallest_gain=np.nanmin(gain),
        largest_gain=np.nanmax(gain),
    )


@claim(
    "Section 1.2, Appendix A.1",
    scope=SCOPE + "; learning rates chosen for each loss on the same test images",
    empirical=True,
    quantifier="an average",
)
def accuracy_comparable_to_ce(mse: Sequence[Table], ce: Sequence[Table], *, factor: Positive) -> Claim:
    """Networks trained with MSE reach a test accuracy comparable to that under cross-entropy (CE), in the mean over
    trainings.

    The paper names no margin. Here neither loss may misclassify {factor:.3g} times as many test images as the other at
    the last epoch. The default factor is the geometric mean of 1 and 2, midway between as many errors and twice as
    many. The errors of one loss minus that factor times those of the other must be below zero for either loss, in the
    mean over pairs of the same network and seed. The margin is a factor, no number of percentage points: where errors
    are few, even twice as many would be within one point. Misclassified are {mse_error:.2g} per cent under MSE,
    {ce_error:.2g} under cross-entropy. Of a few hundred test images so few are misclassified that {draws} pairs may not
    decide.
    """
    mse_runs, ce_runs = paired(mse, ce)
    # test images misclassified, per cent, of each pair of trainings
    mse_errors, ce_errors = (100 * at_the_end(tables, ERROR, "test") for tables in (mse_runs, ce_runs))

    def mean_excess(errors: np.ndarray, other_errors: np.ndarray) -> evidence.Estimate:
        """Return the mean over pairs of errors minus `factor` times the other errors, with its 95 % interval.

        It is no ratio, because a training may have no error.
        """
        return evidence.difference(errors, factor * other_errors)

    because = f"fewer than {factor:.3g} times as many; 95 % interval over pairs of trainings"
    # What each rival takes for the errors under MSE. The first check refuses too many of them, the second too few; a
    # rival passes the other check
    wrong_errors = {
        "twice the errors of cross-entropy": 2 * ce_errors,
        "half the errors of cross-entropy": 0.5 * ce_errors,
        "MSE at its first recorded epoch": 100 * at_first_epoch(mse_runs, ERROR, "test"),
    }
    yield at_most(
        f"test errors under MSE minus {factor:.3g} times those under CE, percentage points",
        mean_excess(mse_errors, ce_errors),
        0.0,
        because=because,
        rivals={phrase: {"estimate": mean_excess(errors, ce_errors)} for phrase, errors in wrong_errors.items()},
    )
    yield at_most(
        f"test errors under CE minus {factor:.3g} times those under MSE, percentage points",
        mean_excess(ce_errors, mse_errors),
        0.0,
        because=because,
        rivals={phrase: {"estimate": mean_excess(ce_errors, errors)} for phrase, errors in wrong_errors.items()},
    )
    yield Facts(factor=factor, mse_error=mse_errors.mean(), ce_error=ce_errors.mean())
