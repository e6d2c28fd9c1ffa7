"""What each test file and each claim reaches, takes and measures while no error is planted."""

import ast
import functools
import json
import pickle
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# what compares with numbers and verdicts that are written down
VERDICTS = ("tests/papers/test_every_claim.py", "tests/papers/test_every_quantity.py")
# drawings, and what tries settings at random: they hold no number
NOT_NUMBERS = ("test_every_figure.py", "test_every_motion.py", "test_any_settings.py")
LIBRARY_TESTS = (
    "tests/test_judging.py",
    "tests/test_evidence.py",
    "tests/datasets",
    "tests/dynamics",
    "tests/measures",
)
PACKAGE = "learning_dynamics"


@dataclass
class Baseline:
    """What was seen of the tests without an error.

    Attributes
    ----------
    tests : mapping from test file to ``seconds`` and ``modules``
    claims : mapping from ``paper.claim`` to ``seconds`` of judging, ``modules`` and ``members``, the runs it reads
    members : mapping from ``paper.member`` to ``seconds``, ``modules`` and ``path`` of its table
    """

    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)
    members: dict[str, dict[str, Any]] = field(default_factory=dict)

    def tests_of(self, file: str, module: str, seconds: float) -> list[str]:
        """Return the test files that reach a module: its topic's own, then others, quickest first, while they last."""
        reaching = [name for name, known in self.tests.items() if module in known["modules"]]
        ranked = sorted(reaching, key=lambda name: (not _beside(name, file), self.tests[name]["seconds"]))
        found, left = [], seconds
        for name in ranked:
            left -= self.tests[name]["seconds"]
            if left >= 0 or _beside(name, file):
                found.append(name)
        return found

    def claims_of(self, module: str, seconds: float) -> list[str]:
        """Return the claims that a module has a part in, quickest first, while the time lasts."""
        found: list[str] = []
        made: set[str] = set()
        left = seconds
        for name in sorted(self.claims, key=lambda name: self._seconds(name, module, set())):
            known = self.claims[name]
            reached = module in known["modules"] or any(
                module in self.members[one]["modules"] for one in known["members"]
            )
            if not reached:
                continue
            left -= self._seconds(name, module, made)
            if left < 0 and found:
                break
            found.append(name)
            made.update(known["members"])
        return found

    def _seconds(self, claim: str, module: str, made: set[str]) -> float:
        """Return how long a claim takes if what a module has a part in is made anew, but for what was."""
        known = self.claims[claim]
        members = [self.members[name] for name in set(known["members"]) - made]
        return float(known["seconds"] + sum(one["seconds"] for one in members if module in one["modules"]))

    def seconds_of(self, tests: Iterable[str], claims: Iterable[str], module: str) -> tuple[float, float]:
        """Return how long tests and claims take, where what a module has a part in is made anew."""
        made: set[str] = set()
        judging = 0.0
        for name in claims:
            judging += self._seconds(name, module, made)
            made.update(self.claims[name]["members"])
        return sum(self.tests[name]["seconds"] for name in tests), judging


def _beside(test: str, file: str) -> bool:
    """Whether a test file is a module's own: in the folder of its topic, or of its name."""
    place, own = Path(test).parent.parts[1:], Path(file).parent.parts[2:]
    return place == own and (len(own) == 3 or Path(test).stem == f"test_{Path(file).stem}")


def test_files(root: Path, papers: list[str]) -> list[str]:
    """Return the test files that hold numbers, but for that of verdicts: the library's and some papers'."""
    tops = [root / name for name in LIBRARY_TESTS] + [root / "tests/papers" / paper for paper in papers]
    files = [file for top in tops for file in ([top] if top.is_file() else sorted(top.rglob("test_*.py")))]
    return [str(file.relative_to(root)) for file in files if file.name not in NOT_NUMBERS]


# -- in a process of its own, in a copy of the project ---------------------------------------------------------------


def observe_tests(file: str, out: Path) -> None:
    """Run one test file, and write down its time and the modules that it reached."""
    from mutation.trial import failing_test

    sys.dont_write_bytecode = False  # mutants are tried in copies of this one, and need not compile the rest anew
    with watched_tables() as made:
        began = time.process_time()
        failed = failing_test([file])
        seconds = time.process_time() - began
    imported = [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]
    modules = set(imported).union(*(modules_of_member(*member.split(".", 1)) for member in made))
    out.write_text(json.dumps({"seconds": seconds, "modules": sorted(modules), "failed": failed}))


def observe_claims(paper: str, out: Path) -> None:
    """Judge every claim of a paper, and write down what each takes, reads and finds."""
    from tests import support

    from learning_dynamics.errors import ProjectError
    from mutation.trial import failing_test, plain

    sys.dont_write_bytecode = False
    claims: dict[str, Any] = {}
    members: dict[str, Any] = {}
    found: dict[str, Any] = {}
    with watched_tables() as made:
        for name in support.smoke(paper).study.paper_block(paper)["claims"]:
            made.clear()
            try:
                tables = support.claim_tables(paper, name)
                began = time.process_time()
                found[f"{paper}.{name}"] = plain(support.evaluation(paper, name, tables))
            except ProjectError:
                continue  # its tests fail by themselves
            kind = support.smoke(paper).claim(paper, name)["kind"]
            modules = behind(f"{PACKAGE}.papers.{paper}.{kind.split('.')[0]}.claims")
            claims[f"{paper}.{name}"] = {
                "seconds": time.process_time() - began,
                "modules": sorted(modules),
                "members": sorted(made),
            }
            for member, (seconds, path) in made.items():
                known = members.setdefault(member, {"seconds": 0.0, "path": str(path)})
                known["seconds"] = max(seconds, known["seconds"])
                known["modules"] = sorted(modules_of_member(*member.split(".", 1)))
    out.with_suffix(".pickle").write_bytes(pickle.dumps(found))
    failed = failing_test(VERDICTS, list(claims), list(members))
    out.write_text(json.dumps({"claims": claims, "members": members, "failed": failed}))


class watched_tables:  # noqa: N801 - used as a function
    """Note each table that tests ask for: how long it took to make, and where it lies."""

    def __enter__(self) -> dict[str, tuple[float, Path]]:
        from tests import support

        self.support, self.made = support, support.made
        seen: dict[str, tuple[float, Path]] = {}

        def made(whose: Any, paper: str, member: str) -> Path:
            began = time.process_time()
            path = self.made(whose, paper, member)
            seen.setdefault(f"{paper}.{member}", (time.process_time() - began, path))
            return path

        self.support.made = made
        return seen

    def __exit__(self, *_: object) -> None:
        self.support.made = self.made


@functools.cache
def modules_of_member(paper: str, member: str) -> frozenset[str]:
    """Return the modules that a run's table is made by."""
    from tests import support

    whose = support.smoke(paper)
    if member not in whose.study.runs[paper]:  # of an overlay: a test of its own reads it
        return frozenset()
    topic = whose.run(paper, member)["kind"].split(".")[0]
    found = behind(f"{PACKAGE}.papers.{paper}.{topic}.runs") | behind(f"{PACKAGE}.papers.{paper}.{topic}.metrics")
    name = whose.run_data(paper, member)
    if name is not None:
        source = whose.data(paper, name)["source"].rpartition(".")[0]
        found |= behind(f"{PACKAGE}.papers.{paper}.{source}") | behind(f"{PACKAGE}.datasets.{source}")
    return found


@functools.cache
def behind(module: str, root: Path = Path("src")) -> frozenset[str]:
    """Return a module and all of the package that it imports, transitively; nothing if there is no such module."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        base = root.joinpath(*name.split("."))
        file = next((one for one in (base / "__init__.py", base.with_suffix(".py")) if one.is_file()), None)
        if file is None or name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names if alias.name.startswith(PACKAGE)]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                waiting += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return frozenset(found)
