"""The guides use none of the words that the style guide of CONTRIBUTING.md lists."""

import re

import pytest

from tests.support import ROOT

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
