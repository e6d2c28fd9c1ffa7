"""Hold every claim of a paper against its metrics: verdicts, their parts, variants of our choices, sensitivity."""

import itertools
import json
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Evaluation, evaluate
from learning_dynamics.pipeline.commands.functions import (
    check_by_hand,
    error_context,
    paper_function,
    verify_fingerprint,
)
from learning_dynamics.pipeline.commands.roles import load_table, load_tables
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.provenance import fingerprint as fingerprint_of
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.pipeline.study.digests import science
from learning_dynamics.pipeline.study.sources import definition_of

TABLES = {
    "claims": records.COLUMNS,
    "parts": records.PART_COLUMNS,
    "variants": records.VARIANT_COLUMNS,
    "sensitivity": records.SENSITIVITY_COLUMNS,
}


def execute(paper: str, /, spec: Mapping[str, Any], metrics: Path, out: Path, fingerprint: str | None = None) -> None:
    """Evaluate the claims, again under each variant of their own settings, again with runs' settings varied.

    Writes ``claims.parquet``, ``parts.parquet``, ``variants.parquet`` and ``sensitivity.parquet`` into `out`.
    """
    functions = {name: paper_function(paper, "claims", block["kind"]) for name, block in spec["claims"].items()}
    claims_fingerprint = _fingerprint_here(paper, spec, fingerprint)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for name, block in spec["claims"].items():
        head = {"paper": paper, "claim": f"{paper}.{name}"}
        function = functions[name]
        tables = load_tables(metrics, block["runs"])
        evaluation = evaluate_claim(name, function, tables, block["settings"])
        variants = list(_variant_rows(name, function, tables, block, evaluation))
        rows["variants"] += [head | variant for variant in variants]
        agrees = [variant["verdict"] == evaluation.verdict for variant in variants]
        rows["claims"].append(
            {
                **head,
                **records.claim_row(function.claim, evaluation),
                "statement": _statement(paper, block["kind"]),
                "agreement": sum(agrees) / len(agrees) if agrees else float("nan"),
                "expected": block["expected"],
                "figure": block["figure"],
                "evidence": ", ".join(f"{metrics}/{run}.parquet" for run in _run_names(block["runs"])),
            }
        )
        rows["parts"] += [head | part for part in records.part_rows(evaluation)]
        for label, check in spec["sensitivity"].items():
            if name in check["claims"]:
                refuse_unread_run(label, name, function, tables, block["settings"], check["run"], evaluation)
                rows["sensitivity"] += [
                    head | row for row in _sensitivity_rows(name, function, tables, block, check, metrics)
                ]
    for name, declared in TABLES.items():
        table = pd.DataFrame(rows[name], columns=[column.name for column in declared])
        write_table(
            out / f"{name}.parquet", table, declared, provenance("claims", paper, name, spec, claims_fingerprint)
        )


def _fingerprint_here(paper: str, spec: Mapping[str, Any], expected: str | None) -> str:
    for name, block in spec["claims"].items() if expected is None else ():
        check_by_hand("claims", paper, block["kind"], block["settings"], f"--spec: claims.{name}")
    reached = science("claims", paper, *sorted({block["kind"] for block in spec["claims"].values()}))
    return verify_fingerprint(fingerprint_of("claims", spec, reached, None), expected, f"claims of {paper}")


def _statement(paper: str, kind: str) -> str:
    """Return the first paragraph of a claim's docstring, read from the source: Python may run without docstrings."""
    docstring = definition_of("claims", paper, kind, "claims").docstring
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
    if not hasattr(function, "claim"):
        raise ProjectError(f"claim {name}: its function is no claim; decorate it with @claim(...)")
    try:
        with error_context(f"claim {name}", settings), warnings.catch_warnings():
            # draws of which nothing was measured are nan, and count as undecided
            warnings.filterwarnings(
                "ignore", "All-NaN|Mean of empty|Degrees of freedom|divide by zero|invalid value", RuntimeWarning
            )
            return evaluate(function, tables, settings, **options)
    except ProjectError as error:
        text = str(error)
        raise ProjectError(text if text.startswith(f"claim {name}: ") else f"claim {name}: {text}") from None


def _variant_rows(name: str, function: Any, tables: Any, block: Mapping[str, Any], configured: Evaluation) -> Any:
    if not block["vary"]:
        return
    own = block["settings"]
    choices = {key: [own[key], *(one for one in given if one != own[key])] for key, given in block["vary"].items()}
    for values in itertools.product(*choices.values()):
        differing = dict(zip(choices, values, strict=True))
        is_configured = all(own[key] == value for key, value in differing.items())
        evaluation = configured
        if not is_configured:
            evaluation = evaluate_claim(name, function, tables, own | differing, verdict_alone=True)
        yield {
            "choices": json.dumps(differing),
            "ours": is_configured,
            "measured": evaluation.standing.headline.value if evaluation.standing else float("nan"),
            "verdict": evaluation.verdict,
        }


def refuse_unread_run(
    check: str,
    name: str,
    function: Any,
    tables: Mapping[str, Any],
    settings: Mapping[str, Any],
    run: str,
    configured: Evaluation,
) -> None:
    """Refuse a sensitivity check whose varied run the claim's headline does not read.

    Raises
    ------
    ProjectError
        If the headline stays as it is when every number of that run is taken away.
    """

    def without_numbers(table: pd.DataFrame) -> pd.DataFrame:
        if table.attrs["run"] != run:
            return table
        # its own copy: what was read from a table is remembered by the table
        missing = {column: np.nan for column in ("value", "predicted") if column in table}
        return table.copy().assign(**missing)

    all_tables = [
        one_table for value in tables.values() for one_table in (value if isinstance(value, list) else [value])
    ]
    if (
        {table.attrs["run"] for table in all_tables} == {run}
        or not configured.standing
        or np.isnan(configured.standing.headline.value)
    ):
        return  # there is no other run to read, or nothing was read
    try:
        without = evaluate_claim(name, function, _map_tables(tables, without_numbers), settings, verdict_alone=True)
    except ProjectError:
        return  # it cannot do without
    # all that it says is compared: the draw that is shown may be of another run, and draws of this one count
    if without.standing and repr(configured.standing.headline) == repr(without.standing.headline):
        raise ProjectError(
            f"sensitivity.{check}: the headline of claim `{name}` does not read run `{run}`, so that its number cannot "
            "move; name a claim whose headline does"
        )


def _map_tables(tables: Mapping[str, Any], change: Any) -> dict[str, Any]:
    """Return tables by role, each changed."""
    return {
        role: [change(table) for table in value] if isinstance(value, list) else change(value)
        for role, value in tables.items()
    }


def _sensitivity_rows(
    name: str,
    function: Any,
    tables: Mapping[str, Any],
    block: Mapping[str, Any],
    check: Mapping[str, Any],
    metrics: Path,
) -> Any:
    for member in check["members"]:
        replacement = load_table(metrics, member)
        changed = _map_tables(tables, partial(_replace_run, check["run"], replacement))
        evaluation = evaluate_claim(name, function, changed, block["settings"], verdict_alone=True)
        yield {
            "run": check["run"],
            "setting": check["setting"],
            "value": member["value"],
            "measured": evaluation.standing.headline.value if evaluation.standing else float("nan"),
            "verdict": evaluation.verdict,
        }


def _replace_run(run: str, replacement: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    return replacement if table.attrs["run"] == run else table


def _run_names(roles: Mapping[str, Any]) -> list[str]:
    """Return the names of the metrics files behind roles, sweeps by their run's name."""
    runs = [
        run["name"]
        for runs_of_role in roles.values()
        for run in (runs_of_role if isinstance(runs_of_role, list) else [runs_of_role])
    ]
    return list(dict.fromkeys(runs))
