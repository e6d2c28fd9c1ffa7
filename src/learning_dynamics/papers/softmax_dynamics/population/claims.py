"""That the three phases emerge, what is necessary for them, and over which population of features they show."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    Instead,
    claim,
    equal,
    every_draw,
    premise,
    share_of_draws,
)
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import (
    fall_rows,
    members,
    most_draws,
    narrowest,
    ratio,
    scales,
    values,
)
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

REGION = (
    "four classes, sizes in powers of a ratio up to 512 : 64 : 8 : 1, cross-entropy, gradient flow, Gaussian starts"
)
INPUTS = "draws with warm-up, growth and compression, in this order, at the setting that shows them most"


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
    classes are learned in more than {falls:.0%} of all draws. Over the means of classes, in the place of inputs, the
    best setting shows the phases in {classes:.0%}: a claim of ours. Descent with large steps or small batches is not
    the flow, and a claim of its own.
    """

    def at_best(population: str) -> tuple[tuple[str, float], pd.Series]:
        """Return sizes and scale at which most draws of even number show the phases; of odd ones there, which do."""
        rows = narrowest(fall_rows(region, "phases", population, threshold))
        rows = rows[rows["skewed"]]
        even, odd = (rows[rows["seed"] % 2 == part].set_index(["counts", "scale"])["value"] for part in (0, 1))
        setting = even.groupby(level=[0, 1]).mean().idxmax()
        return setting, odd.loc[setting]

    (counts, scale), phases = at_best("examples")
    _, over_classes = at_best("classes")
    yield most_draws(
        INPUTS,
        phases == 1,
        phases.isna(),
        typical,
        {"draws on which the setting was chosen": len(phases)},
        rivals={"the rank over the means of classes": Instead(holds=over_classes == 1, undecided=over_classes.isna())},
    )
    falls = narrowest(fall_rows(region, "fall_rare", "examples", threshold))
    falls = falls[falls["skewed"]].groupby(["counts", "scale"])["fallen"].mean()
    yield Facts(
        settings=len(falls),
        setting=counts.replace("-", " : "),
        scale=scale,
        falls=falls.max(),
        classes=np.mean(over_classes == 1),
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
    scale, kinds = scales(grid), members(grid)["init"].to_numpy()
    is_small = scale == scale.min()
    classes, examples = (values(grid, "phases", 0, name, threshold) for name in (f"class_{measure}", measure))
    draws = {"draws with warm-up, growth and compression, in this order": is_small}
    draws |= {f"of those from {kind.capitalize()} starts": is_small & (kinds == kind) for kind in np.unique(kinds)}
    for name, chosen in draws.items():
        over_examples = Instead(holds=examples[chosen] == 1, undecided=np.isnan(examples[chosen]))
        rivals = {"the rank over all examples": over_examples}
        yield most_draws(name, classes[chosen] == 1, np.isnan(classes[chosen]), typical, rivals=rivals)
    cells = narrowest(fall_rows(region, "phases", "classes", threshold))
    cells = cells[cells["scale"] == scale.min()]
    skews = (cells["value"] == 1).groupby(cells["ratio"]).mean()
    least = min((skew for skew in skews.index if (skews.loc[skew:] > 0.5).all()), default=np.nan)
    below = max((skew for skew in skews.index if not skew >= least), default=np.nan)
    yield Facts(
        at=scale.min(),
        larger=scale.max(),
        wider=np.mean(classes[scale == scale.max()] == 1),
        examples=np.mean(examples[is_small] == 1),
        least=least,
        below=below,
        share_below=skews.get(below, np.nan),
    )


def _small_starts(region: Table, threshold: float, small: float, population: str = "classes") -> pd.DataFrame:
    rows = fall_rows(region, "fall_rare", population, threshold)
    return rows[rows["scale"] <= small]


def _never_falls(name: str, rows: pd.DataFrame, threshold: float, rivals: dict[str, pd.DataFrame]) -> Check:
    because = "what counts as a fall; necessary means never without"
    others = {phrase: Instead(values=other["value"]) for phrase, other in rivals.items()}
    return every_draw(name, rows["value"], at_most=threshold, because=because, rivals=others)


def _falls_with_both(rows: pd.DataFrame, typical: float) -> Check:
    """Check what necessity takes for granted: with skew and a bottleneck the rank falls, at the largest skew."""
    both = narrowest(rows)[lambda table: table["ratio"] == table["ratio"].max()]
    name = "draws that fall with a bottleneck, at the largest skew"
    return premise(most_draws(name, both["fallen"], both["value"].isna(), typical))


@claim(
    "Section 3.3, necessity of skew",
    scope=f"equal classes, and the same of skewed ones: {REGION} of small scales; d = 2 and 3; RankMe over class means",
    empirical=True,
    quantifier="all draws",
)
def skew_is_necessary(region: Table, *, threshold: Positive, small: Positive, typical: Fraction) -> Claim:
    """Skewed classes are necessary for compression: with four equal classes the effective rank does not fall, from
    small starts, while they are learned.

    Of a fall after a rise since the warm-up's trough the part counts that lies in the time in which the rarest classes
    are learned; of equal classes all are. Necessary is what a fall never comes without. With equal classes, whose ranks
    over examples and over classes are the same, {draws_against} of {draws} draws fall, with skewed ones, two dimensions
    and the same starts {skewed:.0%}; of the starts of larger scale, which are left out, {large:.1%} with equal classes.
    The ranks are those of class means: over all inputs there is no fall that something could be necessary for.
    """
    rows = _small_starts(region, threshold, small)
    skewed = narrowest(rows)[lambda table: table["skewed"]]
    rivals = {"skewed classes with a bottleneck in their place": skewed}
    yield _never_falls("fall of the rank while classes are learned", rows[~rows["skewed"]], threshold, rivals)
    yield _falls_with_both(rows, typical)
    every = fall_rows(region, "fall_rare", "classes", threshold)
    larger = every[(every["scale"] > small) & ~every["skewed"]]["fallen"]
    yield Facts(skewed=skewed["fallen"].mean(), large=larger.mean())


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
    rivals = {"two dimensions in their place": narrowest(rows)}
    yield _never_falls("fall of the rank while the rare classes are learned", without, threshold, rivals)
    yield _falls_with_both(rows, typical)
    shares = rows.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales_of_wide = rows[rows["dimension"] == wide]["scale"]
    at, larger = scales_of_wide.min(), scales_of_wide.max()
    turns, turns_larger = (
        min((skew for skew, share in shares[scale, wide].items() if share > 0.5), default=np.nan)
        for scale in (at, larger)
    )
    yield Facts(
        fallen=without["fallen"].mean(),
        wide=wide,
        at=at,
        larger=larger,
        turns=turns,
        turns_larger=turns_larger,
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
    tables = {name: narrowest(_small_starts(region, threshold, small, name)) for name in ("examples", "classes")}
    for name, rows in tables.items():
        yield every_draw(
            f"fall of the rank over {name} while the rare classes are learned",
            rows[rows["skewed"]]["value"],
            at_least=threshold,
            because="what counts as a fall; what suffices does so always",
            rivals={"equal classes in the place of skewed ones": Instead(values=rows[~rows["skewed"]]["value"])},
        )
    examples, classes = (rows[rows["skewed"]] for rows in tables.values())
    tiny = classes[classes["scale"] <= sorted(classes["scale"].unique())[:2][-1]]
    always = tiny.groupby("ratio")["fallen"].all()
    mildest = classes["ratio"].min()
    yield Facts(
        examples=examples["fallen"].mean(),
        classes=classes["fallen"].mean(),
        mildest=mildest,
        mild=classes[classes["ratio"] == mildest]["fallen"].mean(),
        tiny=tiny["scale"].max(),
        enough=min((skew for skew in always.index if always.loc[skew:].all()), default=np.nan),
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
    orders = select(rows, "length_order")["value"].to_numpy()

    def ends(quantity: Quantity, population: str) -> pd.Series:
        return select(rows, quantity, population=population).set_index(["counts", "seed"])["value"]

    drops = {name: ends("peak", name) - ends("end", name) for name in ("classes", "examples")}

    yield equal(
        r"slope of $\log(|f_c|^2 / m_c)$ on $\log n_c$ over classes, mean over draws",
        mean(orders),
        -0.5,
        tolerance=0.05,
        resolution=0.25,
        because="interval of the mean, and a tenth of the slope for 'about': classes share directions",
        rivals={
            "lengths that do not depend on the size": 0.0,
            "squared lengths of one over the size": -1.0,
        },
        scaled=False,
    )
    ends_below = {name: Instead(holds=drop >= threshold, undecided=drop.isna()) for name, drop in drops.items()}
    exchanged = "the populations exchanged"
    yield most_draws(
        "draws whose rank over classes ends below its highest by the threshold",
        **ends_below["classes"],
        typical=typical,
        rivals={exchanged: ends_below["examples"]},
    )
    yield share_of_draws(
        "the same over examples",
        **ends_below["examples"],
        at_most=rare,
        because="one draw in twenty is let pass",
        rivals={exchanged: ends_below["classes"]},
    )
    most = max(rows["counts"].unique(), key=ratio)
    yield Facts(
        classes=np.mean(drops["classes"] >= threshold),
        examples=np.mean(drops["examples"] >= threshold),
        most=ratio(most),
        predicted_rank=theory.rank_of_two_pairs(ratio(most) ** (1 / 3)),
        end=ends("end", "classes").loc[most].median(),
        end_examples=ends("end", "examples").loc[most].median(),
    )
