"""Singular values by depth in matrix completion: one after another."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, every_draw
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Table, select


@claim("Dynamics of singular values; implicit bias towards low rank", scope="completion of matrices of the slides' "
       "size at default scale, scaled identity layers, one scale", empirical=True)  # fmt: skip
def depth_separates_singular_values(
    depth_1: Table, depth_2: Table, depth_3: Table, *, risen: Fraction, begun: Fraction
) -> Finding:
    r"""Depth leads to larger gaps between singular values: the deeper the network, the more they rise one after
    another.

    A singular value has risen when it passes {risen:g} of what it ends at, and is rising between {begun:g} and one
    minus that. Separation is the time from the first to the last of the leading ones (as many as the matrix's rank),
    over the median time that a rise takes: zero when all rise together. It is {one:.2g}, {two:.2g} and {three:.2g} at
    depths 1, 2 and 3, in the median of {draws} draws.
    """
    found = {number: _separations(table, risen, begun)
             for number, table in enumerate((depth_1, depth_2, depth_3), start=1)}  # fmt: skip

    def judge(order: tuple[int, int, int]) -> Judgement:
        first, second, third = (found[number] for number in order)
        return Judgement(
            every_draw("separation of rises at the deepest less that at the shallowest", third[0] - first[0],
                       at_least=third[1] + first[1], because="times between records"),
            every_draw("gain of the first further layer", second[0] - first[0], at_least=second[1] + first[1],
                       because="times between records"),
            every_draw("gain of the second further layer", third[0] - second[0], at_least=third[1] + second[1],
                       because="times between records"),
        )  # fmt: skip

    rivals = {"depth separates them less": (3, 2, 1), "the second further layer adds nothing": (1, 2, 2)}
    facts = {name: float(np.median(found[number][0])) for number, name in enumerate(("one", "two", "three"), start=1)}
    return Finding(judge, (1, 2, 3), rivals, facts={**facts, "risen": risen, "begun": begun})


def _separations(table: Table, risen: float, begun: float) -> np.ndarray:
    """Return by draw the time between the first rise and the last, and between records, over the time of one rise."""
    rank = int(select(table, "rank")["value"].iloc[0])
    sigma = select(table, "sigma")
    found = [_separation(each[each["index"] <= rank], risen, begun) for _, each in sigma.groupby("draw")]
    return np.array(found).T


def _separation(rows: Table, risen: float, begun: float) -> tuple[float, float]:
    wide = rows.pivot_table(index="time", columns="index", values="value")
    times = wide.index.to_numpy()

    def passed(level: float) -> np.ndarray:
        when = []
        for index in wide.columns:
            share = wide[index].to_numpy() / wide[index].iloc[-1]
            after = max(int(np.argmax(share >= level)), 1)
            when.append(np.interp(level, share[after - 1 : after + 1], times[after - 1 : after + 1]))
        return np.array(when)

    duration = float(np.median(passed(1 - begun) - passed(begun)))
    middle = passed(risen)
    return float(middle.max() - middle.min()) / duration, float(times[1] - times[0]) / duration
