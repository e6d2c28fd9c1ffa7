"""That the three phases emerge, what is necessary for them, and over which population of features they show."""

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean, share
from learning_dynamics.judging import Check, Checks, Finding, claim, equal, share_of_draws
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import fall_rows, members, most_draws, ratio, values
from learning_dynamics.papers.softmax_dynamics.spectra import Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

NECESSARY = "necessary means never without; one draw in twenty is let pass"
REGION = "four classes, sizes from equal to 512 : 64 : 8 : 1, cross-entropy, gradient flow, Gaussian starts"


def _check_rare_falls(name: str, rows: pd.DataFrame, rare: float) -> Check:
    return share_of_draws(name, rows["fallen"], at_most=rare, undecided=rows["value"].isna(), because=NECESSARY)


@claim(
    "Abstract and section 3.3, three phases",
    scope="64, 16, 4 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from small starts of two "
    "kinds; RankMe over the means of classes",
    empirical=True,
)
def three_phases_exist(
    grid: Table, region: Table, *, measure: Measure, threshold: Positive, typical: Fraction
) -> Finding:
    """Under cross-entropy with skewed classes and a bottleneck three phases can emerge: the effective rank falls,
    rises, and falls again while the rare classes are learned.

    Counted are draws that show all three in this order, each as deep as the threshold. The rank is that of one row for
    each class, its mean feature: {value:.0%} of the draws show them at scale {at:g}, {wider:.0%} at scale {larger:g}.
    Over all examples, of which the rarest class has one in 85, {examples:.0%} do. The setting is one of a region: for
    sizes in powers of a ratio, with one row a class, from starts of scale {at:g}, most draws show the phases from
    {least:.0f} : 1 between the largest class and the smallest on, and at {below:.0f} : 1 {share_below:.0%} do.
    """
    scale = members(grid)["scale"].to_numpy()
    smallest, largest = float(scale.min()), float(scale.max())

    def check_phases(name: str, chosen: np.ndarray, description: str) -> Check:
        phases = values(grid, "phases", 0, name, threshold)[chosen]
        return most_draws(description, phases == 1, np.isnan(phases), typical)

    def judge(name: Quantity) -> Checks:
        kinds = members(grid)["init"].to_numpy()
        small = scale == smallest
        yield check_phases(name, small, "draws with warm-up, growth and compression, in this order")
        for kind in np.unique(kinds):
            yield check_phases(name, small & (kinds == kind), f"of those from {kind.capitalize()} starts")

    cells = fall_rows(region, "phases", "classes", threshold)
    cells = cells[(cells["dimension"] == cells["dimension"].min()) & (cells["scale"] == smallest)]
    skews = cells.assign(shown=cells["value"] == 1, ratio=cells["counts"].map(ratio)).groupby("ratio")["shown"].mean()
    most = [skew for skew in skews.index if (skews.loc[skew:] > 0.5).all()]
    least = min(most, default=np.nan)
    below = max([skew for skew in skews.index if not skew >= least], default=np.nan)
    facts = {
        "at": smallest,
        "larger": largest,
        "wider": float(np.mean(values(grid, "phases", 0, f"class_{measure}", threshold)[scale == largest] == 1)),
        "examples": float(np.mean(values(grid, "phases", 0, measure, threshold)[scale == smallest] == 1)),
        "least": least,
        "below": below,
        "share_below": float(skews.get(below, np.nan)),
    }
    return Finding(judge, f"class_{measure}", {"the rank over all examples": measure}, facts=facts)


@claim("Section 3.3, necessity of skew", scope=f"{REGION}; d = 2 and 3; RankMe over classes", empirical=True)
def skew_is_necessary(region: Table, *, threshold: Positive, small: Positive, rare: Fraction) -> Finding:
    """Skewed classes are necessary for compression: with equal classes the effective rank does not fall while they are
    learned.

    Of a fall after a rise since the warm-up's trough the part counts that lies in the time in which the rarest classes
    are learned; of equal classes all are. With equal classes, whose ranks over examples and over classes are the same,
    it falls in {value:.1%} of the draws, with skewed ones, two dimensions and the same starts in {skewed:.0%}; of the
    starts of larger scale, which are left out, in {large:.0%} with equal classes.
    """
    rows = fall_rows(region, "fall_rare", "classes", threshold)
    small_starts = rows[rows["scale"] <= small]
    narrow = small_starts[small_starts["dimension"] == small_starts["dimension"].min()]

    def judge(table: pd.DataFrame) -> Checks:
        yield _check_rare_falls("draws that fall while classes are learned", table, rare)
        for key, part in table.groupby("dimension"):
            yield _check_rare_falls(f"of those with d = {key}", part, rare)

    larger = rows[(rows["scale"] > small) & ~rows["skewed"]]["fallen"]
    facts = {
        "skewed": float(narrow[narrow["skewed"]]["fallen"].mean()),
        "large": float(larger.mean()) if len(larger) else np.nan,
    }
    rivals = {"skewed classes with a bottleneck in their place": narrow[narrow["skewed"]]}
    return Finding(judge, small_starts[~small_starts["skewed"]], rivals, facts=facts)


@claim("Section 3.3, necessity of a bottleneck", scope=f"{REGION}; d = 3; RankMe over classes", empirical=True)
def bottleneck_is_necessary(region: Table, *, threshold: Positive, small: Positive, rare: Fraction) -> Finding:
    """A bottleneck is necessary for compression: with three dimensions for four classes the effective rank does not
    fall while the rare classes are learned.

    Judged at every skew, over starts of all small scales together; at {most:.0f} : 1 the rank falls in {value:.0%} of
    the draws. How much skew it takes is a matter of the scale. From a scale of {at:g} it falls in more than {rare:.0%}
    of the draws from {turns:.0f} : 1 between the largest class and the smallest on ({share:.0%}; with two dimensions
    {narrow:.0%}): the third direction is not used in time. From {larger:g} it takes {turns_larger:.0f} : 1. Skew alone,
    if large enough for the start, makes the rank of the classes fall.
    """
    rows = fall_rows(region, "fall_rare", "classes", threshold)
    rows = rows[(rows["scale"] <= small) & rows["skewed"]].assign(ratio=lambda table: table["counts"].map(ratio))
    shares = rows.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    narrow, wide = int(rows["dimension"].min()), int(rows["dimension"].max())

    def judge(dimension: int) -> Checks:
        cells = sorted(rows[rows["dimension"] == dimension].groupby("ratio"), reverse=True)
        for size, cell in cells:
            yield _check_rare_falls(
                f"draws that fall while rare classes are learned, largest class {size:.0f} times the smallest",
                cell,
                rare,
            )

    counted = rows[rows["dimension"] == wide].groupby(["scale", "ratio"])["fallen"].agg(["sum", "count"])
    beyond = counted[[share(int(yes), int(draws)).lower > rare for yes, draws in counted.to_numpy()]]
    turns = beyond.reset_index().groupby("scale")["ratio"].min()
    at, larger = rows["scale"].min(), rows["scale"].max()
    facts = {
        "rare": rare,
        "at": at,
        "larger": larger,
        "turns": turns.get(at, np.nan),
        "turns_larger": turns.get(larger, np.nan),
        "most": float(rows["ratio"].max()),
        "share": float(shares.get((at, wide, turns.get(at)), np.nan)),
        "narrow": float(shares.get((at, narrow, turns.get(at)), np.nan)),
    }
    return Finding(judge, wide, {"two dimensions in place of three": narrow}, facts=facts)


@claim(
    "Section 3.3, why the population matters",
    scope="sizes in powers of a ratio up to 512 : 64 : 8 : 1, V = 4, d = 2, cross-entropy, gradient flow from the "
    "smallest Gaussian starts; one row of features a class",
    origin="ours",
    empirical=True,
)
def population_decides(region: Table, *, threshold: Positive, typical: Fraction, rare: Fraction) -> Finding:
    r"""The mean feature of a class of $n$ examples has a squared length in proportion to $1/\sqrt n$ at equal margins.
    At sizes in powers of a ratio the rare ones, counted by class, outweigh the frequent ones in the end, and the rank
    falls; counted by examples they do not, and it does not fall.

    The flow conserves $n |f|^2 - |w|^2$ of a class that has a direction to itself, so that a margin $m = |f||w|$ makes
    $|f|^2 = m/\sqrt n$: measured is the slope {value:.3f}, the margin of each class divided out. Over classes
    the eigenvalue of the rare classes' direction passes that of the frequent ones' on its way up, and the rank passes
    two and falls; over examples every eigenvalue carries the factor $n$, and the rare ones' stays the smaller. The rank
    over classes ends by as much as the threshold below its highest in {classes:.0%} of the draws, over examples in
    {examples:.0%}. At equal margins, and with a ratio $r$ of neighbouring sizes, the two eigenvalues over classes are
    as $r : 1$. At {most:.0f} : 1 the rank over classes is {predicted_rank:.2f} by that, and ends at {end:.2f}, as
    margins are not quite equal; over examples it ends at {end_examples:.2f}, which centring makes higher.
    """
    smallest = region["scale"].min()
    rows = region[(region["scale"] == smallest) & region["skewed"]]
    rows = rows[rows["dimension"] == rows["dimension"].min()]
    orders = select(rows, "length_order")["value"].to_numpy()

    def ends(quantity: Quantity, population: str) -> pd.Series:
        return select(rows, quantity, population=population).set_index(["counts", "seed"])["value"]

    drops = {name: ends("peak", name) - ends("end", name) for name in ("classes", "examples")}

    def judge(reading: tuple[float, str, str]) -> Checks:
        order, falling, rising = reading
        yield equal(
            r"slope of $\log(|f_c|^2 / m_c)$ on $\log n_c$ over classes, mean over draws",
            mean(orders),
            order,
            tolerance=0.05,
            resolution=0.25,
            because="interval of the mean, and a tenth of the slope: no class is quite alone in its direction",
        )
        name = f"draws whose rank over {falling} ends below its highest by the threshold"
        yield most_draws(name, drops[falling] >= threshold, drops[falling].isna(), typical)
        yield share_of_draws(
            f"the same over {rising}",
            drops[rising] >= threshold,
            at_most=rare,
            undecided=drops[rising].isna(),
            because="one draw in twenty is let pass",
        )

    most = max(rows["counts"].unique(), key=ratio)
    facts = {
        "classes": float(np.mean(drops["classes"] >= threshold)),
        "examples": float(np.mean(drops["examples"] >= threshold)),
        "most": ratio(most),
        "predicted_rank": theory.rank_of_two_pairs(ratio(most) ** (1 / 3)),
        "end": float(ends("end", "classes").loc[most].median()),
        "end_examples": float(ends("end", "examples").loc[most].median()),
    }
    rivals = {
        "lengths that do not depend on the size": (0.0, "classes", "examples"),
        "squared lengths of one over the size": (-1.0, "classes", "examples"),
        "the populations exchanged": (-0.5, "examples", "classes"),
    }
    return Finding(judge, (-0.5, "classes", "examples"), rivals, facts=facts)
