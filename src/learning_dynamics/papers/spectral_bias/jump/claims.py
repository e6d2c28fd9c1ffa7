"""The singular vectors that stand still, the learning curve on whitened data, and its jumps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias.draws import relative_errors, steps_by_rtol
from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Quantity, Table

# Settings of these claims, whose values stand in workflow/config/spectral_bias.yaml:
# - away: least distance in time from a jump at which a curve is compared with its limit, time in units of ln(1/gamma)

# the matrices whose symmetry the proof of Theorem C.11 uses, by the quantity that measures their asymmetry
SYMMETRIC_MATRICES = {
    quantities.C_17: r"$R^\top\alpha$ (C.17)",
    quantities.C_18: r"$R\alpha^\top$ (C.18)",
    quantities.C_22: r"$Z_1^\top R Z_2^\top$ (C.22)",
}


@claim(
    "Theorem C.11, (C.17), (C.18), (C.22)",
    quantifier="all draws",
    scope="whitened and Gaussian data, large and small scale, along the flow",
)
def theorem_c_11(whitened: Sequence[Table], others: Sequence[Table], unequal: Table) -> Claim:
    r"""From $I_\gamma$, $\beta$, $Z_1$ and $\alpha$ share left singular vectors, and $\beta$, $Z_2$ and $\alpha$ right
    ones; on whitened data, $X^\top X = I$, these vectors stand still: they are those of $\beta_*$.

    Singular vectors are compared without choosing signs or orders. They are shared if $\beta\beta^\top$ and
    $\beta^\top\beta$ commute with the Gram matrices of the layers and of $\alpha$. They stand still if $\beta$ and
    $\alpha$ are diagonal in the singular basis of $\beta_*$. The three matrices that the proof shows to be symmetric
    are tested too. (For them the proof drops a factor $2\gamma$ and, for (C.17), prints a difference for a sum
    (errata 14). Their asymmetries obey linear equations all the same, and start at zero.) On Gaussian data the vectors
    do turn: the part of $\beta$ off the diagonal is up to {turning:.0%} of $|\beta|$, and the three matrices are not
    symmetric. From rows of unequal lengths the layers do not share their vectors with $\beta$.
    """
    all_data = [*whitened, *others]
    because = "steps times the relative tolerance times the squared condition number of $Z_1$"

    def largest_on(tables: Sequence[Table], quantity: Quantity) -> dict[str, Any]:
        """Return values and at_most, arguments of `every_draw`: each flow's largest value, the integrator's error."""
        draws = Draws(tables)
        # relative errors of alpha, and of beta at the start, where both are small, are larger by the condition of Z1
        return {
            "values": draws.largest(quantity),
            "at_most": steps_by_rtol(draws) * draws.largest(quantities.CONDITION_OF_Z1) ** 2,
        }

    # rivals say the same of Gaussian data too, and `all_data` has both; those on commutators say it of unequal rows.
    # With beta_* = U S V^T, |U^T beta V less its diagonal| / |beta|
    yield every_draw(
        r"largest part of $\beta$ off the diagonal in the singular basis of $\beta_*$, relative to $|\beta|$",
        **largest_on(whitened, quantities.BETA_OFF_DIAGONAL),
        because=because,
        predicted=0.0,
        rivals={"vectors that stand still whatever the data": largest_on(all_data, quantities.BETA_OFF_DIAGONAL)},
    )
    yield every_draw(
        r"largest part of $\alpha$ off the diagonal in the basis of $\beta_*$, relative to $|\alpha|$",
        **largest_on(whitened, quantities.ALPHA_OFF_DIAGONAL),
        because=because,
        rivals={"vectors that stand still whatever the data": largest_on(all_data, quantities.ALPHA_OFF_DIAGONAL)},
    )
    # beta shares left singular vectors with A where beta beta^T commutes with A A^T, and right ones with B where
    # beta^T beta commutes with B^T B
    for quantity, label in (
        (quantities.COMMUTATOR_WITH_LAYERS, "$Z_1$ and $Z_2$"),  # A = Z1, B = Z2
        (quantities.COMMUTATOR_WITH_ALPHA, r"$\alpha$"),  # A = B = alpha
    ):
        yield every_draw(
            rf"largest commutator of $\beta$'s Gram matrices with those of {label}, relative to their norms",
            **largest_on(all_data, quantity),
            because=because,
            rivals={"vectors that are shared from rows of unequal lengths too": largest_on([unequal], quantity)},
        )
    for quantity, label in SYMMETRIC_MATRICES.items():
        yield every_draw(
            f"largest asymmetry of {label}, relative to its factors",
            **largest_on(whitened, quantity),
            because=because,
            rivals={"matrices that are symmetric whatever the data": largest_on(all_data, quantity)},
        )
    yield Facts(turning=float(np.nanmax(Draws(others).largest(quantities.BETA_OFF_DIAGONAL))))


@claim(
    "Theorem C.12",
    quantifier="all draws",
    scope="whitened data: networks at large and small scale, and down to vanishing ones",
    correction=r"At the jump itself the limit is $\sigma/(1 + 2\sigma)$, as the theorem's own proof finds.",
    reason="the closed form is right; the limit's value at the jump is printed wrong",
)
def theorem_c_12(jump: Table, networks: Sequence[Table]) -> Claim:
    r"""On whitened data, from $I_\gamma$, $\sigma_i(\beta)$ has a closed form, whose limit at time $\ln(1/\gamma) t$ is
    0 for $t < 1/(2\sigma)$ and $\sigma$ from $t = 1/(2\sigma)$ on, with $\sigma = \sigma_i(\beta_*)$.

    Networks follow the closed form at every scale, down to the vanishing ones. `jump_process` tests the limit before
    and after the jump. At $t = 1/(2\sigma)$ the theorem prints $\sigma$ and section 3.2 prints 0; neither is right
    (errata 15). The limit there is $\sigma/(1 + 2\sigma)$, as the last lines of the proof say.
    """
    smallest_gamma = float(jump["gamma"].min())
    # the column `time` is flow time over ln(1/gamma), `limit` the value as gamma vanishes: zero before the jump at
    # 1 / (2 sigma), which is a recorded time, and not zero from it on
    from_jump_on = jump[(jump["gamma"] == smallest_gamma) & (jump["limit"] > 0)]
    at_jump = from_jump_on.loc[from_jump_on.groupby("index")["time"].idxmin()]  # a row for each singular value
    sigma = jump.groupby("index")["limit"].max()[at_jump["index"]].to_numpy()  # the limit after the jump
    yield equal_on_every_draw(
        r"error of $\sigma_i(\beta)$ at time $\ln(1/\gamma) / (2\sigma_i)$, relative to $\sigma_i$, each $i$, at the "
        "smallest scale",
        at_jump["value"].to_numpy(),
        sigma,
        tolerance=_distance_from_limit(smallest_gamma) + steps_by_rtol(Draws(jump)).max(),
        relative_to=sigma,
        because="the smallest scale's distance from its limit, and steps times the relative tolerance",
        excluded={
            "singular values at larger scales, which are further from the limit": (jump["gamma"].nunique() - 1)
            * len(sigma)
        },
        corrected=sigma / (1 + 2 * sigma),
        rivals={"0 at the jump, as in section 3.2": 0 * sigma, "half the jump's height": sigma / 2},
    )
    flows = Draws([jump, *(table[table["phase"] == "flow"] for table in networks)])
    measured, closed_form = flows.with_prediction(SIGMA_BETA)
    yield every_draw(
        "largest error of the closed form along the flow, relative to the largest value",
        relative_errors(measured, closed_form),
        at_most=steps_by_rtol(flows),
        because="steps times the relative tolerance",
    )


@claim(
    "Section 3.2, jump process",
    quantifier="all draws",
    scope="whitened data, three singular values, scales down to the smallest of the run",
)
def jump_process(jump: Table, *, away: Fraction) -> Claim:
    r"""On whitened data, from $I_\gamma$ as $\gamma \to 0$, $\sigma_i(\beta)$ at time $\ln(1/\gamma) t$ jumps from 0 to
    $\sigma_i(\beta_*)$ at $t = 1/(2\sigma_i(\beta_*))$, the largest first.

    With $\sigma = \sigma_i(\beta_*)$, $\sigma_i(\beta)$ passes half its limit at
    $t = 1/(2\sigma) + \ln(2\sigma) / (2\sigma\ln(1/\gamma))$. As this approaches $1/(2\sigma)$ only logarithmically, it
    is extrapolated from the two smallest scales. At times $t$ further than {away:g} from the jump the largest distance
    to the limit shrinks from each scale to the next smaller one. The network is followed down to $\gamma$ =
    {smallest:.0e}; for smaller scales there is the closed form only. `theorem_c_12` is about the value at the jump
    itself.
    """
    jumps = _jumps(jump)  # times are flow time over ln(1/gamma)
    predicted = 1 / (2 * jumps.sigma)
    smallest, next_smallest = np.sort(jump["gamma"].unique())[:2]
    # the line through the times t_1 and t_2 at x = 1 / ln(1/gamma) of both scales is (x_2 t_1 - x_1 t_2) / (x_2 - x_1)
    # at x = 0: it multiplies the larger error of both, that at the larger scale, by this factor at most
    x_1, x_2 = 1 / np.log(1 / smallest), 1 / np.log(1 / next_smallest)
    amplification = (x_1 + x_2) / (x_2 - x_1)
    yield equal_on_every_draw(
        "error of the extrapolated time of the jump, relative to it, each singular value",
        jumps.extrapolated,
        predicted,
        tolerance=amplification * (_distance_from_limit(next_smallest) + steps_by_rtol(Draws(jump)).max()),
        relative_to=predicted,
        because="the larger scale's distance from its limit and steps times the relative tolerance, extrapolated",
        resolution=0.01,  # chosen; the nearest rival, not extrapolated, is up to ln(4) / ln(1e32) = 0.019 away
        excluded={"scales above the two smallest": jump["gamma"].nunique() - 2},
        rivals={
            r"$1/\sigma$, the rate of the layers": 1 / jumps.sigma,
            "one time for all singular values": np.full(len(predicted), np.mean(predicted)),
            "the times at the smallest scale, not extrapolated": jumps.at_smallest_scale,
        },
    )
    # rows whose time is away from the jump of their singular value
    sigma_of_row = jump.groupby("index")["limit"].transform("max")
    away_from_jump = jump[(jump["time"] - 1 / (2 * sigma_of_row)).abs() > away]
    distance = (away_from_jump["value"] - away_from_jump["limit"]).abs()
    # the largest distance at each scale, from the largest scale to the smallest
    largest_distance = distance.groupby(away_from_jump["gamma"]).max().sort_index(ascending=False).to_numpy()
    yield every_draw(
        "distance to the limit away from the jump, over that at the next larger scale",
        largest_distance[1:] / largest_distance[:-1],
        at_most=1.0,
        because="each smaller scale is nearer to the limit",
        excluded={"the largest scale, which has no larger one": 1},
    )
    yield Facts(smallest=float(smallest), away=away)


def _distance_from_limit(gamma: float) -> float:
    """Return how far Theorem C.12's closed form may be from its limit: a hundred times gamma ln(1/gamma).

    The next terms of the expansion in gamma are of this order; the hundred, chosen, leaves room for their factors.
    """
    return 100 * gamma * np.log(1 / gamma)


@dataclass(frozen=True)
class Jumps:
    """When each singular value passes half its limit, in time rescaled by ln(1/gamma); shapes (singular values,).

    Attributes
    ----------
    sigma
        The limits.
    at_smallest_scale
        Times at the smallest scale.
    extrapolated
        Times as gamma vanishes, from those at the two smallest scales, linearly in 1 / ln(1/gamma).
    """

    sigma: np.ndarray
    at_smallest_scale: np.ndarray
    extrapolated: np.ndarray


def _jumps(table: pd.DataFrame) -> Jumps:
    """Return the jumps of all singular values.

    For small gamma Theorem C.12 becomes s(t) = sigma / (1 + 2 sigma gamma^(2 sigma t - 1)). So ln(s / (sigma - s)) is
    linear in t, and is interpolated; and s passes sigma / 2 where 2 sigma gamma^(2 sigma t - 1) = 1, which is at
    t = 1 / (2 sigma) + ln(2 sigma) / (2 sigma ln(1/gamma)), linear in 1 / ln(1/gamma).
    """
    two_smallest = np.sort(table["gamma"].unique())[:2]
    sigma = table.groupby("index")["limit"].max()  # by index

    def time_of_jump(index: int, gamma: float) -> float:
        """Return when a singular value passes half its limit at one scale."""
        rows = table[(table["index"] == index) & (table["gamma"] == gamma)]
        # chosen: all but a hundredth at either end; near sigma the difference sigma - s is rounding, or not positive
        rows = rows[(rows["value"] > 0.01 * sigma[index]) & (rows["value"] < 0.99 * sigma[index])]
        log_odds = np.log(rows["value"] / (sigma[index] - rows["value"]))  # ln(s / (sigma - s)), zero at s = sigma / 2
        return np.interp(0.0, log_odds, rows["time"])

    # shape (2, singular values), the smallest scale first
    times = np.array([[time_of_jump(index, gamma) for index in sigma.index] for gamma in two_smallest])
    _, intercepts = np.polyfit(1 / np.log(1 / two_smallest), times, 1)
    return Jumps(sigma=sigma.to_numpy(), at_smallest_scale=times[0], extrapolated=intercepts)
