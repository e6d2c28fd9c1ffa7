"""Primacy bias, selection bias, and the alignment of the two spaces (section 3.3).

Symbols are the appendix's: features f, a row for each example, and a classifier W, in d dimensions with V classes. A is
the predictions minus the one-hot labels (eq. 12); at uniform predictions it is 1/V minus the labels. u_1i and v_2i are
left singular vectors of f and right ones of W, and g_i = u_1i^T A v_2i is the factor of the singular value sigma_i in
its rate (eqs. 17 to 20). Rates are per unit of flow time, in which the learning rate eta is one. A class is learned
when the mean probability of its own class over its examples passes one half.

Every check takes `rivals` besides its own parameters (`judging.takes_rivals`).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean, share
from learning_dynamics.judging import Check, Claim, Facts, at_least, claim, equal, equal_on_every_draw, takes_rivals
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import (
    TREATED,
    SmallStarts,
    clause_of,
    first_two,
    most_small_starts,
    pairs_in_order,
    share_true,
    slopes_by_scale,
    times_by_scale,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.falls import LEARNED
from learning_dynamics.papers.softmax_dynamics.grids import ALIGNMENT, Grid, Moment
from learning_dynamics.papers.softmax_dynamics.phases.quantities import LOSS, PROBABILITY, RATE, SIGMA
from learning_dynamics.papers.softmax_dynamics.sizes import sizes_of
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select, settings_of

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml:
# - chance_share, of `primacy_bias`: share of pairs in order if the order of learning did not depend on class sizes
# - chance_share, of `selection_bias`: share of the loss, and of starts, in which the larger singular value would grow
#   or change faster if a coin decided
# - small_scale, of `primacy_bias` and `alignment`: largest initialisation scale of starts that are judged: predictions
#   are near uniform up to it, and (`alignment`) the conserved difference of the factors, f^T f - W W^T, is small
# - cosine, of `alignment`: least |cos| between the leading eigenvectors of features and weights that counts as aligned;
#   chosen, `vary` in the configuration tries others
# - majority_share, of `alignment`: least share of draws that makes "most"


@claim(
    "Section 3.3, primacy bias",
    scope=f"{TREATED}, of which those with near-uniform predictions count",
    empirical=True,
    quantifier="an average",
)
def primacy_bias(grid: Table, *, small_scale: Positive, chance_share: Fraction) -> Claim:
    """From small starts the more frequent of two classes is learned earlier, in more than half of the pairs on average.

    A class is learned when the mean probability of its own class over its examples passes one half for good. Of each
    draw's pairs of classes of different size the share is measured in which the more frequent class comes first: it is
    {value:.1%} on average, where an order that does not depend on the sizes gives one half. In
    {share_with_largest_first:.0%} of the draws the most frequent class is learned before all others, and in
    {share_with_all_in_order:.0%} all pairs are in order. Starts of scales above {small_scale:g} are left out, because
    predictions are not uniform there{large_starts}.
    """
    skewed = Grid(grid, skewed=True)
    # `starts.judged` is a mask over the draws of the grid: those of scales up to `small_scale`
    starts = SmallStarts(skewed.scale, small_scale)
    times, sizes = skewed.learning_times(), skewed.class_sizes  # shape (draws, classes), the largest class first
    # the share of each draw's pairs, shape (draws,); nan where the flow failed, which leaves the mean undecided
    in_order = pairs_in_order(times, sizes)
    # By rival, the sizes in whose order classes are learned. A rival alters all checks of this claim, and is refused if
    # one of them does not hold.
    other_sizes = {
        "rare classes first": sizes[:, ::-1],
        # the rarest gets the largest size: 4, 2, 1, 1 becomes 2, 1, 1, 4
        "each class has the size of the next one": np.roll(sizes, -1, axis=1),
    }

    def check_of_order(name: str, judged: np.ndarray, excluded: Mapping[str, int] | None = None) -> Check:
        """Check the share of pairs in order, mean over the draws that the mask `judged` selects."""
        return at_least(
            name,
            mean(in_order[judged]),
            chance_share,
            because="what an order that does not depend on the sizes gives",
            rivals={
                phrase: {"estimate": mean(pairs_in_order(times, sizes_of_rival)[judged])}
                for phrase, sizes_of_rival in other_sizes.items()
            },
            excluded=excluded,
        )

    yield check_of_order(
        "share of pairs in which the more frequent class is learned first (mean over draws)",
        starts.judged,
        starts.excluded,
    )
    for scale, judged in starts.by_scale():
        yield check_of_order(
            f"share of pairs in which the more frequent class is learned first, at scale {scale:g}", judged
        )
    most_frequent_first = times[:, 0] < times[:, 1:].min(axis=1)
    of_large_starts = in_order[~starts.judged]
    share_from_large_starts = of_large_starts.mean() if of_large_starts.size else np.nan
    yield Facts(
        small_scale=small_scale,
        # False in a flow that failed, where times are nan
        share_with_largest_first=np.mean(most_frequent_first[starts.judged]),
        # all pairs of a draw are in order where their share is one
        share_with_all_in_order=share_true(in_order[starts.judged]),
        large_starts=clause_of(": {:.0%} of their pairs are in order", share_from_large_starts),
    )


# printed as the reason of the bound `chance_share`: a coin gives the larger value half of the loss and of the starts
CHANCE = "more often than not"
# rivals of `selection_bias`: orders of the rates in the singular value, |d sigma / dt| = |g| sigma^order; by eq. 20 it
# is one
OTHER_ORDERS = {"rates that do not depend on the singular value": 0.0, "rates like its square": 2.0}


@claim(
    "Section 3.3, selection bias",
    scope="flows from Gaussian starts of scale 0.01 until the last class is learned, with 4, 2, 1 and 1 examples; "
    "random balanced starts of four scales, with 4, 1, 1 and 1; d = 2",
    empirical=True,
    quantifier="an average",
)
def selection_bias(starts: Table, course: Table, *, chance_share: Fraction) -> Claim:
    r"""Dominant directions are more likely to take in new information, as changes are proportional to singular values:
    from small starts, on average, most of the loss's fall comes while the larger of two singular values grows faster.

    $\sigma_1 \geq \sigma_2$ are the singular values of the features. New information is measured by the fall of the
    loss until the last class is learned: {value:.0%} of it comes while the larger singular value grows faster,
    {loss_while_relatively_faster:.0%} while its relative rate, $\dot\sigma_i / \sigma_i$, is larger. More than
    {chance_share:.0%} must, the share that a coin would give. This is a tendency of the whole, not of each moment.
    While some draws still learn, the share of all draws in which the larger one grows faster is between
    {highest_share:.0%} (time {time_of_highest_share:.3g}) and {lowest_share:.0%} (time {time_of_lowest_share:.3g}). The
    sentence is derived from equation 20, $|\dot\sigma_i| = |g_i| \sigma_i$ with $g_i = u_{1i}^T A v_{2i}$: $u_{1i}$ and
    $v_{2i}$ are singular vectors of $f$ and $W$, $A$ is the predictions minus the labels. It is about the sizes of the
    rates, and each singular value has a factor $g_i$ of its own in it (errata 5), so that draws must be counted. At
    {share_faster:.1%} of the random starts the larger one changes faster, growing or shrinking; of those it shrinks in
    {share_shrinking:.0%}. The rates $|g_i| \sigma_i$ predict {predicted_share:.1%} if $|g_1|$, $|g_2|$ and the pair of
    singular values do not depend on one another. To test this, the prediction takes each of the three from any start of
    the same scale. Rates that do not depend on $\sigma_i$ would give {share_at_order_zero:.1%}, rates like its square
    {share_at_order_two:.1%}. With their signs, the larger one's rate exceeds the smaller one's at
    {share_with_larger_signed_rate:.1%} of the random starts, because small random starts have rates of either sign
    equally often.
    """
    # -- along the course: arrays of shape (draws, times)
    least_learned = _by_time(select(course, PROBABILITY).groupby(["seed", "time"])["value"].min())
    is_learning = least_learned.to_numpy() <= LEARNED  # the last class is not learned yet
    loss = _by_time(select(course, LOSS).set_index(["seed", "time"])["value"]).to_numpy()
    # by how much the loss falls in each step that begins before the last class is learned, 0 in later steps:
    # shape (draws, times - 1)
    decrease = np.where(is_learning[:, :-1], -np.diff(loss, axis=1), 0.0)

    # by seed and time, with columns 1 and 2; rates keep their sign
    rate, sigma = first_two(course, RATE), first_two(course, SIGMA)

    # A rival is another order of the rates in the singular value, which says when the larger one counts as faster: at 1
    # rates are compared, at 0 relative rates. `takes_rivals` adds the parameter `rivals`; by `scaled` the smallest
    # error of the order that would be refused is sought.
    @takes_rivals("order", scaled=True)
    def check_of_loss(order: float) -> Check:
        return at_least(
            "share of the loss that is lost while the larger one grows faster, until the last class is learned",
            mean(_loss_share(decrease, rate, sigma, order)),
            chance_share,
            because=CHANCE,
        )

    yield check_of_loss(1.0, rivals=OTHER_ORDERS)

    # -- at random starts: tables by scale and seed, with columns 1 and 2 for the two singular values
    at_starts = starts.pivot_table(index=["scale", "seed"], columns="index", values=["rate", "sigma"])
    signed_rates, sigmas = at_starts["rate"], at_starts["sigma"]
    rates = signed_rates.abs()
    is_faster = rates[1] > rates[2]
    larger_is_faster = share(int(is_faster.sum()), len(at_starts))
    # Draws of this check and the next are starts, of all scales together. No rival alters this one: the rivals' orders
    # alter the next, which predicts the same share.
    yield at_least(
        "eq. 20: share of random starts at which the larger singular value changes faster, growing or shrinking",
        larger_is_faster,
        chance_share,
        because=CHANCE,
    )

    log_gain_ratios = _exchanged_gain_ratios(rates / sigmas)  # |g_i| = rate_i / sigma_i, eqs. 17 and 18
    log_sigma_ratios = np.log(sigmas[1] / sigmas[2])

    def predicted_share(order: float) -> float:
        """Return the share of starts at which |g_1| sigma_1^order exceeds |g_2| sigma_2^order, gains exchanged."""
        return _predicted_share(log_gain_ratios, log_sigma_ratios, order)

    # the check has no tolerance but the interval of the measured share, which must be narrow enough to reject the rival
    # whose share is nearest
    resolution = min(abs(predicted_share(other) - predicted_share(1.0)) for other in OTHER_ORDERS.values())

    @takes_rivals("order", scaled=True)
    def check_of_predicted_share(order: float) -> Check:
        return equal(
            r"eq. 20: share of such starts; predicted from $|g_i| \sigma_i$ with $|g_i|$ exchanged among starts",
            larger_is_faster,
            predicted_share(order),
            resolution=resolution,
            because="interval of the share",
        )

    yield check_of_predicted_share(1.0, rivals=OTHER_ORDERS)

    share_by_time = _grows_faster(rate, sigma, 1.0).mean()
    # after the start, while some draw is still learning
    while_learning = share_by_time[is_learning.any(axis=0) & (share_by_time.index > 0)]
    yield Facts(
        chance_share=chance_share,
        highest_share=while_learning.max(),
        time_of_highest_share=while_learning.idxmax(),
        lowest_share=while_learning.min(),
        time_of_lowest_share=while_learning.idxmin(),
        loss_while_relatively_faster=np.mean(_loss_share(decrease, rate, sigma, 0.0)),
        share_faster=larger_is_faster.value,
        share_shrinking=(signed_rates[1] < 0)[is_faster].mean(),
        share_with_larger_signed_rate=(signed_rates[1] > signed_rates[2]).mean(),
        predicted_share=predicted_share(1.0),
        share_at_order_zero=predicted_share(0.0),
        share_at_order_two=predicted_share(2.0),
    )


def _exchanged_gain_ratios(gains: pd.DataFrame) -> dict[float, np.ndarray]:
    """Return log |g_2 / g_1| by scale, sorted, for all pairs of starts: g_1 of the one, g_2 of the other.

    Parameters
    ----------
    gains : DataFrame
        |g_1| and |g_2| by scale and seed.
    """
    return {
        scale: np.sort(np.subtract.outer(log_gains[2].to_numpy(), log_gains[1].to_numpy()).ravel())
        for scale, log_gains in np.log(gains).groupby("scale")
    }


def _predicted_share(log_gain_ratios: Mapping[float, np.ndarray], log_sigma_ratios: pd.Series, order: float) -> float:
    """Return the share of starts at which the larger value is faster, with gains exchanged; mean over scales.

    It is where |g_1| sigma_1^order > |g_2| sigma_2^order, or log |g_2 / g_1| < order log(sigma_1 / sigma_2).

    Parameters
    ----------
    log_gain_ratios : mapping from scale to ndarray
        As `_exchanged_gain_ratios` returns it.
    log_sigma_ratios : Series
        log(sigma_1 / sigma_2) by scale and seed.
    order : float
        The power of the singular value in the rates.
    """
    shares = []
    for scale, sorted_ratios in log_gain_ratios.items():
        # of each start's values, the number of pairs of gains with which the larger one is faster
        n_below = np.searchsorted(sorted_ratios, order * log_sigma_ratios.loc[scale].to_numpy())
        shares.append(np.mean(n_below / sorted_ratios.size))
    return float(np.mean(shares))


def _grows_faster(rate: pd.DataFrame, sigma: pd.DataFrame, order: float) -> pd.DataFrame:
    """Return whether g_1 sigma_1^order exceeds g_2 sigma_2^order, a row for each seed and a column for each time.

    Order 1 compares the rates, order 0 the relative rates.
    """
    # g_i sigma_i^order, with g_i = rate_i / sigma_i
    first, second = (rate[index] * sigma[index] ** (order - 1) for index in (1, 2))
    return _by_time(first > second)


def _loss_share(decrease: np.ndarray, rate: pd.DataFrame, sigma: pd.DataFrame, order: float) -> np.ndarray:
    """Return, for each draw, the share of the loss's fall in steps at whose beginning the larger value grows faster.

    Parameters
    ----------
    decrease : ndarray, shape (draws, times - 1)
        By how much the loss falls in each step.
    rate, sigma : DataFrame
        By seed and time, with columns 1 and 2.
    order : float
        The power of the singular value in the rates.
    """
    faster = _grows_faster(rate, sigma, order).to_numpy()[:, :-1]  # at the beginning of each step
    return (decrease * faster).sum(axis=1) / decrease.sum(axis=1)


def _by_time(series: pd.Series) -> pd.DataFrame:
    """Return a series by seed and time as a table, a row for each seed and a column for each time."""
    return series.unstack("time")  # noqa: PD010 - a series


@claim("Section 3.3, alignment", scope=f"{TREATED}; Gaussian starts", empirical=True, quantifier="most draws")
def alignment(grid: Table, *, cosine: Fraction, small_scale: Positive, majority_share: Fraction) -> Claim:
    r"""From small starts the leading eigenvectors of the feature space and of the weight space align during the
    warm-up.

    The leading eigenvectors of $f^T f$ and $W W^T$, with the features $f$ and the classifier $W$, are compared at the
    start and when the first class is learned, from Gaussian starts, whose two factors are independent. They count as
    aligned if their $|\cos|$ is {cosine:g} or more, and must be in most draws when the first class is learned.
    Independent random directions in the plane are aligned in {share_by_chance:.0%} of draws; at the starts
    {share_at_start:.0%} are. The flow conserves $f^T f - W W^T$ while both matrices grow: from small starts the
    difference becomes small beside them, so that their eigenvectors must align. Starts of scales above {small_scale:g}
    are left out{large_starts}.
    """
    gaussian = Grid(grid, skewed=True, init="gaussian")
    starts = SmallStarts(
        gaussian.scale, small_scale, reason="starts of larger scale, whose conserved difference is not small"
    )

    def aligned(moment: Moment) -> np.ndarray:
        """Return whether the eigenvectors of each draw are aligned: 1 or 0, nan where the flow failed."""
        cosines = gaussian.at(moment, ALIGNMENT)
        return unless_nan(cosines >= cosine, cosines)

    at_start, when_learned = aligned(Moment.START), aligned(Moment.FIRST_LEARNED)
    yield from most_small_starts(
        "share of draws whose leading eigenvectors are aligned when the first class is learned",
        when_learned,
        starts,
        majority_share=majority_share,
        rivals={"aligned from the start": at_start},  # whether they are aligned at another moment
    )
    yield Facts(
        cosine=cosine,
        small_scale=small_scale,
        # the angle of two random lines in the plane is uniform up to a right angle
        share_by_chance=np.arccos(cosine) / (np.pi / 2),
        share_at_start=share_true(at_start[starts.judged]),
        large_starts=clause_of("; {:.0%} of them align", share_true(when_learned[~starts.judged])),
    )


PerClass = Callable[[Sequence[int]], np.ndarray]  # from class sizes, largest first, to a number for each class
THIRD = 2  # place of the third class, or of the third singular value, among numbers counted from 0


def _singular_values(counts: Sequence[int]) -> np.ndarray:
    """Return the singular values of A at uniform predictions, largest first."""
    return np.linalg.svd(theory.uniform_gain(counts), compute_uv=False)


def _row_norms(counts: Sequence[int]) -> np.ndarray:
    """Return the lengths of the rows of A at uniform predictions: growth rates of classes that do not interact."""
    return np.linalg.norm(theory.uniform_gain(counts), axis=1)


def _two_stages(rates: PerClass, last_rates: PerClass) -> PerClass:
    """Return a function from class sizes to when each class is learned, if the second pair grows in two stages.

    Times are in units of log(1 / scale). Let r_1 and r_2 be the first two of `rates`. The first pair is learned at
    1 / r_1. By then the second pair has grown by the share r_2 / r_1 of its way. It grows the rest, 1 - r_2 / r_1, in
    the second stage, at the third of `last_rates`.
    """

    def times(counts: Sequence[int]) -> np.ndarray:
        first, second = rates(counts)[:2]
        last = last_rates(counts)[THIRD]
        learned = np.full(len(counts), np.nan)  # nothing is predicted of a third pair
        learned[:2] = 1 / first
        learned[2:4] = 1 / first + (1 - second / first) / last
        return learned

    return times


def _one_singular_value_a_pair(counts: Sequence[int]) -> np.ndarray:
    """Return 1 / sigma_1 for the first pair of classes, 1 / sigma_2 for the second, and so on."""
    pairs = np.arange(len(counts)) // 2  # 0, 0, 1, 1, ...
    return theory.times_one_by_one(counts)[pairs]


def _all_at_once(counts: Sequence[int]) -> np.ndarray:
    """Return 1 / sigma_1 for every class."""
    return np.full(len(counts), theory.times_one_by_one(counts)[0])


# Rivals of `theory.pair_times`: when each class is learned, in units of log(1 / scale). Each alters the checks of all
# three classes, and is refused if one of them fails or is undecided. The second, the third and the last agree with the
# rule on the first pair: the check of the third class refuses them.
OTHER_TIMES: dict[str, PerClass] = {
    "a class for each singular value of A at the start": theory.times_one_by_one,
    "a pair for each singular value of A at the start": _one_singular_value_a_pair,
    "a last stage at the third singular value of A at the start": _two_stages(_singular_values, _singular_values),
    r"stages at the rates of single classes, $\sqrt{n (1 - 1/V)}$": _two_stages(_row_norms, _row_norms),
    "one over the root of a class's size": lambda counts: 1 / np.sqrt(counts),
    "all classes at once": _all_at_once,
}


@claim(
    "Section 3.3, primacy bias, in numbers",
    scope="the three most frequent classes; neighbouring sizes in ratios of 2 to 5; V = 4, d = 2 and 3; V = 6, d = 3; "
    "cross-entropy, gradient flow from ever smaller Gaussian starts; one row of features a class",
    origin="ours",
    empirical=True,
    quantifier="all draws",
)
def classes_are_learned_in_pairs(flows: Sequence[Table]) -> Claim:
    r"""At class sizes that are well apart, and from starts of ever smaller scale $s$, the two most frequent classes are
    learned together to leading order in $\ln(1 / s)$. The time of each grows like $\ln(1 / s) / \sigma_1$, with
    $\sigma_1 \geq \sigma_2 \geq \dots$ the singular values of $A$ at uniform predictions. The time of the third class
    grows about like $\ln(1 / s) [1 / \sigma_1 + (1 - \sigma_2 / \sigma_1) / \sigma_1']$, with $\sigma_1'$ the largest
    singular value of $A$ without the rows of the first pair: growth at $\sigma_2$ until that pair is learned, then at
    $\sigma_1'$.

    $A$ is the predictions minus the one-hot labels, with a row for each example. In each draw we measure the slope of
    the time at which a class is learned on $\ln(1 / s)$, between the scales {larger_scale:.0e} and
    {smallest_scale:.0e}, and divide it by the predicted factor. Growth in the first stage is exponential at a constant
    rate, so that the slope of the first pair is off only by the spacing of recorded times. The third class is allowed a
    factor of the time squared beside the exponential. This is chosen, because residuals of what is learned fall about
    like one over the time, and change the second stage's rate by terms of that order. The drift of predictions, below,
    is not of this kind. At sizes {smallest_sizes} the third class's factor is {third_factor:.3f}; if each class had one
    singular value of $A$ at the start to itself, it would be {third_factor_one_by_one:.3f}.

    For the first pair the factor is the limit at small scales: at scale {largest_scale:.0e} the most frequent class
    takes {first_class_delay:.2f} times that limit (median). The second stage has no such limit. Along the first pair's
    direction predictions for classes that are not yet learned depart from uniform ones, slowly but without end, and the
    slope of the second stage drifts. The third class's mean slope over its factor is {third_ratio_before:.4f} between
    the next larger scales and {third_ratio:.4f} here.

    Other rules are distinguished from this one only in part. If the last stage were at the third class's own rate,
    $\sqrt{n (1 - 1/V)}$ with its size $n$ and $V$ classes, the factors would differ by {largest_difference:.1%} at
    most. In the default run the rule with stages at the rates of single classes is rejected only at ratios of sizes
    below 5. The rule with a last stage at the third singular value of $A$ is rejected only at sizes far apart.

    Later classes are not judged. The fourth class's slope is {fourth_ratio:.3f} times the factor, up to
    {largest_fourth_ratio:.3f} at some sizes, and at scale {largest_scale:.0e} it takes {fourth_class_delay:.2f} times
    as long as its factor gives (median).{third_pair}
    """
    times = times_by_scale(flows)
    smallest, larger, *_, largest = times.columns  # scales, ascending
    slopes = slopes_by_scale(times)
    ratios = _over_prediction(slopes, theory.pair_times)  # a row for each draw, columns 1, 2, ... for classes
    other_ratios = {phrase: _over_prediction(slopes, times_of) for phrase, times_of in OTHER_TIMES.items()}
    recording_error = _error_of_records(flows, smallest=smallest, larger=larger)
    squared_time_error = _error_of_squared_time(_sizes_of_draws(ratios), smallest=smallest, larger=larger)
    # a slope that is nan, of a class never learned or a failed flow, leaves its draw undecided
    by_records = "the spacing of recorded times, at both scales"
    by_squared_time = (
        "what a factor of the time squared beside the exponential (chosen) adds, at the rate and sizes of the draw"
    )
    # tolerance and reason, by a class's place in size: the first pair, and the first class of the second
    criteria = {
        1: (recording_error, by_records),
        2: (recording_error, by_records),
        3: (squared_time_error, by_squared_time),
    }
    for index, (tolerance, reason) in criteria.items():
        yield equal_on_every_draw(
            f"slope of the time on log(1 / scale) over the predicted one, less one, class {index} by size",
            ratios[index],
            # a prediction for each draw, not a single 1.0: `equal_on_every_draw` then counts ratios that repeat
            np.ones(len(ratios)),
            tolerance=tolerance,
            relative_to=1.0,  # ratios are relative already
            because=reason,
            # slopes over what the rival predicts, which a right rival would make one
            rivals={phrase: {"measured": ratios_of_rival[index]} for phrase, ratios_of_rival in other_ratios.items()},
        )
    mean_ratios = ratios.groupby("counts").mean()  # over draws of the same sizes
    all_sizes = [sizes_of(counts) for counts in mean_ratios.index]
    example = min(all_sizes, key=sum)  # the smallest classes
    last_alone = _two_stages(_singular_values, _row_norms)  # the second stage at the third class's own rate
    differences = [last_alone(sizes)[THIRD] / theory.pair_times(sizes)[THIRD] - 1 for sizes in all_sizes]
    slopes_before = slopes_by_scale(times.drop(columns=smallest))  # between the next larger scales
    yield Facts(
        larger_scale=larger,
        smallest_scale=smallest,
        largest_scale=largest,
        smallest_sizes=" : ".join(map(str, example)),
        third_factor=theory.pair_times(example)[THIRD],
        third_factor_one_by_one=theory.times_one_by_one(example)[THIRD],
        largest_difference=np.max(np.abs(differences)),
        first_class_delay=_ratio_to_limit(times, largest, index=1),
        third_ratio_before=_over_prediction(slopes_before, theory.pair_times)[3].mean(),
        third_ratio=ratios[3].mean(),
        fourth_ratio=ratios[4].mean(),
        largest_fourth_ratio=mean_ratios[4].max(),
        fourth_class_delay=_ratio_to_limit(times, largest, index=4),
        third_pair=clause_of(
            " A third pair would have a third stage by the same rule; the fifth class's slope is {:.2f} times what "
            "that predicts.",
            ratios[5].mean() if 5 in ratios else np.nan,
        ),
    )


def _error_of_records(flows: Sequence[Table], *, smallest: float, larger: float) -> float:
    """Return the relative error that the spacing of recorded times leaves in a slope between two scales.

    The times are T = F L and T' = F L', with L = log(1 / scale), and the slope F is (T - T') / (L - L'). Either may be
    off by the step between records. These are spaced evenly in the logarithm, so that the step is a share of T. The
    relative error of F is that share times (L + L') / (L - L').
    """
    # `first_time`, `horizon` and `points` of each run's recorded times; the coarsest spacing counts
    spans = [settings_of(table)["integration"] for table in flows]
    step = max(np.log(span["horizon"] / span["first_time"]) / (span["points"] - 1) for span in spans)
    log_smallest, log_larger = np.log(1 / smallest), np.log(1 / larger)  # L and L'
    return float(step * (log_smallest + log_larger) / (log_smallest - log_larger))


def _error_of_squared_time(sizes: Sequence[Sequence[int]], *, smallest: float, larger: float) -> np.ndarray:
    """Return the relative error of the third class's slope if it grows like t^2 exp(rate t), for each draw's sizes.

    With T = F L and T' = F L' as in `_error_of_records`, the factor t^2 moves T by ``2 log(T) / rate``, T - T' by
    ``2 log(L / L') / rate``, and F by that over (L - L').
    """
    log_smallest, log_larger = np.log(1 / smallest), np.log(1 / larger)  # L and L'
    # of each draw: the rate of the second stage times F, as the error is relative to F
    rate_times_slope = np.array(
        [theory.fastest_growth(counts, learned=[0, 1]) * theory.pair_times(counts)[THIRD] for counts in sizes]
    )
    return 2 * np.log(log_smallest / log_larger) / (log_smallest - log_larger) / rate_times_slope


def _sizes_of_draws(table: pd.DataFrame) -> list[list[int]]:
    """Return the class sizes of each row, whose index names them."""
    return [sizes_of(counts) for counts in table.index.get_level_values("counts")]


def _over_prediction(slopes: pd.DataFrame, learning_times: PerClass) -> pd.DataFrame:
    """Return measured slopes over predicted ones, in the rows (draws) and columns (classes) of `slopes`."""
    predicted = np.full(slopes.shape, np.nan)  # of draws with fewer classes the last columns stay empty
    for row, sizes in zip(predicted, _sizes_of_draws(slopes), strict=True):
        row[: len(sizes)] = learning_times(sizes)
    return slopes / predicted


def _ratio_to_limit(times: pd.DataFrame, scale: float, *, index: int) -> float:
    """Return the median over draws of the time at which class `index` is learned from a scale, over its prediction."""
    class_times = times[scale].xs(index, level="index").fillna(np.inf)  # a class not learned by the horizon comes later
    limits = [theory.pair_times(sizes)[index - 1] for sizes in _sizes_of_draws(class_times)]  # over log(1 / scale)
    return float(np.median(class_times / np.log(1 / scale) / limits))
