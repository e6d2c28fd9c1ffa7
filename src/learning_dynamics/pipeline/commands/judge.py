"""Judge some claims alone: make the metrics that they need, and print their cards."""

import difflib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.pipeline.commands.claims import TABLES, rows_of
from learning_dynamics.pipeline.commands.robustness import read_all_variations
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.report import contents, plain_text
from learning_dynamics.pipeline.report.robustness import count_judged_again


def execute(claims: Sequence[str], /, cores: str = "all", files: Sequence[Path] = ()) -> int:
    """Print each claim's card: sentence, verdict, every check with its rivals, what other settings say.

    Snakemake makes the metrics that are not there; nothing else is written.

    Parameters
    ----------
    claims : sequence of str
        Papers and names, as in spectral_bias.corollary_3_1.
    cores : str
        As for Snakemake.
    files : sequence of path
        Overlays, as for Snakemake.
    """
    all_papers = Plan(load(files), check=False)
    chosen = [find_claim(all_papers, claim) for claim in dict.fromkeys(claims)]
    papers = list(dict.fromkeys(paper for paper, _ in chosen))
    plan = Plan(load(files, {"papers": papers}), check=False)
    metrics = [file for paper, name in chosen for file in plan.metrics_files(paper, plan.tables_for_claim(paper, name))]
    status = make(list(dict.fromkeys(metrics)), papers, cores, files)
    if status:
        return status
    cards = [card(plan, paper, name) for paper, name in chosen]
    print("\n".join(cards), end="")
    return 0


def find_claim(plan: Plan, claim: str) -> tuple[str, str]:
    """Return paper and name of a claim.

    Raises
    ------
    ProjectError
        If there is no such claim; it says the nearest name.
    """
    paper, dot, name = claim.partition(".")
    if not dot:
        ids = {name: f"{paper}.{name}" for paper in plan.config.papers for name in plan.config.blocks(paper, "claims")}
        nearest = difflib.get_close_matches(claim, ids, n=1) or list(ids)[:1]
        raise ProjectError(f"`{claim}`: a claim has the name of its paper before it, as in {ids[nearest[0]]}")
    check_known(paper, plan.config.papers, "paper", claim)
    check_known(name, list(plan.config.blocks(paper, "claims")), "claim", paper)
    return paper, name


def make(targets: Sequence[str], papers: Sequence[str], cores: str, files: Sequence[Path]) -> int:
    """Have Snakemake make some files, and return its exit status; it says itself what fails, on standard error."""
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--config", f"papers=[{','.join(papers)}]"]
    if files:
        command += ["--configfile", *map(str, files)]
    # a scratch `random.py` in this folder is not Python's
    with subprocess.Popen([*command, "--", *targets], env=os.environ | {"PYTHONSAFEPATH": "1"}) as process:
        # Snakemake has Ctrl-C from the terminal as well, and ends in its own time; what ends this process ends it too
        handlers = {signal.SIGINT: lambda *_: None, signal.SIGTERM: lambda *_: process.terminate()}
        previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            return process.wait()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def card(plan: Plan, paper: str, name: str) -> str:
    """Return the card of one claim as text, judged by the metrics that are there."""
    metrics = Path(plan.results, paper, "metrics")
    rows = rows_of(paper, name, plan.claim(paper, name), [], metrics)
    tables = {
        table: pd.DataFrame(rows[table], columns=[column.name for column in declared])
        for table, declared in TABLES.items()
    }
    known = read_all_variations(plan, Path(plan.results), tables["claims"])
    # `rows_of` has just tried the thresholds; these are the other changes
    known = known[(known["claim"] == f"{paper}.{name}") & (known["change"] != "threshold")]
    if tables["variations"].empty:  # pandas warns where an empty table is joined
        tables["variations"] = known
    elif len(known):
        tables["variations"] = pd.concat([tables["variations"], known])
    (row,) = count_judged_again(tables["claims"], tables["variations"]).to_dict("records")
    shown = contents.card(plan.config, paper, row, tables, contents.published_scales(plan.config, paper))
    return plain_text.card(shown, plan.config.paper_block(paper)["citation"])
