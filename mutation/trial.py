"""One error planted: which test notices it, whether a verdict does, whether a number moves at all.

All of this runs in a process of its own, in a copy of the project in which one file holds the error.
"""

import json
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mutation.workplace import allow

RTOL = 1e-9  # numbers that differ by more have changed
OPTIONS = ("-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


def attempt(plan: Mapping[str, Any], out: Path) -> None:
    """Run a mutant's tests, then the verdicts of claims that it has a part in, then compare numbers.

    `out` holds what is known so far, so that whoever ends this process knows in which stage it was.
    """
    sys.dont_write_bytecode = True

    def stage(name: str, seconds: float) -> None:
        out.write_text(json.dumps({"stage": name}))
        allow(seconds)

    def done(outcome: str, by: str) -> None:
        out.write_text(json.dumps({"outcome": outcome, "by": by, "computing": round(time.process_time(), 1)}))

    stage("tests", plan["seconds"][0])
    if plan["tests"] and (failed := failing_test(plan["tests"])):
        return done("tests", failed)
    stage("verdicts", plan["seconds"][1])
    if plan["claims"] and (failed := failing_test(plan["verdicts"], plan["claims"], plan["members"])):
        return done("verdicts", failed)
    stage("numbers", plan["seconds"][1])
    moved = moved_number(plan["claims"], plan["found"], plan["paths"])
    done("moved" if moved else "unmoved", moved)


def failing_test(files: Sequence[str], claims: Sequence[str] = (), members: Sequence[str] = ()) -> str:
    """Return the first test that fails; empty if all pass. With `claims`, only tests of these and of their runs."""
    import pytest

    watch = _Watch(claims, members)
    code = pytest.main([*OPTIONS, *files], plugins=[watch])
    return "" if code == 0 else watch.failed or f"pytest ends with {int(code)}"


class _Watch:
    """Notes the first failure, and leaves out tests of claims that are not wanted."""

    def __init__(self, claims: Sequence[str], members: Sequence[str]) -> None:
        self.wanted = {*(("name", claim) for claim in claims), *(("member", member) for member in members)}
        self.failed = ""

    def pytest_sessionstart(self) -> None:
        import hypothesis

        # one example that fails is enough; to look for a simpler one takes minutes
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("unshrunk", parent=hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("unshrunk")

    def pytest_configure(self) -> None:
        if self.wanted:
            from tests import support

            # a paper that is not asked for need not be read
            support.PAPERS[:] = sorted({name.partition(".")[0] for _, name in self.wanted})

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.wanted:
            items[:] = [one for one in items if self._is_wanted(getattr(one, "callspec", None))]

    def _is_wanted(self, callspec: Any) -> bool:
        given = callspec.params if callspec else {}
        return any(
            (key, f"{given.get('paper')}.{given[key]}") in self.wanted for key in ("name", "member") if key in given
        )

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def moved_number(claims: list[str], found: Path, paths: Mapping[str, str]) -> str:
    """Return where a claim or a table it reads says something else than without the error; empty if nowhere."""
    from tests import support

    from mutation.baseline import watched_tables

    known = pickle.loads(found.read_bytes()) if claims else {}
    with watched_tables() as made:
        for claim in claims:
            try:
                paper, _, name = claim.partition(".")
                now = plain(support.evaluation(paper, name, support.claim_tables(paper, name)))
            except Exception as error:
                return f"{claim}: {type(error).__name__}"
            if place := difference(now, known[claim], claim):
                return place
    for member, (_, path) in made.items():
        if path.resolve() == Path(paths[member]).resolve():
            continue
        if place := difference(plain(pd.read_parquet(path)), plain(pd.read_parquet(paths[member])), member):
            return place
    return ""


def plain(value: Any) -> Any:
    """Return a value as mappings, lists, arrays, numbers and texts."""
    if isinstance(value, pd.DataFrame):
        return {str(name): column.to_numpy() for name, column in value.items()}
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if isinstance(value, np.ndarray | np.generic | float | int | str | None) else str(value)


def difference(now: Any, before: Any, place: str) -> str:
    """Return the place at which two plain values first differ, numbers by more than rounding; empty if nowhere."""
    if isinstance(now, dict) and isinstance(before, dict) and now.keys() == before.keys():
        return next(filter(None, (difference(now[key], before[key], f"{place}, {key}") for key in now)), "")
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        found = (difference(*pair, f"{place} [{at}]") for at, pair in enumerate(zip(now, before, strict=True)))
        return next(filter(None, found), "")
    one, other = np.asarray(now), np.asarray(before)
    if one.shape == other.shape and one.dtype.kind in "fiub" and other.dtype.kind in "fiub":
        return "" if np.allclose(one, other, rtol=RTOL, atol=0.0, equal_nan=True) else place
    same = one.shape == other.shape and bool(np.all((one == other) | (pd.isna(one) & pd.isna(other))))
    return "" if same else place
