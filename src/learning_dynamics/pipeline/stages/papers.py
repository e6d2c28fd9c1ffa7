"""The functions of a paper that a stage calls."""

from __future__ import annotations

import importlib
from typing import Any

from learning_dynamics.pipeline.sources import defining_module


def paper_function(paper: str, part: str, name: str) -> Any:
    """Return a function of a paper's part (runs, metrics, figures, claims), importing its module alone."""
    return getattr(importlib.import_module(defining_module(paper, part, name)), name)
