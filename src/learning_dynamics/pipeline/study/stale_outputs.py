"""Outputs that lie there and were made by something else: Snakemake is told to make them again.

Snakemake knows what made a file from records of its own, in ``.snakemake``. Those may be deleted, an output may be
copied over another, a job may outlive its Snakemake: what an output says of itself is the fingerprint in it.
"""

import atexit
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.store.arrays import read_record
from learning_dynamics.pipeline.store.pictures import read_record as read_drawn
from learning_dynamics.pipeline.store.seals import verified
from learning_dynamics.pipeline.store.tables import read_provenance
from learning_dynamics.pipeline.study.default_resources import FOLDERS
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.regions import is_wild, region_fingerprint, regions_of_other_versions, wild_layer
from learning_dynamics.pipeline.study.study import Study

SEEN = Path(".snakemake/learning_dynamics.seen.json")
STAMP = Path(".snakemake/learning_dynamics.outdated")  # an input of every job: Snakemake names it as the reason
OUTDATED, STAMPED, RIGHT = (seconds * 10**9 for seconds in (1, 2, 3))  # dates, after the epoch
DRAWN = {"figure": ("pdf", "png", "svg"), "motion": ("webp",), "interactive": ("json",)}
CLOCKS_DIFFER = 60.0  # seconds by which a file server's clock may be ahead


def expected_outputs(project: Project, results: str, figures: str | None = None) -> dict[str, str]:
    """Return the fingerprint that each output must carry, by its path: with `figures` also what is drawn and joined."""
    study, found = project.study, {f"{results}/{name}": made for name, made in project.outputs.items()}
    found |= _expected_regions(project, Path(results))
    if figures is not None:
        for paper in study.papers:
            found[f"{results}/{paper}/verdicts.txt"] = project.fingerprint("claims", paper, "claims")
            for stage, names in study.drawings(paper).items():
                for name in names:
                    made = project.fingerprint(stage, paper, name)
                    found |= {f"{figures}/{paper}/{name}.{kind}": made for kind in DRAWN[stage]}
        found |= dict.fromkeys((f"{results}/claims.parquet", f"{results}/verdicts.txt"), project.verdicts)
        found |= dict.fromkeys(_pages(study, figures), project.page)
    return found


def _pages(study: Study, figures: str) -> list[str]:
    return [f"{figures}/{name}.html" for name in ("index", *study.papers)]


def _expected_regions(project: Project, results: Path) -> dict[str, str]:
    """Return the fingerprints of those wild draws and turning checks that lie there."""
    study, found = project.study, {}
    for paper in study.papers:
        for file in results.glob(f"{paper}/wild/draw*.parquet") if is_wild(study, paper) else []:
            number = file.stem.removeprefix("draw")
            if number.isdecimal() and number[0] != "0":
                found[str(file)] = region_fingerprint(project, paper, wild_layer(study, paper, int(number)))
        for name in study.checks(paper, "turning"):
            file = results / paper / "turning" / f"{name}.parquet"
            if file.is_file():
                found[str(file)] = region_fingerprint(project, paper, name)
    return found


def outdated_verdicts(project: Project, paper: str, results: Path) -> str | None:
    """Return why a paper's verdicts are not those of the configuration and the sources as they stand; None if they are.

    Verdicts of the right fingerprint are of an earlier run if what they were made from is not there any more, or was
    made again since: a run that fails leaves them so.
    """
    file = results / paper / "claims.parquet"
    wrong = fault(file, project.fingerprint("claims", paper, "claims"))
    if wrong is not None:
        other = "was made by other" in wrong
        return f"{paper}: verdicts of other settings or other code; run: snakemake {paper}" if other else wrong
    made = file.stat().st_mtime
    for run in project.tables_for("claims", paper):
        bundled = run in project.study.bundles[paper]
        of = None if bundled else project.trajectory(paper, run)
        # of what goes once it is measured, the metrics tell
        simulated = [f"runs/{of}.npz"] if of is not None and project.keeps(paper, of) else []
        for below in (*simulated, f"metrics/{run}.parquet"):
            behind = results / paper / below
            since = "is not there" if not behind.exists() else "was made since" if behind.stat().st_mtime > made else ""
            if since:
                return f"{paper}: verdicts of an earlier run: {behind} {since}; run: snakemake {paper}"
    return None


def fault(path: str | Path, expected: str) -> str | None:
    """Return what is wrong with an output; None if it is whole and carries the expected fingerprint."""
    path = Path(path)
    try:
        if path.suffix in (".pdf", ".svg", ".html", ".txt"):
            carried = expected.encode() in verified(path)
        else:
            record = _record(path)
            # one of a job's tables copied over another carries the job's fingerprint, and another name
            carried = record.get("fingerprint") == expected and record.get("name", path.stem) == path.stem
    except ProjectError as error:
        return str(error)
    if not carried:
        return f"{path}: was made by other settings or other code; delete it and run snakemake again"
    return None


def joined_of_other_versions(project: Project, table: Path) -> str | None:
    """Return what in the verdicts under seeds, on wild draws or over ranges, is of other settings or code, if any."""
    made = read_provenance(table)["settings"].get("made")
    if table.stem != "replication":
        wrong = regions_of_other_versions(project, table.stem, made or {})
    else:
        wrong = [label for label, carried in (made or {}).items() if _claims_under(project, label) != carried]
    if made is not None and not wrong:
        return None
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return f"{table}: {', '.join(wrong[:3]) or 'all of it'}{more}: of other settings or other code; make it again"


def _claims_under(project: Project, label: str) -> str | None:
    seed, _, paper = label.partition("/")
    other = Project(project.study.configuration.with_seed(int(seed)))
    return other.fingerprint("claims", paper, "claims") if paper in other.study.papers else None


def _record(path: Path) -> Mapping[str, Any]:
    if path.suffix == ".parquet":
        return read_provenance(path)
    if path.suffix in (".png", ".webp", ".json"):
        return read_drawn(path)
    return read_record(path)


def settle_times(project: Project, expected: Mapping[str, str], results: str, figures: str | None = None) -> None:
    """Date outputs that are right no earlier than what they were made from.

    Snakemake takes an output for stale that is older than its input, or whose benchmark is. Results that were copied
    without their times are of any age; what they say of themselves is what counts.
    """
    for name, outputs, inputs in _jobs(project, results, figures):
        there = {path: time for path in (*outputs, f"{results}/{name}.tsv") if (time := _modified(path)) is not None}
        newest = max((_modified(path) or 0 for path in inputs), default=0)
        if min(there.values(), default=newest) >= newest:
            continue
        if all(fault(path, expected[path]) is None for path in there if path in expected):
            for path in there:
                with suppress(OSError):
                    os.utime(path, ns=(newest, newest))


def _modified(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _jobs(project: Project, results: str, figures: str | None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the name of each job's benchmark, its outputs and its inputs, a job after those that make its inputs."""
    study = project.study
    drawn: list[str] = []
    judged: list[str] = []
    for paper in study.papers:
        home, times = f"{results}/{paper}", f"{paper}/benchmarks"
        for run in project.tables(paper):
            metrics = [f"{home}/metrics/{run}.parquet"]
            if run in study.bundles[paper]:
                read = [f"{home}/data/{data}.npz" for data in project.bundle_data(paper, run)]
                yield f"{times}/bundles/{run}", metrics, read
                continue
            of, data = project.trajectory(paper, run), project.run_data(paper, run)
            read = [f"{home}/data/{data}.npz"] if data else []
            yield f"{times}/runs/{of}", [f"{home}/runs/{of}.npz"], read
            # where the run's file does not stay, Snakemake compares metrics with what the run reads
            yield f"{times}/metrics/{run}", metrics, [*read, f"{home}/runs/{of}.npz"]
        tables = [f"{home}/{table}.parquet" for table in ("claims", "parts", "variants", "sensitivity")]
        read = [f"{home}/metrics/{run}.parquet" for run in project.tables_for("claims", paper)]
        yield f"{times}/claims", tables, read
        judged.append(tables[0])
        if figures is None:
            continue
        yield f"{times}/verdicts", [f"{home}/verdicts.txt"], tables[:1]
        for stage, names in study.drawings(paper).items():
            for name in names:
                made = [f"{figures}/{paper}/{name}.{kind}" for kind in DRAWN[stage]]
                read = [f"{home}/metrics/{run}.parquet" for run in project.tables_for(stage, paper, name)]
                yield f"{times}/{FOLDERS[stage]}/{name}", made, read
                drawn += [file for file in made if not file.endswith(".pdf")]
    if figures is not None:
        page = [*_pages(study, figures), f"{results}/claims.parquet"]
        yield "benchmarks/page", page, judged + drawn
        yield "benchmarks/verdicts", [f"{results}/verdicts.txt"], page


class StaleOutputs:
    """Outputs that Snakemake must make again whatever its records say: they are older than an input of every job.

    An output that does not carry its fingerprint is dated a second after the epoch, the further input a second later;
    that input has other contents than any job has seen, for Snakemake takes equal contents for unchanged. A file is
    read when its job is first planned, once; what was right is kept beside Snakemake's records by the file's inode,
    size and times, so that a start with ten thousand unchanged outputs reads none of them.
    """

    def __init__(self, expected: Mapping[str, str], workflow: Any) -> None:
        self.expected = expected
        self.workflow = workflow
        self.looked_at: set[str] = set()
        self.stamped = False
        try:
            self.right = dict(json.loads(SEEN.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self.right = {}
        if STAMP.is_file():
            os.utime(STAMP, ns=(STAMPED, STAMPED))  # a copy may be of today
        else:
            self._stamp()
        # also where nothing is to be done, which Snakemake tells no handler of
        atexit.register(self.keep)

    def stamp_for(self, outputs: Iterable[Any]) -> str:
        """Date those outputs of a job that are not what they should be; return the input that they are older than."""
        for output in outputs:
            if output in self.expected and output not in self.looked_at:
                self.looked_at.add(str(output))
                self._look_at(output)
        return str(STAMP)

    def _look_at(self, output: Any) -> None:
        path, expected = str(output), self.expected[output]
        try:
            there = os.stat(path)
        except OSError:
            return
        seen = [there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns, expected]
        if self.right.get(path) == seen or fault(path, expected) is None:
            self.right[path] = seen
            if os.lstat(path).st_mtime_ns <= STAMPED:  # was outdated, and the settings are back
                _date(path, RIGHT)
        elif not self._is_recorded(output):
            if not self.stamped:
                self._stamp()
            _date(path, OUTDATED)

    def _is_recorded(self, output: Any) -> bool:
        """Whether Snakemake's own records tell that settings or science have changed: it says which, then."""
        if "PARAMS" not in {trigger.name for trigger in self.workflow.rerun_triggers}:
            return False  # Snakemake was told to look at times alone
        record = " ".join(map(str, self.workflow.persistence.params(output) or []))
        return bool(record) and self.expected[output] not in record

    def _stamp(self) -> None:
        with atomic_write(STAMP) as partial:
            partial.write_text(f"{time.time_ns()}\n", encoding="utf-8")
        os.utime(STAMP, ns=(STAMPED, STAMPED))
        self.stamped = True

    def keep(self) -> None:
        """Write down what was found to be as it should."""
        # what cannot be kept is read again: it is no fault of the run
        with suppress(ProjectError), atomic_write(SEEN) as partial:
            partial.write_text(json.dumps(self.right), encoding="utf-8")


def _date(path: str, when: int) -> None:
    try:
        os.utime(path, ns=(os.lstat(path).st_atime_ns, when), follow_symlinks=False)
    except OSError as error:
        raise ProjectError(f"{path}: cannot be given another date ({error.strerror}); delete it") from None


def check_clock(paths: Iterable[str]) -> None:
    """Refuse outputs that are dated in the future: Snakemake would make what is made from them again on every start.

    Raises
    ------
    ProjectError
        It names the first of them, and the mend.
    """
    latest = time.time() + CLOCKS_DIFFER
    for path in paths:
        try:
            ahead = os.stat(path).st_mtime - latest
        except OSError:
            continue
        if ahead > 0:
            raise ProjectError(
                f"{path}: is dated {ahead + CLOCKS_DIFFER:.0f} s in the future, and what is made from it would be made "
                "again on every start; set the clock right, then: find results figures -newermt now -exec touch {} +"
            )
