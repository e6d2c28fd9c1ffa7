"""Theorem B.3: how fast singular values grow, across directions and with the size of the largest class."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Outcome, all_of, at_most, claim, equal, share_at_least
from learning_dynamics.papers.softmax_dynamics.evidence import (
    DIFFERENCE_ERROR,
    RESOLUTION,
    SIMPLE,
    by_index,
    flow_error,
    rate_error,
    scalar,
)
from learning_dynamics.papers.softmax_dynamics.phases.detection import share_interval
from learning_dynamics.tables import Tables


@claim(
    "Theorem B.3, first part",
    "slope of log |dσ_i/dt| on log σ_i over random balanced starts of different scales",
)
def theorem_b_3_proportional(tables: Tables) -> Outcome:
    """From a balanced start |dσ_1i/dt| = η |g_i| σ_2i, with g_i = u_1iᵀ A v_2i, and likewise for σ_2i.

    Two checks. Along the flow, derivatives by finite differences equal −g_i σ_i up to rounding. Over random
    starts whose scale varies by three decades the rate grows like the first power of the singular value.
    The factor g_i is no constant: at random starts its logarithm spreads by more than a factor of three
    around the median, half of the singular values shrink, and along the flow it vanishes as the examples
    are fitted, so that rates there fall while singular values still grow.
    """
    flows = {name: table for name, table in tables.items() if "quantity" in table}
    identity = [
        equal(
            rate_error(table, f"rate_{factor}", factor),
            0.0,
            DIFFERENCE_ERROR + flow_error(flows) / SIMPLE,
            resolution=RESOLUTION,
            because="rounding of the differences, and 10 rtol / gap",
        )
        for table in flows.values()
        for factor in ("f", "w")
    ]
    starts = tables["initial_growth"]
    slope, uncertainty, spread = _log_slope(starts["sigma"], starts["rate"].abs())
    regression = equal(
        slope,
        1.0,
        0.01,
        uncertainty=uncertainty,
        resolution=0.1,
        because=f"standard error; log |g| spreads by {spread:.2f}; largest scale not quite uniform",
    )
    failing = [check for check in identity if check.state != "holds"]
    return Outcome(failing[0] if failing else regression, len(starts))


@claim(
    "Theorem B.3, across directions",
    "share of random starts in which the larger singular value changes faster",
    correction=(
        "The larger one changes faster once the features have aligned with the fastest directions, and until it "
        "saturates; after that the smaller one does."
    ),
)
def theorem_b_3_selection_bias(tables: Tables) -> Outcome:
    """Of two singular values the larger one changes faster.

    This is the theorem read across directions, as a bias for those already selected. It would follow if g_i
    were the same for all i. At random starts it is not, and the order of the rates is only loosely that of the
    values. While predictions stay uniform, the features turn towards the directions of largest g, and then
    the reading holds. When the first direction has fitted its examples its g falls below the second's:
    that is what lets the effective rank rise again.
    """
    starts = tables["initial_growth"].pivot_table(index=["scale", "seed"], columns="index", values="rate").abs()
    faster = starts[1] > starts[2]
    printed = share_at_least(int(faster.sum()), len(faster), 0.95, because="predicted for all; a twentieth allowed")
    table = tables["skewed"]
    ordered = _larger_faster(table)
    end = _uniform_until(table)
    aligned = ordered[end]
    lowest = ordered.loc[:, ordered.columns > end].mean().idxmin()
    share, low, high = share_interval(ordered[lowest])
    corrected = all_of(
        share_at_least(int(aligned.sum()), len(aligned), 0.9, because="at the last time of uniform predictions"),
        at_most(share, 0.5, uncertainty=max(share - low, high - share), because="lowest share after that"),
    )
    return Outcome(printed, len(faster), corrected=corrected)


def _larger_faster(table: pd.DataFrame) -> pd.DataFrame:
    """Return whether the larger singular value changes faster: members in rows, times in columns."""
    sigma, rate = by_index(table, "sigma_f"), by_index(table, "rate_f").abs()
    ordered = ((sigma[1] > sigma[2]) == (rate[1] > rate[2])).rename("ordered").reset_index()
    return ordered.pivot_table(index="seed", columns="time", values="ordered", aggfunc="first").astype(bool)


def _uniform_until(table: pd.DataFrame) -> float:
    """Return the last time at which the median loss has lost less than a tenth of its initial value."""
    loss = scalar(table, "loss").groupby("time").median()
    return float(loss.index[loss > 0.9 * loss.iloc[0]][-1])


@claim(
    "Theorem B.3, second part",
    "slope of log (d log σ_1 / dt) on log N of the largest class, features aligned, predictions uniform",
    correction=(
        "Rates stay below η σ √N, which aligned features approach when classes are many; "
        "at random starts they do not depend on N at all."
    ),
)
def theorem_b_3_dominant_class(tables: Tables) -> Outcome:
    """With uniform predictions and many classes, rates are proportional to the largest class's size N.

    At uniform predictions A is the negative one-hot matrix with the class mean projected out, whose spectral
    norm is √N up to terms in 1/V, never more. The sum over the N examples of the class in eq. 21 runs over
    entries of a unit vector, and such a sum is at most √N. Features that start tiny align with that top
    direction and then grow at exactly that rate: the exponent is one half. Random starts do not know the
    class yet: u and v are independent of A, and g is of order 1/√V whatever N is.
    """
    early = tables["early_growth"]
    end = early[early["time"] == early["time"].max()]
    many = end[end["classes"] == end["classes"].max()]
    slope, uncertainty, _ = _log_slope(many["largest"], many["growth"])
    printed = equal(slope, 1.0, 0.02, uncertainty=uncertainty, because="terms in 1/V, and standard error")
    starts = tables["initial_skews"]
    starts = starts[starts["classes"] >= 100]
    start_slope, start_uncertainty, _ = _log_slope(starts["largest"], starts["rate"].abs() / starts["sigma"])
    # what is left of V - 1 directions that grow at rate one beside one that grows at sqrt(N), for the smallest N
    left = (end["classes"].max() - 1) * np.exp(-2 * early["time"].max() * (1 - 1 / np.sqrt(early["largest"].min())))
    ratio = (end["growth"] / end["fastest"]).groupby([end["classes"], end["largest"]]).median()
    corrected = all_of(
        equal(slope, 0.5, 0.02, uncertainty=uncertainty, because="terms in 1/V"),
        equal(
            float(ratio.sub(1).abs().max()),
            0.0,
            float(left + end["departure"].max()),
            resolution=0.05,
            because="median growth over |A|; what is left of other directions, and the predictions' departure from 1/V",
        ),
        equal(start_slope, 0.0, 0.0, uncertainty=start_uncertainty, resolution=0.25, because="random starts, V >= 100"),
    )
    return Outcome(printed, len(many), corrected=corrected)


@claim("Theorem B.3, second part, as a bound", "largest |dσ_i/dt| / (η σ_i N) over random and aligned starts")
def theorem_b_3_bound(tables: Tables) -> Outcome:
    """The relative growth rate of a singular value never exceeds the size N of the largest class.

    This is the theorem's other reading, an upper bound. It holds with room to spare, since the sharp bound
    is √N; the room grows with N.
    """
    starts, early = tables["initial_skews"], tables["early_growth"]
    ratios = pd.concat(
        [starts["rate"].abs() / (starts["sigma"] * starts["largest"]), early["growth"].abs() / early["largest"]]
    )
    # balanced up to rounding, uniform up to the scale of the logits
    check = at_most(float(ratios.max()), 1.0, uncertainty=1e-3, because="predictions are uniform to a thousandth")
    return Outcome(check, len(ratios))


@claim("Eq. 21", "root mean square error of g_i without terms in 1/V, relative to g_i, at the largest V")
def equation_21(tables: Tables) -> Outcome:
    """For many classes the terms of order 1/V in g_i can be dropped.

    The last line of the equation leaves the class index of the inner sum free; it is read as
    −Σ_k v_2ik Σ_{j in class k} u_1ij. At random starts the relative error falls like 1/√V: about two thirds
    at the toy's own four classes, a tenth at about a hundred.
    """
    starts = tables["initial_skews"]
    squares = starts.assign(error=(starts["gain_many_classes"] - starts["gain"]) ** 2, square=starts["gain"] ** 2)
    sums = squares.groupby("classes")[["error", "square"]].sum()
    relative = np.sqrt(sums["error"] / sums["square"])
    fit = stats.linregress(np.log(relative.index.to_numpy(dtype=float)), np.log(relative))
    # the interval of a slope through so few points is Student's
    half_width = float(stats.t.ppf(0.975, len(relative) - 2) * fit.stderr)
    error = at_most(float(relative.iloc[-1]), 0.1, because="a tenth counts as dropped")
    slope = at_most(float(fit.slope), 0.0, uncertainty=half_width, because="slope of the logarithm on log V")
    return Outcome(error if slope.state == "holds" else all_of(error, slope), len(starts))


def _log_slope(x: pd.Series, y: pd.Series) -> tuple[float, float, float]:
    """Slope of log y on log x, half-width of its 95 % interval, and the residuals' standard deviation."""
    fit = stats.linregress(np.log(x), np.log(y))
    residuals = np.log(y) - fit.intercept - fit.slope * np.log(x)
    return float(fit.slope), 1.96 * float(fit.stderr), float(residuals.std())
