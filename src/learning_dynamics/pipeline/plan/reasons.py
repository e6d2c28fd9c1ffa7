"""Why an output is to be made again: what differs between its record and the plan, in a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.config import SECTIONS
from learning_dynamics.pipeline.plan.plan import Plan

MAX_CHANGES = 4  # how many changes are named, and how many modules in the change of code; the others are counted
MAX_VALUE = 40  # characters of a value
METRICS_OF = "metrics of "  # a run that is read becomes one entry, `metrics of NAME`, whose value is its fingerprint
ChangedSetting = tuple[str, Any, Any]  # a setting, its value in the record, and in the plan
NOTHING = object()


def what_changed(record: Mapping[str, Any], plan: Plan) -> str:
    """Return in which settings, modules or inputs an output's record differs from the plan.

    For example ``runs.small_scale.gamma: 0.0001 -> 0.0002; code: dynamics.gradient_flow``; "" if nothing is known, as
    of a bundle whose data set alone changed.
    """
    made_of = record.get("made_of")
    if made_of is None:
        return ""
    stage, paper = record["stage"], record["paper"]
    # each of the tables that a job of claims writes has its own name in its record: `checks`, `variations`
    name = "claims" if stage == "claims" else record["name"]
    try:
        job, science = plan.job(stage, paper, name), plan.science(stage, paper, name)
    except (ProjectError, KeyError):
        return "no longer in the configuration"
    changed_settings = _changed_settings(stage, name, made_of["spec"], job.spec)
    # one run may be read by many claims
    changes = list(dict.fromkeys(_describe(key, old, new) for key, old, new in changed_settings))
    before = made_of["science"]
    modules = sorted(module for module in before.keys() | science.keys() if before.get(module) != science.get(module))
    if modules:
        changes.append(f"code: {', '.join(_first_of(modules))}")
    if not changes and made_of["made_from"] != job.made_from:
        # of the same spec by the same code, the output differs by its input; only runs and metrics have one
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
    """Yield the settings that differ, under the keys of the configuration; a run of a sweep under its own name."""
    if stage == "claims":
        for claim in sorted(before["claims"].keys() | now["claims"].keys()):
            old, new = before["claims"].get(claim, {}), now["claims"].get(claim, {})
            yield from _differing(f"claims.{claim}", _block(old), _block(new))
        yield from _differing("robustness", before["robustness"], now["robustness"])
        return
    owner = now["sweep"] if stage == "bundle" else name
    settings_key = "measure" if stage == "metrics" else ""
    yield from _differing(
        f"{SECTIONS.get(stage, stage)}.{owner}", _block(before, settings_key), _block(now, settings_key)
    )


def _block(spec: Mapping[str, Any], settings_key: str = "") -> dict[str, Any]:
    """Return a spec as the configuration has it: settings beside the other keys, or together below a key."""
    block: dict[str, Any] = {}
    for key, value in spec.items():
        if key != "settings":
            block[key] = value
        elif settings_key:
            block[settings_key] = value
        else:
            block |= value
    return block


def _by_dotted_key(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a block by dotted keys; of a run that is read, by `METRICS_OF` and its name."""
    flattened: dict[str, Any] = {}

    def visit(key: str, value: Any) -> None:
        if isinstance(value, Mapping) and {"name", "fingerprint"} <= value.keys():
            flattened[f"{METRICS_OF}{value['name']}"] = value["fingerprint"]
        elif isinstance(value, Mapping):
            for inner, inner_value in value.items():
                visit(f"{key}.{inner}", inner_value)
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value):
                visit(f"{key}.{number}", item)
        else:
            flattened[key] = value

    for key, value in block.items():
        visit(key, value)
    return flattened


def _differing(prefix: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[ChangedSetting]:
    """Yield the entries of two blocks that differ, settings under their prefix."""
    before, now = _by_dotted_key(before), _by_dotted_key(now)
    for key in [*before, *(key for key in now if key not in before)]:
        old, new = before.get(key, NOTHING), now.get(key, NOTHING)
        if old == new:
            continue
        if key.startswith(METRICS_OF):
            yield key, old, new
        else:
            yield f"{prefix}.{key}", old, new


def _describe(key: str, before: Any, now: Any) -> str:
    if not key.startswith(METRICS_OF):
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
