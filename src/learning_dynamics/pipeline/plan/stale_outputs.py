"""The fingerprint that each output must carry, and the outputs on disk that carry another."""

import atexit
import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan import refusals
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.plan import FORMATS, Plan
from learning_dynamics.pipeline.plan.reasons import what_changed
from learning_dynamics.pipeline.store.stamps import read_bytes

SEEN = Path(".snakemake/learning_dynamics.seen.json")
ENDS = {".pdf": b"%%EOF", ".svg": b"</svg>", ".html": b"</html>"}  # of formats without checksums
MADE_BY_OTHERS = "was made by other settings or other code"
DAMAGED = "is damaged"
MARK = Path(".snakemake/made_by_other_settings_or_code")  # Snakemake names it as the reason of a rerun


def expected_outputs(plan: Plan, results: str, figures: str | None = None) -> dict[str, str]:
    """Return the fingerprint that each output must carry, by its path.

    With the folder of `figures` these are all outputs; without it data sets, runs, metrics and claims of each paper.
    """
    config = plan.config
    outputs = {f"{results}/{name}": made for name, made in plan.output_fingerprints.items()}
    if figures is None:
        return outputs
    outputs |= existing_variations(plan, Path(results))
    for paper in config.papers:
        outputs[f"{results}/{paper}/verdicts.txt"] = plan.fingerprint("claims", paper, "claims")
        for stage, names in config.drawings(paper).items():
            for name in names:
                made = plan.fingerprint(stage, paper, name)
                outputs |= {f"{figures}/{paper}/{name}.{kind}": made for kind in FORMATS[stage]}
    outputs |= dict.fromkeys((f"{results}/claims.parquet", f"{results}/verdicts.txt"), plan.verdicts_fingerprint)
    outputs |= dict.fromkeys(_pages(config, figures), plan.page_fingerprint)
    return outputs


def checked_outputs(plan: Plan) -> dict[str, str]:
    """Return the fingerprint that each output must carry, of a configuration that has been checked.

    Raises
    ------
    ProjectError
        At the first mistake in the configuration: the file, the key and the fix.
    """
    try:
        outputs = expected_outputs(plan, plan.results, plan.figures)
    except Exception:
        refusals.check(plan.config)  # what is wrong may not even be planned
        raise
    refusals.check_new(plan.config, outputs)
    return outputs


def existing_variations(plan: Plan, results: Path) -> dict[str, str]:
    """Return the fingerprint that every file of claims judged again should carry, by its path; those that exist."""
    fingerprints = {}
    for paper in plan.config.papers:
        if (results / paper / "variations.parquet").is_file():
            fingerprints[f"{results}/{paper}/variations.parquet"] = plan.fingerprint("claims", paper, "claims")
        for file in sorted(results.glob(f"{paper}/variations/*.parquet")):
            try:
                fingerprints[str(file)] = plan.change_fingerprint(paper, file.stem)
            except ProjectError:
                fingerprints[str(file)] = "of nothing that is configured"
    return fingerprints


def _pages(config: Config, figures: str) -> list[str]:
    return [f"{figures}/{name}.html" for name in ("index", *config.papers)]


def other_tables(plan: Plan, paper: str, sweep: str, metrics: Path) -> list[Path]:
    """Return the tables of metrics in a folder that have a sweep's name and are not in the plan, sorted.

    They are of another sweep of that name, or of values that it no longer has.
    """
    planned = set(plan.tables(paper))
    files = sorted([*metrics.glob(f"{sweep}--*.parquet"), *metrics.glob(f"{sweep}@*.parquet")])
    return [file for file in files if file.stem not in planned]


def outdated_verdicts(plan: Plan, paper: str, results: Path) -> str | None:
    """Return why a paper's verdicts are not those of the configuration and the sources; None if they are."""
    problem = fault(results / paper / "claims.parquet", plan.fingerprint("claims", paper, "claims"))
    if problem and MADE_BY_OTHERS in problem:
        return f"{paper}: verdicts of other settings or other code; run: snakemake {paper}"
    return problem


def reason_of(path: str | Path, plan: Plan) -> str:
    """Return what changed since an output was made; "" where its record does not say, or cannot be read."""
    path = Path(path)
    if path.suffix not in (".parquet", ".png", ".webp", ".json", ".npz"):
        return ""
    try:
        return what_changed(_record(path), plan)
    except ProjectError:
        return ""


def fault(path: str | Path, expected: str) -> str | None:
    """Return what is wrong with an output; None if it is whole and carries the expected fingerprint."""
    path = Path(path)
    try:
        if path.suffix in (".pdf", ".svg", ".html", ".txt"):
            content = read_bytes(path)
            carried = expected.encode() in content
            if carried and not content.rstrip().endswith(ENDS.get(path.suffix, b"")):
                return f"{path}: is cut short; delete it and run snakemake again"
        else:
            record = _record(path)
            # a job's tables have one fingerprint: `checks.parquet` copied over `claims.parquet` has another name
            carried = record.get("fingerprint") == expected and record.get("name", path.stem) == path.stem
    except ProjectError as error:
        return str(error)
    if not carried:
        return f"{path}: {MADE_BY_OTHERS}; delete it and run snakemake again"
    return None


def _record(path: Path) -> Mapping[str, Any]:
    # a start with nothing to do reads no output, and should not wait for pandas and pyarrow
    if path.suffix == ".parquet":
        from learning_dynamics.pipeline.store.tables import read_stamp

        return read_stamp(path)
    if path.suffix in (".png", ".webp", ".json"):
        from learning_dynamics.pipeline.store import pictures

        return pictures.read_record(path)
    from learning_dynamics.pipeline.store import arrays

    return arrays.read_record(path)


class StaleOutputs:
    """Outputs on disk that carry another fingerprint than the plan's, for which Snakemake gets a newer input.

    Snakemake's own record of a job may be missing, and a file may have been replaced by another: the fingerprint in the
    file decides. A file that has been read and is right is not read again until its inode, size or times change.

    Parameters
    ----------
    plan : Plan
    expected : mapping from path to fingerprint
        As `expected_outputs` returns it.
    reasons : mapping from path to str
        Is filled, by and by, with what changed since a stale output was made.
    """

    def __init__(self, plan: Plan, expected: Mapping[str, str], reasons: dict[str, str]) -> None:
        self._plan, self._expected = plan, expected
        self._checked: dict[str, bool] = {}  # by path, whether it is stale
        self._reasons = reasons
        # by path, the state of a file that was read and is right
        try:
            self._right = dict(json.loads(SEEN.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self._right = {}
        with atomic_write(MARK) as partial:  # with new contents: Snakemake ignores an input of unchanged contents
            partial.write_text(f"{time.time_ns()}\n", encoding="utf-8")
        atexit.register(self._write_seen)

    def inputs(self, outputs: Iterable[Any]) -> list[str]:
        """Return the further input of a job with these outputs: a newer file, if one of them is stale."""
        stale = [path for path in map(str, outputs) if self._is_stale(path)]
        if not stale:
            return []
        known = filter(None, (reason_of(path, self._plan) for path in stale))
        reason = next(known, self._unnamed_reason(stale[0]))
        self._reasons.update(dict.fromkeys(stale, reason))
        return [str(MARK)]

    def _unnamed_reason(self, path: str) -> str:
        """Return why a stale output is stale, of which nothing that changed is known."""
        problem = fault(path, self._expected[path]) or ""
        return MADE_BY_OTHERS if MADE_BY_OTHERS in problem else DAMAGED

    def _is_stale(self, path: str) -> bool:
        if path not in self._checked:
            self._checked[path] = path in self._expected and self._differs(path)
        return self._checked[path]

    def _differs(self, path: str) -> bool:
        """Whether an output exists and carries another fingerprint, or is damaged."""
        expected = self._expected[path]
        try:
            status = os.stat(path)
        except OSError:
            return False
        state = [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, expected]
        if self._right.get(path) == state:
            return False
        if fault(path, expected) is not None:
            return True
        self._right[path] = state
        return False

    def _write_seen(self) -> None:
        with suppress(ProjectError), atomic_write(SEEN) as partial:  # what is not written down is read again
            partial.write_text(json.dumps(self._right), encoding="utf-8")
