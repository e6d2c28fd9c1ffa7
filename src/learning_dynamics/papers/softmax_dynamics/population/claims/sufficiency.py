"""That skewed classes and a bottleneck suffice for compression, and over which population of features.

Compression is a fall of the effective rank, after a rise, while the rarest classes are learned. The rank is RankMe of
the features: the exponential of the entropy of the eigenvalues of their covariance about the mean. Its population is
all examples (inputs), or the means of classes, each counted once. A row c of the features f stands for class c of n_c
examples, and w_c is its column of the classifier W; f_c w_c is its margin m_c. V is the number of classes, d the
dimension of the features.

Every check takes `rivals` besides its own parameters (`judging.takes_rivals`).
"""

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Claim, Facts, claim, equal, every_draw, share_of_draws
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.draws import most_draws, narrowest, share_true, unless_nan
from learning_dynamics.papers.softmax_dynamics.falls import END, FALL_RARE, PEAK
from learning_dynamics.papers.softmax_dynamics.population.regions import REGION, small_starts
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.papers.softmax_dynamics.spectra import Population
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, select

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml:
# - threshold, of `skew_and_bottleneck_suffice`: least fall of the effective rank that counts; far above the
#   integrator's error and below the changes that a figure would show
# - threshold, of `population_decides`: least distance from the effective rank's highest value to its end that counts
# - small_scale, of `skew_and_bottleneck_suffice`: largest initialisation scale of starts that are judged
# - majority_share, of `population_decides`: least share of draws that makes "most"
# - exceptions, of `population_decides`: largest share of draws whose rank over examples may fall; chosen: one in
#   twenty, as in the sentence


@claim(
    "Section 3.3, key takeaway",
    scope=f"{REGION} of small scales; d = 2; up to 16 rows of features a class; RankMe over inputs, and over "
    "class means",
    empirical=True,
    quantifier="all draws",
)
def skew_and_bottleneck_suffice(region: Table, *, threshold: Positive, small_scale: Positive) -> Claim:
    """Skewed token frequencies and a bottleneck suffice, under cross-entropy from small starts, to produce expansion
    and then compression: the effective rank rises, and falls while the rare classes are learned.

    What suffices must produce both on every draw, at every skew. Starts up to scale {small_scale:g} are judged, and a
    fall counts from {threshold:g} on, after as large a rise. The rank, RankMe over all inputs, falls so in
    {share_over_examples:.1%} of the draws. Over the means of classes it falls in {share_over_classes:.0%}; where the
    largest class is {mildest_ratio:.0f} times the smallest, in {share_at_mildest:.1%} (errata 6). Over class means,
    from starts up to scale {second_smallest_scale:g}, {where_all_fall}.
    """
    # How far the rank falls while the rarest classes are learned: a row for each draw. The check leaves a draw of nan,
    # of a flow that failed, undecided; for the facts it has not fallen.
    over_examples = narrowest(small_starts(region, "examples", FALL_RARE, threshold=threshold, small_scale=small_scale))
    over_classes = narrowest(small_starts(region, "classes", FALL_RARE, threshold=threshold, small_scale=small_scale))
    for population, rows in (("examples", over_examples), ("classes", over_classes)):
        yield every_draw(
            f"fall of the rank over {population} while the rare classes are learned",
            rows[rows["skewed"]]["value"],
            at_least=threshold,
            because="what counts as a fall; what suffices does so always",
            # other data: the falls of draws that lack skew
            rivals={"equal classes instead of skewed ones": {"values": rows[~rows["skewed"]]["value"]}},
        )
    skewed_over_examples = over_examples[over_examples["skewed"]]
    skewed_over_classes = over_classes[over_classes["skewed"]]
    mildest_ratio = skewed_over_classes["ratio"].min()
    at_mildest = skewed_over_classes[skewed_over_classes["ratio"] == mildest_ratio]
    # chosen: the two smallest scales tried; they give numbers of the text, and no check
    two_smallest_scales = sorted(skewed_over_classes["scale"].unique())[:2]
    from_smallest_scales = skewed_over_classes[skewed_over_classes["scale"].isin(two_smallest_scales)]
    all_fall = from_smallest_scales.groupby("ratio")["fallen"].all()  # by the ratio of sizes, ascending
    # ratios from which on every draw falls, at each ratio tried
    enough = [ratio_tried for ratio_tried in all_fall.index if all_fall.loc[ratio_tried:].all()]
    where_all_fall = "some draw does not fall at the largest ratio tried"
    if enough:
        where_all_fall = f"every draw falls at all ratios tried from {min(enough):.0f} : 1 on"
    yield Facts(
        small_scale=small_scale,
        threshold=threshold,
        share_over_examples=skewed_over_examples["fallen"].mean(),
        share_over_classes=skewed_over_classes["fallen"].mean(),
        mildest_ratio=mildest_ratio,
        share_at_mildest=at_mildest["fallen"].mean(),
        second_smallest_scale=two_smallest_scales[-1],
        where_all_fall=where_all_fall,
    )


@claim(
    "Section 3.3, why the population matters",
    scope="sizes in powers of a ratio up to 512 : 64 : 8 : 1, V = 4, d = 2, cross-entropy, gradient flow from the "
    "smallest Gaussian starts; up to 16 rows of features a class",
    origin="ours",
    empirical=True,
    quantifier="an average",
)
def population_decides(region: Table, *, threshold: Positive, majority_share: Fraction, exceptions: Fraction) -> Claim:
    r"""From small starts of four classes in two dimensions, at sizes in powers of a ratio, the mean feature of a class
    of $n$ examples with the margin $m$ has a squared length of about $m / \sqrt n$, on average. Counted by class, the
    rare classes outweigh the frequent ones in the end, and the rank falls in most draws. Counted by examples they do
    not, and it falls in at most one draw in twenty.

    $f$ is the mean feature of a class and $w$ its column of the classifier, so that its margin is $m = f w$. The flow
    conserves $n |f|^2 - |w|^2$ of a class that has a direction to itself. From a small start this stays small, so that
    $|f|^2 = m/\sqrt n$ with $m = |f||w|$. With the margin of each class divided out, the measured slope of $|f|^2$ in
    $n$ is {value:.3f} on logarithmic axes. It differs from the law's $-1/2$ by more than the error of the mean, because
    classes share directions; "about" allows a tenth of it. Over classes the eigenvalue of the rare classes' direction
    grows past that of the frequent ones', so that the rank passes two and falls. Over examples every eigenvalue carries
    the factor $n$, and the rare ones' stays the smaller. The rank, RankMe, ends below its highest by {threshold:g} or
    more in {share_over_classes:.0%} of the draws over classes, and in {share_over_examples:.0%} over examples. At equal
    margins, with a ratio $r$ of neighbouring sizes, the two eigenvalues over classes are as $r : 1$. At
    {largest_ratio:.0f} : 1 this predicts a rank over classes of {predicted_rank:.2f}; it ends at {final_rank:.2f},
    because margins are not quite equal. Over examples it ends at {final_rank_over_examples:.2f}, raised by centring.
    """
    # draws are those in two dimensions of the smallest scale, of all skewed sizes together
    rows = narrowest(region[(region["scale"] == region["scale"].min()) & region["skewed"]])

    def by_draw(quantity: Quantity, population: Population) -> pd.Series:
        """Return a quantity of the rank over a population, by class sizes and seed."""
        return select(rows, quantity, population=population).set_index(["counts", "seed"])["value"]

    def ends_below(population: Population) -> np.ndarray:
        """Return whether each draw's rank ends below its highest by the threshold or more: 1, 0, or nan."""
        drop = by_draw(PEAK, population) - by_draw(END, population)
        return unless_nan(drop >= threshold, drop)

    yield equal(
        r"slope of $\log(|f_c|^2 / m_c)$ on $\log n_c$ over classes, mean over draws",
        mean(select(rows, "length_order")["value"].to_numpy()),
        -0.5,  # |f|^2 = m / sqrt(n), as n |f|^2 = |w|^2 and m = |f| |w|
        tolerance=0.05,
        resolution=0.25,  # half the distance to the rivals
        because="interval of the mean, and a tenth of the slope for 'about': classes share directions",
        # other slopes; the rivals of the next two checks are other data
        rivals={
            "lengths that do not depend on the size": 0.0,
            "squared lengths of one over the size": -1.0,
        },
        scaled=False,  # the sentence says "about": no smallest error that would be refused is sought
    )
    exchanged = "the populations exchanged"  # the phrase of a rival
    yield most_draws(
        "share of draws whose rank over classes ends below its highest by the threshold",
        ends_below("classes"),
        majority_share=majority_share,
        rivals={exchanged: ends_below("examples")},
    )
    yield share_of_draws(
        "share of draws whose rank over examples ends below its highest by the threshold",
        ends_below("examples"),
        at_most=exceptions,
        because=f"a share of {exceptions:g} is let pass",
        rivals={exchanged: {"holds": ends_below("classes")}},
    )
    skewest = max(rows["counts"].unique(), key=ratio)
    yield Facts(
        threshold=threshold,
        share_over_classes=share_true(ends_below("classes")),
        share_over_examples=share_true(ends_below("examples")),
        largest_ratio=ratio(skewest),
        # of sizes r^3 : r^2 : r : 1 the largest over the smallest is r^3
        predicted_rank=theory.rank_of_two_pairs(ratio(skewest) ** (1 / 3)),
        final_rank=by_draw(END, "classes").loc[skewest].median(),
        final_rank_over_examples=by_draw(END, "examples").loc[skewest].median(),
    )
