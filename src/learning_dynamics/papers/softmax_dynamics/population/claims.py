"""That the three phases emerge, what is necessary for them, and over which population of features they show."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from learning_dynamics.evidence import Estimate, mean
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    at_least,
    claim,
    equal,
    every_draw,
    premise,
    share_of_draws,
)
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import (
    fall_rows,
    most_draws,
    narrowest,
    share_difference,
    share_true,
    unless_nan,
)
from learning_dynamics.papers.softmax_dynamics.falls import END, FALL_RARE, PEAK, PHASES
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Measure, Population
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

Dynamics = Literal["descent", "flow"]  # full batches with steps of a learning rate, or in the limit of small steps
POPULATIONS: tuple[Population, ...] = get_args(Population)
SETTING = ["counts", "scale", "learning_rate"]
Setting = tuple[str, float, float]
Compression = Literal["fall_rare", "fall_since_rare"]  # while the rarest classes are learned, or from then to the end
ONE_RARE = "33, 33, 33 and 1 examples, a row of features for each"
REGION = (
    "four classes, sizes in powers of a ratio up to 512 : 64 : 8 : 1, cross-entropy, gradient flow, Gaussian starts"
)


@claim(
    "Abstract and section 3.3, three phases",
    scope="four classes of up to 85 examples, V = 4, d = 2; equal classes; d = 3; cross-entropy, full-batch gradient "
    "descent from Gaussian starts at learning rates of a tenth to 1.6, and gradient flow; RankMe as in section 2.1, "
    "over all inputs",
    empirical=True,
    quantifier="some setting",
)
def three_phases_exist(
    descents: Table, region: Table, *, dynamics: Dynamics, threshold: Positive, seen: Fraction
) -> Claim:
    """Under cross-entropy and gradient descent three phases can emerge with skewed classes and a bottleneck: the
    effective rank falls, rises, and falls again while the rare classes are learned.

    The rank is the paper's own, over all inputs; neither learning rate nor sizes are stated. "Can emerge" is read as:
    in some setting somebody who tries a handful of starts sees the phases, and sees them less often with equal classes
    and in three dimensions. There are {settings} settings of sizes, scale and learning rate. Half of the draws choose
    the one in which the share of draws that show the phases exceeds that of the controls the most, and the other half
    judge it: {setting}. There {value:.0%} show the phases, with equal classes {equal:.0%}, in three dimensions
    {wide:.0%}. Draws that have not learned their examples, or exploded on the way, count against the claim, in the
    controls too. Large steps are needed. At the smallest learning rate, {slow_rate:g}, which follows the flow, no sizes
    show the phases in more than {slow:.0%}; under gradient flow no sizes in powers of a ratio do in more than
    {flow:.0%}. The fall is an overshoot: in {lasting:.0%} of the draws that show the phases the rank ends below its
    highest by the threshold or more. At 64 : 16 : 4 : 1 no learning rate and scale show them in more than
    {skewest:.0%}. Where one class is rare the flow shows the phases as well, which is a claim of its own. Over the
    means of classes it shows them at sizes in powers of a ratio, which is a claim that we add.
    """
    cases = _cases(descents if dynamics == "descent" else region, threshold)

    def settings_by_excess(own: str, *others: str) -> pd.Series:
        """Return, on draws of even number, by how much each setting of a case shows the phases more than the others."""
        shares = {case: _by_setting(rows[rows["seed"] % 2 == 0]) for case, rows in cases.items()}
        return (shares[own] - pd.concat([shares[case] for case in others], axis=1).max(axis=1)).dropna()

    def judged(case: str, setting: Setting) -> np.ndarray:
        """Return which draws of odd number show the phases, nan where a training has not learned."""
        rows = cases[case]
        rows = rows[(rows[SETTING] == list(setting)).all(axis=1)]
        return rows[rows["seed"] % 2 == 1]["shows"].to_numpy()

    def excess(own: str, other: str, setting: Setting) -> Estimate:
        """Return the difference of two shares; a draw that has not learned counts against it."""
        return share_difference(judged(own, setting) == 1, judged(other, setting) != 0)

    by_excess = settings_by_excess("treated", "equal", "wide")
    setting = by_excess.idxmax()
    at_best_of_equal = settings_by_excess("equal", "treated", "wide").idxmax()
    at_best_of_wide = settings_by_excess("wide", "treated", "equal").idxmax()
    # each rival exchanges the roles of skewed classes in two dimensions and of a control, in the control's best setting
    equal_classes, three_dimensions = "equal classes instead of skewed ones", "three dimensions instead of two"
    draws = judged("treated", setting)
    excluded = {"draws on which the setting was chosen": len(draws)}
    yield share_of_draws(
        "draws with warm-up, growth and compression, in this order",
        draws,
        at_least=seen,
        because="who tries five starts sees one",
        excluded=excluded,
        rivals={
            equal_classes: {"holds": judged("equal", at_best_of_equal)},
            three_dimensions: {"holds": judged("wide", at_best_of_wide)},
        },
    )
    yield at_least(
        "share of draws that show the phases, minus that with equal classes",
        excess("treated", "equal", setting),
        0.0,
        because="what emerges from skew is rarer without it",
        rivals={
            equal_classes: {"estimate": excess("equal", "treated", at_best_of_equal)},
            three_dimensions: {"estimate": excess("wide", "equal", at_best_of_wide)},
        },
    )
    yield at_least(
        "share of draws that show the phases, minus that in three dimensions",
        excess("treated", "wide", setting),
        0.0,
        because="what emerges from a bottleneck is rarer without it",
        rivals={
            equal_classes: {"estimate": excess("equal", "wide", at_best_of_equal)},
            three_dimensions: {"estimate": excess("wide", "treated", at_best_of_wide)},
        },
    )
    of_descent, of_flow = _cases(descents, threshold)["treated"], _cases(region, threshold)["treated"]
    by_rate = _by_setting(of_descent).groupby("learning_rate").max()
    of_largest = of_descent[of_descent["ratio"] == of_descent["ratio"].max()]
    showing = of_descent[of_descent["shows"] == 1]
    counts, scale, rate = setting
    yield Facts(
        settings=len(by_excess),
        setting=f"sizes {counts.replace('-', ' : ')} from scale {scale:g}" + (f", rate {rate:g}" if rate else ""),
        equal=np.mean(judged("equal", setting) != 0),
        wide=np.mean(judged("wide", setting) != 0),
        slow_rate=by_rate.index.min(),
        slow=by_rate.iloc[0],
        flow=_by_setting(of_flow).max(),
        lasting=share_true(showing["drop"] >= threshold),
        skewest=_by_setting(of_largest).max(),
    )


def _cases(table: Table, threshold: float) -> dict[str, pd.DataFrame]:
    """Return the draws of flows or trainings with skew and a bottleneck, of equal classes, and in three dimensions.

    Columns: counts, scale, learning_rate (0 of a flow) and seed; ratio, the largest class over the smallest; shows,
    whether the rank over all inputs shows the phases, nan where a training has not learned its examples; drop, by how
    much the rank ends below its highest. Equal classes are repeated for all sizes, whose control they are.
    """
    keys = ["counts", "dimension", "scale", "learning_rate", "seed"]

    def column(quantity: Quantity, population: str, at: float) -> pd.Series:
        rows = select(table, quantity, population=population, threshold=at)
        rows = rows.assign(learning_rate=rows.get("learning_rate", 0.0))
        return rows.set_index(keys)["value"]

    draws = column(PHASES, "examples", threshold).rename("shows").to_frame()
    draws["drop"] = column(PEAK, "examples", 0.0) - column(END, "examples", 0.0)
    if "learning_rate" in table:
        draws["shows"] = draws["shows"].where(column("learned", "", 0.0) == 1)
    draws = draws.reset_index()
    draws = draws.assign(ratio=draws["counts"].map(ratio))
    skewed, narrow = draws["ratio"] > 1, draws["dimension"] == draws["dimension"].min()
    equal = draws[~skewed & narrow].drop(columns="counts")
    sizes = draws[skewed][["counts"]].drop_duplicates()
    # three dimensions are the paper's control without a bottleneck for four classes
    wide = draws[skewed & ~narrow & (draws["dimension"] == 3)]
    return {"treated": draws[skewed & narrow], "equal": equal.merge(sizes, how="cross"), "wide": wide}


def _by_setting(draws: pd.DataFrame) -> pd.Series:
    """Return the share of draws that show the phases, those that cannot be judged left in, by setting."""
    return (draws["shows"] == 1).groupby([draws[name] for name in SETTING]).mean()


@claim(
    "Section 3.3, three phases over class means",
    scope="64, 16, 4 and 1 examples in V = 4 classes, d = 2, cross-entropy, gradient flow from balanced and "
    "Gaussian starts of scale 1e-3",
    origin="ours",
    empirical=True,
    quantifier="most draws",
)
def three_phases_over_classes(
    grid: Table, region: Table, *, measure: Measure, threshold: Positive, typical: Fraction
) -> Claim:
    """At class sizes 64, 16, 4 and 1, in two dimensions and from starts of scale $10^{-3}$, RankMe of the means of
    classes falls, rises, and falls again while the rare classes are learned.

    A draw counts if it shows all three in this order, each as large as the threshold or more. {value:.0%} of the draws
    show them at scale {at:g}, {wider:.0%} at scale {larger:g}. Over all examples, of which the rarest class has one in
    85, {examples:.0%} do. The setting is one of a region. With sizes in powers of a ratio, one row a class and starts
    of scale {at:g}, most draws show the phases if the largest class has {least:.0f} times as many examples as the
    smallest, or more. At {below:.0f} : 1 {share_below:.0%} do. Far smaller starts need a larger skew (errata 6).
    """
    draws = Grid(grid)
    scale, kind = draws.scale, draws.members["init"].to_numpy()
    over_examples, over_classes = (
        draws.number(PHASES, measure=MEASURES[population][measure], threshold=threshold)
        for population in ("examples", "classes")
    )
    is_small = scale == scale.min()
    judged = {"draws with warm-up, growth and compression, in this order": is_small}
    judged |= {
        f"draws with all three phases, from {name.capitalize()} starts": is_small & (kind == name)
        for name in np.unique(kind)
    }
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


def _small_starts(
    region: Table, threshold: float, small: float, population: Population, within: Quantity = FALL_RARE
) -> pd.DataFrame:
    """Return how far the rank falls in a window of learning, of starts of scales up to `small`."""
    rows = fall_rows(region, within, population, threshold)
    return rows[rows["scale"] <= small]


def _fallen(rows: pd.DataFrame) -> np.ndarray:
    """Return which draws fall, nan where a flow failed."""
    return unless_nan(rows["fallen"], rows["value"])


def _rarely_falls(name: str, holds: np.ndarray, rare: float, *, rivals: dict[str, np.ndarray]) -> Check:
    """Check that few draws fall; draws with what is necessary are the rivals."""
    return share_of_draws(
        name,
        holds,
        at_most=rare,
        because="a never cannot be measured; one draw in twenty is let pass",
        rivals={phrase: {"holds": other} for phrase, other in rivals.items()},
    )


def _with_both(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with skew and a bottleneck."""
    return narrowest(rows[rows["skewed"]])


def _falls_of(grid: Grid, population: Population, within: Quantity, threshold: float) -> np.ndarray:
    """Return which members of a grid fall by the threshold, nan for those that failed."""
    depth = grid.number(within, measure=MEASURES[population]["rankme_centred"], threshold=threshold)
    return unless_nan(depth >= threshold, depth)


def _falls_with_both(holds: np.ndarray, seen: float) -> Check:
    """Check what necessity takes for granted: with skew and a bottleneck the rank can be seen to fall."""
    return premise(
        share_of_draws(
            "draws that fall with skew and a bottleneck", holds, at_least=seen, because="who tries five starts sees one"
        )
    )


@claim(
    "Section 3.3, necessity of skew",
    scope=f"equal classes, of {REGION} of small scales, d = 2 and 3, one row of features a class, and of 25 examples "
    f"each, d = 2; {ONE_RARE}, d = 2",
    empirical=True,
    quantifier="most draws",
)
def skew_is_necessary(
    region: Table,
    narrow: Table,
    *,
    population: Population,
    within: Compression,
    threshold: Positive,
    small: Positive,
    seen: Fraction,
    rare: Fraction,
) -> Claim:
    """Skewed classes are necessary for compression: with four equal classes the effective rank does not fall, from
    small starts, from when they begin to be learned.

    The rank is the paper's, over all inputs. The claim assumes that it falls with skew and a bottleneck. It does where
    one class is rare: at 33 : 33 : 33 : 1 in {with_both:.0%} of the draws, from when the rare class begins to be
    learned. At sizes in powers of a ratio it does not under gradient flow ({over_inputs:.1%} of the draws fall while
    the rarest class is learned); over the means of classes it does ({over_classes:.0%}). With equal classes {value:.2%}
    of {draws} draws fall. Starts of larger scale are left out; {large:.1%} of them fall. Draws cannot show that
    something never happens, and with more draws some equal classes do fall: the check is that few do. Large steps of
    descent are left out: under them equal classes fall as well.
    """
    rows = _small_starts(region, threshold, small, population, within)
    of_all_scales = fall_rows(region, within, population, threshold)
    larger = of_all_scales[(of_all_scales["scale"] > small) & ~of_all_scales["skewed"]]
    with_both = _falls_of(Grid(narrow, skewed=True), population, within, threshold)
    rivals = {"skewed classes with a bottleneck instead": with_both}
    yield _rarely_falls(
        "draws of equal classes whose rank falls from when they begin to be learned",
        _fallen(rows[~rows["skewed"]]),
        rare,
        rivals=rivals,
    )
    yield _rarely_falls(
        "draws of equal classes of 25 examples, a row for each, whose rank falls",
        _falls_of(Grid(narrow, skewed=False), population, within, threshold),
        rare,
        rivals=rivals,
    )
    yield _falls_with_both(with_both, seen)
    over_inputs, over_classes = (
        _with_both(_small_starts(region, threshold, small, name)) for name in ("examples", "classes")
    )
    yield Facts(
        with_both=share_true(with_both),
        over_inputs=over_inputs["fallen"].mean(),
        over_classes=over_classes["fallen"].mean(),
        large=larger["fallen"].mean(),
    )


@claim(
    "Section 3.3, necessity of a bottleneck",
    scope=f"{REGION} of small scales, d = 3 and 4, and one class of 200 or 512 and three of one, d = 3, one row of "
    f"features a class; {ONE_RARE}, d = 2 and 3",
    empirical=True,
    quantifier="most draws",
)
def bottleneck_is_necessary(
    regions: Sequence[Table],
    one_frequent: Table,
    narrow: Table,
    wide: Table,
    *,
    population: Population,
    within: Compression,
    threshold: Positive,
    small: Positive,
    seen: Fraction,
    rare: Fraction,
) -> Claim:
    """A bottleneck is necessary for compression: with as many dimensions as there are classes, or one less, the
    effective rank does not fall, from small starts, from when the rare classes begin to be learned.

    The rank is the paper's, over all inputs. The claim assumes that it falls with skew and a bottleneck. It does where
    one class is rare: at 33 : 33 : 33 : 1 in {with_both:.0%} of the draws, and in three dimensions in {same:.1%}. At
    sizes in powers of a ratio {powers:.1%} of the draws without a bottleneck fall. But in three dimensions, where one
    class is frequent and the others are all rare, {frequent:.0%} do. Three dimensions for four classes are the paper's
    control, though fewer than there are classes (errata 7): both are judged. Over the means of classes (`population`) a
    bottleneck is not necessary at sizes in powers of a ratio either: {fallen:.0%} of the draws without one fall while
    the rarest class is learned. How much skew is needed depends on the scale. With {wide} dimensions and starts of
    scale {at:g} most draws fall if the largest class is {turns:.0f} times the smallest, or more ({share:.0%} at that
    ratio; with two dimensions {narrow:.0%}): the other directions are not used in time. From a scale of {larger:g} they
    need {turns_larger:.0f} : 1. Skew alone, if large enough for the start, makes the rank of the class means fall.
    """

    def small_starts(name: Population, quantity: Quantity) -> pd.DataFrame:
        rows = pd.concat([_small_starts(region, threshold, small, name, quantity) for region in regions])
        return rows[rows["skewed"]]

    rows = small_starts(population, within)
    with_both, same_sizes = (
        _falls_of(Grid(table, skewed=True), population, within, threshold) for table in (narrow, wide)
    )
    of_powers = _fallen(rows[rows["dimension"] > rows["dimension"].min()])
    of_one_frequent = _fallen(_small_starts(one_frequent, threshold, small, population, within))
    rivals = {"two dimensions instead": with_both}
    yield _rarely_falls(
        "draws without a bottleneck that fall from when rare classes begin to be learned, where one is frequent",
        of_one_frequent,
        rare,
        rivals=rivals,
    )
    yield _rarely_falls(
        "draws without a bottleneck that fall, at sizes in powers of a ratio", of_powers, rare, rivals=rivals
    )
    yield _rarely_falls(
        "draws without a bottleneck that fall, at the sizes that fall with one", same_sizes, rare, rivals=rivals
    )
    yield _falls_with_both(with_both, seen)
    over_classes = small_starts("classes", FALL_RARE)
    narrowest_dimension, widest = over_classes["dimension"].min(), over_classes["dimension"].max()
    shares = over_classes.groupby(["scale", "dimension", "ratio"])["fallen"].mean()
    scales_of_widest = over_classes[over_classes["dimension"] == widest]["scale"]
    at, larger = scales_of_widest.min(), scales_of_widest.max()

    def smallest_ratio_of_most(scale: float) -> float:
        """Return the least skew at which most draws of the most dimensions fall, from starts of one scale."""
        return min((size for size, share in shares[scale, widest].items() if share > 0.5), default=np.nan)

    turns = smallest_ratio_of_most(at)
    yield Facts(
        with_both=share_true(with_both),
        same=share_true(same_sizes),
        powers=share_true(of_powers),
        frequent=share_true(of_one_frequent),
        fallen=over_classes[over_classes["dimension"] > narrowest_dimension]["fallen"].mean(),
        wide=widest,
        at=at,
        larger=larger,
        turns=turns,
        turns_larger=smallest_ratio_of_most(larger),
        share=shares.get((at, widest, turns), np.nan),
        narrow=shares.get((at, narrowest_dimension, turns), np.nan),
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

    What suffices must do so on every draw, at every skew. The rank over all inputs, one row each, falls after a rise in
    {examples:.1%} of the draws. Over the means of classes {classes:.0%} fall; where the largest class is {mildest:.0f}
    times the smallest, {mild:.1%} (errata 6). Over class means, and from scales up to {tiny:g}, every draw here falls
    only from {enough:.0f} : 1 on.
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
    the rank falls in at most one draw in twenty.

    The flow conserves $n |f|^2 - |w|^2$ of a class that has a direction to itself, so that a margin $m = |f||w|$ makes
    $|f|^2 = m/\sqrt n$. With the margin of each class divided out, the measured slope of $|f|^2$ in $n$ is {value:.3f}
    on logarithmic axes. It differs from the law's $-1/2$ by more than the error of the mean, as classes share
    directions; "about" is a tenth of it. Over classes the eigenvalue of the rare classes' direction passes that of the
    frequent ones' on its way up, and the rank passes two and falls; over examples every eigenvalue carries the factor
    $n$, and the rare ones' stays the smaller. The rank ends below its highest by the threshold or more in {classes:.0%}
    of the draws over classes, and in {examples:.0%} over examples. At equal margins, with a ratio $r$ of neighbouring
    sizes, the two eigenvalues over classes are as $r : 1$. At {most:.0f} : 1 this predicts a rank over classes of
    {predicted_rank:.2f}; it ends at {end:.2f}, as margins are not quite equal. Over examples it ends at
    {end_examples:.2f}, raised by centring.
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
        "draws whose rank over examples ends below its highest by the threshold",
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
