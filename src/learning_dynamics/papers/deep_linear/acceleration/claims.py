"""Acceleration by depth: how many iterations deeper networks save on a regression.

The l_p loss of a regression is the mean of |x.w - y|^p over samples, with the end-to-end weights w. At depth N these
are the product of one row of weights and N - 1 scalars; depth 1 is the linear model. Networks start balanced, from the
same w at every depth. `l4` and `l2` are descents with p = 4 and p = 2 on the same data. The end-to-end update (slide
24) is the step that a balanced network makes in w, to first order in its size.

`samples` are end-to-end updates on two orthogonal samples, of lengths kappa and one, with labels one. Its columns are
the exponent p, the `stiffness` kappa, the depth, and `seed`, the number of the start.

Besides its own parameters every check takes `rivals` and others (`judging.takes_rivals`). A rival replaces the check's
prediction or, as a mapping, other arguments: {"estimate": x} has the check judge x. It is refused if at least one of
the claim's checks then fails or is undecided.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate, Optimum, mean, median, optimum
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    Untested,
    at_least,
    at_most,
    at_optimum,
    claim,
    equal,
)
from learning_dynamics.papers.deep_linear.acceleration.quantities import (
    DATA_SETS,
    FEATURES,
    FEWEST_STEPS,
    GAS_SENSOR,
    ITERATIONS,
    STEPS,
)
from learning_dynamics.papers.deep_linear.acceleration.stiffness import (
    logarithm_at_depth_two,
    power_of_stiffness,
    powers_of_stiffness,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, select, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - grid_steps, of the claims on regressions: a speed-up counts if it exceeds the ratio of two learning rates this many
#   grid steps apart; less could come from the grid. How many is chosen
# - tolerance, of `steps_by_stiffness`: the largest error of a power of kappa: half of 1/3, the least by which a rival's
#   power at depth 3 differs from the law's

# Iterations at depth 1 over those of a deeper network, each at the best learning rate. A measured one is an estimate,
# one that a rival assumes a number without interval
Speedup = Estimate | float

# a rival of the claims that depth 2 is not faster; twice is chosen, beyond the bound of one grid step, 1.2 by default
TWICE_AS_FAST = {"depth 2 alone is twice as fast": 2.0}
SCOPE = "z-scored regression data (by default diabetes, 442 × 10), small balanced starts, best of a grid of rates"


@claim("Slide 24, Acceleration by depth", quantifier="an average", scope=SCOPE, empirical=True)
def depth_accelerates_l4(l4: Table, l2: Table, *, grid_steps: Positive) -> Claim:
    r"""On a regression with the $\ell_4$ loss gradient descent from small starts is faster through redundant linear
    layers.

    Iterations are counted until the loss, the mean of $|x^\top w - y|^4$ for the product $w$ of the layers, exceeds the
    least one by at most {tolerance:g} of it. Weights start at norm {start:g}. Each depth and start runs at its best
    learning rate in one logarithmic grid. The speed-up is iterations at depth 1 over those of a deeper network. The
    best rate may lie between two of the grid, so that the grid alone can feign a speed-up of the ratio of neighbouring
    rates: iterations are about inversely proportional to rates. A speed-up counts when its whole 95 % interval exceeds
    the ratio of two rates whose places in the grid differ by {grid_steps:g}. It is {value:.3g} at depth 2 and
    {at_deepest:.3g} at depth {deepest}, geometric means over {draws} starts, all of which are counted. Networks of
    every depth express the same linear functions. The slide says that depth can accelerate; on other data it need not,
    nor from longer starts (`l4_from_large_starts`).
    """
    for depth in _deeper(l4):
        # the rival is another loss on the same data: the check judges the speed-up that was measured at p = 2
        yield _accelerates(l4, depth, grid_steps, rivals=_rival_of(l2, depth, "the speed-up at p = 2"))
    settings, deepest = settings_of(l4), max(_deeper(l4))
    yield Facts(
        # the excess over the least loss, as a share of it, at which the run counts a descent as arrived
        tolerance=settings["tolerance"],
        start=settings["start"],
        grid_steps=grid_steps,
        deepest=deepest,
        at_deepest=_speedup(l4, deepest).value,
    )


@claim(
    "Slide 24, Acceleration by depth, the other side",
    quantifier="an average",
    origin="ours",
    scope=SCOPE,
    empirical=True,
)
def depth_does_not_accelerate_l2(l4: Table, l2: Table, *, grid_steps: Positive) -> Claim:
    r"""On the slide's $\ell_p$ regression with $p = 2$ depth brings no speed-up.

    The slide is about $p > 2$ only, this claim about the other case: at $p = 2$ the Hessian is the same everywhere, so
    that one step size suits a linear model all the way. Iterations are counted until the loss exceeds the least one by
    a small share of it, each network at its best learning rate in a grid (`depth_accelerates_l4`). The speed-up,
    iterations at depth 1 over those of a deeper network, may not exceed the bound of that claim, with its whole 95 %
    interval. At depth 2 it is {value:.3g}, the geometric mean over {draws} starts.
    """
    for depth in _deeper(l2):
        # the rival is another loss on the same data: the check judges the speed-up that was measured at p = 4
        yield _does_not_accelerate(l2, depth, grid_steps, rivals=_rival_of(l4, depth, "the speed-up at p = 4"))


@claim(
    "Slide 24, Experiment: regression problem from UCI",
    quantifier="an average",
    scope="ethanol in the UCI gas-sensor array set, 2565 × 128, z-scored; small balanced starts, best of a grid of "
    "rates",
    empirical=True,
)
def depth_accelerates_l4_gas_sensor(l4: Table, l2: Table, *, grid_steps: Positive) -> Claim:
    r"""On the ethanol problem of the UCI gas-sensor array set, depth accelerates the $\ell_4$ regression from small
    starts.

    The criterion is that of `depth_accelerates_l4`. Iterations at depth 1 over those of each deeper network must exceed
    its bound, in the geometric mean over starts and with the whole 95 % interval. The slide says "Regression problem
    from UCI ML Repository" and names no data set. We take the set that, as we remember, Arora, Cohen and Hazan (2018)
    used; the slide presents their result. The set has to be downloaded, and the claim is untested without it. The
    overlay `gas_sensor` judges it.
    """
    if {_data_set(l4), _data_set(l2)} != {GAS_SENSOR}:
        raise Untested(
            "needs the UCI gas-sensor data (id 270), which must be downloaded: see workflow/config/gas_sensor.yaml"
        )
    # the checks and rivals of `depth_accelerates_l4`, on the tables of these data
    return depth_accelerates_l4(l4, l2, grid_steps=grid_steps)


@claim(
    "Slide 24, Acceleration by depth, on further tables",
    quantifier="an average",
    origin="ours",
    scope="the tables iris, linnerud and wine that "
    "scikit-learn ships, z-scored, with the first label that it gives; small balanced starts, best of a grid of "
    "rates",
    empirical=True,
)
def l4_on_further_tables(l4: Sequence[Table], l2: Sequence[Table], *, grid_steps: Positive) -> Claim:
    r"""On further regressions with the $\ell_4$ loss, from small starts, one redundant linear layer makes gradient
    descent faster as well.

    On {tables}, in that order, the ratios of iterations, depth 1 over depth 2, are {ratios_at_depth_2}, at best
    learning rates in a grid. Each must exceed the bound of `depth_accelerates_l4` with its whole 95 % interval. The
    claim leaves depth 3 open: depth 1 over depth 3 gives {ratios_at_depth_3}. With the $\ell_2$ loss the ratios, depth
    1 over depth 2, are {ratios_l2}; below one, depth 2 takes more iterations.
    """
    for table, table_at_p_2 in zip(l4, l2, strict=True):  # a data set each
        # the rival alters the check of every data set; one of these checks must refuse it
        rivals = _rival_of(table_at_p_2, 2, "the speed-up at p = 2")
        yield _accelerates(table, 2, grid_steps, rivals=rivals, where=_data_set(table))

    def listed_speedups(tables: Sequence[Table], depth: int) -> str:
        """Return the speed-ups of a depth on several data sets, as a text prints them."""
        return ", ".join(f"{_speedup(table, depth).value:.3g}" for table in tables)

    yield Facts(
        tables=", ".join(map(_data_set, l4)),
        ratios_at_depth_2=listed_speedups(l4, depth=2),
        ratios_at_depth_3=listed_speedups(l4, depth=3),
        ratios_l2=listed_speedups(l2, depth=2),
    )


def _data_set(table: Table) -> str:
    """Return the name of the data set that a run has descended on."""
    # a run's table does not keep the name; the number of features tells the data sets apart
    n_features = int(select(table, FEATURES)["value"].iloc[0])
    return DATA_SETS.get(n_features, f"a table with {n_features} features")


@claim(
    "Slide 24, Acceleration by depth, where from",
    quantifier="an average",
    origin="ours",
    scope="z-scored regression data (by default diabetes, "
    "442 × 10, whose solution is shorter than one), balanced starts of norm one, best of a grid of rates",
    empirical=True,
)
def l4_from_large_starts(large: Table, small: Table, *, grid_steps: Positive) -> Claim:
    r"""From starts of norm one, longer than the solution, depth does not accelerate the regression with the $\ell_4$
    loss.

    The weights start at norm {start:g}, where those of `depth_accelerates_l4` start at {small_start:g}. The ratio of
    iterations, depth 1 over depth 2, is {value:.2g}, the geometric mean over {draws} starts: below one, depth 2 takes
    more iterations. Each network has its best learning rate in a grid. No deeper one may be faster than depth 1 by more
    than the bound of `depth_accelerates_l4`.
    """
    for depth in _deeper(large):
        # the rival's speed-up is nan, and the check undecided, where a network does not arrive
        yield _does_not_accelerate(large, depth, grid_steps, rivals=_rival_of(small, depth, "as from small starts"))
    yield Facts(start=settings_of(large)["start"], small_start=settings_of(small)["start"])


TWO_SAMPLES = (
    "two orthogonal samples, one of them long, labels one; the slide names no setting; the end-to-end "
    "update from starts of order 1/κ, at the largest stable learning rate, until the loss is a hundredth of that at "
    "zero weights"
)


@claim("Slide 24, Acceleration by depth", scope=f"{TWO_SAMPLES}; depth 2", empirical=True, quantifier="some setting")
def accelerates_for_p_above_2(samples: Table) -> Claim:
    r"""For every $p > 2$ there are settings in which the discrete end-to-end dynamics reach the global minimum of the
    $\ell_p$ loss faster than gradient descent by any factor.

    "Reach" means here that the loss, which is zero at the minimum, falls to {reached:.2g} of its value at zero weights.
    One of two orthogonal samples is $\kappa$ times as long as the other. If the speed-up grows with $\kappa$ without
    bound, some $\kappa$ gives any factor. The exponents {exponents} are tried. Gradient descent takes of the order of
    $\kappa^2$ steps and depth 2 of $\kappa^{2/\min(2, p-1)} \log \kappa$ (`steps_by_stiffness`), so that the speed-up
    grows as $\kappa^{2 - 2/\min(2, p-1)} / \log \kappa$, and at $p = 2$ not at all. From $\kappa$ = {first:g} to
    {last:g} the measured power is {value:.2g} at the least exponent (median of {draws} starts). At the largest $p$ and
    $\kappa$ depth 2 is {speedup:.0f} times as fast. Nearer to $p = 2$ larger $\kappa$ are needed: the power outweighs
    the logarithm from $\log \kappa \approx (p - 1) / (2p - 4)$ on.
    """
    # power of kappa in the number of steps, by exponent p; shape (starts,) each, nan without a stable rate
    powers_1, powers_2 = powers_of_stiffness(samples, depth=1), powers_of_stiffness(samples, depth=2)
    # the speed-up is the ratio of the numbers of steps: its power is the difference, start by start; both depths have
    # the same starts in the same order
    power_of_speedup = {exponent: powers_1[exponent] - powers_2[exponent] for exponent in powers_2}
    exponents_above_2 = [exponent for exponent in power_of_speedup if exponent > 2]
    largest_exponent = max(exponents_above_2)
    for exponent in exponents_above_2:
        # a rival is what the check would get of other powers, as arguments
        rivals = {"the power at p = 2": _median_of_stable(power_of_speedup[2.0])}
        if exponent == largest_exponent:
            # `at_least` is undecided of a power that is zero on every start, which suffices to refuse this rival; the
            # checks at other exponents are not changed by it
            bounded = np.zeros(len(power_of_speedup[exponent]))
            rivals["the speed-up at the largest exponent alone is bounded"] = _median_of_stable(bounded)
        yield at_least(
            f"power of kappa with which the speed-up grows, p = {exponent:g}",
            **_median_of_stable(power_of_speedup[exponent]),
            bound=0.0,
            because="a bounded speed-up has none",
            rivals=rivals,
        )
    smallest_kappa, largest_kappa = samples["stiffness"].min(), samples["stiffness"].max()
    steps_1, steps_2 = (
        Draws(samples, depth=depth, exponent=largest_exponent, stiffness=largest_kappa)[STEPS] for depth in (1, 2)
    )
    yield Facts(
        exponents=", ".join(f"{exponent:g}" for exponent in exponents_above_2),
        first=smallest_kappa,
        last=largest_kappa,
        reached=settings_of(samples)["tolerance"],
        speedup=np.nanmedian(steps_1 / steps_2),  # of starts with a stable rate at both depths
    )


@claim(
    "Slide 24, Acceleration by depth, how much",
    quantifier="an average",
    origin="ours",
    scope=f"{TWO_SAMPLES}; p from 2.2 to 6, depths 2, 3 and 4",
)
def steps_by_stiffness(samples: Sequence[Table], *, tolerance: Positive) -> Claim:
    r"""On two orthogonal samples of lengths one and $\kappa$ the end-to-end update at depth $N$ takes a number of steps
    that grows as $\kappa^{1 - 2/N + 2/\min(N, p-1)}$, up to a logarithm, where gradient descent takes $\kappa^2$.

    The loss is the mean of $|x^\top w - y|^p$ over the two samples. A learning rate is stable if it and the next
    smaller ones arrive, in steps about inversely proportional to rates. The step is limited twice. While the long
    sample is fitted, with weights of order $1/\kappa$, the limit is of order $\kappa^{-2/N}$. Later it is of order
    $\kappa^{-2/(p-1)}$, since the preconditioner's part along $w$ keeps pushing the long sample off its fit, to a
    residual of $\kappa^{-2/(p-1)}$. The time to leave weights of order $1/\kappa$ grows as $\kappa^{1-2/N}$, at depth 2
    as $\log \kappa$. So depth 3 gains nothing for $p \le 2.2$, and for $p < N + 1$ depth $N$ gains less than depth 2;
    from $p = N + 1$ on the powers are equal, up to the logarithm of depth 2. The $\kappa$ tried do not show that
    logarithm: measured powers are nearer to the law with it at $p$ = {nearer}, and nearer to the law without it at $p$
    = {further}. From the law with the logarithm a power is off by {error:.2g} at most; {tolerance:.2g} is allowed, half
    of the least difference between the law and a rival at depth 3. In {lucky} of {cells} cases (starts at one $p$,
    $\kappa$ and $N$) some rate above the largest stable one arrived earlier; {unstable} cases have no stable rate, and
    their starts are left out there.
    """
    laws = [law for table in samples for law in _laws(table)]
    if len({(law.p, law.N) for law in laws}) < len(laws):
        raise ProjectError("two runs have one exponent and depth; give each to one of them")

    for law in laws:
        p, N = law.p, law.N
        # The law is 1 - 2/N + 2 / min(N, p - 1): the power of the time, and that of one over the largest stable step. A
        # rival equals the law at some N and p, as the first at N = 2, or is nearer to it than the tolerance, as some at
        # N = 4; checks at others refuse it
        other_powers = {
            "the time to leave small weights is the same for every kappa": 2 / min(N, p - 1),
            "nothing pushes the long sample off its fit": 1.0,  # 1 - 2/N + 2/N
            "the first steps' limit alone": 2 / N,
            "the power 2 of gradient descent": 2.0,
        }
        yield equal(
            f"power of kappa with which steps grow, depth {N}, p = {p:g}",
            **_median_of_stable(law.measured),
            predicted=law.power + law.logarithm,
            tolerance=tolerance,
            # by default the least difference between the law and a rival at depth 3; an interval and a tolerance that
            # are larger together leave the check undecided
            resolution=2 * tolerance,
            because="half of the least difference between the law and a rival at depth 3, where they differ",
            rivals={phrase: other + law.logarithm for phrase, other in other_powers.items()},
        )
    # a draw is an exponent, kappa, depth and start; shape (draws,) each
    steps, fewest_steps = Draws(samples)[STEPS], Draws(samples)[FEWEST_STEPS]
    laws_at_depth_2 = sorted((law for law in laws if law.N == 2), key=lambda law: law.p)
    nearer_with = [law.p for law in laws_at_depth_2 if law.error_with_logarithm < law.error_without_logarithm]
    nearer_without = [law.p for law in laws_at_depth_2 if law.error_with_logarithm >= law.error_without_logarithm]
    yield Facts(
        nearer=", ".join(f"{p:g}" for p in nearer_with),
        further=", ".join(f"{p:g}" for p in nearer_without),
        error=max(law.error_with_logarithm for law in laws),
        tolerance=tolerance,
        lucky=int(np.sum(fewest_steps < steps)),  # false where there is no stable rate, and `steps` is nan
        cells=len(steps),
        unstable=int(np.isnan(steps).sum()),
    )


class _Law(NamedTuple):
    """The power of kappa in the number of steps, measured and predicted, at one exponent p and depth N."""

    p: float
    N: int
    measured: np.ndarray  # shape (starts,); nan without a stable rate
    power: float  # predicted but for the logarithm, 1 - 2/N + 2 / min(N, p - 1)
    logarithm: float  # what a logarithm of kappa adds to the power over these kappa; 0 but at depth 2

    @property
    def error_with_logarithm(self) -> float:
        return float(abs(np.nanmedian(self.measured) - (self.power + self.logarithm)))

    @property
    def error_without_logarithm(self) -> float:
        return float(abs(np.nanmedian(self.measured) - self.power))


def _laws(table: Table) -> list[_Law]:
    """Return the laws of a table, for each of its depths and exponents."""
    smallest_kappa, largest_kappa = table["stiffness"].min(), table["stiffness"].max()
    return [
        _Law(
            p,
            N,
            measured,
            power=power_of_stiffness(p, N),
            logarithm=logarithm_at_depth_two(N, smallest_kappa, largest_kappa),
        )
        for N in sorted(table["depth"].unique())
        for p, measured in powers_of_stiffness(table, N).items()
    ]


def _median_of_stable(powers: np.ndarray) -> dict[str, Any]:
    """Return a check's arguments: the median over starts with a stable rate for every kappa, and how many have none.

    `powers` have the shape (starts,); a start, which is a draw of the check, is nan if it has none at some kappa.
    """
    is_stable = np.isfinite(powers)
    return {"estimate": median(powers[is_stable]), "excluded": {"no stable learning rate": int(np.sum(~is_stable))}}


# -- speed-ups on a regression ---------------------------------------------------------------------------------------


def _accelerates(
    table: Table, depth: int, grid_steps: float, *, rivals: Mapping[str, Speedup], where: str = ""
) -> Check:
    """Check that a deeper network saves more iterations than the grid of learning rates explains.

    Parameters
    ----------
    depth : int
        Of the deeper network.
    grid_steps : float
        The bound is the ratio of two learning rates that are this many steps of the grid apart.
    rivals : mapping from phrase to speed-up
        A rival keeps the bound, and has another speed-up than the measured one.
    where : str
        The data, for the check's name.
    """
    check = at_least(
        _name(depth, where),
        _speedup(table, depth),
        _ratio_of_rates(table, grid_steps),
        because=_bound_in_words(grid_steps),
        rivals={phrase: {"estimate": speedup} for phrase, speedup in rivals.items()},
    )
    return at_optimum(check, *_best_rates(table, depth))


def _does_not_accelerate(table: Table, depth: int, grid_steps: float, *, rivals: Mapping[str, Speedup]) -> Check:
    """Check that a deeper network saves no more iterations than the grid of learning rates explains.

    Parameters are those of `_accelerates`. At depth 2 another rival is added. A deeper network that has not arrived
    would have taken more than the run's `max_steps`. Counted with so many its speed-up is too large, which makes this
    check harder to meet.
    """
    if depth == 2:
        rivals = {**rivals, **TWICE_AS_FAST}
    check = at_most(
        _name(depth),
        _speedup(table, depth, slowest=settings_of(table)["max_steps"]),
        _ratio_of_rates(table, grid_steps),
        because=_bound_in_words(grid_steps),
        rivals={phrase: {"estimate": speedup} for phrase, speedup in rivals.items()},
    )
    return at_optimum(check, *_best_rates(table, depth))


def _rival_of(other: Table, depth: int, phrase: str) -> dict[str, Speedup]:
    """Return the rival that has another table's speed-up; none if that table has no network of this depth."""
    return {phrase: _speedup(other, depth)} if depth in _deeper(other) else {}


def _name(depth: int, where: str = "") -> str:
    return f"iterations at depth 1 over iterations at depth {depth}" + (f", {where}" if where else "")


def _bound_in_words(grid_steps: float) -> str:
    return f"{grid_steps:g} {'step' if grid_steps == 1 else 'steps'} of the grid of learning rates"


def _ratio_of_rates(table: Table, grid_steps: float) -> float:
    """Return the ratio of two learning rates that are so many steps of the grid apart."""
    rates = np.sort(select(table, ITERATIONS)["learning_rate"].unique())  # in equal ratios
    return float((rates[1] / rates[0]) ** grid_steps)


def _deeper(table: Table) -> list[int]:
    """Return the depths of the networks beyond the linear model, ascending."""
    return sorted(int(depth) for depth in _network_rows(table)["depth"].unique() if depth > 1)


def _network_rows(table: Table) -> Table:
    """Return the rows of iterations of descents on the layers, not of the end-to-end update."""
    return select(table, ITERATIONS, rule="network")


def _optima(table: Table, depth: int) -> list[Optimum]:
    """Return the best learning rate of each start at a depth, and its iterations."""
    rows = _network_rows(table)
    by_start = rows[rows["depth"] == depth].groupby("seed")
    return [optimum(runs["learning_rate"], runs["value"]) for _, runs in by_start]


def _best_rates(table: Table, depth: int) -> list[Optimum]:
    """Return the best rates at depth 1 and at another depth: a check is undecided if one is at an end of the grid.

    They are those of `table` under rivals too. A start that arrives at no rate has no best rate: the estimate of the
    speed-up counts it instead.
    """
    return [best for best in (*_optima(table, 1), *_optima(table, depth)) if np.isfinite(best.value)]


def _speedup(table: Table, depth: int, *, slowest: float = np.nan) -> Estimate:
    """Return the geometric mean over starts of iterations at depth 1 over those at a depth, each at its best rate.

    A deeper network that reaches the tolerance at no rate counts with `slowest` iterations. Without that, and where
    depth 1 does not arrive, the estimate is nan and its check undecided.
    """
    # iterations at the best rate, shape (starts,), not finite where no rate arrives; starts are in one order
    iterations, iterations_deeper = (
        np.array([best.value for best in _optima(table, network_depth)]) for network_depth in (1, depth)
    )
    iterations_deeper = np.where(np.isfinite(iterations_deeper), iterations_deeper, slowest)
    logs = mean(np.log(iterations / iterations_deeper))
    value, lower, upper = np.exp([logs.value, logs.lower, logs.upper])
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        draws=logs.draws,
        how="geometric mean (t of logarithms)",
        missing=logs.missing,
    )
