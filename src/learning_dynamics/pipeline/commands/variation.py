"""Judge the claims of a paper again with one thing changed: a seed, a draw, or a setting over a range or grid."""

import itertools
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.judging import Evaluation, Judgement
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import Workbench
from learning_dynamics.pipeline.commands.planned import CHANGED, configuration_option
from learning_dynamics.pipeline.plan import value_grids, variations
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.store.records import VARIATION_COLUMNS, variation_row
from learning_dynamics.pipeline.store.stamps import digest, stamp
from learning_dynamics.pipeline.store.tables import write_table

# least share of the data sets or starts of a draw that are decided, for a verdict on the draw; chosen
MIN_DECIDED = 0.9
SAME_VERDICT = "would get the same verdict on this draw"
NOT_DECIDED = ("undecided", "untested")


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Write the verdict on every claim that a change names, under each of its values: ``variations/<name>.parquet``.

    Each judgement is written to a file at once, with the fingerprint of all that it is made from. So an interrupted job
    resumes, and after an edit only claims that depend on it are judged again. A claim whose runs fail is untested, with
    the reason.

    Raises
    ------
    ProjectError
        If the configuration of the paper has no such change.
    """
    configured = Plan.read(configuration_option(plan, files), papers=[paper])
    change = variations.change_named(configured.config, paper, name)
    current_fingerprint = configured.change_fingerprint(paper, name)
    if fingerprint not in (None, current_fingerprint):
        raise ProjectError(f"variation {paper} {name}: {CHANGED}")
    folder = Path(configured.results, paper)
    judgements = Judgements(configured, paper, change, folder / "resume" / f"again-{name}.jsonl")
    for value in change.grid:
        judgements.at(value)
    values = [*change.grid]
    if "range" in change.entry:  # find where verdicts change between values of the grid
        for claim in change.claims:
            for low, high in itertools.pairwise(change.grid):
                values += bisect(partial(judgements.verdict, claim), low, high)
        values = sorted(set(values))
    rows = [judgements.at(value)[claim] for claim in judgements.claims for value in values]
    table = pd.DataFrame(rows, columns=[column.name for column in VARIATION_COLUMNS])
    layers = {str(value): variations.layer_of(configured.config, paper, change, value) for value in change.grid}
    record = stamp("variation", paper, name, {"layers": layers}, current_fingerprint)
    write_table(folder / "variations" / f"{name}.parquet", table, VARIATION_COLUMNS, record)
    judgements.drop_outdated()


def bisect(verdict_at: Any, low: Any, high: Any) -> list[Any]:
    """Return the values tried between two, halving the interval while the decided verdicts at its ends differ.

    It ends when the interval is short (`value_grids.midpoint`), or after `value_grids.MAX_BISECTIONS`.
    """
    tried = []
    for _ in range(value_grids.MAX_BISECTIONS):
        at_low, at_high = verdict_at(low), verdict_at(high)
        middle = value_grids.midpoint(low, high)
        if at_low == at_high or at_low in NOT_DECIDED or at_high in NOT_DECIDED or middle is None:
            break
        tried.append(middle)
        if verdict_at(middle) == at_low:
            low = middle
        else:
            high = middle
    return tried


class Judgements:
    """The judgements of a change: for each value the row of each claim, judged when it is asked for.

    They are kept in a file, from which they are read the next time. A line of it is the fingerprint of a claim under a
    value, and its row.
    """

    def __init__(self, plan: Plan, paper: str, change: variations.Change, file: Path) -> None:
        self.plan, self.paper, self.change, self.file = plan, paper, change, file
        self.claims = [claim for claim in change.claims if change.kind != "draw" or not self._is_empirical(claim)]
        self.rows: dict[str, dict[str, dict[str, Any]]] = {}  # by value and claim
        self.fingerprints: set[str] = set()  # of `rows`
        self.rows_in_file: dict[str, dict[str, Any]] = {}  # by fingerprint
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                with suppress(ValueError, TypeError):  # a line that was cut off is judged again
                    fingerprint, row = json.loads(line)
                    self.rows_in_file[fingerprint] = row

    def at(self, value: Any) -> dict[str, dict[str, Any]]:
        """Return the row of each claim under a value of the change."""
        if str(value) in self.rows:
            return self.rows[str(value)]
        plan = Plan(variations.changed_configuration(self.plan.config, self.paper, self.change, value))
        workbench, rows = Workbench(plan), {}
        for claim in self.claims:
            expected = self.plan.config.declared_block(self.paper, "claims", claim).get("expected", "")
            fingerprint = digest([plan.claim_fingerprint(self.paper, claim), self.change.kind, str(value), expected])
            self.fingerprints.add(fingerprint)
            if fingerprint in self.rows_in_file:
                rows[claim] = self.rows_in_file[fingerprint]
                continue
            evaluation = self._judge(workbench, claim, expected)
            rows[claim] = variation_row(self.paper, claim, self.change.kind, self.change.what, value, evaluation)
            if evaluation.verdict != "untested":  # an untested claim is tried again next time
                self.rows_in_file[fingerprint] = rows[claim]
                with open(self.file, "a", encoding="utf-8") as file:
                    file.write(json.dumps([fingerprint, rows[claim]]) + "\n")
            print(f"{self.change.what} = {value}: {claim} {evaluation.verdict}", flush=True)
        self.rows[str(value)] = rows
        return rows

    def drop_outdated(self) -> None:
        """Leave in the file only the rows that this change has now."""
        kept = [
            json.dumps([fingerprint, row])
            for fingerprint, row in self.rows_in_file.items()
            if fingerprint in self.fingerprints
        ]
        with atomic_write(self.file) as partial:
            partial.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def verdict(self, claim: str, value: Any) -> str:
        """Return the verdict on a claim under a value of the change."""
        return str(self.at(value)[claim]["verdict"])

    def _judge(self, workbench: Workbench, claim: str, expected: Any) -> Evaluation:
        """Return the evaluation of a claim: untested if its runs fail, and on a draw by `verdict_on_draw`."""
        try:
            evaluation = workbench.judge(self.paper, claim)
        except ProjectError as error:
            return Evaluation("untested", reason=maths.plain(str(error)))
        if self.change.kind != "draw":
            return evaluation
        verdict, reason = verdict_on_draw(evaluation, expected)
        return replace(evaluation, verdict=verdict, reason=reason)

    def _is_empirical(self, claim: str) -> bool:
        """Whether a claim is about the outcome of an experiment: no theorem says that it holds on other draws."""
        function_name = self.plan.config.function_name("claims", self.paper, claim)
        return bool(paper_function(self.paper, "claims", function_name).claim.empirical)


def verdict_on_draw(evaluation: Evaluation, expected: Any) -> tuple[str, str]:
    """Return the verdict on a claim on one draw, and why.

    It is the evaluation's own, with these exceptions:

    - A claim that is `expected` to be corrected may hold as printed on a draw (of one layer, of one sample). Its
      correction counts, if it holds there too.
    - A rival that gets the same verdict as the claim makes it undecided. It does not count: a single draw need not
      reject every rival.
    - A few data sets or starts of the draw that cannot be judged make it undecided. They do not count if all others
      agree.
    """
    printed, corrected = evaluation.judgement, evaluation.corrected
    if printed is None:
        return evaluation.verdict, evaluation.reason
    if expected == "corrected" and corrected is not None:
        if corrected.state == "holds" and evaluation.verdict == "undecided" and printed.state == "fails":
            return "corrected", f"{_rivals_with(evaluation, 'corrected')} {SAME_VERDICT}"
        if corrected.state == "holds" and evaluation.verdict in ("reproduced", "undecided"):
            return "corrected", "the correction holds; as printed it is not refused on this draw"
        if printed.state == "fails" and _explain_few_undecided(corrected):
            return "corrected", _explain_few_undecided(corrected)
    if evaluation.verdict == "undecided" and printed.state == "holds":
        rivals = _rivals_with(evaluation, "reproduced")
        if rivals:
            return "reproduced", f"{rivals} {SAME_VERDICT}"
    if evaluation.verdict == "undecided" and _explain_few_undecided(printed):
        return "reproduced", _explain_few_undecided(printed)
    reason = evaluation.reason
    if evaluation.verdict == "contradicted":
        first_failing = next(check for check in printed.checks if check.state == "fails")
        reason = "; ".join(filter(None, [reason, str(first_failing)]))
    return evaluation.verdict, reason


def _rivals_with(evaluation: Evaluation, verdict: str) -> str:
    """Return the names of the rivals that get a verdict, joined by "and"."""
    return " and ".join(rival for rival, its_verdict in evaluation.rivals.items() if its_verdict == verdict)


def _explain_few_undecided(judgement: Judgement) -> str:
    """Return why checks are undecided, if a few undecided draws are the only reason; else "".

    A few are at most one in ten over all checks (`MIN_DECIDED`), and at most half of a check's own draws, which is
    chosen too.
    """
    checks = judgement.checks
    undecided = [check for check in checks if check.state != "holds"]
    n_undecided, n_draws = sum(check.draws_undecided for check in checks), sum(check.draws for check in checks)
    # (1 - 0.9) * 10 is less than 1 by rounding
    is_few = n_undecided <= (1 - MIN_DECIDED) * n_draws + 1e-9
    # a check of an average is undecided for another reason: all of its draws count as undecided together
    is_only_reason = all(
        check.state == "undecided" and not check.draws_against and 0 < 2 * check.draws_undecided <= check.draws
        for check in undecided
    )
    if not (is_few and is_only_reason):
        return ""
    return "; ".join(f"{check.name}: {check.undecided_reason}" for check in undecided)
