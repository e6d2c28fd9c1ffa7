"""Where errors are planted: the modules by group, and some of their lines, drawn with a seed."""

import ast
import functools
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from mutation.operators import operators

PACKAGE = Path("src/learning_dynamics")
# what only draws; no number depends on it
DRAWN = ("__init__.py", "figures.py", "motion.py", "interactive.py", "panels.py", "drawing.py")
LIBRARY = ("dynamics", "measures", "datasets")
JUDGES = ("judging.py", "evidence.py")
# keyword arguments, and calls with their first argument, that are words
WORDS = ("because", "scope", "correction", "reason", "label", "how", "left_out")
NAMED_CALLS = ("every_draw", "equal_on_every_draw", "at_most", "at_least", "equal", "share_of_draws", "Untested")


@dataclass(frozen=True)
class Mutant:
    """One planted error: what is changed where, and the lines before and after."""

    group: str
    file: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str

    @property
    def id(self) -> str:
        """Its name in one version of the sources."""
        return f"{self.file}:{self.line}:{self.operator}:{self.occurrence}"

    @property
    def module(self) -> str:
        """The module that it lies in."""
        return module_name(Path(self.file))

    def text(self, root: Path) -> str:
        """Return the whole file with the error in it."""
        return mutated(self.operator, self.occurrence, (root / self.file).read_text(encoding="utf-8")) or ""

    def record(self) -> dict[str, Any]:
        """Return it as it is written down."""
        return asdict(self)


def groups(root: Path) -> dict[str, list[Path]]:
    """Return the modules that compute, by topic (``paper/topic``, ``paper/shared``) and part of the library."""
    package, found = root / PACKAGE, {}
    for paper in sorted(folder for folder in (package / "papers").iterdir() if (folder / "__init__.py").exists()):
        found[f"{paper.name}/shared"] = _computing(paper)
        for topic in sorted(folder for folder in paper.iterdir() if (folder / "__init__.py").exists()):
            found[f"{paper.name}/{topic.name}"] = _computing(topic)
    for part in LIBRARY:
        found[part] = _computing(package / part)
    found["judges"] = [package / name for name in JUDGES]
    return {name: [file.relative_to(root) for file in files] for name, files in found.items() if files}


def _computing(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.py") if file.name not in DRAWN)


def module_name(file: Path) -> str:
    """Return the dotted name of a source file under ``src``."""
    parts = file.with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def draw(group: str, files: list[Path], root: Path, seed: int, count: int) -> list[Mutant]:
    """Return `count` mutants of a group: lines are drawn evenly, then a kind of change that the line allows, and where.

    A change that computes the same, since it lies in words, is not drawn.
    """
    chance = random.Random(f"{seed} {group}")
    lines = [(file, line) for file in files for line in _sites((root / file).read_text(encoding="utf-8"))]
    chance.shuffle(lines)
    found: list[Mutant] = []
    for file, line in lines:
        if len(found) == count:
            break
        source = (root / file).read_text(encoding="utf-8")
        kinds = list(_sites(source)[line].items())
        chance.shuffle(kinds)
        for operator, occurrences in kinds:
            occurrence = chance.choice(occurrences)
            text = mutated(operator, occurrence, source)
            if text is not None and computes(text) not in (None, computes(source)):
                before, after = _changed(source, text)
                found.append(Mutant(group, str(file), line, operator, occurrence, before, after))
                break
    return found


@functools.lru_cache(maxsize=1)
def _operators() -> dict[str, Any]:
    return operators()


@functools.lru_cache(maxsize=64)
def _sites(source: str) -> dict[int, dict[str, list[int]]]:
    """Return the changes that each line of a source allows: by operator, its occurrences."""
    found: dict[int, dict[str, list[int]]] = {}
    counts = dict.fromkeys(_operators(), 0)
    for node in ast_nodes(get_ast(source)):
        if node.parent is not None and node.parent.type in ("parameters", "lambdef") and node.type == "operator":
            continue  # the bare star of a signature multiplies nothing
        for name, operator in _operators().items():
            for start, _ in operator.mutation_positions(node):
                found.setdefault(start[0], {}).setdefault(name, []).append(counts[name])
                counts[name] += 1
    return found


def mutated(operator: str, occurrence: int, source: str) -> str | None:
    """Return a source with one change; None if there is no such."""
    text: str | None = mutate_code(source, _operators()[operator], occurrence)
    return text


@functools.lru_cache(maxsize=64)
def computes(source: str) -> str | None:
    """Return what a source computes: its syntax tree without words; None if it is no Python."""
    try:
        return ast.dump(_WithoutWords().visit(ast.parse(source)))
    except (SyntaxError, ValueError):
        return None


class _WithoutWords(ast.NodeTransformer):
    """Takes out docstrings, annotations, texts of errors, reasons and the names of checks."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        node.decorator_list = [one for one in node.decorator_list if not _calls(one, "claim", "columns")]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _calls(node, "Column"):
            return ast.Constant(None)
        if _calls(node, *NAMED_CALLS):
            node.args = node.args[1:]
        node.keywords = [one for one in node.keywords if one.arg not in WORDS]
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg == "rivals" and isinstance(node.value, ast.Dict):
            node.value.keys = [None for _ in node.value.keys]
        return self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant(None)


def _calls(node: ast.AST, *names: str) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Name) and function.id in names


def _changed(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, of both texts."""
    old, new = before.splitlines(), after.splitlines()
    head = next(at for at, pair in enumerate(_pairs(old, new)) if pair[0] != pair[1])
    tail = next(at for at, pair in enumerate(_pairs(old[head:][::-1], new[head:][::-1])) if pair[0] != pair[1])
    return "\n".join(old[head : len(old) - tail]), "\n".join(new[head : len(new) - tail])


def _pairs(old: list[str], new: list[str]) -> Iterator[tuple[str | None, str | None]]:
    for at in range(max(len(old), len(new)) + 1):
        yield old[at] if at < len(old) else None, new[at] if at < len(new) else None
