"""Where a verdict turns, in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd


def describe_turning(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return where a claim's verdict turns with one setting, in a line."""
    stretches = []
    for row in rows:
        first, last = (format_value(row[end]) for end in ("from", "to"))
        values = f"at {first}" if first == last else f"from {first} to {last}"
        failing = row["verdict"] not in ("reproduced", "corrected") and not pd.isna(row["share"])
        stretches.append(f"{row['verdict']} {values}" + (f" ({row['share']:.0%} of draws for it)" if failing else ""))
    return f"`{rows[0]['setting']}` of {rows[0]['run']}: {', '.join(stretches)}"


def format_value(value: str) -> str:
    """Return a value tried as one writes it by hand: 1e-6 for 1e-06, and sizes of classes by colons.

    >>> format_value("1e+06"), format_value("[[64, 16, 4, 1]]"), format_value("[0.1, 0.5]")
    ('1e6', '64:16:4:1', '[0.1, 0.5]')
    """
    one_list = re.fullmatch(r"\[\[([\d, ]+)\]\]", value)
    if one_list:
        return one_list[1].replace(", ", ":")
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", value)
