"""The blocks of a configuration: which of their keys are settings, and which name runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Spec = dict[str, Any]
Roles = Mapping[str, str | list[str]]  # a run for each role, or a list of them
# what in the block of a stage's job is no setting
KEYS = {
    "data": {"source", "wild", "provenance", "resources"},
    "run": {
        *("kind", "data", "like", "sweep", "bundle", "wild", "provenance"),
        *("resources", "measure", "measure_resources", "keep"),
    },
    "figure": {"kind", "runs"},
    "motion": {"kind", "runs"},
    "interactive": {"kind", "runs", "figure"},
    "claims": {"kind", "runs", "figure", "expected", "vary", "wild"},
}
NOT_SWEPT = KEYS["run"] - {"data", "kind"}


def own_settings(stage: str, block: Mapping[str, Any]) -> Spec:
    """Return the settings that a block gives, without swept ones and those of measuring."""
    return {key: value for key, value in block.items() if key not in KEYS[stage]}


def every_setting(block: Mapping[str, Any]) -> Spec:
    """Return all settings of a run's or data set's block, `flat`: its own, swept ones, those of measuring."""
    own = own_settings("data", own_settings("run", block))
    return {**flat(own), **block.get("sweep", {}), **flat(block.get("measure", {}))}


def flat(settings: Mapping[str, Any]) -> Spec:
    """Return settings with those of a class one by one, under keys like ``limit.rtol``."""
    found: Spec = {}
    for key, value in settings.items():
        found |= {f"{key}.{inner}": one for inner, one in value.items()} if isinstance(value, Mapping) else {key: value}
    return found


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> Spec:
    """Return settings with others over them, whose keys may be like ``limit.rtol``; those of a class one by one."""
    found = dict(below)
    for key, value in flat(above).items():
        name, _, inner = key.partition(".")
        held = found.get(name)
        found[name] = {**(held if isinstance(held, Mapping) else {}), inner: value} if inner else value
    return found


def placed(block: Mapping[str, Any], values: Mapping[str, Any]) -> Spec:
    """Return values of a run's settings where its block has them: those of measuring below ``measure``."""
    measured = taken(values, flat(block.get("measure", {})))
    own = overlaid({}, {key: value for key, value in values.items() if key not in measured})
    return own | {"measure": overlaid({}, measured)} if measured else own


def names(roles: Roles) -> list[str]:
    """Return the runs that roles name, in their order."""
    return [name for given in roles.values() for name in (given if isinstance(given, list) else [given])]


def taken(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what is given under some names, in the order given."""
    names = set(names)
    return {key: value for key, value in given.items() if key in names}
