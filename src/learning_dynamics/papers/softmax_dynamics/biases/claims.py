"""Primacy bias, selection bias, and the alignment of the two spaces (section 3.3)."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean, share
from learning_dynamics.judging import Checks, Claim, Facts, Finding, at_least, claim, equal, equal_on_every_draw
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import (
    FIRST,
    NOT_UNIFORM,
    START,
    TREATED,
    class_sizes,
    first_two,
    learning_times,
    most_small_starts,
    pairs_in_order,
    scales,
    sizes_of,
    slopes_by_scale,
    times_by_scale,
    values,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select, settings_of


@claim(
    "Section 3.3, primacy bias",
    scope=f"{TREATED}, of which those with near-uniform predictions count",
    empirical=True,
    quantifier="an average",
)
def primacy_bias(grid: Table, *, small: Positive, chance: Fraction) -> Finding:
    """From small starts the more frequent of two classes is learned earlier, on average more often than not.

    A class is learned when the mean probability of its own class over its examples passes one half for good. Of the
    pairs of classes of different size, the more frequent one comes first in {value:.1%}; in {first:.0%} of the draws
    the most frequent class is learned before all others, in {ordered:.0%} all pairs are in order. Of the starts of
    larger scale, which are left out since predictions are not uniform there, pairs are in order in {large:.0%}.
    """
    times, sizes, scale = (read(grid, skewed=True) for read in (learning_times, class_sizes, scales))
    small_scale = scale <= small

    def judge(reorder: Sequence[int]) -> Checks:
        shares = pairs_in_order(times, sizes[:, list(reorder)])
        because = "that of an order that does not know the sizes"
        yield at_least(
            "share of pairs in which the more frequent class is learned first (mean over draws)",
            mean(shares[small_scale]),
            chance,
            because=because,
            excluded={NOT_UNIFORM: int((~small_scale).sum())},
        )
        for start_scale in np.unique(scale[small_scale]):
            yield at_least(
                f"the same at scale {start_scale:g}", mean(shares[scale == start_scale]), chance, because=because
            )

    order = list(range(sizes.shape[1]))
    in_order = pairs_in_order(times, sizes)
    rivals = {"rare classes first": order[::-1], "sizes handed to other classes": [*order[1:], 0]}
    facts = {
        "first": np.mean(times[small_scale, 0] < times[small_scale, 1:].min(axis=1)),
        "ordered": np.mean(in_order[small_scale] == 1),
        "large": np.mean(in_order[~small_scale]) if (~small_scale).any() else np.nan,
    }
    return Finding(judge, order, rivals, facts=facts)


COIN = "a coin's"


@claim(
    "Section 3.3, selection bias",
    scope="random balanced starts of four scales, with 4, 1, 1 and 1 examples; flows from Gaussian starts of scale "
    "0.01 until the last class is learned, with 4, 2, 1 and 1; d = 2",
    empirical=True,
    quantifier="most draws",
)
def selection_bias(starts: Table, course: Table, *, chance: Fraction) -> Finding:
    r"""Dominant directions are more likely to take in new information, as changes are proportional to singular values:
    from small starts the larger of two changes faster more often than not, and while most is learned.

    The proportion has a factor of its own for each (errata 5), so that this is a matter of counting. It is so at
    {value:.1%} of the random starts, where $|g_i| \sigma_i$ with every $|g_i|$ paired with every other and
    with every pair of values predicts {expected:.1%}; rates that do not depend on $\sigma_i$ would give one half,
    rates like its square {square:.1%}. Over the course new information is counted by the loss, in which no choice of
    times enters: of its fall {course:.0%} come while the larger one grows faster, {relative:.0%} while it
    does so in ratio. It is a tendency of the whole, not of each moment: among draws the share goes from
    {highest:.0%} (time {when_highest:.3g}) to {lowest:.0%} (time {when_lowest:.3g}).
    """
    wide, size = (
        starts.pivot_table(index=["scale", "seed"], columns="index", values=name).abs() for name in ("rate", "sigma")
    )
    larger_faster = (wide[1] > wide[2]).to_numpy()
    sigma, rate = first_two(course, "sigma"), first_two(course, "rate")
    # up to the last class learned
    worst = select(course, "probability").pivot_table(index="seed", columns="time", values="value", aggfunc="min")
    ongoing = worst.to_numpy() <= 0.5
    loss = select(course, "loss").pivot_table(index="seed", columns="time", values="value").to_numpy()
    decrease = np.where(ongoing[:, :-1], -np.diff(loss, axis=1), 0.0)

    # by scale: log |g_2 / g_1| of every draw with every other, and log sigma_1 / sigma_2 of each
    gain = np.log(wide / size)
    pairs = [
        (
            np.sort(np.subtract.outer(cell[2].to_numpy(), cell[1].to_numpy()).ravel()),
            np.log(cell_sizes[1] / cell_sizes[2]).to_numpy(),
        )
        for (_, cell), (_, cell_sizes) in zip(gain.groupby("scale"), size.groupby("scale"), strict=True)
    ]

    def predicted_share(order: float) -> float:
        """Share of starts of one scale, mean over scales, at which |g_1| sigma_1^order > |g_2| sigma_2^order."""
        return float(
            np.mean([np.mean(np.searchsorted(log_gains, order * ahead) / log_gains.size) for log_gains, ahead in pairs])
        )

    def faster(order: float) -> Table:
        return (rate[1] * sigma[1] ** (order - 1) > rate[2] * sigma[2] ** (order - 1)).unstack("time")  # noqa: PD010 - a series

    def loss_share(order: float) -> np.ndarray:
        """Share of each draw's fall of the loss in steps that begin with the larger value growing faster."""
        return (decrease * faster(order).to_numpy()[:, :-1]).sum(axis=1) / decrease.sum(axis=1)

    def judge(order: float) -> Checks:
        often = share(int(larger_faster.sum()), larger_faster.size)
        yield at_least("random starts at which the larger singular value changes faster", often, chance, because=COIN)
        yield equal(
            "the same, against rates in proportion to the value, gains being exchanged among starts",
            often,
            predicted_share(order),
            resolution=min(abs(predicted_share(rival) - predicted_share(1.0)) for rival in (0.0, 2.0)),
            because="interval of the share",
        )
        yield at_least(
            "share of the loss that is lost while the larger one grows faster, until the last class is learned",
            mean(loss_share(order)),
            chance,
            because=COIN,
        )

    over_time = faster(1.0).mean()
    learning = over_time[(ongoing.mean(axis=0) > 0) & (over_time.index > 0)]
    facts = {
        "highest": learning.max(),
        "when_highest": learning.idxmax(),
        "lowest": learning.min(),
        "when_lowest": learning.idxmin(),
        "expected": predicted_share(1.0),
        "square": predicted_share(2.0),
        "course": np.mean(loss_share(1.0)),
        "relative": np.mean(loss_share(0.0)),
    }
    rivals = {"rates that do not depend on the singular value": 0.0, "rates like its square": 2.0}
    return Finding(judge, 1.0, rivals, facts=facts)


@claim("Section 3.3, alignment", scope=f"{TREATED}; Gaussian starts", empirical=True, quantifier="most draws")
def alignment(grid: Table, *, cosine: Fraction, small: Positive, typical: Fraction) -> Claim:
    r"""From small starts the leading eigenvectors of the feature space and of the weight space align during the
    warm-up.

    Measured from Gaussian starts, whose two factors know nothing of each other: the leading eigenvectors of $f^T f$
    and $W W^T$ at the start and when the first class is learned. Directions drawn at random are as close as this in
    {random:.0%} of draws; at the starts {before:.0%} are. The flow conserves $f^T f - W W^T$ while both grow, so they
    must align from small starts; of those at larger scales, which are left out, {large:.0%} do.
    """
    scale = scales(grid, skewed=True, init="gaussian")

    def cosines(place: int) -> np.ndarray:
        return values(grid, "alignment", place, skewed=True, init="gaussian")

    at_start, first_learned = (pd.Series(cosines(place) >= cosine) for place in (START, FIRST))
    yield from most_small_starts(
        "draws whose leading eigenvectors are aligned when the first class is learned",
        first_learned,
        np.isnan(cosines(FIRST)),
        typical,
        scale,
        small,
        {"aligned from the start": at_start},
        "starts of larger scale, whose conserved difference is not small",
    )
    yield Facts(
        random=2 * np.arccos(cosine) / np.pi,
        before=at_start[scale <= small].mean(),
        large=first_learned[scale > small].mean(),
    )


JUDGED = [1, 2, 3]  # classes by size
Factors = Callable[[Sequence[int]], np.ndarray]


def _pairs(counts: Sequence[int]) -> np.ndarray:
    return np.arange(len(counts)) // 2


def _rates(counts: Sequence[int]) -> np.ndarray:
    """Return the singular values of A at uniform predictions."""
    return np.linalg.svd(theory.uniform_gain(counts), compute_uv=False)


def _rates_alone(counts: Sequence[int]) -> np.ndarray:
    """Return the lengths of the rows of A at uniform predictions: rates of classes that do not interact."""
    return np.linalg.norm(theory.uniform_gain(counts), axis=1)


def _two_stages(rates: Factors, last_rates: Factors) -> Factors:
    """Return factors of two pairs: the second grows at its rate until the first is learned, then at another."""

    def factors(counts: Sequence[int]) -> np.ndarray:
        times = np.full(len(counts), np.nan)
        first, second = rates(counts)[:2]
        times[:2], times[2:4] = 1 / first, 1 / first + (1 - second / first) / last_rates(counts)[2]
        return times

    return factors


OTHER_FACTORS: dict[str, Factors] = {
    "a class for each singular value of A at the start": theory.times_one_by_one,
    "a pair for each singular value of A at the start": lambda counts: theory.times_one_by_one(counts)[_pairs(counts)],
    "a last stage at the third singular value of A at the start": _two_stages(_rates, _rates),
    r"stages at the rates of single classes, $\sqrt{n (1 - 1/V)}$": _two_stages(_rates_alone, _rates_alone),
    "one over the root of a class's size": lambda counts: 1 / np.sqrt(counts),
    "all classes at once": lambda counts: theory.times_one_by_one(counts)[np.zeros(len(counts), dtype=int)],
}


@claim(
    "Section 3.3, primacy bias, in numbers",
    scope="the three most frequent classes; neighbouring sizes in ratios of 2 to 5; V = 4, d = 2 and 3; V = 6, d = 3; "
    "cross-entropy, gradient flow from ever smaller Gaussian starts; one row of features a class",
    origin="ours",
    empirical=True,
    quantifier="all draws",
)
def classes_are_learned_in_pairs(flows: Sequence[Table]) -> Finding:
    r"""At class sizes that are well apart the two most frequent classes are learned together, at a time that grows with
    $\ln(1 / s)$ for starts of ever smaller scale $s$; the factor is one over the largest singular value of $A$ at
    uniform predictions. At the scales measured that of the third class is near the sum of two stages: growth at the
    second singular value until the first pair is learned, then at the largest of $A$ without the rows of what is
    learned.

    Measured is, of each draw, the slope of the time at which a class is learned on $\ln(1 / s)$ between the scales
    {larger:.0e} and {smallest:.0e}, over the predicted factor. At sizes {example} the third class's is {second:.3f},
    where a class for each singular value of $A$ at the start would have {naive}. The first stage is exponential growth
    at a constant rate: its slope is off by what recorded times leave alone. In the second, residuals of what is learned
    fall like one over the time, which is allowed a factor of the time squared beside the exponential. A last stage at
    the third class's own rate, $\sqrt{n (1 - 1/V)}$, is not told from it, as factors then differ by {alone:.1%} at
    most; the third singular value of $A$ is refused at sizes far apart.

    Of the first pair it is the limit; at scale {largest:.0e} the most frequent class takes {first:.2f} times as long as
    the factor says (median). The second stage has none: along the first pair's direction what is not yet learned leaves
    uniform predictions, slowly but without end, and comes late. The third class's mean slope over its factor is
    {before:.4f} between the next larger scales and {third:.4f} here. The fourth is later and not judged: its
    slope is {fourth:.3f} of the factor, up to {fourth_most:.3f} by sizes, and at scale {largest:.0e} it takes
    {fourth_largest:.2f} times as long. Nor is a third pair: a third stage would be its rule, but the fifth class has
    {fifth:.2f} of that slope.
    """
    times = times_by_scale(flows)
    smallest, larger, *_, largest = times.columns
    slopes = slopes_by_scale(times)
    pair_ratios = _slope_ratios(slopes, theory.pair_times)
    bounds = _bounds(pair_ratios, flows, np.log(1 / smallest), np.log(1 / larger))
    reasons = dict.fromkeys([1, 2], "neighbouring records of a time, at both scales") | {
        3: "what a factor of the time squared beside the exponential adds, at the rate and sizes of the draw"
    }

    def judge(factors: Factors) -> Checks:
        ratios = _slope_ratios(slopes, factors)
        for index in JUDGED:
            yield equal_on_every_draw(
                f"slope of the time on log(1 / scale) over its factor, less its prediction, class {index} by size",
                ratios[index],
                np.ones(len(ratios)),
                tolerance=bounds[index],
                relative_to=1.0,
                because=reasons[index],
            )

    last_alone = _two_stages(_rates, _rates_alone)
    by_sizes = pair_ratios.groupby("counts").mean()
    sizes = sizes_of(min(pair_ratios.index.get_level_values("counts"), key=len))
    all_sizes = [sizes_of(counts) for counts in by_sizes.index]
    facts = {
        "larger": larger,
        "smallest": smallest,
        "largest": largest,
        "example": " : ".join(map(str, sizes)),
        "second": theory.pair_times(sizes)[2],
        "naive": f"{theory.times_one_by_one(sizes)[2]:.3f}",
        "alone": max(abs(float(last_alone(counts)[2] / theory.pair_times(counts)[2]) - 1) for counts in all_sizes),
        "first": _ratio_to_limit(times, largest, 1),
        "before": _slope_ratios(slopes_by_scale(times.iloc[:, 1:]), theory.pair_times)[3].mean(),
        "third": pair_ratios[3].mean(),
        "fourth": pair_ratios[4].mean(),
        "fourth_most": by_sizes[4].max(),
        "fourth_largest": _ratio_to_limit(times, largest, 4),
        "fifth": pair_ratios[5].mean() if 5 in pair_ratios else np.nan,
    }
    return Finding(judge, theory.pair_times, OTHER_FACTORS, facts=facts)


def _bounds(slopes: Table, flows: Sequence[Table], last: float, before: float) -> dict[int, np.ndarray]:
    """Return the relative error that the slope of each draw may have, by class.

    Times are T = F log(1 / scale), at `last` and `before`. A recorded time may be off by the step to the next. Growth
    ``exp(rate t)`` times t squared moves T by ``2 log(T) / rate``, its difference by ``2 log(last / before) / rate``.
    """
    spans = [settings_of(table)["integration"] for table in flows]
    step = max(np.log(span["horizon"] / span["start"]) / (span["points"] - 1) for span in spans)
    records = np.full(len(slopes), step * (last + before) / (last - before))
    sizes = [sizes_of(counts) for counts in slopes.index.get_level_values("counts")]
    growth = [
        np.linalg.norm(theory.uniform_gain(cell, learned=[0, 1]), 2) * theory.pair_times(cell)[2] for cell in sizes
    ]
    return {1: records, 2: records, 3: 2 * np.log(last / before) / (last - before) / np.array(growth)}


def _slope_ratios(slopes: Table, factors: Factors) -> Table:
    """Return measured slopes over predicted ones, a row for each draw and a column for each class."""
    predicted = np.full(slopes.shape, np.nan)
    for row, counts in zip(predicted, slopes.index.get_level_values("counts"), strict=True):
        factor = factors(sizes_of(counts))
        row[: len(factor)] = factor
    return slopes / predicted


def _ratio_to_limit(times: Table, scale: float, index: int) -> float:
    """Return the median time at which a class is learned from a scale, over the limit's prediction."""
    class_times = times[scale].xs(index, level="index").fillna(np.inf)  # a class not learned by the horizon comes later
    limits = [theory.pair_times(sizes_of(counts))[index - 1] for counts in class_times.index.get_level_values("counts")]
    return float(np.median(class_times / np.log(1 / scale) / limits))
