"""What each job is to do, as a file: Snakemake writes it when it starts, and every job reads its own line of it.

The file has a line for the configuration and a line for each job: ``run spectral_bias small_scale``, a tab, and JSON. A
job finds its line without parsing the others, so that ten thousand jobs cost each of them a few milliseconds.
``grep "^run spectral_bias small_scale" .snakemake/plan.jsonl`` shows one.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write

FOLDER = Path(".snakemake")
CONFIGURATION = "configuration"
STAGES = ("data", "run", "metrics", "bundle", "figure", "motion", "interactive", "claims")


@dataclass(frozen=True)
class Job:
    """What one job is to do.

    Attributes
    ----------
    stage, paper, name : str
        The stage is one of `STAGES`; the name of a job that judges all claims is ``claims``.
    folder : path
        The paper's results.
    spec : mapping
        The function that it calls, and its settings; of what draws or judges also the runs by role.
    inputs : mapping from str to path or list of paths
        ``data``: the data set's file, of a bundle a list; ``run``: the run's file; ``metrics``: the folder of tables.
    output : path
        The file that it makes.
    made_from : str or None
        The fingerprint that a run's data set, or the run that is measured, must carry.
    fingerprint : str
        The one that its output will carry.
    """

    stage: str
    paper: str
    name: str
    folder: str
    spec: Mapping[str, Any]
    inputs: Mapping[str, Any]
    output: str
    made_from: str | None
    fingerprint: str


def plan_path(option: Mapping[str, Any]) -> Path:
    """Return where the plan of a configuration is.

    `option` says which configuration: under ``files`` its overlays, under ``given`` what the command line set. Every
    Snakemake of this configuration finds the same file, those inside a cluster's submissions too.
    """
    if not option["files"] and not option["given"]:
        return FOLDER / "plan.jsonl"
    digest = hashlib.sha256(json.dumps(option, sort_keys=True).encode()).hexdigest()[:8]
    return FOLDER / f"plan-{digest}.jsonl"


def write_plan(path: Path, option: Mapping[str, Any], jobs: Iterable[Job]) -> None:
    """Write which configuration it is, as `plan_path` takes it, and every job."""
    with atomic_write(path) as partial, open(partial, "w", encoding="utf-8") as file:
        file.write(f"{CONFIGURATION}\t{json.dumps(option)}\n")
        for job in jobs:
            file.write(f"{job.stage} {job.paper} {job.name}\t{json.dumps(asdict(job))}\n")


def read_job(path: Path, stage: str, paper: str, name: str) -> Job:
    """Return a job of a plan.

    Raises
    ------
    ProjectError
        If there is no such plan, or no such job in it.
    """
    return Job(**_read_line(path, f"{stage} {paper} {name}"))


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the overlays of a plan's configuration, and what the command line gave, as `Plan.read` takes them."""
    return _read_line(path, CONFIGURATION)


def _read_line(path: Path, label: str) -> dict[str, Any]:
    """Return the JSON of the line of a plan that begins with a label, such as ``run spectral_bias small_scale``."""
    try:
        text = "\n" + path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProjectError(f"{path}: no such plan ({error.strerror}); Snakemake writes it when it starts") from None
    beginning = f"\n{label}\t"
    start = text.find(beginning)
    if start < 0:
        raise ProjectError(f"{path}: has no job `{label}`; without --plan the configuration says what to do")
    start += len(beginning)
    content: dict[str, Any] = json.loads(text[start : text.find("\n", start)])
    return content
