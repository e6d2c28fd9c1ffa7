"""Unpack the metrics of a finished run, from which figures and claims are made without a simulation."""

import lzma
import os
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.check import find_damage
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault, reason_of


def execute(archive: Path, /, papers: Sequence[str] = (), files: Sequence[Path] = ()) -> int:
    """Put metrics and data sets where Snakemake makes them; return 1 if figures and claims need others.

    What this configuration and this code would not make is named and left out, and what is right already stays.

    Parameters
    ----------
    archive : path
        A tar file of results/*/metrics/*.parquet and results/*/data/*.npz.
    papers : sequence of str
        Of these alone; without it of all papers.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    plan = Plan(load(files, {"papers": list(papers)} if papers else {}), check=False)
    expected = {
        f"{plan.results}/{path}": made for path, made in plan.output_fingerprints.items() if "/runs/" not in path
    }
    left_out = unpack(archive, plan, expected)
    for path, why in left_out.items():
        print(f"left out: {path}: {why}", file=sys.stderr)
    needed = tables_needed(plan)
    missing = [path for path in needed if not Path(path).exists()]
    if missing:
        of_all = f"{len(missing)} of {len(needed)} tables that figures and claims need"
        print(
            f"error: {archive}: {of_all} are not in it, or of other settings or other code: {', '.join(missing)}; "
            "snakemake simulates them",
            file=sys.stderr,
        )
        return 1
    print(f"{len(needed)} tables are there; figures and claims need no simulation")
    return 0


def tables_needed(plan: Plan) -> list[str]:
    """Return the files of metrics that figures and claims are made from."""
    files: dict[str, None] = {}
    for paper in plan.config.papers:
        jobs = [(stage, name) for stage, names in plan.config.drawings(paper).items() for name in names]
        for stage, name in [*jobs, ("claims", "claims")]:
            files |= dict.fromkeys(plan.metrics_files(paper, plan.tables_for(stage, paper, name)))
    return list(files)


def unpack(archive: Path, plan: Plan, expected: dict[str, str]) -> dict[str, str]:
    """Put whole files of an archive in place, with their times; return which were left out, and why.

    Parameters
    ----------
    expected : mapping of path to fingerprint
        The files that are unpacked; all others are ignored.

    Raises
    ------
    ProjectError
        If it is no archive.
    """
    left_out: dict[str, str] = {}
    Path(plan.results).mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive) as tar, tempfile.TemporaryDirectory(dir=plan.results) as folder:
            for member in tar:
                path = os.path.normpath(member.name)
                if path not in expected or not member.isfile() or _is_right(path, expected[path]):
                    continue
                tar.extract(member, folder, filter="data")
                unpacked = Path(folder, member.name)
                problem = fault(unpacked, expected[path]) or find_damage(unpacked)
                if problem is not None:
                    why = problem.removeprefix(f"{unpacked}: ").partition("; delete it")[0]
                    left_out[path] = reason_of(unpacked, plan) or why
                    continue
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                os.replace(unpacked, path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno and Path(error.filename or "") != archive:
            raise  # what is wrong is not the archive, but where its files go
        reason = getattr(error, "strerror", None) or error
        raise ProjectError(f"{archive}: cannot be unpacked ({reason}); name a tar file of metrics") from error
    return left_out


def _is_right(path: str, expected: str) -> bool:
    return Path(path).exists() and fault(path, expected) is None
