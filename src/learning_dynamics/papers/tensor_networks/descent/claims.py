"""Two-layer networks under gradient descent and flow: Theorem 5 and the experiments of section 6.

- A network has the layers v_1 and v_2 and the coefficients beta, f(x) = x^T beta. Layers start at v_l = alpha bar-v_l:
  the initial scale alpha times their directions. In the experiments a direction is one of several initial coefficients
  bar-z_j, and all networks start at the coefficients alpha^2 bar-z_j.
- Where there is one point, it is x with the label y. M(x) = U_1 diag(s) U_2^T is the data tensor, a matrix;
  s_1, s_2, ... are its singular values, the largest first, and a layer's singular coordinates are U_l^T v_l.
- A network's own norm is l2 of beta for fully connected networks, l1 for diagonal ones, and l1 of the unitary Fourier
  transform for convolutional ones.

Unless a claim says otherwise a draw is, in the experiments, a network, a scale and a direction; in flows a network, a
scale and a data set. A draw whose flow could not be followed is nan, and the judge counts it as undecided.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from learning_dynamics.judging import (
    NOT_CLAIMED,
    Claim,
    Facts,
    Untested,
    claim,
    equal_on_every_draw,
    every_draw,
    premise,
)
from learning_dynamics.papers.tensor_networks.descent import quantities
from learning_dynamics.papers.tensor_networks.distances import angle_between_units, spread
from learning_dynamics.papers.tensor_networks.limit_checks import limits_equal
from learning_dynamics.settings import Positive, Real
from learning_dynamics.tidy import Draws, Quantity, Table, by_draw, select, settings_of

# Settings of these claims, whose values are in workflow/config/tensor_networks.yaml:
# - share, of `limit_points_small_scale`: distance, relative to their norm, up to which limit points agree; ten times
#   as far they differ; chosen
# - printed, of `min_norm_points`: the interpolators of least norm that section 6 prints, two entries for each network
# - points, of `min_norm_points`: the labelled points y_i x_i for which they are printed, one after the other; of other
#   data they say nothing
# - accuracy, of `predictions_after_5000_steps` and `architectures_evolve_differently`: largest distance from the
#   predicted limit, relative to the largest coefficient; a line's width, chosen
# - share, of `small_scale_forgets_direction`: largest spread of limits from the smallest scale, relative to that from
#   the largest; chosen
# - step_errors, of `architectures_evolve_differently`: least distance of paths that differ, in units of the steps'
#   error; chosen
# - degrees, of `finite_loss_remembers_initialisation`: least angle that directions from different starts span in each
#   network, and largest that they may span in the limit; chosen, as a figure shows it
# - factor, of `final_loss`: by how much a loss may exceed the printed 1e-5: the root of ten, up to which no larger
#   power of ten is nearer

# the reason for leaving a draw out: at the smallest scale coordinates along smaller singular values are still too large
# to tell equal limits from different ones
TOO_NEAR = "singular values too near for the smallest scale"


@claim(
    "Theorem 5",
    scope="flow: random matrices M, filters of length two, full-length filters, diagonal and decomposable networks, "
    "labels of both signs; descent: the point of figure 1, from several starts and scales",
    quantifier="all draws",
)
def theorem_5(tensors: Table, step_sizes: Table) -> Claim:
    r"""Let two layers be trained on one point of a regression, and the first start larger than the second in every
    singular coordinate of $M(x) = U_1 \operatorname{diag}(s) U_2^T$. Whatever the data tensor, they tend to $\alpha U_1
    (a \odot \cosh \nu s + b \odot \sinh \nu s)$ and $\alpha U_2 (a \odot \sinh \nu s + b \odot \cosh \nu s)$; their
    parts orthogonal to the columns of $U_1$ and $U_2$ do not move. Here $a = U_1^T \bar v_1$, $b = U_2^T \bar v_2$, and
    $g(\nu) = y / \alpha^2$ for a strictly increasing $g$ that $s$, $a$ and $b$ give.

    Layers start at $v_l = \alpha \bar v_l$, and $g(\nu) = \sum_j s_j (\frac{1}{2} (a_j^2 + b_j^2) \sinh 2 s_j \nu +
    a_j b_j \cosh 2 s_j \nu)$. The flow's limit agrees with the formula to {value:.1e} of the largest parameter on the
    worst of {draws} draws. Gradient descent ends at a distance from it that is proportional to the step: the line
    through the limits at its two smallest steps meets step size zero at the formula. Fully connected networks have
    equal singular values, so that singular vectors can be chosen: the condition need hold for one choice only.
    """
    wrong_power = r"$g(\nu) = y / \alpha$"  # a rival of two checks: it replaces (78), g(nu) = y / alpha^2
    # Predictions are (75), entries of v_1 and v_2. Networks have different numbers of parameters: each has a table of
    # its own here, as draws of one table have equally many entries.
    flows = Draws([tensors[tensors["network"] == network] for network in np.unique(tensors["network"])])
    yield limits_equal(
        "error of the flow's limit, relative to the largest parameter",
        flows,
        *flows.with_prediction(quantities.PARAMETER),
        rivals={  # other limits
            wrong_power: flows.entries(quantities.WRONG_POWER, column="predicted"),
            "the opposite label's limit": flows.entries(quantities.OPPOSITE_LABEL, column="predicted"),
        },
    )

    yield from _descent_meets_formula(step_sizes, wrong_power)
    yield premise(
        every_draw(
            r"descent: largest $\lambda$ for which the initial directions fulfil the theorem's condition",
            select(step_sizes, quantities.CONDITION, step_size=0.0)["value"],  # it is the same at every step size
            at_least=1e-6,
            because="positive, far above rounding; flows start within the condition by construction",
        )
    )


def _descent_meets_formula(step_sizes: Table, wrong_power: str) -> Claim:
    """Check that limits of gradient descent tend to Theorem 5's formula with the step size, and at first order.

    `wrong_power` is the phrase of the rival with the formula's equation (78) at another power of alpha.
    """
    # a draw of these checks is a network and a scale: its entries are the coefficients of the limits from all
    # directions
    descents = Draws(step_sizes, draw=["network", "scale"])
    sizes = sorted(step_sizes["step_size"].unique())
    zero, h, larger_h, *_ = sizes  # at zero the table has the line through the limits at h and h', which is `larger_h`
    residual = select(step_sizes, quantities.RESIDUAL)["value"].max()  # |f(x) - y|

    def largest_error(quantity: Quantity, step_size: float) -> np.ndarray:
        """Return the largest |beta - beta predicted| at a step size over entries and starts, shape (draws,)."""
        limits, predicted = descents.where(step_size=step_size).with_prediction(quantity)
        return np.abs(limits - predicted).max(axis=1)

    # Limits are a + b h + c h^2 in the step size h, and the formula is a. At zero the line through the limits at h and
    # h' is a - c h h'. The second divided difference of three limits is c, best resolved at the largest steps. The line
    # enlarges the residual by (h' + h) / (h' - h), 1.2 where h' is 10 h. The factors 2 and 10 are chosen.
    c = _second_divided_difference(descents, sizes[-3:])
    yield every_draw(
        "gradient descent, extrapolated to step size zero: distance from the formula",
        largest_error(quantities.LIMIT, zero),
        at_most=2 * c * h * larger_h + 10 * residual,
        because="twice what the limits' second difference by the step makes of it, and ten times the residual",
        # the distance from another formula, which has to meet the same bound
        rivals={wrong_power: {"values": largest_error(quantities.WRONG_POWER, zero)}},
    )

    # From the errors b h + c h^2 at h and h' the order log(error' / error) / log(h' / h) is, to first order in c,
    # 1 + c (h' - h) / (b log(h' / h)). As b h' is about error', the order differs from one by at most
    # c h'^2 / (error' log(h' / h)).
    error = largest_error(quantities.LIMIT, h)
    larger_error = largest_error(quantities.LIMIT, larger_h)
    order = np.log(larger_error / error) / np.log(larger_h / h)
    order_uncertainty = c * larger_h**2 / (larger_error * np.log(larger_h / h))
    is_resolved = error > 1e3 * residual  # the residual then changes the order by 1e-3 / log(h' / h) at most
    yield equal_on_every_draw(
        "order of gradient descent's largest error in its step, less one, by network and scale",
        order[is_resolved],
        np.ones(is_resolved.sum()),
        tolerance=2 * order_uncertainty[is_resolved],
        relative_to=1.0,  # errors of orders are not divided by anything
        because="twice what the limits' second difference by the step makes of it",
        excluded={"the error at the smallest step is within the residual": int((~is_resolved).sum())},
        scaled=False,  # the smallest error that would be refused is sought of the headline alone
    )


def _second_divided_difference(descents: Draws, step_sizes: Sequence[float]) -> np.ndarray:
    """Return |c| of the limits a + b h + c h^2 through three step sizes h, the largest entry's, shape (draws,)."""
    h0, h1, h2 = step_sizes
    # beta of all starts, shape (draws, entries)
    limit0, limit1, limit2 = (descents.where(step_size=h).entries(quantities.LIMIT) for h in step_sizes)
    slope = (limit1 - limit0) / (h1 - h0)
    next_slope = (limit2 - limit1) / (h2 - h1)
    return np.abs((next_slope - slope) / (h2 - h0)).max(axis=1)


@claim(
    "section 5.2",
    scope="single random points, several directions each; fully connected, diagonal and full-length convolutional "
    "networks, filters of length two, random matrices M; a scale of 1e-140",
    correction=r"Under the conditions of Theorem 5, where the largest singular value of $M(x)$ is simple, limit points "
    "become independent of the initial directions up to a joint sign of both layers. Where it is not simple, layers "
    "depend on them; coefficients still become independent in fully connected networks, and in full-length "
    "convolutional ones with one conjugate pair of frequencies on top.",
    quantifier="all draws",
    reason="where the largest singular values tie, the start decides",
)
def limit_points_small_scale(limits: Table, *, share: Positive) -> Claim:
    r"""As $\alpha \to 0$ the limit points $[v_1, v_2]$ of two layers trained on one point of a regression, from starts
    within the conditions of Theorem 5, become independent of the initial directions.

    Layers start at $v_l = \alpha \bar v_l$, with the directions $\bar v_l$. The top singular vectors of $M(x)$ come to
    dominate, as the paper says, by a power of $\alpha$ (errata 6). But a fully connected network has equal singular
    values only, and a full-length convolutional one often has a conjugate pair on top: the start decides which
    combination of these vectors is the limit. Limits of such networks from {directions} directions are up to
    {largest_layer_distance:.2g} of their norm apart, their coefficients up to {largest_coefficient_distance:.1e}. Of a
    diagonal network whose largest entries tie, which is not among these draws, coefficients would differ as well.

    Distances are relative to the largest norm of the limits. Limits that are up to {share:.0%} apart count as equal,
    and those that are at least ten times as far apart as different. Both bounds are raised by what the smallest scale
    leaves of the coordinates along smaller singular values. $[v_1, v_2]$ and $[-v_1, -v_2]$ have the same coefficients:
    of these two, the one that is nearer to the other limit is compared.
    """
    smallest, largest = min(limits["scale"]), max(limits["scale"])
    by_point = Draws(limits, draw=["network", "seed"], scale=smallest)  # a draw is a network and a data point
    # of each draw, whether the largest singular value is simple: s_2 / s_1 below one by more than rounding
    is_simple = by_point.largest(quantities.SECOND_SINGULAR_VALUE) < 1 - 1e-9
    all_draws = np.full(len(is_simple), True)  # a mask, as `is_simple`
    # How far apart the smallest scale leaves limit points that agree as alpha -> 0, relative to their norm. Coordinates
    # along smaller singular values are not zero yet: each is at most r = REMAINDER of those along the largest. With m
    # singular values there are m - 1 of them at most: together sqrt(m - 1) r of a point, and 2 sqrt(m - 1) r of the
    # distance of two points, which is 4 r for m = 5, the largest m here.
    distance_left = 4 * by_point.largest(quantities.REMAINDER)

    def equal_limits(distances: np.ndarray, claimed: np.ndarray) -> Any:
        """Return the arguments of `every_draw` for the statement that limits are equal on the draws `claimed`, a mask.

        It is `NOT_CLAIMED`, so that nothing is said, if none of these draws can be judged. Draws of the mask that
        cannot be judged are left out, and counted.
        """
        judged = claimed & (share + distance_left <= 10 * share)  # else limits would pass that count as different
        if not judged.any():
            return NOT_CLAIMED
        return {
            "values": distances[judged],
            "at_most": share + distance_left[judged],
            "excluded": {TOO_NEAR: int(claimed.sum() - judged.sum())},
        }

    def different_limits(distances: np.ndarray, claimed: np.ndarray) -> Any:
        """Return the same for the statement that limits are different."""
        judged = claimed & (distance_left <= share)
        if not judged.any():
            return NOT_CLAIMED
        return {
            "values": distances[judged],
            "at_least": 10 * share + distance_left[judged],
            "excluded": {TOO_NEAR: int(claimed.sum() - judged.sum())},
        }

    # Of each draw, how far apart its limits from all directions are: the layers [v_1, v_2], and their coefficients.
    # Draws are in the order of `by_point`: sorted by network, then by seed.
    layers_apart = _relative_spreads(limits, quantities.PARAMETER, smallest, up_to_sign=True)
    layers_apart_at_largest = _relative_spreads(limits, quantities.PARAMETER, largest, up_to_sign=True)
    layers_apart_with_sign = _relative_spreads(limits, quantities.PARAMETER, smallest)
    coefficients_apart = _relative_spreads(limits, quantities.COEFFICIENT, smallest)
    coefficients_apart_at_largest = _relative_spreads(limits, quantities.COEFFICIENT, largest)
    # Rivals, by the other distances or other draws that they claim something of. The first check refuses all but
    # `never`, which claims equal limits of no draw: the last check refuses it.
    same_sign = "layers that agree in sign as well"
    never = "layers that never agree"
    at_any_scale = "layers that agree from a scale of one already"
    left = "four times what the smallest scale leaves of coordinates below the top"
    because = f"{share:g}, chosen, plus {left}"
    yield every_draw(
        "largest distance of limit points, where they are predicted to agree",
        because=because,
        printed=equal_limits(layers_apart, all_draws),
        corrected=equal_limits(layers_apart, is_simple),
        rivals={
            same_sign: equal_limits(layers_apart_with_sign, is_simple),
            never: NOT_CLAIMED,
            at_any_scale: equal_limits(layers_apart_at_largest, is_simple),
        },
    )
    yield every_draw(
        "largest distance of the limits' coefficients, on all draws",
        because=because,
        printed=equal_limits(coefficients_apart, all_draws),
        corrected=equal_limits(coefficients_apart, all_draws),
        rivals={at_any_scale: equal_limits(coefficients_apart_at_largest, all_draws)},
    )
    yield every_draw(
        "distance of limit points, where they are predicted to differ",
        because=f"{10 * share:g}, chosen, plus {left}",
        printed=NOT_CLAIMED,  # the paper claims of no limits that they differ
        corrected=different_limits(layers_apart, ~is_simple),
        rivals={
            same_sign: different_limits(layers_apart_with_sign, ~is_simple),
            never: different_limits(layers_apart, all_draws),
            at_any_scale: different_limits(layers_apart_at_largest, ~is_simple),
        },
    )
    yield Facts(
        share=share,
        directions=int(limits["direction"].nunique()),
        # of networks whose largest singular values tie
        largest_layer_distance=float(np.nanmax(layers_apart, where=~is_simple, initial=0.0)),
        largest_coefficient_distance=float(np.nanmax(coefficients_apart, where=~is_simple, initial=0.0)),
    )


def _relative_spreads(limits: Table, quantity: Quantity, scale: float, *, up_to_sign: bool = False) -> np.ndarray:
    """Return max_ij |p_i - p_j| / max_i |p_i| of the limits p_i from direction i, shape (networks and points,).

    Up to a sign the nearer of a limit and its negative is taken, p_j or -p_j.
    """
    spreads = []
    for _, _, from_directions in Draws(limits, scale=scale).groups("network", "seed"):
        points = from_directions.entries(quantity)  # shape (directions, entries)
        distances = np.linalg.norm(points[:, None] - points, axis=-1)
        if up_to_sign:
            distances = np.minimum(distances, np.linalg.norm(points[:, None] + points, axis=-1))
        spreads.append(distances.max() / np.linalg.norm(points, axis=-1).max())
    return np.array(spreads)


@claim("section 6", scope="the paper's points; solutions from a convex solver", quantifier="all draws")
def min_norm_points(
    regression: Table, classification: Table, *, printed: dict[str, list[Real]], points: dict[str, list[Real]]
) -> Claim:
    r"""The interpolators of least $\ell_2$, $\ell_1$ and DFT-domain $\ell_1$ norm are $[0.2, 0.4]$, $[0, 0.5]$ and
    $[0.33, 0.33]$. The max-margin directions of the classification data in these norms are those of these three points.

    The regression data of figure 1 are $x = (1, 2)$ with label 1, the classification data $(1, 2)$ with label 1 and
    $(0, -3)$ with label $-1$. The latter are special: in the convolutional case both points lie exactly on the margin,
    so that the multipliers are not unique.
    """
    for role, run in (("regression", regression), ("classification", classification)):
        if by_draw(run, quantities.LABELLED_POINTS)[0].tolist() != points[role]:
            raise Untested(f"the solutions are printed for other data of {role}")
    # A draw is a point in the plane. Each network has two, one row each: the interpolator, and the max-margin direction
    # at the length of the printed point.
    solutions = []
    for name, point in printed.items():
        interpolator = by_draw(regression, quantities.REFERENCE, network=name)[0]
        classifier = by_draw(classification, quantities.REFERENCE, network=name)[0]
        solutions += [interpolator, classifier / np.linalg.norm(classifier) * np.linalg.norm(point)]

    def printed_points(**replaced: list[float]) -> np.ndarray:
        """Return the printed points, those of some networks replaced, in the rows of `solutions`: each twice."""
        point_of = {**printed, **replaced}
        return np.repeat(list(point_of.values()), 2, axis=0)

    least_l2 = printed["fully_connected"]
    # [0, 1/2]; with x = [1, 2] the other interpolator with one entry is [1, 0], and the midpoint of both [1/2, 1/4]
    half = printed["diagonal"][1]
    yield equal_on_every_draw(
        "distance between the printed points and the solver's",
        solutions,
        printed_points(),
        tolerance=0.005,
        relative_to=1.0,  # the distance itself
        because="two decimals are printed",
        # other points for one of the networks, which its two draws refuse
        rivals={
            "the other interpolator with one entry": printed_points(diagonal=[2 * half, 0.0]),
            r"least $\ell_2$ norm also in the DFT domain, which is unitary": printed_points(convolutional=least_l2),
            r"the midpoint of the sparse interpolators for $\ell_2$": printed_points(fully_connected=[half, half / 2]),
        },
    )


@claim(
    "section 6, regression",
    scope="the point of figure 1; several starts and scales, three networks",
    empirical=True,
    quantifier="all draws",
)
def predictions_after_5000_steps(regression: Table, *, accuracy: Positive) -> Claim:
    r"""After 5,000 steps of size $10^{-3}$ gradient descent is where Theorem 5 predicts the limit of the flow.

    The largest distance of {draws} runs from it is {value:.1e} of the largest coefficient. Steps of this size leave
    that distance: `limit_accuracy` shows the same runs with smaller steps.
    """
    draws = Draws(regression)
    limit, predicted = draws.with_prediction(quantities.LIMIT)  # shape (draws, inputs)
    networks = draws.entries(quantities.LIMIT, column="network")[:, 0]  # shape (draws,)
    # the interpolator of least norm of each draw's architecture, shape (draws, inputs)
    least_norm = np.concatenate([by_draw(regression, quantities.REFERENCE, network=name) for name in networks])
    yield equal_on_every_draw(
        "distance from the predicted limit, relative to the largest coefficient",
        limit,
        predicted,
        tolerance=accuracy,
        because="chosen: a line's width in the figure",
        rivals={  # other limits
            "the interpolator of least norm, whatever the scale": least_norm,
            "the initial coefficients": draws.where(time=0).entries(quantities.COEFFICIENT),
            "the other side of the label": -predicted,
        },
    )


@claim(
    "section 6, regression",
    scope="the point of figure 1; several starts, three networks",
    empirical=True,
    quantifier="all draws",
)
def small_scale_forgets_direction(regression: Table, *, share: Positive) -> Claim:
    r"""The limits of gradient descent depend less on the initial direction where the initial scale is small. Their
    spread from the smallest of the paper's scales, 0.01, is at most a tenth of that from the largest, 1.

    The initial scale is the $\alpha$ of the initial coefficients $\alpha^2 \bar z_j$, and $\bar z_j$ is the direction.
    The spread is the largest distance between the limits of one network from all directions: from the smallest scale it
    is at most {value:.2g} of that from the largest. The paper does not say how much less, so that the tenth is our
    choice.
    """
    # a draw is a network
    scales = np.unique(select(regression, quantities.LIMIT)["scale"])
    smallest, second_largest, largest = scales[0], scales[-2], scales[-1]

    def spreads(scale: float) -> np.ndarray:
        """Return max_ij |beta_i - beta_j| of the limits beta_i from start i, shape (networks,)."""
        return np.array([spread(limits) for limits in _limits_by_network(regression, scale)])

    yield every_draw(
        "spread of limits at the smaller scale, relative to that at the larger",
        spreads(smallest) / spreads(largest),
        at_most=share,
        because="chosen: a factor of ten, where scales differ by a hundred",
        # other ratios, which have to meet the same bound
        rivals={
            "the large scale forgets more": {"values": spreads(largest) / spreads(smallest)},
            "the largest scale but one forgets as much": {"values": spreads(second_largest) / spreads(largest)},
        },
    )


def _limits_by_network(table: Table, scale: float) -> list[np.ndarray]:
    """Return for each network the limits of its runs from a scale, shape (runs, entries)."""
    return [draws.entries(quantities.LIMIT) for _, draws in Draws(table, scale=scale).groups("network")]


@claim(
    "section 6, regression",
    scope="the point of figure 1; several starts and scales, each pair of three networks",
    empirical=True,
    quantifier="all draws",
)
def architectures_evolve_differently(regression: Table, *, step_errors: Positive, accuracy: Positive) -> Claim:
    r"""Though the networks start at the same linear coefficients $\alpha^2 \bar z_j$, they evolve differently due to
    different architectures.

    Paths of two architectures from one start are compared at the step at which they are furthest apart. Their distance
    is in units of the error of the steps, which is known where paths end: both ends' distances from the limits that
    Theorem 5 predicts, added. Of {draws} pairs of paths the nearest are {value:.3g} times that error apart. One start
    lies near the line of global minima: from it {pairs_never_apart} pairs are never further apart than {accuracy:.0%}
    of their largest coefficient. Each network ends at the limit of its own architecture.
    """
    # a draw is a pair of networks from one start; in the second check it is one network from one start
    of_networks = _by_network(regression)
    # One array a network, shape (scales and directions, steps, inputs). All networks have the same scales and
    # directions, in the same order: entries of two arrays are of one start.
    paths = [draws.entries(quantities.COEFFICIENT, "time") for draws in of_networks.values()]
    # the limits, measured and predicted, each of shape (networks, scales and directions, inputs)
    limits = np.array([draws.entries(quantities.LIMIT) for draws in of_networks.values()])
    predicted = np.array([draws.entries(quantities.LIMIT, column="predicted") for draws in of_networks.values()])
    errors = np.linalg.norm(limits - predicted, axis=-1)
    pairs = list(combinations(range(len(paths)), 2))
    # distances of two networks' paths from one start, at each step; shape (pairs and starts, steps)
    distances = np.concatenate([np.linalg.norm(paths[one] - paths[other], axis=-1) for one, other in pairs])
    errors_of_pairs = np.concatenate([errors[one] + errors[other] for one, other in pairs])
    # this check has no rival: one limit for all networks is a rival of the next one
    yield every_draw(
        "largest distance of two architectures' paths, in units of the steps' error",
        distances.max(axis=1) / errors_of_pairs,
        at_least=step_errors,
        because="chosen: far more than steps change",
    )
    yield equal_on_every_draw(
        "distance from the limit that is predicted for the network's own architecture",
        np.concatenate(limits),
        np.concatenate(predicted),
        tolerance=accuracy,
        because="chosen: a line's width in the figure",
        # each rival gives all networks the limits that are predicted for one of them
        rivals={
            f"one limit for all, that of {network.replace('_', ' ')} networks": np.concatenate([limit] * len(predicted))
            for network, limit in zip(of_networks, predicted, strict=True)
        },
    )
    start_sizes = np.concatenate([np.linalg.norm(paths[one][:, 0], axis=-1) for one, _ in pairs])
    yield premise(
        every_draw(
            "distance at the start, relative to the coefficients there",
            distances[:, 0] / start_sizes,
            at_most=1e-12,
            because="rounding",
        )
    )
    # for the fact {pairs_never_apart}: the largest coefficient of each path, and of each pair of paths
    largest = [np.abs(path).max(axis=(1, 2)) for path in paths]
    largest_of_pairs = np.concatenate([np.maximum(largest[one], largest[other]) for one, other in pairs])
    is_never_apart = distances.max(axis=1) < accuracy * largest_of_pairs
    yield Facts(accuracy=accuracy, pairs_never_apart=int(is_never_apart.sum()))


@claim(
    "section 6, classification",
    scope="the points of figure 3; several starts and scales, three networks",
    empirical=True,
    quantifier="all draws",
)
def finite_loss_remembers_initialisation(classification: Table, settling: Table, *, degrees: Positive) -> Claim:
    r"""Stopped after two million steps, the coefficients of the classifiers depend on the initialisation, in contrast
    to their limit direction, because they are not trained all the way to zero loss.

    The initialisation is the scale $\alpha$ and the coefficients $\alpha^2 \bar z_j$: of each network the directions of
    the coefficients at the end, from all scales and all $\bar z_j$, are compared. From {directions} initial
    coefficients at each of the scales {scales}, in this order, they span these degrees: {spans}. The limit of two
    layers is the same from every start within the conditions of Theorem 2 (`limits_and_starts`), but the flow's angle
    to it falls only like a power of $1 / \log t$ (`log_time`). If the flow is followed to a $\log\log t$ of
    {last_log_log_time:g}, the same starts span at most {largest_late_span:.1g} degrees.
    """
    # a draw is a network
    of_networks = _by_network(classification)
    # one angle a network, between directions of descent
    spans = [_largest_angle(draws.entries(quantities.LIMIT)) for draws in of_networks.values()]
    # a bound on that angle between directions of the flow at late times: twice the largest angle of one of them to the
    # direction that all tend to; networks are in the order of `spans`, sorted by name
    late = Draws(settling).at_end("log_log_time")
    late_spans = [2 * draws[quantities.ANGLE].max() for _, draws in late.groups("network")]
    yield every_draw(
        "degrees that the directions from all starts and scales span, by network",
        spans,
        at_least=degrees,
        because="chosen: an angle that a figure shows",
        # the angle that other directions span, in both checks
        rivals={"the limit's direction, whatever the start": {"values": late_spans}},
    )
    yield every_draw(
        "followed on by the flow: twice the largest angle in degrees to the max margin, by network",
        late_spans,
        at_most=degrees,
        because="chosen: an angle that a figure shows",
        rivals={"a limit that depends on the start": {"values": spans}},
    )
    scales = np.unique(select(classification, quantities.LIMIT)["scale"])
    spans_by_scale = {
        network: [_largest_angle(draws.where(scale=scale).entries(quantities.LIMIT)) for scale in scales]
        for network, draws in of_networks.items()
    }
    yield Facts(
        scales=", ".join(f"{scale:g}" for scale in scales),
        directions=int(settings_of(classification)["directions"]),
        spans="; ".join(
            f"{network.replace('_', ' ')} {', '.join(f'{angle:.2g}' for angle in angles)}"
            for network, angles in spans_by_scale.items()
        ),
        last_log_log_time=float(max(settling["log_log_time"])),
        largest_late_span=float(max(late_spans)),
    )


def _by_network(table: Table) -> dict[str, Draws]:
    """Return the draws of each network."""
    return {str(network): draws for network, draws in Draws(table).groups("network")}


def _largest_angle(points: np.ndarray) -> float:
    """Return the largest angle in degrees between the directions of two of some points, shape (points, entries)."""
    units = points / np.linalg.norm(points, axis=-1, keepdims=True)
    return float(angle_between_units(units[:, None], units).max())


@claim(
    "section 6, classification",
    scope="the points of figure 3, starts of our own",
    empirical=True,
    quantifier="all draws",
)
def final_loss(classification: Table, *, factor: Positive) -> Claim:
    r"""Every classification run ends at a loss of about $10^{-5}$ or below, that is, of at most $10^{-4.5}$, up to
    which no power of ten above the printed one is nearer.

    All {draws} runs end between {least_loss:.2g} and {value:.2g}, and {runs_below_printed} of them below $10^{-5}$
    itself. A loss $\mathcal L$ that falls like $1/t$ is near $1 / (t\, |\nabla \log \mathcal L|^2)$ at time $t$. This
    predicts the loss of each run to within {largest_error_by_growth:.0%}.
    """
    end = Draws(classification).at_end()
    losses = end[quantities.LOSS]  # sum_i exp(-y_i f(x_i)), shape (draws,)
    yield every_draw(
        "loss after the last step",
        losses,
        at_most=factor * 1e-5,
        because="the nearest power of ten is the one printed",
        predicted=1e-5,
        # another bound
        rivals={"a loss of 1e-6 or below": factor * 1e-6},
    )
    yield Facts(
        least_loss=float(losses.min()),
        runs_below_printed=int((losses <= 1e-5).sum()),
        largest_error_by_growth=float(np.max(np.abs(end[quantities.LOSS_BY_GROWTH] / losses - 1))),
    )
