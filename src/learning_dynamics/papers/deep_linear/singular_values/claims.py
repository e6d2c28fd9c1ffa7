"""Singular values by depth in matrix completion: one after another."""

from itertools import pairwise

import numpy as np

from learning_dynamics.judging import Check, Checks, Finding, claim, every_draw
from learning_dynamics.papers.deep_linear.tables import sigmas
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, select, settings_of


@claim(
    "Dynamics of singular values; implicit bias towards low rank",
    quantifier="all draws",
    scope="completion of matrices of the slides' size at default scale, scaled identity layers, one scale",
    empirical=True,
)
def depth_separates_singular_values(
    depth_1: Table, depth_2: Table, depth_3: Table, *, risen: Fraction, begun: Fraction
) -> Finding:
    r"""Depth leads to larger gaps between singular values: the deeper the network, the more they rise one after
    another, and the further those beyond the rank stay behind.

    A singular value has risen when it passes {risen:g} of what it ends at, and is rising between {begun:g} and one
    minus that. Separation is the time from the first to the last of the leading ones (as many as the matrix's rank),
    over the median time that a rise takes: zero when all rise together. It is {one:.2g}, {two:.2g} and {three:.2g} at
    depths {depths}, in the median of {draws} draws; a gain below the times between records is not decided. The last of
    the leading singular values over the next one ends at {gap_one:.3g}, {gap_two:.3g} and {gap_three:.3g}.
    """
    tables = {1: depth_1, 2: depth_2, 3: depth_3}
    separations = {number: _separations(table, risen, begun) for number, table in tables.items()}
    gaps = {number: _last_gap(table) for number, table in tables.items()}

    def judge(orders: tuple[tuple[int, int, int], tuple[int, int, int]]) -> Checks:
        order, gap_order = orders
        first, second, third = (separations[number] for number in order)
        yield _check_larger("separation of rises at the deepest less that at the shallowest", third, first)
        yield _check_larger("gain of the first further layer", second, first)
        yield _check_larger("gain of the second further layer", third, second)
        yield every_draw(
            "gap at the end over that of one layer fewer, the smaller of both",
            np.minimum(*(gaps[more] / gaps[fewer] for fewer, more in pairwise(gap_order))),
            at_least=1.0,
            because="larger with each further layer",
        )

    by_depth, reversed_ = (1, 2, 3), (3, 2, 1)
    rivals = {
        "depth separates them less": (reversed_, by_depth),
        "the second further layer adds nothing": ((1, 2, 2), by_depth),
        "gaps at the end shrink with depth": (by_depth, reversed_),
    }
    depths = "{}, {} and {}".format(*(settings_of(table)["depth"] for table in tables.values()))
    facts = {"depths": depths, "risen": risen, "begun": begun}
    for number, name in enumerate(("one", "two", "three"), start=1):
        facts |= {name: np.median(separations[number][0]), f"gap_{name}": np.median(gaps[number])}
    return Finding(judge, (by_depth, by_depth), rivals, facts=facts)


def _check_larger(name: str, deeper: np.ndarray, shallower: np.ndarray) -> Check:
    """Check that separations are larger on every draw; a gain below the times between records is undecided."""
    gain, uncertainty = deeper[0] - shallower[0], deeper[1] + shallower[1]
    return every_draw(
        name,
        gain,
        at_least=0.0,
        undecided=np.abs(gain) < uncertainty,
        because="decided beyond the times between records",
    )


def _separations(table: Table, risen: float, begun: float) -> np.ndarray:
    """Return the times between first and last rise, and between records, over the time of one rise, by draw."""
    leading = select(table, "sigma", index=np.arange(1, _rank(table) + 1))
    return np.array([_separation(paths, risen, begun) for _, paths in leading.groupby("draw")]).T


def _rank(table: Table) -> int:
    return int(select(table, "rank")["value"].iloc[0])


def _last_gap(table: Table) -> np.ndarray:
    """Return the last singular value within the matrix's rank over the next one, at the end, by draw."""
    rank = _rank(table)
    inside, beyond = sigmas(table, rank, rank + 1)
    return inside[:, -1] / beyond[:, -1]


def _separation(rows: Table, risen: float, begun: float) -> tuple[float, float]:
    wide = rows.pivot_table(index="time", columns="index", values="value")
    times = wide.index.to_numpy()

    def crossing_times(level: float) -> np.ndarray:
        crossings = []
        for share in (wide / wide.iloc[-1]).to_numpy().T:
            after = max(int(np.argmax(share >= level)), 1)
            crossings.append(np.interp(level, share[after - 1 : after + 1], times[after - 1 : after + 1]))
        return np.array(crossings)

    duration = np.median(crossing_times(1 - begun) - crossing_times(begun))
    middle = crossing_times(risen)
    return np.ptp(middle) / duration, np.diff(times).max() / duration
