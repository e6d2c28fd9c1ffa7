"""A row: two ways of doing one piece of work, alternating; what they give is compared before times are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    work, peer : str
        What is done, and by what one would take instead.
    ours, theirs : callable
        Do the work and return what came out; a peer may do a part of it (`share`), which is said in `note`.
    goal : float
        How many times faster than the peer ours is meant to be.
    agree : callable
        Raises AssertionError unless the two outcomes are the same.
    share : float
        The part of the work that the peer does; its time is divided by it.
    note : str
    """

    work: str
    peer: str
    goal: float
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agree: Callable[[Any, Any], None]
    share: float = 1.0
    note: str = ""


def close(rtol: float) -> Callable[[Any, Any], None]:
    """Return a comparison of arrays, relative to the largest entry."""

    def agree(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=rtol * np.abs(theirs).max())

    return agree


def timed(row: Row, repeats: int) -> dict[str, Any]:
    """Run both sides once to compare them (and to compile), then alternately, and return the row of the table."""
    row.agree(row.ours(), row.theirs())
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(_seconds(row.ours))
        theirs.append(_seconds(row.theirs) / row.share)
    ratio = min(theirs) / min(ours)
    return {
        "work": row.work,
        "peer": row.peer,
        "ours_s": min(ours),
        "ours_median_s": float(np.median(ours)),
        "peer_s": min(theirs),
        "peer_median_s": float(np.median(theirs)),
        "ratio": ratio,
        "goal": row.goal,
        "met": ratio >= row.goal,
        "note": row.note,
    }


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
