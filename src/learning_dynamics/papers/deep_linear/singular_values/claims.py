"""Singular values by depth in matrix completion: one after another.

A matrix is completed by plain descent on N layers, from a small multiple of the identity; sigma_r are the singular
values of their product along descent. Leading ones are the first, as many as the rank of the matrix to complete. A draw
is such a matrix with its observed entries. Time is learning rate times steps.
"""

from typing import Any

import numpy as np

from learning_dynamics.judging import Claim, Facts, claim, every_draw
from learning_dynamics.papers.deep_linear.quantities import RANK, SIGMA
from learning_dynamics.papers.deep_linear.tables import sigmas
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, select, settings_of

# Settings of `depth_separates_singular_values`, whose values are in workflow/config/deep_linear.yaml:
# - risen: share of its last value at which a singular value has risen; chosen
# - begun: share of its last value at which its rise begins; chosen. The rise ends at one minus that share
#
# Differences and ratios go draw by draw: draws of all depths are the same matrices, in the same order.


@claim(
    "Slides 33 and 35, Trajectory analysis → dynamics of singular values; implicit bias towards low rank",
    quantifier="all draws",
    scope="completion of matrices of the slides' size at default scale, scaled identity layers, one scale",
    empirical=True,
)
def depth_separates_singular_values(
    depth_1: Table, depth_2: Table, depth_3: Table, *, risen: Fraction, begun: Fraction
) -> Claim:
    r"""Depth leads to larger gaps between singular values: the deeper the network, the more they rise one after
    another, and the further those beyond the rank stay behind.

    The singular values are those of the layers' product along descent. One has risen when it passes {risen:g} of its
    last value; its rise lasts from {begun:g} of that value to one minus {begun:g}. The leading singular values are as
    many as the rank of the matrix to complete. Separation is the time between the first and the last of them to have
    risen, divided by the median time that a rise takes: zero when all rise together. Its median over {draws} draws is
    {separation_1:.2g}, {separation_2:.2g} and {separation_3:.2g} at depths {depths}. A draw on which it grows from one
    depth to another by less than the times between records is undecided. At the end the last leading singular value is
    {gap_1:.3g}, {gap_2:.3g} and {gap_3:.3g} times the next one (medians).
    """
    tables = {1: depth_1, 2: depth_2, 3: depth_3}  # by role: another configuration may give them other depths
    separation, uncertainty = {}, {}  # by role, shape (draws,) each
    for depth, table in tables.items():
        separation[depth], uncertainty[depth] = _separations(table, risen, begun)
    gap = {depth: _last_gap(table) for depth, table in tables.items()}

    def gain_arguments(deeper: int, shallower: int) -> dict[str, Any]:
        """Return each draw's gain of separation from one depth to another, as arguments of `every_draw`.

        A gain is undecided if its size is below the uncertainties of both depths together (`_separation`).
        """
        gain = separation[deeper] - separation[shallower]
        return {"values": gain, "undecided": np.abs(gain) < uncertainty[deeper] + uncertainty[shallower]}

    because = "a difference below the time between records decides nothing"
    # A rival gives the checks other gains. By `separates_less` the roles 1 and 3 have each other's separation. By
    # `adds_nothing` the role 3 has the separation of the role 2. The third check is then undecided, as there is no
    # gain, and this refuses the rival
    separates_less = "depth separates them less"
    adds_nothing = "the greatest depth separates them no more than the middle one"
    yield every_draw(
        "separation of rises at the greatest depth less that at the smallest",
        **gain_arguments(3, 1),
        at_least=0.0,
        because=because,
        rivals={separates_less: gain_arguments(1, 3), adds_nothing: gain_arguments(2, 1)},
    )
    yield every_draw(
        "separation of rises at the middle depth less that at the smallest",
        **gain_arguments(2, 1),
        at_least=0.0,
        because=because,
        rivals={separates_less: gain_arguments(2, 3)},
    )
    yield every_draw(
        "separation of rises at the greatest depth less that at the middle one",
        **gain_arguments(3, 2),
        at_least=0.0,
        because=because,
        rivals={separates_less: gain_arguments(1, 2), adds_nothing: gain_arguments(2, 2)},
    )
    yield every_draw(
        "gap at the end over that of one layer fewer, the smaller of both",
        np.minimum(gap[2] / gap[1], gap[3] / gap[2]),
        at_least=1.0,
        because="larger with each further layer",
        # the roles 1 and 3 have each other's gap
        rivals={"gaps at the end shrink with depth": {"values": np.minimum(gap[2] / gap[3], gap[1] / gap[2])}},
    )
    smallest, middle, greatest = (settings_of(table)["depth"] for table in tables.values())
    yield Facts(
        depths=f"{smallest}, {middle} and {greatest}",
        risen=risen,
        begun=begun,
        separation_1=np.median(separation[1]),
        separation_2=np.median(separation[2]),
        separation_3=np.median(separation[3]),
        gap_1=np.median(gap[1]),
        gap_2=np.median(gap[2]),
        gap_3=np.median(gap[3]),
    )


def _separations(table: Table, risen: float, begun: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the separation of rises and its uncertainty, shape (draws,) each; see `_separation`."""
    leading = select(table, SIGMA, index=np.arange(1, _rank(table) + 1))
    by_draw = [_separation(rows, risen, begun) for _, rows in leading.groupby("draw")]
    separation, uncertainty = np.transpose(by_draw)
    return separation, uncertainty


def _separation(rows: Table, risen: float, begun: float) -> tuple[float, float]:
    """Return the separation of one draw's leading singular values, and its uncertainty, from their rows.

    Separation is the time from the first rise to the last, uncertainty the longest time between records; both are in
    units of the median time that a rise takes.
    """
    sigmas_by_time = rows.pivot_table(index="time", columns="index", values="value")
    times = sigmas_by_time.index.to_numpy()
    shares_of_end = (sigmas_by_time / sigmas_by_time.iloc[-1]).to_numpy().T  # shape (singular values, times)

    def crossing_times(level: float) -> np.ndarray:
        """Return when each singular value first passes a share of its end, linear between two records."""
        crossings = []
        for share in shares_of_end:
            after = max(int(np.argmax(share >= level)), 1)  # the first record beyond the level
            crossings.append(np.interp(level, share[after - 1 : after + 1], times[after - 1 : after + 1]))
        return np.array(crossings)

    rise_time = np.median(crossing_times(1 - begun) - crossing_times(begun))
    first_to_last = np.ptp(crossing_times(risen))
    longest_gap_of_records = np.diff(times).max()
    return first_to_last / rise_time, longest_gap_of_records / rise_time


def _rank(table: Table) -> int:
    """Return the rank of the matrices to complete, which all draws share."""
    return int(select(table, RANK)["value"].iloc[0])


def _last_gap(table: Table) -> np.ndarray:
    """Return the last singular value within the matrix's rank over the next one, at the end, shape (draws,)."""
    rank = _rank(table)
    sigma_rank, sigma_next = sigmas(table, rank, rank + 1)
    return sigma_rank[:, -1] / sigma_next[:, -1]
