"""How many observed entries are enough, by method."""

import numpy as np

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Checks, Finding, at_least, claim
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select


@claim(
    "Slides 26, 31 and 32, Setting: matrix completion; few and many observations",
    quantifier="an average",
    scope="Gaussian low-rank matrices, smaller than the "
    "slides' at default scale; nested sets of observed entries, plain descent from one small initialisation scale",
    empirical=True,
)
def enough_entries(depth_2: Table, depth_3: Table, convex: Table, *, scale: Positive, recovered: Fraction) -> Finding:
    r"""Nuclear-norm minimisation recovers a low-rank matrix if observations are sufficiently many; depth 3 needs fewer,
    and no more than depth 2.

    A draw's threshold is the smallest number of observed entries from which on the mean square error over all entries
    stays at most {recovered:g} of the mean square entry; where it lies between that number and the one before in the
    grid is not known, so that the convex program's is taken as the one before. What networks that did not reach their
    training loss would have come to is not known either: each is taken as what speaks against the claim ({open} draws
    have such a threshold). The convex program needs at least {factor:.2g} times as many as
    depth 3, the geometric mean over {draws} draws; median thresholds are {of_convex:.0f} for the convex program,
    {of_2:.0f} at depth 2 and {of_3:.0f} at depth 3, all from initialisation scale {scale:g}.
    """
    tables = {"convex": convex, "depth 2": select(depth_2, scale=scale), "depth 3": select(depth_3, scale=scale)}
    bounds = {name: thresholds(table, recovered) for name, table in tables.items()}
    grid = np.sort(convex["observed"].unique()).astype(float)

    def judge(methods: tuple[str, str, str]) -> Checks:
        (most, _), (middle, _), (_, least) = (bounds[name] for name in methods)
        yield at_least(
            "log2 of the number before the convex program's threshold over depth 3's threshold",
            mean(_octaves(number_before(grid, most), least)),
            0.0,
            because="wherever between neighbouring numbers of entries thresholds lie",
        )
        yield at_least(
            "log2 of the threshold, depth 2 over depth 3",
            mean(_octaves(middle, least)),
            0.0,
            because="depth 3 needs no more than depth 2",
        )

    rivals = {
        "the convex program needs fewest": ("depth 3", "depth 2", "convex"),
        "depth makes no difference": ("depth 3", "depth 3", "depth 3"),
        "the convex program needs what depth 3 needs": ("depth 3", "depth 2", "depth 3"),
        "depth 2 needs fewer than depth 3": ("convex", "depth 3", "depth 2"),
    }
    lower, upper = zip(*bounds.values(), strict=True)
    of_convex, of_2, of_3 = np.median(upper, axis=1)
    facts = {
        "of_convex": of_convex,
        "of_2": of_2,
        "of_3": of_3,
        "scale": scale,
        "recovered": recovered,
        "open": int(np.sum(np.less(lower, upper))),
        "factor": 2 ** np.mean(_octaves(lower[0], upper[-1])),
    }
    return Finding(judge, ("convex", "depth 2", "depth 3"), rivals, facts=facts)


def _octaves(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return log2 of ratios of numbers of entries; nan where both are infinite, that is, beyond the grid."""
    with np.errstate(invalid="ignore"):
        return np.log2(numerator) - np.log2(denominator)
