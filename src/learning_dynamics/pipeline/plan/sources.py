"""Where the science is: papers, topics, their modules, and the imports of a module, read from source without import."""

import ast
import functools
import os
from collections.abc import Mapping
from pathlib import Path

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.source_files import Definition, read_source, syntax_tree

PACKAGE = "learning_dynamics"
SOURCE_ROOT = Path(__file__).resolve().parents[3]
# the module of a topic that has the functions of each stage
TOPIC_MODULES = {
    "run": "runs",
    "metrics": "metrics",
    "figure": "figures",
    "motion": "motion",
    "interactive": "interactive",
    "claims": "claims",
}
# no result depends on these modules, which carry jobs out, write messages, or say what may be configured (`settings`)
INFRASTRUCTURE = tuple(f"{PACKAGE}.{name}" for name in ("pipeline", "errors", "files", "progress", "settings"))


def papers() -> list[str]:
    """Return the papers that have a topic with runs, sorted."""
    folder = SOURCE_ROOT / PACKAGE / "papers"
    return sorted({file.relative_to(folder).parts[0] for file in find_files(folder, "*/*/runs.py")})


def topics(paper: str) -> list[str]:
    """Return the topics of a paper, sorted: its folders that have one of `TOPIC_MODULES`."""
    folder = SOURCE_ROOT / PACKAGE / "papers" / paper
    names = TOPIC_MODULES.values()
    return sorted({path.parent.name for path in find_files(folder, "*/*") if path.name.removesuffix(".py") in names})


def topic_module(paper: str, module_name: str, function_name: str) -> str:
    """Return the module that defines a function of a topic.

    Parameters
    ----------
    module_name : str
        One of the values of `TOPIC_MODULES`, such as ``claims``. If ``claims`` is a folder, the module in it that
        defines the function is returned; the folder itself, if none does.
    function_name : str
        ``topic.function``.

    Raises
    ------
    ProjectError
        If `function_name` is not of this form, or there is no such topic or module; it names the nearest.
    """
    topic, dot, function = function_name.partition(".")
    if not dot or not function.isidentifier():
        raise ProjectError(
            f"`{function_name}`: write topic.function; topics of {paper} are: {', '.join(topics(paper))}"
        )
    module = f"{PACKAGE}.papers.{paper}.{topic}.{module_name}"
    if module_path(module) is None:
        known = topics(paper)
        nearest = suggest_name(topic, known) if topic not in known else ""
        raise ProjectError(
            f"`{function_name}`: src/{PACKAGE}/papers/{paper}/{topic}/{module_name}.py is not there{nearest}"
        )
    return next((inner for inner in _modules_in(module) if function in definitions(inner)), module)


def data_module(paper: str, source: str) -> str:
    """Return the module that defines a data source ``module.function``: the paper's own, else the library's.

    Raises
    ------
    ProjectError
        If neither has such a module.
    """
    module = source.rpartition(".")[0]
    for name in (f"{PACKAGE}.papers.{paper}.{module}", f"{PACKAGE}.datasets.{module}"):
        if module_path(name) is not None:
            return name
    raise ProjectError(f"`{source}`: no module `{module}` in src/{PACKAGE}/datasets or papers/{paper}")


def module_of(stage: str, paper: str, function_name: str) -> str:
    """Return the module of the function that a stage calls: a data source, or a topic's."""
    if stage == "data":
        return data_module(paper, function_name)
    return topic_module(paper, TOPIC_MODULES[stage], function_name)


def definitions(module: str) -> Mapping[str, Definition]:
    """Return the public functions that a module of this package defines, by name; none if there is no such module.

    A folder has the functions of the modules in it.
    """
    path = module_path(module)
    if path is None:
        return {}
    functions = dict(read_source(path).functions)
    for inner in _modules_in(module):
        functions |= definitions(inner)
    return functions


def _modules_in(module: str) -> list[str]:
    """Return the modules in a folder of this package, sorted; none for a module that is a file."""
    path = module_path(module)
    if path is None or path.name != "__init__.py":
        return []
    return [f"{module}.{file.stem}" for file in find_files(path.parent, "*.py") if file.name != "__init__.py"]


def definition_of(stage: str, paper: str, function_name: str, where: str) -> Definition:
    """Return the function that a stage calls; `where` is the beginning of an error's message.

    Raises
    ------
    ProjectError
        If there is no such function; it names the nearest.
    """
    try:
        module = module_of(stage, paper, function_name)
    except ProjectError as error:
        raise ProjectError(f"{where}: {error}") from None
    name, functions = function_name.rpartition(".")[2], definitions(module)
    if name not in functions:
        is_folder = bool(_modules_in(module))
        file = module.replace(".", "/") + ("" if is_folder else ".py")
        raise ProjectError(f"{where}: no function `{name}` in {file}{suggest_name(name, functions)}")
    return functions[name]


def place_of(stage: str, paper: str, function_name: str) -> str:
    """Return file and name of the function that a stage calls, the beginning of an error about its text."""
    return f"{module_path(module_of(stage, paper, function_name))}: `{function_name.rpartition('.')[2]}`"


def is_infrastructure(module: str) -> bool:
    """Whether a module is one of `INFRASTRUCTURE`, or inside one, so that no result depends on it."""
    return module in INFRASTRUCTURE or module.startswith(tuple(f"{name}." for name in INFRASTRUCTURE))


def module_path(module: str) -> Path | None:
    """Return the file of a module of this package, or None."""
    base = os.path.join(SOURCE_ROOT, *module.split("."))
    candidates = (os.path.join(base, "__init__.py"), f"{base}.py")
    return next((Path(candidate) for candidate in candidates if os.path.isfile(candidate)), None)


def imports_of(module: str) -> tuple[str, ...]:
    """Return the modules of this package that a module names in its imports, sorted."""
    path = module_path(module)
    if path is None:
        return ()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    # `from ..files import read, write` has level 2, the name `files` and the members `read` and `write`: in a module of
    # the package `a.b` it gives `a.files`, `a.files.read` and `a.files.write`
    for level, named, members in read_source(path).imports:
        parts = [named] if named else []
        if level:  # one dot is `package` itself, each further dot the package around the one before
            package_parts = package.split(".")
            parts = [*package_parts[: len(package_parts) - level + 1], *parts]
        base = ".".join(parts)
        # a member may be a module or a function; callers pass over names that are no module's
        names.update((base, *(f"{base}.{member}" for member in members)))
    return tuple(sorted(name for name in names if name.split(".")[0] == PACKAGE))


def read_syntax_tree(path: Path) -> ast.Module:
    """Return a file's syntax tree, which callers must not change: a file that stays the same is parsed once.

    Raises
    ------
    ProjectError
        If it is no Python: file, line and what is wrong.
    """
    status = path.stat()
    return _syntax_tree_of_version(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1024)  # chosen: twice as many as the package has files
def _syntax_tree_of_version(path: Path, _modified: int, _size: int) -> ast.Module:
    # time and size are there for the cache: a file with another time or size is parsed again
    return syntax_tree(path, path.read_bytes())
