"""The pages in a real headless Chromium: those of the made-up paper, and those of all papers at smoke scale."""

import itertools
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

from tests.pipeline.test_moving import declare
from tests.support import PAPERS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to open the page in")
LARGEST = 14_000_000  # bytes of all pages together, for who reads them over a slow line


NAME = "strict_to_the_last_of_all_the_digits"  # of a claim, too long for a cell on a phone
SCALES = {"few": "the same with nine draws in place of three", "many": "a thousand draws of another kind"}


@pytest.fixture(scope="module")
def made_up(built, tmp_path_factory) -> Path:
    """The folder of pages of the made-up paper: a film, a chart, a claim that does not hold, and two other scales."""
    workspace = built.copy(tmp_path_factory.mktemp("page") / "project")
    declare(workspace)
    strict = {"function": "growth.geometric", "runs": {"slow": "slow", "fast": "fast"}, "figure": "growth"}
    workspace.configure("claims", NAME, value=strict | {"rounding": 1e-30, "expected": "contradicted"})
    for scale, trained_on in SCALES.items():
        published = workspace.folder / f"docs/scales/{scale}/claims.csv"
        published.parent.mkdir(parents=True)
        published.write_text(
            f"paper,claim,verdict,measured,lower,upper,draws\ntoy,toy.{NAME},not reproduced,0.12345,0.1,0.2,7\n"
        )
        workspace.configure("scales", scale, value=trained_on)
    workspace.snakemake()
    return workspace.folder / "figures"


def page_of(request, whose, name) -> Path:
    """Return a page of the made-up paper, or one of all papers."""
    if whose == "made_up":
        return request.getfixturevalue("made_up") / f"{name}.html"
    (first,) = request.getfixturevalue("whole").folder.glob("figures/**/index.html")
    return first.with_name(f"{name}.html")


def cases(*pages):
    """Return pages as the parameters of a test, named ``whole-index``."""
    return [pytest.param(page, id="-".join(page)) for page in pages]


FRONTS = cases(("made_up", "index"), ("whole", "index"))


@pytest.fixture
def front(made_up) -> Path:
    return made_up / "index.html"


@pytest.fixture
def busy(made_up) -> Path:
    """The page of a paper with figures, films and claims."""
    return made_up / "toy.html"


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(chromium, html, width=1400, scheme="light", **options):
    """Return a page, and what it and the network complain about."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, **options
    )
    context.set_default_timeout(300_000)  # milliseconds; a busy machine is slow to draw
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(html.as_uri())
    return page, complaints


@pytest.fixture
def table(chromium, front):
    page, _ = open_page(chromium, front)
    page.locator("details.whole summary").click()
    yield page
    page.context.close()


# -- looks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [*FRONTS, *cases(("made_up", "toy"), *(("whole", paper) for paper in PAPERS))])
def test_a_page_can_be_read_in_any_window_by_anybody(request, chromium, which):
    html = page_of(request, *which)
    for width, scheme in ((1400, "light"), (390, "dark")):
        page, complaints = open_page(chromium, html, width, scheme)
        check_links_and_formulas(page, html)
        check_names_and_headings(page)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert complaints == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        beyond = page.evaluate("""() => [...document.querySelectorAll("body *")].filter((one) => {
            const box = one.getBoundingClientRect();
            const seen = box.width && !one.closest(".skip, .hidden, .scroll > *");
            return seen && (box.right > innerWidth + 1 || box.left < -1);
          }).map((one) => one.outerHTML.slice(0, 120))""")
        assert beyond == [], width
        assert page.evaluate(CONTRAST) == [], width
        page.context.close()


def test_a_dark_screen_shows_figures_in_their_own_colours_on_white(chromium, busy):
    page, _ = open_page(chromium, busy, scheme="dark")
    filters = page.eval_on_selector_all("img", "all => all.map((one) => getComputedStyle(one).filter)")
    assert set(filters) == {"none"}
    link = page.locator(".exhibit > figure > a").first
    assert link.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()


def test_paper_shows_figures_and_how_claims_were_judged(chromium, busy):
    page, _ = open_page(chromium, busy, 794)
    page.locator(".interactive").wait_for(state="visible")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.judged").count() > 0
    assert page.locator("details.judged:not([open])").count() == 0
    assert not page.locator("nav").is_visible()
    assert not page.locator(".interactive").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


def test_every_claim_is_cited_on_its_card(busy):
    html = busy.read_text(encoding="utf-8")
    cards = re.findall(r'(?s)<article class="claim[^>]* id="([^"]+)".*?</article>', html)
    cited = re.findall(r"@misc\{learning_dynamics\.([\w.]+),", html)
    assert len(cards) >= 2
    assert sorted(cited) == sorted([*cards, busy.stem])


def test_paper_has_few_sheets_without_navigation(chromium, busy):
    page, _ = open_page(chromium, busy, 794)
    sheets = len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(prefer_css_page_size=True)))
    assert sheets <= 3
    page.emulate_media(media="print")
    assert not page.locator(".claim .bibtex").first.is_visible()
    assert page.locator(".claim .measured").first.is_visible()
    page.context.close()


def test_pages_are_readable_without_scripts(chromium, front, busy):
    page, complaints = open_page(chromium, front, java_script_enabled=False)
    assert complaints == []
    page.locator("details.whole summary").click()
    assert not page.locator("#filter").is_visible()
    assert page.locator("table.claims tbody tr").last.is_visible()
    page.goto(busy.as_uri())
    assert not page.locator(".interactive").is_visible()
    page.context.close()


# -- what it says -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", FRONTS)
def test_every_claim_is_there_with_its_verdict(request, chromium, which):
    front = page_of(request, *which)
    assert sum(page.stat().st_size for page in front.parent.glob("*.html")) < LARGEST
    table, _ = open_page(chromium, front)
    rows = table.locator("table.claims tbody tr")
    named = table.eval_on_selector_all("table.claims tbody th a", "links => links.map((a) => a.getAttribute('href'))")
    shown = dict(zip(named, rows.evaluate_all("rows => rows.map((row) => row.dataset.verdict)"), strict=True))
    for file in {link.partition("#")[0] for link in shown}:
        page, _ = open_page(chromium, front.with_name(file))
        for link, verdict in shown.items():
            if link.startswith(f"{file}#"):
                card = page.locator(f'article[id="{link.partition("#")[2]}"]')
                assert card.count() == 1, (file, link)
                assert verdict in card.locator("header .chip").first.inner_text(), (file, link)
        page.context.close()
    (folder,) = (parent for parent in front.parents if parent.name == "figures")
    claims = folder.parent / "results" / front.parent.relative_to(folder) / "claims.parquet"
    if claims.exists():
        found = pd.read_parquet(claims)
        assert {link.partition("#")[2]: verdict for link, verdict in shown.items()} == dict(
            zip(found["claim"], found["verdict"], strict=True)
        )


def test_a_verdict_in_a_tally_leads_to_its_claims(chromium, front):
    page, _ = open_page(chromium, front)
    chip = page.locator(".top .tally a").first
    count, verdict = chip.inner_text().split(maxsplit=1)
    chip.click()
    page.wait_for_function("document.querySelector('select[name=verdict]').value !== ''")
    rows = page.locator("table.claims tbody tr:not([hidden])")
    assert set(rows.evaluate_all("rows => rows.map((row) => row.dataset.verdict)")) == {verdict}
    assert rows.count() >= int(count)
    page.context.close()


def check_links_and_formulas(wide, html):
    assert "$" not in wide.locator("main").inner_text()
    links = set(wide.eval_on_selector_all("a[href]", "links => links.map((link) => link.getAttribute('href'))"))
    for link in links:
        if link.startswith(("https://", "data:")):  # to the papers themselves; a table as CSV
            continue
        file, _, place = link.partition("?")[0].partition("#")
        there = html.parent / file if file else html
        assert there.is_file(), link
        assert not place or there.suffix != ".html" or f'id="{place}"' in there.read_text(encoding="utf-8"), link


# -- what moves -------------------------------------------------------------------------------------------------------


def frames_of(film):
    """Return how many frames what a film shows now has."""
    return film.locator("img").evaluate("""async (image) => {
        const data = await (await fetch(image.currentSrc)).arrayBuffer();
        const decoder = new ImageDecoder({ data, type: 'image/webp' });
        await decoder.tracks.ready;
        return decoder.tracks.selectedTrack.frameCount; }""")


def test_what_moves_rests_for_who_prefers_it_and_at_a_press(chromium, busy):
    for motion, first, then in (
        ("no-preference", "Stop", "Play"),
        ("reduce", "Play", "Stop"),
    ):
        page, _ = open_page(chromium, busy, reduced_motion=motion)
        films = page.locator(".film")
        assert films.count() > 0, motion
        for film in films.all():
            button = film.get_by_role("button")
            for label in (first, then):
                assert button.inner_text() == label, (motion, film, label)
                assert (frames_of(film) > 10) == (label == "Stop"), (motion, film, label)
                button.press("Enter")
        page.context.close()


# -- the table of claims ----------------------------------------------------------------------------------------------


def test_claims_are_filtered_by_paper_verdict_and_text(table):
    rows = table.locator("table.claims tbody tr:not([hidden])")
    every = rows.count()
    table.select_option("select[name=verdict]", "reproduced")
    assert 0 < rows.count() < every
    assert set(rows.evaluate_all("rows => rows.map((row) => row.dataset.verdict)")) == {"reproduced"}
    table.select_option("select[name=verdict]", "")
    table.fill("input[name=text]", "no such words in any claim")
    assert rows.count() == 0
    assert "0 of" in table.locator("output").inner_text()
    table.fill("input[name=text]", "")
    paper = rows.first.get_attribute("data-paper")
    table.select_option("select[name=paper]", paper)
    assert set(rows.evaluate_all("rows => rows.map((row) => row.dataset.paper)")) == {paper}
    table.select_option("select[name=paper]", "")
    assert rows.count() == every


def test_a_claim_is_found_by_its_id_and_the_filter_stands_in_the_address(chromium, front):
    page, complaints = open_page(chromium, front)
    rows = page.locator("table.claims tbody tr:not([hidden])")
    claim = page.locator("table.claims tbody tr").nth(1).get_attribute("data-claim")
    page.locator("details.whole summary").press("Enter")
    page.fill("input[name=text]", claim)
    assert claim in rows.evaluate_all("rows => rows.map((row) => row.dataset.claim)")
    assert page.url.endswith(f"#claims?text={claim}")
    again, _ = open_page(chromium, front)
    again.goto(page.url)
    again.wait_for_function("document.querySelector('input[name=text]').value !== ''")
    assert again.locator("table.claims").is_visible()
    assert again.locator("table.claims tbody tr:not([hidden])").count() == rows.count()
    again.goto("about:blank")
    again.goto(f"{front.as_uri()}#{claim}")  # as one page had it once
    again.wait_for_url(f"{front.with_name(claim.partition('.')[0]).as_uri()}.html#{claim}")
    again.wait_for_selector(f'article[id="{claim}"] details.judged[open]')
    assert complaints == []
    page.context.close()
    again.context.close()


def test_claims_are_sorted_by_keyboard(table):
    heading = table.locator("table.claims thead th", has_text="Measured")
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    values = table.eval_on_selector_all(
        "table.claims td[data-label=measured][data-value]", "cells => cells.map((cell) => +cell.dataset.value)"
    )
    assert values == sorted(values)
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"


# -- accessibility: the main rules of WCAG 2.2 AA, by hand ------------------------------------------------------------


def check_names_and_headings(wide):
    ids = wide.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    labels = wide.eval_on_selector_all(
        "[aria-labelledby]", "all => all.map((one) => one.getAttribute('aria-labelledby'))"
    )
    assert set(labels) <= set(ids)
    levels = wide.eval_on_selector_all("h1, h2, h3, h4, h5, h6", "all => all.map((one) => +one.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    assert wide.evaluate("document.documentElement.lang && document.title")
    nameless = wide.evaluate("""() => [
        ...[...document.images].filter((one) => !one.alt.trim() && !one.closest("a")?.textContent.trim()),
        ...[...document.querySelectorAll("a, button, summary, h1, h2, h3, h4, h5")]
            .filter((one) => !one.textContent.trim() && !one.querySelector("img[alt]")),
        ...[...document.querySelectorAll("input, select")].filter((one) => !one.labels.length),
        ...document.querySelectorAll("svg:not([aria-label], [aria-label] svg), nav:not([aria-label])"),
        ...document.querySelectorAll("th:not([scope])"),
      ].map((one) => one.outerHTML.slice(0, 120))""")
    assert nameless == []
    assert wide.locator("main").count() == 1


CONTRAST = """() => {
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || one.closest("script, style, option")) continue;
    const set = getComputedStyle(one), size = parseFloat(set.fontSize);
    const large = size >= 24 || (size >= 18.66 && +set.fontWeight >= 700);
    const [a, b] = [light(numbers(set.color)), light(ground(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${one.outerHTML.slice(0, 100)}`);
  }
  return faint;
}"""


# -- what the reader moves --------------------------------------------------------------------------------------------


def shown_chart(chart):
    """Return what a chart shows: its title, and the shapes of its lines and dots."""
    return chart.locator("svg").evaluate("""(svg) => [svg.querySelector(".role-title-text text").textContent,
        ...[...svg.querySelectorAll(".mark-line path, .mark-symbol path")].map(
          (path) => path.getAttribute("d") + path.getAttribute("transform"))]""")


def wait_until(page, holds, milliseconds: int = 300_000) -> None:
    """Wait until a page is as asked: a slow machine draws later, not otherwise."""
    for _ in range(milliseconds // 50):
        if holds():
            return
        page.wait_for_timeout(50)
    assert holds()


def test_arrow_keys_move_the_curves_and_its_title_says_so(chromium, busy):
    page, complaints = open_page(chromium, busy)
    chart = page.locator(".chart")
    assert chart.count() == 1
    slider = chart.locator("input[type=range]")
    before = shown_chart(chart)
    slider.press("ArrowRight")
    wait_until(page, lambda: shown_chart(chart)[0] != before[0] and shown_chart(chart)[1:] != before[1:])
    after = shown_chart(chart)
    wait_until(page, lambda: slider.get_attribute("aria-valuetext") == after[0])
    slider.press("ArrowLeft")
    wait_until(page, lambda: shown_chart(chart) == before)
    assert chart.locator("svg").get_attribute("aria-label") or chart.locator("[aria-label]").count()
    assert complaints == []
    page.context.close()
