"""The blocks of a configuration: which of their keys are settings, and which name runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from learning_dynamics.pipeline.config import Block

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
    """Return all settings of a run's or data set's block: its own, swept ones, those of measuring."""
    own = own_settings("data", own_settings("run", block))
    return {**own, **block.get("sweep", {}), **block.get("measure", {})}


def placed(block: Mapping[str, Any], values: Mapping[str, Any]) -> Block:
    """Return values of a run's settings where its block has them: those of measuring below ``measure``."""
    measured = taken(values, block.get("measure", {}))
    own = {key: value for key, value in values.items() if key not in measured}
    return own | {"measure": measured} if measured else own


def names(roles: Roles) -> list[str]:
    """Return the runs that roles name, in their order."""
    return [name for given in roles.values() for name in (given if isinstance(given, list) else [given])]


def taken(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what is given under some names, in the order given."""
    names = set(names)
    return {key: value for key, value in given.items() if key in names}
