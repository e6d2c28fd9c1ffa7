"""How far a long loop is: a bar on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")
LINE_INTERVAL = 10.0  # seconds between lines in a log


def progress(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield `items`, saying on standard error how many of them are done."""
    if sys.stderr.isatty():
        yield from tqdm(items, desc=label)
        return
    started = said = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - said >= LINE_INTERVAL or done == len(items):
            print(f"{label}: {done} of {len(items)} after {now - started:.0f} s", file=sys.stderr, flush=True)
            said = now
