"""Whether limits depend on the start (sections 5 and 6).

- f is the network, of L layers v_l, and beta are its coefficients, f(x) = x^T beta. x_i are the points and y_i = +-1
  their labels. A limit is the direction of beta at the last time.
- Orthogonally decomposable networks have beta = S^T rho, where rho is the entrywise product of the layers' singular
  coordinates. Here they are diagonal ones, full-length convolutional ones, and ones with a random matrix S.
- A problem is a data set and a network of one depth: its limits are those from all starts on it. Problems are the draws
  of the first check. Those of the last check are architectures at one depth.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.judging import NOT_CLAIMED, Claim, Facts, claim, every_draw, premise
from learning_dynamics.papers.tensor_networks.classification import quantities
from learning_dynamics.papers.tensor_networks.classification.claims.max_margin import ORTHOGONAL
from learning_dynamics.papers.tensor_networks.distances import angle_between_units
from learning_dynamics.papers.tensor_networks.tables import MARGIN
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table, select, settings_of

# The setting of the claim, whose value is in workflow/config/tensor_networks.yaml:
# - degrees: angle up to which two limit directions count as one, and from which on they count as two; chosen


@claim(
    "sections 5 and 6",
    scope="separable points, each from many random starts, the last layer zero; diagonal, convolutional and "
    "decomposable networks of two to four layers, fully connected ones of two and three, random matrices M and filters "
    "of length three",
    correction="From starts within the conditions of Theorem 2, limit directions of two orthogonally decomposable "
    "layers do not depend on the initialisation if the max-margin problem has one solution. Those of fully connected "
    "networks of any depth do not if the loss falls below one at some time. Those of three or more orthogonally "
    "decomposable layers can depend on it, and those of other networks from two layers on: several stationary points "
    "can attract.",
    quantifier="all draws",
    reason="the max-margin problem that decides is in general not convex",
)
def limits_and_starts(starts: Sequence[Table], *, degrees: Positive) -> Claim:
    r"""The limit directions of linear coefficients in separable classification do not depend on the initialisation.

    With two decomposable layers, and in fully connected networks, Theorem 2 and Corollary 1 leave one limit, because
    the max-margin problem of its norm is convex, and has one solution on data in general position. (Where two
    coordinates tie, as those of the single point $(1, 1)$ do, the start also decides with two diagonal layers. Outside
    the conditions of Theorem 2 a coordinate never takes part in the limit if the two layers start equal in size there,
    with a product of the wrong sign.)

    From three decomposable layers on Theorem 2 leaves every stationary point of the $\ell_{2/L}$ max-margin problem,
    the least $\sum_j |\rho_j|^{2/L}$ with all margins at least one, and the start decides. A problem is a data set and
    a network here: {deep_with_several_limits} of {deep_problems} such problems have more than one limit, up to
    {most_limits} from {starts_of_each} starts. Limits are up to {largest_angle:.0f} degrees apart; two of them count as
    one up to an angle of {degrees:g}°. Of the starts of networks with real $S$ and three or more layers
    {above_minimum:.0%} end more than one per cent above the global minimum.

    For two layers that are neither decomposable nor fully connected, the limit is a stationary point of the least
    $\|v_1\|^2 + \|v_2\|^2$ with all margins at least one (Theorem 1). This problem is not convex:
    {others_with_several_limits} of {other_problems} such problems have more than one limit, up to
    {largest_angle_of_others:.0f} degrees apart. The points on which filters are tried are chosen so that they have.
    """
    problems = pd.concat([_limits_of_problems(table, degrees) for table in starts], ignore_index=True)
    # arrays of shape (problems,)
    depth = problems["depth"].to_numpy()
    is_decomposable = np.isin(problems["network"], ORTHOGONAL)
    is_fully_connected = problems["network"].to_numpy() == "fully_connected"
    is_other = ~(is_decomposable | is_fully_connected)
    largest_angle = problems["largest_angle"].to_numpy()  # between the limits from two starts
    largest_turn = problems["largest_turn"].to_numpy()
    # two directions that both turn by half of `degrees` may move by `degrees` relative to each other
    is_turning = (largest_angle > degrees) & (largest_turn > degrees / 2)

    def one_limit(where: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments of the check that each problem of a mask has one limit from all starts."""
        return {"values": largest_angle[where], "undecided": is_turning[where]}

    def several_limits(where: np.ndarray) -> Any:
        """Return the arguments of the check that the problems of a mask have several limits.

        Its draws are architectures at one depth: on one data set all starts may have the same limit by chance, but not
        on all data sets. It is `NOT_CLAIMED`, so that nothing is said, if the mask has no problem.
        """
        if not where.any():
            return NOT_CLAIMED
        angle_of_kind = problems[where].groupby(["network", "depth"])["largest_angle_at_rest"].max().to_numpy()
        return {"values": angle_of_kind, "undecided": angle_of_kind < degrees}

    # Of each problem, whether the correction predicts one limit, and whether each rival does. The first two rivals
    # predict one limit where several show: the first check refuses them. The last two predict several where no second
    # one shows: the last check is undecided for them. That suffices: a rival is refused by any other verdict than the
    # claim's.
    has_one_limit = is_fully_connected | (is_decomposable & (depth == 2))
    has_one_limit_by_rival = {
        "one limit at any depth but four": is_fully_connected | (is_decomposable & (depth != 4)),
        "one limit for any two layers": is_fully_connected | (depth == 2),
        "one limit for two decomposable layers alone": is_decomposable & (depth == 2),
        "one limit for fully connected networks alone": is_fully_connected,
    }
    yield every_draw(
        "largest angle in degrees between the limits from two starts, where one limit is predicted",
        **one_limit(np.full(len(problems), True)),  # the sentence of the paper is on all problems
        at_most=degrees,
        because="chosen; undecided where it is exceeded while a direction still turns by half as much",
        corrected=one_limit(has_one_limit),
        rivals={rival: one_limit(predicted) for rival, predicted in has_one_limit_by_rival.items()},
    )
    yield premise(
        every_draw(
            r"the loss falls: $\min_i y_i f(x_i) / \log t$ at the end",
            Draws(starts)[MARGIN],  # of every start on every problem
            at_least=0.5,  # halfway between the two values in `because`
            because="it tends to one; zero where a flow stays at a saddle",
        )
    )
    yield every_draw(
        "where several limits are predicted: the largest such angle of each architecture and depth",
        at_least=degrees,
        because="chosen, as above; of limits at rest; undecided where no data set shows a second limit, which others "
        "may have",
        printed=NOT_CLAIMED,  # the paper claims several limits of no problem
        corrected=several_limits(~has_one_limit),
        rivals={rival: several_limits(~predicted) for rival, predicted in has_one_limit_by_rival.items()},
    )
    # for the text
    deep = problems[is_decomposable & (depth > 2)]
    others = problems[is_other]
    deep_excess = select(pd.concat(starts), quantities.QUASI_NORM_EXCESS, depth=lambda depth: depth > 2)["value"]
    yield Facts(
        degrees=degrees,
        deep_with_several_limits=int((deep["limits"] > 1).sum()),
        deep_problems=len(deep),
        most_limits=int(problems["limits"].max()),
        starts_of_each=int(settings_of(starts[0])["starts"]),
        largest_angle=float(np.nanmax(largest_angle)),
        others_with_several_limits=int((others["limits"] > 1).sum()),
        other_problems=len(others),
        largest_angle_of_others=float(others["largest_angle"].max()),
        above_minimum=float(np.mean(deep_excess > 0.01)),  # the one per cent of the docstring; no check uses it
    )


def _limits_of_problems(table: Table, degrees: float) -> pd.DataFrame:
    """Return a row for each problem, a data set and a network: how far apart the limits from its starts are.

    Columns: network, depth; largest_angle between the limits from two starts; largest_turn of a direction over the
    second half of log log t; largest_angle_at_rest, between limits that turn by half of `degrees` at most, zero where
    one limit or none does; limits, the number of those that are more than `degrees` apart. Angles in degrees.
    """
    problems = []
    last_log_log_time = table["log_log_time"].max()
    for network, depth, _, from_starts in Draws(table).groups("network", "depth", "seed"):
        # beta / |beta| of each start, shape (starts, inputs)
        halfway = from_starts.where(log_log_time=last_log_log_time / 2).entries(quantities.DIRECTION)
        end = from_starts.where(log_log_time=last_log_log_time).entries(quantities.DIRECTION)
        angles = angle_between_units(end[:, None], end)  # shape (starts, starts)
        turns = angle_between_units(end, halfway)  # shape (starts,)
        at_rest = turns <= degrees / 2
        distinct: list[int] = []  # starts whose limits are more than `degrees` from those of all starts listed before
        for start in range(len(end)):
            if (angles[start, distinct] > degrees).all():
                distinct.append(start)
        problems.append(
            {
                "network": network,
                "depth": depth,
                "largest_angle": angles.max(),
                "largest_turn": turns.max(),
                "largest_angle_at_rest": angles[np.ix_(at_rest, at_rest)].max(initial=0.0),
                "limits": len(distinct),
            }
        )
    return pd.DataFrame(problems)
