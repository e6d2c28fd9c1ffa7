"""How far a long loop is: a bar on a terminal, a plain line now and then in a log; and what time it has left."""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
LINE_INTERVAL = 10.0  # seconds between lines in a log; chosen


def progress(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield `items`, saying on standard error how many of them are done."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, desc=label)
        return
    started = printed = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - printed >= LINE_INTERVAL or done == len(items):
            print(f"{label}: {done} of {len(items)} after {now - started:.0f} s", file=sys.stderr, flush=True)
            printed = now


_ends = math.inf


def grant(seconds: float) -> None:
    """Let `time_left` count down from some seconds; work that can be resumed stops when it reaches zero."""
    global _ends  # noqa: PLW0603  no result depends on it
    _ends = time.monotonic() + seconds


def time_left() -> float:
    """Return the seconds that this process was granted and has not used; infinite where nobody set a limit."""
    return _ends - time.monotonic()
