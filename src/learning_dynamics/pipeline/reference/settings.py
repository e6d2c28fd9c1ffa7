"""A paper's page of the reference: its kinds of run, what can be set of each, and what is measured of it.

Below Markdown's headings the page is HTML, so that no character of a docstring is taken for markup.
"""

import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from learning_dynamics import settings as setting_types
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.source_links import topic_about, topic_title
from learning_dynamics.pipeline.study import quantities, reasons
from learning_dynamics.pipeline.study.signatures import Signature, signature_of
from learning_dynamics.pipeline.study.sources import PACKAGE, PARTS, definitions
from learning_dynamics.pipeline.study.study import Study
from learning_dynamics.tidy import Column

TYPES = {
    "Count": "a whole number, 1 or more",
    "Natural": "a whole number, 0 or more",
    "Seed": "a whole number, 0 or more",
    "Positive": "a finite number above 0",
    "NonNegative": "a finite number, 0 or more",
    "Fraction": "a number from 0 to 1",
    "Scale": "a finite number, 1e-24 or more",
    "int": "a whole number",
    "float": "a finite number",
    "str": "text",
    "bool": "true or false",
    "None": "nothing",
}
NAMES = {getattr(setting_types, name): name for name in setting_types.__all__ if name in TYPES}
CODE = re.compile(r"<code>([A-Za-z_][\w.]*)</code>")


def settings_page(study: Study, paper: str) -> str:
    """Return the page of a paper: each kind of run, and each source of data."""
    return "\n\n".join(_Page(study, paper).parts()) + "\n"


class _Page:
    """A paper's page, whose docstrings link to each other."""

    def __init__(self, study: Study, paper: str) -> None:
        self.study, self.paper = study, paper
        blocks = study.paper_block(paper)
        self.kinds = _group_by_kind({name: study.resolved(paper, "runs", name)["kind"] for name in blocks["runs"]})
        self.sources = _group_by_kind({name: block["source"] for name, block in blocks.get("data", {}).items()})
        # each class of settings, and the settings that are one: as (section, name of the run or data set, key)
        self.taken: dict[str, tuple[Signature, list[tuple[str, str, str]]]] = {}
        self.shared: dict[str, str] = {}  # functions that docstrings refer to, and theirs

    def parts(self) -> Iterator[str]:
        block = self.study.paper_block(self.paper)
        yield f"# Settings of {self.paper}"
        yield maths.paragraphs(f"{block['title']}. {block['citation']}\n\n{block.get('notation', '')}")
        for topic in sorted({kind.partition(".")[0] for kind in self.kinds}):
            about = topic_about(self.paper, topic) or topic_title(self.paper, topic)
            yield f"## {topic} {{#{topic}}}"
            yield maths.paragraphs(f"In the paper: {about.rstrip('.')}.")
            for kind in sorted(topic_kind for topic_kind in self.kinds if topic_kind.startswith(f"{topic}.")):
                yield from self.kind(kind, self.kinds[kind])
        yield from ["## Data {#data}"] if self.sources else []
        for source, names in sorted(self.sources.items()):
            yield _heading(source)
            yield from self.of_kind("data", source, names)
        yield from ["## Settings that belong together {#classes}"] if self.taken else []
        for name, (settings_class, settings) in sorted(self.taken.items()):
            yield _heading(name)
            yield from self.describe(settings_class, name, settings)
        yield from ["## Referred to above"] if self.shared else []
        described: set[str] = set()
        while undescribed := self.shared.keys() - described:  # they may refer to more
            for name in sorted(undescribed):
                yield _heading(name)
                yield self.prose(quantities.docstring_sections(self.shared[name])[0], name)
            described |= undescribed

    def kind(self, kind: str, runs: list[str]) -> Iterator[str]:
        yield _heading(kind, kind.rpartition(".")[2])
        yield from self.of_kind("run", kind, runs)
        yield Markup("<p>Runs of this kind: {}.</p>").format(Markup(", ").join(map(_code, runs)))
        yield '<p class="part">Measured</p>'
        yield from self.of_kind("metrics", kind, runs)
        measured = quantities.declared_quantities(self.paper, kind).items()
        if measured:
            yield _table(("quantity", "meaning"), [(_code(name), self.line(text, kind)) for name, text in measured])
        declared = paper_function(self.paper, PARTS["metrics"], kind).columns
        yield columns_table({column.name: column for column in declared})

    def of_kind(self, stage: str, kind: str, names: list[str]) -> Iterator[str]:
        """Yield what `describe` does of the function of a kind; `names` are the runs or data sets of this kind."""
        function = signature_of(stage, self.paper, kind, kind)
        settings_places = [("data" if stage == "data" else "runs", name, "") for name in names]
        for key, settings_class in function.classes.items():
            settings = self.taken.setdefault(settings_class.name, (settings_class, []))[1]
            settings += [(section, name, f"{key}.") for section, name, _ in settings_places]
        yield from self.describe(function, kind, settings_places)

    def describe(self, function: Signature, context: str, settings_places: list[tuple[str, str, str]]) -> Iterator[str]:
        """Yield a docstring and the table of settings; `settings_places`: section, name and prefix of their keys."""
        meanings: dict[str, str] = {}
        for signature in reversed((function, *function.ancestors)):
            prose, sections = quantities.docstring_sections(signature.docstring)
            for head, text in sections.get("Parameters", []):
                meanings |= dict.fromkeys(head.partition(" : ")[0].split(", "), text)
        yield self.prose(prose, context)
        entries = [("Given", name, text) for name, text in meanings.items() if name in function.arguments]
        for verb, name, text in [*entries, *(("Returns", *entry) for entry in sections.get("Returns", []))]:
            yield Markup("<p>{} {}: {}</p>").format(verb, _code(name), self.line(text, context))
        rows = []
        for name, kind in function.types.items():
            annotation = _type_name(kind)
            if name in function.classes:
                link = Markup('<a href="#{}">{}</a>').format(function.classes[name].name, "setting by setting")
                meaning = Markup("a block of settings. ") + self.line(meanings.get(name, ""), context)
                rows.append((_code(name), _code(annotation), meaning, link))
                continue
            field = function.model.model_fields[name]
            default = "" if field.is_required() else f"; `{field.default}` if not given"
            meaning = maths.html(f"{_meaning(kind)}{default}. ") + self.line(meanings.get(name, ""), context)
            rows.append((_code(name), _code(annotation), meaning, self.origin(name, settings_places)))
        if rows:
            yield _table(("setting", "type", "meaning", "where from"), rows)

    def origin(self, key: str, settings_places: list[tuple[str, str, str]]) -> Markup:
        """Return where a setting's values come from; with the names of runs where they do not come from one place."""
        runs_by_origin: dict[str, list[str]] = {}
        for section, name, prefix in settings_places:
            origin = reasons.provenance(self.study, self.paper, section, name, prefix + key)
            if isinstance(origin, Mapping):
                origin = ": ".join(next(iter(origin.items())))
            if origin is not None:
                runs_by_origin.setdefault(origin, []).append(name)
        if not runs_by_origin:
            return Markup("the configuration's <code>seed</code>") if key == "seed" else Markup("the default")
        is_split = len(runs_by_origin) > 1
        lines = [
            maths.html(origin_text) + (f" ({', '.join(runs)})" if is_split else "")
            for origin_text, runs in runs_by_origin.items()
        ]
        return Markup("<br>").join(lines)

    def prose(self, text: str, context: str) -> Markup:
        return self.linked(maths.paragraphs(text), context)

    def line(self, text: str, context: str) -> Markup:
        return self.linked(maths.html(" ".join(text.split())), context)

    def linked(self, html: Markup, context: str) -> Markup:
        """Return HTML in which the names of functions on this page, as `context` sees them, are links."""

        def link(match: re.Match[str]) -> str:
            anchor = self.anchor(match[1], context)
            return f'<a href="#{anchor}">{match[0]}</a>' if anchor not in ("", context) else match[0]

        return Markup(CODE.sub(link, html))

    def anchor(self, name: str, context: str) -> str:
        topic = context.partition(".")[0]
        for kind in (f"{topic}.{name}", name):
            if kind in self.kinds or kind in self.sources:
                return kind
        module, _, function = name.rpartition(".")
        own_module = [context.rpartition(".")[0]] if context in self.shared else []
        for path_of_function in (f"{topic}.{module}", module) if module else own_module:
            defined = definitions(f"{PACKAGE}.papers.{self.paper}.{path_of_function}")
            if function in defined:
                self.shared[f"{path_of_function}.{function}"] = defined[function].docstring
                return f"{path_of_function}.{function}"
        return ""


def types_table() -> Markup:
    """Return what each type of setting admits."""
    return _table(("type", "admits"), [(_code(name), meaning) for name, meaning in TYPES.items()])


def columns_table(named: Mapping[str, Column]) -> Markup:
    """Return columns with their types and meanings."""
    rows = [(_code(name), column.type, maths.html(_describe_column(column))) for name, column in named.items()]
    return _table(("column", "type", "meaning"), rows)


def _describe_column(column: Column) -> str:
    empty, apart = " (may be empty)" * column.nullable, " (tells draws apart)" * column.draw
    return column.description + empty + apart


def _group_by_kind(kinds: Mapping[str, str]) -> dict[str, list[str]]:
    return {kind: [name for name, kind_of_run in kinds.items() if kind_of_run == kind] for kind in kinds.values()}


def _type_name(kind: Any) -> str:
    """Return a type as an annotation would have it."""
    inner = typing.get_args(kind)
    if kind in NAMES:
        return NAMES[kind]
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return " | ".join(map(_type_name, inner))
    if typing.get_origin(kind) is typing.Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    name = "None" if kind is types.NoneType else str(getattr(kind, "__name__", kind))
    return f"{name}[{', '.join(map(_type_name, inner))}]" if inner else name


def _meaning(kind: Any) -> str:
    """Return a type in words."""
    inner = typing.get_args(kind)
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return ", or ".join(map(_meaning, inner))
    if typing.get_origin(kind) is list:
        return f"a list, not empty; each is {_meaning(inner[0])}"
    if typing.get_origin(kind) is typing.Literal:
        return "one of " + ", ".join(f"`{value}`" for value in inner)
    return TYPES.get(_type_name(kind), f"`{_type_name(kind)}`")


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
