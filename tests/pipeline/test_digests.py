"""What digests of functions are taken of: a formula changes those of what reaches it; words and places change none."""

import ast
import dis
import re
import types

import pytest

from learning_dynamics.pipeline.plan import digests, sources
from learning_dynamics.pipeline.plan.digests import Reference, science
from learning_dynamics.pipeline.plan.sources import PACKAGE, SOURCE_ROOT
from tests.pipeline.conftest import refusal

JOB = "topic.flow"  # of a made-up paper: papers/toy/topic/runs.py


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function: what the job of a made-up paper depends on, given its modules, ``a__b`` in folder a."""
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    count = iter(range(10**6))

    def of(**modules):
        monkeypatch.setattr(sources, "SOURCE_ROOT", root := tmp_path / str(next(count)))
        for name, text in {"papers__toy__topic__runs": "", **modules}.items():
            path = root / PACKAGE / f"{name if '/' in name else name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in path.relative_to(root).parents[:-1]:
                (root / folder / "__init__.py").touch()
            path.write_text(text, encoding="utf-8")
        digests.forget()
        return science("run", "toy", JOB)

    yield of
    digests.forget()


BASE = '''"""Words."""
import numpy as np


def flow(x, *, rate: float = 1.0) -> float:
    """Words."""
    if rate < 0:
        raise ValueError(f"rate is {rate}")
    size: float = abs(x)
    return size * np.exp(-rate)  # a remark
'''


WORDS = (
    ("# a remark", "# another"),
    ('"""Words."""\nimport', '"""Other words, longer."""\nimport'),
    ('    """Words."""\n', ""),
    ('f"rate is {rate}"', '"negative"'),
    ("-> float", "-> int"),
    ("rate: float", "rate: int"),
    ("size * np.exp(-rate)", "(size\n            * np.exp( -rate ))"),
    ("import numpy as np\n", "from __future__ import annotations\n\nimport numpy as np\n"),
    ("import numpy as np\n", "import math\nimport numpy as np\n\nUNRELATED = math.pi\n"),
    ("def flow", "def unrelated(x):\n    return np.log(x)\n\n\ndef flow"),
    ("np", "numpy"),
)
FORMULAS = (
    ("-rate)", "-rate / 2)"),
    ("rate: float = 1.0", "rate: float = 2.0"),
    ("rate < 0", "rate <= 0"),
    ("ValueError", "KeyError"),
    ("ValueError", "Untested"),  # which says why a claim was not judged: a result
    ("import numpy as np", "import jax.numpy as np"),
    ("np.exp", "np.expm1"),
    ("(-rate)", "(*[-rate])"),
    ("def flow", "@np.vectorize\ndef flow"),
)


def test_formulas_change_it_and_words_places_and_neighbours_do_not(digest):
    def changes(old, new):
        assert old in BASE
        changed = BASE.replace("import numpy as np", "import numpy") if old == "np" else BASE
        return digest(papers__toy__topic__runs=changed.replace(old, new)) != before

    before = digest(papers__toy__topic__runs=BASE)
    assert [one for one in WORDS if changes(*one)] == []
    assert [one for one in FORMULAS if not changes(*one)] == []


def test_what_is_said_where_it_is_a_result_changes_it(digest):
    runs = "def flow(): raise Untested('{}')"
    assert digest(papers__toy__topic__runs=runs.format("a")) != digest(papers__toy__topic__runs=runs.format("b"))
    claims = 'def holds(run):\n    """{}"""\n    return run\n'
    of = []
    for words in ("It holds.", "It does not."):
        digest(papers__toy__topic__claims=claims.format(words))
        of.append(science("claims", "toy", "topic.holds"))
    assert of[0] != of[1]


THEORY = "def power(x):\n    return x ** 2\n\n\ndef root(x):\n    return x ** 0.5\n"


def test_what_is_split_into_files_or_read_in_another_way_is_the_same(digest):
    calls = "def flow(x):\n    return theory.power(x) + theory.root(x)\n"
    as_module = "from learning_dynamics.papers.toy.topic import theory\n" + calls
    names = "from learning_dynamics.papers.toy.topic.{} import power\nfrom .{} import root as r\n"
    by_name = names + "def flow(x):\n    return power(x) + r(x)\n"
    power, root = THEORY.split("\n\n\n")
    one = digest(papers__toy__topic__runs=as_module, papers__toy__topic__theory=THEORY)
    assert one == digest(papers__toy__topic__runs=by_name.format("theory", "theory"), papers__toy__topic__theory=THEORY)
    assert one == digest(
        papers__toy__topic__runs=by_name.format("powers", "roots"),
        papers__toy__topic__powers=power,
        papers__toy__topic__roots=root,
    )
    assert one == digest(papers__toy__topic__runs=f"{THEORY}\ndef flow(x):\n    return power(x) + root(x)\n")
    # and which is which counts
    swapped = as_module.replace("theory.power(x) + theory.root(x)", "theory.root(x) + theory.power(x)")
    assert one != digest(papers__toy__topic__runs=swapped, papers__toy__topic__theory=THEORY)
    of_one_name = "from .a import f\nfrom .b import f as g\ndef flow(): return f() - g()"
    first, second = "def f(): return 1", "def f(): return 2"
    assert digest(
        papers__toy__topic__runs=of_one_name, papers__toy__topic__a=first, papers__toy__topic__b=second
    ) != digest(papers__toy__topic__runs=of_one_name, papers__toy__topic__a=second, papers__toy__topic__b=first)


# each names K of a module `theory` in its own way; `{}` is that module
WAYS = {
    "by name": "from {} import K\ndef flow(): return K",
    "of its module": "import {} as theory\ndef flow(): return theory.K",
    "in the function": "def flow():\n    from {} import K\n    return K",
    "transitively": "from {} import K\ndef inner(): return K\ndef flow(): return inner()",
    "through a constant": "from {} import K\nTWICE = 2 * K\ndef flow(): return TWICE",
    "through another name of one value": "from {} import K\nONE = TWO = K\ndef flow(): return TWO",
    "as a default": "from {} import K\ndef flow(x=K): return x",
    "as a decorator": "from {} import K\n@K\ndef flow(): return 1",
    "as a base": "from {} import K\nclass A(K): ...\ndef flow(): return A()",
    "as a field's default": "from {} import K\nclass A:\n    x: int = K\ndef flow(): return A()",
    "in a method": "from {} import K\nclass A:\n    K = 1\n    def f(self): return K\ndef flow(): return A().f()",
    "in a comprehension": "from {} import K\ndef flow(): return [K for x in range(3)]",
    "beside a comprehension's own": "from {} import K\ndef flow(): return [K for K in range(3)] + [K]",
    "in a nested function": "from {} import K\ndef flow():\n    def g(): return K\n    return g()",
    "in a formatted string": "from {} import K\ndef flow(): return f'{K:.3f}'",
    "in an augmented constant": "from {} import K\nX = 1\nX += K\ndef flow(): return X",
    "set on a function": "from {} import K\ndef f(): ...\nf.k = K\ndef flow(): return f.k",
    "under a condition": "from {} import K\nif len('a'):\n    X = K\nelse:\n    X = 1\ndef flow(): return X",
    "where an import may fail": "try:\n    from {} import K\nexcept ImportError:\n    K = 1\ndef flow(): return K",
    "as another definition's rival": "K = 1\nfrom {} import K\ndef flow(): return K",
    "of a module handed on": "import {} as t\ndef flow(): return getattr(t, 'K')",
    "on import": "from {} import K\nprint(K)\ndef flow(): return 1",
    "set in another module": "from {} import K\nimport learning_dynamics.other as o\no.X = K\ndef flow(): return o.X",
}  # fmt: skip

# and here what it reads cannot be told
REFUSED = {
    "in a registry of another module": "from {} import K\ndef add(x): K['a'] = x\ndef flow(): return 1",
    "out of a text": "LATE = 1\ndef flow(table): return table.query('time > @LATE')",
    "with every name": "from {} import *\ndef flow(): return K",
    "by reading all names": "from {} import K\ndef flow(): return globals()['K']",
    "by evaluating text": "from {} import K\ndef flow(): return eval('K')",
    "by importing it by name": "import importlib\ndef flow(): return importlib.import_module('{}').K",
    "in a registry": "from {} import K\nR = dict()\ndef add(x):\n    R[1] = x\nadd(K)\ndef flow(): return R[1]",
    "registered by a decorator":
        "import {}\nR = dict()\ndef register(f):\n    R['f'] = f\n    return f\n"
        "@register\ndef one(): return {}.K\ndef flow(): return R['f']()",
    "registered by a method":
        "import {}\nclass Known:\n    def __init__(self): self.all = []\n    def add(self, f):\n"
        "        self.all.append(f)\n        return f\nR = Known()\n"
        "@R.add\ndef one(): return {}.K\ndef flow(): return R.all[0]()",
    "registered by a base": "from {} import K\nclass A:\n    all = []\n    def __init_subclass__(cls):\n"
        "        A.all.append(cls)\nclass B(A):\n    k = K\ndef flow(): return A.all[0].k",
    "as a subclass": "from {} import K\nclass A: ...\nclass B(A):\n    k = K\n"
        "def flow(): return A.__subclasses__()[0].k",
    "dispatched by type": "import functools\nimport {}\n@functools.singledispatch\ndef f(x): return 1\n"
        "@f.register(int)\ndef g(x): return {}.K\ndef flow(): return f(2)",
}  # fmt: skip


UNREAD = {
    "an annotation": "from {} import K\ndef flow(x: K) -> K: return x",
    "a neighbour's": "from {} import K\ndef other(): return K\ndef flow(): return 1",
    "another one by name": "from {} import other\ndef flow(): return other",
    "another one of its module": "import {} as theory\ndef flow(): return theory.other",
    "another one by its whole name": "import {}\ndef flow(): return {}.other",
    "a decorator's mark": "import {}\nclass Row:\n    k = 1\ndef mark(f):\n    f.row = Row()\n    return f\n"
        "@mark\ndef one(): return {}.K\ndef flow(): return 1",
    "for type checkers": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {} import K\n"
        "def flow(x: K): return x",
    "of a script": "from {} import K\ndef flow(): return 1\nif __name__ == '__main__':\n    print(K)",
}  # fmt: skip
HOME = "learning_dynamics.papers.toy.theory"


def test_a_changed_constant_is_seen_by_who_reads_it_however_and_by_nobody_else(digest):
    def seen(ways):
        found = []
        for way, code in ways.items():
            runs = code.replace("{}", HOME)
            first, second, again = (
                digest(papers__toy__topic__runs=runs, papers__toy__theory=f"K = {value}\nother = 0\n", other="X = 0\n")
                for value in (1, 2, 1)
            )
            assert first == again
            found += [way] if first != second else []
        return found

    assert seen(WAYS) == list(WAYS)
    assert seen(UNREAD) == []


def test_what_cannot_be_told_is_refused(digest):
    said = {}
    for way, code in REFUSED.items():
        modules = {"papers__toy__topic__runs": code.replace("{}", HOME), "papers__toy__theory": "K = 1\n"}
        said[way] = refusal(digest, **modules)
    told = re.compile(r"runs\.py:\d+: .*, so that a job's dependencies cannot be determined; ")
    assert [way for way in said if not told.search(said[way])] == []
    missing = "from learning_dynamics.papers.toy.folder import K\ndef flow(): return K"
    words = "papers.toy.folder: no such module is there; write its file, or give its"
    assert words in refusal(digest, papers__toy__topic__runs=missing)


def test_imports_are_followed_in_every_form(digest):
    """What a package imports for others is followed to where it stands, and a module by what imports it."""
    modules = {
        "papers__toy__topic__runs": "from learning_dynamics.measures import spectrum\ndef flow(): return spectrum(1)",
        "measures/__init__": "from learning_dynamics.measures.spectrum import spectrum, other\n",
        "measures__spectrum": "def spectrum(x): return x\ndef other(x): return x\n",
    }
    first = digest(**modules)
    assert set(first) == {"papers.toy.topic.flow", "measures.spectrum"}
    assert (
        digest(**modules | {"measures__spectrum": "def spectrum(x): return 2 * x\ndef other(x): return x\n"}) != first
    )
    assert (
        digest(**modules | {"measures__spectrum": "def spectrum(x): return x\ndef other(x): return 2 * x\n"}) == first
    )
    digest(
        a="import learning_dynamics.b\nimport numpy\n",
        b="def f():\n    match 1:\n        case 1:\n            from learning_dynamics.sub import c\n",
        sub__c="from . import d\n", sub__d="try:\n    from ..e import x\nfinally: ...\n", e="x = 1\n",
        errors="", unused="",
    )  # fmt: skip
    found = {name.removeprefix(f"{PACKAGE}.") for name in digests.imported_by(f"{PACKAGE}.a")}
    assert found == {"a", "b", "sub", "sub.c", "sub.d", "e"}


def test_what_importing_does_counts(digest):
    for where in ("papers__toy__precision", "papers/toy/__init__", "papers/toy/topic/__init__"):
        runs = "from learning_dynamics.papers.toy import precision\ndef flow(): return 1"
        modules = {"papers__toy__topic__runs": runs, "papers__toy__precision": ""}
        first, second = (
            digest(**modules | {where: f"import numpy\nnumpy.seterr(all={how!r})\n"}) for how in ("raise", "")
        )
        assert first != second


def test_a_table_that_lies_beside_the_code_is_read(digest):
    runs = "import numpy as np\nfrom pathlib import Path\nTABLE = np.loadtxt(Path(__file__).with_name('t.csv'))\n"
    runs += "def flow(*, width):\n    return TABLE * width\n"
    before = digest(papers__toy__topic__runs=runs)
    (sources.SOURCE_ROOT / PACKAGE / "papers/toy/topic/t.csv").write_text("1.0\n")
    digests.forget()
    with_table = dict(science("run", "toy", JOB))
    (sources.SOURCE_ROOT / PACKAGE / "papers/toy/topic/t.csv").write_text("2.0\n")
    digests.forget()
    assert with_table.keys() - before.keys() == {"papers.toy.topic/t.csv"}
    assert with_table != science("run", "toy", JOB)


# -- the science as it stands ------------------------------------------------------------------------------------------

MODULES = sorted(
    name
    for path in (SOURCE_ROOT / PACKAGE).rglob("*.py")
    if digests._is_science(
        name := ".".join(path.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")
    )
    and name != f"{PACKAGE}.__main__"
)


class WithoutWords(ast.NodeTransformer):
    """Leaves out the texts of errors, as digests do."""

    def visit_Raise(self, node):
        if isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func).endswith("Error"):
            node.exc.args = []
        node.cause = None
        return node


def names_compiled(code):
    """Yield the names that compiled code reads of its module."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from names_compiled(inner)


def names_left_out(module):
    """Yield definitions of a module and names that they read according to Python's compiler but not to their digest."""
    path = sources.module_path(module)
    read = digests._module(module)
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    for statement in WithoutWords().visit(sources.parsed(path)).body:
        for name in digests._defined_names(statement):
            alone = ast.fix_missing_locations(ast.Module([future, statement], []))
            written = read.definitions[name].names
            for other in set(names_compiled(compile(alone, str(path), "exec"))) - {name}:
                expected = [Reference(module, (other,))] if other in read.definitions else read.imports.get(other, ())
                for module_read, names in expected:
                    if not any(one.module == module_read and one.path[: len(names)] == names for one in written):
                        yield f"{module}: {name} reads {other}"


def test_a_definition_names_what_python_compiles_it_to_read():
    assert len(MODULES) > 100
    assert [left_out for module in MODULES for left_out in names_left_out(module)] == []
