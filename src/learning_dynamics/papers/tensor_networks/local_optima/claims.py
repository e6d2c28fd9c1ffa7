"""The local optimum to which networks tend from starts of each scale: an observation on what the paper leaves open.

- A diagonal network of L layers classifies points x_i with labels y_i; beta are its coefficients. The problem is that
  of the l_(2/L) max margin: the least sum_j |beta_j|^(2/L) with all margins y_i x_i^T beta at least one. From three
  layers on it has several local optima. Those of a data set are numbered in the order of this sum, from 1, the global
  one.
- A start is a draw of the layers, Gaussian but for the last, which is zero, times a scale alpha. All scales have the
  same draws of layers.
- A coordinate beta_j escapes from zero where |theta_j| comes to its blow-up time c_j; theta and c are those of the
  claim (`theory`). The greedy choice is the optimum of most entries among the coordinates that escape.

A draw of these checks is a data set: shares are taken over its starts, and the checks are on means over data sets.
"""

import numpy as np

from learning_dynamics.evidence import Estimate, mean
from learning_dynamics.judging import NOT_CLAIMED, Check, Claim, Facts, at_least, claim, equal, takes_rivals
from learning_dynamics.papers.tensor_networks.local_optima import quantities
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, by_draw, select

# Settings of the claim, whose values are in workflow/config/tensor_networks.yaml:
# - middle: initialisation scale of order one, which is compared with the run's smallest and largest; chosen
# - greedy_share: least share of the starts of the smallest scale that come to the greedy choice; chosen

# the `because` of the checks on differences between shares at two scales
PAIRED = "mean over data sets, with the same starts at both scales; starts at no optimum count against the difference"
# phrases of rivals, each of which alters several of the checks on differences
NO_SCALE = "no dependence on scale"
NO_DEPTH = "no dependence on depth"
LARGER_WORSE = "the larger the start, the worse"
LARGER_BETTER = "the larger the start, the better"


@claim(
    "after Corollary 2",
    scope="diagonal networks of three to five layers; two random separable points in four dimensions, margin 0.5; "
    "Gaussian layers, the last one zero; seven scales; order one is relative to the size of the points",
    origin="ours",
    quantifier="an average",
)
def global_optimum_share(starts: Table, *, middle: Positive, greedy_share: Fraction) -> Claim:
    r"""Corollary 2 leaves open to which stationary point of the $\ell_{2/L}$ max-margin problem a diagonal network
    tends. With three layers it tends to the global optimum less often from small starts than from starts of order one.
    With five layers this difference is smaller. From large starts, too, it tends there less often than from starts of
    order one: by a few per cent of the starts, over all depths.

    The problem is the least $\sum_j |\beta_j|^{2/L}$ with all margins at least one. With three layers
    {share_smallest_shallow:.1%} of the starts come to the global optimum from a scale of {smallest_scale:g},
    {share_middle_shallow:.1%} from {middle_scale:g} and {share_largest_shallow:.1%} from {largest_scale:g}; with five
    {share_smallest_deep:.1%}, {share_middle_deep:.1%} and {share_largest_deep:.1%}. Starts are the same at all scales.
    Each of the {draws} data sets is a draw; it has {mean_optima:.1f} local optima on average, which are enumerated.

    Small starts choose greedily. With $\theta = \sum_i \nu_i y_i x_i$ and $\dot\nu_i = e^{-y_i f(x_i)}$, coordinate $j$
    escapes from zero when $|\theta_j|$ reaches a threshold $c_j$ of order $\alpha^{2 - L}$, which the start sets. What
    has escaped settles in times that are short against the waits. So the coordinate of the largest $|\sum_i y_i x_{ij}|
    / c_j$ escapes first, and others follow only while what has escaped cannot classify all points. Consider the optima
    whose nonzero entries are all among these coordinates, with their signs. The greedy choice is the one of them that
    has most nonzero entries. From a scale of {smallest_scale:g} all but {share_not_greedy:.1%} of the starts come to
    it, where at least {greedy_share:.0%} are asked for at each depth; {share_within_escaped:.1%} come to an optimum
    with nonzero entries among these coordinates alone. From {middle_scale:g} the greedy choice is right for
    {greedy_from_middle:.0%} of the starts, from {largest_scale:g} for {greedy_from_largest:.0%}. From {largest_scale:g}
    another prediction, the least $\ell_1$ norm with weights $c_j$, is right for {weighted_from_largest:.0%} of the
    starts, and for {weighted_where_optimum:.0%} of those for which it is a local optimum. The greedy choice alone,
    without any flow, is the global optimum for {greedy_is_global:.1%} of the starts; why starts of order one do better
    is not explained.

    With two points in three dimensions, and with three in three or six, small starts of three layers do worse as well,
    as a test measures. With a single point nothing depends on the scale: it stretches all waits of coordinates alike.
    """
    small, large = min(starts["scale"]), max(starts["scale"])
    depths = np.unique(starts["depth"])
    shallow, deep = depths[0], depths[-1]
    # Gains in the share of starts at the global optimum, shape (data sets,). Starts at no optimum count against each
    # difference that is tested (`_least_gain`): gains that are added are the least possible, those that are subtracted
    # the largest.
    least_shallow_gain = _least_gain(starts, shallow, middle, over=small)
    largest_deep_gain = _largest_gain(starts, deep, middle, over=small)
    gains_over_large = [_least_gain(starts, depth, middle, over=large) for depth in depths]

    # A rival is another sign of the mean, 0 for none; one check that refuses it is enough. A check that does not name a
    # rival claims under it what it always does. LARGER_BETTER agrees with the first check, and the third refuses it;
    # LARGER_WORSE agrees with the third, and the first refuses it.
    share = "share of starts at the global optimum"
    differ = f"{share}, $\\alpha = {middle:g}$ less $\\alpha = {small:g}$"
    yield _mean_has_sign(
        f"{shallow} layers: {differ}",
        least_shallow_gain,
        sign=1,
        rivals={NO_SCALE: 0, LARGER_WORSE: -1},
    )
    yield _mean_has_sign(
        f"{shallow} less {deep} layers: {differ}",
        least_shallow_gain - largest_deep_gain,
        sign=1,
        # LARGER_WORSE and LARGER_BETTER do not say which depth gains more
        rivals={NO_SCALE: 0, NO_DEPTH: 0, LARGER_WORSE: NOT_CLAIMED, LARGER_BETTER: NOT_CLAIMED},
    )
    yield _mean_has_sign(
        f"all depths: {share}, $\\alpha = {middle:g}$ less $\\alpha = {large:g}$",
        np.mean(gains_over_large, axis=0),
        sign=1,
        rivals={NO_SCALE: 0, LARGER_BETTER: -1},
    )
    for depth in depths:
        yield _starts_choose_greedily(starts, depth, small, greedy_share)

    by_weighted_l1_from_large = _share_as_predicted(starts, quantities.OPTIMUM_BY_WEIGHTED_L1, large)
    # predictions are the same at all scales; that of the least weighted l1 norm is nan where it is at no local optimum
    weighted_optima = select(starts, quantities.OPTIMUM_BY_WEIGHTED_L1, scale=large)["predicted"]
    greedy_optima = select(starts, quantities.OPTIMUM, scale=large)["predicted"]
    # the fields that no check fills; {draws} is the headline's
    yield Facts(
        greedy_share=greedy_share,
        smallest_scale=small,
        middle_scale=middle,
        largest_scale=large,
        share_smallest_shallow=_global_share(starts, shallow, small),
        share_middle_shallow=_global_share(starts, shallow, middle),
        share_largest_shallow=_global_share(starts, shallow, large),
        share_smallest_deep=_global_share(starts, deep, small),
        share_middle_deep=_global_share(starts, deep, middle),
        share_largest_deep=_global_share(starts, deep, large),
        mean_optima=float(select(starts, quantities.NUMBER_OF_OPTIMA)["value"].mean()),
        share_not_greedy=1 - _share_as_predicted(starts, quantities.OPTIMUM, small),
        # 1 where it is so, 0 where not; nan, of a start at no optimum, counts as not
        share_within_escaped=float((select(starts, quantities.WITHIN_ESCAPED, scale=small)["value"] == 1).mean()),
        greedy_from_middle=_share_as_predicted(starts, quantities.OPTIMUM, middle),
        greedy_from_largest=_share_as_predicted(starts, quantities.OPTIMUM, large),
        weighted_from_largest=by_weighted_l1_from_large,
        weighted_where_optimum=by_weighted_l1_from_large / weighted_optima.notna().mean(),
        greedy_is_global=float(np.mean(greedy_optima == quantities.GLOBAL)),
    )


@takes_rivals("sign")
def _mean_has_sign(name: str, differences: np.ndarray, *, sign: int) -> Check:
    """Check that the mean of differences, shape (data sets,), has a sign, 1 or -1, or is zero for a sign of 0.

    The mean counts as zero if its interval covers zero. A rival replaces the sign alone, by `@takes_rivals`: in its
    differences, too, starts at no optimum count against a positive sign.
    """
    if sign == 0:
        return equal(name, mean(differences), 0.0, because=PAIRED)
    return at_least(f"minus: {name}" if sign < 0 else name, mean(sign * differences), 0.0, because=PAIRED)


def _starts_choose_greedily(starts: Table, depth: int, scale: float, least_share: float) -> Check:
    """Check that starts of a scale come to the greedy choice of coordinates, rather than to another optimum.

    The thresholds c_j are those of `local_optima.theory.blow_up_times`.
    """
    # the number of each start's optimum, shape (data sets, starts): reached, and by what predicts it
    reached = _reached_optima(starts, depth, scale)
    greedy = _predicted_optima(starts, quantities.OPTIMUM, depth, scale)
    by_gradients = _predicted_optima(starts, quantities.OPTIMUM_BY_GRADIENTS, depth, scale)  # with all c_j equal
    by_weighted_l1 = _predicted_optima(starts, quantities.OPTIMUM_BY_WEIGHTED_L1, depth, scale)  # with weights c_j
    return at_least(
        f"{depth} layers, $\\alpha = {scale:g}$: share of starts at the optimum that is predicted, the greedy choice",
        _mean_share(reached == greedy),
        least_share,
        because="chosen: of several optima on the escaped coordinates, that of most entries is a guess, and "
        "nearly tied escapes may go either way",
        # a rival is another prediction: another share, which has to be above the same bound
        rivals={
            "small starts choose by gradients alone, not by their own sizes": {
                "estimate": _mean_share(reached == by_gradients)
            },
            r"small starts choose the least weighted $\ell_1$ norm": {
                "estimate": _mean_share(reached == by_weighted_l1)
            },
            "small starts choose the global optimum": {"estimate": _mean_share(reached == quantities.GLOBAL)},
        },
    )


def _mean_share(is_as_predicted: np.ndarray) -> Estimate:
    """Return the share of starts that end as predicted, the mean over data sets, from a mask (data sets, starts)."""
    return mean(is_as_predicted.mean(axis=1))


def _global_share(starts: Table, depth: int, scale: float) -> float:
    """Return the share of starts at the global optimum."""
    return float(np.mean(_reached_optima(starts, depth, scale) == quantities.GLOBAL))


def _share_as_predicted(starts: Table, prediction: Quantity, scale: float) -> float:
    """Return the share of the starts of all depths that are at the optimum that is predicted."""
    is_as_predicted = [
        _reached_optima(starts, depth, scale) == _predicted_optima(starts, prediction, depth, scale)
        for depth in np.unique(starts["depth"])
    ]
    return float(np.mean(is_as_predicted))


def _reached_optima(starts: Table, depth: int, scale: float) -> np.ndarray:
    """Return the number of the optimum that each start has come to, nan at none, shape (data sets, starts).

    It is the value of `OPTIMUM`; the prediction of `OPTIMUM` is the greedy choice.
    """
    return by_draw(starts, quantities.OPTIMUM, depth=depth, scale=scale)


def _predicted_optima(starts: Table, prediction: Quantity, depth: int, scale: float) -> np.ndarray:
    """Return the number of the optimum predicted for each start, nan for none, shape (data sets, starts)."""
    return by_draw(starts, prediction, column="predicted", depth=depth, scale=scale)


def _least_gain(starts: Table, depth: int, scale: float, *, over: float) -> np.ndarray:
    """Return how much larger the share of starts at the global optimum is from `scale` than from `over`.

    A flow at no optimum may still come to any. It counts so that the gain is the least possible: from `scale` as not at
    the global optimum, from `over` as at it. Shape (data sets,).
    """
    reached = _reached_optima(starts, depth, scale)
    reached_from_over = _reached_optima(starts, depth, over)
    may_be_global = (reached_from_over == quantities.GLOBAL) | np.isnan(reached_from_over)
    return np.mean(reached == quantities.GLOBAL, axis=1) - np.mean(may_be_global, axis=1)


def _largest_gain(starts: Table, depth: int, scale: float, *, over: float) -> np.ndarray:
    """Return the gain of `_least_gain` with flows at no optimum counted so that it is the largest possible."""
    return -_least_gain(starts, depth, over, over=scale)
