"""What planning needs of a source file: what it imports, the functions that it defines, digests of its syntax.

Parsing the package and writing its syntax out takes a second. What a file says depends on its bytes alone. It is
stored under their digest, in ``.snakemake``, so that a start reads the files and parses those that are new.
"""

import ast
import atexit
import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write

STORE = Path(".snakemake/learning_dynamics.sources.json")
VERSION = f"{sys.version_info[:2]} 1"  # of Python's syntax trees, and of what is stored of them
STATEMENTS = ("body", "handlers", "orelse", "finalbody", "cases")  # where a statement holds others
# a docstring, as `ast.dump` writes a statement that is text alone
DOCSTRING = re.compile(r"""Expr\(value=Constant\(value=(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)\)(?:, )?""")


@dataclass(frozen=True)
class Definition:
    """A public function as its source has it: names alone, for which no science is imported."""

    arguments: tuple[str, ...]
    settings: tuple[str, ...]
    docstring: str

    @property
    def caption(self) -> str:
        """Its docstring up to parameters; of a figure or claim the text that is shown, a template of its facts."""
        return re.split(r"\n\n(?:Parameters|Returns|Raises|Notes)\n-+\n", self.docstring)[0].strip()


@dataclass(frozen=True)
class Source:
    """What a file says.

    Attributes
    ----------
    imports : tuple of (level, module, names)
        As ``from module import names`` has them, at any depth; the level counts the dots of a relative import. Of
        ``import module`` there are no names.
    functions : mapping from str to Definition
        Its public functions.
    digest, digest_with_words : str
        Of its syntax, without comments; without docstrings, and with them.
    """

    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    functions: dict[str, Definition]
    digest: str
    digest_with_words: str


def read_source(path: Path) -> Source:
    """Return what a file says; while it stays the same, it is read once.

    Raises
    ------
    ProjectError
        If it is no Python: file, line and what is wrong.
    """
    status = path.stat()
    return _read(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=2048)  # chosen: four times as many as the package has files
def _read(path: Path, _modified: int, _size: int) -> Source:
    """Return what a file says, from what earlier starts stored, or else parsed and stored."""
    # time and size are there for the cache: a file with another time or size is read again
    content = path.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    stored = _stored_sources()
    if key not in stored:
        stored[key] = asdict(_parse(path, content))
        _store_at_exit()
    return _restore(stored[key])


def syntax_tree(path: Path, content: bytes) -> ast.Module:
    """Return the syntax tree of what a file holds.

    Raises
    ------
    ProjectError
        If it is no Python: file, line and what is wrong.
    """
    try:
        return ast.parse(content.decode("utf-8"))
    except SyntaxError as error:
        raise ProjectError(f"{path}:{error.lineno}: {error.msg}; correct the syntax") from None
    except ValueError as error:
        raise ProjectError(f"{path}: is not Python source in UTF-8 ({error})") from None


def _parse(path: Path, content: bytes) -> Source:
    """Return what a file says, read from its bytes; `path` is for errors."""
    tree = syntax_tree(path, content)
    # Written out, ``def f(): "x"; return 1`` begins ``FunctionDef(name='f', args=..., body=[Expr(value=Constant(
    # value='x')), Return(...)]``. Comments and line breaks are not in it, and a docstring is what `DOCSTRING` matches:
    # a statement that is text alone, and the comma after it. It is the same in every version of Python: 3.13 leaves
    # empty lists out unless it is asked for them, and 3.12 added `type_params`, which is empty in all that 3.11 reads.
    every_field = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    syntax = ast.dump(tree, **every_field).replace(", type_params=[]", "")
    functions = {
        node.name: Definition(
            tuple(argument.arg for argument in [*node.args.posonlyargs, *node.args.args]),
            tuple(argument.arg for argument in node.args.kwonlyargs),
            ast.get_docstring(node) or "",
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    return Source(tuple(_imports(tree)), functions, short_digest(DOCSTRING.sub("", syntax)), short_digest(syntax))


def _imports(tree: ast.Module) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the imports of a file, at any depth."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import):
            yield from ((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)
        else:
            waiting += [inner for block in STATEMENTS for inner in getattr(node, block, ())]


def short_digest(content: str | bytes) -> str:
    """Return a SHA-256, in hexadecimal, shortened to 12 digits."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:12]


@functools.cache
def _stored_sources() -> dict[str, Any]:
    """Return what earlier starts stored of files, by the digest of their bytes; this one adds to it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        stored = json.loads(STORE.read_text(encoding="utf-8"))
        if stored["version"] == VERSION:
            return dict(stored["files"])
    return {}


@functools.cache  # once a process
def _store_at_exit() -> None:
    store = STORE.absolute()  # the process may go to another folder
    if store.parent.is_dir():
        atexit.register(_write_store, store)


def _write_store(store: Path) -> None:
    with suppress(ProjectError, OSError), atomic_write(store) as partial:  # what is not stored is parsed again
        partial.write_text(json.dumps({"version": VERSION, "files": _stored_sources()}), encoding="utf-8")


def _restore(stored: dict[str, Any]) -> Source:
    """Return a source from its fields as JSON has them: with lists for tuples."""
    imports = tuple((level, module, tuple(names)) for level, module, names in stored["imports"])
    functions = {
        name: Definition(tuple(function["arguments"]), tuple(function["settings"]), function["docstring"])
        for name, function in stored["functions"].items()
    }
    return Source(imports, functions, stored["digest"], stored["digest_with_words"])
