"""Theorem B.3 and eq. 21: how fast singular values grow, across directions and with the size of the largest class.

Symbols are the appendix's: features f, a row for each example, and a classifier W, in d dimensions with V classes;
balanced starts have f^T f = W W^T. A is the predictions minus the one-hot labels (eq. 12). sigma_1i and sigma_2i are
the singular values of f and W, equal from balanced starts; g_i = u_1i^T A v_2i, with left singular vectors u_1i of f
and right ones v_2i of W. By eqs. 17 and 18 sigma_i changes at -eta g_i sigma_i, and rates here are per unit of flow
time, in which eta is one. One class has N examples, each of the other V - 1 has one. Aligned features lie along the
fastest direction, the leading singular vectors of A at uniform predictions, where |g_1| is the spectral norm ||A||.

Every check takes `rivals`, `printed` and `corrected` besides its own parameters (`judging.takes_rivals`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from learning_dynamics.evidence import Estimate, mean, slope
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    at_most,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
    takes_rivals,
)
from learning_dynamics.papers.softmax_dynamics.flow_errors import (
    at_each_time,
    difference_error,
    flow_error,
    rate_errors,
)
from learning_dynamics.papers.softmax_dynamics.invariants.quantities import (
    CLASSIFIER,
    FEATURES,
    GAP,
    SIGMA,
    FactorNames,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, draw_columns, select

# Settings of these claims, whose values are in workflow/config/softmax_dynamics.yaml:
# - simple_gap, of `theorem_b_3_proportional`: least distance of neighbouring singular values, zero included, relative
#   to the largest, at which a spectrum counts as simple; chosen, `vary` in the configuration tries others
# - many_classes, of `theorem_b_3_dominant_class`: number of classes from which on random starts have the "many classes"
#   of the theorem; chosen, `vary` tries others
# - dropped_error, of `equation_21`: largest error of g_i without its terms in 1/V, relative to g_i, at which these
#   count as dropped; chosen, `vary` tries others
#
# Tables of these claims, whose columns `metrics` describes; `largest` is N and `classes` is V:
# - starts: random balanced starts, a row for each singular value: sigma, its rate, g_i as `gain`
# - early: features that start tiny, along time: `growth` is d log sigma_1 / dt, that is |g_1| by eq. 17; `fastest` is
#   ||A|| at uniform predictions; `across` is the spectral norm of f across the fastest direction over the norm of f
#   along it; `departure` is the largest difference of a prediction from 1/V. Rows of f are one for each example: inputs
#   are orthonormal. The column `time` is flow time in units of 1 / sqrt(N)
# - repeated: as early, where the N examples of the largest class are one context, with one row of f; there time is in
#   units of 1 / N, and `fastest` is of A with its rows repeated
# - confident: as starts, but with confident, mostly wrong predictions
# A flow that failed has nan, which leaves its draw undecided


@claim(
    "Theorem B.3, first part",
    scope="balanced starts, cross-entropy; V = 4, d = 2 and 3; random starts of one scale for the slope",
    quantifier="all draws",
)
def theorem_b_3_proportional(flows: Sequence[Table], starts: Table, *, simple_gap: Positive) -> Claim:
    r"""From a balanced start of factors of full rank the rate of a simple singular value is proportional to it, with a
    factor of its own: $|\dot\sigma_{1i}| = \eta |g_i| \sigma_{2i}$ with $g_i = u_{1i}^T A v_{2i}$, and likewise for
    $\sigma_{2i}$.

    $u_{1i}$ and $v_{2i}$ are left singular vectors of the features $f$ and right ones of the classifier $W$, with
    singular values $\sigma_{1i} = \sigma_{2i} = \sigma_i$; $A$ is the predictions minus the one-hot labels. Along the
    flow rates measured by differences are compared with $-g_i \sigma_i$, where the spectrum is simple: singular values
    are more than {simple_gap:g} of the largest apart from each other, and from zero. Among random starts of one scale,
    where singular values differ by chance, the slope of the log rate on the log value is {slope:.2f} (across scales it
    is one for any bilinear model). The factor $g_i$ is neither constant nor common (errata 5): the logarithm of $|g_i|$
    has standard deviation {spread_of_log_gain:.2g} around the fit, and {share_shrinking:.0%} of the singular values
    shrink at first.
    """
    # rivals of all three checks: other powers of the singular value in its rate
    other_exponents = {
        "rates that do not depend on the singular value": 0.0,
        "rates like its square": 2.0,
        "rates like its square root": 0.5,
    }
    for matrix in (FEATURES, CLASSIFIER):
        yield _check_of_power(matrix, flows, 1.0, simple_gap=simple_gap, rivals=other_exponents)
    log_sigma, log_rate = np.log(starts["sigma"].to_numpy()), np.log(starts["rate"].abs().to_numpy())
    # Draws of this check are singular values. log rate is log |g_i| + log sigma_i: if g_i is independent of sigma_i,
    # the slope is one.
    fit = slope(log_sigma, log_rate)
    yield equal(
        r"slope of $\log|\dot\sigma_i|$ on $\log\sigma_i$ among random starts of one scale",
        fit,
        1.0,  # eq. 20
        tolerance=0.05,
        resolution=0.5,  # the distance to the nearest rival, 1/2
        because="interval of the slope, and a twentieth besides: a tenth of the distance to the nearest rival",
        rivals=other_exponents,
    )
    # what the fit leaves of log |g_i|
    residuals = log_rate - log_rate.mean() - fit.value * (log_sigma - log_sigma.mean())
    yield Facts(
        simple_gap=simple_gap,
        slope=fit.value,
        spread_of_log_gain=residuals.std(),
        share_shrinking=(starts["rate"] < 0).mean(),
    )


@takes_rivals("exponent", scaled=True)
def _check_of_power(matrix: FactorNames, flows: Sequence[Table], exponent: float, *, simple_gap: float) -> Check:
    """Check along flows that singular values change at -g_i sigma_i^exponent, where the spectrum is simple.

    The predictions in the table are those of eqs. 17 and 18, whose exponent is one; `takes_rivals` adds `rivals`, other
    exponents. Singular values of f and W are equal from balanced starts. A draw is a flow, by its largest error.
    """
    # The bound has two parts: what rounding leaves in the measured rates, and the error of the predicted g_i. An error
    # of integration, `flow_error`, turns singular vectors by up to itself over the gap, and g_i with them: it is
    # divided by the least gap that counts.
    errors, not_simple = [], 0
    for table in flows:
        smooth = at_each_time(table, GAP) > simple_gap
        # from -g_i sigma_i, which is in the table, to -g_i sigma_i^exponent
        power = select(table, SIGMA)["value"].to_numpy() ** (exponent - 1)
        errors.append(rate_errors(table, matrix.rate, matrix.speed, smooth, factor=power))
        not_simple += int((~smooth).sum())
    return every_draw(
        rf"largest error of $\dot\sigma_i({matrix.symbol})$ along the flow, relative to $|\dot {matrix.symbol}|$",
        np.concatenate(errors),
        at_most=difference_error(simple_gap) + flow_error(flows) / simple_gap,
        because="rounding of the differences, and ten relative tolerances over the gap",
        # parts of draws: each flow is judged at its other times
        excluded={"times, not whole draws, at which the spectrum is not simple": not_simple},
    )


# -- orders in N, the size of the largest class ------------------------------------------------------------------------


class Orders(NamedTuple):
    """Orders in N, the size of the largest class, of the growth rate of a singular value."""

    aligned: float  # of features that have aligned with the fastest direction
    random: float  # at random starts
    repeated: float  # of aligned features, where the N examples repeat one context


ORDERS = Orders(aligned=0.5, random=0.0, repeated=1.0)  # errata 1
# The rivals of `theorem_b_3_dominant_class`, by the orders that they predict; each replaces the order of every check
# that has one. The first reads eq. 22, "proportional to O(N)", without "bounded" in the sentence before it. Each of the
# next three differs from ORDERS in one order: the check of that order refuses it, the other checks do not.
OTHER_ORDERS = {
    "rates in proportion to N": Orders(aligned=1.0, random=1.0, repeated=1.0),
    "the root of N at random starts as well": Orders(aligned=0.5, random=0.5, repeated=1.0),
    "N for aligned features, nothing at random starts": Orders(aligned=1.0, random=0.0, repeated=1.0),
    "the root of N where a context is repeated as well": Orders(aligned=0.5, random=0.0, repeated=0.5),
    "no dependence on N": Orders(aligned=0.0, random=0.0, repeated=0.0),
}


@claim(
    "Theorem B.3, second part, the order in N",
    scope="balanced starts, uniform predictions, one class of N examples among classes of one, up to 1000 at random "
    "starts; d = 2; orthonormal inputs, and N examples that repeat one context",
    origin="ours",
    quantifier="all draws",
)
def theorem_b_3_dominant_class(starts: Table, early: Table, repeated: Table, *, many_classes: Positive) -> Claim:
    r"""From a balanced start with uniform predictions, and with many classes, rates are bounded by $\eta \sigma
    \sqrt{N}$ with orthonormal inputs, and aligned features approach this; at random starts they do not grow with the
    size $N$ of the largest class. For aligned features that repeat one context they are proportional to $N$.

    The theorem bounds rates by $O(N)$ (`theorem_b_3_bound`); orthonormal inputs, which the appendix has, do not attain
    that bound (errata 1). Rates are $|\dot\sigma_i| = \eta |g_i| \sigma_i$ with $g_i = u_i^T A v_i$, where $u_i$ and
    $v_i$ are singular vectors of the features $f$ and the classifier $W$. At uniform predictions $A$ is $1/V$ minus the
    one-hot labels. The spectral norm of $A$ is $\sqrt{N}$ up to terms in $1/V$, never more. The sum over the $N$
    examples of the class in eq. 21 runs over entries of a unit vector, and such a sum is at most $\sqrt{N}$. Features
    that start tiny align with the top singular vectors of $A$ and then grow at the rate of its norm: the slope of the
    log of their relative growth rate on $\log N$ is {aligned:.3f} on average. At random starts $u_i$ and $v_i$ are
    independent of $A$, and $g_i$ is of order $1/\sqrt{V}$ whatever $N$ is (slope {order_at_random:.2f}, with
    {many_classes:g} classes or more). If the $N$ examples are one context, their row's gradient is their sum, and the
    slope is {order_of_repeated_context:.3f}.
    """
    growth = r"slope of $\log(\dot\sigma_1 / \sigma_1)$ on $\log N$, features aligned"
    yield _check_of_order(
        growth,
        _orders_in_size(early),
        ORDERS.aligned,
        left_by_alignment=_order_left_by_alignment(early),
        rivals={phrase: orders.aligned for phrase, orders in OTHER_ORDERS.items()},
    )
    yield _check_of_order(
        f"{growth}, one repeated context",
        _orders_in_size(repeated),
        ORDERS.repeated,
        rivals={phrase: orders.repeated for phrase, orders in OTHER_ORDERS.items()},
    )
    random_starts = starts[starts["classes"] >= many_classes]
    # |d sigma_i / dt| / sigma_i; draws are singular values
    random_rates = random_starts["rate"].abs() / random_starts["sigma"]
    order_at_random = slope(np.log(random_starts["largest"]), np.log(random_rates))
    yield equal(
        r"slope of $\log(|\dot\sigma_i| / \sigma_i)$ on $\log N$ at random starts",
        order_at_random,
        ORDERS.random,
        # E g^2 = (V - 1) / V^2 whatever N is (errata 1); the mean of log |g|, which the slope is of, may depend on N.
        # By how much is not derived. 0.05 is chosen: a tenth of the distance of the orders 0 and 1/2.
        tolerance=0.05,
        resolution=0.25,  # half the distance of the orders 0, 1/2 and 1
        because="interval of the slope, and a twentieth (chosen), as N changes the shape of the rates' distribution, "
        "though not their mean square",
        rivals={phrase: orders.random for phrase, orders in OTHER_ORDERS.items()},
    )
    end = early[early["time"] == early["time"].max()]
    share_of_norm = end["growth"] / end["fastest"]  # |g_1| / ||A||, one where features are aligned
    # a cell has one number of classes and one size of the largest
    medians = share_of_norm.groupby([end["classes"], end["largest"]]).median()
    deficit = _growth_deficits(early).groupby(["classes", "largest"])["deficit"].median().max()
    # Logits of aligned features are sigma^2 u v^T. To leading order they move predictions from 1/V by
    # (sigma^2 / V) u v^T, which lowers |g_1| by sigma^2 / V. The largest departure is (sigma^2 / V) max |u| max |v|.
    # Aligned vectors have max |u| max |v| = (1 - 1/V) / ||A||. So |g_1| / ||A|| is lower by V / (V - 1) departures: by
    # one where classes are many, by 4/3 where they are four. Twice the deficit leaves room for the third. Draws of this
    # check are cells; no rival alters it.
    yield every_draw(
        r"aligned growth over $\|A\|$, difference of the cells' medians from one",
        np.abs(medians.to_numpy() - 1),
        at_most=2 * deficit + float(end["departure"].max()),
        because="twice what the gap of $A$ leaves of the features across at half the time, and "
        "the predictions' departure from 1/V",
    )
    # Rates are below sigma N^order: at random starts as well, where the typical rate does not grow with N. The bound
    # has the order of aligned features, the largest with orthonormal inputs. Rivals of an order of 1/2 or more pass
    # this check, and are refused by one of the checks above.
    yield _check_of_bound(
        starts,
        early,
        ORDERS.aligned,
        rivals={phrase: orders.aligned for phrase, orders in OTHER_ORDERS.items()},
    )
    yield Facts(
        many_classes=many_classes,
        order_at_random=order_at_random.value,
        aligned=_orders_in_size(early).mean(),
        order_of_repeated_context=_orders_in_size(repeated).mean(),
    )


def _orders_in_size(early: Table) -> np.ndarray:
    """Return each seed's order in N of the growth rate at the last time, with the most classes, shape (seeds,).

    The order is the slope of log growth on log N.
    """
    end = early[(early["time"] == early["time"].max()) & (early["classes"] == early["classes"].max())]
    log_rates = np.log(end.pivot_table(index="seed", columns="largest", values="growth", dropna=False))
    log_sizes = np.log(log_rates.columns.to_numpy(dtype=float))
    slopes, _ = np.polyfit(log_sizes, log_rates.to_numpy().T, 1)  # a straight line for each seed
    return slopes


@takes_rivals("order", scaled=True)
def _check_of_order(name: str, orders: np.ndarray, order: float, *, left_by_alignment: ArrayLike = 0.0) -> Check:
    """Check that each seed's measured order in N is `order`, up to what incomplete alignment may change.

    `orders` and `left_by_alignment` have the shape (seeds,). `takes_rivals` adds `rivals`, which are other orders.
    """
    return equal_on_every_draw(
        f"{name}, error",
        orders,
        order,
        # Terms in 1/V move the slope of log ||A|| on log N, for N from 2 to 64 and ||A|| by `theory.fastest_growth`,
        # from 1/2 by 0.02 with 4 classes and by 0.001 with 100. The larger is allowed, though the most classes are
        # judged.
        tolerance=0.02 + np.asarray(left_by_alignment),
        relative_to=1.0,  # orders differ by absolute errors
        resolution=0.25,  # half the distance of the orders 0, 1/2 and 1
        because="terms in 1/V, and what alignment leaves",
    )


def _order_left_by_alignment(early: Table) -> np.ndarray:
    """Return by how much each seed's order in N may be off, as features are not quite aligned.

    The order is the slope of a straight line through log rates at x = log N: the sum of the log rates with the weights
    (x - mean x) / sum (x - mean x)^2. A relative deficit of a rate changes its logarithm by as much. Twice the deficits
    are allowed.
    """
    deficits = _growth_deficits(early)
    most_classes = deficits[deficits["classes"] == deficits["classes"].max()]
    by_seed = most_classes.pivot_table(index="seed", columns="largest", values="deficit", dropna=False)
    log_sizes = np.log(by_seed.columns.to_numpy(dtype=float))
    centred = log_sizes - log_sizes.mean()
    weights = np.abs(centred) / np.sum(centred**2)
    return 2 * by_seed.to_numpy() @ weights


def _growth_deficits(early: Table) -> pd.DataFrame:
    """Return how far growth may be below ||A|| at the end, relatively, by how features are aligned at half the time.

    A row for each member of each cell, with the bound in the column ``deficit``.

    The component of features along the leading direction of A grows at the rate s = ||A||. Components across it grow at
    rates of one or less, as all other singular values of A are, so that |across| / |along| falls like exp(-(s - 1) t).
    The leading singular vector of f has a squared share p of (|across| / |along|)^2 or less across the leading
    direction, never more than one. Its growth is below s by p (s - 1), a deficit of p (1 - 1/s) relative to s. Slower
    components leave less, as they fall behind faster.
    """
    times, last = early["time"].unique(), early["time"].max()
    half_time = times[np.argmin(np.abs(times - last / 2))]
    at_half = early[early["time"] == half_time]
    # the column `time` is flow time in units of 1 / sqrt(N)
    flow_time_left = (last - at_half["time"]) / np.sqrt(at_half["largest"])
    across_at_end = at_half["across"] * np.exp(-(at_half["fastest"] - 1) * flow_time_left)  # |across| / |along|
    share_across = np.minimum(across_at_end**2, 1.0)
    return at_half.assign(deficit=(1 - 1 / at_half["fastest"]) * share_across)


@takes_rivals("order")
def _check_of_bound(starts: Table, early: Table, order: float) -> Check:
    """Check that relative growth rates, random and aligned, are at most N^order.

    Draws of this check are singular values of the random starts and recorded times of the early flows.
    """
    return every_draw(
        rf"$|\dot\sigma_i| / \sigma_i$ over $N$ to the power {order:g}, random and aligned",
        _relative_rates(starts, [early], order),
        at_most=_bound_on_relative_rates([early]),
        because="the bound, and ten times the predictions' departure from 1/V",
    )


def _relative_rates(starts: Table, flows: Sequence[Table], order: float) -> np.ndarray:
    """Return relative growth rates at random starts, and of aligned features along early flows, over N^order."""
    random = starts["rate"].abs() / (starts["sigma"] * starts["largest"] ** order)
    # `growth` is relative already, d log sigma_1 / dt
    aligned = [flow["growth"].abs() / flow["largest"] ** order for flow in flows]
    return np.concatenate([random, *aligned])


def _bound_on_relative_rates(flows: Sequence[Table]) -> float:
    """Return the bound on relative rates over a power of N: one, plus ten times the predictions' departure from 1/V.

    A departure of every entry of A by up to delta changes u^T A v by at most delta |u|_1 |v|_1. Aligned v is along
    e_1 - 1/V and aligned u along A v, so that |u|_1 |v|_1 <= 2 (N + 1) / sqrt(N): |g| / sqrt(N) changes by at most
    2 (1 + 1/N) delta. Ten departures leave room for features that are not quite aligned.
    """
    return 1 + 10 * max(float(flow["departure"].max()) for flow in flows)


@claim(
    "Theorem B.3, second part",
    scope="balanced starts with uniform predictions, random and aligned; up to 1000 classes, d = 2; orthonormal "
    "inputs, and N examples that repeat one context",
    quantifier="all draws",
)
def theorem_b_3_bound(starts: Table, early: Table, repeated: Table, confident: Table) -> Claim:
    r"""From a balanced start with uniform predictions, the relative growth rate of a singular value is bounded by $\eta
    N$, with $N$ the size of the largest class.

    The relative growth rate is $|\dot\sigma_i| / \sigma_i$, with the singular values $\sigma_i$ of the features and the
    learning rate $\eta$. The largest rate measured is {value:.3g} of the bound, where the $N$ examples repeat one
    context. Where inputs are orthonormal the largest is {largest_orthonormal:.2g} of the bound, and
    {largest_orthonormal_over_root:.3g} of $\eta \sqrt{N}$. Uniform predictions are needed: of starts with confident,
    mostly wrong predictions {share_over_bound:.0%} have a singular value that changes faster, the fastest
    {fastest_confident:.2g} times as fast as the bound allows.
    """
    flows = [early, repeated]
    # A rival is another bound: rates are divided by it instead of N, and compared with one as those of the claim are.
    # Draws of this check are singular values of the random starts and recorded times of the flows.
    yield every_draw(
        r"$|\dot\sigma_i| / (\eta\, \sigma_i N)$ at uniform predictions",
        _relative_rates(starts, flows, 1.0),  # eq. 22
        at_most=_bound_on_relative_rates(flows),
        because="the bound, and ten times the predictions' departure from 1/V",
        rivals={
            "the root of N as the bound, where a context is repeated as well": {
                "values": _relative_rates(starts, flows, 0.5)
            },
            "a bound that does not grow with N": {"values": _relative_rates(starts, flows, 0.0)},
        },
    )
    # at confident, mostly wrong predictions; a draw has two singular values
    over_bound = confident["rate"].abs() / (confident["sigma"] * confident["largest"])
    largest_of_draw = over_bound.groupby([confident[name] for name in draw_columns(confident)]).max()
    yield Facts(
        largest_orthonormal=np.nanmax(_relative_rates(starts, [early], 1.0)),
        largest_orthonormal_over_root=np.nanmax(_relative_rates(starts, [early], 0.5)),
        share_over_bound=(largest_of_draw > 1).mean(),
        fastest_confident=over_bound.max(),
    )


@claim(
    "Eq. 21",
    scope="balanced starts with uniform predictions, random and aligned; up to 1000 classes, d = 2; orthonormal "
    "inputs, and N examples that repeat one context",
    quantifier="all draws",
)
def equation_21(starts: Table, early: Table, repeated: Table, *, dropped_error: Fraction) -> Claim:
    r"""At uniform predictions and with many classes the terms of order $1/V$ in $g_i$ can be dropped, and what is left
    is bounded by the size $N$ of the largest class.

    $g_i = u_{1i}^T A v_{2i}$, with singular vectors of the features and of the classifier, is the factor of $\sigma_i$
    in its rate; $A$ is the predictions minus the one-hot labels. The last line of eq. 21 leaves the class index of the
    inner sum free; it is read as $-\sum_k v_{2ik} \sum_{c_j = k} u_{1ij}$ (errata 2), with the class $c_j$ of example
    $j$. Its $O(N)$ is read as the bound $N$, because the theorem that it proves says "bounded". What is left is at most
    {value:.3g} of $N$, where the $N$ examples repeat one context and share its row of $f$, and at most
    {orthonormal_over_bound:.2g} of $N$ with orthonormal inputs. For aligned features it is of order
    {order_of_repeated_context:.3f} in $N$ with a repeated context and {order_of_orthonormal_inputs:.3f} with
    orthonormal inputs; whether it is proportional to $N$ is another claim, `theorem_b_3_dominant_class`. At random
    starts dropping the terms causes a relative error of {error_at_fewest_classes:.2g} at {fewest_classes:g} classes and
    of {error_at_most_classes:.2g} at {most_classes:g} classes, in root mean square. The terms count as dropped if the
    error at the most classes is {dropped_error:g} or less. The error falls as $V$ to the power {order_of_error:.2f};
    for independent directions it is the root of $1 / (V - 1)$.
    """
    flows = [early, repeated]
    # The three rivals of this check are other bounds: |g_i| is divided by them instead of N, and so twice |g_i| / N is
    # compared for half of N. They leave the other two checks as they are. Draws are singular values of the random
    # starts, and early flows at their last recorded time.
    yield every_draw(
        r"$|g_i| / N$ without terms in $1/V$, at uniform predictions",
        _gains_left(starts, flows, 1.0),
        at_most=_bound_on_relative_rates(flows),
        because="the bound, and ten times the predictions' departure from 1/V",
        rivals={
            "half of N as the bound, where a context is repeated as well": {
                "values": 2 * _gains_left(starts, flows, 1.0)
            },
            "the root of N as the bound, where a context is repeated as well": {
                "values": _gains_left(starts, flows, 0.5)
            },
            "a bound that does not grow with N": {"values": _gains_left(starts, flows, 0.0)},
        },
    )
    # Root mean square errors of the sums in the last line of eq. 21, relative to g_i, by the number of classes: of the
    # inner sum within the outer, and, as the rival, of their product, -(sum_j u_1ij) (sum_k v_2ik).
    sums_apart = "the two sums of the last line taken apart"
    errors = _errors_by_classes(starts, "gain_many_classes")
    errors_apart = _errors_by_classes(starts, "gain_separate")
    fewest, most = min(errors), max(errors)
    yield at_most(
        r"error of $g_i$ without terms in $1/V$ at the most classes, relative to $g_i$ (root mean square)",
        errors[most],
        dropped_error,
        because="what counts as dropped",
        rivals={sums_apart: {"estimate": errors_apart[most]}},
    )
    yield at_most(
        r"order in $V$ of the error of $g_i$ without terms in $1/V$",
        _order_in_classes(errors),
        0.0,
        because="what is dropped where classes are many is smaller the more there are",
        rivals={sums_apart: {"estimate": _order_in_classes(errors_apart)}},
    )
    yield Facts(
        orthonormal_over_bound=np.nanmax(_gains_left(starts, [early], 1.0)),
        error_at_fewest_classes=errors[fewest].value,
        fewest_classes=fewest,
        error_at_most_classes=errors[most].value,
        most_classes=most,
        dropped_error=dropped_error,
        order_of_error=_order_in_classes(errors).value,
        order_of_repeated_context=_orders_in_size(repeated).mean(),
        order_of_orthonormal_inputs=_orders_in_size(early).mean(),
    )


def _gains_left(starts: Table, flows: Sequence[Table], order: float) -> np.ndarray:
    """Return |g_i| without terms in 1/V over N^order, at random starts and of features that early flows have aligned.

    Aligned features grow at the relative rate |g_1|, eqs. 17 and 18, and the terms in 1/V are zero: v_1 sums to zero.
    """
    random = starts["gain_many_classes"].abs() / starts["largest"] ** order
    ends = [flow[flow["time"] == flow["time"].max()] for flow in flows]
    aligned = [end["growth"].abs() / end["largest"] ** order for end in ends]
    return np.concatenate([random, *aligned])


def _errors_by_classes(starts: Table, approximation: str) -> dict[float, Estimate]:
    """Return the root mean square error of an approximation of g_i, over that of g_i, by the number of classes.

    `approximation` is a column of the table of random starts.
    """
    squares = starts.assign(error=(starts[approximation] - starts["gain"]) ** 2, square=starts["gain"] ** 2)
    # the sums over the singular values of each draw
    by_draw = squares.groupby(["classes", "largest", "scale", "seed"])[["error", "square"]].sum()
    return {
        float(classes): _root_of_ratio(sums["error"].to_numpy(), sums["square"].to_numpy())
        for classes, sums in by_draw.groupby("classes")
    }


def _order_in_classes(errors: Mapping[float, Estimate]) -> Estimate:
    """Return the slope of the logarithm of errors on that of the number of classes."""
    return slope(np.log(list(errors)), np.log([error.value for error in errors.values()]))


def _root_of_ratio(numerator: np.ndarray, denominator: np.ndarray) -> Estimate:
    """Return the root of the ratio of two means over draws.

    The interval of the ratio r is Student's t of the residuals (numerator - r denominator) / mean denominator, the
    linearised error of r. The root's interval has the roots of its ends.
    """
    ratio = numerator.mean() / denominator.mean()
    half_width = mean((numerator - ratio * denominator) / denominator.mean()).uncertainty
    lower, upper = np.sqrt(max(ratio - half_width, 0.0)), np.sqrt(ratio + half_width)
    return Estimate(
        value=float(np.sqrt(ratio)),
        lower=float(lower),
        upper=float(upper),
        draws=len(numerator),
        how="root mean square (t)",
    )
