"""A paper's page of the reference: its kinds of run, what can be set of each, and what is measured of it.

Below Markdown's headings the page is HTML, so that no character of a docstring is taken for markup.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.places import topic_about, topic_title
from learning_dynamics.pipeline.study.signatures import NUMBERS, Signature, signature_of, signatures
from learning_dynamics.pipeline.study.sources import PACKAGE, PARTS, module_path
from learning_dynamics.pipeline.study.study import Study, quantities, reasons
from learning_dynamics.tidy import Column

TYPES = {name: bounds.words for name, (_, bounds) in NUMBERS.items()} | {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "None": "nothing",
}
CODE = re.compile(r"<code>([A-Za-z_][\w.]*)</code>")


def settings_page(study: Study, paper: str) -> str:
    """Return the page of a paper: each kind of run, and each source of data."""
    return "\n\n".join(_Page(study, paper).parts()) + "\n"


class _Page:
    """A paper's page, whose docstrings link to each other."""

    def __init__(self, study: Study, paper: str) -> None:
        self.study, self.paper = study, paper
        blocks = study.about(paper)
        self.kinds = _grouped({name: study.resolved(paper, "runs", name)["kind"] for name in blocks["runs"]})
        self.sources = _grouped({name: block["source"] for name, block in blocks.get("data", {}).items()})
        # each class of settings, and the settings that are one: as (section, name of the run or data set, key)
        self.taken: dict[str, tuple[Signature, list[tuple[str, str, str]]]] = {}
        self.shared: dict[str, str] = {}  # functions that docstrings refer to, and theirs

    def parts(self) -> Iterator[str]:
        block = self.study.about(self.paper)
        yield f"# Settings of {self.paper}"
        yield maths.paragraphs(f"{block['title']}. {block['citation']}\n\n{block.get('notation', '')}")
        for topic in sorted({kind.partition(".")[0] for kind in self.kinds}):
            about = topic_about(self.paper, topic) or topic_title(self.paper, topic)
            yield f"## {topic} {{#{topic}}}"
            yield maths.paragraphs(f"In the paper: {about.rstrip('.')}.")
            for kind in sorted(one for one in self.kinds if one.startswith(f"{topic}.")):
                yield from self.kind(kind, self.kinds[kind])
        yield from ["## Data {#data}"] if self.sources else []
        for source, names in sorted(self.sources.items()):
            yield _heading(source)
            yield from self.of_kind("data", source, names)
        yield from ["## Settings that belong together {#classes}"] if self.taken else []
        for name, (taken, settings) in sorted(self.taken.items()):
            yield _heading(name)
            yield from self.described(taken, name, settings)
        yield from ["## Referred to above"] if self.shared else []
        told: set[str] = set()
        while open_ := self.shared.keys() - told:  # they may refer to more
            for name in sorted(open_):
                yield _heading(name)
                yield self.prose(quantities.sections(self.shared[name])[0], name)
            told |= open_

    def kind(self, kind: str, runs: list[str]) -> Iterator[str]:
        yield _heading(kind, kind.rpartition(".")[2])
        yield from self.of_kind("run", kind, runs)
        yield Markup("<p>Runs of this kind: {}.</p>").format(Markup(", ").join(map(_code, runs)))
        yield '<p class="part">Measured</p>'
        yield from self.of_kind("metrics", kind, runs)
        measured = quantities.declared(self.paper, kind).items()
        if measured:
            yield _table(("quantity", "meaning"), [(_code(name), self.line(text, kind)) for name, text in measured])
        declared = paper_function(self.paper, PARTS["metrics"], kind).columns
        yield columns_table({column.name: column for column in declared})

    def of_kind(self, stage: str, kind: str, names: list[str]) -> Iterator[str]:
        """Yield what `described` does of the function of a kind; `names` are the runs or data sets of this kind."""
        function = signature_of(stage, self.paper, kind, kind)
        places = [("data" if stage == "data" else "runs", name, "") for name in names]
        for key, taken in function.classes.items():
            settings = self.taken.setdefault(taken.name, (taken, []))[1]
            settings += [(section, name, f"{key}.") for section, name, _ in places]
        yield from self.described(function, kind, places)

    def described(self, function: Signature, near: str, places: list[tuple[str, str, str]]) -> Iterator[str]:
        """Yield a docstring and the table of settings, whose values stand at `places`, keys beginning as these end."""
        said: dict[str, str] = {}
        for one in reversed((function, *function.bases)):
            prose, sections = quantities.sections(one.docstring)
            for head, text in sections.get("Parameters", []):
                said |= dict.fromkeys(head.partition(" : ")[0].split(", "), text)
        yield self.prose(prose, near)
        given = [("Given", name, text) for name, text in said.items() if name in function.arguments]
        for verb, name, text in [*given, *(("Returns", *entry) for entry in sections.get("Returns", []))]:
            yield Markup("<p>{} {}: {}</p>").format(verb, _code(name), self.line(text, near))
        rows = []
        for name, annotation in function.types.items():
            if name in function.classes:
                link = Markup('<a href="#{}">{}</a>').format(function.classes[name].name, "setting by setting")
                meaning = Markup("a block of settings. ") + self.line(said.get(name, ""), near)
                rows.append((_code(name), _code(annotation), meaning, link))
                continue
            field = function.model.model_fields[name]
            default = "" if field.is_required() else f"; `{field.default}` if not given"
            meaning = maths.html(f"{_meaning(annotation)}{default}. ") + self.line(said.get(name, ""), near)
            rows.append((_code(name), _code(annotation), meaning, self.origin(name, places)))
        if rows:
            yield _table(("setting", "type", "meaning", "where from"), rows)

    def origin(self, key: str, places: list[tuple[str, str, str]]) -> Markup:
        """Return where a setting's values come from; with the names of runs where they do not come from one place."""
        found: dict[str, list[str]] = {}
        for section, name, before in places:
            origin = reasons.provenance(self.study, self.paper, section, name, before + key)
            if isinstance(origin, Mapping):
                origin = ": ".join(next(iter(origin.items())))
            if origin is not None:
                found.setdefault(origin, []).append(name)
        if not found:
            return Markup("the configuration's <code>seed</code>") if key == "seed" else Markup("the default")
        several = len(found) > 1
        lines = [maths.html(one) + (f" ({', '.join(runs)})" if several else "") for one, runs in found.items()]
        return Markup("<br>").join(lines)

    def prose(self, text: str, near: str) -> Markup:
        return self.linked(maths.paragraphs(text), near)

    def line(self, text: str, near: str) -> Markup:
        return self.linked(maths.html(" ".join(text.split())), near)

    def linked(self, html: Markup, near: str) -> Markup:
        """Return HTML in which the names of functions on this page, as the one that is `near` sees them, are links."""

        def link(match: re.Match[str]) -> str:
            anchor = self.anchor(match[1], near)
            return f'<a href="#{anchor}">{match[0]}</a>' if anchor not in ("", near) else match[0]

        return Markup(CODE.sub(link, html))

    def anchor(self, name: str, near: str) -> str:
        topic = near.partition(".")[0]
        for kind in (f"{topic}.{name}", name):
            if kind in self.kinds or kind in self.sources:
                return kind
        module, _, function = name.rpartition(".")
        beside = [near.rpartition(".")[0]] if near in self.shared else []
        for place in (f"{topic}.{module}", module) if module else beside:
            path = module_path(f"{PACKAGE}.papers.{self.paper}.{place}")
            if path is not None and function in signatures(path):
                self.shared[f"{place}.{function}"] = signatures(path)[function].docstring
                return f"{place}.{function}"
        return ""


def types_table() -> Markup:
    """Return what each type of setting admits."""
    return _table(("type", "admits"), [(_code(name), meaning) for name, meaning in TYPES.items()])


def columns_table(named: Mapping[str, Column]) -> Markup:
    """Return columns with their types and meanings."""
    rows = [(_code(name), one.type, maths.html(_told(one))) for name, one in named.items()]
    return _table(("column", "type", "meaning"), rows)


def _told(column: Column) -> str:
    empty, apart = " (may be empty)" * column.nullable, " (tells draws apart)" * column.draw
    return column.description + empty + apart


def _grouped(kinds: Mapping[str, str]) -> dict[str, list[str]]:
    return {kind: [name for name, own in kinds.items() if own == kind] for kind in kinds.values()}


def _meaning(annotation: str) -> str:
    """Return an annotation in words."""
    match ast.parse(annotation, mode="eval").body:
        case ast.BinOp(left=left, right=right):
            return f"{_meaning(ast.unparse(left))}, or {_meaning(ast.unparse(right))}"
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return f"a list, not empty; each is {_meaning(ast.unparse(item))}"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
            listed = values.elts if isinstance(values, ast.Tuple) else [values]
            return "one of " + ", ".join(f"`{ast.literal_eval(value)}`" for value in listed)
        case _:
            return TYPES.get(annotation, f"`{annotation}`")


def _heading(name: str, beside: str = "") -> str:
    """Return a heading that can be linked to; `beside` is its name in the list beside the page."""
    return f'### {name} {{#{name} data-toc-label="{beside or name}"}}'


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(text)


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Markup:
    def row(cells: tuple[Any, ...], tag: str) -> Markup:
        inner = Markup("").join(Markup(f"<{tag}>{{}}</{tag}>").format(cell) for cell in cells)
        return Markup("<tr>{}</tr>\n").format(inner)

    body = Markup("").join(row(cells, "td") for cells in rows)
    return Markup("<table>\n<thead>\n{}</thead>\n<tbody>\n{}</tbody>\n</table>").format(row(heads, "th"), body)
