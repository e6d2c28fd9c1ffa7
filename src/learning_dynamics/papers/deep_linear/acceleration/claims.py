"""Acceleration by depth: how many iterations deeper networks save on a regression."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, Untested, at_least, at_most, at_optimum, claim
from learning_dynamics.evidence import Estimate, Optimum, mean, median, optimum
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select, settings_of

GAS_SENSOR_FEATURES = 128
SCOPE = "z-scored regression data (by default diabetes, 442 × 10), small balanced starts, best of a grid of rates"


@claim("Acceleration by depth", scope=SCOPE, empirical=True)
def depth_accelerates_l4(fourth: Table, second: Table, *, steps: Positive) -> Finding:
    r"""For regression with the $\ell_4$ loss gradient descent is faster through redundant linear layers.

    Each depth and start runs at the best learning rate of one logarithmic grid. A speed-up counts when it exceeds the
    ratio of neighbouring rates, by which the grid alone could mislead; depth 2 takes {value:.3g} times fewer iterations
    than depth 1, the geometric mean over {draws} starts, all of which are counted. The deeper networks express the
    same linear functions, and their problem is not convex. Starts matter: the table of varied settings has others.
    """

    def judge(table: Table) -> Judgement:
        return Judgement(*(
            at_optimum(
                at_least(f"iterations at depth 1 over iterations at depth {depth}", speedup, _grid(table) ** steps,
                         because="ratio of neighbouring learning rates"),
                *optima,
            )
            for depth, speedup, optima in _speedups(table)
        ))  # fmt: skip

    return Finding(judge, fourth, {"the same at p = 2": second, "depth 1 against itself": _alike(fourth)})


@claim("Acceleration by depth, the other side", origin="ours", scope=SCOPE, empirical=True)
def depth_does_not_accelerate_l2(fourth: Table, second: Table, *, steps: Positive) -> Finding:
    r"""For regression with the $\ell_2$ loss depth brings no speed-up.

    The slide speaks of $p > 2$ only, and this is its other side: at $p = 2$ the Hessian is the same everywhere, so that
    one step size suits a linear model all the way. No deeper network may be faster than depth
    1 by more than the ratio of neighbouring rates; depth 2's speed-up is {value:.3g} over {draws} starts.
    """

    def judge(table: Table) -> Judgement:
        return Judgement(*(
            at_optimum(
                at_most(f"iterations at depth 1 over iterations at depth {depth}", speedup, _grid(table) ** steps,
                        because="ratio of neighbouring learning rates"),
                *optima,
            )
            for depth, speedup, optima in _speedups(table)
        ))  # fmt: skip

    rivals = {"the same at p = 4": fourth, "depth 2 alone is twice as fast": _alike(second, 2.0, deepest=2)}
    return Finding(judge, second, rivals)


@claim("Experiment: regression problem from UCI", scope="ethanol in the UCI gas-sensor array set, 2565 × 128, z-scored",
       empirical=True)  # fmt: skip
def depth_accelerates_l4_gas_sensor(fourth: Table, second: Table, *, steps: Positive) -> Finding:
    r"""On the slide's own data, ethanol in the UCI gas-sensor array set, depth accelerates the $\ell_4$ regression.

    The set has to be downloaded, and the default data are scikit-learn's diabetes regression. With the archive in place
    the overlay `gas_sensor` decides this claim.
    """
    if select(fourth, "features")["value"].iloc[0] != GAS_SENSOR_FEATURES:
        raise Untested(
            "needs the UCI gas-sensor data (id 270), which must be downloaded: see workflow/config/gas_sensor.yaml"
        )
    return depth_accelerates_l4(fourth, second, steps=steps)


@claim("Acceleration by depth", scope="two orthogonal samples, one of them long, labels one; the slide names no "
       "setting; the end-to-end update from small starts, best of a grid of rates", empirical=True)  # fmt: skip
def accelerates_for_p_above_2(samples: Table) -> Finding:
    r"""For every $p > 2$ there are settings in which the discrete end-to-end dynamics reach the global minimum of the
    $\ell_p$ loss faster than gradient descent by any factor.

    Tried for the exponents {exponents} with two orthogonal samples, one $\kappa$ times as long as the other. Descent's
    step is limited where it starts, by the long sample's curvature, of order $\kappa^2$. The end-to-end update fits
    that sample first, with weights of order $1/\kappa$, at which its preconditioner is small; when weights are of
    order one, that residual is gone, and for $p > 2$ its curvature with it. So the speed-up should grow without bound,
    as $\kappa^{2 - 2/N}$ at depth $N$, and at $p = 2$ not at all. Each depth and start runs at the best learning
    rate of one grid, until the loss has fallen to {tolerance:g} of that at zero, at p = {largest:g} a residual of
    {residual:.2g}; a few starts land there in one long step, so that medians over starts are judged. At the least
    exponent above 2, depth 2's speed-up grows as the power {value:.2g} of $\kappa$; at $\kappa$ = {kappa:g} and p =
    {largest:g} it is {speedup:.0f}.
    """
    found, optima = _speedups_by_stiffness(samples)
    kappa = np.sort(samples["stiffness"].unique())
    above = {key: ratios for key, ratios in found.items() if key[0] > 2}

    def judge(speedups: dict[tuple[float, int], np.ndarray]) -> Judgement:
        checks = []
        for (exponent, depth), ratios in speedups.items():
            logs = np.log(ratios)
            orders = np.polyfit(np.log(kappa), logs.T, 1)[0] if np.isfinite(logs).all() else np.full(len(logs), np.nan)
            last = (logs[:, -1] - logs[:, -2]) / np.log(kappa[-1] / kappa[-2])
            checks += [
                at_optimum(
                    at_least(f"power of kappa with which the speed-up grows, depth {depth}, p = {exponent:g}",
                             median(orders), 1 - 1 / depth, because="half of 2 - 2/N; a bounded one has none"),
                    *optima[exponent, depth],
                ),
                at_least(f"the same between the two largest kappa, depth {depth}, p = {exponent:g}", median(last), 0.0,
                         because="no end of the growth in sight"),
            ]  # fmt: skip
        return Judgement(*checks)

    largest = max(exponent for exponent, _ in above)
    bounded = {key: np.repeat(above[key][:, :1], len(kappa), axis=1) for key in above if key[0] == largest}
    rivals = {
        "the same at p = 2": {(exponent, depth): found[2.0, depth] for exponent, depth in above},
        "the speed-up at the largest exponent alone is bounded": above | bounded,
    }
    facts = {
        "exponents": ", ".join(f"{exponent:g}" for exponent in sorted({exponent for exponent, _ in above})),
        "kappa": float(kappa[-1]), "largest": largest, "tolerance": settings_of(samples)["tolerance"],
        "residual": float((2 * settings_of(samples)["tolerance"]) ** (1 / largest)),
        "speedup": float(np.median(above[largest, min(depth for _, depth in above)][:, -1])),
    }  # fmt: skip
    return Finding(judge, above, rivals, facts=facts)


def _speedups_by_stiffness(samples: Table) -> tuple[dict[tuple[float, int], np.ndarray], dict]:
    """Return speed-ups over depth 1 by exponent and depth, shape (starts, stiffness), and the optima behind them."""
    steps: dict[tuple[float, int], np.ndarray] = {}
    optima: dict[tuple[float, int], list[Optimum]] = {}
    for key, rows in select(samples, "iterations").groupby(["exponent", "depth"]):
        best = [optimum(each["learning_rate"], each["value"]) for _, each in rows.groupby(["seed", "stiffness"])]
        shape = rows["seed"].nunique(), rows["stiffness"].nunique()
        steps[key] = np.array([each.value for each in best]).reshape(shape)
        optima[key] = _extremes(best)
    deep = [key for key in steps if key[1] > 1]
    return (
        {(exponent, depth): steps[exponent, 1] / steps[exponent, depth] for exponent, depth in deep},
        {(exponent, depth): optima[exponent, 1] + optima[exponent, depth] for exponent, depth in deep},
    )


def _grid(table: Table) -> float:
    rates = np.sort(select(table, "iterations")["learning_rate"].unique())
    return float(rates[1] / rates[0])


def _speedups(table: Table) -> list[tuple[int, Estimate, list[Optimum]]]:
    """Return for each deeper network the geometric mean of its speed-ups over starts, and the optima behind it.

    A start that reaches the tolerance at no rate makes the estimate nan, and with it the check undecided.
    """
    optima: dict[int, list[Optimum]] = {}
    for (depth, _), each in select(table, "iterations", rule="network").groupby(["depth", "seed"]):
        optima.setdefault(int(depth), []).append(optimum(each["learning_rate"], each["value"]))
    steps = {depth: np.array([each.value for each in found]) for depth, found in optima.items()}
    found = []
    for depth in sorted(optima):
        if depth == 1:
            continue
        logs = mean(np.log(steps[1] / steps[depth]))
        value, lower, upper = np.exp([logs.value, logs.lower, logs.upper])
        of_ratio = Estimate(value, lower, upper, logs.draws, "geometric mean (t of logarithms)", logs.missing)
        found.append((depth, of_ratio, _extremes(optima[1]) + _extremes(optima[depth])))
    return found


def _extremes(optima: list[Optimum]) -> list[Optimum]:
    """Return of several optima the lowest and the highest: the ones nearest the edges of the grid."""
    ordered = sorted(optima, key=lambda each: each.at)
    return [ordered[0]] if ordered[0] == ordered[-1] else [ordered[0], ordered[-1]]


def _alike(table: Table, faster: float = 1.0, deepest: float = np.inf) -> Table:
    """Return the table as it would be if deeper networks took depth 1's iterations, or so many times fewer.

    Networks deeper than `deepest` stay as they are.
    """
    altered = table.copy()
    shallow = select(table, "iterations", rule="network", depth=1).set_index(["seed", "learning_rate"])["value"]
    deep = (altered["quantity"] == "iterations") & (altered["rule"] == "network") & altered["depth"].between(2, deepest)
    keys = list(zip(altered.loc[deep, "seed"], altered.loc[deep, "learning_rate"], strict=True))
    altered.loc[deep, "value"] = shallow.reindex(keys).to_numpy() / faster
    return altered
