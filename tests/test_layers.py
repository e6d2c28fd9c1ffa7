"""Which modules may import which: library, papers and pipeline; parts of a topic; parts of other packages."""

import ast
import functools
import importlib.util
import subprocess
import sys

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.sources import (
    PACKAGE,
    SOURCE_ROOT,
    TOPIC_MODULES,
    imports_of,
    module_path,
    papers,
    read_syntax_tree,
    topics,
)
from tests.support import ROOT

MODULES = sorted(
    ".".join(path.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in find_files(SOURCE_ROOT / PACKAGE, "**/*.py")
)
# what a part of a topic may not rest on, by the last name of a module
FORBIDDEN = {
    "runs": ("metrics", "figures", "claims", "plotting"),
    "metrics": ("runs", "figures", "claims", "plotting"),
    "figures": ("runs", "metrics", "claims"),
    "motion": ("runs", "metrics", "claims"),
    "interactive": ("runs", "metrics", "claims"),
    "claims": ("runs", "metrics", "figures", "plotting"),
    "theory": (*TOPIC_MODULES.values(), "plotting"),
    "models": (*TOPIC_MODULES.values(), "plotting"),
}


def parts_of(module):
    """Return the names that follow the package's: `["papers", "waves"]` of `learning_dynamics.papers.waves`."""
    return module.split(".")[1:]


ABOVE_LIBRARY = (["papers"], ["pipeline"])
LIBRARY = [name for name in MODULES if parts_of(name)[:1] not in ABOVE_LIBRARY and name != f"{PACKAGE}.__main__"]


def modules_of_topics():
    """Return the modules of all topics, each with the key of `FORBIDDEN` that it belongs to: "claims", for example."""
    found = {}
    for paper in papers():
        for topic in topics(paper):
            for part in FORBIDDEN:
                folder = f"{PACKAGE}.papers.{paper}.{topic}.{part}."
                found |= {module: part for module in MODULES if f"{module}.".startswith(folder)}
    return found


MODULES_OF_TOPICS = modules_of_topics()


def wrong_imports(modules, is_wrong):
    """Return the imports for which `is_wrong(imported name)`, as pairs of module and imported name."""
    return [(module, name) for module in modules for name in imports_of(module) if is_wrong(name)]


def test_the_library_imports_neither_papers_nor_the_pipeline():
    assert wrong_imports(LIBRARY, lambda name: parts_of(name)[:1] in ABOVE_LIBRARY) == []


def test_tests_of_the_library_import_no_paper():
    folders = ("dynamics", "measures", "datasets", "plotting")
    files = [file for folder in folders for file in sorted((ROOT / "tests" / folder).rglob("*.py"))]
    assert len(files) > 20  # they have been found
    assert [str(file) for file in files if f"{PACKAGE}.papers" in file.read_text(encoding="utf-8")] == []


def test_papers_never_import_each_other():
    for paper in papers():
        others = tuple(f"{PACKAGE}.papers.{other}" for other in papers() if other != paper)
        of_paper = [name for name in MODULES if name.startswith(f"{PACKAGE}.papers.{paper}")]
        assert wrong_imports(of_paper, lambda name, others=others: name.startswith(others)) == [], paper


def test_parts_of_a_topic_import_none_of_those_forbidden_to_them():
    assert len(MODULES_OF_TOPICS) > 100  # they have been found
    wrong = []
    for module, part in MODULES_OF_TOPICS.items():
        for name in imports_of(module):
            is_own_module = module_path(name) and parts_of(name)
            if is_own_module and parts_of(name)[-1] in FORBIDDEN[part]:
                wrong.append((module, name))
    assert wrong == []


def test_topics_do_not_import_the_pipeline():
    assert wrong_imports(MODULES_OF_TOPICS, lambda name: parts_of(name)[:1] == ["pipeline"]) == []


def imported_names_in_compiled_functions(tree):
    """Return the names that compiled functions of a file use and the file imports from the package, by function."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
        for alias in node.names
    }
    found = {}
    for function in tree.body:
        decorators = ast.unparse(function.decorator_list) if isinstance(function, ast.FunctionDef) else ""
        if "compiled" in decorators or "cache=True" in decorators:
            used = {node.id for node in ast.walk(ast.Module(function.body, [])) if isinstance(node, ast.Name)}
            found[function.name] = used & imported
    return {function: names for function, names in found.items() if names}


def test_a_compiled_function_uses_no_name_that_its_file_imports_from_the_package():
    """Numba compiles a function again when its own file has changed, and not when a file that this imports has."""
    for module in MODULES:
        assert imported_names_in_compiled_functions(read_syntax_tree(module_path(module))) == {}, module


def test_a_name_of_the_package_that_a_compiled_function_uses_is_found():
    source = f"""
from {PACKAGE}.dynamics.compilation import compiled
from {PACKAGE}.measures import helper

@compiled("float64(float64)")
def field(state):
    return helper(state)

def plain(state):
    return helper(state)
"""
    assert imported_names_in_compiled_functions(ast.parse(source)) == {"field": {"helper"}}


# -- submodules of other packages: `scipy.stats` works after `import scipy` alone only if somebody has imported it -----


def submodules_not_imported(text):
    """Return the modules that a source uses as attributes and does not import: ``a.b`` after ``import a``."""
    nodes = list(ast.walk(ast.parse(text)))
    bound = {}  # by name in the source, the module that it is
    imported = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
            for alias in node.names:
                top = alias.name.partition(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            imported |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
    modules = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            name, attribute = ast.unparse(node).split(".", 1)
            if name in bound and is_module(f"{bound[name]}.{attribute}"):
                modules.add(f"{bound[name]}.{attribute}")
    return modules - imported


@functools.cache
def is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ModuleNotFoundError, ValueError):  # below what is no package; one that a library makes up
        return False


def test_submodules_that_are_used_and_not_imported_are_found():
    imports = "import scipy\nimport scipy.linalg as l\n"
    assert submodules_not_imported(f"{imports}scipy.stats.norm, l.blas.dot") == {"scipy.stats", "scipy.linalg.blas"}
    assert submodules_not_imported(f"{imports}scipy.linalg.inv, scipy.no_such_module, unbound.name") == set()


def test_a_submodule_is_imported_by_the_file_that_uses_it_or_comes_with_its_package():
    used = set()
    for file in find_files(SOURCE_ROOT, "**/*.py"):
        used |= submodules_not_imported(file.read_text(encoding="utf-8"))
    for package in {name.partition(".")[0] for name in used}:
        submodules = ", ".join(sorted(name for name in used if name.partition(".")[0] == package))
        # a fresh process has imported nothing else
        code = f"import {package}; {submodules}"
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
