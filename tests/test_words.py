"""What is written uses none of the words that the style guide of CONTRIBUTING.md lists; typed results are found."""

import ast
import io
import re
import tokenize

import pytest

from tests.support import ROOT
from tests.typed_results import typed_results

GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES)}
SOURCES = sorted(path for folder in ("src", "bench", "mutation", "docs") for path in (ROOT / folder).rglob("*.py"))
# targets, rules, the reasons of settings, and what a page is made of
OTHER_FILES = [
    *(ROOT / name for name in ("Makefile", "Snakefile", "config.yaml")),
    *sorted(path for path in (ROOT / "workflow").rglob("*") if path.suffix in (".smk", ".yaml")),
    *sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in (".html", ".css", ".js")),
]


def listed_words() -> list[str]:
    """Return the words that are not used, from the first column of the style guide's table."""
    guide = PAGES["CONTRIBUTING.md"].read_text(encoding="utf-8").partition("| do not write |")[2]
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| `")]
    return [phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row)]


def uses(text: str) -> list[str]:
    """Return the listed words in a text, without its code."""
    prose = " ".join(re.sub(r"(?s)```.*?```|`[^`]*`", "`", text).split())
    return re.findall(rf"(?i)\b(?:{'|'.join(map(re.escape, listed_words()))})\b", prose)


def words_of_source(source: str) -> list[str]:
    """Return what a module says in words: its texts, docstrings among them, and its comments as one text."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string.strip("# ") for token in tokens if token.type == tokenize.COMMENT]
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [*texts, "\n".join(comments)]


@pytest.mark.parametrize("page", PAGES)
def test_no_listed_word_is_used(page):
    assert uses(PAGES[page].read_text(encoding="utf-8")) == []


def test_no_source_uses_a_listed_word():
    found = {}
    for path in SOURCES:
        texts = words_of_source(path.read_text(encoding="utf-8"))
        found[str(path.relative_to(ROOT))] = [word for text in texts for word in uses(text)]
    assert {name: words for name, words in found.items() if words} == {}


def test_no_rule_target_page_or_configuration_uses_a_listed_word():
    texts = {path: re.sub(r"(?m)^\s*#+", "", path.read_text(encoding="utf-8")) for path in OTHER_FILES}
    found = {str(path.relative_to(ROOT)): uses(text) for path, text in texts.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_listed_word_is_found_across_lines_and_not_in_code():
    assert uses("it Lies\nin a folder, `mend`") == ["Lies in"]
    source = '''
# a file that lies
# in a folder
def mend(anew):
    """Speak
    of it."""
    return f"{anew} and {mend}: of ours"
'''
    assert [word for text in words_of_source(source) for word in uses(text)] == ["Speak of", "of ours", "lies in"]


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
