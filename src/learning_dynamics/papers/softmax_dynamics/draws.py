"""Shares of draws with their intervals, the draws from small starts, and rows of the tables by cell.

What holds of draws is an array of shape (draws,): 1 or True where it holds, 0 or False where not, nan where it is
undecided, as for a flow that failed. `share_of_draws`, and `most_draws` here, count nan against the claim. A rival of
such a check is another array: of each draw, whether what the rival says holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from learning_dynamics.evidence import LEVEL, Estimate, share
from learning_dynamics.judging import Check, Checks, premise, share_of_draws, takes_rivals
from learning_dynamics.papers.softmax_dynamics.sizes import ratio
from learning_dynamics.tidy import Quantity, Table, select

# texts that several claims share: a scope, the reason of a bound of one half, a reason to leave draws out; V classes, d
# dimensions of the features
TREATED = "skewed classes of 8 examples, V = 4, d = 2, cross-entropy, gradient flow from four scales"
MORE_OFTEN = "more often than not"
NOT_UNIFORM = "starts of larger scale, whose predictions are not near uniform"


def unless_nan(holds: ArrayLike, *numbers: ArrayLike) -> np.ndarray:
    """Return whether something holds of each draw, 1 or 0; nan where one of the `numbers` that decide it is nan."""
    return np.where(np.isnan(np.asarray(numbers, dtype=float)).any(axis=0), np.nan, holds)


def share_true(holds: ArrayLike) -> float:
    """Return the share of all draws of which something holds; a draw of nan counts as one of which it does not.

    nan if there are no draws.
    """
    flags = np.asarray(holds) == 1
    return float(flags.mean()) if flags.size else np.nan


def pairs_in_order(times: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return each member's share of pairs of classes of different size of which the larger is learned first.

    Parameters
    ----------
    times, sizes : ndarray, shape (members, classes)
        Pairs that are never learned, at infinite times, are not in order; a member with a time of nan is nan.
    """
    # shape (members, classes, classes): whether the first of two classes is larger, or earlier, than the second
    larger = sizes[:, :, None] > sizes[:, None, :]
    earlier = times[:, :, None] < times[:, None, :]
    shares = (larger & earlier).sum(axis=(1, 2)) / larger.sum(axis=(1, 2))
    return np.where(np.isnan(times).any(axis=1), np.nan, shares)


def first_two(course: Table, quantity: Quantity) -> pd.DataFrame:
    """Return a quantity's first two entries along a course, by seed and time: a column for each."""
    rows = select(course, quantity, index=[1, 2])
    return rows.pivot_table(index=["seed", "time"], columns="index", values="value")


def share_of(holds: Any) -> Estimate:
    """Return the share of draws of which something holds, with Wilson's interval; `holds` must have no nan."""
    return share(np.sum(holds), len(holds))


def share_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the difference of two independent shares, with Newcombe's interval from Wilson's.

    Parameters
    ----------
    first, second : ndarray of bool, shapes (draws,) and (other draws,)
        A caller decides what nan counts as, by ``== 1`` (as false) or ``!= 0`` (as true).
    """
    p, q = np.mean(first), np.mean(second)
    p_lower, p_upper = _wilson_interval(first)
    q_lower, q_upper = _wilson_interval(second)
    # Newcombe's method 10: the errors of p and of q add up like the legs of a right triangle
    lower = p - q - np.hypot(p - p_lower, q_upper - q)
    upper = p - q + np.hypot(p_upper - p, q - q_lower)
    return Estimate(
        value=float(p - q),
        lower=float(lower),
        upper=float(upper),
        draws=len(first) + len(second),
        how="difference of shares (Newcombe)",
    )


def _wilson_interval(holds: np.ndarray) -> tuple[float, float]:
    """Return the ends of Wilson's interval of the share of draws of which something holds."""
    interval = stats.binomtest(int(np.sum(holds)), len(holds)).proportion_ci(LEVEL, method="wilson")
    return interval.low, interval.high


def clause_of(clause: str, *numbers: float) -> str:
    """Return a clause of a claim's text with its numbers, or the empty text if one is nan, as the share of no draws is.

    The clause has a field for each number, as in ``"; {:.0%} of them align"``. A claim whose text needs it yields it as
    a fact.
    """
    return "" if np.isnan(numbers).any() else clause.format(*numbers)


def one_in(share: float) -> str:
    """Return a share in words: ``one in 20`` for 0.05."""
    return f"one in {1 / share:.3g}"


def premise_of_falls(name: str, falls: np.ndarray, premise_share: float) -> Check:
    """Check the premise of a comparison with controls: the rank falls often enough where nothing is left out.

    `falls` says of each draw whether the rank falls, or whether it shows three phases; nan counts as that it does not.
    """
    return premise(share_of_draws(name, falls, at_least=premise_share, because=f"{one_in(premise_share)} starts"))


def fall_rows(region: Table, quantity: Quantity, population: str, threshold: float) -> pd.DataFrame:
    """Return the rows of a quantity at a threshold.

    Added columns: fallen, whether the fall reaches the threshold, and ratio, the largest class over the smallest. Of a
    flow that failed, whose value is nan, `fallen` is False: `unless_nan` makes it undecided.
    """
    rows = select(region, quantity, population=population, threshold=threshold)
    return rows.assign(fallen=rows["value"] >= threshold, ratio=rows["counts"].map(ratio))


def narrowest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the fewest dimensions."""
    return rows[rows["dimension"] == rows["dimension"].min()]


def times_by_scale(flows: Sequence[Table]) -> pd.DataFrame:
    """Return when classes are learned: a column for each scale, smallest first.

    Rows are indexed by counts, dimension, seed and index, the number of the class by size.
    """
    rows = pd.concat(flows).set_index(["counts", "dimension", "seed", "index", "scale"])["value"]
    return rows.unstack("scale")  # noqa: PD010 - a series


def slopes_by_scale(times: pd.DataFrame) -> pd.DataFrame:
    """Return slopes of learning times on log(1 / scale) between the two smallest scales.

    `times` is as `times_by_scale` returns it. A row for each counts, dimension and seed, a column for each class.
    """
    smallest, larger = times.columns[:2]
    return ((times[smallest] - times[larger]) / np.log(larger / smallest)).unstack("index")  # noqa: PD010 - a series


@dataclass(frozen=True)
class SmallStarts:
    """The members of a grid that start at a scale up to `small_scale`; a claim on small starts judges these alone.

    Attributes
    ----------
    scale : ndarray, shape (members,)
    small_scale : float
    reason : str
        Why members of larger scales are not judged.
    """

    scale: np.ndarray
    small_scale: float
    reason: str = NOT_UNIFORM

    @property
    def judged(self) -> np.ndarray:
        """Whether each member is judged, shape (members,)."""
        return self.scale <= self.small_scale

    @property
    def excluded(self) -> dict[str, int]:
        """How many members are not judged, by the reason."""
        return {self.reason: int((~self.judged).sum())}

    def by_scale(self) -> Iterator[tuple[float, np.ndarray]]:
        """Yield each of the small scales, and whether each member starts at it."""
        for scale in np.unique(self.scale[self.judged]):
            yield scale, self.scale == scale


@takes_rivals("holds")
def most_draws(
    name: str, holds: ArrayLike, *, majority_share: float, excluded: Mapping[str, int] | None = None
) -> Check:
    """Check that something holds of most draws, a share of `majority_share` or more; nan counts against it.

    `takes_rivals` adds `rivals`: of each rival whether what it says holds of each draw, instead of `holds`.
    """
    because = MORE_OFTEN if majority_share == 0.5 else "the share that counts as most"
    return share_of_draws(name, holds, at_least=majority_share, because=because, excluded=excluded)


def most_small_starts(
    name: str, holds: np.ndarray, starts: SmallStarts, *, majority_share: float, rivals: Mapping[str, np.ndarray]
) -> Checks:
    """Check that something holds of most draws from small starts, then of most of those of each small scale.

    Parameters
    ----------
    holds : ndarray, shape (members,)
        Of the whole grid, as for `most_draws`.
    rivals : mapping from phrase to ndarray, shape (members,)
        Of each member, whether what the rival says holds. A rival alters all of these checks, and is refused if one of
        them does not hold.
    """

    def check_of_most(name: str, judged: np.ndarray, excluded: Mapping[str, int] | None = None) -> Check:
        """Check the members that the mask `judged` selects."""
        rivals_of_judged = {phrase: rival_holds[judged] for phrase, rival_holds in rivals.items()}
        return most_draws(
            name, holds[judged], majority_share=majority_share, excluded=excluded, rivals=rivals_of_judged
        )

    yield check_of_most(name, starts.judged, starts.excluded)
    # the name of each says which scale it judges, so that nothing is reported as left out
    for scale, starts_at_scale in starts.by_scale():
        yield check_of_most(f"{name}, at scale {scale:g}", starts_at_scale)
