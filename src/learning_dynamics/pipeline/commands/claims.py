"""Judge every claim of a paper, and judge it again with thresholds and settings changed."""

import itertools
import json
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
from learning_dynamics.pipeline.plan.sources import definition_of, place_of
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.tables import write_table

# the columns of each table that is written
TABLES = {
    "claims": records.COLUMNS,
    "checks": records.CHECK_COLUMNS,
    "variations": records.VARIATION_COLUMNS,
}


def execute(
    paper: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Evaluate the claims, and evaluate them again with their thresholds changed, and with settings of runs changed.

    Writes ``claims.parquet``, ``checks.parquet`` and ``variations.parquet`` of the paper.
    """
    job = find_job("claims", paper, "claims", plan=plan, planned_fingerprint=fingerprint, files=files)
    spec, metrics = job.spec, Path(job.inputs["metrics"])
    # functions are imported before their digests are computed, so that an edit during the job changes neither
    for block in spec["claims"].values():
        paper_function(paper, "claims", block["function"])
    digests = verify_science(job, *sorted({block["function"] for block in spec["claims"].values()}))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, block in spec["claims"].items():
        entries = [entry for entry in spec["robustness"].values() if name in entry["claims"]]
        for table_name, rows_of_claim in rows_of(paper, name, block, entries, metrics).items():
            rows[table_name] += rows_of_claim
    for table_name, declared in TABLES.items():
        table = pd.DataFrame(rows[table_name], columns=[column.name for column in declared])
        record = record_of(job, {}, digests) | {"name": table_name}
        write_table(Path(job.output, f"{table_name}.parquet"), table, declared, record)


Variation = tuple[str, str, str, Evaluation]  # the kind of change, what was changed, to which value, the evaluation


def rows_of(
    paper: str, name: str, block: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], metrics: Path
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of one claim in each of `TABLES`.

    Parameters
    ----------
    block : mapping
        The claim, as `Plan.claim` returns it.
    entries : sequence of mapping
        The entries of ``robustness:`` that name the claim, as `Plan.claims` returns them.
    metrics : path
        The folder of the tables by which the claim is judged.

    Raises
    ------
    ProjectError
        If the claim cannot be judged, or its docstring has a field that nothing fills.
    """
    function = paper_function(paper, "claims", block["function"])
    settings, tables = block["settings"], load_tables(metrics, block["runs"])
    judge = partial(evaluate_claim, name, function)
    evaluation = judge(tables, settings)
    variations = [*_vary_thresholds(judge, tables, settings, block["vary"])]
    variations += _vary_runs(judge, tables, settings, entries, metrics)
    variation_rows = [
        records.variation_row(paper, name, kind, what, value, varied_evaluation)
        for kind, what, value, varied_evaluation in variations
    ]
    runs = run_names(map_roles(itemgetter("name"), block["runs"]))
    first_columns = {"paper": paper, "claim": f"{paper}.{name}"}
    claim_columns = records.claim_row(function.claim, evaluation)
    statement, explanation = _texts(paper, block["function"])
    facts = json.loads(claim_columns["facts"])
    if facts:  # a claim that is untested has none
        fill(explanation, facts, place_of("claims", paper, block["function"]))
    claim_row = {
        **first_columns,
        **claim_columns,
        "statement": statement,
        "agreement": records.agreement(claim_columns, variation_rows),
        "expected": block["expected"],
        "figure": block["figure"],
        "evidence": ", ".join(f"{metrics}/{run}.parquet" for run in dict.fromkeys(runs)),
    }
    return {
        "claims": [claim_row],
        "checks": [first_columns | check for check in records.check_rows(evaluation)],
        "variations": variation_rows,
    }


def _texts(paper: str, function_name: str) -> tuple[str, str]:
    """Return a claim's statement and explanation, read from the source: Python may run without docstrings."""
    statement, _, explanation = definition_of("claims", paper, function_name, "claims").caption.partition("\n\n")
    return " ".join(statement.split()), explanation


def evaluate_claim(
    name: str, function: Any, tables: Mapping[str, Any], settings: Mapping[str, Any], **options: bool
) -> Evaluation:
    """Evaluate a claim, with the options of `judging.evaluate`; errors name the claim.

    Raises
    ------
    ProjectError
        If the claim reads something that was not measured, or cannot be judged as it is written.
    """
    try:
        with error_context(f"claim {name}", settings), warnings.catch_warnings():
            # a quantity that was not measured on a draw is nan, and the draw counts as undecided: no warnings of that
            warnings.filterwarnings(
                "ignore", "All-NaN|Mean of empty|Degrees of freedom|divide by zero|invalid value", RuntimeWarning
            )
            return evaluate(function, tables, settings, **options)
    except ProjectError as error:
        text = str(error)
        if not text.startswith(f"claim {name}: "):
            text = f"claim {name}: {text}"
        raise ProjectError(text) from None


def _vary_thresholds(
    judge: Callable[..., Evaluation], tables: Any, settings: Mapping[str, Any], vary: Mapping[str, Any]
) -> Iterator[Variation]:
    """Judge a claim again under every combination of its thresholds, each as configured or at a value of ``vary:``.

    The combination of the configured values alone is left out: it is the claim itself.

    Parameters
    ----------
    vary : mapping from setting to list of values
    """
    # of each threshold the configured value is first, so that the first combination has these alone
    choices = [[settings[key], *(value for value in values if value != settings[key])] for key, values in vary.items()]
    for values in list(itertools.product(*choices))[1:]:
        chosen = dict(zip(vary, values, strict=True))
        changed = {key: value for key, value in chosen.items() if value != settings[key]}
        evaluation = judge(tables, {**settings, **changed}, verdict_alone=True)
        yield "threshold", " and ".join(changed), " and ".join(map(str, changed.values())), evaluation


def _vary_runs(
    judge: Callable[..., Evaluation],
    tables: Any,
    settings: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    metrics: Path,
) -> Iterator[Variation]:
    """Judge a claim again for each run of ``values:`` of ``robustness:``, which replaces the run that it is made from.

    ``entry["swept"]`` has these runs, each with its value, as `Plan.claims` lists them.
    """
    for entry in entries:
        for run in entry["swept"]:
            changed_tables = map_roles(partial(_replace_run, entry["run"], load_table(metrics, run)), tables)
            evaluation = judge(changed_tables, settings, verdict_alone=True)
            yield "setting", f"{entry['run']}.{entry['setting']}", run["value"], evaluation


def _replace_run(run: str, replacement: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the replacement for the table of a run, and any other table as it is."""
    return replacement if table.attrs["run"] == run else table
