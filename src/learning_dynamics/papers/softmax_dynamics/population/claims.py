"""That the three phases emerge, what is necessary for them, and over which population of features they show."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    claim,
    equal,
    every_draw,
    premise,
    share_of_draws,
)
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import fall_rows, most_draws, narrowest, share_true, unless_nan
from learning_dynamics.papers.softmax_dynamics.falls import END, FALL_RARE, PEAK, PHASES
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Measure, Population
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

REGION = (
    "four classes, sizes in powers of a ratio up to 512 : 64 : 8 : 1, cross-entropy, gradient flow, Gaussian starts"
)


@claim(
    "Abstract and section 3.3, three phases",
    scope=f"{REGION} of scales from 1e-5 to 1; d = 2; one row of features a class; RankMe as in section 2.1",
    empirical=True,
    quantifier="some setting",
)
def three_phases_exist(region: Table, *, threshold: Positive, typical: Fraction) -> Claim:
    """Under cross-entropy and gradient flow three phases can emerge with skewed classes and a bottleneck: the effective
    rank falls, rises, and falls again while the rare classes are learned.

    The rank is the paper's own: RankMe of section 2.1, over all inputs, one row each. "Can" is read as most draws of
    some setting, which is chosen on half of the draws, of {settings} settings, and judged on the other half: at sizes
    {setting} from scale {scale:g} {value:.0%} show the phases. In no setting does it fall at all while the rare
    classes are learned in more than {falls:.0%} of all draws. Over the means of classes, instead of inputs, the best
    setting shows the phases in {classes:.0%}, which is a claim that we add. Descent with large steps or small batches
    is not the flow, and a claim of its own.
    """

    def at_best(population: Population) -> tuple[tuple[str, float], pd.Series]:
        """Return sizes and scale at which most draws of even number show the phases, and which of odd number do."""
        rows = narrowest(fall_rows(region, PHASES, population, threshold))
        rows = rows[rows["skewed"]]
        even, odd = (rows[rows["seed"] % 2 == part].set_index(["counts", "scale"])["value"] for part in (0, 1))
        setting = even.groupby(level=[0, 1]).mean().idxmax()
        return setting, odd.loc[setting]

    (counts, scale), over_examples = at_best("examples")
    _, over_classes = at_best("classes")
    yield most_draws(
        "draws with warm-up, growth and compression, in this order, at the setting that shows them most",
        over_examples,
        typical=typical,
        excluded={"draws on which the setting was chosen": len(over_examples)},
        rivals={"the rank over the means of classes": over_classes},
    )
    falls = narrowest(fall_rows(region, FALL_RARE, "examples", threshold))
    falls = falls[falls["skewed"]].groupby(["counts", "scale"])["fallen"].mean()
    yield Facts(
        settings=len(falls),
        setting=counts.replace("-", " : "),
        scale=scale,
        falls=falls.max(),
        classes=share_true(over_classes),
    )


@claim(
    "Section 3.3, three phases over class means",
    scope="64, 16, 4 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from starts of two kinds and "
    "of scale 1e-3",
    origin="ours",
    empirical=True,
    quantifier="most draws",
)
def three_phases_over_classes(
    grid: Table, region: Table, *, measure: Measure, threshold: Positive, typical: Fraction
) -> Claim:
    """At class sizes 64, 16, 4 and 1, in two dimensions and from small starts, RankMe of the means of classes falls,
    rises, and falls again while the rare classes are learned.

    Counted are draws that show all three in this order, each as deep as the threshold. {value:.0%} of the draws show
    them at scale {at:g}, {wider:.0%} at scale {larger:g}. Over all examples, of which the rarest class has one in 85,
    {examples:.0%} do. The setting is one of a region: for sizes in powers of a ratio, with one row a class, from starts
    of scale {at:g}, most draws show the phases from {least:.0f} : 1 between the largest class and the smallest on, and
    at {below:.0f} : 1 {share_below:.0%} do.
    """
    draws = Grid(grid)
    scale, kind = draws.scale, draws.members["init"].to_numpy()
    over_examples, over_classes = (
        draws.number(PHASES, measure=MEASURES[population][measure], threshold=threshold)
        for population in ("examples", "classes")
    )
    is_small = scale == scale.min()
    judged = {"draws with warm-up, growth and compression, in this order": is_small}
    judged |= {f"of those from {name.capitalize()} starts": is_small & (kind == name) for name in np.unique(kind)}
    for name, chosen in judged.items():
        rivals = {"the rank over all examples": over_examples[chosen]}
        yield most_draws(name, over_classes[chosen], typical=typical, rivals=rivals)
    rows = narrowest(fall_rows(region, PHASES, "classes", threshold))
    rows = rows[rows["scale"] == scale.min()]
    share_by_ratio = (rows["value"] == 1).groupby(rows["ratio"]).mean()
    least = min((size for size in share_by_ratio.index if (share_by_ratio.loc[size:] > 0.5).all()), default=np.nan)
    below = max((size for size in share_by_ratio.index if not size >= least), default=np.nan)
    yield Facts(
        at=scale.min(),
        larger=scale.max(),
        wider=share_true(over_classes[scale == scale.max()]),
        examples=share_true(over_examples[is_small]),
        least=least,
        below=below,
        share_below=share_by_ratio.get(below, np.nan),
    )


def _small_starts(region: Table, threshold: float, small: float, population: Population = "classes") -> pd.DataFrame:
    """Return how far the rank falls while the rare classes are learned, of starts of scales up to `small`."""
    rows = fall_rows(region, FALL_RARE, population, threshold)
    return rows[rows["scale"] <= small]


def _never_falls(name: str, rows: pd.DataFrame, threshold: float, *, rivals: dict[str, pd.DataFrame]) -> Check:
    """Check that no draw falls by as much as the threshold; draws with what is necessary are the rivals."""
    return every_draw(
        name,
        rows["value"],
        at_most=threshold,
        because="what counts as a fall; necessary means never without",
        rivals={phrase: {"values": other["value"]} for phrase, other in rivals.items()},
    )


def _falls_with_both(rows: pd.DataFrame, typical: float) -> Check:
    """Check what necessity takes for granted: with skew and a bottleneck the rank falls, at the largest skew."""
    narrow = narrowest(rows)
    both = narrow[narrow["ratio"] == narrow["ratio"].max()]
    return premise(
        most_draws(
            "draws that fall with a bottleneck, at the largest skew",
            unless_nan(both["fallen"], both["value"]),
            typical=typical,
        )
    )


@claim(
    "Section 3.3, necessity of skew",
    scope=f"equal classes, and the same of skewed ones: {REGION} of small scales; d = 2 and 3; RankMe over class means",
    empirical=True,
    quantifier="all draws",
)
def skew_is_necessary(region: Table, *, threshold: Positive, small: Positive, typical: Fraction) -> Claim:
    """Skewed classes are necessary for compression: with four equal classes the effective rank does not fall, from
    small starts, while they are learned.

    Of a fall after a rise since the warm-up's trough the part counts that is in the time in which the rarest classes
    are learned; of equal classes all are. Necessary is what a fall never comes without. With equal classes, whose ranks
    over examples and over classes are the same, {draws_against} of {draws} draws fall, with skewed ones, two dimensions
    and the same starts {skewed:.0%}; of the starts of larger scale, which are left out, {large:.1%} with equal classes.
    The ranks are those of class means: over all inputs there is no fall that something could be necessary for.
    """
    rows = _small_starts(region, threshold, small)
    equal, skewed = rows[~rows["skewed"]], narrowest(rows[rows["skewed"]])
    yield _never_falls(
        "fall of the rank while classes are learned",
        equal,
        threshold,
        rivals={"skewed classes with a bottleneck in their place": skewed},
    )
    yield _falls_with_both(rows, typical)
    of_all_scales = fall_rows(region, FALL_RARE, "classes", threshold)
    larger = of_all_scales[(of_all_scales["scale"] > small) & ~of_all_scales["skewed"]]
    yield Facts(skewed=skewed["fallen"].mean(), large=larger["fallen"].mean())


@claim(
    "Section 3.3, necessity of a bottleneck",
    scope=f"{REGION} of small scales; d = 3 and 4; RankMe over class means",
    empirical=True,
    quantifier="all draws",
)
def bottleneck_is_necessary(
    regions: Sequence[Table], *, threshold: Positive, small: Positive, typical: Fraction
) -> Claim:
    """A bottleneck is necessary for compression: with as many dimensions as there are classes, or one less, the
    effective rank does not fall, from small starts, while the rare classes are learned.

    Three dimensions for four classes are the paper's control, though fewer than there are classes (errata 7): both are
    judged, and {fallen:.0%} of the draws fall. How much skew it takes is a matter of the scale. With {wide} dimensions
    most draws fall from {turns:.0f} : 1 between the largest class and the smallest on if they start at a scale of
    {at:g} ({share:.0%}; with two dimensions {narrow:.0%}): the other directions are not used in time. From {larger:g}
    it takes {turns_larger:.0f} : 1. Skew alone, if large enough for the start, makes the rank of the class means fall.
    """
    rows = pd.concat([_small_starts(region, threshold, small) for region in regions])
    rows = rows[rows["skewed"]]
    narrow, wide = rows["dimension"].min(), rows["dimension"].max()
    without = rows[rows["dimension"] > narrow]
    yield _never_falls(
        "fall of the rank while the rare classes are learned",
        without,
        threshold,
        rivals={"two dimensions in their place": narrowest(rows)},
    )
    yield _falls_with_both(rows, typical)
    shares = rows.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales_of_wide = rows[rows["dimension"] == wide]["scale"]
    at, larger = scales_of_wide.min(), scales_of_wide.max()

    def smallest_ratio_of_most(scale: float) -> float:
        """Return the least skew at which most draws of the most dimensions fall, from starts of one scale."""
        return min((size for size, share in shares[scale, wide].items() if share > 0.5), default=np.nan)

    turns = smallest_ratio_of_most(at)
    yield Facts(
        fallen=without["fallen"].mean(),
        wide=wide,
        at=at,
        larger=larger,
        turns=turns,
        turns_larger=smallest_ratio_of_most(larger),
        share=shares.get((at, wide, turns), np.nan),
        narrow=shares.get((at, narrow, turns), np.nan),
    )


@claim(
    "Section 3.3, key takeaway",
    scope=f"{REGION} of small scales; d = 2; one row of features a class; RankMe over inputs, and over class means",
    empirical=True,
    quantifier="all draws",
)
def skew_and_bottleneck_suffice(region: Table, *, threshold: Positive, small: Positive) -> Claim:
    """Skewed token frequencies and a bottleneck suffice, under cross-entropy from small starts, to produce expansion
    and then compression: the effective rank rises, and falls while the rare classes are learned.

    What suffices does so on every draw, at every skew. Of the rank over all inputs, one row each, {examples:.1%} of the
    draws fall after a rise. Over the means of classes {classes:.0%} do; at {mildest:.0f} : 1 between the largest class
    and the smallest {mild:.1%} (errata 6). From scales up to {tiny:g}, and over class means, it takes {enough:.0f} : 1
    for each of the draws here to fall.
    """
    skewed = {}
    for population in ("examples", "classes"):
        rows = narrowest(_small_starts(region, threshold, small, population))
        skewed[population], equal = rows[rows["skewed"]], rows[~rows["skewed"]]
        yield every_draw(
            f"fall of the rank over {population} while the rare classes are learned",
            skewed[population]["value"],
            at_least=threshold,
            because="what counts as a fall; what suffices does so always",
            rivals={"equal classes instead of skewed ones": {"values": equal["value"]}},
        )
    classes = skewed["classes"]
    mildest, two_smallest_scales = classes["ratio"].min(), sorted(classes["scale"].unique())[:2]
    tiny = classes[classes["scale"].isin(two_smallest_scales)]
    always = tiny.groupby("ratio")["fallen"].all()
    yield Facts(
        examples=skewed["examples"]["fallen"].mean(),
        classes=classes["fallen"].mean(),
        mildest=mildest,
        mild=classes[classes["ratio"] == mildest]["fallen"].mean(),
        tiny=tiny["scale"].max(),
        enough=min((size for size in always.index if always.loc[size:].all()), default=np.nan),
    )


@claim(
    "Section 3.3, why the population matters",
    scope="sizes in powers of a ratio up to 512 : 64 : 8 : 1, V = 4, d = 2, cross-entropy, gradient flow from the "
    "smallest Gaussian starts; one row of features a class",
    origin="ours",
    empirical=True,
    quantifier="an average",
)
def population_decides(region: Table, *, threshold: Positive, typical: Fraction, rare: Fraction) -> Claim:
    r"""From small starts of four classes in two dimensions, at sizes in powers of a ratio, the mean feature of a class
    of $n$ examples has a squared length of about its margin over $\sqrt n$, on average. The rare classes, counted by
    class, outweigh the frequent ones in the end, and in most draws the rank falls; counted by examples they do not, and
    in at most one draw in twenty it falls.

    The flow conserves $n |f|^2 - |w|^2$ of a class that has a direction to itself, so that a margin $m = |f||w|$ makes
    $|f|^2 = m/\sqrt n$. Measured is the slope {value:.3f}, the margin of each class divided out. It is not the law's
    $-1/2$ to the error of the mean, as classes share directions; "about" is a tenth of it. Over classes
    the eigenvalue of the rare classes' direction passes that of the frequent ones' on its way up, and the rank passes
    two and falls; over examples every eigenvalue carries the factor $n$, and the rare ones' stays the smaller. The rank
    over classes ends by as much as the threshold below its highest in {classes:.0%} of the draws, over examples in
    {examples:.0%}. At equal margins, and with a ratio $r$ of neighbouring sizes, the two eigenvalues over classes are
    as $r : 1$. At {most:.0f} : 1 the rank over classes is {predicted_rank:.2f} by that, and ends at {end:.2f}, as
    margins are not quite equal; over examples it ends at {end_examples:.2f}, which centring makes higher.
    """
    smallest = region["scale"].min()
    rows = narrowest(region[(region["scale"] == smallest) & region["skewed"]])

    def by_draw(quantity: Quantity, population: Population) -> pd.Series:
        return select(rows, quantity, population=population).set_index(["counts", "seed"])["value"]

    def ends_below(population: Population) -> np.ndarray:
        """Return of each draw whether its rank ends by the threshold, or more, below its highest."""
        drop = by_draw(PEAK, population) - by_draw(END, population)
        return unless_nan(drop >= threshold, drop)

    yield equal(
        r"slope of $\log(|f_c|^2 / m_c)$ on $\log n_c$ over classes, mean over draws",
        mean(select(rows, "length_order")["value"].to_numpy()),
        -0.5,  # |f|^2 = m / sqrt(n), as n |f|^2 = |w|^2 and m = |f| |w|
        tolerance=0.05,
        resolution=0.25,
        because="interval of the mean, and a tenth of the slope for 'about': classes share directions",
        rivals={
            "lengths that do not depend on the size": 0.0,
            "squared lengths of one over the size": -1.0,
        },
        scaled=False,
    )
    exchanged = "the populations exchanged"
    yield most_draws(
        "draws whose rank over classes ends below its highest by the threshold",
        ends_below("classes"),
        typical=typical,
        rivals={exchanged: ends_below("examples")},
    )
    yield share_of_draws(
        "the same over examples",
        ends_below("examples"),
        at_most=rare,
        because="one draw in twenty is let pass",
        rivals={exchanged: {"holds": ends_below("classes")}},
    )
    most = max(rows["counts"].unique(), key=ratio)
    yield Facts(
        classes=share_true(ends_below("classes")),
        examples=share_true(ends_below("examples")),
        most=ratio(most),
        # of sizes r^3 : r^2 : r : 1 the largest over the smallest is r^3
        predicted_rank=theory.rank_of_two_pairs(ratio(most) ** (1 / 3)),
        end=by_draw(END, "classes").loc[most].median(),
        end_examples=by_draw(END, "examples").loc[most].median(),
    )
