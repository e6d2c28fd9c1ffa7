"""The test command of one mutant, in a copy of the project: tests that concern it, the regression net, then numbers.

It prints ``stage: tests``, ``verdicts``, ``numbers`` as it goes, and exits with 1 where a test fails. For a mutant that
survives the last line is ``stage: moved`` or ``stage: unmoved``: whether a number of a claim or of a run changed.
"""

import filecmp
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

# the regression net: what claims and runs say, compared with what is written down
NET = ("tests/papers/test_every_claim.py", "tests/papers/test_every_quantity.py")
# drawings, digests and random settings compare no numbers, and the net is tried by itself
NOT_NUMBERS = re.compile(r"test_(every_.*|any_settings|written)\.py")
JUDGES = ("tests/judging", "tests/test_evidence.py")
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-o", "timeout=0", "-W", "ignore::pytest.PytestAssertRewriteWarning")
TABLES = "LEARNING_DYNAMICS_TESTS"  # where tests/support.py keeps what it simulated
# computing time: of one test; of all tests of other files than the mutant's; of the net, and of numbers of each paper
TEST_SECONDS, OTHERS_SECONDS, NET_SECONDS = 120, 20, 40
MEMORY = 6 * 2**30  # bytes
Digests = dict[str, dict[str, str]]  # by claim and run; a claim's own science is under ""


# of a source file `parts[2]` is a folder of src/learning_dynamics or a file in it: in
# src/learning_dynamics/papers/deep_linear/completion/runs.py `papers`, then `parts[3]` the paper, `parts[4]` the topic


def papers_of(file: Path) -> list[str]:
    """Return the papers whose claims a source file may concern: its own, or all for the library."""
    if file.parts[2] == "papers":
        return [file.parts[3]]
    return sorted(path.parent.name for path in Path("src/learning_dynamics/papers").glob("*/__init__.py"))


def is_own(test: Path, file: Path) -> bool:
    """Whether a test file is in the folder of the source file's topic, or has the source file's name."""
    is_of_a_topic = len(file.parts) == 6
    same_folder = test.parent.parts[1:] == file.parent.parts[2:]
    return same_folder and (is_of_a_topic or test.stem == f"test_{file.stem}")


def test_files(file: Path) -> list[str]:
    """Return test files that concern a source file: its own, then those that import it, then its paper's."""
    part = file.parts[2]
    if part == "papers":
        tops = [Path("tests", *file.parts[2:4])]
    elif part in ("judging", "evidence.py"):
        tops = [Path("tests/papers"), *map(Path, JUDGES)]
    else:
        tops = [Path("tests/papers"), Path("tests", part)]
    tests: list[Path] = []
    for top in tops:
        tests += [top] if top.is_file() else top.rglob("test_*.py")

    package = ".".join(file.parent.parts[1:])
    is_of_a_whole_paper = len(file.parts) == 5
    ranks: dict[Path, int] = {}
    for test in tests:
        if NOT_NUMBERS.fullmatch(test.name):
            continue
        text = test.read_text(encoding="utf-8")
        imports = package in text and re.search(rf"\b{file.stem}\b", text) is not None
        nearby = test.parent == tops[0] or is_of_a_whole_paper or "papers" not in test.parts
        if is_own(test, file):
            ranks[test] = 0
        elif imports:
            ranks[test] = 1
        elif nearby:
            ranks[test] = 2
    return [str(test) for test in sorted(ranks, key=lambda test: (ranks[test], test))]


def digests(paper: str) -> Digests:
    """Return for each claim of a paper the digests of its own science and of the runs that it reads."""
    from tests.papers.written import runs_of_claim
    from tests.support import smoke

    from learning_dynamics.pipeline.plan.digests import science

    plan = smoke(paper)
    found: Digests = {}
    for claim in plan.config.paper_block(paper)["claims"]:
        own = science("claims", paper, plan.claim(paper, claim)["function"])
        found[claim] = {"": json.dumps(own, sort_keys=True)}
        found[claim] |= {run: plan.fingerprint("metrics", paper, run) for run in runs_of_claim(paper, claim)}
    return found


def changed_claims_and_runs(before: Digests, now: Digests) -> list[tuple[str, str]]:
    """Return claims whose digests changed, the fewest changed runs first, each followed by the runs that changed.

    A claim is ``("name", claim)`` and a run ``("run", run)``, as the parameters of the net's tests are called.
    """
    changed: dict[str, list[str]] = {}
    for claim, of_claim in now.items():
        names = [name for name, digest in of_claim.items() if digest != before[claim].get(name)]
        if names:
            changed[claim] = names
    order: dict[tuple[str, str], None] = {}  # a set that keeps its order: claims share runs
    for claim in sorted(changed, key=lambda claim: (len(changed[claim]), claim)):
        order[("name", claim)] = None
        order |= {("run", name): None for name in changed[claim] if name}
    return list(order)


def numbers(paper: str, names: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what claims and runs of a paper say, in JSON's types, numbers to nine digits."""
    import pandas as pd
    from tests.papers.test_every_claim import smoke_evaluation
    from tests.papers.written import claim_entry, quantity_rows
    from tests.support import metrics_file, smoke

    values: dict[str, Any] = {}
    for kind, name in names:
        if kind == "name":
            evaluation = smoke_evaluation(paper, name)
            values[f"{kind} {name}"] = claim_entry(evaluation) | {"facts": evaluation.facts}
        else:
            table = pd.read_parquet(metrics_file(smoke(paper), paper, name))
            values[f"{kind} {name}"] = quantity_rows(paper, name, table)
    return json.loads(json.dumps(values, default=str), parse_float=_rounded, parse_constant=str)


def _rounded(number: str) -> str:
    return f"{float(number):.9g}"


class Limits:
    """A pytest plugin: the order of tests, the computing time of each, and none of other files once time is up.

    Parameters
    ----------
    order : sequence
        Test files, or claims and runs of the net as ``(paper, "name", claim)`` and ``(paper, "run", run)``; tests of
        none of them are left out.
    seconds : float
        Of computing, after which tests are skipped, but for those of `own` files.
    """

    def __init__(self, order: Sequence[Any], seconds: float, own: Sequence[str] = ()) -> None:
        self.rank = {key: at for at, key in enumerate(order)}
        self.own, self.end = own, time.process_time() + seconds

    def pytest_sessionstart(self) -> None:
        import hypothesis  # one example that fails is enough; a simpler one takes minutes

        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("unshrunk", parent=hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("unshrunk")

    def _key(self, item: pytest.Item) -> Any:
        """Return the entry of the order that a test is of, or None."""
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        keys: list[Any] = [item.nodeid.partition("::")[0]]
        keys += [(parameters.get("paper"), kind, parameters[kind]) for kind in ("name", "run") if kind in parameters]
        return next((key for key in keys if key in self.rank), None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        ranked = [item for item in items if self._key(item) in self.rank]
        items[:] = sorted(ranked, key=lambda item: self.rank[self._key(item)])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.setitimer(signal.ITIMER_PROF, TEST_SECONDS)  # ends the process, compiled loops as well
        if time.process_time() > self.end and self._key(item) not in self.own:
            pytest.skip("time is up")


def stage(name: str, files: Sequence[str], limits: Limits) -> None:
    """Run tests; exit with 1 if one fails."""
    print(f"stage: {name}", flush=True)
    signal.setitimer(signal.ITIMER_PROF, TEST_SECONDS)  # for the collection
    code = pytest.main([*OPTIONS, "-p", "no:xdist", *files], plugins=[limits])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(1)


def main(original: Path) -> None:
    """Try the mutant in the working directory; `original` is a copy of the project without it."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    tables = Path(os.environ[TABLES])
    shutil.rmtree(tables, ignore_errors=True)  # of the mutant before
    shutil.copytree(original.parent / "tables", tables, copy_function=os.symlink)
    sources = sorted(Path("src").rglob("*.py"))
    file = next(source for source in sources if not filecmp.cmp(source, original / source, shallow=False))
    tests = test_files(file)
    stage("tests", tests, Limits(tests, OTHERS_SECONDS, [test for test in tests if is_own(Path(test), file)]))
    known = {
        paper: json.loads((original.parent / "numbers" / f"{paper}.json").read_text()) for paper in papers_of(file)
    }
    changed = {paper: changed_claims_and_runs(known[paper]["digests"], digests(paper)) for paper in known}
    order = [(paper, kind, name) for paper in changed for kind, name in changed[paper]]
    stage("verdicts", NET, Limits(order, NET_SECONDS))
    print("stage: numbers", flush=True)
    for paper, names in changed.items():
        end = time.process_time() + NET_SECONDS
        for kind, name in names:
            if time.process_time() > end:
                break
            if any(value != known[paper]["numbers"][key] for key, value in numbers(paper, [(kind, name)]).items()):
                print(f"{paper}: {kind} {name}\nstage: moved")
                return
    print("stage: unmoved")


def write_numbers(papers: Sequence[str], folder: Path) -> None:
    """Write down digests and numbers of papers without a mutant."""
    folder.mkdir(exist_ok=True)
    for paper in papers:
        now = digests(paper)
        everything = changed_claims_and_runs({claim: {} for claim in now}, now)
        values = numbers(paper, everything)
        (folder / f"{paper}.json").write_text(json.dumps({"digests": now, "numbers": values}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--numbers"]:
        write_numbers(sys.argv[2:], Path("../numbers"))
    else:
        main(Path("../original").resolve())
