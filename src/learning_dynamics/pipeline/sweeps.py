"""The runs that a swept run stands for, by name."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

# how a person writes one axis of a sweep
GRAMMAR = "write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log"


def sweep_members(name: str, sweep: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the runs that a (swept) run stands for: pairs of run name and the settings that differ.

    A run that is not swept stands for itself. Members are the product of the swept values, the last
    setting varying fastest.
    """
    if not sweep:
        return [(name, {})]
    members = []
    for values in itertools.product(*sweep.values()):
        differing = dict(zip(sweep, values, strict=True))
        suffix = "".join(f"--{key}-{value}" for key, value in differing.items())
        members.append((name + suffix, differing))
    return members
