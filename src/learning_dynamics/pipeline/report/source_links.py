"""Where in the source what the page shows is written: the code of a figure or claim, the title of a topic."""

import ast
import os
import re

from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.plan.sources import PARTS, SOURCE_ROOT, parsed, part_module


def link_to_function(paper: str, stage: str, kind: str) -> str:
    """Return where the function of a figure or claim stands: path below the project's folder, and line."""
    path = SOURCE_ROOT.joinpath(*part_module(paper, PARTS[stage], kind).split(".")).with_suffix(".py")
    name = kind.rpartition(".")[2]
    line = next((node.lineno for node in parsed(path).body if getattr(node, "name", None) == name), 1)
    return f"{os.path.relpath(path, ROOT)}#L{line}"


def topic_title(paper: str, topic: str) -> str:
    """Return a topic's title: the first sentence of its package's docstring, else its name in words."""
    docstring = _docstring(paper, topic)
    if not docstring:
        return topic.replace("_", " ").capitalize()
    return " ".join(docstring.split("\n\n")[0].split()).rstrip(".")


def topic_about(paper: str, topic: str) -> str:
    """Return what the map in the paper's own docstring says of a topic; empty if it is not there.

    A map is a list (``- `topic`: words``, and lines below it further in), or a table with the topic in a column, of
    which other columns are told by their headings.
    """
    entries: list[str] = []
    for line in _docstring(paper).splitlines():
        if line.startswith(" ") and entries and entries[-1].startswith("-"):
            entries[-1] += " " + line.strip()
        else:
            entries.append(line.strip())
    headings: list[str] = []  # of a table, its first row
    for entry in entries:
        cells = [cell.strip() for cell in entry.strip("|").split("|")] if entry.startswith("|") else None
        if cells is not None:
            if any(cell.strip("`") == topic for cell in cells) and "`" in entry:
                named = zip(headings, cells, strict=False)
                return "; ".join(f"{name}: {cell}" for name, cell in named if cell.strip("`") != topic)
            headings = headings or cells
        else:
            match = re.fullmatch(rf"(?:- )?`+{topic}`+(?::\s*|\s{{2,}})(.*)", entry)
            if match:
                return match[1]
    return ""


def _docstring(*package: str) -> str:
    file = SOURCE_ROOT.joinpath("learning_dynamics/papers", *package, "__init__.py")
    return ast.get_docstring(parsed(file)) or "" if file.is_file() else ""
