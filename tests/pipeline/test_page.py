"""The report's pages as a headless Chromium shows them: those of made-up papers, and of all papers at smoke scale.

Links, formulas, layout, contrast, printing, films, charts and the table of claims are tested as a reader uses them.
"""

import itertools
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

from tests.pipeline.test_moving import add_film_and_chart
from tests.support import PAPERS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to open the page in")
MAX_BYTES = 14_000_000  # of all pages together, which somebody reads over a slow line
DESKTOP, PHONE, PRINTED = 1400, 390, 794  # CSS pixels: widths of windows, and that of a sheet of A4
WINDOWS = [pytest.param(DESKTOP, "light", id="desktop, light"), pytest.param(PHONE, "dark", id="phone, dark")]

ROWS = "table.claims tbody tr"
SHOWN_ROWS = f"{ROWS}:not([hidden])"

LONG_NAME = "strict_to_the_last_of_all_the_digits"  # of a claim, too long for a cell on a phone
CLAIMS_OF_TOY = ("decay", "geometric", LONG_NAME)
REPRODUCED = {"toy.decay", "toy.geometric", "other.decay"}  # and the claim of the long name is contradicted
SCALES = {"few": "the same with nine draws in place of three", "many": "a thousand draws of another kind"}


@pytest.fixture(scope="module")
def made_up(built, tmp_path_factory) -> Path:
    """The folder of pages of two made-up papers.

    `toy` has a film, a chart, a claim that does not hold and verdicts at two other scales. `other` is as
    `new` writes it.
    """
    workspace = built.copy(tmp_path_factory.mktemp("page") / "project")
    added = workspace.cli("new", "other")
    assert added.returncode == 0, added.stderr
    add_film_and_chart(workspace)
    strict = {"function": "growth.geometric", "runs": {"slow": "slow", "fast": "fast"}, "figure": "growth"}
    # no double is as close to the prediction as 1e-30: the claim is contradicted
    workspace.configure("claims", LONG_NAME, value=strict | {"rounding": 1e-30, "expected": "contradicted"})
    for scale, trained_on in SCALES.items():
        published = workspace.folder / f"docs/scales/{scale}/claims.csv"
        published.parent.mkdir(parents=True)
        published.write_text(
            "paper,claim,verdict,quantity,measured,lower,upper,criterion,draws\n"
            f"toy,toy.{LONG_NAME},not reproduced,largest relative error of xₙ,0.12345,0.1,0.2,≤ 0.1 on every draw,7\n"
        )
        workspace.configure("scales", scale, value=trained_on)
    workspace.snakemake()
    return workspace.folder / "figures"


def html_of(request, project, name) -> Path:
    """Return the file of a page by its name without suffix; `project` is the fixture that makes it."""
    if project == "made_up":
        return request.getfixturevalue("made_up") / f"{name}.html"
    (index,) = request.getfixturevalue("whole").folder.glob("figures/**/index.html")
    return index.with_name(f"{name}.html")


# pages by their project and name, as `html_of` takes them
INDEX_PAGES = [("made_up", "index"), ("whole", "index")]
PAPER_PAGES = [("made_up", "toy"), *(("whole", paper) for paper in PAPERS)]


@pytest.fixture
def index_html(made_up) -> Path:
    return made_up / "index.html"


@pytest.fixture
def paper_html(made_up) -> Path:
    """The page of a paper with figures, a film, a chart and claims."""
    return made_up / "toy.html"


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(chromium, html, width=DESKTOP, scheme="light", **options):
    """Return the open page of a file, and a list of what the page and the network complain about."""
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
def claims_page(chromium, index_html):
    """The first page with its table of claims unfolded."""
    page, _ = open_page(chromium, index_html)
    page.locator("details.whole summary").click()
    yield page
    page.context.close()


# -- looks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("project", "name"), [*INDEX_PAGES, *PAPER_PAGES])
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_links_of_a_page_lead_somewhere_and_its_formulas_are_set(request, chromium, project, name, width, scheme):
    html = html_of(request, project, name)
    page, complaints = open_page(chromium, html, width, scheme)
    check_links(page, html)
    assert "$" not in page.locator("main").inner_text()  # a formula that is left as LaTeX
    assert complaints == []
    page.context.close()


@pytest.mark.parametrize(("project", "name"), [*INDEX_PAGES, *PAPER_PAGES])
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_a_screen_reader_finds_headings_in_order_and_a_name_for_everything(
    request, chromium, project, name, width, scheme
):
    page, _ = open_page(chromium, html_of(request, project, name), width, scheme)
    check_names_and_headings(page)
    page.context.close()


@pytest.mark.parametrize(("project", "name"), [*INDEX_PAGES, *PAPER_PAGES])
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_an_unfolded_page_fits_its_window_and_no_text_is_faint(request, chromium, project, name, width, scheme):
    page, complaints = open_page(chromium, html_of(request, project, name), width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(ELEMENTS_BEYOND_THE_WINDOW) == []
    assert page.evaluate(FAINT_TEXTS) == []
    assert complaints == []
    page.context.close()


def test_a_dark_screen_shows_figures_in_their_own_colours_on_white(chromium, paper_html):
    page, _ = open_page(chromium, paper_html, scheme="dark")
    filters = page.eval_on_selector_all("img", "all => all.map((one) => getComputedStyle(one).filter)")
    assert set(filters) == {"none"}
    link = page.locator(".exhibit > figure > a").first
    assert link.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(255, 255, 255)"
    page.context.close()


def test_a_printed_page_shows_how_claims_were_judged_and_nothing_to_click(chromium, paper_html):
    page, _ = open_page(chromium, paper_html, PRINTED)
    page.locator(".interactive").wait_for(state="visible")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.judged").count() == len(CLAIMS_OF_TOY)
    assert page.locator("details.judged:not([open])").count() == 0
    assert not page.locator("nav").is_visible()
    assert not page.locator(".interactive").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


def test_every_card_cites_its_claim_and_the_page_its_paper(paper_html):
    html = paper_html.read_text(encoding="utf-8")
    citation = re.compile(r"@misc\{learning_dynamics\.([\w.]+),")  # of BibTeX
    card = re.compile(r'(?s)<article class="claim[^>]* id="([^"]+)".*?</article>')
    cards = {match[1]: match[0] for match in card.finditer(html)}  # by claim
    assert set(cards) == {f"toy.{name}" for name in CLAIMS_OF_TOY}
    for claim, text in cards.items():
        assert citation.findall(text) == [claim]
    assert citation.findall(card.sub("", html)) == ["toy"]


def test_a_page_of_three_claims_prints_on_three_sheets_or_fewer(chromium, paper_html):
    page, _ = open_page(chromium, paper_html, PRINTED)
    sheets = re.findall(rb"/Type\s*/Page[^s]", page.pdf(prefer_css_page_size=True))  # of PDF, `/Pages` is their list
    assert 1 <= len(sheets) <= 3
    page.context.close()


def test_a_printed_card_has_its_number_and_no_citation(chromium, paper_html):
    page, _ = open_page(chromium, paper_html, PRINTED)
    page.emulate_media(media="print")
    assert not page.locator(".claim .bibtex").first.is_visible()
    assert page.locator(".claim .measured").first.is_visible()
    page.context.close()


def test_pages_are_readable_without_scripts(chromium, index_html, paper_html):
    page, complaints = open_page(chromium, index_html, java_script_enabled=False)
    assert complaints == []
    page.locator("details.whole summary").click()
    assert not page.locator("#filter").is_visible()  # a form that only a script could answer
    assert page.locator(ROWS).last.is_visible()
    page.goto(paper_html.as_uri())
    assert not page.locator(".interactive").is_visible()
    page.context.close()


# -- claims and links -------------------------------------------------------------------------------------------------


def data_of(rows, name) -> list[str]:
    """Return the attribute ``data-<name>`` of each row."""
    return rows.evaluate_all("(rows, name) => rows.map((row) => row.dataset[name])", name)


def listed_verdicts(chromium, html) -> dict[str, str]:
    """Return the verdict that the first page's table has for each claim, by the link to the claim's card."""
    page, _ = open_page(chromium, html)
    links = page.eval_on_selector_all(f"{ROWS} th a", "links => links.map((link) => link.getAttribute('href'))")
    verdicts = data_of(page.locator(ROWS), "verdict")
    page.context.close()
    return dict(zip(links, verdicts, strict=True))


@pytest.mark.parametrize(("project", "name"), INDEX_PAGES)
def test_every_listed_claim_has_a_card_with_its_verdict(request, chromium, project, name):
    html = html_of(request, project, name)
    pages = {}  # by file
    for link, verdict in listed_verdicts(chromium, html).items():
        file, _, claim = link.partition("#")
        if file not in pages:
            pages[file], _ = open_page(chromium, html.with_name(file))
        card = pages[file].locator(f'article[id="{claim}"]')
        assert card.count() == 1, link
        assert card.locator("header .chip").first.inner_text().strip() == verdict, link
    for page in pages.values():
        page.context.close()


@pytest.mark.parametrize(("project", "name"), INDEX_PAGES)
def test_every_claim_that_was_judged_is_listed_with_its_verdict(request, chromium, project, name):
    html = html_of(request, project, name)
    # a link such as `toy.html#toy.decay` ends with the claim
    listed = {link.partition("#")[2]: verdict for link, verdict in listed_verdicts(chromium, html).items()}
    # figures/smoke/index.html is made of results/smoke/claims.parquet
    (figures,) = (parent for parent in html.parents if parent.name == "figures")
    judged = pd.read_parquet(figures.parent / "results" / html.parent.relative_to(figures) / "claims.parquet")
    assert listed == dict(zip(judged["claim"], judged["verdict"], strict=True))


@pytest.mark.parametrize(("project", "name"), INDEX_PAGES)
def test_all_pages_together_have_at_most_14_megabytes(request, project, name):
    html = html_of(request, project, name)
    assert sum(file.stat().st_size for file in html.parent.glob("*.html")) <= MAX_BYTES


def test_a_verdict_of_the_tally_filters_the_claims_that_it_counts(chromium, index_html):
    page, _ = open_page(chromium, index_html)
    chip = page.locator(".top .tally a").first
    count, verdict = chip.inner_text().split(maxsplit=1)  # as "3 reproduced"
    chip.click()
    page.wait_for_function("document.querySelector('select[name=verdict]').value !== ''")
    assert data_of(page.locator(SHOWN_ROWS), "verdict") == [verdict] * int(count)
    page.context.close()


def check_links(page, html):
    """Check that the files that links lead to are there, and the places in them."""
    links = set(page.eval_on_selector_all("a[href]", "links => links.map((link) => link.getAttribute('href'))"))
    for link in links:
        if link.startswith(("https://", "data:")):  # to the papers themselves; a table as CSV
            continue
        name, _, anchor = link.partition("?")[0].partition("#")
        file = html.parent / name if name else html
        assert file.is_file(), link
        if anchor and file.suffix == ".html":
            assert f'id="{anchor}"' in file.read_text(encoding="utf-8"), link


# -- films ------------------------------------------------------------------------------------------------------------


FRAMES = 41  # of the film of `toy`: the start, and each of 40 steps of the run `slow`


def frame_count(film):
    """Return how many frames the picture has that a film shows now: one if it is a still picture."""
    return film.locator("img").evaluate("""async (image) => {
        const data = await (await fetch(image.currentSrc)).arrayBuffer();
        const decoder = new ImageDecoder({ data, type: 'image/webp' });
        await decoder.tracks.ready;
        return decoder.tracks.selectedTrack.frameCount; }""")


def assert_film_plays(film):
    """Assert that a film moves, and that its button says what it does when it is pressed."""
    assert film.get_by_role("button").inner_text() == "Stop"
    assert frame_count(film) == FRAMES


def assert_film_rests(film):
    """Assert that a film is a still picture, and that its button says what it does when it is pressed."""
    assert film.get_by_role("button").inner_text() == "Play"
    assert frame_count(film) == 1


def test_a_film_plays_until_its_button_is_pressed(chromium, paper_html):
    page, _ = open_page(chromium, paper_html)
    film = page.locator(".film")
    assert_film_plays(film)
    film.get_by_role("button").press("Enter")
    assert_film_rests(film)
    page.context.close()


def test_a_film_rests_until_its_button_is_pressed_if_its_reader_prefers_less_motion(chromium, paper_html):
    page, _ = open_page(chromium, paper_html, reduced_motion="reduce")
    film = page.locator(".film")
    assert_film_rests(film)
    film.get_by_role("button").press("Enter")
    assert_film_plays(film)
    page.context.close()


# -- the table of claims ----------------------------------------------------------------------------------------------


def test_claims_are_filtered_by_verdict(claims_page):
    rows = claims_page.locator(SHOWN_ROWS)
    total = rows.count()
    claims_page.select_option("select[name=verdict]", "reproduced")
    assert sorted(data_of(rows, "claim")) == sorted(REPRODUCED)
    claims_page.select_option("select[name=verdict]", "")
    assert rows.count() == total


def test_claims_are_filtered_by_text(claims_page):
    rows = claims_page.locator(SHOWN_ROWS)
    total = rows.count()
    claims_page.fill("input[name=text]", "geometric")
    # both of them state that growth is geometric
    assert set(data_of(rows, "claim")) == {"toy.geometric", f"toy.{LONG_NAME}"}
    claims_page.fill("input[name=text]", "no such words in any claim")
    assert rows.count() == 0
    assert f"0 of {total}" in claims_page.locator("output").inner_text()
    claims_page.fill("input[name=text]", "")
    assert rows.count() == total


def test_claims_are_filtered_by_paper(claims_page):
    rows = claims_page.locator(SHOWN_ROWS)
    total = rows.count()
    claims_page.select_option("select[name=paper]", "toy")
    assert sorted(data_of(rows, "claim")) == sorted(f"toy.{name}" for name in CLAIMS_OF_TOY)
    claims_page.select_option("select[name=paper]", "")
    assert rows.count() == total


def test_a_claim_is_found_by_its_id_and_the_address_keeps_the_filter(chromium, index_html):
    page, complaints = open_page(chromium, index_html)
    page.locator("details.whole summary").press("Enter")
    page.fill("input[name=text]", "toy.geometric")
    rows = page.locator(SHOWN_ROWS)
    assert data_of(rows, "claim") == ["toy.geometric"]
    assert page.url.endswith("#claims?text=toy.geometric")
    again, _ = open_page(chromium, index_html)
    again.goto(page.url)
    again.wait_for_function("document.querySelector('input[name=text]').value !== ''")
    assert again.locator("table.claims").is_visible()
    assert data_of(again.locator(SHOWN_ROWS), "claim") == ["toy.geometric"]
    assert complaints == []
    page.context.close()
    again.context.close()


def test_the_address_of_a_claim_on_the_first_page_leads_to_its_card(chromium, index_html):
    """All papers were on one page once, and such addresses are in use."""
    page, _ = open_page(chromium, index_html)
    page.goto("about:blank")  # or the browser would stay on the open page and only scroll
    page.goto(f"{index_html.as_uri()}#toy.geometric")
    page.wait_for_url(f"{index_html.with_name('toy.html').as_uri()}#toy.geometric")
    page.wait_for_selector('article[id="toy.geometric"] details.judged[open]')
    page.context.close()


def measured_values(page) -> list[float]:
    """Return the numbers of the column `Measured`, from top to bottom."""
    return page.eval_on_selector_all(
        "table.claims td[data-label=measured][data-value]", "cells => cells.map((cell) => +cell.dataset.value)"
    )


def test_claims_are_sorted_by_keyboard(claims_page):
    heading = claims_page.locator("table.claims thead th", has_text="Measured")
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    ascending = measured_values(claims_page)
    assert ascending == sorted(ascending)
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    descending = measured_values(claims_page)
    assert descending == sorted(ascending, reverse=True)
    assert descending != ascending


# -- accessibility: the main rules of WCAG 2.2 AA, by hand ------------------------------------------------------------


def check_names_and_headings(page):
    """Check that ids are unique, headings skip no level, and everything that is read out has a name."""
    ids = page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    labels = page.eval_on_selector_all(
        "[aria-labelledby]", "all => all.map((one) => one.getAttribute('aria-labelledby'))"
    )
    assert set(labels) <= set(ids)
    levels = page.eval_on_selector_all("h1, h2, h3, h4, h5, h6", "all => all.map((one) => +one.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    assert page.evaluate("document.documentElement.lang && document.title")
    nameless = page.evaluate("""() => [
        ...[...document.images].filter((one) => !one.alt.trim() && !one.closest("a")?.textContent.trim()),
        ...[...document.querySelectorAll("a, button, summary, h1, h2, h3, h4, h5")]
            .filter((one) => !one.textContent.trim() && !one.querySelector("img[alt]")),
        ...[...document.querySelectorAll("input, select")].filter((one) => !one.labels.length),
        ...document.querySelectorAll("svg:not([aria-label], [aria-label] svg), nav:not([aria-label])"),
        ...document.querySelectorAll("th:not([scope])"),
      ].map((one) => one.outerHTML.slice(0, 120))""")
    assert nameless == []
    assert page.locator("main").count() == 1


ELEMENTS_BEYOND_THE_WINDOW = """() => [...document.querySelectorAll("body *")].filter((one) => {
    const box = one.getBoundingClientRect();
    const seen = box.width && !one.closest(".skip, .hidden, .scroll > *");  // hidden, or in a table that scrolls
    return seen && (box.right > innerWidth + 1 || box.left < -1);
  }).map((one) => one.outerHTML.slice(0, 120))"""

# texts whose contrast with their ground is below 4.5, or below 3 for large ones, by WCAG's relative luminance
FAINT_TEXTS = """() => {
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


# -- charts ------------------------------------------------------------------------------------------------------------


def title_of(chart):
    return chart.locator("svg .role-title-text text").text_content()


def shapes_of(chart):
    """Return where the lines and dots of a chart are, as SVG writes it."""
    return chart.locator("svg").evaluate("""(svg) => [...svg.querySelectorAll(".mark-line path, .mark-symbol path")]
        .map((path) => path.getAttribute("d") + path.getAttribute("transform"))""")


def wait_until(page, holds, milliseconds: int = 300_000) -> None:
    """Wait until something holds of a page, which a busy machine draws late."""
    for _ in range(milliseconds // 50):
        if holds():
            return
        page.wait_for_timeout(50)
    assert holds()


def test_arrow_keys_move_the_curves_of_a_chart_and_its_title_says_so(chromium, paper_html):
    page, complaints = open_page(chromium, paper_html)
    chart = page.locator(".chart")
    assert chart.count() == 1
    slider = chart.locator("input[type=range]")
    title, shapes = title_of(chart), shapes_of(chart)
    slider.press("ArrowRight")
    wait_until(page, lambda: title_of(chart) != title and shapes_of(chart) != shapes)
    wait_until(page, lambda: slider.get_attribute("aria-valuetext") == title_of(chart))  # what is read out
    slider.press("ArrowLeft")
    wait_until(page, lambda: title_of(chart) == title and shapes_of(chart) == shapes)
    assert complaints == []
    page.context.close()


def test_a_chart_has_a_label_that_is_read_out(chromium, paper_html):
    page, _ = open_page(chromium, paper_html)
    page.locator(".chart svg").wait_for()
    assert page.locator(".chart[aria-label], .chart [aria-label]").count() > 0
    page.context.close()
