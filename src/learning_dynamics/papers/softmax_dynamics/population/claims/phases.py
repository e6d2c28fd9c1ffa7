"""That the three phases emerge, over all inputs and over the means of classes."""

import numpy as np
import pandas as pd

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import Claim, Facts, at_least, claim, share_of_draws
from learning_dynamics.papers.softmax_dynamics.cells import HAS_LEARNED
from learning_dynamics.papers.softmax_dynamics.draws import (
    fall_rows,
    most_draws,
    narrowest,
    share_difference,
    share_true,
)
from learning_dynamics.papers.softmax_dynamics.falls import END, PEAK, PHASES
from learning_dynamics.papers.softmax_dynamics.grids import Grid
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import MEASURES, Measure
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

# Settings of these claims, whose values stand in workflow/config/softmax_dynamics.yaml:
# - measure: which effective rank is judged, by its name in `spectra.RANKS`
# - threshold: least change of the effective rank, a number from 1 to d, that counts as a fall or a rise
# - seen: least share of draws that show the phases if they "can emerge": who tries five starts sees one
# - typical: least share of draws that makes "most"

SETTING = ["counts", "scale", "learning_rate"]  # columns that tell the settings of full-batch descent apart


@claim(
    "Abstract and section 3.3, three phases",
    scope="four classes of up to 85 examples, V = 4, d = 2; equal classes; d = 3; cross-entropy, full-batch gradient "
    "descent from Gaussian starts at learning rates of a tenth to 1.6, and gradient flow; RankMe as in section 2.1, "
    "over all inputs",
    empirical=True,
    quantifier="some setting",
)
def three_phases_exist(descents: Table, best: Table, region: Table, *, threshold: Positive, seen: Fraction) -> Claim:
    """Under cross-entropy and gradient descent three phases can emerge with skewed classes and a bottleneck: the
    effective rank falls, rises, and falls again while the rare classes are learned.

    The rank is the paper's own, over all inputs; neither learning rate nor sizes are stated. "Can emerge" is read as:
    in some setting somebody who tries a handful of starts sees the phases, and sees them less often with equal classes
    and in three dimensions. {settings} settings of sizes, scale and learning rate were tried. The one that is judged,
    on other draws, is number {place} by how far the phases exceed those of both controls: {setting}. There {value:.0%}
    of all draws show the phases. Of the draws that have learned their examples, and have not exploded on the way,
    {learned:.0%} show them, with equal classes {equal:.0%}, in three dimensions {wide:.0%}. Large steps are needed. At
    the smallest learning rate, {slow_rate:g}, which follows the flow, no sizes show the phases in more than {slow:.1%};
    under gradient flow no sizes in powers of a ratio do in more than {flow:.0%}. The fall is an overshoot: in
    {lasting:.0%} of the draws that show the phases the rank ends below its highest by the threshold or more. At 64 : 16
    : 4 : 1 they show in at most {skewest:.1%} of draws, whatever the rate and scale; at the largest rates hardly a
    draw learns. Where one class is rare the flow shows the phases as well, which is a claim of its own. Over the means
    of classes it shows them at sizes in powers of a ratio, which is a claim that we add.
    """
    # equal seeds are equal starts, whatever the run
    chose_the_setting = best["seed"].isin(descents["seed"].unique())
    excluded = {"draws on which the setting was chosen": best["seed"][chose_the_setting].nunique()}
    cases = _cases(best[~chose_the_setting], threshold)
    shows = {case: draws["shows"].to_numpy() for case, draws in cases.items()}

    def excess(case: str, other: str) -> Estimate:
        """Return the difference of two shares of the draws that have learned: others show no phase of learning."""
        learned, learned_in_other = (shows[name][~np.isnan(shows[name])] for name in (case, other))
        if not (learned.size and learned_in_other.size):
            return Estimate(np.nan, -1.0, 1.0, 0, "no draw has learned")
        return share_difference(learned == 1, learned_in_other == 1)

    # each rival exchanges the roles of skewed classes in two dimensions and of a control
    equal_classes, three_dimensions = "equal classes instead of skewed ones", "three dimensions instead of two"
    yield share_of_draws(
        "draws with warm-up, growth and compression, in this order",
        shows["treated"],
        at_least=seen,
        because="who tries five starts sees one",
        excluded=excluded,
        rivals={equal_classes: {"holds": shows["equal"]}, three_dimensions: {"holds": shows["wide"]}},
    )
    yield at_least(
        "share of draws that show the phases, minus that with equal classes",
        excess("treated", "equal"),
        0.0,
        because="what emerges from skew is rarer without it",
        rivals={
            equal_classes: {"estimate": excess("equal", "treated")},
            three_dimensions: {"estimate": excess("wide", "equal")},
        },
    )
    yield at_least(
        "share of draws that show the phases, minus that in three dimensions",
        excess("treated", "wide"),
        0.0,
        because="what emerges from a bottleneck is rarer without it",
        rivals={
            equal_classes: {"estimate": excess("equal", "wide")},
            three_dimensions: {"estimate": excess("wide", "treated")},
        },
    )
    of_descent, of_flow = _cases(descents, threshold)["treated"], _cases(region, threshold)["treated"]
    by_setting = _by_setting(of_descent)
    of_controls = pd.concat([_by_setting(_cases(descents, threshold)[case]) for case in ("equal", "wide")], axis=1)
    by_excess = by_setting - of_controls.max(axis=1)
    by_rate = by_setting.groupby("learning_rate").max()
    of_largest = of_descent[of_descent["ratio"] == of_descent["ratio"].max()]
    showing = cases["treated"][cases["treated"]["shows"] == 1]
    (setting,) = _by_setting(cases["treated"]).index
    counts, scale, rate = setting
    yield Facts(
        settings=len(by_setting),
        place=int((by_excess > by_excess.get(setting, np.nan)).sum()) + 1,
        setting=f"sizes {counts.replace('-', ' : ')} from scale {scale:g}, rate {rate:g}",
        learned=_share_of_learned(shows["treated"]),
        equal=_share_of_learned(shows["equal"]),
        wide=_share_of_learned(shows["wide"]),
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
        draws["shows"] = draws["shows"].where(column(HAS_LEARNED, "", 0.0) == 1)
    draws = draws.reset_index()
    draws = draws.assign(ratio=draws["counts"].map(ratio))
    skewed, narrow = draws["ratio"] > 1, draws["dimension"] == draws["dimension"].min()
    equal = draws[~skewed & narrow].drop(columns="counts")
    sizes = draws[skewed][["counts"]].drop_duplicates()
    # three dimensions are the paper's control without a bottleneck for four classes
    wide = draws[skewed & ~narrow & (draws["dimension"] == 3)]
    return {"treated": draws[skewed & narrow], "equal": equal.merge(sizes, how="cross"), "wide": wide}


def _share_of_learned(shows: np.ndarray) -> float:
    """Return the share that shows the phases of the draws that have learned; nan where none has."""
    learned = ~np.isnan(shows)
    return float(np.mean(shows[learned])) if learned.any() else np.nan


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
