"""Why an output is to be made again: what differs between its record and the plan, in a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.plan import FORMATS, Plan

MAX_CHANGES = 4  # changes, and modules of one, that are named; the others are counted
MAX_VALUE = 40  # characters of a value
SECTIONS = {"data": "data", "run": "runs", "metrics": "runs", "bundle": "runs", "claims": "claims"}
ChangedSetting = tuple[str, Any, Any]  # a setting, its value in the record, and in the plan
NOTHING = object()


def what_changed(record: Mapping[str, Any], plan: Plan) -> str:
    """Return in which settings, modules or inputs an output's record differs from the plan; "" if nothing is known.

    For example ``runs.small_scale.gamma: 0.0001 -> 0.0002; code: dynamics.gradient_flow``.
    """
    made_of = record.get("made_of")
    if made_of is None:
        return ""
    stage, paper = record["stage"], record["paper"]
    name = "claims" if stage == "claims" else record["name"]
    try:
        job, science = plan.job(stage, paper, name), plan.science(stage, paper, name)
    except (ProjectError, KeyError):
        return "no longer in the configuration"
    changes = [_describe(key, old, new) for key, old, new in _changed_settings(stage, name, made_of["spec"], job.spec)]
    before = made_of["science"]
    modules = sorted(module for module in before.keys() | science.keys() if before.get(module) != science.get(module))
    if modules:
        changes.append(f"code: {', '.join(_first_of(modules))}")
    if not changes and made_of["made_from"] != job.made_from:
        changes = ["its data set changed" if stage == "run" else "its run changed"]
    return "; ".join(_first_of(changes))


def _first_of(names: Sequence[str]) -> list[str]:
    """Return the first `MAX_CHANGES` of some names, and how many there are besides."""
    if len(names) <= MAX_CHANGES:
        return list(names)
    return [*names[:MAX_CHANGES], f"{len(names) - MAX_CHANGES} more"]


def _changed_settings(
    stage: str, name: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[ChangedSetting]:
    """Yield the settings that differ, under the keys of the configuration."""
    if stage == "claims":
        for claim in sorted(before["claims"].keys() | now["claims"].keys()):
            old, new = before["claims"].get(claim, {}), now["claims"].get(claim, {})
            yield from _differing(f"claims.{claim}", _by_dotted_key(old), _by_dotted_key(new))
        # below `settings`, a key that is left out of the dotted ones
        old, new = {"settings": before["robustness"]}, {"settings": now["robustness"]}
        yield from _differing("robustness", _by_dotted_key(old), _by_dotted_key(new))
        return
    section = "figures" if stage in FORMATS else SECTIONS[stage]
    owner = now.get("sweep", name) if stage == "bundle" else name
    prefix = f"{section}.{owner}"
    if stage == "metrics":
        prefix += ".measure"
    yield from _differing(prefix, _by_dotted_key(before), _by_dotted_key(now))


def _by_dotted_key(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec's entries by dotted keys; of a run that is read, the fingerprint by ``metrics of NAME``.

    Keys are those of the configuration: without the spec's own `settings` and `runs`.
    """
    flattened: dict[str, Any] = {}

    def visit(key: str, value: Any) -> None:
        if isinstance(value, Mapping) and {"name", "fingerprint"} <= value.keys():
            flattened[f"metrics of {value['name']}"] = value["fingerprint"]
        elif isinstance(value, Mapping):
            for inner, inner_value in value.items():
                visit(f"{key}.{inner}" if key else inner, inner_value)
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value):
                visit(f"{key}.{number}", item)
        else:
            flattened[key] = value

    for key, value in spec.items():
        visit("" if key in ("settings", "runs") else key, value)
    return flattened


def _differing(prefix: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[ChangedSetting]:
    """Yield the entries that differ, settings under their prefix."""
    for key in [*before, *(key for key in now if key not in before)]:
        old, new = before.get(key, NOTHING), now.get(key, NOTHING)
        if old == new:
            continue
        if key.startswith("metrics of "):
            yield key, old, new
        else:
            yield f"{prefix}.{key}", old, new


def _describe(key: str, before: Any, now: Any) -> str:
    if not key.startswith("metrics of "):
        return f"{key}: {_shown_value(before)} -> {_shown_value(now)}"
    if now is NOTHING:
        return f"{key} are no longer read"
    if before is NOTHING:
        return f"{key} are read"
    return f"{key} changed"


def _shown_value(value: Any) -> str:
    if value is NOTHING:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > MAX_VALUE:
        text = text[:MAX_VALUE] + "..."
    return text
