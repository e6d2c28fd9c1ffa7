"""The generated pages of the reference, `make docs`: every setting, column and library function; no network is needed.

MkDocs calls `on_config`, `on_files` and `on_page_markdown`; griffe takes `Docstrings` from here.
"""

import ast
import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import griffe
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markupsafe import Markup
from mkdocs.structure.files import File
from pygments.formatters import HtmlFormatter

from learning_dynamics import settings, tidy
from learning_dynamics.files import find_files
from learning_dynamics.pipeline.commands.functions import data_function, paper_function
from learning_dynamics.pipeline.plan import setting_sources
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.source_links import topic_about, topic_title

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src/learning_dynamics"
GUIDES = ("which_paper_says_what.md", "how_a_verdict_is_made.md")  # to be read first
NO_LIBRARY = {"__init__", "__main__", "files", "papers", "pipeline", "progress"}
PUBLISHED = re.compile(r"\[([^]]+)\]\((?:\.\./)*(?:results|scales)/[^)]*\)")  # links to what is no part of the site
HOME = """# learning-dynamics

Five papers on gradient-descent dynamics, regenerated and checked. How to run it: the project's README. Begin with
[which paper says what](which_paper_says_what.md) and [how a verdict is made](how_a_verdict_is_made.md).

## Settings and what is measured
"""
BOUNDS = {name: typing.get_args(getattr(settings, name))[-1].documentation for name in settings.__all__}


def pages(config: Config) -> dict[str, str]:
    """Return every generated page by its path."""
    modules = {name: f"learning_dynamics.{name}" for name in library()}
    contents = {"index.md": home(config), "library/notebook.md": object_page("learning_dynamics.pipeline.commands.api")}
    contents |= {f"library/{name}.md": object_page(module) for name, module in modules.items()}
    contents["library/settings.md"] += f"\n\n{table(('type', 'admits'), BOUNDS.items())}"
    shared = [value for value in vars(tidy).values() if isinstance(value, tidy.Column)]
    contents["library/tidy.md"] += f"\n\n## Columns that tables share\n\n{columns_table(shared)}"
    return contents | {f"settings/{paper}.md": "\n\n".join(settings_page(config, paper)) for paper in config.papers}


def library() -> list[str]:
    """Return the packages and modules that know no paper, packages first."""
    parts = [path for path in find_files(SOURCE, "*") if path.suffix == ".py" or find_files(path, "*.py")]
    names = {path.stem: path.is_dir() for path in parts}
    return sorted(names.keys() - NO_LIBRARY, key=lambda name: (not names[name], name))


def home(config: Config) -> str:
    """Return the first page."""
    papers = [f"- [{paper}](settings/{paper}.md): {config.paper_block(paper)['title']}" for paper in config.papers]
    return "\n".join(
        [HOME, *papers, "", "## The library", "", *(f"- [{name}](library/{name}.md)" for name in library())]
    )


def object_page(module: str) -> str:
    """Return the page of a module or package, which mkdocstrings fills in."""
    # what a package hands on from its modules is shown once; types are in a table
    init = SOURCE / module.partition(".")[2] / "__init__.py"
    hands_on = init.is_file() and any(isinstance(node, ast.ImportFrom) for node in ast.parse(init.read_text()).body)
    options = "members: false" if module.endswith(".settings") else f"show_submodules: {not hands_on}"
    return f"# {module.rpartition('.')[2]}\n\n::: {module}\n    options:\n        {options}"


def settings_page(config: Config, paper: str) -> Iterator[str]:
    """Yield the parts of a paper's page: its kinds of run and sources of data, classes that settings belong to."""
    blocks = config.paper_block(paper)
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in blocks["runs"]:
        kinds.setdefault(("runs", config.resolved_block(paper, "runs", name)["function"]), []).append(name)
    for name, block in blocks.get("data", {}).items():
        kinds.setdefault(("data", block["source"]), []).append(name)
    yield f"# Settings of {paper}"
    yield maths.paragraphs(f"{blocks['title']}. {blocks['citation']}\n\n{blocks.get('notation', '')}")
    heading, classes = "", {}
    for (section, kind), names in sorted(kinds.items(), key=lambda item: (item[0][0] == "data", item[0][1])):
        topic = kind.partition(".")[0] if section == "runs" else "data"
        if topic != heading:
            heading = topic
            yield f"## {topic} {{#{topic}}}"
            yield maths.paragraphs(topic_about(paper, topic) or topic_title(paper, topic)) if section == "runs" else ""
        yield f'### {kind} {{#{kind} data-toc-label="{kind.rpartition(".")[2]}"}}'
        run = paper_function(paper, "runs", kind) if section == "runs" else data_function(paper, kind)
        yield from function(config, paper, section, run, names, classes)
        if section == "runs":
            metrics = paper_function(paper, "metrics", kind)
            yield f"Runs of this kind: {', '.join(f'`{name}`' for name in names)}.\n\n**Measured**"
            yield from function(config, paper, section, metrics, names, classes)
            yield columns_table(metrics.columns)
    yield "## Settings that belong together {#classes}" if classes else ""
    for name, (block, origins) in sorted(classes.items()):
        yield f"### {name} {{#{name}}}"
        yield f"::: {block.__module__}.{name}\n    options: {{show_source: false, members: false}}"
        yield settings_table(config, paper, block, origins)


def function(config: Config, paper: str, section: str, called: Any, names: list[str], classes: dict) -> Iterator[str]:
    """Yield a function's docstring and its settings; `classes` takes up those that are classes, and their users."""
    called = inspect.unwrap(called)
    yield f"::: {called.__module__}.{called.__name__}\n    options: {{show_source: false, separate_signature: false}}"
    for key, kind in typing.get_type_hints(called).items():
        if dataclasses.is_dataclass(kind) and key in inspect.getfullargspec(called).kwonlyargs:
            classes.setdefault(kind.__name__, (kind, []))[1].extend((section, name, f"{key}.") for name in names)
    yield settings_table(config, paper, called, [(section, name, "") for name in names])


def settings_table(config: Config, paper: str, called: Any, users: list[tuple[str, str, str]]) -> str:
    """Return the table of the settings of a function or class; `users` are section, name and prefix of their keys."""
    rows = []
    for key, parameter in inspect.signature(called).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY and not isinstance(called, type):
            continue
        kind = typing.get_type_hints(called, include_extras=True)[key]
        default = "" if parameter.default is parameter.empty else f"; `{parameter.default}` if not given"
        rows.append((f"<code>{key}</code>", maths.html(in_words(kind) + default), origin(config, paper, key, users)))
    return table(("setting", "value", "where from"), rows) if rows else ""


def in_words(kind: Any) -> str:
    """Return what a type admits."""
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Annotated:
        return arguments[-1].documentation
    if typing.get_origin(kind) is typing.Literal:
        return "one of " + ", ".join(f"`{value}`" for value in arguments)
    if typing.get_origin(kind) is list:
        return f"a list, not empty; each is {in_words(arguments[0])}"
    if dataclasses.is_dataclass(kind):
        return f"a block of settings, `{kind.__name__}` below"
    return " or ".join(map(in_words, arguments)) if arguments else f"`{getattr(kind, '__name__', kind)}`"


def origin(config: Config, paper: str, key: str, users: list[tuple[str, str, str]]) -> Markup:
    """Return where a setting's values come from; with the names of runs where they do not come from one place."""
    runs: dict[str, list[str]] = {}
    for section, name, prefix in users:
        source = setting_sources.provenance(config, paper, section, name, prefix + key)
        source = ": ".join(next(iter(source.items()))) if isinstance(source, Mapping) else source
        runs.setdefault(source or ("the configuration's `seed`" if key == "seed" else "the default"), []).append(name)
    named = (f"{source} ({', '.join(names)})" if len(runs) > 1 else source for source, names in runs.items())
    return Markup("<br>").join(map(maths.html, named))


def columns_table(columns: typing.Iterable[tidy.Column]) -> str:
    """Return columns with their types and meanings."""
    notes = {
        column.name: " (may be empty)" * column.nullable + " (tells draws apart)" * column.draw for column in columns
    }
    rows = [
        (f"<code>{column.name}</code>", column.type, maths.html(column.description + notes[column.name]))
        for column in columns
    ]
    return table(("column", "type", "meaning"), rows)


def table(heads: tuple[str, ...], rows: typing.Iterable[tuple[str, ...]]) -> str:
    """Return an HTML table, so that no character of a cell is taken for Markdown."""
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{text}</th>" for text in heads)
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


class Formulas(Extension):
    """Formulas between dollars, also as code, which is how GitHub reads them."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Find formulas before Markdown looks for emphasis, escapes (180) and code (190) in them."""
        for name, pattern, priority in (("formula", r"\$([^$`]+)\$", 185), ("as code", r"\$`([^`]+)`\$", 195)):
            md.inlinePatterns.register(_Formula(pattern, md), name, priority)


class _Formula(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> Any:
        return self.md.htmlStash.store(maths.to_mathml(m[1])), m.start(0), m.end(0)


class Docstrings(griffe.Extension):
    """Turns this project's docstrings into those that mkdocstrings understands."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change one docstring before its sections are read: shapes, examples, quantities as a list."""
        if obj.docstring:
            text = re.sub(r"(?m)^(\S.*\w), (shapes?) \(", r"\1 of \2 (", obj.docstring.value)  # else read as a tuple
            text = re.sub(r"(?m)^(>{3} .*(?:\n.+)*)", r"```pycon\n\1\n```", text).replace("  # doctest: +SKIP", "")
            prose, title, quantities = text.partition("\n\nQuantities\n----------\n")
            listed = re.sub(r"(?m)^(\S.*)\n {4}", r"- \1: ", quantities)
            obj.docstring.value = prose + ("\n\nQuantities:\n\n" if title else "") + listed


def on_config(config: Any) -> Any:
    """Take up formulas and the navigation."""
    config.markdown_extensions.append(Formulas())
    fence = {"name": "math", "class": "maths", "format": lambda source, *_, **__: f"<p>{maths.to_mathml(source)}</p>"}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [fence]}
    config.nav = [
        {"Home": "index.md"},
        {"Guides": [*GUIDES, *sorted({path.name for path in DOCS.glob("*.md")} - set(GUIDES))]},
        {"The library": [{name: f"library/{name}.md"} for name in ("notebook", *library())]},
        {"Settings": [{paper: f"settings/{paper}.md"} for paper in Config(load()).papers]},
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages, and the colours of code for bright and dark screens."""
    bright, dark = (HtmlFormatter(style=name).get_style_defs(".highlight") for name in ("default", "github-dark"))
    colours = f"{bright}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    for path, content in {"code.css": colours, **pages(Config(load()))}.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take away links that lead out of the site."""
    return PUBLISHED.sub(r"\1", markdown)
