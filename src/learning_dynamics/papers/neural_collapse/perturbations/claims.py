"""Claims on robustness against small perturbations, and on how DeepFool measures it.

DeepFool looks for the smallest perturbation r that changes the network's decision on an image x, by steps along
gradients. Robustness is the mean of |r| / |x| over test images. It is measured at some of the recorded epochs, the
first and the last among them. A crossing is where the decision changes on the straight way from a test image to the
nearest train image that is decided differently; its r is the way to that point. A draw is one training, or a pair of
trainings of one network and seed under both losses; arrays have shape (trainings,) unless they say otherwise. Train
errors end at the first recorded epoch at which no more than a share `train_error` of the train images is misclassified.
"""

from collections import defaultdict
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

# Settings of these claims, whose values are in workflow/config/neural_collapse.yaml:
# - measure (all but `deepfool_finds_the_boundary`): the r of which robustness is the mean |r| / |x|: DeepFool's
#   perturbation, as in the paper (robustness), or the smaller of it and the way to the crossing (robustness_smallest)
# - compared_by (`mse_more_robust`): whether robustness under both losses is compared by the logarithm of the ratio, or
#   by the difference
# - magnitudes (`robustness_by_magnitudes`): how many powers of ten make "several magnitudes"; chosen
# - train_error (`robustness_grows_after_zero_error`): largest share of train images misclassified at which train errors
#   count as ended: one in a thousand, at which Papyan, Han and Donoho 2020 mark the effective beginning of the terminal
#   phase of training
# - average (`deepfool_finds_the_boundary`): whether the mean over trainings must be above zero, or the median

Measure = Literal["robustness_smallest", "robustness"]  # values of `measure`: ROBUSTNESS_SMALLEST and ROBUSTNESS


@claim(
    "Figure 11",
    scope=SCOPE + FEW_STEPS + IN_SCOPE_AUTHORS_DECAYS,
    empirical=True,
    quantifier="an average",
)
def mse_more_robust(
    mse: Sequence[Table], ce: Sequence[Table], *, measure: Measure, compared_by: Literal["ratio", "difference"]
) -> Claim:
    """Networks trained with MSE tend to be more robust than those trained with cross-entropy (CE).

    At the last epoch the logarithm of robustness under MSE over robustness under cross-entropy, for the same network
    and seed, must be above zero in the mean over pairs of trainings, with its whole 95 % interval. Robustness is
    DeepFool's, as in the paper: the mean over test images $x$ of $|r|/|x|$, with the perturbation $r$ by which DeepFool
    changes the network's decision. Logarithms are judged because the paper says "magnitudes".

    The ratio is {smallest_ratio:.2g} to {largest_ratio:.2g} over pairs of trainings; robustness is {mse_deepfool:.2g}
    under MSE and {ce_deepfool:.2g} under cross-entropy (geometric means). A variant judges the difference, which the
    largest gains dominate. DeepFool can overshoot (`deepfool_finds_the_boundary`). Another variant therefore judges the
    smallest perturbation that is known, DeepFool's or a crossing of the decision boundary towards a train image:
    {mse_smallest:.2g} under MSE, {ce_smallest:.2g} under cross-entropy. Families of networks differ more than seeds do:
    the interval says nothing of a fourth family.
    """
    mse_runs, ce_runs = paired(mse, ce)
    # shape (pairs of trainings,) each
    mse_robustness, ce_robustness = (at_the_end(tables, measure, "test") for tables in (mse_runs, ce_runs))
    log_ratio = np.log10(mse_robustness / ce_robustness)
    if compared_by == "ratio":
        name, gain = "$\\log_{10}$ of robustness under MSE over that under CE, at the last epoch", log_ratio
    else:
        name, gain = "robustness under MSE minus that under CE, at the last epoch", mse_robustness - ce_robustness
    yield above_zero(
        name,
        gain,
        rivals={  # each is another gain
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
        smallest_ratio=10 ** log_ratio.min(),
        largest_ratio=10 ** log_ratio.max(),
    )


@claim("Figure 11", scope=SCOPE, empirical=True, quantifier="some setting")
def robustness_by_magnitudes(
    mse: Sequence[Table], ce: Sequence[Table], *, magnitudes: Positive, measure: Measure
) -> Claim:
    """Sometimes networks trained with MSE are several magnitudes more robust than those trained with cross-entropy
    (CE).

    For each seed, the network is taken on which robustness under MSE over that under cross-entropy is largest at the
    last epoch. In the geometric mean over seeds this ratio must be {magnitudes:g} powers of ten or more, with its whole
    95 % interval. Robustness is that of `mse_more_robust`. One of the paper's fifteen networks would be enough for
    "sometimes"; here there are {n_networks}. By DeepFool, which can overshoot, the largest ratio is
    {smallest_ratio_of_seeds:.2g} to {largest_ratio_of_seeds:.2g} from seed to seed; by the smallest perturbation that
    is known it is at most {largest_ratio_by_smallest_perturbation:.2g}.
    """
    mse_runs, ce_runs = paired(mse, ce)

    def log_ratios(quantity: Quantity, read: Callable[..., np.ndarray] = at_the_end) -> np.ndarray:
        """Return log10 of robustness under MSE over that under CE, shape (networks, seeds)."""
        ratios = read(mse_runs, quantity, "test") / read(ce_runs, quantity, "test")
        # a row for each table: `read` puts one table after the other, and all must have equally many seeds
        return np.log10(ratios).reshape(len(mse_runs), -1)

    def mean_of_largest(logs: np.ndarray) -> evidence.Estimate | float:
        """Return the mean over seeds of the largest over networks; with one seed that number, without an interval.

        A draw of the check is thus a seed, with all networks.
        """
        largest_by_seed = logs.max(axis=0)
        return evidence.mean(largest_by_seed) if len(largest_by_seed) > 1 else float(largest_by_seed[0])

    yield at_least(
        "$\\log_{10}$ of robustness under MSE over that under CE, the largest of all networks",
        mean_of_largest(log_ratios(measure)),
        magnitudes,
        because="several magnitudes; 95 % interval over seeds",
        rivals={  # each is another mean of the largest logarithms
            "cross-entropy by magnitudes": {"estimate": mean_of_largest(-log_ratios(measure))},
            "the first recorded epoch": {"estimate": mean_of_largest(log_ratios(measure, at_first_epoch))},
        },
    )
    largest_by_deepfool = log_ratios(ROBUSTNESS).max(axis=0)  # shape (seeds,)
    yield Facts(
        smallest_ratio_of_seeds=10 ** largest_by_deepfool.min(),
        largest_ratio_of_seeds=10 ** largest_by_deepfool.max(),
        largest_ratio_by_smallest_perturbation=10 ** log_ratios(ROBUSTNESS_SMALLEST).max(),
        magnitudes=magnitudes,
        n_networks=len(mse_runs),
    )


@claim("Figure 9", scope=SCOPE + ", MSE", empirical=True, quantifier="an average")
def robustness_grows_after_zero_error(trainings: Sequence[Table], *, measure: Measure, train_error: Fraction) -> Claim:
    """Under MSE, networks become more robust when trained beyond zero train error.

    Growth is the last value of robustness minus its value where train errors end. It must be above zero in the mean
    over trainings, with its whole 95 % interval. Robustness is that of `mse_more_robust`. By DeepFool the median growth
    is {median_growth:.1g} and the mean {mean_growth:.1g} (`fig9` has the paper's); trainings range from
    {smallest_growth:.1g} to {largest_growth:.1g}. As for `mse_more_robust`, the interval says nothing of a fourth
    family of networks, and a variant judges the smallest perturbation that is known.
    """
    # excluded: how many trainings are left out, by the reason
    included, excluded = without_stl10_exceptions(trainings)

    # nan, and the check undecided, where robustness was measured fewer than two times since train errors ended
    growth = growth_since_errors_end(included, measure, "test", train_error=train_error)
    yield above_zero(
        "growth of robustness, the mean of $|r| / |x|$, beyond zero train error",
        growth,
        excluded=excluded,
        rivals={  # each is another growth
            "robustness that is lost": -growth,
            "start and end exchanged in every second training": with_every_second_sign_turned(growth),
        },
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    growth_by_deepfool = growth_since_errors_end(included, ROBUSTNESS, "test", train_error=train_error)
    yield Facts(
        median_growth=np.nanmedian(growth_by_deepfool),
        mean_growth=np.nanmean(growth_by_deepfool),
        smallest_growth=np.nanmin(growth_by_deepfool),
        largest_growth=np.nanmax(growth_by_deepfool),
    )


@claim("Figures 9 and 11", scope=SCOPE, origin="ours", empirical=True, quantifier="an average")
def deepfool_finds_the_boundary(trainings: Sequence[Table], *, average: Average) -> Claim:
    """At the first epoch DeepFool's perturbations are, in the mean over images, not longer than known crossings of the
    decision boundary. After collapse under MSE they are longer in the mean over trainings too, and so not the smallest.

    DeepFool looks for the smallest perturbation that changes the network's decision on an image, by steps along
    gradients. A crossing needs no gradient: the decision changes somewhere on the straight way from a test image to the
    nearest train image that the network decides differently. The smallest perturbation is not longer than the way to
    there. Where DeepFool's mean, relative to the images' norms, is larger than the mean of these ways, DeepFool has not
    found the nearest boundary. An image whose decision it does not change counts with the perturbation at which it gave
    up.

    At the last epoch DeepFool's mean is larger in {n_longer} of {n_trainings} trainings (families of networks in which
    it is larger in every one: {families_longer}); the ratio is {smallest_ratio:.2g} to {largest_ratio:.2g}. A likely
    reason, which is not measured, is that outputs near 0 and 1 are flat around collapsed features: a step that follows
    a small slope goes far past the boundary.
    """

    def ratio(read: Callable[..., np.ndarray]) -> np.ndarray:
        """Return mean |r| / |x| of DeepFool over mean |r| / |x| of known crossings, shape (trainings,)."""
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
        rivals={"first and last epoch exchanged": {"values": last}},
    )
    # whether DeepFool's mean is larger in each training of a family, which may be trained on several data sets
    is_longer: dict[str, list[bool]] = defaultdict(list)
    for table in trainings:
        family = NETWORKS[data_and_network(table).network]
        by_deepfool, by_crossing = (
            at_the_end([table], quantity, "test") for quantity in (ROBUSTNESS, ROBUSTNESS_CROSSING)
        )
        is_longer[family] += list(by_deepfool > by_crossing)
    families_longer = [family for family, of_trainings in is_longer.items() if all(of_trainings)]
    yield Facts(
        n_longer=int(np.sum(last > 1)),
        n_trainings=len(last),
        families_longer=" and ".join(families_longer) or "none",
        smallest_ratio=np.min(last),
        largest_ratio=np.max(last),
    )
