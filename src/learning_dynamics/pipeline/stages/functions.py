"""The functions that a stage calls, and the fingerprint of what it is about to make."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline.provenance import fingerprint
from learning_dynamics.pipeline.sources import PARTS, data_module, part_module, science


def paper_function(paper: str, part: str, kind: str) -> Any:
    """Return ``topic.function`` of a part (runs, metrics, figures, claims) of a paper, importing its module alone."""
    return _function(part_module(paper, part, kind), kind)


def data_function(paper: str, source: str) -> Any:
    """Return the function of a data source."""
    return _function(data_module(paper, source), source)


def _function(module: str, kind: str) -> Any:
    name = kind.rpartition(".")[2]
    known = vars(importlib.import_module(module))
    if name not in known:
        raise ProjectError(f"{module}: no function `{name}`{near(name, [key for key in known if key[0] != '_'])}")
    return known[name]


def science_of(stage: str, paper: str, kind: str) -> Mapping[str, str]:
    """Return the digests of the science that a job calls."""
    return science(data_module(paper, kind) if stage == "data" else part_module(paper, PARTS[stage], kind))


def fingerprint_here(stage: str, paper: str, kind: str, spec: Any, made_from: Any, expected: str | None) -> str:
    """Return the fingerprint of what a job makes, with the source as it stands now.

    Raises
    ------
    ProjectError
        If it is not the expected one: the source was edited after Snakemake read it.
    """
    found = fingerprint(stage, spec, science_of(stage, paper, kind), made_from)
    if expected is not None and found != expected:
        raise ProjectError(
            f"{paper} {kind}: the source or the settings have changed since Snakemake planned this job; "
            "run the same command again"
        )
    return found
