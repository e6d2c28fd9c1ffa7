"""Judge every claim of a paper: verdicts, their checks, and again with thresholds and settings changed."""

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.pipeline.commands.functions import error_context, paper_function
from learning_dynamics.pipeline.commands.planned import find_job, record_of, verify_science
from learning_dynamics.pipeline.commands.roles import load_table, load_tables
from learning_dynamics.pipeline.plan.blocks import map_roles, run_names
from learning_dynamics.pipeline.plan.sources import definition_of
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.tables import write_table

TABLES = {
    "claims": records.COLUMNS,
    "checks": records.CHECK_COLUMNS,
    "variations": records.VARIATION_COLUMNS,
}


def execute(
    paper: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Evaluate the claims, and again with their thresholds changed, and with the settings of runs.

    Writes ``claims.parquet``, ``checks.parquet`` and ``variations.parquet`` of the paper.
    """
    job = find_job("claims", paper, "claims", plan=plan, planned_fingerprint=fingerprint, files=files)
    spec, metrics = job.spec, Path(job.inputs["metrics"])
    for block in spec["claims"].values():
        paper_function(paper, "claims", block["function"])  # read before its digest is
    digests = verify_science(job, *sorted({block["function"] for block in spec["claims"].values()}))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, block in spec["claims"].items():
        entries = [entry for entry in spec["robustness"].values() if name in entry["claims"]]
        for table, rows_of_claim in rows_of(paper, name, block, entries, metrics).items():
            rows[table] += rows_of_claim
    for name, declared in TABLES.items():
        table_of_all = pd.DataFrame(rows[name], columns=[column.name for column in declared])
        record = record_of(job, {}, digests) | {"name": name}
        write_table(Path(job.output, f"{name}.parquet"), table_of_all, declared, record)


def rows_of(
    paper: str, name: str, block: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], metrics: Path
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of one claim in each of `TABLES`, judged by the metrics in a folder.

    Parameters
    ----------
    block : mapping
        As `Plan.claim` returns it.
    entries : sequence of mapping
        Those of ``robustness:`` for which it is judged again, as `Plan.claims` returns them.
    """
    function, settings = paper_function(paper, "claims", block["function"]), block["settings"]
    judge, tables = partial(evaluate_claim, name, function), load_tables(metrics, block["runs"])
    evaluation = judge(tables, settings)
    variations = [*_vary_thresholds(judge, tables, settings, block["vary"])]
    variations += _vary_runs(judge, tables, settings, entries, metrics)
    judged_again = [
        records.variation_row(paper, name, change, what, value, changed) for change, what, value, changed in variations
    ]
    runs = run_names(map_roles(itemgetter("name"), block["runs"]))
    head = {"paper": paper, "claim": f"{paper}.{name}"}
    claim = records.claim_row(function.claim, evaluation)
    row = {
        **head,
        **claim,
        "statement": _statement(paper, block["function"]),
        "agreement": records.agreement(claim, judged_again),
        "expected": block["expected"],
        "figure": block["figure"],
        "evidence": ", ".join(f"{metrics}/{run}.parquet" for run in dict.fromkeys(runs)),
    }
    return {
        "claims": [row],
        "checks": [head | check for check in records.check_rows(evaluation)],
        "variations": judged_again,
    }


def _statement(paper: str, function_name: str) -> str:
    """Return the first paragraph of a claim's docstring, read from the source: Python may run without docstrings."""
    docstring = definition_of("claims", paper, function_name, "claims").docstring
    return " ".join(docstring.strip().split("\n\n")[0].split())


def evaluate_claim(
    name: str, function: Any, tables: Mapping[str, Any], settings: Mapping[str, Any], **options: bool
) -> Evaluation:
    """Evaluate a claim, with the options of `judging.evaluate`; a mistake in its tables names the claim.

    Raises
    ------
    ProjectError
        If the claim asks for something that was not measured.
    """
    try:
        with error_context(f"claim {name}", settings), warnings.catch_warnings():
            # draws of which nothing was measured are nan, and count as undecided
            warnings.filterwarnings(
                "ignore", "All-NaN|Mean of empty|Degrees of freedom|divide by zero|invalid value", RuntimeWarning
            )
            return evaluate(function, tables, settings, **options)
    except ProjectError as error:
        text = str(error)
        if not text.startswith(f"claim {name}: "):
            text = f"claim {name}: {text}"
        raise ProjectError(text) from None


Variation = tuple[str, str, str, Evaluation]  # the kind of change, what was changed, to which value, the evaluation


def _vary_thresholds(
    judge: Callable[..., Evaluation], tables: Any, own: Mapping[str, Any], vary: Mapping[str, Any]
) -> Iterator[Variation]:
    """Judge a claim again under every other combination of its own settings and those of ``vary:``."""
    # the claim's own value first: the first combination is the claim as configured
    choices = [[own[key], *(value for value in values if value != own[key])] for key, values in vary.items()]
    for values in list(itertools.product(*choices))[1:]:
        chosen = dict(zip(vary, values, strict=True))
        changed = {key: value for key, value in chosen.items() if value != own[key]}
        evaluation = judge(tables, {**own, **changed}, verdict_alone=True)
        yield "threshold", " and ".join(changed), " and ".join(map(str, changed.values())), evaluation


def _vary_runs(
    judge: Callable[..., Evaluation],
    tables: Any,
    settings: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    metrics: Path,
) -> Iterator[Variation]:
    """Judge a claim again with each of the runs of ``robustness:`` in place of the one whose setting it changes."""
    for entry in entries:
        for run in entry["swept"]:
            changed = map_roles(partial(_replace_run, entry["run"], load_table(metrics, run)), tables)
            evaluation = judge(changed, settings, verdict_alone=True)
            yield "setting", f"{entry['run']}.{entry['setting']}", run["value"], evaluation


def _replace_run(run: str, replacement: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    return replacement if table.attrs["run"] == run else table
