"""The guides use none of the words that the style guide of CONTRIBUTING.md lists, and typed results are found."""

import re

import pytest

from tests.support import ROOT
from tests.typed_results import typed_results

GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES)}


def listed() -> list[str]:
    """Return the words that are not used, from the first column of the style guide's table."""
    guide = PAGES["CONTRIBUTING.md"].read_text(encoding="utf-8").partition("| do not write |")[2]
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| `")]
    return [phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row)]


def uses(text: str) -> list[str]:
    """Return the listed words in a text, without its code."""
    prose = " ".join(re.sub(r"(?s)```.*?```|`[^`]*`", "`", text).split())
    return re.findall(rf"(?i)\b(?:{'|'.join(map(re.escape, listed()))})\b", prose)


@pytest.mark.parametrize("page", PAGES)
def test_no_listed_word_is_used(page):
    assert uses(PAGES[page].read_text(encoding="utf-8")) == []


def test_a_listed_word_is_found_across_lines_and_not_in_code():
    assert uses("it Lies\nin a folder, `mend`") == ["Lies in"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The error is 0.0018 of the start; it holds on 19 of 20 draws.", ["0.0018", "19 of 20"]),
        ("Accuracy reaches 97 %, with errors of 3e-9.", ["97 %", "3e-9"]),
        ("Theorem 3.2 (b) and Figure 1a of section 3.3 hold; Varre et al. 2023, eq. (2.2).", []),
        (r"The error is {value:.2e} of $\sigma_1 = 0.5$ on {draws} draws, d = 5 and n = 10.", []),
        ("Bars are 95 % intervals of the mean; bands the 95 % Wilson interval.", []),
    ],
)
def test_typed_results_are_found_and_fields_mathematics_and_references_are_none(text, found):
    assert typed_results(text) == found
