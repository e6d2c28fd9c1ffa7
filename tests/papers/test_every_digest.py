"""What jobs carry out is what their digests are taken of: jobs of every stage are watched while they compute."""

import ast
import sys
import threading
from contextlib import contextmanager
from types import CodeType

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import Workbench
from learning_dynamics.pipeline.commands.interactive import chart_json
from learning_dynamics.pipeline.commands.motion import render_frames
from learning_dynamics.pipeline.plan.digests import ENTIRE_MODULE, Node, reached
from learning_dynamics.pipeline.plan.sources import INFRASTRUCTURE, PACKAGE, SOURCE_ROOT, module_of
from learning_dynamics.plotting import Drawn, legible_ticks, sized, style
from tests.support import PAPERS, evaluation, smoke, tables_of

mpl.use("Agg")
EVERY = 6  # one job in so many is watched


@contextmanager
def watched():
    """Note the code of this package that is carried out, but for what importing a module does."""
    codes: dict[CodeType, None] = {}
    importing = threading.local()

    def note(frame, event, _):
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name == "<module>":
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0) and code.co_filename.startswith(str(SOURCE_ROOT)):
            codes[code] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield codes
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def module_of_code(code):
    """Return the name of the module that code stands in."""
    path = code.co_filename.removeprefix(f"{SOURCE_ROOT}/").removesuffix(".py")
    return path.replace("/", ".").removesuffix(".__init__")


def definition_of_code(code):
    """Return the definition that code is part of; a lambda of a constant's is found by its line."""
    name = code.co_qualname.partition(".")[0]
    if not name.startswith("<"):
        return Node(module_of_code(code), name)
    with open(code.co_filename, encoding="utf-8") as source:
        body = ast.parse(source.read()).body
    statement = next(one for one in body if one.lineno <= code.co_firstlineno <= one.end_lineno)
    return Node(module_of_code(code), names_given(statement)[0])


def names_given(statement):
    """Return the names that an assignment gives a value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]


def carried_out(codes):
    """Return the definitions of science that were carried out."""
    nodes = {definition_of_code(code) for code in codes}
    return {node for node in nodes if not node.module.startswith(INFRASTRUCTURE) and node.module.startswith(PACKAGE)}


def jobs(paper):
    """Return a job of every kind of a paper's: stage, name and kind; of runs, the first of its kind."""
    whose, found = smoke(paper), {}
    config = whose.config
    for name in config.blocks(paper, "data"):
        found.setdefault(("data", whose.data(paper, name)["source"]), name)
    for name in config.runs[paper]:
        found.setdefault(("run", whose.run(paper, name)["kind"]), name)
    for name in config.blocks(paper, "claims"):
        found.setdefault(("claims", whose.claim(paper, name)["kind"]), name)
    for stage, names in config.drawings(paper).items():
        for name in names:
            found.setdefault((stage, whose.drawing(stage, paper, name)["kind"]), name)
    every = [(paper, stage, kind, name) for (stage, kind), name in found.items()]
    return every[::EVERY]


def do(paper, stage, name):
    """Carry a job out, and yield the stage that is watched and what was carried out of it."""
    whose = smoke(paper)
    bench = Workbench(whose)
    if stage == "run":
        if (data := whose.run_data(paper, name)) is not None:
            bench.data(paper, data)
        with watched() as codes:
            bench.trajectory(paper, name)
        yield "run", codes
        with watched() as codes:
            bench._measured(paper, name)
        yield "metrics", codes
        return
    if stage == "data":
        with watched() as codes:
            bench.data(paper, name)
        yield stage, codes
        return
    spec = whose.claim(paper, name) if stage == "claims" else whose.drawing(stage, paper, name)
    tables = tables_of(whose, paper, spec["runs"])
    with watched() as codes:
        if stage == "claims":
            evaluation(paper, name, tables)
        else:
            draw(stage, paper, spec, tables)
    yield stage, codes


def draw(stage, paper, spec, tables):
    function = paper_function(paper, stage if stage in ("motion", "interactive") else "figures", spec["kind"])
    if stage == "interactive":
        chart_json(function(**tables, **spec["settings"]), "", "")
        return
    with style():
        drawn = function(**tables, **spec["settings"])
        if stage == "motion":
            render_frames(drawn)
        else:
            legible_ticks(sized(Drawn.of(drawn).figure, "paper"))
    plt.close("all")


@pytest.mark.parametrize(
    ("paper", "stage", "kind", "name"),
    [pytest.param(*job, id=f"{job[0]}.{job[1]}.{job[2]}") for paper in PAPERS for job in jobs(paper)],
)
def test_what_a_job_carries_out_is_in_its_digest(paper, stage, kind, name):
    for of, codes in do(paper, stage, name):
        expected = set(reached(of, paper, kind))
        nodes = carried_out(codes)
        assert Node(module_of(of, paper, kind), kind.rpartition(".")[2]) in nodes  # it was watched
        whole = {node.module for node in expected if node.name == ENTIRE_MODULE}
        assert {node for node in nodes if node not in expected and node.module not in whole} == set()
