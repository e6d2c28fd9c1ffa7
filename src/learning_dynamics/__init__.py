"""Reproductions of papers on gradient-descent dynamics, each claim checked against what was measured.

In a notebook: ``import learning_dynamics as ld``, then ``ld.claims()``, ``ld.table(paper, run)``,
``ld.figure(paper, name)``, ``ld.trajectory(paper, run)``, ``ld.simulate(paper, run, **settings)``,
``ld.measure(paper, run, trajectory)`` and ``ld.judge(paper, claim, {role: trajectory})``; with an overlay
``ld.project("sweep.yaml").table(paper, run)``. See `learning_dynamics.pipeline.commands.api`.
"""

import os
from importlib import import_module

__version__ = "0.1.0"
__all__ = [
    *("claims", "figure", "figures", "judge", "measure", "paper_names", "project", "runs", "simulate", "table"),
    "trajectory",
]
# a full disk may take only a part of a compiled file; Python does not notice, and fails whenever it reads the file
CUT_SHORT = (
    "a compiled file is cut short, as a full disk leaves it; free space, delete them all, and run the "
    "same command again: find . -name __pycache__ -prune -exec rm -r {} +"
)

if "MPLBACKEND" in os.environ:
    from learning_dynamics.environment import replace_missing_backend

    replace_missing_backend()


def __getattr__(name: str) -> object:
    # imported on first use: no job waits for what only notebooks need
    if name not in __all__:
        raise AttributeError(f"module 'learning_dynamics' has no attribute {name!r}")
    try:
        api = import_module("learning_dynamics.pipeline.commands.api")
    except EOFError as error:
        if "marshal" in str(error):
            raise ImportError(CUT_SHORT) from None
        raise
    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
