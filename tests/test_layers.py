"""Who may import whom."""

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
    return module.split(".")[1:]


ABOVE_LIBRARY = (["papers"], ["pipeline"])
LIBRARY = [name for name in MODULES if parts_of(name)[:1] not in ABOVE_LIBRARY and name != f"{PACKAGE}.__main__"]
MODULES_OF_TOPICS = [
    (module, part)
    for paper in papers()
    for topic in topics(paper)
    for part in FORBIDDEN
    for module in MODULES
    if f"{module}.".startswith(f"{PACKAGE}.papers.{paper}.{topic}.{part}.")
]


def imports(modules, is_wrong):
    """Return the imports of modules that are wrong: pairs of names."""
    return [(module, name) for module in modules for name in imports_of(module) if is_wrong(name)]


def test_the_library_imports_neither_papers_nor_the_pipeline():
    assert imports(LIBRARY, lambda name: parts_of(name)[:1] in ABOVE_LIBRARY) == []


def test_tests_of_the_library_import_no_paper():
    folders = ("dynamics", "measures", "datasets", "plotting")
    files = [file for folder in folders for file in sorted((ROOT / "tests" / folder).rglob("*.py"))]
    assert len(files) > 20
    assert [str(file) for file in files if f"{PACKAGE}.papers" in file.read_text(encoding="utf-8")] == []


def test_papers_never_import_each_other():
    for paper in papers():
        others = tuple(f"{PACKAGE}.papers.{other}" for other in papers() if other != paper)
        of_paper = [name for name in MODULES if name.startswith(f"{PACKAGE}.papers.{paper}")]
        assert imports(of_paper, lambda name, others=others: name.startswith(others)) == [], paper


def test_parts_of_a_topic_import_none_of_those_forbidden_to_them():
    assert len(MODULES_OF_TOPICS) > 100
    wrong = []
    for module, part in MODULES_OF_TOPICS:
        wrong += [
            (module, name)
            for name in imports_of(module)
            if module_path(name) and parts_of(name) and parts_of(name)[-1] in FORBIDDEN[part]
        ]
    assert wrong == []


def test_what_a_topic_calls_knows_nothing_of_the_pipeline():
    assert imports([module for module, _ in MODULES_OF_TOPICS], lambda name: parts_of(name)[:1] == ["pipeline"]) == []


def test_what_is_compiled_names_nothing_of_another_file():
    """What is kept of a compiled function is outdated when its own file changes, and no other."""
    for module in MODULES:
        tree = read_syntax_tree(module_path(module))
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
            for alias in node.names
        }
        for function in tree.body:
            decorators = ast.unparse(function.decorator_list) if isinstance(function, ast.FunctionDef) else ""
            if "compiled" in decorators or "cache=True" in decorators:
                read = {node.id for node in ast.walk(ast.Module(function.body, [])) if isinstance(node, ast.Name)}
                assert not read & imported, f"{module}.{function.name}"


# -- what is used is imported, also where somebody else has imported it before ----------------------------------------


def parts_read(text):
    """Return the modules that a source reads off others without importing them: ``a.b`` after ``import a``."""
    nodes = list(ast.walk(ast.parse(text)))
    bound = {}  # what each name stands for, and all modules that are imported
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


def test_a_part_of_a_library_is_imported_by_who_reads_it_or_comes_with_the_library():
    text = "import scipy\nimport scipy.linalg as l\nscipy.stats.norm, l.blas.dot, scipy.linalg.inv, e.e"
    assert parts_read(text) == {"scipy.stats", "scipy.linalg.blas"}
    read = set().union(*(parts_read(file.read_text(encoding="utf-8")) for file in find_files(SOURCE_ROOT, "**/*.py")))
    for library in {name.partition(".")[0] for name in read}:
        parts = ", ".join(sorted(name for name in read if name.partition(".")[0] == library))
        ended = subprocess.run([sys.executable, "-c", f"import {library}; {parts}"], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
