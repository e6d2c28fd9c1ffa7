"""Reproductions of papers on gradient-descent dynamics, each claim checked against what was measured.

In a notebook: ``import learning_dynamics as ld``, then ``ld.claims()``, ``ld.table(paper, run)``,
``ld.figure(paper, name)``, ``ld.trajectory(paper, run)``, ``ld.simulate(paper, run, **settings)``,
``ld.measure(paper, run, trajectory)`` and ``ld.judge(paper, claim, {role: trajectory})``; see
`learning_dynamics.pipeline.api`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"
__all__ = ["claims", "figure", "figures", "judge", "measure", "papers", "runs", "simulate", "table", "trajectory"]


def __getattr__(name: str) -> Any:
    # read on first use: no job waits for what only notebooks need
    if name not in __all__:
        raise AttributeError(f"module 'learning_dynamics' has no attribute {name!r}")
    return getattr(import_module("learning_dynamics.pipeline.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Called(ModuleType):
    """A module that answers when called as the function of its name does: claims, trajectory, papers."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        return getattr(import_module("learning_dynamics.pipeline.api"), self.__name__.rpartition(".")[2])(
            *arguments, **settings
        )


class _Package(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        # Python binds a submodule here when it is imported, over the function of the same name
        if name in __all__ and type(value) is ModuleType:
            value.__class__ = _Called
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
