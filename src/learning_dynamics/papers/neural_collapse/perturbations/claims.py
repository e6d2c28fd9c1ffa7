"""Claims on robustness against small perturbations, and on how DeepFool measures it."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.judging import Claim, Facts, at_least, claim, every_draw
from learning_dynamics.papers.neural_collapse.signs import Average, above_zero, with_every_second_sign_turned
from learning_dynamics.papers.neural_collapse.training.quantities import (
    ROBUSTNESS,
    ROBUSTNESS_CROSSING,
    ROBUSTNESS_SMALLEST,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    FEW_STEPS,
    IN_SCOPE_AUTHORS_DECAYS,
    NETWORKS,
    SCOPE,
    at_first_epoch,
    at_the_end,
    data_and_network,
    growth_since_errors_end,
    paired,
    premise_errors_end,
    without_stl10_exceptions,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

# Settings of these claims, whose values stand in workflow/config/neural_collapse.yaml:
# - measure: DeepFool's perturbation, as in the paper (robustness), or the smaller of it and a known crossing
#   of the boundary (robustness_smallest)
# - compared_by: whether robustness under both losses is compared by the logarithm of the ratio, or by the difference
# - magnitudes: how many powers of ten make "several magnitudes"; chosen
# - train_error: largest share of train images misclassified at which train errors count as ended: see
#   `EFFECTIVELY_ZERO` in `neural_collapse.trainings`
# - average: over trainings: the mean, or the median, must be above zero

# names of ROBUSTNESS_SMALLEST and ROBUSTNESS, means of |r| / |x| over test images x. Under the second r is DeepFool's
# perturbation of x. Under the first r is the smaller of DeepFool's and of a known crossing towards a train image
Measure = Literal["robustness_smallest", "robustness"]


@claim(
    "Figure 11",
    scope=SCOPE + FEW_STEPS + IN_SCOPE_AUTHORS_DECAYS,
    empirical=True,
    quantifier="an average",
)
def mse_more_robust(
    mse: Sequence[Table], ce: Sequence[Table], *, measure: Measure, compared_by: Literal["ratio", "difference"]
) -> Claim:
    r"""Networks trained with MSE tend to be more robust than those trained with cross-entropy.

    Robustness is DeepFool's, as in the paper: the mean over test images of the perturbation that it finds, relative to
    the image. The paper says "magnitudes", so the logarithm of robustness under MSE over that under cross-entropy is
    judged: at the last epoch its mean over pairs of trainings must be above zero with its whole 95 % interval. A
    variant judges the difference, which the largest gains dominate. The ratio is {least:.2g} to {most:.2g} over pairs;
    in the geometric mean over trainings robustness is {mse_deepfool:.2g} under MSE and {ce_deepfool:.2g} under
    cross-entropy. DeepFool can overshoot (`deepfool_finds_the_boundary`). A variant judges the smallest perturbation
    that is known, DeepFool's or a crossing towards a train image, which is {mse_smallest:.2g} under MSE and
    {ce_smallest:.2g} under cross-entropy. Families differ more than seeds do: the interval is over trainings of these
    three, and says nothing of a fourth.
    """
    mse_runs, ce_runs = paired(mse, ce)
    of_mse, of_ce = at_the_end(mse_runs, measure, "test"), at_the_end(ce_runs, measure, "test")
    log_ratio = np.log10(of_mse / of_ce)
    if compared_by == "ratio":
        name, gain = "$\\log_{10}$ of robustness under MSE over that under CE, at the last epoch", log_ratio
    else:
        name, gain = "robustness under MSE minus that under CE, at the last epoch", of_mse - of_ce
    yield above_zero(
        name,
        gain,
        rivals={
            "cross-entropy more robust": -gain,
            "losses exchanged in every second pair": with_every_second_sign_turned(gain),
        },
    )

    def geometric_mean(trainings: Sequence[Table], quantity: Quantity) -> float:
        """Return the geometric mean over trainings of a quantity at the last epoch."""
        return float(10 ** np.mean(np.log10(at_the_end(trainings, quantity, "test"))))

    yield Facts(
        mse_smallest=geometric_mean(mse_runs, ROBUSTNESS_SMALLEST),
        ce_smallest=geometric_mean(ce_runs, ROBUSTNESS_SMALLEST),
        mse_deepfool=geometric_mean(mse_runs, ROBUSTNESS),
        ce_deepfool=geometric_mean(ce_runs, ROBUSTNESS),
        least=10 ** log_ratio.min(),
        most=10 ** log_ratio.max(),
    )


@claim("Figure 11", scope=SCOPE, empirical=True, quantifier="some setting")
def robustness_by_magnitudes(
    mse: Sequence[Table], ce: Sequence[Table], *, magnitudes: Positive, measure: Measure
) -> Claim:
    r"""Sometimes networks trained with MSE are several magnitudes more robust than those trained with cross-entropy.

    One of the paper's fifteen networks would be enough for "sometimes"; here there are {networks}. For each seed,
    robustness under MSE over that under cross-entropy is judged at the last epoch, on the network where this ratio is
    largest. In the geometric mean over seeds it must be {magnitudes:g} powers of ten or more with its whole 95 %
    interval. By DeepFool, the paper's measure, the largest ratio is {least:.2g} to {most:.2g} from seed to seed; by the
    smallest perturbation that is known it is at most {smallest:.2g}. DeepFool can overshoot
    (`deepfool_finds_the_boundary`).
    """
    mse_runs, ce_runs = paired(mse, ce)

    def log_ratios(quantity: Quantity, read: Callable[..., np.ndarray] = at_the_end) -> np.ndarray:
        """Return log10 of robustness under MSE over that under CE, shape (networks, seeds)."""
        ratios = read(mse_runs, quantity, "test") / read(ce_runs, quantity, "test")
        # a row for each table: `read` puts one table after the other, and all must have equally many seeds
        return np.log10(ratios).reshape(len(mse_runs), -1)

    def mean_of_largest(logs: np.ndarray) -> evidence.Estimate | float:
        """Return the mean over seeds of the largest over networks; with one seed that number, without an interval."""
        largest_by_seed = logs.max(axis=0)
        return evidence.mean(largest_by_seed) if len(largest_by_seed) > 1 else float(largest_by_seed[0])

    yield at_least(
        "$\\log_{10}$ of robustness under MSE over that under CE, the largest of all networks",
        mean_of_largest(log_ratios(measure)),
        magnitudes,
        because="several magnitudes; 95 % interval over seeds",
        rivals={
            "cross-entropy by magnitudes": {"estimate": mean_of_largest(-log_ratios(measure))},
            "the first recorded epoch": {"estimate": mean_of_largest(log_ratios(measure, at_first_epoch))},
        },
    )
    largest_by_deepfool = log_ratios(ROBUSTNESS).max(axis=0)  # shape (seeds,)
    yield Facts(
        least=10 ** largest_by_deepfool.min(),
        most=10 ** largest_by_deepfool.max(),
        smallest=10 ** log_ratios(ROBUSTNESS_SMALLEST).max(),
        magnitudes=magnitudes,
        networks=len(mse_runs),
    )


@claim("Figure 9", scope=SCOPE + ", MSE", empirical=True, quantifier="an average")
def robustness_grows_after_zero_error(trainings: Sequence[Table], *, measure: Measure, train_error: Fraction) -> Claim:
    r"""Under MSE, networks become more robust when trained beyond zero train error.

    Robustness is DeepFool's mean of $|r|/|x|$ over test images, as in the paper; growth is its last value minus that
    where train errors end. The 95 % interval of the mean growth over trainings must be above zero. Over its fifteen
    networks the paper reports a median growth of $0.18$ and a mean of $0.93$. Here the median is {median:.1g} and the
    mean {mean:.1g}; trainings range from {least:.1g} to {most:.1g}. Families differ more than seeds do: the interval is
    over trainings of these three, and says nothing of a fourth. A variant judges the smallest perturbation that is
    known, DeepFool's or a crossing towards a train image.
    """
    included, excluded = without_stl10_exceptions(trainings)

    growth = growth_since_errors_end(included, measure, "test", train_error=train_error)
    yield above_zero(
        "growth of robustness, the mean of $|r| / |x|$, beyond zero train error",
        growth,
        excluded=excluded,
        rivals={
            "robustness that is lost": -growth,
            "start and end exchanged in every second training": with_every_second_sign_turned(growth),
        },
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    growth_by_deepfool = growth_since_errors_end(included, ROBUSTNESS, "test", train_error=train_error)
    yield Facts(
        median=np.nanmedian(growth_by_deepfool),
        mean=np.nanmean(growth_by_deepfool),
        least=np.nanmin(growth_by_deepfool),
        most=np.nanmax(growth_by_deepfool),
    )


@claim("Figures 9 and 11", scope=SCOPE, origin="ours", empirical=True, quantifier="an average")
def deepfool_finds_the_boundary(trainings: Sequence[Table], *, average: Average) -> Claim:
    r"""At the first epoch DeepFool's perturbations are, in the mean over images, not longer than known crossings of the
    decision boundary. After collapse under MSE they are longer in the mean over trainings too, and so not the smallest.

    Take the straight way from a test image to the nearest train image that the network decides differently. The
    decision changes somewhere on it, and no gradient is needed to find this crossing. The smallest perturbation is not
    longer than the way to the crossing. Where DeepFool's mean is larger than the mean of these ways, DeepFool has not
    found the nearest boundary. An image whose decision it does not change counts with the perturbation at which it gave
    up. At the first recorded epoch DeepFool's mean must be no larger in any training; at the last the logarithm of the
    ratio of both means, averaged over trainings, must be above zero with its whole 95 % interval. There DeepFool's mean
    is larger in {longer} of {trainings} trainings (families in which it is larger in every one: {families}); the ratio
    is {least:.2g} to {most:.2g}. A likely reason, which is not measured, is that outputs near 0 and 1 are flat around
    collapsed features: a step that follows a small slope goes far past the boundary that it aims at.
    """

    def ratio(read: Callable[..., np.ndarray]) -> np.ndarray:
        """Return mean |r| / |x| of DeepFool over mean |r| / |x| of known crossings, shape (trainings,).

        An image whose decision DeepFool does not change counts with the perturbation at which it gave up.
        """
        return read(trainings, ROBUSTNESS, "test") / read(trainings, ROBUSTNESS_CROSSING, "test")

    first, last = ratio(at_first_epoch), ratio(at_the_end)
    yield above_zero(
        "$\\log_{10}$ of DeepFool's mean over that of known crossings, last epoch",
        np.log10(last),
        average,
        rivals={
            "first and last epoch exchanged": np.log10(first),
            "measures exchanged in every second training": with_every_second_sign_turned(np.log10(last)),
        },
    )
    yield every_draw(
        "DeepFool's mean over that of known crossings, first recorded epoch",
        first,
        at_most=1.0,
        because="a smallest perturbation is not longer than a known crossing",
        rivals={
            "first and last epoch exchanged": {"values": last},
        },
    )
    # whether DeepFool's mean is larger in every training of a family, which may be trained on several data sets
    longer_everywhere: dict[str, bool] = {}
    for table in trainings:
        family = NETWORKS[data_and_network(table)[1]]
        is_longer = at_the_end([table], ROBUSTNESS, "test") > at_the_end([table], ROBUSTNESS_CROSSING, "test")
        longer_everywhere[family] = longer_everywhere.get(family, True) and bool(np.all(is_longer))
    families = [family for family, everywhere in longer_everywhere.items() if everywhere]
    yield Facts(
        longer=int(np.sum(last > 1)),
        trainings=len(last),
        families=" and ".join(families) or "none",
        least=np.min(last),
        most=np.max(last),
    )
