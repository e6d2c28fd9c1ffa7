"""The blocks of a configuration: which of their keys are settings, and which name runs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Spec = dict[str, Any]
Roles = Mapping[str, str | list[str]]  # a run for each role, or a list of them
# what in the block of a stage's job is no setting
KEYS = {
    "data": {"source", "free", "provenance", "resources"},
    "run": {
        *("kind", "data", "extends", "sweep", "bundle", "free", "provenance"),
        *("resources", "measure", "measure_resources", "temporary"),
    },
    "figure": {"kind", "runs"},
    "motion": {"kind", "runs"},
    "interactive": {"kind", "runs", "figure"},
    "claims": {"kind", "runs", "figure", "expected", "vary", "free"},
}
NOT_SWEPT = KEYS["run"] - {"data", "kind"}


def own_settings(stage: str, block: Mapping[str, Any]) -> Spec:
    """Return the settings that a block gives, without swept ones and those of measuring."""
    return {key: value for key, value in block.items() if key not in KEYS[stage]}


def all_settings(block: Mapping[str, Any]) -> Spec:
    """Return all settings of a run's or data set's block, `flat`: its own, swept ones, those of measuring."""
    settings = own_settings("data", own_settings("run", block))
    return {**flat(settings), **block.get("sweep", {}), **flat(block.get("measure", {}))}


def flat(settings: Mapping[str, Any]) -> Spec:
    """Return settings with those of a class one by one, under keys like ``limit.rtol``."""
    flattened: Spec = {}
    for key, value in settings.items():
        flattened |= (
            {f"{key}.{inner}": inner_value for inner, inner_value in value.items()}
            if isinstance(value, Mapping)
            else {key: value}
        )
    return flattened


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> Spec:
    """Return settings with others over them, whose keys may be like ``limit.rtol``; those of a class one by one."""
    merged = dict(below)
    for key, value in flat(above).items():
        name, _, inner = key.partition(".")
        current = merged.get(name)
        merged[name] = {**(current if isinstance(current, Mapping) else {}), inner: value} if inner else value
    return merged


def place_settings(block: Mapping[str, Any], values: Mapping[str, Any]) -> Spec:
    """Return values of a run's settings where its block has them: those of measuring below ``measure``."""
    measured = select_keys(values, flat(block.get("measure", {})))
    simulated = overlay({}, {key: value for key, value in values.items() if key not in measured})
    return simulated | {"measure": overlay({}, measured)} if measured else simulated


def map_roles(change: Callable[[Any], Any], roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `change` makes of the run, table or spec of each role, or of each that the role lists."""
    return {
        role: [change(each) for each in given] if isinstance(given, list) else change(given)
        for role, given in roles.items()
    }


def run_names(roles: Roles) -> list[str]:
    """Return the runs that roles name, in their order."""
    return [name for runs in roles.values() for name in (runs if isinstance(runs, list) else [runs])]


def select_keys(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what is given under some names, in the order given."""
    names = set(names)
    return {key: value for key, value in values.items() if key in names}
