"""Where in the source what the page shows is written: the code of a figure or claim, the title of a topic."""

from __future__ import annotations

import os

from learning_dynamics.pipeline.config import ROOT
from learning_dynamics.pipeline.sources import PARTS, SOURCE_ROOT, parsed, part_module


def code_of(paper: str, stage: str, kind: str) -> str:
    """Return where the function of a figure or claim stands: path below the project's folder, and line."""
    path = SOURCE_ROOT.joinpath(*part_module(paper, PARTS[stage], kind).split(".")).with_suffix(".py")
    name = kind.rpartition(".")[2]
    line = next((node.lineno for node in parsed(path).body if getattr(node, "name", None) == name), 1)
    return f"{os.path.relpath(path, ROOT)}#L{line}"


def topic_title(paper: str, topic: str) -> str:
    """Return a topic's title: the first sentence of its package's docstring, else its name in words."""
    file = SOURCE_ROOT / "learning_dynamics/papers" / paper / topic / "__init__.py"
    tree = parsed(file) if file.is_file() else None
    first = tree.body[0] if tree and tree.body else None
    docstring = getattr(getattr(first, "value", None), "value", None)
    if not isinstance(docstring, str):
        return topic.replace("_", " ").capitalize()
    return " ".join(docstring.strip().split("\n\n")[0].split()).rstrip(".")
