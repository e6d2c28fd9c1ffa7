"""Claims as rows of tables that parquet holds."""

import json

import numpy as np
import pandas as pd

from learning_dynamics.judging import Finding, Untested, claim, equal, evaluate, every_draw
from learning_dynamics.pipeline.store.records import COLUMNS, PART_COLUMNS, claim_row, is_expected, part_rows
from learning_dynamics.pipeline.store.tables import read_table, write_table


@claim("Theorem 2", scope="three draws", correction="it is two")
def theorem(measured) -> Finding:
    """It is one."""
    if measured is None:
        raise Untested("needs a machine")
    return Finding(
        lambda predicted: [
            equal("size", np.float64(measured), predicted, tolerance=0.1),
            every_draw("rank", [1, 2, 3], at_most=3),
        ],
        1.0,
        {"none": 0.0},
        corrected=2.0,
        facts={"size": np.float32(0.5), "count": np.int64(3), "name": "x", "nothing": None, "path": [1]},
    )


REST = {"paper": "p", "claim": "p.t", "statement": "", "expected": "", "figure": None, "evidence": "", "agreement": 1.0}


def test_every_evaluation_is_a_row(tmp_path):
    for measured, verdict in ((1.0, "reproduced"), (2.0, "corrected"), (3.0, "contradicted"), (None, "untested")):
        found = evaluate(theorem, {"measured": measured}, {})
        row = claim_row(theorem.claim, found) | REST
        table = pd.DataFrame([row])[[column.name for column in COLUMNS]]
        write_table(tmp_path / "claims.parquet", table, COLUMNS, {"settings": {}})
        back = read_table(tmp_path / "claims.parquet").iloc[0]
        assert (back["verdict"], back["scope"], back["correction"]) == (verdict, "three draws", "it is two")
        parts = pd.DataFrame([{"paper": "p", "claim": "p.t", **part} for part in part_rows(found)])
        judged = {"reproduced": ["printed"], "untested": []}.get(verdict, ["printed", "corrected"])
        assert len(parts) == 2 * len(judged)
        if len(parts):
            write_table(tmp_path / "parts.parquet", parts, PART_COLUMNS, {"settings": {}})
            assert parts["of"].drop_duplicates().tolist() == judged
            assert parts["part"].tolist() == [0, 1] * len(judged)


def test_facts_are_json_that_any_reader_takes():
    facts = json.loads(claim_row(theorem.claim, evaluate(theorem, {"measured": 1.0}, {}))["facts"])
    assert facts["size"] == 0.5
    assert (facts["count"], facts["name"], facts["nothing"], facts["path"]) == (3, "x", None, "[1]")


def test_without_an_expected_verdict_every_verdict_is():
    assert is_expected("contradicted", "")
    assert is_expected("reproduced", "reproduced")
    # "not reproduced" holds the letters of "reproduced"
    assert not is_expected("reproduced", "not reproduced")
    assert not is_expected("not reproduced", "reproduced")
