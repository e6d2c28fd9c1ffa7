"""The errata: their counterexamples hold, and they are of the claims that hold in another form only."""

import re

import pandas as pd
import pytest

from tests.support import ROOT

FILES = sorted((ROOT / "docs/errata").glob("*.md"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_counterexamples_hold(file):
    for number, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", file.read_text(encoding="utf-8")), 1):
        assert "assert" in block
        exec(compile(block, f"{file.name}, block {number}", "exec"), {})


def test_every_corrected_claim_has_an_erratum_and_no_other():
    known = pd.read_csv(ROOT / "docs/results/claims.csv")
    corrected = known[(known["verdict"] == "corrected") & (known["origin"] != "ours")]["claim"]
    told = [claim for file in FILES for claim in re.findall(r"(?m)^Claims?: .*$", file.read_text(encoding="utf-8"))]
    ids = re.findall(r"\[([a-z_]+\.[a-z0-9_]+)\]\(\.\./results/\w+\.md#\1\)", "\n".join(told))
    assert sorted(ids) == sorted(corrected)
