"""Theorem B.3 and eq. 21: how fast singular values grow, across directions and with the size of the largest class."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from learning_dynamics.evidence import Estimate, mean, slope
from learning_dynamics.judging import Check, Checks, Finding, at_most, claim, equal, equal_on_every_draw, every_draw
from learning_dynamics.papers.softmax_dynamics.flow_errors import (
    at_each_time,
    difference_error,
    flow_error,
    rate_errors,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, draw_columns, select


@claim(
    "Theorem B.3, first part",
    scope="balanced starts, cross-entropy; V = 4, d = 2 and 3; random starts of one scale for the slope",
    quantifier="all draws",
)
def theorem_b_3_proportional(flows: Sequence[Table], starts: Table, *, simple: Positive) -> Finding:
    r"""From a balanced start of factors of full rank the rate of a simple singular value is proportional to it, with a
    factor of its own: $|\dot\sigma_{1i}| = \eta |g_i| \sigma_{2i}$ with $g_i = u_{1i}^T A v_{2i}$, and likewise for
    $\sigma_{2i}$.

    Along the flow derivatives by differences are held against $-g_i \sigma_i$, where the spectrum is simple. Among
    random starts of one scale, where singular values differ by chance, the slope of the log rate on the log value is
    {slope:.2f} (across scales it is one for any bilinear model). The factor $g_i$ is neither constant nor common
    (errata 5): its logarithm has standard deviation {spread:.2g} around the fit, and {shrinking:.0%} of the singular
    values shrink at first.
    """
    x, y = np.log(starts["sigma"].to_numpy()), np.log(starts["rate"].abs().to_numpy())
    fit = slope(x, y)
    residuals = y - y.mean() - fit.value * (x - x.mean())

    def judge(exponent: float) -> Checks:
        for factor, name in (("f", "f"), ("w", "W")):
            yield every_draw(
                rf"largest error of $\dot\sigma_i({name})$ along the flow, relative to $|\dot {name}|$",
                np.concatenate([_errors(table, factor, exponent, simple) for table in flows]),
                at_most=difference_error(simple) + flow_error(flows) / simple,
                because="rounding of the differences, and 10 rtol over the gap",
                excluded={
                    "times at which the spectrum is not simple": sum(
                        int((at_each_time(table, "gap") <= simple).sum()) for table in flows
                    )
                },
            )
        yield equal(
            r"slope of $\log|\dot\sigma_i|$ on $\log\sigma_i$ among random starts of one scale",
            fit,
            exponent,
            tolerance=0.05,
            resolution=0.5,
            because="interval of the slope, and a twentieth besides: a tenth of the distance to the nearest rival",
        )

    rivals = {
        "rates that do not depend on the singular value": 0.0,
        "rates like its square": 2.0,
        "rates like its square root": 0.5,
    }
    facts = {"slope": fit.value, "spread": residuals.std(), "shrinking": (starts["rate"] < 0).mean()}
    return Finding(judge, 1.0, rivals, facts=facts)


def _errors(table: Table, factor: str, exponent: float, simple: float) -> np.ndarray:
    """Return each member's largest error of -g sigma^exponent as its rate, where the spectrum is simple."""
    quantity = f"rate_{factor}"
    chosen = table["quantity"] == quantity
    size = select(table, "sigma")["value"].to_numpy() ** (exponent - 1)
    powered = table.copy()
    powered.loc[chosen, "predicted"] = powered.loc[chosen, "predicted"] * size
    return rate_errors(powered, quantity, f"speed_{factor}", at_each_time(table, "gap") > simple)


@claim(
    "Theorem B.3, second part",
    scope="balanced starts, uniform predictions, one class of N examples among up to 1000 classes of one, d = 2; "
    "orthonormal inputs, and N examples that repeat one context",
    correction=(
        r"They are, for aligned features, where the $N$ examples repeat one context and share its row of $f$. "
        r"Where inputs are orthonormal, as the appendix has them, rates stay below $\eta \sigma \sqrt{N}$, which "
        r"aligned features approach when classes are many; at random starts their typical size does not grow with $N$."
    ),
    quantifier="all draws",
)
def theorem_b_3_dominant_class(starts: Table, early: Table, repeated: Table, *, many: Positive) -> Finding:
    r"""From a balanced start with uniform predictions, and with many classes, rates are proportional to the size $N$ of
    the largest.

    It does not hold as printed (errata 1). The theorem says both "proportional" and "bounded"; this is the first, the
    bound is a claim of its own. At uniform predictions $A$ is the negative one-hot matrix with the class mean projected
    out, whose spectral norm is $\sqrt{N}$ up to terms in $1/V$, never more. The sum over the $N$ examples of the class
    in eq. 21 runs over entries of a unit vector, and such a sum is at most $\sqrt{N}$. Features that start tiny align
    with that top direction and then grow at that rate: the slope on $\log N$ is {aligned:.3f} in the mean. Random
    starts do not know the class yet: $u$ and $v$ are independent of $A$, and $g$ is of order $1/\sqrt{V}$ whatever $N$
    is (slope {start:.2f}). If the $N$ examples are one context, their row's gradient is their sum, and the slope is
    {repeats:.3f}.
    """
    end = early[early["time"] == early["time"].max()]
    random = starts[starts["classes"] >= many]
    at_start = slope(np.log(random["largest"]), np.log(random["rate"].abs() / random["sigma"]))
    ratio = (end["growth"] / end["fastest"]).groupby([end["classes"], end["largest"]]).median().to_numpy()

    def judge(orders: tuple[float, float, float]) -> Checks:
        name = r"slope of $\log(\dot\sigma_1 / \sigma_1)$ on $\log N$, features aligned"
        yield _has_order(name, early, orders[0], _alignment_left(early))
        yield _has_order(f"{name}, one repeated context", repeated, orders[2])
        yield equal(
            r"slope of $\log(|\dot\sigma_i| / \sigma_i)$ on $\log N$ at random starts",
            at_start,
            orders[1],
            tolerance=0.05,
            resolution=0.25,
            because="interval of the slope; N changes the shape of the rates' distribution, though not its square",
        )
        yield every_draw(
            r"aligned growth over $\|A\|$, difference of the cells' medians from one",
            np.abs(ratio - 1),
            at_most=2 * _growth_deficits(early).groupby(["classes", "largest"])["deficit"].median().max()
            + float(end["departure"].max()),
            because="twice what the gap of $A$ leaves of the other directions that there are at half the time, and "
            "the predictions' departure from 1/V",
        )
        yield every_draw(
            rf"$|\dot\sigma_i| / \sigma_i$ over $N$ to the power {orders[0]:g}, random and aligned",
            _relative_rates(starts, early, orders[0]),
            at_most=_slack(early),
            because="the bound, and ten times the predictions' departure from 1/V",
        )

    rivals = {
        r"the root of N at random starts as well": (0.5, 0.5, 1.0),
        "N for aligned features, nothing at random starts": (1.0, 0.0, 1.0),
        "the root of N where a context is repeated as well": (0.5, 0.0, 0.5),
        "no dependence on N": (0.0, 0.0, 0.0),
    }
    facts = {
        "start": at_start.value,
        "aligned": _orders(early).mean(),
        "repeats": _orders(repeated).mean(),
    }
    return Finding(judge, (1.0, 1.0, 1.0), rivals, (0.5, 0.0, 1.0), facts=facts)


def _orders(early: Table) -> np.ndarray:
    """Return each seed's order in N of the growth rate at the last time, with the most classes."""
    end = early[(early["time"] == early["time"].max()) & (early["classes"] == early["classes"].max())]
    rates = np.log(end.pivot_table(index="seed", columns="largest", values="growth", dropna=False))
    return np.polyfit(np.log(rates.columns.to_numpy(dtype=float)), rates.to_numpy().T, 1)[0]


def _has_order(name: str, early: Table, order: float, alignment: ArrayLike = 0.0) -> Check:
    """Check the order in N of what aligned features do, given what incomplete alignment adds to the slope."""
    return equal_on_every_draw(
        f"{name}, error",
        _orders(early),
        order,
        tolerance=0.02 + alignment,  # type: ignore[operator]
        relative_to=1.0,
        resolution=0.25,
        because="terms in 1/V, and what alignment leaves",
    )


def _alignment_left(early: Table) -> np.ndarray:
    """Return by how much each seed's order in N may be off: twice its deficits of growth, through the fit."""
    deficits = _growth_deficits(early)
    most = deficits[deficits["classes"] == deficits["classes"].max()]
    by_seed = most.pivot_table(index="seed", columns="largest", values="deficit", dropna=False)
    places = np.log(by_seed.columns.to_numpy(dtype=float))
    weights = np.abs(places - places.mean()) / np.sum((places - places.mean()) ** 2)
    left: np.ndarray = 2 * by_seed.to_numpy() @ weights
    return left


def _growth_deficits(early: Table) -> pd.DataFrame:
    """Return how far growth is below ||A|| at the end, relatively, as other directions decay from half the time on.

    These grow at rates of one or less.
    """
    times = early["time"].unique()
    half = early[early["time"] == times[np.argmin(np.abs(times - early["time"].max() / 2))]]
    gap, half_deficit = 1 - 1 / half["fastest"], 1 - half["growth"] / half["fastest"]
    time_left = (early["time"].max() - half["time"]) / np.sqrt(half["largest"])
    deficit = half_deficit / (1 - half_deficit / gap) * np.exp(-2 * (half["fastest"] - 1) * time_left)
    return half.assign(deficit=deficit)


def _relative_rates(starts: Table, early: Table, order: float) -> np.ndarray:
    """Return relative growth rates at random starts and of aligned features, over N to a power."""
    random = starts["rate"].abs() / (starts["sigma"] * starts["largest"] ** order)
    return np.concatenate([random, _early_rates(early, order)])


def _early_rates(early: Table, order: float) -> np.ndarray:
    """Return relative growth rates along early flows, over N to a power."""
    return (early["growth"].abs() / early["largest"] ** order).to_numpy()


def _slack(early: Table) -> float:
    """Return the bound on relative rates: one, plus ten times the departure of predictions from 1/V."""
    return 1 + 10 * float(early["departure"].max())


@claim(
    "Theorem B.3, second part, as a bound",
    scope="balanced starts with uniform predictions, random and aligned; up to 1000 classes, d = 2; orthonormal "
    "inputs, and N examples that repeat one context",
    quantifier="all draws",
)
def theorem_b_3_bound(starts: Table, early: Table, repeated: Table, confident: Table) -> Finding:
    r"""From a balanced start with uniform predictions, the relative growth rate of a singular value is bounded by
    $\eta N$, $N$ the size of the largest class.

    The largest rate measured is {value:.3g} of the bound, where the $N$ examples repeat one context. Where inputs are
    orthonormal it is {uniform:.2g} of it, and {sharp:.3g} of $\sqrt{N}$. The hypothesis is needed: of the starts whose
    predictions are confident, and mostly wrong, {broken:.0%} have a singular value that grows or shrinks faster, the
    fastest {worst:.2g} times as fast as the bound allows.
    """
    beyond = confident["rate"].abs() / (confident["sigma"] * confident["largest"])
    members = [confident[name] for name in draw_columns(confident)]

    def judge(order: float) -> Checks:
        rates = np.concatenate([_relative_rates(starts, early, order), _early_rates(repeated, order)])
        yield every_draw(
            r"$|\dot\sigma_i| / (\eta\, \sigma_i N)$ at uniform predictions",
            rates,
            at_most=max(_slack(early), _slack(repeated)),
            because="the bound, and ten times the predictions' departure from 1/V",
        )

    rivals = {"the root of N as the bound": 0.5, "a bound that does not grow with N": 0.0}
    facts = {name: np.nanmax(_relative_rates(starts, early, order)) for name, order in (("uniform", 1), ("sharp", 0.5))}
    facts |= {"broken": (beyond.groupby(members).max() > 1).mean(), "worst": beyond.max()}
    return Finding(judge, 1.0, rivals, facts=facts)


@claim(
    "Eq. 21",
    scope="random balanced starts with up to 1000 classes; aligned features for the last equality; d = 2",
    correction=(
        r"At random starts terms in $1/V$ can be dropped, at a relative error of order $1/\sqrt{V}$ in root mean "
        r"square. What is left is of order $N$ for aligned features where the $N$ examples repeat one context; where "
        r"inputs are orthonormal it is at most $\sqrt{N}$, and of that order for aligned features."
    ),
    quantifier="all draws",
)
def equation_21(starts: Table, early: Table, repeated: Table, *, dropped: Fraction) -> Finding:
    r"""At uniform predictions and with many classes the terms of order $1/V$ in $g_i$ can be dropped, and what is left
    is of the order of the size $N$ of the largest class.

    The last line leaves the class index of the inner sum free; it is read as $-\sum_k v_{2ik} \sum_{c_j = k} u_{1ij}$
    (errata 2). At random starts the relative error is {few:.2g} at {fewest} classes and {error:.2g} at {most}, of
    order {order:.2f} in $V$; the root of $1 / (V - 1)$ is the exact law of independent directions. The last equality
    takes a sum over $N$ entries of a unit vector for $N$. It is $N$ times an entry if all of them are one row of $f$,
    that of a context which is repeated (order {repeats:.3f}).
    """

    def relative_errors(column: str) -> tuple[np.ndarray, list[Estimate]]:
        squares = starts.assign(error=(starts[column] - starts["gain"]) ** 2, square=starts["gain"] ** 2)
        draws = squares.groupby(["classes", "largest", "scale", "seed"])[["error", "square"]].sum()
        cells = {classes: _root_of_ratio(*rows.to_numpy().T) for classes, rows in draws.groupby("classes")}
        return np.array(list(cells), dtype=float), list(cells.values())

    def judge(reading: tuple[str, float, float, float]) -> Checks:
        column, order, vanishing, repeats = reading
        classes, errors = relative_errors(column)
        falling = slope(np.log(classes), np.log([error.value for error in errors]))
        name = r"order of $g_1$ in $N$ for aligned features"
        yield _has_order(name, early, order, _alignment_left(early))
        yield _has_order(f"{name} of one repeated context", repeated, repeats)
        yield at_most(
            r"error of $g_i$ without terms in $1/V$ at the most classes, relative to $g_i$ (root mean square)",
            errors[-1],
            dropped,
            because="what counts as dropped",
        )
        yield equal(
            "order of that error in V",
            falling,
            vanishing,
            tolerance=0.05,
            resolution=0.5,
            because="interval of the slope, and that the exact law is the root of 1 / (V - 1)",
        )

    classes, errors = relative_errors("gain_many_classes")
    facts = {
        "few": errors[0].value,
        "fewest": classes[0],
        "error": errors[-1].value,
        "most": classes[-1],
        "order": slope(np.log(classes), np.log([error.value for error in errors])).value,
        "repeats": _orders(repeated).mean(),
    }
    # dropped are (1 / V) (sum of u) (sum of v), of size 1 / V, beside a gain of size 1 / sqrt(V)
    rivals = {
        "the two sums of the last line taken apart": ("gain_separate", 0.5, -0.5, 1.0),
        "no dependence on N": ("gain_many_classes", 0.0, -0.5, 0.0),
        "the root of N where a context is repeated as well": ("gain_many_classes", 0.5, -0.5, 0.5),
        "dropped terms of relative order 1 / V": ("gain_many_classes", 0.5, -1.0, 1.0),
    }
    printed, corrected = (("gain_many_classes", order, -0.5, 1.0) for order in (1.0, 0.5))
    return Finding(judge, printed, rivals, corrected, facts=facts)


def _root_of_ratio(numerator: np.ndarray, denominator: np.ndarray) -> Estimate:
    """Return the root of the ratio of two means over draws, its interval by Student's t of the ratio's residuals."""
    ratio = numerator.mean() / denominator.mean()
    half = mean((numerator - ratio * denominator) / denominator.mean()).uncertainty
    lower, upper = np.sqrt(max(ratio - half, 0.0)), np.sqrt(ratio + half)
    return Estimate(float(np.sqrt(ratio)), float(lower), float(upper), len(numerator), "root mean square (t)")
