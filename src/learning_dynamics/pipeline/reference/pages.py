"""The generated pages of the reference, as Markdown, and the navigation; nothing here needs MkDocs."""

import ast
from collections.abc import Mapping
from typing import Any

from learning_dynamics import tidy
from learning_dynamics.pipeline.reference.settings import columns_table, settings_page, types_table
from learning_dynamics.pipeline.study.sources import PACKAGE, SOURCE_ROOT, imports_of, module_path, parsed
from learning_dynamics.pipeline.study.study import Study

# not for a study to call: how the package starts, how jobs write files and show how far they are
PLUMBING = {"__init__", "__main__", "files", "papers", "pipeline", "progress"}
GUIDES = ("which_paper_says_what.md", "how_a_verdict_is_made.md")  # to be read first
HOME = """# learning-dynamics

Five papers on gradient-descent dynamics, regenerated and checked. How to run it stands in the project's README. Begin
with [which paper says what](which_paper_says_what.md) and [how a verdict is made](how_a_verdict_is_made.md).

## Settings and what is measured

Each kind of run of a paper, its settings with their types and where their values come from, and the columns and
quantities of its metrics:
"""
LIBRARY = """
## The library

In a notebook: [`import learning_dynamics as ld`](library/notebook.md). Beside the papers, and knowing none of them:
"""
NOTEBOOK = f"""# In a notebook

`import learning_dynamics as ld`, then `ld.claims()`, `ld.table(paper, run)` and what else stands here.

::: {PACKAGE}.pipeline.commands.api
"""


def public_modules() -> list[str]:
    """Return the packages and modules that know no paper, packages first."""
    folder = SOURCE_ROOT / PACKAGE
    names = {path.stem: path.is_dir() for path in folder.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))}
    return sorted(names.keys() - PLUMBING, key=lambda name: (not names[name], name))


def pages(study: Study) -> dict[str, str]:
    """Return every generated page by its path."""
    contents = {"index.md": home(study), "library/notebook.md": NOTEBOOK}
    contents |= {f"library/{name}.md": module_page(name) for name in public_modules()}
    return contents | {f"settings/{paper}.md": settings_page(study, paper) for paper in study.papers}


def navigation(study: Study, guides: list[str]) -> list[Mapping[str, Any]]:
    """Return the site's navigation; `guides` are the pages that lie in docs."""
    modules = [{name: f"library/{name}.md"} for name in ("notebook", *public_modules())]
    return [
        {"Home": "index.md"},
        {"Guides": [*GUIDES, *sorted(set(guides) - set(GUIDES))]},
        {"The library": modules},
        {"Settings": [{paper: f"settings/{paper}.md"} for paper in study.papers]},
    ]


def home(study: Study) -> str:
    """Return the first page."""
    about = {paper: study.paper_block(paper) for paper in study.papers}
    papers = [f"- [{name}](settings/{name}.md): {block['title']}. {block['citation']}" for name, block in about.items()]
    return "\n".join(
        [HOME, *papers, LIBRARY, *(f"- [{name}](library/{name}.md): {_first(name)}" for name in public_modules())]
    )


def module_page(name: str) -> str:
    """Return the page of a package or module of the library; what it holds is filled in by mkdocstrings."""
    # what a package hands on from its modules is shown once
    options = "members: false" if name == "settings" else f"show_submodules: {not imports_of(f'{PACKAGE}.{name}')}"
    page = f"# {name}\n\n::: {PACKAGE}.{name}\n    options:\n        {options}\n"
    if name == "settings":
        page += f"\n{types_table()}\n"
    if name == "tidy":
        shared = {key: value for key, value in vars(tidy).items() if isinstance(value, tidy.Column)}
        page += f"\n## Columns that tables share\n\n{columns_table(shared)}\n"
    return page


def _first(name: str) -> str:
    """Return the first sentence of a module's docstring."""
    path = module_path(f"{PACKAGE}.{name}")
    docstring = ast.get_docstring(parsed(path)) or "" if path else ""
    return " ".join(docstring.split("\n\n")[0].split())
