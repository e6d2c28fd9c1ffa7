"""Where what the page shows is written: the code of a figure or claim, the title of a topic, a letter, a derivation."""

import ast
import os
import re
from pathlib import Path

from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT, TOPIC_MODULES, read_syntax_tree, topic_module

DOCS = ROOT / "docs"
ERRATA = DOCS / "errata"


def link_to_docs(text: str, paper: str, folder: Path, form: str) -> str:
    """Return a text with links from "(errata 3)" to the paper's letter, and from "(docs/x.md)" to that page.

    A page that this project lacks, such as one that somebody made from a part of it, is named without a link.

    Parameters
    ----------
    folder : path
        Where the text will be.
    form : str
        How a link is written there, from its ``{words}`` and ``{address}``.
    """

    def link_to(page: Path, words: str) -> str:
        if not page.is_file():
            return f"({words})"
        return f"({form.format(words=words, address=os.path.relpath(page, folder.resolve()))})"

    letter = ERRATA / f"{paper}.md"
    text = re.sub(r"\((errata \d+(?:(?:, | and )\d+)*)\)", lambda items: link_to(letter, items[1]), text)
    return re.sub(r"\(docs/(\w+\.md)\)", lambda page: link_to(DOCS / page[1], page[1]), text)


def link_to_function(paper: str, stage: str, function_name: str) -> str:
    """Return where the function of a figure or claim is: path below the project's folder, and line."""
    path = SOURCE_ROOT.joinpath(*topic_module(paper, TOPIC_MODULES[stage], function_name).split(".")).with_suffix(".py")
    name = function_name.rpartition(".")[2]
    line = next((node.lineno for node in read_syntax_tree(path).body if getattr(node, "name", None) == name), 1)
    return f"{os.path.relpath(path, ROOT)}#L{line}"


def topic_title(paper: str, topic: str) -> str:
    """Return a topic's title: the first sentence of its package's docstring, else its name in words."""
    docstring = _docstring(paper, topic)
    if not docstring:
        return topic.replace("_", " ").capitalize()
    return " ".join(docstring.split("\n\n")[0].split()).rstrip(".")


def topic_about(paper: str, topic: str) -> str:
    """Return what the list in the paper's own docstring says of a topic, ``- `topic`: words``; empty without it."""
    entry = re.search(rf"^- `+{topic}`+: (.+(?:\n  .+)*)", _docstring(paper), re.MULTILINE)
    about = " ".join(entry[1].split()).rstrip(".") if entry else ""
    return f"{about[:1].upper()}{about[1:]}." if about else ""


def _docstring(*package: str) -> str:
    """Return the docstring of a paper, or of a paper's topic; "" without one."""
    file = SOURCE_ROOT.joinpath("learning_dynamics/papers", *package, "__init__.py")
    if not file.is_file():
        return ""
    return ast.get_docstring(read_syntax_tree(file)) or ""
