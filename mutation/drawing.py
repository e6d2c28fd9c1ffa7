"""Where mutants may be: modules by group, and some of their lines, drawn with a seed."""

import ast
import functools
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, WorkItem

from mutation.operators import OPERATORS

PACKAGE = Path("src/learning_dynamics")
# modules that only draw; no number depends on them
DRAWN = ("__init__.py", "figures.py", "motion.py", "interactive.py", "panels.py", "drawing.py")
LIBRARY = ("dynamics", "measures", "datasets")
# keyword arguments, and calls with their first argument, that are words
WORDS = ("because", "scope", "correction", "reason", "label", "how", "excluded")
NAMED_CALLS = ("every_draw", "equal_on_every_draw", "at_most", "at_least", "equal", "share_of_draws", "Untested")


def groups(root: Path) -> dict[str, list[Path]]:
    """Return the modules that compute, by topic (``paper/topic``, ``paper/shared``) and part of the library."""
    package = root / PACKAGE
    found = {}
    for paper in sorted(folder for folder in (package / "papers").iterdir() if (folder / "__init__.py").exists()):
        found[f"{paper.name}/shared"] = _computing(paper)
        for topic in sorted(folder for folder in paper.iterdir() if (folder / "__init__.py").exists()):
            found[f"{paper.name}/{topic.name}"] = [*_computing(topic), *_computing(topic / "claims")]
    for part in LIBRARY:
        found[part] = _computing(package / part)
    found["judges"] = [package / "evidence.py", *_computing(package / "judging")]
    return {name: [file.relative_to(root) for file in files] for name, files in found.items() if files}


def _computing(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("[!.]*.py") if file.name not in DRAWN)


def write_session(session: Path, group: str, files: list[Path], seed: int, count: int) -> None:
    """Write a session of cosmic-ray with the mutants of a group, if there is none yet."""
    if session.exists():
        return
    session.parent.mkdir(parents=True, exist_ok=True)
    unfinished = session.with_suffix(".drawing")
    unfinished.unlink(missing_ok=True)
    with use_db(str(unfinished), WorkDB.Mode.create) as database:
        init(files, database, {})
        mutations = [item.mutations[0] for item in database.work_items]
        database.clear()
        database.add_work_items(
            WorkItem.single(f"{at:03}", mutation) for at, mutation in enumerate(draw(group, mutations, seed, count))
        )
    unfinished.rename(session)


def draw(group: str, mutations: Iterable[MutationSpec], seed: int, count: int) -> list[MutationSpec]:
    """Return `count` mutations: lines are drawn evenly, then an operator that the line allows, then where it applies.

    A mutation that computes the same, since it changes words, is not drawn.
    """
    lines: defaultdict[tuple[Path, int], defaultdict[str, list[MutationSpec]]] = defaultdict(lambda: defaultdict(list))
    for mutation in sorted(
        mutations, key=lambda one: (one.module_path, one.start_pos, one.operator_name, one.occurrence)
    ):
        if mutation.operator_name in OPERATORS:
            lines[mutation.module_path, mutation.start_pos[0]][mutation.operator_name].append(mutation)
    chance = random.Random(f"{seed} {group}")
    order = list(lines)
    chance.shuffle(order)
    drawn: list[MutationSpec] = []
    for line in order:
        if len(drawn) == count:
            break
        names = list(lines[line])
        chance.shuffle(names)
        candidates = [chance.choice(lines[line][name]) for name in names]
        drawn += [one for one in candidates if is_computation(one)][:1]
    return drawn


def is_computation(mutation: MutationSpec) -> bool:
    """Whether a mutation is Python and changes more than words."""
    source = mutation.module_path.read_text(encoding="utf-8")
    text = mutate_code(source, get_operator(mutation.operator_name)(), mutation.occurrence)
    return text is not None and computes(text) not in (None, computes(source))


@functools.lru_cache(maxsize=64)
def computes(source: str) -> str | None:
    """Return the syntax tree of a source without docstrings, annotations and messages; None if it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                node.value = ast.Constant(None)
            case ast.FunctionDef():
                node.returns = None
                node.decorator_list = [one for one in node.decorator_list if not _calls(one, "claim", "columns")]
            case ast.arguments():  # the bare star of a signature multiplies nothing
                node.args, node.posonlyargs, node.kwonlyargs = node.posonlyargs + node.args + node.kwonlyargs, [], []
                node.defaults, node.kw_defaults = [one for one in node.defaults + node.kw_defaults if one], []
            case ast.arg() | ast.AnnAssign():
                node.annotation = ast.Constant(None)
            case ast.Raise(exc=ast.Call(func=name)):
                node.exc = name
            case ast.Call():
                if _calls(node, "Column"):
                    node.args, node.keywords = [], []
                if _calls(node, *NAMED_CALLS):
                    node.args = node.args[1:]
                node.keywords = [one for one in node.keywords if one.arg not in WORDS]
            case ast.keyword(arg="rivals", value=ast.Dict() as rivals):
                rivals.keys = [None for _ in rivals.keys]
            case ast.JoinedStr():
                node.values = []
    return ast.dump(tree)


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
