"""Settings in blocks of a configuration, laid over one another; and the runs that blocks name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Spec = dict[str, Any]
Roles = Mapping[str, str | list[str]]  # a run for each role, or a list of them


def flat(settings: Mapping[str, Any]) -> Spec:
    """Return settings with those of a class one by one, under keys like ``limit.rtol``."""
    flattened: Spec = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flattened |= {f"{key}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            flattened[key] = value
    return flattened


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> Spec:
    """Return settings with others over them, whose keys may be like ``limit.rtol``; those of a class one by one."""
    merged = dict(below)
    for key, value in flat(above).items():
        name, _, inner = key.partition(".")
        if not inner:
            merged[name] = value
            continue
        current = merged.get(name)
        fields = current if isinstance(current, Mapping) else {}
        merged[name] = {**fields, inner: value}
    return merged


def map_roles(change: Callable[[Any], Any], roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `change` makes of the run, table or spec of each role, or of each that the role lists."""
    changed: dict[str, Any] = {}
    for role, given in roles.items():
        changed[role] = [change(item) for item in given] if isinstance(given, list) else change(given)
    return changed


def run_names(roles: Roles) -> list[str]:
    """Return the runs that roles name, in their order."""
    names: list[str] = []
    for runs in roles.values():
        if isinstance(runs, list):
            names += runs
        else:
            names.append(runs)
    return names


def select_keys(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the entries of a mapping whose keys are among some names, in the order of the mapping."""
    names = set(names)
    return {key: value for key, value in values.items() if key in names}
