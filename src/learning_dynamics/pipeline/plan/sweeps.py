"""The runs that a swept run stands for, by name, and the tables that their metrics make."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

SweptRuns = list[tuple[str, dict[str, Any]]]  # each run's name, and the settings in which it differs
# how a person writes one axis of a sweep
GRAMMAR = "write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log"


def runs_of_sweep(name: str, sweep: Mapping[str, Sequence[Any]] | None) -> SweptRuns:
    """Return the runs that a (swept) run stands for: pairs of run name and the settings that differ.

    A run that is not swept stands for itself. A sweep has a run for each element of the product of the swept values,
    the last setting varying fastest.
    """
    if not sweep:
        return [(name, {})]
    runs = []
    for values in itertools.product(*sweep.values()):
        differing = dict(zip(sweep, values, strict=True))
        suffix = "".join(f"--{key}-{value}" for key, value in differing.items())
        runs.append((name + suffix, differing))
    return runs


def sweep_tables(name: str, sweep: Mapping[str, Sequence[Any]] | None, bundle: int = 1) -> dict[str, SweptRuns]:
    """Return the tables of metrics of a (swept) run by name, each with its runs: one, or `bundle` of them.

    At one to a bundle each run has a table of its own name. A bundle's name follows from the values that it holds,
    ``scan@306720189458``: a table never takes the place of one that holds other values.
    """
    runs = runs_of_sweep(name, sweep)
    if bundle == 1:
        return {run: [(run, differing)] for run, differing in runs}
    bundles = (runs[start : start + bundle] for start in range(0, len(runs), bundle))
    return {f"{name}@{_bundle_number(runs_of_bundle)}": runs_of_bundle for runs_of_bundle in bundles}


def _bundle_number(runs: SweptRuns) -> str:
    """Return twelve digits that follow from the values of a bundle's runs."""
    values = json.dumps([differing for _, differing in runs])
    return f"{int(hashlib.sha256(values.encode()).hexdigest(), 16) % 10**12:012d}"
