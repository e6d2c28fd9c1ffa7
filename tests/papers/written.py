"""What every claim says at smoke scale, and every quantity measured for it, as numbers that can be written down.

``make verdicts`` writes ``verdicts.yaml``, ``facts.csv`` and ``quantities.csv``, and tests compare with them. Facts are
the numbers and words, besides those of its checks, that a claim's published text prints. Everything is computed on
several machines: this one as it is, and as processors with narrower vectors would add and multiply. A number's
tolerance is ten times the largest difference between these, and at least `ROUNDING` of it; where the number is still
the one that was written down, a wider tolerance stays, which another processor had asked for.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.plan.sweeps import runs_of_sweep
from tests.support import PAPERS, SHARED, claim_tables, each_of_roles, evaluation, metrics_file, smoke

VERDICTS = Path(__file__).with_name("verdicts.yaml")
FACTS = Path(__file__).with_name("facts.csv")
QUANTITIES = Path(__file__).with_name("quantities.csv")
# relative: numbers pass through integrators and eigenvalues that amplify rounding, here by 1e9 at the most
ROUNDING = 1e-6
# absolute: residuals of exact identities are rounding themselves; a wrong formula leaves more than this
NOISE = 1e-13
SAFETY = 10.0
VARIES = -1  # a count that depends on the machine
WORDS = "words"  # as the tolerance of a fact: its words must be the same
MACHINE = "machine"  # as the tolerance of a fact: it depends on the machine, and is not compared
# numbers of trainings move by more than this share of themselves, and with them how single draws are judged
LOOSE = 0.1
# environment variables with which numbers are computed: as tests do (see `tests/__init__.py`), and as further machines
# would: with fewer instructions for OpenBLAS, NumPy, MKL, torch and numba, and with more threads
MACHINES: dict[str, dict[str, str]] = {
    "as tests do": {},
    "AVX": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "AUTO",
        "NUMBA_CPU_NAME": "generic",
    },
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_CBWR": "AUTO"},
}


def claim_entry(found: Evaluation) -> dict[str, Any]:
    """Return what is written down of a claim: its verdict, the parts of its judgements, its rivals."""
    entry: dict[str, Any] = {"verdict": found.verdict}
    for name, judgement in (("printed", found.judgement), ("corrected", found.corrected)):
        if judgement is not None:
            entry[name] = [
                {
                    "state": check.state,
                    "measured": float(check.value),
                    "draws": [check.draws, check.draws_for, check.draws_against, check.draws_undecided],
                }
                for check in judgement.checks
            ]
    if found.rivals:
        entry["rivals"] = dict(found.rivals)
    return entry


# facts of every evaluation's headline, which are not written down: `claim_entry` has them of each check
HEADLINE = {"value", "predicted", "lower", "upper", "printed"}
HEADLINE |= {"draws", "draws_for", "draws_against", "draws_undecided"}


def claim_facts(found: Evaluation) -> dict[str, float | str]:
    """Return what a claim's text prints besides its headline's numbers: by field, a number or words."""
    facts = {name: fact for name, fact in found.facts.items() if name not in HEADLINE}
    return {name: fact if isinstance(fact, str) else float(fact) for name, fact in facts.items()}


def fact_differences(here: Mapping[str, float | str], written: pd.DataFrame) -> list[str]:
    """Return in what a claim's facts differ from those written down: columns value and tolerance, by fact."""
    wrong = [f"fact {name} is not written down" for name in here if name not in written.index]
    wrong += [f"fact {name} is written down and not there" for name in written.index if name not in here]
    for name in written.index.intersection(list(here)):
        value, allowed = written.loc[name, ["value", "tolerance"]]
        if allowed == MACHINE:
            continue
        if allowed == WORDS:
            same = str(here[name]) == value
        else:
            same = agree(float(here[name]), float(value), float(allowed))
        if not same:
            wrong.append(f"fact {name}: {here[name]!r}, written {value} ± {allowed}")
    return wrong


def quantity_rows(paper: str, run: str, table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return two sums over each quantity of a run's table, and over its predictions.

    The size is the root of the mean square. The mix weights rows by numbers without order, so that rows exchanged
    are noticed; both leave out what is not finite, which is counted. A table that names no quantities has one in each
    of its columns.
    """
    names_quantities = "quantity" in table
    if not names_quantities:
        table = table.select_dtypes("number").melt(var_name="quantity")
    sums = []
    for quantity, rows in table.groupby("quantity", sort=names_quantities):
        for column in rows.columns.intersection(["value", "predicted"], sort=False):
            values = rows[column].to_numpy(dtype=float)
            finite = np.isfinite(values)
            if column == "predicted" and not finite.any():
                continue
            weights = np.cos(2.399963 * np.arange(len(values)))[finite]  # the golden angle: no two rows weigh the same
            kept = values[finite]
            sums.append(
                {
                    "paper": paper,
                    "run": run,
                    "quantity": str(quantity),
                    "column": column,
                    "rows": len(values),
                    "finite": int(finite.sum()),
                    "size": float(np.sqrt(np.mean(kept**2))) if kept.size else 0.0,
                    "mix": float(np.mean(weights * kept)) if kept.size else 0.0,
                }
            )
    return sums


def runs_of_paper(paper: str) -> list[str]:
    """Return the runs of a paper at smoke scale that its claims read, those of sweeps by themselves."""
    claims = smoke(paper).config.paper_block(paper)["claims"]
    return list(dict.fromkeys(run for claim in claims for run in runs_of_claim(paper, claim)))


def runs_of_claim(paper: str, claim: str) -> list[str]:
    """Return the runs that a claim reads at smoke scale, those of sweeps by themselves."""
    specs = each_of_roles(smoke(paper).claim(paper, claim)["runs"])
    return [run for spec in specs for run, _ in runs_of_sweep(spec["name"], spec["sweep"])]


def computed_here(papers: Iterable[str]) -> dict[str, Any]:
    """Return all claims, their facts and all quantities of papers, computed here."""
    claims: dict[str, Any] = {}
    facts: dict[str, Any] = {}
    quantities: list[dict[str, Any]] = []
    for paper in papers:
        for name in smoke(paper).config.paper_block(paper)["claims"]:
            found = evaluation(paper, name, claim_tables(paper, name))
            claims[f"{paper}.{name}"] = claim_entry(found)
            facts[f"{paper}.{name}"] = claim_facts(found)
        for run in runs_of_paper(paper):
            quantities += quantity_rows(paper, run, pd.read_parquet(metrics_file(smoke(paper), paper, run)))
    return {"claims": claims, "facts": facts, "quantities": quantities}


def tolerance(values: Iterable[float]) -> float:
    """Return by how much a number may differ from the first, which further machines gave as the others."""
    first, *others = (float(value) for value in values)
    if not math.isfinite(first):
        return 0.0
    moved = max((abs(other - first) for other in others if math.isfinite(other)), default=0.0)
    return max(ROUNDING * abs(first), SAFETY * moved, NOISE)


def agree(here: float, written: float, allowed: float) -> bool:
    """Return whether a number is the one written down; what is not finite must be the same."""
    if not math.isfinite(written) or not math.isfinite(here):
        return here == written or (math.isnan(here) and math.isnan(written))
    return abs(here - written) <= allowed


def claim_differences(here: Mapping[str, Any], written: Mapping[str, Any]) -> list[str]:
    """Return in what a claim differs from what is written down of it.

    Of a claim of which ``parts`` vary with the machine, the verdict and numbers are compared; where the ``verdict``
    varies, numbers alone.
    """
    wrong = []
    varies = written.get("varies", "")
    if here["verdict"] != written["verdict"] and varies != "verdict":
        wrong.append(f"verdict {here['verdict']}, written {written['verdict']}")
    if here.get("rivals", {}) != written.get("rivals", {}) and not varies:
        wrong.append(f"rivals {here.get('rivals', {})}, written {written.get('rivals', {})}")
    for name in ("printed", "corrected"):
        parts, known = here.get(name, []), written.get(name, [])
        if len(parts) != len(known):
            if varies and name == "corrected":
                continue  # judged where the printed prediction fails
            wrong.append(f"{name}: {len(parts)} parts, written {len(known)}")
            continue
        for place, (part, old) in enumerate(zip(parts, known, strict=True)):
            label = f"{name}, part {place}"
            if part["state"] != old["state"] and not varies:
                wrong.append(f"{label}: {part['state']}, written {old['state']}")
            counts = 1 if old["tolerance"] > LOOSE * abs(old["measured"]) > 0 else None
            if part["draws"][:counts] != old["draws"][:counts] and not varies:
                wrong.append(f"{label}: draws {part['draws']}, written {old['draws']}")
            if not agree(part["measured"], old["measured"], old["tolerance"]):
                wrong.append(f"{label}: {part['measured']!r}, written {old['measured']!r} ± {old['tolerance']:.1g}")
    return wrong


def read_verdicts() -> dict[str, Any]:
    """Return what is written down of every claim, by its id."""
    return yaml.load(VERDICTS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or {}


def read_facts() -> pd.DataFrame:
    """Return what is written down of every fact: columns value and tolerance, as text, by claim and fact."""
    table = pd.read_csv(FACTS, dtype=str, keep_default_na=False).set_index(["claim", "fact"])
    assert table.index.is_unique, f"{FACTS.name}: written twice: {table.index[table.index.duplicated()].tolist()}"
    return table


def read_quantities() -> dict[tuple[str, str], pd.DataFrame]:
    """Return what is written down of every quantity, by paper and run, indexed by quantity and column."""
    table = pd.read_csv(QUANTITIES, keep_default_na=False)
    twice = table[table.duplicated(["paper", "run", "quantity", "column"])]
    assert twice.empty, f"{QUANTITIES.name}: written twice:\n{twice}"
    return {
        (str(paper), str(run)): rows.set_index(["quantity", "column"]).sort_index()
        for (paper, run), rows in table.groupby(["paper", "run"])
    }


# -- writing -----------------------------------------------------------------------------------------------------------


def _rounded(number: float, allowed: float) -> float:
    """Return a number in as many digits as its tolerance leaves it, so that a machine's rounding changes no line."""
    if not math.isfinite(number) or number == 0:
        return number
    digits = 2
    if allowed < abs(number):
        digits = 1 + math.ceil(math.log10(abs(number) / allowed))  # 1.23456 ± 0.001 is written 1.2346
    return float(f"{number:.{min(max(digits, 2), 8)}g}")


def _claims_together(machines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the claims of the first machine, with the tolerances that the others ask for and what varies with them."""
    together = {}
    for name, first in machines[0].items():
        for other in machines[1:]:
            here, there = _verdict_and_states(first), _verdict_and_states(other[name])
            if there != here:
                print(f"{name}: depends on the machine: {here} here, {there}", file=sys.stderr)
                verdicts = {first["verdict"], other[name]["verdict"]}
                first["varies"] = "verdict" if len(verdicts) > 1 else first.get("varies", "parts")
        for judged in ("printed", "corrected"):
            for place, part in enumerate(first.get(judged, [])):
                values = [part["measured"]]
                values += [one[name][judged][place]["measured"] for one in machines[1:] if judged in one[name]]
                part["tolerance"] = float(f"{tolerance(values):.1g}")
                part["measured"] = _rounded(part["measured"], part["tolerance"])
        together[name] = first
    return together


def _facts_together(machines: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the facts of the first machine, a row each, with the tolerance that the others ask for."""
    rows = []
    for claim, facts in machines[0].items():
        for fact, here in facts.items():
            values = [here, *(other[claim].get(fact, math.nan) for other in machines[1:])]
            value = str(here)
            if any(isinstance(each, str) for each in values):
                allowed = WORDS if len({*map(str, values)}) == 1 else MACHINE
            elif len({*map(math.isfinite, values)}) > 1:
                allowed = MACHINE
            else:
                number = float(f"{tolerance(values):.1g}")
                value, allowed = repr(_rounded(here, number)), repr(number)
            rows.append({"claim": claim, "fact": fact, "value": value, "tolerance": allowed})
    return pd.DataFrame(rows, columns=["claim", "fact", "value", "tolerance"])


def _keep_wider_facts(facts: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Leave a fact as it is written down where its number is still the same, with the wider tolerance."""
    kept = []
    for row in facts.to_dict("records"):
        key = row["claim"], row["fact"]
        if key in known.index:
            old = known.loc[key]
            if {row["tolerance"], old["tolerance"]}.isdisjoint({WORDS, MACHINE}):
                allowed = max(float(row["tolerance"]), float(old["tolerance"]))
                if agree(float(row["value"]), float(old["value"]), allowed / 2):  # as for parts of claims
                    row |= {"value": old["value"], "tolerance": repr(allowed)}
        kept.append(row)
    return pd.DataFrame(kept, columns=facts.columns)


def _keep_wider(claims: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Leave the numbers of parts as they are written down where they are still the same, with the wider tolerance."""
    for name, entry in claims.items():
        for judged in ("printed", "corrected"):
            parts, before = entry.get(judged, []), known.get(name, {}).get(judged, [])
            if len(parts) != len(before):
                continue
            for part, old in zip(parts, before, strict=True):
                allowed = max(part["tolerance"], old["tolerance"])
                # numbers here are rounded, those of a test are not: well within what is allowed
                if agree(part["measured"], old["measured"], allowed / 2):
                    part |= {"measured": old["measured"], "tolerance": allowed}


def _keep_wider_quantities(quantities: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    key = ["paper", "run", "quantity", "column"]
    quantities, before = quantities.set_index(key), known.set_index(key)
    before = before.reindex(quantities.index)
    for number in ("size", "mix"):
        spread = f"{number}_tolerance"
        allowed = np.fmax(before[spread], quantities[spread])
        same = (before[number] - quantities[number]).abs() <= allowed / 2  # as for parts of claims
        quantities[number] = quantities[number].where(~same, before[number])
        quantities[spread] = quantities[spread].where(~same, allowed)
    return quantities.reset_index()


def _verdict_and_states(entry: Mapping[str, Any]) -> Any:
    """Return what a claim says in words, its numbers aside."""
    states = [[part["state"] for part in entry.get(name, [])] for name in ("printed", "corrected")]
    return entry["verdict"], states, entry.get("rivals", {})


def _as_yaml(claims: Mapping[str, Any]) -> str:
    lines = [
        "# What every claim says at smoke scale: its verdict, each part's state and number, each rival's verdict.",
        "# draws: all, for, against, undecided. Written by `make verdicts`; read its diff before you commit it.",
    ]
    for name, entry in claims.items():
        lines.append(f"{name}:")
        lines.append(f"  verdict: {entry['verdict']}")
        lines += [f"  varies: {entry['varies']}  # with the machine"] if entry.get("varies") else []
        for judged in ("printed", "corrected"):
            if judged in entry:
                lines.append(f"  {judged}:")
                lines += [f"  - {_part_as_yaml(part)}" for part in entry[judged]]
        if "rivals" in entry:
            lines.append("  rivals:")
            lines += [f"    {json.dumps(rival, ensure_ascii=False)}: {got}" for rival, got in entry["rivals"].items()]
    return "\n".join(lines) + "\n"


def _part_as_yaml(part: Mapping[str, Any]) -> str:
    ordered = {key: part[key] for key in ("state", "measured", "tolerance", "draws")}
    return yaml.dump(ordered, Dumper=yaml.CSafeDumper, default_flow_style=True, sort_keys=False, width=200).strip()


def _quantities_together(machines: list[list[dict[str, Any]]]) -> pd.DataFrame:
    key = ["paper", "run", "quantity", "column"]
    first, *others = (pd.DataFrame(rows).set_index(key) for rows in machines)
    for count in ("rows", "finite"):
        same = [all(other[count].get(place) == value for other in others) for place, value in first[count].items()]
        first[count] = first[count].where(same, VARIES)
    for number in ("size", "mix"):
        allowed = [
            tolerance([value, *(other[number].get(place, math.nan) for other in others)])
            for place, value in first[number].items()
        ]
        first[f"{number}_tolerance"] = [float(f"{each:.1g}") for each in allowed]
        first[number] = [
            _rounded(value, each) for value, each in zip(first[number], first[f"{number}_tolerance"], strict=True)
        ]
    return first[["rows", "finite", "size", "size_tolerance", "mix", "mix_tolerance"]].reset_index()


def _computed_with(papers: list[str], variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what a fresh process computes under environment variables."""
    with tempfile.TemporaryDirectory(prefix="learning-dynamics-verdicts-") as folder:
        out = Path(folder, "computed.json")
        environment = {**os.environ, **variables, SHARED: folder, "NUMBA_CACHE_DIR": str(Path(folder, "numba"))}
        subprocess.run(
            [sys.executable, "-m", "tests.papers.written", "--dump", str(out), "--papers", *papers],
            env=environment,
            check=True,
        )
        return json.loads(out.read_text(encoding="utf-8"))


def _write_verdicts(claims: Mapping[str, Any], configured: list[str]) -> None:
    written = read_verdicts() if VERDICTS.exists() else {}
    _keep_wider(claims, written)
    written |= claims
    VERDICTS.write_text(_as_yaml({name: written[name] for name in configured if name in written}), encoding="utf-8")


def _write_facts(facts: pd.DataFrame, papers: list[str], configured: list[str]) -> None:
    if FACTS.exists():
        known = read_facts()
        others = known.reset_index()
        others = others[~others["claim"].str.partition(".")[0].isin(papers)]
        facts = pd.concat([others, _keep_wider_facts(facts, known)])
    facts = facts[facts["claim"].isin(configured)]
    facts = facts.iloc[np.argsort(facts["claim"].map(configured.index).to_numpy(), kind="stable")]
    FACTS.write_text(facts.to_csv(index=False, lineterminator="\n"), encoding="utf-8")


def _write_quantities(quantities: pd.DataFrame, papers: list[str]) -> None:
    if QUANTITIES.exists():
        known = pd.read_csv(QUANTITIES, keep_default_na=False)
        quantities = _keep_wider_quantities(quantities, known)
        quantities = pd.concat([known[~known["paper"].isin(papers)], quantities])
    order = quantities["paper"].map(PAPERS.index)
    quantities = quantities.iloc[np.argsort(order.to_numpy(), kind="stable")]
    QUANTITIES.write_text(quantities.to_csv(index=False, lineterminator="\n"), encoding="utf-8")


def main() -> None:
    """Write the files again, for all papers or for some."""
    parser = argparse.ArgumentParser(prog="python -m tests.papers.written", description=main.__doc__)
    parser.add_argument("--papers", nargs="*", default=PAPERS, choices=PAPERS)
    parser.add_argument("--dump", type=Path, help="write what this process computes as JSON, and nothing else")
    given = parser.parse_args()
    papers = given.papers or PAPERS
    if given.dump:
        given.dump.write_text(json.dumps(computed_here(papers)), encoding="utf-8")
        return
    with ThreadPoolExecutor(2) as two:
        machines = list(two.map(lambda variables: _computed_with(papers, variables), MACHINES.values()))
    configured = [f"{paper}.{name}" for paper in PAPERS for name in smoke(paper).config.paper_block(paper)["claims"]]
    _write_verdicts(_claims_together([machine["claims"] for machine in machines]), configured)
    _write_facts(_facts_together([machine["facts"] for machine in machines]), papers, configured)
    _write_quantities(_quantities_together([machine["quantities"] for machine in machines]), papers)


if __name__ == "__main__":
    main()
