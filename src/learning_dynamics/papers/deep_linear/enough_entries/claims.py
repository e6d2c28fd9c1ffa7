"""How many observed entries are enough, by method."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, at_least, claim
from learning_dynamics.evidence import mean
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select


@claim("Setting: matrix completion; few and many observations", scope="Gaussian low-rank matrices, smaller than the "
       "slides' at default scale; nested sets of observed entries, plain descent from one small initialisation scale",
       empirical=True)  # fmt: skip
def enough_entries(depth_2: Table, depth_3: Table, convex: Table, *, scale: Positive, recovered: Fraction) -> Finding:
    r"""Nuclear-norm minimisation recovers a low-rank matrix if observations are sufficiently many; depth 3 needs fewer,
    and no more than depth 2.

    A draw's threshold is the smallest number of observed entries from which on the mean square error over all entries
    stays at most {recovered:g} of the mean square entry; where it lies between that number and the one before in the
    grid is not known, so that the convex program's is taken as the one before. A draw without a threshold decides
    nothing. The convex program needs {factor:.2g} times as many as
    depth 3, the geometric mean over {draws} draws; median thresholds are {of_convex:.0f} for the convex program,
    {of_2:.0f} at depth 2 and {of_3:.0f} at depth 3, all from initialisation scale {scale:g}.
    """
    needed = {
        "convex": thresholds(convex, recovered),
        "depth 2": thresholds(select(depth_2, scale=scale), recovered),
        "depth 3": thresholds(select(depth_3, scale=scale), recovered),
    }

    grid = np.sort(convex["observed"].unique()).astype(float)

    def judge(methods: tuple[str, str, str]) -> Judgement:
        most, middle, least = (needed[name] for name in methods)
        return Judgement(
            at_least("log2 of the number before the convex program's threshold over depth 3's threshold",
                     mean(np.log2(number_before(grid, most) / least)), 0.0,
                     because="wherever between neighbouring numbers of entries thresholds lie"),
            at_least("log2 of the threshold, depth 2 over depth 3", mean(np.log2(middle / least)), 0.0,
                     because="depth 3 needs no more than depth 2"),
        )  # fmt: skip

    rivals = {
        "the convex program needs fewest": ("depth 3", "depth 2", "convex"),
        "depth makes no difference": ("depth 3", "depth 3", "depth 3"),
        "the convex program needs what depth 3 needs": ("depth 3", "depth 2", "depth 3"),
        "depth 2 needs fewer than depth 3": ("convex", "depth 3", "depth 2"),
    }
    facts = {"of_convex": float(np.median(needed["convex"])), "of_2": float(np.median(needed["depth 2"])),
             "of_3": float(np.median(needed["depth 3"])), "scale": scale, "recovered": recovered,
             "factor": float(2 ** np.mean(np.log2(needed["convex"] / needed["depth 3"])))}  # fmt: skip
    return Finding(judge, ("convex", "depth 2", "depth 3"), rivals, facts=facts)
