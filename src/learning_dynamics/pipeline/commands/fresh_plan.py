"""Plans for a process that stays, such as a notebook's: made again when the configuration or the sources change."""

import json
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.pipeline.plan import digests
from learning_dynamics.pipeline.plan.config_files import PAPERS, ROOT, load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.sources import PACKAGE, SOURCE_ROOT

State = dict[Path, tuple[int, int]]  # of files: when they were changed, and their sizes

# by overlays and values of the command line: the state of the configuration's files, and the plan
_plans: dict[tuple[tuple[Path, ...], str], tuple[State, Plan]] = {}
_sources: dict[str, State] = {}  # as they were when the process imported them, and when they were last looked at


def fresh_plan(files: tuple[Path, ...], given: Mapping[str, Any], check: bool) -> Plan:
    """Return the plan of overlays and values of the command line, with files as they are now.

    Where the sources differ from those that this process imported, a plan that is to be checked, whose functions will
    be called, comes with a warning: results on disk are compared with the sources, and the old functions would run.

    Raises
    ------
    ProjectError
        At the first mistake in the configuration.
    """
    sources = _state(_files_below(SOURCE_ROOT / PACKAGE, {".py", *digests.DATA_FILES}))
    imported = _sources.setdefault("imported", sources)
    last = _sources.setdefault("last", sources)
    if sources != last:
        _sources["last"] = sources
        digests.forget()
        _plans.clear()
    if check and sources != imported:
        warnings.warn("the project's source has changed since this kernel read it; restart the kernel", stacklevel=4)

    key = files, json.dumps([given, check], sort_keys=True, default=str)
    state = _state([*files, ROOT / "config.yaml", *_files_below(ROOT / PAPERS, {".yaml"})])
    if key in _plans:
        state_before, plan = _plans[key]
        if state_before == state:
            return plan
    plan = Plan(load(files, given), check)
    _plans[key] = state, plan
    return plan


def _files_below(folder: Path, ends: Collection[str]) -> list[Path]:
    return [file for file in folder.rglob("[!.]*.*") if file.suffix in ends]


def _state(files: Iterable[Path]) -> State:
    states: State = {}
    for file in files:
        if file.is_file():
            status = file.stat()
            states[file] = status.st_mtime_ns, status.st_size
    return states
