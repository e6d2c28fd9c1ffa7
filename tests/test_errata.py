"""The errata: their counterexamples hold, and they are of the claims that hold in another form only."""

import re

import pandas as pd
import pytest

from tests.support import ROOT

FILES = sorted((ROOT / "docs/errata").glob("*.md"))
BLOCKS = [
    pytest.param(block, id=f"{file.stem}-{number}")
    for file in FILES
    for number, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", file.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_counterexample_holds(block):
    assert "assert" in block
    exec(compile(block, "erratum", "exec"), {})


def test_every_corrected_claim_has_an_erratum_and_no_other():
    known = pd.read_csv(ROOT / "docs/results/claims.csv")
    corrected = known[(known["verdict"] == "corrected") & (known["origin"] != "ours")]["claim"]
    told = [claim for file in FILES for claim in re.findall(r"(?m)^Claims?: .*$", file.read_text(encoding="utf-8"))]
    ids = re.findall(r"\[([a-z_]+\.[a-z0-9_]+)\]\(\.\./results/\w+\.md#\1\)", "\n".join(told))
    assert sorted(ids) == sorted(corrected)
