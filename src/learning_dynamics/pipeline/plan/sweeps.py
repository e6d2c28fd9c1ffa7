"""The runs that a swept run stands for, by name, and the tables that their metrics make."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

Members = list[tuple[str, dict[str, Any]]]  # each run's name, and the settings in which it differs
# how a person writes one axis of a sweep
GRAMMAR = "write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log"


def sweep_members(name: str, sweep: Mapping[str, Sequence[Any]] | None) -> Members:
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


def sweep_tables(name: str, sweep: Mapping[str, Sequence[Any]] | None, bundle: int = 1) -> dict[str, Members]:
    """Return the tables of metrics of a (swept) run by name, each with its members: one, or `bundle` of them.

    At one to a bundle each run has a table of its own name. A bundle's name follows from the values that it holds,
    ``scan@306720189458``: a table never takes the place of one that holds other values.
    """
    members = sweep_members(name, sweep)
    if bundle == 1:
        return {member: [(member, differing)] for member, differing in members}
    bundles = (members[start : start + bundle] for start in range(0, len(members), bundle))
    return {f"{name}@{_number_of(held)}": held for held in bundles}


def _number_of(members: Members) -> str:
    """Return twelve digits that follow from the values of a bundle's members."""
    values = json.dumps([differing for _, differing in members])
    return f"{int(hashlib.sha256(values.encode()).hexdigest(), 16) % 10**12:012d}"
