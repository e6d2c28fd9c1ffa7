"""Which local optimum starts of different scales choose: an observation on what the paper leaves open."""

from typing import NamedTuple

import numpy as np

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Check, Checks, Finding, at_least, claim, equal
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, by_draw, select

PAIRED = "mean over data sets, with the same starts at both scales; starts at no optimum count against it"


class Predicted(NamedTuple):
    """Which optimum small starts choose, and the signs of three differences of shares (0: there is none)."""

    choice: str
    middle_over_small: int
    falls_with_depth: int
    middle_over_large: int


@claim(
    "after Corollary 2",
    scope="diagonal networks of three to five layers; two random separable points in four dimensions, margin 0.5; "
    "Gaussian layers, the last one zero; seven scales, of which order one has its meaning beside the points' size",
    origin="ours",
    quantifier="an average",
)
def global_optimum_share(starts: Table, *, middle: Positive, right: Fraction) -> Finding:
    r"""Which stationary point of the $\ell_{2/L}$ max-margin problem a diagonal network tends to, Corollary 2 leaves
    open. Three layers tend to the global optimum less often from small starts than from starts of order one; with five
    the two differ less; and from large starts it is, over all depths, a few per cent less often again.

    With three layers {small_shallow:.1%} of the starts come to the global optimum from a scale of {small:g},
    {middle_shallow:.1%} from {middle:g} and {large_shallow:.1%} from {large:g}; with five {small_deep:.1%},
    {middle_deep:.1%} and {large_deep:.1%}. Starts are the same at all scales, and the {draws} data sets, of
    {optima:.1f} local optima on average, are the draws; optima are enumerated.

    Small starts choose greedily. With $\theta = \sum_i \nu_i y_i x_i$ and $\dot\nu_i = e^{-y_i f(x_i)}$, coordinate
    $j$ escapes when $|\theta_j|$ comes to a time $c_j$ of order $\alpha^{2 - L}$, which the start sets; what has
    escaped settles at once. So the first is that of the largest $|\sum_i y_i x_{ij}| / c_j$, and others follow only
    while what has escaped cannot classify all points. From a scale of {small:g} all but {missed:.1%} of the starts come
    to the optimum that has most entries among these coordinates, and {escaped:.1%} to one with entries among them
    alone. From {middle:g} that prediction is right on {later:.0%}. From {large:g} it is on {latest:.0%}, and the least
    $\ell_1$ norm with weights $c_j$ on {weighted:.0%}: on {possible:.0%} of those where that is a local optimum. Greed
    alone, without any flow, gives the global optimum on {greedy:.1%}; why starts of order one do better is not
    explained.

    Elsewhere, with two or three points in three to six dimensions and with uniform layers, small starts do worse as
    well. At margins of three and more large starts are not worse than those of order one, and with a single point
    nothing depends on the scale. Where the last layer does not start at zero the greedy choice is right less often.
    """
    small, large = min(starts["scale"]), max(starts["scale"])
    depths = np.unique(starts["depth"])
    gains = {depth: _gain(starts, depth, middle, small) for depth in depths}
    falls = gains[depths[0]] - _gain(starts, depths[-1], middle, small, largest=True)
    over_large = np.mean([_gain(starts, depth, middle, large) for depth in depths], axis=0)

    def judge(predicted: Predicted) -> Checks:
        share = "share of starts at the global optimum"
        differ = f"{share}, $\\alpha = {middle:g}$ less $\\alpha = {small:g}$"
        yield _check_sign(f"{depths[0]} layers: {differ}", gains[depths[0]], predicted.middle_over_small)
        yield _check_sign(f"{depths[0]} less {depths[-1]} layers: {differ}", falls, predicted.falls_with_depth)
        yield _check_sign(
            f"all depths: {share}, $\\alpha = {middle:g}$ less $\\alpha = {large:g}$",
            over_large,
            predicted.middle_over_large,
        )
        for depth in depths:
            yield at_least(
                f"{depth} layers, $\\alpha = {small:g}$: share of starts at the optimum that is predicted",
                mean(_at_predicted_optimum(starts, depth, small, predicted.choice).mean(axis=1)),
                right,
                because="chosen: of several optima on the escaped coordinates, that of most entries is a rule, and "
                "nearly tied escapes may go either way",
            )

    def right_at(scale: float, choice: Quantity = "optimum") -> float:
        return float(np.mean([_at_predicted_optimum(starts, depth, scale, choice) for depth in depths]))

    shares = {
        f"{name}_{layers}": float(np.mean(_optimum_numbers(starts, depth, scale) == 1))
        for name, scale in (("small", small), ("middle", middle), ("large", large))
        for layers, depth in (("shallow", depths[0]), ("deep", depths[-1]))
    }
    weighted = select(starts, "optimum_l1", scale=large)["predicted"]
    return Finding(
        judge,
        Predicted("optimum", 1, 1, 1),
        rivals={
            "no dependence on scale": Predicted("optimum", 0, 0, 0),
            "no dependence on depth": Predicted("optimum", 1, 0, 1),
            "the larger the start, the worse": Predicted("optimum", -1, -1, 1),
            "the larger the start, the better": Predicted("optimum", 1, 1, -1),
            "small starts choose by gradients alone, not by their own sizes": Predicted("optimum_even", 1, 1, 1),
            r"small starts choose the least weighted $\ell_1$ norm": Predicted("optimum_l1", 1, 1, 1),
            "small starts choose the global optimum": Predicted("global", 1, 1, 1),
        },
        facts=shares
        | {
            "small": small,
            "middle": middle,
            "large": large,
            "optima": float(select(starts, "optima")["value"].mean()),
            "missed": 1 - right_at(small),
            "escaped": float(select(starts, "escaped", scale=small)["value"].mean()),
            "later": right_at(middle),
            "latest": right_at(large),
            "weighted": right_at(large, "optimum_l1"),
            "possible": right_at(large, "optimum_l1") / weighted.notna().mean(),
            "greedy": float(np.mean(select(starts, "optimum", scale=small)["predicted"] == 1)),
        },
    )


def _check_sign(name: str, differences: np.ndarray, sign: int) -> Check:
    """Check that the mean of differences has a sign, or is zero."""
    if sign == 0:
        return equal(name, mean(differences), 0.0, because=PAIRED)
    return at_least(f"minus: {name}" if sign < 0 else name, mean(sign * differences), 0.0, because=PAIRED)


def _optimum_numbers(
    starts: Table, depth: int, scale: float, quantity: Quantity = "optimum", column: str = "value"
) -> np.ndarray:
    """Return the numbers of the optima that are reached or predicted, shape (data sets, starts)."""
    return by_draw(starts, quantity, column=column, depth=depth, scale=scale)


def _gain(starts: Table, depth: int, scale: float, other_scale: float, *, largest: bool = False) -> np.ndarray:
    """Return by how much the share at the global optimum is larger at a scale than at another, by data set.

    Starts at no optimum count so that the difference is the least that it can be, or the most.
    """
    higher, lower = (
        _optimum_numbers(starts, depth, alpha)
        for alpha in ((scale, other_scale) if not largest else (other_scale, scale))
    )
    gain = np.mean(higher == 1, axis=1) - np.mean((lower == 1) | np.isnan(lower), axis=1)
    return -gain if largest else gain


def _at_predicted_optimum(starts: Table, depth: int, scale: float, choice: str) -> np.ndarray:
    """Return which starts are at the optimum that is predicted, shape (data sets, starts)."""
    predicted = 1.0 if choice == "global" else _optimum_numbers(starts, depth, scale, choice, "predicted")
    return _optimum_numbers(starts, depth, scale) == predicted
