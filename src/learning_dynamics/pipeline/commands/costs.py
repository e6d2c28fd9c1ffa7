"""What jobs asked for and what they used, by stage, from the benchmark that each job leaves."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from learning_dynamics.errors import ProjectError
from learning_dynamics.measures import clock
from learning_dynamics.pipeline.study import regions
from learning_dynamics.pipeline.study.config import load, output_folders
from learning_dynamics.pipeline.study.default_resources import FOLDERS, REQUESTS
from learning_dynamics.pipeline.study.project import Project


def execute(files: Sequence[Path] = (), every: bool = False) -> None:
    """Print the costs of a configuration's results: a row for each stage of each paper, or for every job."""
    configuration = load(files)
    results, _ = output_folders(configuration)
    jobs = read_costs(Project(configuration), results)
    if jobs.empty:
        raise ProjectError(f"{results}: no benchmarks yet; run snakemake first")
    print(tabulate(jobs if every else summarise_by_stage(jobs), headers="keys", showindex=False, floatfmt=".0f"))
    seconds, speed = jobs["seconds"].sum(), clock.speed()
    print(f"\n{len(jobs)} jobs, {seconds:.0f} s in all; the longest {jobs['seconds'].max():.0f} s, ", end="")
    print(f"the largest {jobs['MB'].max():.0f} MB")
    print(
        f"A core here has speed {speed:.2f}: had the jobs run here, one of speed 1 would take {speed * seconds:.0f} s."
    )


def read_costs(project: Project, results: Path) -> pd.DataFrame:
    """Return a row for each job with a benchmark: paper, stage, name, seconds and MB used, minutes and MB asked for."""
    study, rows = project.study, []
    for paper in study.papers:
        for stage, folder in FOLDERS.items():
            benchmarks = results / paper / "benchmarks" / folder
            files = [benchmarks / "claims.tsv"] if stage == "claims" else sorted(benchmarks.glob("*.tsv"))
            jobs = {
                "data": study.blocks(paper, "data"),
                "bundle": study.bundles[paper],
                "claims": ["claims"],
                **study.drawings(paper),
            }
            names = jobs.get(stage, study.runs[paper])
            for file in files:
                if file.stem not in names or not file.is_file():
                    continue  # of a configuration that has changed since
                measured = pd.read_csv(file, sep="\t").iloc[-1]
                requested = dict(REQUESTS[stage])
                if stage in ("data", "run", "metrics", "bundle"):
                    requested |= project.resources(stage, paper, file.stem)
                rows.append(
                    {
                        "paper": paper,
                        "stage": stage,
                        "name": file.stem,
                        "seconds": measured["s"],
                        # a job too short to be looked at leaves none
                        "MB": pd.to_numeric(measured["max_rss"], errors="coerce"),
                        "minutes asked": requested["runtime"],
                        "MB asked": requested["mem_mb"],
                    }
                )
    return pd.DataFrame(rows)


def estimate_region_times(project: Project, results: Path, wild: Sequence[str], draws: int) -> dict[str, str]:
    """Return a line on wild draws and one on turning checks: how many runs, and how long by what they took before."""
    study, jobs = project.study, read_costs(project, results)
    jobs = jobs[jobs["stage"].isin(["run", "metrics"])] if len(jobs) else jobs
    seconds = jobs.groupby(["paper", "name"])["seconds"].sum().to_dict() if len(jobs) else {}

    def describe(label: str, runs: Sequence[tuple[str, str]]) -> str:
        durations = [seconds[run] for run in runs if run in seconds]
        unknown = (
            f"; {len(runs) - len(durations)} of them have not been made here yet" if len(durations) < len(runs) else ""
        )
        return f"{label}: {len(runs)} runs, about {sum(durations) / 60:.0f} min of one core{unknown}"

    once = [
        (paper, member)
        for paper in wild
        for member in {
            member
            for claim in regions.wild_claims(study, paper)
            for run in study.runs_of_claim(paper, claim)
            for member, _ in study.members(paper, run)
        }
    ]
    checks = [(paper, check) for paper in study.papers for check in study.checks(paper, "turning").values()]
    varied = []
    for paper, check in checks:
        runs_needed = {run for claim in check["claims"] for run in study.runs_of_claim(paper, claim)}
        members = [(paper, member) for run in runs_needed for member, _ in study.members(paper, run)]
        varied += members * len(regions.turning_grid(check))
    return {
        "replicate": describe(f"wild draws ({draws})", once * draws),
        "turning": describe(f"turning checks ({len(checks)}), before bisection", varied),
    }


def summarise_by_stage(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return, for each paper and stage, how many jobs there are, what the largest used, and what it asked for."""
    table = jobs.groupby(["paper", "stage"], sort=False).agg(
        **{
            "jobs": ("name", "size"),
            "seconds in all": ("seconds", "sum"),
            "longest, s": ("seconds", "max"),
            "asked, s": ("minutes asked", lambda minutes: 60 * minutes.max()),
            "largest, MB": ("MB", "max"),
            "asked, MB": ("MB asked", "max"),
        }
    )
    return table.reset_index()
