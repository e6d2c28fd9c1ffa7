"""What digests of functions are taken of: a formula changes those of what reaches it; words and places change none."""

import ast
import dis
import types

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import digests, sources
from learning_dynamics.pipeline.plan.digests import Reference, science
from learning_dynamics.pipeline.plan.sources import PACKAGE, SOURCE_ROOT

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


ANYWHERE = """
import a
def function():
    for _ in range(3):
        import b
    else:
        import c
    try:
        from d import e
    except ValueError:
        import f
    else:
        import g
    finally:
        import h
    with open("x"):
        import i
    match 1:
        case 1:
            import j
    if function:
        pass
    elif function():
        import k
    class Inner:
        async def method():
            import l
"""


def test_imports_are_found_wherever_they_stand():
    tree = ast.parse(ANYWHERE)
    everywhere = [node for node in ast.walk(tree) if isinstance(node, sources.Import)]
    assert len(everywhere) == 11
    assert list(sources.imports_in(tree)) == everywhere


BASE = '''"""Words."""
import numpy as np


def flow(x, *, rate: float = 1.0) -> float:
    """Words."""
    if rate < 0:
        raise ValueError(f"rate is {rate}")
    size: float = abs(x)
    return size * np.exp(-rate)  # a remark
'''


def test_words_places_and_neighbours_change_nothing(digest):
    for old, new in (
        ("# a remark", "# another"),
        ('"""Words."""\nimport', '"""Other words, longer."""\nimport'),
        ('    """Words."""\n', ""),
        ('f"rate is {rate}"', '"negative"'),
        ("-> float", "-> int"),
        ("rate: float", "rate: int"),
        ("size * np.exp(-rate)", "(size\n            * np.exp( -rate ))"),
        ("import numpy as np\n", "from __future__ import annotations\n\nimport numpy as np\n"),
        ("import numpy as np\n", "import numpy\n"),
        ("import numpy as np\n", "import math\nimport numpy as np\n\nUNRELATED = math.pi\n"),
        ("def flow", "def unrelated(x):\n    return np.log(x)\n\n\ndef flow"),
        ("import numpy as np\n", ""),
    ):
        assert old in BASE
        other = BASE.replace(old, new)
        if new == "import numpy\n":
            other = other.replace("np.exp", "numpy.exp")
        if not new and "import" in old:
            other = other.replace("    return", "    import numpy as np\n\n    return")
        assert digest(papers__toy__topic__runs=other) == digest(papers__toy__topic__runs=BASE)


def test_a_formula_changes_it(digest):
    for old, new in (
        ("-rate)", "-rate / 2)"),
        ("rate: float = 1.0", "rate: float = 2.0"),
        ("rate < 0", "rate <= 0"),
        ("ValueError", "KeyError"),
        ("import numpy as np", "import jax.numpy as np"),
        ("np.exp", "np.expm1"),
        ("(-rate)", "(*[-rate])"),
        ("def flow", "@np.vectorize\ndef flow"),
    ):
        assert old in BASE
        assert digest(papers__toy__topic__runs=BASE.replace(old, new)) != digest(papers__toy__topic__runs=BASE)


def test_what_an_answer_says_changes_it(digest):
    """A claim that is untested says why, which is a result; an error's words are none."""
    runs = "def flow(): raise Untested('{}')"
    assert digest(papers__toy__topic__runs=runs.format("a")) != digest(papers__toy__topic__runs=runs.format("b"))


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


# each names K of a module `theory` in its own way; `{}` is where a job imports it from
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
    "in a formatted string": "from {} import K\ndef flow(): return f'{{K:.3f}}'",
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
    "in a registry of lists": "R = {{'a': []}}\ndef add(x): R['a'].append(x)\ndef flow(): return R['a']",
    "in a registry of another module": "from {} import K\ndef add(x): K['a'] = x\ndef flow(): return 1",
    "out of a text": "LATE = 1\ndef flow(table): return table.query('time > @LATE')",
    "imported by another name": "from importlib import import_module as load\ndef flow(): return load('{}').K",
    "registered by a base of its own": "class A:\n    known = {{}}\n    def __init_subclass__(cls):\n"
        "        cls.known[cls.__name__] = cls\ndef flow(): return A.known",
    "with every name": "from {} import *\ndef flow(): return K",
    "by reading all names": "from {} import K\ndef flow(): return globals()['K']",
    "by evaluating text": "from {} import K\ndef flow(): return eval('K')",
    "by importing it by name": "import importlib\ndef flow(): return importlib.import_module('{}').K",
    "in a registry": "from {} import K\nR = {{}}\ndef add(x):\n    R[1] = x\nadd(K)\ndef flow(): return R[1]",
    "registered by a decorator":
        "import {}\nR = {{}}\ndef register(f):\n    R['f'] = f\n    return f\n"
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


def test_a_changed_constant_is_seen_however_it_is_read(digest):
    for way in WAYS:
        home = "learning_dynamics.papers.toy.theory"
        runs = WAYS[way].replace("{{", "{").replace("}}", "}").replace("{}", home)
        ast.parse(runs)
        first, second = (
            digest(papers__toy__topic__runs=runs, papers__toy__theory=f"K = {value}\n", other="X = 0\n")
            for value in (1, 2)
        )
        assert first != second
        # and what is the same is the same once read again
        assert first == digest(papers__toy__topic__runs=runs, papers__toy__theory="K = 1\n", other="X = 0\n")


def test_what_cannot_be_told_is_refused(digest):
    for way in REFUSED:
        runs = REFUSED[way].replace("{{", "{").replace("}}", "}").replace("{}", "learning_dynamics.papers.toy.theory")
        message = r"runs\.py:\d+: .*, so that a job's dependencies cannot be determined; "
        with pytest.raises(ProjectError, match=message):
            digest(papers__toy__topic__runs=runs, papers__toy__theory="K = 1\n")


def test_what_is_not_read_changes_nothing(digest):
    for runs in (
        "from {} import K\ndef flow(x: K) -> K: return x",
        "from {} import K\ndef other(): return K\ndef flow(): return 1",
        "from {} import other\ndef flow(): return other",
        "import {} as theory\ndef flow(): return theory.other",
        "import {}\ndef flow(): return {}.other",
        "import {}\nclass Row:\n    k = 1\ndef mark(f):\n    f.row = Row()\n    return f\n"
        "@mark\ndef one(): return {}.K\ndef flow(): return 1",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {} import K\ndef flow(x: K): return x",
        "from {} import K\ndef flow(): return 1\nif __name__ == '__main__':\n    print(K)",
    ):
        home = "learning_dynamics.papers.toy.theory"
        first, second = (
            digest(papers__toy__topic__runs=runs.replace("{}", home), papers__toy__theory=f"K = {value}\nother = 0\n")
            for value in (1, 2)
        )
        assert first == second


def test_what_importing_does_counts(digest):
    for where in ("papers__toy__precision", "papers/toy/__init__", "papers/toy/topic/__init__"):
        runs = "from learning_dynamics.papers.toy import precision\ndef flow(): return 1"
        modules = {"papers__toy__topic__runs": runs, "papers__toy__precision": ""}
        first, second = (
            digest(**modules | {where: f"import numpy\nnumpy.seterr(all={how!r})\n"}) for how in ("raise", "")
        )
        assert first != second


def test_methods_that_change_places_are_seen(digest):
    functions = "def loss(x): return x\ndef gradient(x): return x\n"
    runs = "class A:\n    def {}(self): return 1\n    def {}(self): return 2\ndef flow(): return A().loss() + loss(1)\n"
    first = digest(papers__toy__topic__runs=functions + runs.format("loss", "gradient"))
    assert first != digest(papers__toy__topic__runs=functions + runs.format("gradient", "loss"))


def test_a_module_that_is_not_there_is_refused(digest):
    runs = "from learning_dynamics.papers.toy.folder import K\ndef flow(): return K"
    with pytest.raises(
        ProjectError, match=r"papers\.toy\.folder: no such module is there; write its file, or give its"
    ):
        digest(papers__toy__topic__runs=runs)


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


def test_a_statement_is_part_of_what_is_judged(digest):
    claims = 'def holds(run):\n    """{}"""\n    return run\n'
    of = []
    for words in ("It holds.", "It does not."):
        digest(papers__toy__topic__claims=claims.format(words))
        of.append(science("claims", "toy", "topic.holds"))
    assert of[0] != of[1]


def test_what_a_package_imports_for_others_is_followed_to_where_it_stands(digest):
    modules = {
        "papers__toy__topic__runs": "from learning_dynamics.measures import spectrum\ndef flow(): return spectrum(1)",
        "measures/__init__": "from learning_dynamics.measures.spectrum import spectrum, other\n",
        "measures__spectrum": "def spectrum(x): return x\ndef other(x): return x\n",
    }
    first = digest(**modules)
    assert set(first) == {"papers.toy.topic.flow", "measures.spectrum"}
    changed = modules | {"measures__spectrum": "def spectrum(x): return 2 * x\ndef other(x): return x\n"}
    assert digest(**changed) != first
    elsewhere = modules | {"measures__spectrum": "def spectrum(x): return x\ndef other(x): return 2 * x\n"}
    assert digest(**elsewhere) == first


def test_definitions_of_one_name_are_told_apart(digest):
    runs = "from .a import f\nfrom .b import f as g\ndef flow(): return f() - g()"
    one = digest(
        papers__toy__topic__runs=runs,
        papers__toy__topic__a="def f(): return 1",
        papers__toy__topic__b="def f(): return 2",
    )
    other = digest(
        papers__toy__topic__runs=runs,
        papers__toy__topic__a="def f(): return 2",
        papers__toy__topic__b="def f(): return 1",
    )
    assert len(one) == len(other) == 3
    assert one != other


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


def changed_everywhere(source):
    """Return a source in which every function, class and constant differs."""
    tree = ast.parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            statement.body.append(ast.Pass())
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            statement.value = ast.Tuple([statement.value])
    return ast.unparse(tree)


def test_a_change_of_any_definition_is_seen(tmp_path, monkeypatch):
    before = {module: digests._module(module).definitions for module in MODULES}
    for module in MODULES:
        path = sources.module_path(module)
        changed = tmp_path / path.relative_to(SOURCE_ROOT)
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(changed_everywhere(path.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    digests.forget()
    after = {module: digests._module(module).definitions for module in MODULES}
    digests.forget()
    definitions = [(module, name) for module in MODULES for name in before[module]]
    assert definitions == [(module, name) for module in MODULES for name in after[module]]
    unseen = [place for place in definitions if before[place[0]][place[1]].syntax == after[place[0]][place[1]].syntax]
    assert unseen == []
