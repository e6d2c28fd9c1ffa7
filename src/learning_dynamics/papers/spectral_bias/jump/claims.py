"""The singular vectors that stand still, the learning curve on whitened data, and its jumps.

beta = W1 W2 is the predictor and beta_* the interpolator of least norm; data are whitened where X^T X = I. The flow
starts at I_gamma: W1(0) = sqrt(2 gamma) P with orthonormal rows, P P^T = I, and W2(0) = 0. Z1 = W1 P^T, Z2 = P W2,
alpha = Z1^{-T} Z2, R = X^T (Y - X beta); |.| is the Frobenius norm.

The table of the role `jump` has a row for each scale gamma, time and singular value of beta. Columns: `gamma`; `time`,
flow time over ln(1/gamma); `index`, the number i of the singular value, from the largest; `value`, the measured
sigma_i(beta); `predicted`, by the closed form of Theorem C.12; `limit`, what this tends to as gamma vanishes: 0 before
1 / (2 sigma), sigma / (1 + 2 sigma) at that time, and sigma after it, with sigma = sigma_i(beta_*). Scales take the
place of draws: `seed` numbers them.

These flows are on X = I with a diagonal Y, from W1(0) = sqrt(2 gamma) I. The docstring of `runs.jump_flow` says why
they stand for every whitened problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias.draws import relative_errors, steps_by_rtol
from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Quantity, Table, select

# Setting of `jump_process`, whose value is in workflow/config/spectral_bias.yaml:
# - away: a singular value is compared with its limit at times that are further from its jump than this share of the
#   jump's own time, 1 / (2 sigma). In these units the closed form comes to its limit at the same power of gamma for
#   every singular value, and there are times before the earliest jump as before the others

# the matrices whose symmetry the proof of Theorem C.11 uses, by the quantity that measures their asymmetry
SYMMETRIC_MATRICES = {
    quantities.R_T_ALPHA_ASYMMETRY: r"$R^\top\alpha$ (C.17)",
    quantities.R_ALPHA_T_ASYMMETRY: r"$R\alpha^\top$ (C.18)",
    quantities.Z1_T_R_Z2_T_ASYMMETRY: r"$Z_1^\top R Z_2^\top$ (C.22)",
}


@claim(
    "Theorem C.11, (C.17), (C.18), (C.22)",
    quantifier="all draws",
    scope="whitened and Gaussian data, large and small scale, along the flow",
)
def theorem_c_11(whitened: Sequence[Table], others: Sequence[Table], unequal: Table) -> Claim:
    r"""From $I_\gamma$, $\beta$, $Z_1$ and $\alpha$ share left singular vectors, and $\beta$, $Z_2$ and $\alpha$ right
    ones; on whitened data, $X^\top X = I$, these vectors stand still: they are those of $\beta_*$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$, $Z_2 = P W_2$
    and $\alpha = Z_1^{-\top} Z_2$. Singular vectors are shared if $\beta\beta^\top$ and $\beta^\top\beta$ commute with
    the Gram matrices of the layers and of $\alpha$. They stand still if $\beta$ and $\alpha$ are diagonal in the
    singular basis of $\beta_*$. Both are tested to the integrator's error times the squared condition number of $Z_1$;
    signs and orders of vectors need not be chosen. The proof shows three products of $\alpha$, $Z_1$ and $Z_2$ with
    $R = X^\top(Y - X\beta)$ to be symmetric; these are tested too. (For them the proof drops a factor $2\gamma$ and,
    for (C.17), prints a difference for a sum (errata 14). Their asymmetries obey linear equations all the same, and
    start at zero.) On Gaussian data the vectors do turn: the part of $\beta$ off the diagonal is up to
    {largest_turning:.0%} of $|\beta|$, and the three products are not symmetric. If the rows of $W_1(0)$ have unequal
    lengths, the layers do not share their vectors with $\beta$.
    """
    all_data = [*whitened, *others]  # `others` are flows on Gaussian data
    because = "steps times the relative tolerance times the squared condition number of $Z_1$"

    def largest_on(tables: Sequence[Table], quantity: Quantity) -> dict[str, Any]:
        """Return values and at_most, arguments of `every_draw`: each flow's largest value, the integrator's error."""
        draws = Draws(tables)
        # alpha = Z1^{-T} Z2 multiplies the error of Z1 by its condition number. The square is chosen: it leaves room
        # for the start, where beta and alpha are small, and what is measured is relative to them
        return {
            "values": draws.largest(quantity),
            "at_most": steps_by_rtol(draws) * draws.largest(quantities.CONDITION_OF_Z1) ** 2,
        }

    # Rivals of the parts off the diagonal and of the asymmetries claim that they vanish on all data: `all_data` has the
    # Gaussian flows too. The rival of the commutators claims that they vanish from rows of unequal lengths too. A
    # rival's arguments are the values and bounds of the flows that it adds. Several checks have a rival of one phrase;
    # it is refused if one of these checks refuses it
    yield every_draw(
        r"largest part of $\beta$ off the diagonal in the singular basis of $\beta_*$, relative to $|\beta|$",
        # |U^T beta V less its diagonal| / |beta|, with beta_* = U S V^T
        **largest_on(whitened, quantities.BETA_OFF_DIAGONAL),
        because=because,
        predicted=0.0,
        rivals={"vectors that stand still whatever the data": largest_on(all_data, quantities.BETA_OFF_DIAGONAL)},
    )
    yield every_draw(
        r"largest part of $\alpha$ off the diagonal in the basis of $\beta_*$, relative to $|\alpha|$",
        **largest_on(whitened, quantities.ALPHA_OFF_DIAGONAL),  # the same of alpha
        because=because,
        rivals={"vectors that stand still whatever the data": largest_on(all_data, quantities.ALPHA_OFF_DIAGONAL)},
    )
    # beta shares left singular vectors with A where beta beta^T commutes with A A^T, and right ones with B where
    # beta^T beta commutes with B^T B. Measured is the larger commutator, over the norms of its factors
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
    yield Facts(largest_turning=float(np.nanmax(Draws(others).largest(quantities.BETA_OFF_DIAGONAL))))


@claim(
    "Theorem C.12",
    quantifier="all draws",
    scope="whitened data: networks at large and small scale; down to vanishing scales, square networks on $X = I$ and "
    "a diagonal $Y$, which stand for every whitened problem",
    correction=r"At the jump itself the limit is $\sigma/(1 + 2\sigma)$, as the theorem's own proof finds.",
    reason="the closed form is right; the limit's value at the jump is printed wrong",
)
def theorem_c_12(jump: Table, networks: Sequence[Table]) -> Claim:
    r"""On whitened data, from $I_\gamma$, $\sigma_i(\beta)$ has a closed form, whose limit at time $\ln(1/\gamma) t$ is
    0 for $t < 1/(2\sigma)$ and $\sigma$ from $t = 1/(2\sigma)$ on, with $\sigma = \sigma_i(\beta_*)$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. The closed form is
    $2\gamma a / (1 - a^2)$, where $a$ solves $\dot a = \sigma(1 - a^2) - 2\gamma a$ from $a(0) = 0$. Networks follow it
    at every scale, down to the vanishing ones. `jump_process` tests the limit before and after the jump. At
    $t = 1/(2\sigma)$ the theorem prints $\sigma$ and section 3.2 prints 0; neither is right (errata 15). The limit
    there is $\sigma/(1 + 2\sigma)$, as the last lines of the proof say.
    """
    smallest_gamma = float(jump["gamma"].min())
    # the jump at 1 / (2 sigma) is a recorded time, the first at which `limit` is not zero
    from_jump_on = jump[(jump["gamma"] == smallest_gamma) & (jump["limit"] > 0)]
    at_jump = from_jump_on.loc[from_jump_on.groupby("index")["time"].idxmin()]  # a row for each singular value
    # sigma is the limit after the jump, the largest of all times
    sigma = jump.groupby("index")["limit"].max()[at_jump["index"]].to_numpy()
    # nothing here is random: a draw of this check is a singular value at the smallest scale
    yield equal_on_every_draw(
        r"error of $\sigma_i(\beta)$ at time $\ln(1/\gamma) / (2\sigma_i)$, relative to $\sigma_i$, each $i$, at the "
        "smallest scale",
        at_jump["value"].to_numpy(),
        sigma,
        # how far the closed form is from its limit, and the network from the closed form. The latter is steps times
        # rtol of the scale with the most steps
        tolerance=_remainder_of_form(smallest_gamma) + steps_by_rtol(Draws(jump)).max(),
        relative_to=sigma,
        because="the smallest scale's distance from its limit, and steps times the relative tolerance",
        # counted as draws are: pairs of a singular value and a scale
        excluded={
            "singular values at larger scales, which are further from the limit": (jump["gamma"].nunique() - 1)
            * len(sigma)
        },
        corrected=sigma / (1 + 2 * sigma),
        rivals={"0 at the jump, as in section 3.2": 0 * sigma, "half the jump's height": sigma / 2},
    )
    flows = Draws([jump, *(select(table, phase="flow") for table in networks)])
    # shape (draws, singular values at all times); padded with zeros in both where a table has fewer of them
    measured, closed_form = flows.with_prediction(SIGMA_BETA)
    # A draw of this check is a flow: one for each scale of `jump`, one for each data set and scale of `networks`. No
    # rivals here: those above are about the value at the jump alone
    yield every_draw(
        "largest error of the closed form along the flow, relative to the largest value",
        relative_errors(measured, closed_form),
        at_most=steps_by_rtol(flows),
        because="steps times the relative tolerance",
    )


@claim(
    "Section 3.2, jump process",
    quantifier="all draws",
    scope="square networks on $X = I$ and a diagonal $Y$ from $W_1(0) = \\sqrt{2\\gamma} I$, which stand for every "
    "whitened problem; scales down to the smallest of the run",
)
def jump_process(jump: Table, *, away: Fraction) -> Claim:
    r"""On whitened data, from $I_\gamma$ as $\gamma \to 0$, $\sigma_i(\beta)$ at time $\ln(1/\gamma) t$ jumps from 0 to
    $\sigma_i(\beta_*)$ at $t = 1/(2\sigma_i(\beta_*))$, the largest first.

    The time at which $\sigma_i(\beta)$ passes half of $\sigma = \sigma_i(\beta_*)$ is extrapolated to $\gamma = 0$ from
    the two smallest scales and compared with $1/(2\sigma)$, to within what the extrapolation makes of the error at the
    larger of these scales; it is off by {value:.1e} of it at the most. At the smallest scale $\sigma_i(\beta)$ is
    compared with 0 before the jump and with $\sigma$ after it, at times further from it than {away:.0%} of
    $1/(2\sigma)$; it may be as far from them as the closed form of Theorem C.12. From each scale to the next smaller
    one the largest of these distances must shrink.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. Gradient flow commutes with
    rotations of inputs, outputs and hidden units, so that $X = I$, a diagonal $Y$ and $W_1(0) = \sqrt{2\gamma} I$ are
    enough. At a small scale $\sigma_i(\beta)$ passes half its limit at
    $t = 1/(2\sigma) + \ln(2\sigma) / (2\sigma\ln(1/\gamma))$, which approaches $1/(2\sigma)$ only logarithmically.
    Networks are followed down to $\gamma$ = {smallest_gamma:.0e}. Below that nothing is measured, and the claim rests
    on the closed form, which `theorem_c_12` compares with the networks. `theorem_c_12` is about the value at the jump
    itself, too.
    """
    far = _rows_away_from_jumps(jump, away)
    jumps = _jumps(jump)
    predicted = 1 / (2 * jumps.sigma)
    smallest, next_smallest = np.sort(jump["gamma"].unique())[:2]
    # The time of a jump is extrapolated linearly in u = 1 / ln(1/gamma) to u = 0, where gamma vanishes (`_jumps`).
    # Through the times t_1 and t_2 at both scales the line is (u_2 t_1 - u_1 t_2) / (u_2 - u_1) at u = 0. So it
    # multiplies the larger of their errors, that at the larger scale, by this factor at most
    u_1, u_2 = 1 / np.log(1 / smallest), 1 / np.log(1 / next_smallest)
    amplification = (u_1 + u_2) / (u_2 - u_1)
    # Errors of s = sigma_i(beta), relative to sigma: the closed form's distance from its form for small gamma, and the
    # network's from the closed form. At s an error e moves the log-odds x = ln(s / (sigma - s)) by
    # e sigma^2 / (s (sigma - s)) = (2 + 2 cosh x) e: by 4 e at s = sigma / 2, where x = 0. There x is interpolated
    # between recorded times. In the configuration these are up to 1.5 apart in x, for sigma = 2 and gamma = 1e-32, and
    # at |x| = 1.5 the factor is 6.7. As x rises by 2 sigma ln(1/gamma) for each unit of time (`_jumps`), e moves the
    # time by less than 6.7 e / ln(1/gamma), relative to 1 / (2 sigma). That is less than e, which is allowed: at the
    # two smallest scales ln(1/gamma) is 36.8 or more
    integrator = steps_by_rtol(Draws(jump)).max()  # of the scale with the most steps
    error = _remainder_of_form(next_smallest) + integrator
    # nothing here is random: a draw of this check is a singular value
    yield equal_on_every_draw(
        "error of the extrapolated time of the jump, relative to it, each singular value",
        jumps.extrapolated,
        predicted,
        tolerance=amplification * error,
        relative_to=predicted,
        because="the larger scale's distance from its limit and steps times the relative tolerance, extrapolated",
        # Chosen: half of what the nearest rival, the times at the smallest scale, errs by where it errs most. That is
        # ln(2 sigma) / ln(1/gamma): with gamma = 1e-32 it is 0.019 for sigma = 2, 0.0094 for sigma = 1 and zero for
        # sigma = 1/2. One singular value is enough to refuse a rival
        resolution=0.01,
        # counted as draws are: pairs of a singular value and a scale
        excluded={"singular values at scales above the two smallest": (jump["gamma"].nunique() - 2) * len(jumps.sigma)},
        rivals={
            # near zero the layers grow at the rate sigma, and the predictor, their product, at twice this rate
            r"$1/\sigma$, as if the predictor grew at the rate of the layers": 1 / jumps.sigma,
            "one time for all singular values": np.full(len(predicted), np.mean(predicted)),
            "the times at the smallest scale, not extrapolated": jumps.at_smallest_scale,
        },
    )
    at_smallest = far[far["gamma"] == smallest]
    # of each side of each jump, before it and after it: sigma and whether it is after, shape (2 x singular values,)
    sides = at_smallest.groupby(["index", "after"])["sigma"].first()
    sigma, after = sides.to_numpy(), sides.index.get_level_values("after").to_numpy()

    def largest_distances(height: float | np.ndarray) -> np.ndarray:
        """Return the largest |s / sigma - limit| on each side of each jump, shape (2 x singular values,).

        The limit is 0 before the jump and `height` after it, one number or one for each row of `at_smallest`.
        """
        limit = np.where(at_smallest["after"], height, 0.0)
        distance = (at_smallest["value"] / at_smallest["sigma"] - limit).abs()
        return distance.groupby([at_smallest["index"], at_smallest["after"]]).max().to_numpy()

    # The form for small gamma, sigma / (1 + 2 sigma gamma^(2 sigma t - 1)), is less than gamma^away / (2 sigma) of
    # sigma from 0 before the jump, where 2 sigma t - 1 < -away, and less than 2 sigma gamma^away of it from sigma after
    # it
    distance_of_form = np.where(after, 2 * sigma, 1 / (2 * sigma)) * smallest**away
    # a draw of this check is a side of a jump; by a rival the singular value tends to another height after the jump
    yield every_draw(
        r"largest distance from 0 before the jump, and from $\sigma_i$ after it, relative to $\sigma_i$, at the "
        "smallest scale",
        largest_distances(1.0),
        # at a recorded time on the edge the closed form is below this by about its square, which can be less than the
        # integrator's error
        at_most=distance_of_form + integrator,
        because=rf"$\gamma^{{{away:g}}} / (2\sigma)$ before and $2\sigma\gamma^{{{away:g}}}$ after, by the closed "
        "form for small scales, and steps times the relative tolerance",
        rivals={
            "half the height after the jump": {"values": largest_distances(0.5)},
            r"the height at the jump, $\sigma/(1 + 2\sigma)$, from then on": {
                "values": largest_distances(1 / (1 + 2 * at_smallest["sigma"].to_numpy()))
            },
        },
    )
    distance = (far["value"] - far["limit"]).abs() / far["sigma"]
    # the largest distance at each scale, from the largest scale to the smallest; shape (scales,)
    largest_distance = distance.groupby(far["gamma"]).max().sort_index(ascending=False).to_numpy()
    # A draw of this check is a pair of neighbouring scales. No rivals here: a wrong height may be approached too, and
    # the check above refuses it
    yield every_draw(
        "distance to the limit away from the jump, over that at the next larger scale",
        largest_distance[1:] / largest_distance[:-1],
        at_most=1.0,
        because=rf"for small $\gamma$ the closed form's distance falls as $\gamma^{{{away:g}}}$ or faster",
        excluded={"the largest scale, which has no larger one": 1},
    )
    yield Facts(smallest_gamma=float(smallest), away=away)


def _rows_away_from_jumps(jump: Table, away: float) -> Table:
    """Return the rows further from the jump of their singular value than a share of its time, with two more columns.

    These are `sigma`, the limit after the jump, and `after`, whether the row is after the jump.

    Raises
    ------
    Untested
        If a singular value has no such time before its jump, or none after it.
    """
    # sigma is the largest limit, that after the jump; the delay is in units of the jump's time 1 / (2 sigma)
    sigma = jump.groupby("index")["limit"].transform("max")
    delay = 2 * sigma * jump["time"] - 1
    far = jump.assign(sigma=sigma, after=delay > 0)[delay.abs() > away]
    if len(far.groupby(["index", "after"])) < 2 * jump["index"].nunique():
        raise Untested(
            f"no recorded time before a jump, or none after it, is further from it than {away:g} of the jump's time: "
            "lower `away`, or raise `horizon`"
        )
    return far


def _remainder_of_form(gamma: float) -> float:
    """Return how far Theorem C.12's closed form may be from its form for small gamma, relative to sigma.

    This form is sigma / (1 + 2 sigma gamma^(2 sigma t - 1)) at the time ln(1/gamma) t, and sigma / (1 + 2 sigma) at the
    jump. Allowed is a hundred times gamma ln(1/gamma): the next terms of the expansion in gamma are of this order, and
    the hundred, chosen, leaves room for their factors.
    """
    return 100 * gamma * np.log(1 / gamma)


@dataclass(frozen=True)
class Jumps:
    """When each singular value of beta passes half its limit, as flow time over ln(1/gamma).

    Attributes
    ----------
    sigma : ndarray, shape (singular values,)
        The limits sigma_i(beta_*).
    at_smallest_scale : ndarray, shape (singular values,)
        Times at the smallest scale.
    extrapolated : ndarray, shape (singular values,)
        Times as gamma vanishes, from those at the two smallest scales, linearly in 1 / ln(1/gamma).
    """

    sigma: np.ndarray
    at_smallest_scale: np.ndarray
    extrapolated: np.ndarray


def _jumps(table: Table) -> Jumps:
    """Return the jumps of all singular values.

    For small gamma Theorem C.12 becomes s(t) = sigma / (1 + 2 sigma gamma^(2 sigma t - 1)) at the time ln(1/gamma) t.
    So ln(s / (sigma - s)) = (2 sigma t - 1) ln(1/gamma) - ln(2 sigma) is linear in t, and is interpolated. It is zero,
    and s is sigma / 2, at t = 1 / (2 sigma) + ln(2 sigma) / (2 sigma ln(1/gamma)). This is linear in 1 / ln(1/gamma).
    """
    two_smallest = np.sort(table["gamma"].unique())[:2]
    sigma = table.groupby("index")["limit"].max()  # the limit after the jump, by index

    def time_of_jump(index: int, gamma: float) -> float:
        """Return when a singular value passes half its limit at one scale."""
        rows = table[(table["index"] == index) & (table["gamma"] == gamma)]
        # chosen: all but a hundredth at either end; near sigma the difference sigma - s is rounding, or not positive
        rows = rows[(rows["value"] > 0.01 * sigma[index]) & (rows["value"] < 0.99 * sigma[index])]
        log_odds = np.log(rows["value"] / (sigma[index] - rows["value"]))  # ln(s / (sigma - s)), zero at s = sigma / 2
        return np.interp(0.0, log_odds, rows["time"])

    # shape (2, singular values), the smallest scale first
    times = np.array([[time_of_jump(index, gamma) for index in sigma.index] for gamma in two_smallest])
    # the lines through both points of each singular value, at 1 / ln(1/gamma) = 0
    _, intercepts = np.polyfit(1 / np.log(1 / two_smallest), times, 1)
    return Jumps(sigma=sigma.to_numpy(), at_smallest_scale=times[0], extrapolated=intercepts)
