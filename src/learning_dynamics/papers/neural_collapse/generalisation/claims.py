"""Claims on test images: how collapse shows on them, how accuracy goes on, and how it compares between losses."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import scipy

from learning_dynamics import evidence
from learning_dynamics.judging import Check, Checks, Claim, Facts, Finding, Instead, Untested, at_least, at_most, claim
from learning_dynamics.papers.neural_collapse.generalisation.table1 import PAPER_TABLE_1
from learning_dynamics.papers.neural_collapse.signs import Average, above_zero, half_exchanged
from learning_dynamics.papers.neural_collapse.trainings import (
    FIVE,
    NEEDS_FIVE,
    SMALL,
    at_first_epoch,
    at_the_end,
    errors_end,
    ordinary,
    paired,
    place_of,
    when_errors_end,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, settings_of

CHANCE = 0.05  # share of orders of the data sets that may do as well as one that is more than chance


def _slower_on_test(trainings: Sequence[Table], average: Average, *quantities: Quantity) -> Finding:
    """Judge whether quantities fall less on test than on train images after train errors end, and end above.

    Of NC1 that they fall on test images too; with the others NC4, of which the ends alone are compared.
    """
    included, excluded = ordinary(trainings)

    def judge(hypothesis: tuple[str, str, bool]) -> Checks:
        train, test, exchanged = hypothesis

        def positive(name: str, values: np.ndarray) -> Check:
            return above_zero(name, half_exchanged(values) if exchanged else values, average, excluded)

        for quantity in quantities:
            (train_start, train_end), (test_start, test_end) = (
                [np.log10(read(included, quantity, split)) for read in (when_errors_end, at_the_end)]
                for split in (train, test)
            )
            test_fall = test_start - test_end
            label = f"$\\log_{{10}}$ of {quantity}"
            yield positive(f"{label}: fall on train less fall on test images", train_start - train_end - test_fall)
            yield positive(f"{label}: test less train images, last epoch", test_end - train_end)
            if quantity == "nc1":
                yield positive(f"{label}: fall on test images", test_fall)
        if "nc1" not in quantities:
            more = at_the_end(included, "nc4", test) - at_the_end(included, "nc4", train)
            yield positive("nc4: test less train images, last epoch", more)
        yield errors_end(included, excluded)

    rivals = {
        "test and train images exchanged": ("test", "train", False),
        "test and train images exchanged in every second training": ("train", "test", True),
    }
    return Finding(judge, printed=("train", "test", False), rivals=rivals)


@claim("Figure 12", scope=SMALL + ", both losses", empirical=True, quantifier="an average")
def test_collapse_slower(trainings: Sequence[Table], *, average: Average) -> Finding:
    r"""In training beyond zero train error variability collapses on test images too, but more slowly and less deeply
    than on train images, in the mean over trainings.

    From the end of train errors to the last epoch NC1 falls on test images, by less than on train images, and ends
    above it. Where test classes are not equally frequent, they weigh equally all the same.
    """
    return _slower_on_test(trainings, average, "nc1")


test_collapse_slower.__test__ = False  # a claim, not a test


@claim(
    "Figure 12",
    scope="MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, three networks each, both losses",
    empirical=True,
    quantifier="a number",
)
def test_collapse_by_difficulty(trainings: Sequence[Table], *, correlation: Fraction) -> Finding:
    r"""On test images NC1 at the last epoch is roughly monotonic with the difficulty of the data set.

    The paper names no measure of difficulty; here it is the test error of the paper's own networks (Table 1), in the
    mean over the three, which shares no features with NC1. Judged is Spearman's rank correlation of both over data
    sets, in the mean over networks and losses. These share five data sets, so that they are not independent: chance is
    what an order of the data sets drawn at random leaves, the same for all networks, and one in twenty of the 120
    orders may do as well as the one that is judged.
    """
    included, excluded = ordinary([table for table in trainings if place_of(table)[0] in FIVE])
    final_nc1: dict[tuple[str, str], dict[str, float]] = {}
    for table in included:
        data, network = place_of(table)
        nc1_by_data = final_nc1.setdefault((network, settings_of(table)["loss"]), {})
        nc1_by_data[data] = float(at_the_end([table], "nc1", "test").mean())
    if {name for by_data in final_nc1.values() for name in by_data} != set(FIVE):
        raise Untested(NEEDS_FIVE)

    ranks = {network: scipy.stats.rankdata(list(nc1_by_data.values())) for network, nc1_by_data in final_nc1.items()}

    def correlation_with(difficulty: Mapping[str, float]) -> float:
        """Return the mean over networks; rounded, so that orders that do equally well are equal."""
        correlations = [
            np.corrcoef(ranks[network], scipy.stats.rankdata([difficulty[name] for name in nc1_by_data]))[0, 1]
            for network, nc1_by_data in final_nc1.items()
        ]
        return round(float(np.mean(correlations)), 9)

    published = {
        name: float(np.mean([-end for (data, _), (_, end) in PAPER_TABLE_1.items() if data == name])) for name in FIVE
    }
    by_chance = np.array(
        [correlation_with(dict(zip(FIVE, order, strict=True))) for order in permutations(range(len(FIVE)))]
    )
    chance = min((value for value in by_chance if np.mean(by_chance >= value) <= CHANCE), default=np.inf)

    def judge(difficulty: Mapping[str, float]) -> Checks:
        value = correlation_with(difficulty)
        yield at_least(
            "rank correlation of NC1 on test images and difficulty, over data sets",
            evidence.Estimate(
                value, value - chance, value + chance, len(FIVE), "one in twenty orders of the data sets"
            ),
            0.0,
            because="an order drawn at random, shared by the networks",
            excluded=excluded,
        )
        yield at_least("its size", value, correlation, because="roughly monotonic")

    rivals = {
        "smaller on harder data sets": {name: -value for name, value in published.items()},
        "an order that has no reason, the alphabet's": {name: float(rank) for rank, name in enumerate(sorted(FIVE))},
    }
    return Finding(judge, printed=published, rivals=rivals)


test_collapse_by_difficulty.__test__ = False  # a claim, not a test


@claim("Appendix A.8", scope=SMALL + ", MSE", empirical=True, quantifier="an average")
def collapse_on_test_images(trainings: Sequence[Table], *, average: Average) -> Finding:
    r"""The other phenomena of neural collapse behave on test images as variability does, in training beyond zero train
    error and in the mean over trainings: norms, angles and self-duality of the class means of test features fall more
    slowly than on train images, and end above; network and nearest class mean differ on more images.

    The share of images on which they differ (NC4) is often zero on train images already when train errors end, so that
    it has no fall to compare.
    """
    return _slower_on_test(
        trainings, average, "equinorm_means", "equiangular_means", "maximal_angle_means", "self_duality"
    )


@claim("Table 1", scope=SMALL + ", MSE", empirical=True, quantifier="an average")
def accuracy_after_zero_error(trainings: Sequence[Table], *, average: Average) -> Claim:
    r"""Under MSE, test accuracy improves when training goes on beyond zero train error, in the mean over trainings.

    The gain is counted from the first recorded epoch without a train error; its mean must lie above zero by more than
    its 95 % interval. The median is {median:.1f} percentage points, from {least:.1f} to {most:.1f} over trainings. The
    paper's median is $0.96$ and its mean $1.83$, with one of fifteen networks getting worse.
    """
    start = when_errors_end(trainings, "error", "test")
    gain = 100 * (start - at_the_end(trainings, "error", "test"))

    yield above_zero(
        "gain in test accuracy, percentage points",
        gain,
        average,
        rivals={
            "accuracy that gets worse": -gain,
            "start and end exchanged in every second training": half_exchanged(gain),
            "the first epoch in the place of the last": 100 * (start - at_first_epoch(trainings, "error", "test")),
        },
    )
    yield errors_end(trainings)
    yield Facts(median=np.nanmedian(gain), least=np.nanmin(gain), most=np.nanmax(gain))


@claim(
    "Section 1.2, Appendix A.1",
    scope=SMALL
    + "; learning rates chosen for each loss on the same test images, under MSE from a wider grid than the paper's",
    empirical=True,
    quantifier="an average",
)
def accuracy_comparable_to_ce(mse: Sequence[Table], ce: Sequence[Table], *, margin: Positive) -> Claim:
    r"""Networks trained with MSE reach a test accuracy comparable to that under cross-entropy, in the mean over
    trainings.

    The difference at the last epoch, for the same network and seed, must lie within the margin on both sides, with
    its 95 % interval. The paper names none; the margin is what the paper's networks gain in the median by training
    on after train errors end. It must tell apart networks that misclassify twice as many images as those under
    cross-entropy: here these misclassify {ce_error:.1g} percent.
    """
    mse_runs, ce_runs = paired(mse, ce)
    ce_errors = at_the_end(ce_runs, "error", "test")

    def lead(mse_errors: np.ndarray) -> evidence.Estimate:
        return evidence.difference(-100 * mse_errors, -100 * ce_errors)

    difference = lead(at_the_end(mse_runs, "error", "test"))
    label = "test accuracy under MSE less that under CE, percentage points"
    because = "the paper's median gain after train errors end (Table 1); 95 % interval over pairs of trainings"
    rivals = {
        "twice the errors of cross-entropy": Instead(estimate=lead(2 * ce_errors)),
        "MSE at its first recorded epoch": Instead(estimate=lead(at_first_epoch(mse_runs, "error", "test"))),
    }
    yield at_least(label, difference, -margin, because=because, rivals=rivals)
    yield at_most(label, difference, margin, because=because, rivals=rivals)
    yield Facts(ce_error=100 * ce_errors.mean())
