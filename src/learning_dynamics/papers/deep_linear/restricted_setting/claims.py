"""The restricted setting: commuting measurements, where any depth ends at the least nuclear norm.

Measurement i of a matrix W is tr(A_i W), with symmetric A_i that commute: they have common eigenvectors. The loss is
half the sum of squared errors. W is the product of N layers and starts at a multiple of the identity, the column
`scale`. `ends` is measured where the flow ends. A Schatten norm, or a quasi-norm for p < 1, is read through its power
sum sigma^p = sum_r sigma_r^p; p = 1 is the nuclear norm. A draw of a check is an instance of measurements at one depth
or, in completion, a matrix with its observed entries.

Besides its own parameters every check takes `rivals`, `fact` and others (`judging.takes_rivals`). A rival that is a
mapping replaces arguments: {"values": x} has the check judge x. It is refused if one of the claim's checks then fails
or is undecided.
"""

from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Check, Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.deep_linear.quantities import NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.restricted_setting.quantities import (
    MEASUREMENT_CHANGE,
    MEASUREMENT_ERROR,
    NORM_AGAINST_LEAST_SQUARES,
    SCHATTEN_CHANGE,
    SCHATTEN_EXCESS,
)
from learning_dynamics.papers.deep_linear.tables import excess_beyond_slack, proved_gap
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Draws, Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - tolerance, of `restricted_setting_nuclear_norm`: the largest relative error of the nuclear norm that flows from the
#   smallest start may have, as the limit is not reached; chosen
# - resolution, of the other claims: the least relative difference of sums of powers of singular values that counts, as
#   beyond rounding; chosen
# - scale, of `single_norm`: initialisation scale s of the completions, one of the run's `scales`

# Relative error of the nuclear norm that the integrator makes: the run's relative tolerance, as errors do not add up in
# a flow that converges
INTEGRATION_ERROR = 1e-9

SCOPE = (
    "commuting symmetric measurements with positive eigenvalues of a positive semidefinite matrix, squared loss, "
    "layers that start at multiples of the identity; depths 2, 3 and 4; instances drawn until the least nuclear "
    "norm is attained, with a dual slack, at a single matrix among those that commute with the measurements, and its "
    "eigenvalues are zero or above 0.2"
)


@claim("Slide 30, Current theory is oblivious to depth, theorem", quantifier="all draws", scope=SCOPE)
def restricted_setting_nuclear_norm(ends: Table, *, tolerance: Positive) -> Claim:
    r"""Let symmetric measurements commute, and all layers start at the same multiple of the identity. As this start
    tends to zero, any depth of at least two ends at the least nuclear norm of positive semidefinite matrices that fit
    the measurements.

    On all of {draws} flows from the smallest start, the nuclear norm at the end is within {value:.1e} of the least one,
    relatively; {tolerance:g} is allowed. No flow may end further away than that from the next larger start, but for the
    integrator's error, and the flow must have fitted every measurement to a millionth.

    Measurement $i$ of a matrix $W$ is $\mathrm{tr}(A_i W)$, and the $A_i$ commute; $W$ is the product of the layers.
    Linear programming in the common eigenvectors of the $A_i$ finds the least nuclear norm. For comparison, the matrix
    of least Frobenius norm that fits has up to {least_squares_over_end:.2g} times the nuclear norm of the end.
    """
    by_start = [Draws(ends, scale=scale) for scale in sorted(ends["scale"].unique(), reverse=True)]
    from_largest, from_smallest = by_start[0], by_start[-1]

    def norm_arguments(draws: Draws, quantity: Quantity) -> dict[str, Any]:
        """Return the nuclear norm at the end and a prediction of it, as a check's arguments.

        `NUCLEAR_NORM` and `NORM_AGAINST_LEAST_SQUARES` have the same measured norm. The former predicts the least norm
        among matrices that fit the measurements, the latter the norm of the one of least Frobenius norm.
        """
        measured, predicted = draws.with_prediction(quantity)  # shape (draws, 1)
        return {"measured": measured, "predicted": predicted, "relative_to": predicted[:, 0]}

    yield equal_on_every_draw(
        "error of the nuclear norm at the end, relative",
        **norm_arguments(from_smallest, NUCLEAR_NORM),
        tolerance=tolerance,
        resolution=0.1,  # chosen: by default both rivals are off by a tenth or more
        because="chosen, above what the smallest start s leaves: at depth 2 an error of the order of s to the power of "
        "the dual slack, at greater depth of the order of s",
        rivals={
            "the least Frobenius norm": norm_arguments(from_smallest, NORM_AGAINST_LEAST_SQUARES),
            "the largest start ends there too": norm_arguments(from_largest, NUCLEAR_NORM),
        },
        scaled=False,  # the page would print the smallest error that is refused: the chosen `tolerance`, no result
    )

    def distance(draws: Draws) -> np.ndarray:
        """Return the relative distance of the nuclear norm at the end from the least one, shape (draws,)."""
        measured, least = draws.with_prediction(NUCLEAR_NORM)
        return np.abs(measured / least - 1)[:, 0]

    def largest_ratio(distances: np.ndarray) -> np.ndarray:
        """Return by draw the largest ratio of a start's distance to that of the start before it.

        `distances` have shape (starts, draws). A distance below the integrator's error counts as that error.
        """
        return np.max(distances[1:] / np.maximum(distances[:-1], INTEGRATION_ERROR), axis=0)

    distances = np.array([distance(draws) for draws in by_start])  # shape (starts, draws), largest start first
    yield every_draw(
        "distance from the least norm from a smaller start, over that from the one before",
        largest_ratio(distances),
        at_most=1.0,
        because=f"the limit is approached; differences of {INTEGRATION_ERROR:.0e} are the integrator's",
        # the same starts in the opposite order
        rivals={"smaller starts end further away": {"values": largest_ratio(distances[::-1])}},
    )
    yield every_draw(
        "largest relative error of a measurement",
        from_smallest[MEASUREMENT_ERROR],
        at_most=1e-6,  # chosen: flows run until the measurements are fitted to a millionth
        because="the flow has fitted them",
    )
    norm, norm_of_least_squares = from_smallest.with_prediction(NORM_AGAINST_LEAST_SQUARES)
    yield Facts(tolerance=tolerance, least_squares_over_end=np.max(norm_of_least_squares / norm))


@claim("Slide 30, Current theory is oblivious to depth, proposition", quantifier="all draws", scope=SCOPE)
def restricted_setting_not_schatten(ends: Table, *, resolution: NonNegative) -> Claim:
    r"""In instances of commuting measurements the matrix of least nuclear norm at which networks end is not even a
    local minimum of any Schatten quasi-norm with $p \in (0, 1)$.

    The end of the flow is moved along $q_1 q_2^\top + q_2 q_1^\top$, for two of its eigenvectors. Then $\sum_r
    \sigma_r^p$, which is the quasi-norm to the power of $p$, falls for every $p < 1$ that is tried
    ({powers_below_one}), relatively by {least_fall:.1e} at the least; more than {resolution:g} counts. The move changes
    no measurement ({largest_measurement_change:.1e} at most, where a billionth is allowed), as the measurements have
    the same eigenvectors. While the matrix stays positive semidefinite, its nuclear norm, the trace, does not change
    either. But two eigenvalues move apart and keep their sum, so that the sums of all other $p < 1$ fall too. So the
    end is no local minimum of them, at any depth.

    The sentence is about the end of the networks, which the theorem on the slide names, and not about every matrix of
    least nuclear norm: one of them has least quasi-norms as well. With the eigenvalues $x_j$ of the end, the matrix
    that has the entries $\sqrt{x_j x_k}$ in its eigenvectors fits too, and has the same nuclear norm. As its rank is
    one, its quasi-norms are the least.
    """
    draws = _from_smallest_start(ends)
    powers = np.array(settings_of(ends)["powers"])  # p of the norms, below, at and above 1
    (indices_of_one,) = np.nonzero(powers == 1.0)
    if len(indices_of_one) != 1:
        raise ProjectError(
            "`powers` of the run with commuting measurements must have the power 1.0, the nuclear norm's"
        )
    # Relative change of each sum of sigma^p when two eigenvectors of the end are turned, shape (draws, powers). It is
    # nan for flows that could not be integrated, and leaves the checks undecided
    change = draws.entries(SCHATTEN_CHANGE)
    change_of_nuclear_norm = change[:, indices_of_one[0]]
    largest_change_below_one = change[:, powers < 1.0].max(axis=1)
    yield every_draw(
        "largest relative change of Σσ^p over p",
        largest_change_below_one,
        at_most=-resolution,
        because="beyond rounding",
        # other sums fall as well: the check judges the changes of these
        rivals={
            "the nuclear norm falls as well": {"values": change_of_nuclear_norm},
            "sums of convex powers fall as well": {"values": change[:, powers > 1.0].max(axis=1)},
        },
    )
    yield every_draw(
        "relative change of the nuclear norm",
        np.abs(change_of_nuclear_norm),
        at_most=1e-9,  # chosen: a thousandth of the default `resolution`, far above rounding of 1e-16
        because="rounding",
    )
    yield every_draw(
        "largest relative change of a measurement",
        draws[MEASUREMENT_CHANGE],
        at_most=1e-9,  # chosen: far above rounding of 1e-16, as for the nuclear norm
        because="rounding of the eigenvectors, which the end shares with the measurements",
        fact="largest_measurement_change",
    )
    # over draws and powers; flows that could not be integrated do not count
    yield Facts(
        resolution=resolution,
        powers_below_one=", ".join(f"{p:g}" for p in powers[powers < 1.0]),
        least_fall=-np.nanmax(largest_change_below_one),
    )


@claim(
    "Slide 32, Experiments testing the nuclear norm conjecture, hypothesis",
    quantifier="all draws",
    scope="Schatten norms and quasi-norms with the "
    "powers that were tried, of the commuting measurements and of the slides' matrices from 2000 entries; the "
    "hypothesis is about all norms, of which examples decide none",
    empirical=True,
)
def single_norm(
    ends: Table,
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
    resolution: NonNegative,
) -> Claim:
    r"""No single Schatten norm or quasi-norm, $\sum_r \sigma_r^p$, is what descent on layers minimises both on
    commuting measurements and in completion.

    The powers $p$ = {powers} are tried. On commuting measurements, for every power but $p = 1$, another matrix fits as
    well as the end of descent and has a smaller sum: the end with two eigenvectors turned for $p < 1$, the solution of
    a convex problem for $p > 1$. A relative difference of more than {resolution:g} counts. There the nuclear norm, $p =
    1$, exceeds the least one by {largest_excess_when_commuting:.1e} of it at most. But in completion the nuclear norm
    of the networks exceeds the least one, relatively, from few entries by {value:.1e} more at the least than from many,
    where the slack in the fit makes the excess. This must be at least the solvers' proved gaps. The slide goes on that
    trajectories are needed; this is not shown here.
    """

    def check_of_another_with_less(
        name: str, excess: np.ndarray, *, norm: str, at_least: np.ndarray | float, because: str
    ) -> Check:
        """Check that a norm at the networks' end exceeds that of another matrix that fits as well.

        The rival is that this norm captures both settings: then it is least at the networks' end, with no excess. The
        same bound is then one from above.
        """
        no_excess = {"at_least": None, "at_most": at_least}
        rivals = {f"{norm} captures both": no_excess}
        return every_draw(name, excess, at_least=at_least, because=because, rivals=rivals)

    # for depths 2 and 3, shape (draws,) each
    excess_in_completion = [
        excess_beyond_slack(deep, minimiser, many, minimiser_many, scale=scale)
        for deep, many in ((depth_2, depth_2_many), (depth_3, depth_3_many))
    ]
    yield check_of_another_with_less(
        "excess of the nuclear norm over the least one in completion, relative",
        np.concatenate(excess_in_completion),
        norm="the nuclear norm",
        # every depth has the same minimisers
        at_least=np.tile(proved_gap(minimiser, minimiser_many), len(excess_in_completion)),
        because="the solver's proved gaps",
    )
    powers = settings_of(ends)["powers"]
    draws = _from_smallest_start(ends)
    # How much smaller the sum is at another matrix that fits, relatively, shape (draws, powers) each: for p < 1 at the
    # end with two eigenvectors turned, for p > 1 at the solution of a convex problem
    fall_if_turned = -draws.entries(SCHATTEN_CHANGE)
    excess_over_least = draws.entries(SCHATTEN_EXCESS)
    for place, p in enumerate(powers):
        if p != 1:
            excess_over_other = fall_if_turned if p < 1 else excess_over_least
            yield check_of_another_with_less(
                f"how much smaller Σσ^p is at another matrix on commuting measurements, relative, p = {p:g}",
                excess_over_other[:, place],
                norm=f"the power {p:g}",
                at_least=resolution,
                because="beyond rounding",
            )
    norm, least_norm = draws.with_prediction(NUCLEAR_NORM)
    yield Facts(
        resolution=resolution,
        powers=", ".join(f"{p:g}" for p in powers),
        largest_excess_when_commuting=np.max(norm / least_norm - 1),
    )


def _from_smallest_start(ends: Table) -> Draws:
    """Return the ends of the flows from the smallest multiple of the identity: a draw is an instance at one depth."""
    return Draws(ends, scale=ends["scale"].min())
