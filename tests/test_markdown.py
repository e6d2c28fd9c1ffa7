"""Every Markdown file arrives on GitHub as it was written: what stands here is read by GitHub's own parser."""

import html
import re

import cmarkgfm

from tests.support import ROOT

TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "docs/**/*.md", ".github/**/*.md")
    for path in sorted(ROOT.glob(pattern))
}
FENCED = re.compile(r"(?ms)^ *(```|~~~).*?^ *\1 *$")
WRITTEN = re.compile(r"\$`([^`]+)`\$")
ARRIVED = re.compile(r"\$<code>(.*?)</code>\$", re.DOTALL)
FORBIDDEN = ("operatorname", "def", "newcommand", "renewcommand", "let", "require", "href", "class", "cssId", "unicode")


def problems(text: str) -> list[str]:
    """Return what GitHub would make of formulas that is not what was written."""
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


def test_commands_name_files_of_the_project():
    foreign = re.compile(r"`[^`\n]* /[a-z]\w*/\w+/[^`\n]*`")
    assert [(file, command) for file, text in TEXTS.items() for command in foreign.findall(text)] == []


TORN = (
    r"the norm $\|x\|$ and $a_1$, $b_1$",
    r"the rank $`\operatorname{rank} A`$",
    r"softmax$`x`$",
    "| a | b |\n|---|---|\n| $`|x|`$ | 1 |",
    r"a formula $`x``$ with a mark too many",
)


def test_what_would_be_torn_is_found():
    assert [text for text in TORN if not problems(text)] == []


def test_links_lead_somewhere_and_those_to_places_to_a_place():
    # claims that are newer than the published pages have their place there once these are written again
    listed = ROOT / "docs/results/judged_since.md"
    text = listed.read_text(encoding="utf-8") if listed.exists() else ""
    newer = re.findall(r"(?m)^\| `([\w.]+)` \| not there ", text)
    for file, text in TEXTS.items():
        for target, place in re.findall(r"\]\(([^)#:\s]+)(?:#([^)\s]+))?\)", text):
            there = (ROOT / file).parent / target
            # what `make publish` writes may not be there yet
            assert there.exists() or target.startswith(("results/", "docs/results")), f"{file}: {target}"
            if place and place not in newer and there.suffix == ".md":
                written = there.read_text(encoding="utf-8")
                names = re.findall(r'<a name="([^"]+)"></a>', written)
                headings = [_slug(heading) for heading in re.findall(r"(?m)^#+ (.*)$", written)]
                assert place in names + headings, f"{file}: {target}#{place}"


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
