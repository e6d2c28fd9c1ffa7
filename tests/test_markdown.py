"""Formulas, commands and links of every Markdown file of the project, as GitHub's own parser, cmark-gfm, reads them."""

import html
import re
from pathlib import Path

import cmarkgfm
import pytest

from tests.support import ROOT

TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "docs/**/*.md", ".github/**/*.md")
    for path in sorted(ROOT.glob(pattern))
}
FENCED = re.compile(r"(?ms)^ *(```|~~~).*?^ *\1 *$")
WRITTEN = re.compile(r"\$`([^`]+)`\$")  # a formula in Markdown: $`x`$
ARRIVED = re.compile(r"\$<code>(.*?)</code>\$", re.DOTALL)  # and in the page that the parser makes of it
# macros that GitHub refuses
FORBIDDEN = ("operatorname", "def", "newcommand", "renewcommand", "let", "require", "href", "class", "cssId", "unicode")


def problems(text: str) -> list[str]:
    """Return how the formulas of a text would differ on GitHub from what was written, a line for each difference."""
    outside = FENCED.sub("", text)
    page = re.sub(r"(?s)<pre.*?</pre>", "", cmarkgfm.github_flavored_markdown_to_html(text))
    written = [" ".join(formula.split()) for formula in WRITTEN.findall(outside)]
    arrived = [" ".join(html.unescape(formula).split()) for formula in ARRIVED.findall(page)]
    found = [f"lost: {formula}" for formula in written if formula not in arrived]
    found += [f"other than written: {formula}" for formula in arrived if formula not in written]
    if len(written) != len(arrived):
        found.append(f"{len(written)} formulas were written, {len(arrived)} arrive")
    found += [f"beside a letter: {match}" for match in re.findall(r"\w\$<code>|</code>\$\w", page)]
    found += [f"a dollar: {line}" for line in _lines(ARRIVED.sub("", page)) if "$" in line]
    macros = rf"\\({'|'.join(FORBIDDEN)})(?![A-Za-z])"
    return found + [f"forbidden: {match[0]}" for formula in written for match in re.finditer(macros, formula)]


def _lines(page: str) -> list[str]:
    return re.sub(r"(?s)<code>.*?</code>", "", page).splitlines()


def test_formulas_arrive_as_they_were_written():
    assert [(file, problem) for file, text in TEXTS.items() for problem in problems(text)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(r"a norm $\|x\|$", ["a dollar: <p>a norm $|x|$</p>"], id="between dollars alone"),
        pytest.param(r"a rank $`\operatorname{rank} A`$", [r"forbidden: \operatorname"], id="a macro that is refused"),
        pytest.param(r"softmax$`x`$", ["beside a letter: x$<code>"], id="without a space before it"),
        pytest.param(
            "| a | b |\n|---|---|\n| $`|x|`$ | 1 |",
            ["lost: |x|", "1 formulas were written, 0 arrive", "a dollar: <td>$`</td>"],
            id="with bars, in a table",
        ),
        pytest.param(r"a formula $`x``$", ["a dollar: <p>a formula $`x``$</p>"], id="with a mark too many"),
    ],
)
def test_a_formula_that_github_would_not_show_is_found(text, expected):
    assert problems(text) == expected


def test_no_command_names_an_absolute_path():
    """An absolute path is that of a file of one machine."""
    absolute = re.compile(r"`[^`\n]* /[a-z]\w*/\w+/[^`\n]*`")
    assert absolute.search("type `python /home/somebody/file.py`")
    assert [(file, command) for file, text in TEXTS.items() for command in absolute.findall(text)] == []


def links(text: str) -> list[tuple[str, str]]:
    """Return the links of a text to files: the path, and the anchor after `#`, which may be empty."""
    return re.findall(r"\]\(([^)#:\s]+)(?:#([^)\s]+))?\)", text)


def test_links_to_files_are_found_and_those_to_the_web_are_none():
    text = "[a claim](results/page.md#waves.decay), [a guide](guide.md), [elsewhere](https://example.org/page.md)"
    assert links(text) == [("results/page.md", "waves.decay"), ("guide.md", "")]


def anchors(page: Path) -> list[str]:
    """Return what links to a page may have after `#`: its named places, and its headings as GitHub writes them."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r'<a name="([^"]+)"></a>', text)
    return names + [_slug(heading) for heading in re.findall(r"(?m)^#+ (.*)$", text)]


def claims_not_yet_published() -> list[str]:
    """Return the claims that are newer than the published pages: their anchors will be there after `make publish`."""
    listed = ROOT / "docs/results/judged_since.md"
    text = listed.read_text(encoding="utf-8") if listed.exists() else ""
    return re.findall(r"(?m)^\| `([\w.]+)` \| not there ", text)


@pytest.mark.parametrize("file", TEXTS)
def test_every_link_leads_to_a_file(file):
    for target, _anchor in links(TEXTS[file]):
        # what `make publish` writes may not be there yet
        assert (ROOT / file).parent.joinpath(target).exists() or target.startswith(("results/", "docs/results")), target


@pytest.mark.parametrize("file", TEXTS)
def test_every_anchor_of_a_link_is_in_the_page_that_it_leads_to(file):
    not_yet = claims_not_yet_published()
    for target, anchor in links(TEXTS[file]):
        page = (ROOT / file).parent / target
        if anchor and anchor not in not_yet and page.suffix == ".md":
            assert anchor in anchors(page), f"{target}#{anchor}"


def _slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
