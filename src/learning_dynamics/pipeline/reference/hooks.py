"""The reference as a site: hooks that MkDocs calls, and formulas between dollars in any Markdown as MathML."""

import functools
import re
from typing import Any

import griffe
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.structure.files import File
from pygments.formatters import HtmlFormatter

from learning_dynamics.pipeline.reference.pages import navigation, pages
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.study import Study

FORMULA = r"\$([^$`]+)\$"
AS_CODE = r"\$`([^`]+)`\$"  # as GitHub reads it
BEFORE_ESCAPES = 185  # backslashes are escapes from 180 on; code is found from 190 on
BEFORE_CODE = 195
ELSEWHERE = re.compile(r"\[([^]]+)\]\((?:\.\./)?results/[^)]*\)")  # what `make publish` writes is not part of the site
SHAPED = re.compile(r"(?m)^(\S.*\w), (shapes?) \(")  # would be read as a tuple of a name and a call
EXAMPLE = re.compile(r"(?m)^(>{3} .*(?:\n.+)*)")
STYLE = """
table { display: block; overflow-x: auto; margin-bottom: 1rem; }
td, th { vertical-align: top; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--bs-border-color); }
td:first-child > code, .line { white-space: nowrap; }
h2, h3, .bs-sidebar a, p > code { overflow-wrap: anywhere; }
h2, h3 { margin-top: 2rem; }
.bs-sidebar a { font-size: 0.9rem; }
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math; }
p.part { font-weight: bold; margin: 1.5rem 0 0.5rem; }
"""


@functools.cache
def _study() -> Study:
    return Study(load())


def on_config(config: Any) -> Any:
    """Take up the formulas and the navigation."""
    config.markdown_extensions.append(Formulas())
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [{"name": "math", "class": "maths", "format": _set}]}
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages, and the colours of code for bright and dark screens."""
    guides = [file.src_uri for file in files.documentation_pages()]
    config.nav = navigation(_study(), guides)
    for path, content in pages(_study()).items():
        files.append(File.generated(config, path, content=content))
    bright, dark = (HtmlFormatter(style=style).get_style_defs(".highlight") for style in ("default", "github-dark"))
    colours = f"{bright}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    files.append(File.generated(config, "reference.css", content=colours + STYLE))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take away links that lead out of the site."""
    return ELSEWHERE.sub(r"\1", markdown)


def _set(source: str, *_: Any, **__: Any) -> str:
    return f"<p>{maths.to_mathml(source.strip())}</p>"


class Formulas(Extension):
    """An extension of Markdown: formulas between dollars, also as code."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Find formulas before Markdown looks for emphasis and escapes in them."""
        md.inlinePatterns.register(_Formula(FORMULA, md), "formula", BEFORE_ESCAPES)
        md.inlinePatterns.register(_Formula(AS_CODE, md), "formula as code", BEFORE_CODE)


class _Formula(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> Any:
        return self.md.htmlStash.store(maths.to_mathml(m[1])), m.start(0), m.end(0)


class Docstrings(griffe.Extension):
    """Turns this project's docstrings into those that mkdocstrings understands."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mend the docstring of one object before its sections are read."""
        if obj.docstring:
            shaped = SHAPED.sub(r"\1 of \2 (", obj.docstring.value)
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\1\n```", shaped).replace("  # doctest: +SKIP", "")
