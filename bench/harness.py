"""A row: two ways of doing one piece of work, alternating; what they give is compared before times are."""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MISSING = "peer not installed"
LIMIT = "a limit: a part that ours contains and no other way can leave out"


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    work, peer : str
        What is done, and the alternative to compare with. It may be a limit (`LIMIT`): a part that ours contains,
        such as its random numbers alone.
    goal : float or None
        How many times faster than the peer ours is meant to be, below one for a limit; None where the ratio is for
        information.
    ours, theirs : callable
        Do the work and return what came out; a peer may do a part of it (`share`), which is said in `note`. None
        instead of a peer that is not installed.
    agree : callable
        Raises AssertionError unless the two outcomes are the same.
    share : float
        The part of the work that the peer does; its time is divided by it.
    note : str
        A remark of the table's last column.
    """

    work: str
    peer: str
    goal: float | None
    ours: Callable[[], Any]
    theirs: Callable[[], Any] | None
    agree: Callable[[Any, Any], None]
    share: float = 1.0
    note: str = ""


def installed(module: str) -> bool:
    """Whether an optional peer can be imported."""
    return importlib.util.find_spec(module) is not None


def close(rtol: float) -> Callable[[Any, Any], None]:
    """Return a comparison of arrays, relative to the largest entry."""

    def agree(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=rtol * np.abs(theirs).max())

    return agree


def timed(row: Row, repeats: int) -> dict[str, Any]:
    """Run both sides once to compare them (and to compile), then alternately, and return the row of the table."""
    ours, theirs = [], []
    if row.theirs is not None:
        row.agree(row.ours(), row.theirs())
        for _ in range(repeats):
            ours.append(seconds(row.ours))
            theirs.append(seconds(row.theirs) / row.share)
    ratio = min(theirs) / min(ours) if ours else np.nan
    return {
        "work": row.work,
        "peer": row.peer,
        "ours_s": min(ours, default=np.nan),
        "ours_median_s": float(np.median(ours)) if ours else np.nan,
        "peer_s": min(theirs, default=np.nan),
        "peer_median_s": float(np.median(theirs)) if theirs else np.nan,
        "ratio": ratio,
        "goal": row.goal,
        "met": None if row.goal is None or not ours else bool(ratio >= row.goal),
        "note": row.note if ours else MISSING,
    }


def seconds(work: Callable[[], Any]) -> float:
    """Return how long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
