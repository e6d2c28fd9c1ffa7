"""Where a verdict turns, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd


def in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return where a claim's verdict turns with one setting, in a line."""
    stretches = []
    for row in rows:
        at = f"at {row['from']}" if row["from"] == row["to"] else f"from {row['from']} to {row['to']}"
        failing = row["verdict"] not in ("reproduced", "corrected") and not pd.isna(row["share"])
        stretches.append(f"{row['verdict']} {at}" + (f" ({row['share']:.0%} of draws for it)" if failing else ""))
    return f"`{rows[0]['setting']}` of {rows[0]['run']}: {', '.join(stretches)}"
