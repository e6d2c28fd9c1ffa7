"""The third phase: whether the rank falls while rare classes are learned, and what skew has to do with it."""

from typing import Literal

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, Checks, Claim, Facts, Finding, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.cases import Within, map_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    END,
    FIRST,
    RARE_BEGIN,
    RARE_LEARNED,
    START,
    TREATED,
    most_draws,
    scales,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import POPULATIONS, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table

CLASSES = POPULATIONS["classes"]
SIZES = "64, 16, 4 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from small starts"
COMPRESSED = SIZES + ", where the rank over classes compresses"
BEFORE, WHILE_RARE, AFTER = (FIRST, RARE_BEGIN), (RARE_BEGIN, RARE_LEARNED), (RARE_LEARNED, END)


@claim("Figure 4, compression-seeking", scope=TREATED, empirical=True, quantifier="most draws")
def compression(grid: Table, *, measure: Measure, threshold: Positive, within: Within, typical: Fraction) -> Claim:
    """Under cross-entropy, with skewed classes of eight examples and a bottleneck, the effective rank falls again while
    the rare classes are learned.

    Of a fall after a rise the part that lies in that time counts, if it is as deep as a fall must be. There is one in
    {value:.1%} of the draws, and at no scale in more than {highest:.0%} (scale {at:g}); if the faintest part is counted
    as well, in {any:.1%}. All three phases follow one another in {phases:.1%}. The rank rises meanwhile in
    {rising:.0%}, by {net:+.2f} in the median draw. Counted are all examples, as in section 2.1; over the means of
    classes, and at larger skews, three phases are there: a claim of ours.
    """
    fallen = values(grid, within, 0, measure, threshold, skewed=True)
    net = values(grid, "net", 0, measure, skewed=True)
    yield most_draws(
        "draws whose rank, after a rise, falls while the rare classes are learned",
        fallen >= threshold,
        np.isnan(fallen),
        typical,
        rivals={"the rank rises while they are learned": net >= threshold},
    )
    shares = pd.Series(fallen >= threshold).groupby(scales(grid, skewed=True)).mean()
    yield Facts(
        highest=shares.max(),
        at=shares.idxmax(),
        any=np.mean(fallen > 0),
        phases=np.mean(values(grid, "phases", 0, measure, threshold, skewed=True) == 1),
        rising=np.mean(net >= threshold),
        net=np.nanmedian(net),
    )


@claim(
    "Figure 4, the singular values",
    scope=SIZES,
    empirical=True,
    quantifier="most draws",
    reason="over all inputs the second singular value grows more",
)
def dominant_direction_reused(grid: Table, *, typical: Fraction) -> Finding:
    r"""While rare classes are learned, the dominant direction is re-used: $\sigma_1$ grows faster than $\sigma_2$, and
    goes on to do so.

    Directions and singular values are those of all inputs, as in Figure 4D. The direction turns by less than 45 degrees
    from the moment at which the first class is learned to when the rarest are in {kept:.0%} of the draws, so that it is
    re-used; but $\sigma_1$ grows, and by more than $\sigma_2$, meanwhile in {meanwhile:.0%}, and from there to the end
    in {after:.0%}; all three are true of {value:.0%}. Over the means of classes it grows more
    (`dominant_direction_over_classes`), and there the rank falls.
    """

    def judge(reading: tuple[str, tuple[int, int]]) -> Checks:
        prefix, meanwhile = reading
        holds = _grows_more(grid, prefix, meanwhile), _grows_more(grid, prefix, AFTER), _keeps_direction(grid, prefix)
        yield _most_draws_all("draws that re-use the direction, whose value grows more", typical, *holds)

    facts = {
        "kept": _share(_keeps_direction(grid, "")),
        "meanwhile": _share(_grows_more(grid, "", WHILE_RARE)),
        "after": _share(_grows_more(grid, "", AFTER)),
    }
    rivals = {
        "the means of classes in place of all inputs": (CLASSES, WHILE_RARE),
        "before they are learned, in place of while": ("", BEFORE),
    }
    return Finding(judge, ("", WHILE_RARE), rivals, facts=facts)


@claim(
    "Figure 4, the singular values over class means",
    scope=COMPRESSED,
    origin="ours",
    empirical=True,
    quantifier="most draws",
)
def dominant_direction_over_classes(grid: Table, *, typical: Fraction) -> Finding:
    r"""At class sizes 64, 16, 4 and 1, over the means of classes, $\sigma_1$ grows faster than $\sigma_2$ while rare
    classes are learned, and after, along another direction than the frequent classes took.

    $\sigma_1$ grows, and by more than $\sigma_2$, from just before the rarest classes are learned to when they all are
    in {meanwhile:.0%} of the draws, from there to the end in {after:.0%}. Since the moment at which the first class is
    learned the dominant direction turns by less than 45 degrees in {since_first:.0%}. All three agree with the sentence
    on {value:.0%}.
    """

    def judge(reading: tuple[str, tuple[int, int], tuple[int, int]]) -> Checks:
        prefix, meanwhile, after = reading
        kept = _keeps_direction(grid, prefix)
        holds = (
            _grows_more(grid, prefix, meanwhile),
            _grows_more(grid, prefix, after),
            np.where(np.isnan(kept), kept, 1 - kept),
        )
        yield _most_draws_all("draws whose larger singular value grows more, along another direction", typical, *holds)

    facts = {
        "meanwhile": _share(_grows_more(grid, CLASSES, WHILE_RARE)),
        "after": _share(_grows_more(grid, CLASSES, AFTER)),
        "since_first": _share(_keeps_direction(grid, CLASSES)),
    }
    rivals = {
        "all examples in place of the means of classes": ("", WHILE_RARE, AFTER),
        "before they are learned, in place of while": (CLASSES, BEFORE, AFTER),
        "before they are learned, in place of after": (CLASSES, WHILE_RARE, BEFORE),
    }
    return Finding(judge, (CLASSES, WHILE_RARE, AFTER), rivals, facts=facts)


def _grows_more(grid: Table, prefix: str, places: tuple[int, int]) -> np.ndarray:
    """Return of each draw whether the larger singular value grows between two moments, and by more than the other."""
    begin, end = places
    first, second = (values(grid, f"{prefix}sigma_{k}", None, skewed=True) for k in (1, 2))
    gain, other = (sigma[:, end - 1] - sigma[:, begin - 1] for sigma in (first, second))
    return np.where(np.isnan(gain + other), np.nan, (gain > 0) & (gain > other))


def _keeps_direction(grid: Table, prefix: str) -> np.ndarray:
    """Return of each draw whether its dominant direction turns by less than 45 degrees from the first class learned."""
    cosine = values(grid, f"{prefix}direction", None, skewed=True)[:, FIRST - 1]
    return np.where(np.isnan(cosine), np.nan, cosine > np.sqrt(0.5))


def _most_draws_all(name: str, typical: float, *holds: np.ndarray) -> Check:
    """Check that on most draws several things are true together."""
    together = np.min(holds, axis=0)  # nan where one is
    return most_draws(name, together == 1, np.isnan(together), typical)


def _share(holds: np.ndarray) -> float:
    return float(np.mean(holds == 1))


@claim("Figure 4, the singular values' ratio", scope=COMPRESSED, origin="ours", empirical=True, quantifier="most draws")
def ratio_by_population(grid: Table, *, typical: Fraction) -> Finding:
    r"""At class sizes 64, 16, 4 and 1, in two dimensions and from small starts, the ratio $\sigma_1 / \sigma_2$ falls
    over all examples and rises over the means of classes while rare classes are learned, and after.

    In two dimensions RankMe without centring is a falling function of this ratio. The median ratio of all examples goes
    from {begin_examples:.2f} before the first of the rarest classes is learned to {learned_examples:.2f} after the last
    and {end_examples:.2f} at the end; that of the means of classes from {begin:.2f} to {learned:.2f} and {end:.2f}.
    """
    sizes = {name: [values(grid, f"{name}sigma_{k}", None, skewed=True) for k in (1, 2)] for name in ("", CLASSES)}
    examples, classes = (first / second for first, second in sizes.values())
    differences = [first - second for first, second in sizes.values()]
    rare, after = (RARE_BEGIN, RARE_LEARNED), (RARE_LEARNED, END)

    def check_moves(table: np.ndarray, window: tuple[int, int], sign: int, name: str) -> Check:
        change = sign * (table[:, window[1] - 1] - table[:, window[0] - 1])
        return most_draws(f"draws whose ratio {name}", change > 0, np.isnan(change), typical)

    def judge(reading: tuple[np.ndarray, np.ndarray, tuple[int, int]]) -> Checks:
        falling, rising, meanwhile = reading
        yield check_moves(falling, meanwhile, -1, "over examples falls while the rare classes are learned")
        yield check_moves(falling, after, -1, "over examples falls after that")
        yield check_moves(rising, meanwhile, 1, "over classes rises while the rare classes are learned")
        yield check_moves(rising, after, 1, "over classes rises after that")

    facts = {
        f"{when}{suffix}": np.nanmedian(ratio[:, place - 1])
        for ratio, suffix in ((classes, ""), (examples, "_examples"))
        for when, place in (("begin", RARE_BEGIN), ("learned", RARE_LEARNED), ("end", END))
    }
    rivals = {
        "it falls over classes as it does over examples": (examples, -classes, rare),
        "it rises over examples as it does over classes": (-examples, classes, rare),
        "the difference, not the ratio": (*differences, rare),
        "so from the start, before any class is learned": (examples, classes, (START, FIRST)),
    }
    return Finding(judge, (examples, classes, rare), rivals, facts=facts)


@claim(
    "Figure 4, under AdamW",
    scope="32, 8, 4 and 1 examples in V = 4 classes, d = 2; equal classes; d = 3; Adam with decoupled decay, learning "
    "rate 0.01, full batches",
    origin="ours",
    empirical=True,
    quantifier="some setting",
)
def adamw_compresses(
    decays: Table, *, measure: Literal["rankme_centred", "rankme"], threshold: Positive, typical: Fraction
) -> Finding:
    """Under Adam with decoupled weight decay, at a learning rate of 0.01 and some decay, the rank over all examples
    falls while the rarest class is learned, in most draws with skew and a bottleneck, and not in most without one of
    them, or without decay.

    Of {tried} decays the one with the largest distance between the draws that fall and those of the controls that do
    is chosen on the first half of the draws, and judged on the second, which no search has seen: {decay:g}. There
    {value:.0%} fall with both, {equal:.0%} with equal classes, {wide:.0%} in three dimensions and {none:.0%} without
    decay; over the means of classes {classes:.0%}. At the other decays {fewest:.0%} to {most:.0%} fall with both. The
    falls are late and shallow: {depth:.2f} in the median of those that fall, while from before the rarest class is
    learned to after it the rank rises by {net:.2f}. In {learned:.0%} of the draws all classes pass the upper bound of
    learning.
    """
    amounts = [amount for amount in sorted(decays["amount"].unique()) if amount > 0]
    controls = {"equal classes": "equal", "three dimensions": "wide"}

    def read(quantity: Quantity, case: str, amount: float, name: str, judged: bool, least: float = 0.0) -> np.ndarray:
        rows = map_draws(decays, quantity, name, least, control=case)
        rows = rows[np.isclose(rows["amount"], amount)]
        return rows[(rows["seed"] > decays["seed"].max() / 2) == judged]["value"].to_numpy()

    def depths(case: str, amount: float, name: str = measure, *, judged: bool = True) -> np.ndarray:
        return read("fall_rare", case, amount, name, judged, threshold)

    def excess(amount: float) -> float:
        own, *others = (
            np.mean(depths(case, amount, judged=False) >= threshold) for case in ("treated", "equal", "wide")
        )
        return float(own - max(others))

    decay = max(amounts, key=excess)

    def judge(reading: tuple[float, str]) -> Checks:
        amount, name = reading
        fall = depths("treated", amount, name)
        out = {"draws on which the decay was chosen": len(depths("treated", amount, name, judged=False))}
        what = "draws whose rank, after a rise, falls while the rarest class is learned"
        yield most_draws(what, fall >= threshold, np.isnan(fall), typical, out)
        missing = [(f"with {words}", depths(case, amount, name)) for words, case in controls.items()]
        for words, fall in [*missing, ("with no decay", depths("treated", 0.0, name))]:
            because = "what is needed for a fall is missing"
            holds, undecided = fall >= threshold, np.isnan(fall)
            yield share_of_draws(
                f"the same {words}", holds, at_most=typical, undecided=undecided, because=because, excluded=out
            )

    def share(fall: np.ndarray) -> float:
        return float(np.mean(fall >= threshold))

    treated = depths("treated", decay)
    others = [share(depths("treated", amount)) for amount in amounts if amount != decay]
    facts = {
        "tried": len(amounts),
        "decay": decay,
        "fewest": min(others, default=np.nan),
        "most": max(others, default=np.nan),
        **{case: share(depths(case, decay)) for case in controls.values()},
        "none": share(depths("treated", 0.0)),
        "classes": share(depths("treated", decay, f"class_{measure}")),
        "depth": np.median(treated[treated >= threshold]) if (treated >= threshold).any() else 0.0,
        "net": np.nanmedian(read("net", "treated", decay, measure, True)),
        "learned": np.nanmean(read("learned", "treated", decay, measure, True)),
    }
    rivals = {"no decay": (0.0, measure), "the rank over the means of classes": (decay, f"class_{measure}")}
    return Finding(judge, (decay, measure), rivals, facts=facts)
