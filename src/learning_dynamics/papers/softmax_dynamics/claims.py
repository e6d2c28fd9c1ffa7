"""What is concluded: each claim of the appendix held against the measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Outcome, all_of, at_most, claim, equal, share_at_least
from learning_dynamics.measures.phases import share_interval, shows
from learning_dynamics.settings import Fraction, Positive

Tables = Mapping[str, pd.DataFrame]

# Largest relative error of an invariant along these flows, in units of the integrator's rtol: 5.2 over all
# flows of this paper at rtol 1e-9 and 1e-11; doubled.
FLOW_ERROR = 10.0
# Finite differences of singular values are taken where the spectrum's relative gap is above this.
SIMPLE = 0.01
# Step of those differences in units of the gap; see measures.continuation.difference_rates.
DIFFERENCE_STEP = 1e-3
# Rounding of a difference, relative to the speed of the matrix; the factor covers the SVD's own constant.
DIFFERENCE_ERROR = 10 * np.finfo(float).eps / (DIFFERENCE_STEP * SIMPLE)
# Unbalanced factors differ by tens of per cent where balanced ones agree; errors must not hide a thousandth of that.
RESOLUTION = 1e-4


def _wide(table: pd.DataFrame, quantity: str, value: str = "value") -> pd.DataFrame:
    rows = table[table["quantity"] == quantity]
    return rows.pivot_table(index=["seed", "time"], columns="index", values=value)


def _scalar(table: pd.DataFrame, quantity: str) -> pd.Series:
    return table[table["quantity"] == quantity].set_index(["seed", "time"])["value"]


def _members(tables: Tables) -> int:
    return sum(table["seed"].nunique() for table in tables.values())


def _flow_error(tables: Tables) -> float:
    return FLOW_ERROR * max(table.attrs["settings"]["rtol"] for table in tables.values())


def _rate_error(table: pd.DataFrame, quantity: str, factor: str) -> float:
    """Largest |measured - predicted| rate relative to the speed of the matrix, where singular values are simple."""
    error = (_wide(table, quantity) - _wide(table, quantity, "predicted")).abs().max(axis=1)
    simple = _scalar(table, "gap") > SIMPLE
    return float((error / _scalar(table, f"speed_{factor}"))[simple].max())


def _log_slope(x: pd.Series, y: pd.Series) -> tuple[float, float, float]:
    """Slope of log y on log x, half-width of its 95 % interval, and the residuals' standard deviation."""
    fit = stats.linregress(np.log(x), np.log(y))
    residuals = np.log(y) - fit.intercept - fit.slope * np.log(x)
    return float(fit.slope), 1.96 * float(fit.stderr), float(residuals.std())


# -- identities ------------------------------------------------------------------------------------------


@claim("Lemma B.1", "largest |dσ_k/dt − u_kᵀ(dM/dt)v_k| / |dM/dt|, the derivative by differences")
def lemma_b_1(tables: Tables) -> Outcome:
    """A simple singular value of a smooth matrix M(t) changes at the rate u_kᵀ (dM/dt) v_k.

    Checked on random smooth curves, with differences taken in time, and on both factors along gradient
    flow, with differences taken along the direction of motion. Where two singular values meet, the
    ordered ones have no derivative, and neither has one at zero; times with a relative gap below a
    hundredth are left out, as the lemma asks for simple ones.
    """
    checks = []
    for table in tables.values():
        if "step" in table.attrs["settings"]:
            step = table.attrs["settings"]["step"]
            error = (_wide(table, "lemma") - _wide(table, "lemma", "predicted")).abs().max(axis=1)
            speed = _scalar(table, "speed")
            # the spectrum must be smooth on the scale of the step: no step longer than a hundredth of a gap
            smooth = step * speed < 0.01 * _scalar(table, "gap")
            worst = float((error / speed)[smooth].max())
            checks.append(equal(worst, 0.0, 1e-7, because="truncation, the fourth power of step / gap, times ten"))
        else:
            for factor in ("f", "w"):
                worst = _rate_error(table, f"lemma_{factor}", factor)
                checks.append(equal(worst, 0.0, DIFFERENCE_ERROR, because="rounding of the differences"))
    return Outcome(all_of(*checks), _members(tables))


@claim("Eq. 15–16, gradient flow", "largest |change of fᵀf − WWᵀ| / |fᵀf + WWᵀ| along the flow")
def conservation(tables: Tables) -> Outcome:
    """Gradient flow keeps fᵀf − WWᵀ as it was at the start.

    It holds for any residual A, hence for both losses, and from any initialisation: the flows checked
    start balanced, where the difference is zero, and from Gaussian factors, where it is not.
    """
    worst = max(float((_scalar(table, "drift") / _scalar(table, "size")).max()) for table in tables.values())
    check = equal(worst, 0.0, _flow_error(tables), resolution=RESOLUTION, because="10 rtol")
    return Outcome(check, _members(tables))


@claim(
    "Eq. 12, as steps",
    "largest |change of fᵀf − WWᵀ| / |fᵀf + WWᵀ| at the largest learning rate",
    correction="Steps change the difference by η² (W AᵀA Wᵀ − fᵀA Aᵀf) each, so that it drifts in proportion to η.",
)
def conservation_gradient_descent(tables: Tables) -> Outcome:
    """Gradient descent with a finite learning rate keeps fᵀf − WWᵀ as well.

    The appendix introduces its equations as gradient descent with learning rate η, and then differentiates
    in time. For steps of finite size the invariant is exact only to first order: over a given time the
    drift is halved when the learning rate is.
    """
    table = tables["descent"]
    wide = table.pivot_table(index=["seed", "time"], columns=["learning_rate", "quantity"], values="value")
    relative = (wide.xs("drift", axis=1, level=1) / wide.xs("size", axis=1, level=1)).groupby("seed").max()
    rounding = 1e-12
    printed = equal(float(relative.iloc[:, -1].max()), 0.0, rounding, because="rounding over a thousand steps")
    logs = np.log(np.maximum(relative, np.finfo(float).tiny))
    x = np.log(relative.columns.to_numpy(dtype=float))
    orders = logs.apply(lambda row: np.polyfit(x, row, 1)[0], axis=1)
    order = equal(
        float(orders.mean()),
        1.0,
        0.1,
        uncertainty=1.96 * float(orders.sem()),
        because="order of the drift in η; terms of higher order raise it by up to a tenth",
    )
    return Outcome(printed, relative.shape[0], corrected=order)


@claim("Theorem B.2", "largest of |σ_1i² − σ_2i²| / σ_1² and sin∠(v_1i, u_2i) · gap(σ²) / σ_1²")
def theorem_b_2(tables: Tables) -> Outcome:
    """From a balanced start, fᵀf = WWᵀ, both factors keep the same singular values and share their directions.

    Singular vectors are fixed up to sign, and only as well as the spectrum's gap allows: an error of size
    ε in a symmetric matrix turns its eigenvectors by up to ε / gap. The angles are therefore weighted by
    the gap.
    """
    worst = max(
        float(_scalar(table, quantity).max()) for table in tables.values() for quantity in ("spectra", "directions")
    )
    check = equal(worst, 0.0, _flow_error(tables), resolution=RESOLUTION, because="10 rtol")
    return Outcome(check, _members(tables))


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
            _rate_error(table, f"rate_{factor}", factor),
            0.0,
            DIFFERENCE_ERROR + _flow_error(flows) / SIMPLE,
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
    sigma, rate = _wide(table, "sigma_f"), _wide(table, "rate_f").abs()
    ordered = ((sigma[1] > sigma[2]) == (rate[1] > rate[2])).rename("ordered").reset_index()
    return ordered.pivot_table(index="seed", columns="time", values="ordered", aggfunc="first").astype(bool)


def _uniform_until(table: pd.DataFrame) -> float:
    """Return the last time at which the median loss has lost less than a tenth of its initial value."""
    loss = _scalar(table, "loss").groupby("time").median()
    return float(loss.index[loss > 0.9 * loss.iloc[0]][-1])


# -- the dominant class ----------------------------------------------------------------------------------


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


# -- phases ----------------------------------------------------------------------------------------------


def _chosen(table: pd.DataFrame, measure: str, threshold: float, *, skewed: bool) -> pd.DataFrame:
    rows = table[(table["measure"] == measure) & np.isclose(table["threshold"], threshold)]
    return rows[(rows["largest"] > rows["smallest"]) == skewed]


def _phase_outcome(tables: Tables, phase: str, measure: str, threshold: float, typical: float) -> Outcome:
    checks, notes, members = [], [], 0
    for name, table in tables.items():
        rows = _chosen(table, measure, threshold, skewed=True)
        shown = shows(rows, phase)
        checks.append(share_at_least(int(shown.sum()), len(rows), typical, because="typical: every other member"))
        members += len(rows)
        cells = shown.groupby([rows["counts"], rows["init"], rows["scale"]]).mean()
        notes.append(
            f"{name}: {shown.mean():.1%} of members, between {cells.min():.0%} and {cells.max():.0%} in a cell"
        )
        skewed = table[table["largest"] > table["smallest"]]
        others = shows(skewed, phase).groupby([skewed["measure"], skewed["threshold"]]).mean()
        (low, lowest), (high, highest) = ((others.idxmin(), others.min()), (others.idxmax(), others.max()))
        notes.append(
            f"over other measures and thresholds from {lowest:.1%} ({low[0]} at {low[1]:g}) "
            f"to {highest:.1%} ({high[0]} at {high[1]:g})"
        )
        if phase == "compression-seeking":
            lasting = shown & (rows["fourth"] == 0)
            notes.append(f"in {lasting.mean():.1%} the late fall is the last change; the others rise again")
        notes.append(f"median {measure} at the end {rows['end'].median():.3f}")
    return Outcome(all_of(*checks), members, reason=". ".join(notes))


@claim("Toy model, warm-up", "share of members over the grid of skews and scales whose effective rank falls first")
def phases_warmup(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """With skewed classes and a bottleneck, cross-entropy first lowers the effective rank of the features.

    The main text shows one run of the toy; its class sizes, scale and learning rate are not stated. Here the
    share of seeds is counted over a stated grid, for gradient flow and for gradient descent, and the claim
    is taken to hold if more than every other member shows the phase. Members that do not fall first mostly
    start with a small singular value in the direction that grows fastest, and rise before they fall.
    """
    return _phase_outcome(tables, "warm-up", measure, threshold, typical)


@claim("Toy model, entropy-seeking", "share of members whose effective rank falls, then rises")
def phases_entropy_seeking(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """After the warm-up the effective rank rises again.

    The rise comes when the first direction has fitted its examples and its gain g falls below the second's.
    It ends close to the largest value that two dimensions allow.
    """
    return _phase_outcome(tables, "entropy-seeking", measure, threshold, typical)


@claim("Toy model, compression-seeking", "share of members whose effective rank falls, rises, and falls again")
def phases_compression_seeking(
    tables: Tables,
    *,
    measure: Literal["rankme", "rankme_centred", "effective_rank"],
    threshold: Positive,
    typical: Fraction,
) -> Outcome:
    """After the entropy-seeking phase the effective rank falls again.

    In two dimensions there is little room for it: the rise ends within a few hundredths of the maximum, and
    the direction in which the factors then grow without bound, that of largest margin, has two nearly equal
    singular values. Single members do fall late, most of them on the way from one plateau to the next, and
    rise again.
    """
    return _phase_outcome(tables, "compression-seeking", measure, threshold, typical)


# -- controls --------------------------------------------------------------------------------------------


def _control_outcome(
    treated: pd.DataFrame, control: pd.DataFrame, measure: str, threshold: float, *, skewed: bool
) -> Outcome:
    """Hold the control's share of members that fall and then rise against half of the treated share."""
    with_cause = _chosen(treated, measure, threshold, skewed=True)
    without = _chosen(control, measure, threshold, skewed=skewed)
    treated_share, low, high = share_interval(shows(with_cause, "entropy-seeking"))
    share, lower, upper = share_interval(shows(without, "entropy-seeking"))
    error = np.hypot(max(share - lower, upper - share), max(treated_share - low, high - treated_share) / 2)
    check = at_most(
        share, treated_share / 2, uncertainty=float(error), because="half of the share with the cause present"
    )
    late = [float(shows(rows, "compression-seeking").mean()) for rows in (without, with_cause)]
    lowest = [float(rows["lowest"].median()) for rows in (without, with_cause)]
    reason = (
        f"the effective rank falls and then rises in {share:.1%} of the control's members and in "
        f"{treated_share:.1%} of those with skew, bottleneck and cross-entropy; a late fall follows in {late[0]:.1%} "
        f"and {late[1]:.1%}; the median of the lowest value is {lowest[0]:.2f} and {lowest[1]:.2f}"
    )
    return Outcome(check, len(without) + len(with_cause), reason=reason)


@claim(
    "Toy model, control: uniform classes", "share of members with two examples per class whose rank falls, then rises"
)
def controls_uniform(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """Without class skew the effective rank does not fall and rise.

    It does. With equal classes A has V − 1 equal singular values at uniform predictions. The first, linear
    stage projects the features, random directions of as many dimensions as there are examples, on to
    those few, and in so few dimensions random features spread less evenly: the rank falls without any
    dominant class, though less far than with one. It rises when the larger direction saturates first.
    """
    grid = tables["cross_entropy_grid"]
    return _control_outcome(grid, grid, measure, threshold, skewed=False)


@claim("Toy model, control: no bottleneck", "share of members with d = V − 1 whose rank falls, then rises")
def controls_no_bottleneck(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """Without a bottleneck the effective rank does not fall and rise.

    Three dimensions hold four classes at the vertices of a tetrahedron. The directions still grow one after
    the other, so the rank falls and rises as it does in two.
    """
    return _control_outcome(tables["cross_entropy_grid"], tables["no_bottleneck_grid"], measure, threshold, skewed=True)


@claim("Toy model, control: squared loss", "share of members trained on the squared loss whose rank falls, then rises")
def controls_squared_loss(
    tables: Tables, *, measure: Literal["rankme", "rankme_centred", "effective_rank"], threshold: Positive
) -> Outcome:
    """With the squared loss instead of the cross-entropy the effective rank does not fall and rise.

    Linear networks under the squared loss learn direction after direction as well, the larger class first:
    a fall while the first grows, a rise while the second follows.
    """
    return _control_outcome(tables["cross_entropy_grid"], tables["squared_grid"], measure, threshold, skewed=True)
