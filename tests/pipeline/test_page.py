"""The pages in a real headless Chromium: made-up ones that have everything, and those of all papers at smoke scale."""

import io
import itertools
import json
import re
import shutil
from pathlib import Path

import altair as alt
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from learning_dynamics.judging import VERDICTS, Check
from learning_dynamics.pipeline.commands.figure import prepare_for_svg
from learning_dynamics.pipeline.commands.interactive import chart_json
from learning_dynamics.pipeline.report import page, source_links
from learning_dynamics.pipeline.report.contents import Exhibit, Film, Interactive, Paper, Topic
from learning_dynamics.pipeline.report.pictures import compress, compress_to_fit, read_vector
from learning_dynamics.pipeline.report.vectors import GROUND, INK
from learning_dynamics.pipeline.store.records import check_row
from learning_dynamics.plotting import COLOURS, WIDTH, style
from learning_dynamics.plotting import interactive as drawing
from tests.support import PAPERS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to open the page in")
CSS = Path(page.__file__).with_name("page.css").read_text()
WIDTHS = (1400, 820, 390)
SCHEMES = ("light", "dark")
SHEETS = 30  # of paper, with how every claim was judged
LARGEST = 12_000_000  # bytes of all pages together, for who reads them over a slow line
WORDS = "A statement of some length about $\\sigma_1(W) \\ge \\dots \\ge \\sigma_d(W) \\ge 0$, with <= and 1e-05."


# -- a made-up page that has everything -------------------------------------------------------------------------------


def made_up_claim(name, verdict, shown, origin="paper"):
    held = Check(
        r"largest $\|x(t)\|_2$", "holds", 1.23e-5, "<= 1e-04 on every draw (rounding)", 1.2e-5, 1.3e-5, "mean (t)", 8.0,
        0.0, 20, 17, 1, 2, "3 left out: no data",
    )  # fmt: skip
    rows = [
        {
            "of": of,
            "part": part,
            **check_row(held),
            "state": state,
            "open_because": "it is $x$" * (state == "undecided"),
        }
        for of in ("printed", "corrected")
        for part, state in enumerate(("holds", "fails", "undecided"))
    ]
    nothing = verdict == "untested"
    return {
        **check_row(held),
        "claim": f"made_up.{name}",
        "id": name,
        "reference": f"Theorem {len(name)} (ii), {name}",
        "origin": origin,
        "statement": WORDS,
        "scope": "digits, $d > n$",
        "speaks_of": "all draws",
        "correction": "$x = 2$ instead" if verdict == "corrected" else "",
        "verdict": verdict,
        "expected": "reproduced",
        "as_expected": verdict != "contradicted",
        "reason": "" if verdict == "reproduced" else "of $x$",
        "rivals": {"the order above, $e^{-2\\lambda t}$": "contradicted", "a shuffled label": "undecided"},
        "refuses": 3e-9,
        "agreement": 0.75,
        "explanation": "Why it is so: $\\frac{d}{dt} \\ln |x| = -\\lambda$.\n\nA second paragraph with `code`.",
        "evidence": ["results/made_up/metrics/not_there.parquet"],
        "parts": [] if nothing else rows,
        "standing": None if nothing else rows[0],
        "variants": [
            {"choices": {"share": share, "window": 3}, "ours": share == 0.9, "measured": share, "verdict": verdict}
            for share in (0.8, 0.9, 0.95, 0.99)
        ],
        "sensitivity": [{"run": "a_run", "setting": "width", "value": "20", "measured": 1.0, "verdict": verdict}],
        "seeds": {1: verdict, 2: "untested"},
        "turning": ["`scale` of a_run: reproduced from 0.1 to 1, contradicted at 10 (20% of draws for it)"],
        "code": "src/learning_dynamics/judging.py#L1",
        "shown": shown,
    }


def made_up_chart(path):
    """Write a line whose slope a slider sets."""
    values = [{"place": place, "slope": slope, "value": place * slope} for place in (0, 1) for slope in (1, 2, 3)]
    line = alt.Chart(alt.InlineData(values=values)).transform_filter("datum.slope == slope").mark_line()
    fixed = alt.Y("value:Q", scale=alt.Scale(domain=[0, 3]))
    chart = alt.layer(line.encode(x="place:Q", y=fixed)).add_params(
        drawing.slider("slope", "slope", [1, 2, 3], 2), drawing.choice("way", "way", ["a", "b"], ["up", "down"], "a")
    )
    title = drawing.reading("slope", [1, 2, 3], ["gentle", "even", "steep"])
    text = chart_json(drawing.Interactive(chart.properties(title=title)), "A line that turns.", "test")
    path.write_text(f"[{json.dumps({})},\n{text}]\n", encoding="utf-8")


def made_up_pages(folder):
    (folder / "figures").mkdir()
    png = folder / "figures/wide.png"
    with style():
        figure, axis = plt.subplots(figsize=(WIDTH, 3))
        axis.plot([0, 1])
        figure.savefig(png)
        figure.savefig(png.with_suffix(".pdf"))
        figure.savefig(png.with_suffix(".svg"))
        plt.close(figure)
    frames = [Image.new("RGB", (960, 480), (shade, 0, 0)) for shade in range(0, 240, 20)]
    webp = png.with_suffix(".webp")
    frames[0].save(webp, save_all=True, append_images=frames[1:], duration=40, loop=0, lossless=True)
    shown = Exhibit(
        "made_up", "wide", "A figure of $\\sigma_i$", WORDS, "A line that rises.", png, png.with_suffix(".pdf"),
        "src/learning_dynamics/judging.py#L1", "snakemake --cores all figures/made_up/wide.pdf",
    )  # fmt: skip
    shown.film = Film(webp, WORDS, "A line that grows.")
    made_up_chart(png.with_suffix(".json"))
    shown.interactive = Interactive(png.with_suffix(".json"), f"Move it.\n\n{WORDS}")
    claims = [made_up_claim(verdict.replace(" ", "_"), verdict, shown) for verdict in VERDICTS]
    loose = made_up_claim("loose", "reproduced", None)
    ours = made_up_claim("ours", "reproduced", shown, "ours")
    shown.claims, shown.observations = claims, [ours]
    topics = [Topic("made_up", "flow", "The flow", [shown]), Topic("made_up", "noise", "The noise", [], [loose])]
    chosen = [{"setting": "step", "value": [0.1] * 40, "origin": "chosen", "reason": "small", "name": "a_run, another"}]
    chosen[0]["varied"] = "varied: 1 of 2 verdicts stay"
    papers = [
        Paper(
            "made_up",
            "On made-up things",
            "Nobody",
            WORDS,
            WORDS,
            topics,
            [*claims, loose],
            [ours],
            chosen,
            shown,
            [
                {
                    "authors": ["Body, No"],
                    "title": "Things",
                    "year": 2,
                    "url": "https://arxiv.org/abs/1",
                    "place": "arXiv",
                }
            ],
        ),
        Paper(
            "second",
            "On others",
            "Nobody",
            WORDS,
            WORDS,
            [Topic("second", "flow", "The flow")],
            [],
            [],
            chosen,
            None,
            [],
        ),
        Paper("empty", "A paper without anything", "Nobody", "", "", [], [], [], [], None, []),
    ]
    record = {"commit": "0" * 40, "dirty": True, "python": "3", "versions": {}, "checked": 3, "stale": ["a file"]}
    record |= {"fingerprint": "0" * 20, "page": "1" * 20}
    for name, html in page.render(papers, folder / "figures", record).items():
        (folder / "figures" / name).write_text(html, encoding="utf-8")
    return folder / "figures"


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    return made_up_pages(tmp_path_factory.mktemp("page"))


def page_of(request, whose, name) -> Path:
    """Return a page among the made-up ones, or among those of all papers."""
    if whose == "made_up":
        return request.getfixturevalue("made_up") / f"{name}.html"
    (first,) = request.getfixturevalue("whole").folder.glob("figures/**/index.html")
    return first.with_name(f"{name}.html")


def of(*pages):
    return [pytest.param(page, id="-".join(page)) for page in pages]


FRONTS = of(("made_up", "index"), ("whole", "index"))
BUSY = of(("made_up", "made_up"), ("whole", "spectral_bias"))  # with figures, films and all kinds of claims
EVERY = [
    *FRONTS,
    *BUSY,
    *of(("made_up", "second"), *(("whole", paper) for paper in PAPERS if paper != "spectral_bias")),
]


@pytest.fixture(scope="module", params=EVERY)
def html(request) -> Path:
    return page_of(request, *request.param)


@pytest.fixture(scope="module", params=FRONTS)
def front(request) -> Path:
    return page_of(request, *request.param)


@pytest.fixture(scope="module", params=BUSY)
def busy(request) -> Path:
    return page_of(request, *request.param)


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium, html, width=1400, scheme="light", **options):
    """Return a page, and what it and the network complain about."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True, **options
    )
    context.set_default_timeout(300_000)  # milliseconds; a busy machine is slow to draw
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(html.as_uri())
    return page, complaints


@pytest.fixture(scope="module", params=[(width, scheme) for width in WIDTHS for scheme in SCHEMES], ids=str)
def unfolded(request, chromium, html):
    """The page at each width in each scheme, with all that can be unfolded unfolded."""
    page, complaints = opened(chromium, html, *request.param)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    yield page, complaints
    page.context.close()


@pytest.fixture(scope="module")
def wide(chromium, html):
    page, _ = opened(chromium, html)
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def table(chromium, front):
    page, _ = opened(chromium, front)
    page.locator("details.whole summary").click()
    yield page
    page.context.close()


# -- looks ------------------------------------------------------------------------------------------------------------


def test_it_opens_from_the_file_system_without_complaint(unfolded):
    assert unfolded[1] == []


def test_nothing_is_wider_than_the_window_or_cut_off(unfolded):
    page, _ = unfolded
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    beyond = page.evaluate("""() => [...document.querySelectorAll("body *")].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width && !one.closest(".skip, .hidden") && (box.right > innerWidth + 1 || box.left < -1);
      }).map((one) => one.outerHTML.slice(0, 120))""")
    assert beyond == []
    cut = page.evaluate("""() => [...document.querySelectorAll("body *:not(.hidden, .bar, input, select)")]
      .filter((one) => getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.outerHTML.slice(0, 120))""")
    assert cut == []


def test_text_does_not_lie_on_text(unfolded):
    page, _ = unfolded
    over = page.evaluate("""() => [...document.querySelectorAll(".claim, figure, tr, .finding > div, .otherwise > li")]
      .flatMap((one) => {
        const children = [...one.children].filter((child) => child.getBoundingClientRect().height);
        return children.slice(1).filter((child, place) => {
          const above = children[place].getBoundingClientRect(), box = child.getBoundingClientRect();
          return box.top < above.bottom - 1 && box.left < above.right - 1 && box.right > above.left + 1;
        });
      }).map((one) => one.outerHTML.slice(0, 120))""")
    assert over == []


def test_images_are_sharp(wide, html):
    sizes = wide.evaluate("""async () => Promise.all([...document.images].map(async (image) => {
        await image.decode();
        return [image.src.slice(0, 19), image.naturalWidth, image.getBoundingClientRect().width]; }))""")
    assert sizes or html.stem == "second"
    for kind, natural, shown in sizes:
        assert kind == "data:image/svg+xml," or natural >= 1.9 * shown


@pytest.mark.parametrize(("kind", "colours"), [("webp", 256), ("png", 256), ("png", 64), ("png", 32)])
def test_a_compressed_figure_keeps_the_colours_of_thin_lines_and_its_white(tmp_path, kind, colours):
    with style():
        figure, axis = plt.subplots(figsize=(WIDTH, 3))
        axis.imshow(np.linspace(0, 1, 900).reshape(30, 30), aspect="auto")
        for place, colour in enumerate(COLOURS.values()):
            axis.axhline(31 + place, color=colour, lw=1.2)
        axis.set(ylim=(0, 40), facecolor="white")
        figure.savefig(tmp_path / "figure.png")
        plt.close(figure)
    with Image.open(io.BytesIO(compress(tmp_path / "figure.png", kind, colours).data)) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=int).reshape(-1, 3)
    assert (pixels == 255).all(axis=1).any()
    for colour in COLOURS.values():
        wanted = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)])
        assert abs(pixels - wanted).max(axis=1).min() <= 40


def test_figures_are_made_to_fit(tmp_path):
    pngs = []
    for seed in range(2):
        pngs.append(tmp_path / f"{seed}.png")
        noise = np.random.default_rng(seed).integers(0, 255, (200, 300 + 200 * seed, 3), dtype=np.uint8)
        Image.fromarray(noise).save(pngs[-1], dpi=(220, 220))
    fine = sum(len(picture.data) for picture in compress_to_fit(pngs, 10**9).values())
    pictures = compress_to_fit(pngs, int(0.8 * fine))
    assert sum(len(picture.data) for picture in pictures.values()) <= 0.8 * fine
    assert [(picture.width, picture.height) for picture in pictures.values()] == [(151, 100), (251, 100)]


def drawn_as_svg(path):
    """Draw lines of an ink, a grey, a colour for any ground and one for a light one only, and text on a heat map."""
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3))
        for height, colour in enumerate(("#222222", "#8c8c8c", COLOURS["vermilion"], "#440154")):
            left.axhline(height, color=colour)
        right.pcolormesh(np.eye(3), cmap="cividis")
        right.text(0.5, 0.5, "0", color="white")
        right.text(1.5, 1.5, "1")
        prepare_for_svg(figure)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
    return path


def test_the_same_figure_gives_the_same_svg(tmp_path):
    first, second = (drawn_as_svg(tmp_path / f"{name}.svg") for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert read_vector(first).data == read_vector(second).data


def shown_in(chromium, picture, scheme, **media):
    """Return the pixels of a picture in a page."""
    context = chromium.new_context(color_scheme=scheme, offline=True)
    page = context.new_page()
    page.emulate_media(color_scheme=scheme, **media)
    page.set_content(
        "<style>:root { color-scheme: light dark; } @media print { :root { color-scheme: light; } }</style>"
        f'<img width="{picture.width}" height="{picture.height}" src="{picture.uri}">'
    )
    with Image.open(io.BytesIO(page.locator("img").screenshot())) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    context.close()
    return {"#" + bytes(pixel).hex() for pixel in np.unique(pixels, axis=0)}


def test_a_vector_is_light_by_day_and_dark_by_night(tmp_path, chromium):
    svg = drawn_as_svg(tmp_path / "figure.svg")
    light, dark = (shown_in(chromium, read_vector(svg), scheme) for scheme in ("light", "dark"))
    for pixels in (light, shown_in(chromium, read_vector(svg), "dark", media="print")):
        assert {"#ffffff", "#000000", "#222222", "#440154"} <= pixels
        assert not {GROUND, INK} & pixels
    assert {GROUND, INK, COLOURS["vermilion"].lower(), "#ffffff", "#000000"} <= dark
    assert not {"#222222", "#440154"} & dark
    assert "@media screen and (prefers-color-scheme:dark)" in read_vector(svg).data.decode()
    assert f"--ink: {INK}" in CSS
    assert f"--ground: {GROUND}" in CSS


def test_small_figures_are_vectors_as_far_as_there_is_room(tmp_path):
    pngs = [tmp_path / f"{name}.png" for name in ("small", "larger", "large")]
    for png, points in zip(pngs, (2, 1000, 5000), strict=True):
        with style():
            figure, axis = plt.subplots(figsize=(WIDTH, 3))
            axis.plot(np.random.default_rng(1).normal(size=points), ".")
            for path in (png, png.with_suffix(".svg")):
                figure.savefig(path)
            plt.close(figure)
    vectors = {png: found for png in pngs if (found := read_vector(png.with_suffix(".svg")))}
    assert list(vectors) == pngs[:2]

    def kinds(most):
        return [picture.kind for picture in compress_to_fit(pngs, most, "webp", vectors).values()]

    everything = sum(len(picture.data) for picture in compress_to_fit(pngs, 10**9, "webp", vectors).values())
    assert kinds(everything) == ["svg+xml", "svg+xml", "webp"]
    assert kinds(everything - 1) == ["svg+xml", "webp", "webp"]
    assert kinds(0) == ["webp", "webp", "webp"]


def test_formulas_are_set(wide):
    assert "$" not in wide.locator("main").inner_text()
    commands = wide.eval_on_selector_all(
        "math", r"all => all.map((one) => one.textContent).filter((t) => /\\/.test(t))"
    )
    assert commands == []
    assert wide.locator("math").count() > 0


def test_paper_shows_how_claims_were_judged(chromium, busy):
    page, _ = opened(chromium, busy, 794)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.judged").count() > 0
    assert page.locator("details.judged:not([open])").count() == 0
    assert not page.locator("nav").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_takes_few_sheets(request, chromium, paper):
    page, _ = opened(chromium, page_of(request, "whole", paper))
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) < SHEETS
    page.context.close()


def test_they_are_small_enough_to_send(front):
    assert sum(page.stat().st_size for page in front.parent.glob("*.html")) < LARGEST


# -- what it says -----------------------------------------------------------------------------------------------------


def test_every_claim_is_there_with_its_verdict(chromium, table, front):
    rows = table.locator("table.claims tbody tr")
    named = table.eval_on_selector_all("table.claims tbody th a", "links => links.map((a) => a.getAttribute('href'))")
    shown = dict(zip(named, rows.evaluate_all("rows => rows.map((row) => row.dataset.verdict)"), strict=True))
    for file in {link.partition("#")[0] for link in shown}:
        page, _ = opened(chromium, front.with_name(file))
        for link, verdict in shown.items():
            if link.startswith(f"{file}#"):
                card = page.locator(f'article[id="{link.partition("#")[2]}"]')
                assert card.count() == 1
                assert verdict in card.locator("header .chip").first.inner_text()
        page.context.close()
    (folder,) = (parent for parent in front.parents if parent.name == "figures")
    claims = folder.parent / "results" / front.parent.relative_to(folder) / "claims.parquet"
    if claims.exists():
        found = pd.read_parquet(claims)
        assert {link.partition("#")[2]: verdict for link, verdict in shown.items()} == dict(
            zip(found["claim"], found["verdict"], strict=True)
        )


def test_observations_of_ours_are_not_in_the_tally(wide, html):
    counted = "article.claim.paper" if html.stem != "index" else "table.claims tbody tr:not(:has(th small))"
    tally = sum(int(text.split()[0]) for text in wide.locator(".top .tally .chip").all_inner_texts())
    assert tally == wide.locator(counted).count()


def test_a_verdict_in_a_tally_leads_to_its_claims(chromium, front):
    page, _ = opened(chromium, front)
    chip = page.locator(".top .tally a").first
    count, verdict = chip.inner_text().split(maxsplit=1)
    chip.click()
    page.wait_for_function("document.querySelector('select[name=verdict]').value !== ''")
    rows = page.locator("table.claims tbody tr:not([hidden])")
    assert set(rows.evaluate_all("rows => rows.map((row) => row.dataset.verdict)")) == {verdict}
    assert rows.count() >= int(count)
    page.context.close()


@pytest.mark.parametrize(
    ("map_", "about"),
    [
        ("- ``flow``: the limit,\n  Theorem 1\n- ``noise``: else", "the limit, Theorem 1"),
        ("| section | topic |\n|---|---|\n| 3, figure 2 | `flow` |\n| 4 | `noise` |", "section: 3, figure 2"),
        ("=====  =====\n`flow`  the limit\n=====  =====", "the limit"),
        ("the flow is said of nothing", ""),
    ],
)
def test_a_topic_says_what_the_papers_map_says_of_it(monkeypatch, map_, about):
    monkeypatch.setattr(source_links, "_docstring", lambda *package: f"Title.\n\n{map_}\n\nShared: ``flow``.")
    assert source_links.topic_about("a_paper", "flow") == about


def test_links_lead_somewhere(wide, html):
    links = set(wide.eval_on_selector_all("a[href]", "links => links.map((link) => link.getAttribute('href'))"))
    for link in links:
        if link.startswith("https://"):  # to the papers themselves
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


@pytest.mark.parametrize(("motion", "first", "then"), [("no-preference", "Stop", "Play"), ("reduce", "Play", "Stop")])
def test_what_moves_rests_for_who_prefers_it_and_at_a_press(chromium, busy, motion, first, then):
    page, _ = opened(chromium, busy, reduced_motion=motion)
    films = page.locator(".film")
    assert films.count() > 0
    for film in films.all():
        button = film.get_by_role("button")
        for label in (first, then):
            assert button.inner_text() == label
            assert (frames_of(film) > 10) == (label == "Stop")
            button.press("Enter")
    page.context.close()


def test_on_paper_and_without_scripts_what_moves_rests(chromium, busy):
    page, _ = opened(chromium, busy, java_script_enabled=False)
    assert page.locator(".film source").first.get_attribute("media") == "print, (prefers-reduced-motion: reduce)"
    assert page.locator(".film button").count() == 0
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
    page, complaints = opened(chromium, front)
    rows = page.locator("table.claims tbody tr:not([hidden])")
    claim = page.locator("table.claims tbody tr").nth(1).get_attribute("data-claim")
    page.locator("details.whole summary").press("Enter")
    page.fill("input[name=text]", claim)
    assert claim in rows.evaluate_all("rows => rows.map((row) => row.dataset.claim)")
    assert page.url.endswith(f"#claims?text={claim}")
    again, _ = opened(chromium, front)
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


def test_the_contents_mark_what_is_read(chromium, busy):
    page, _ = opened(chromium, busy)
    page.evaluate("document.querySelector('article.claim').scrollIntoView()")
    page.wait_for_selector("nav a[aria-current]")
    assert page.locator("nav a[aria-current]").count() == 1
    page.context.close()


def test_the_contents_take_the_keyboard_along(chromium, front):
    page, _ = opened(chromium, front)
    page.get_by_role("navigation").get_by_role("link", name="All claims").press("Enter")
    page.wait_for_selector("nav a[aria-current][href='#claims']")
    page.keyboard.press("Tab")  # to what unfolds the table, which the link has unfolded
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "paper"
    page.context.close()


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


def test_it_is_readable_without_its_script(chromium, front):
    page, complaints = opened(chromium, front, java_script_enabled=False)
    assert complaints == []
    page.locator("details.whole summary").click()
    assert not page.locator("#filter").is_visible()
    assert page.locator("table.claims tbody tr").last.is_visible()
    page.context.close()


# -- accessibility: the main rules of WCAG 2.2 AA, by hand ------------------------------------------------------------


def test_ids_are_unique_and_references_lead_to_them(wide):
    ids = wide.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    labelled = wide.eval_on_selector_all(
        "[aria-labelledby]", "all => all.map((one) => one.getAttribute('aria-labelledby'))"
    )
    assert set(labelled) <= set(ids)


def test_headings_descend_one_level_at_a_time(wide):
    levels = wide.eval_on_selector_all("h1, h2, h3, h4, h5, h6", "all => all.map((one) => +one.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))


def test_everything_has_a_name(wide):
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
    assert wide.evaluate("[...document.querySelectorAll('[tabindex]')].every((one) => one.tabIndex <= 0)")


def test_landmarks_are_told_apart_by_their_names(wide):
    names = wide.evaluate("""() => [...document.querySelectorAll("section, nav, aside, [role=search], [role=region]")]
        .map((one) => one.ariaLabel ?? document.getElementById(one.getAttribute("aria-labelledby"))?.textContent)
        .filter(Boolean)""")
    assert len(names) == len(set(names))


def test_the_keyboard_reaches_the_article_first(chromium, html):
    page, _ = opened(chromium, html)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.context.close()


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


def test_contrast_is_enough(unfolded):
    assert unfolded[0].evaluate(CONTRAST) == []


# -- what the reader moves --------------------------------------------------------------------------------------------

MOVABLE = of(("made_up", "made_up"), *(("whole", paper) for paper in PAPERS))


@pytest.fixture(scope="module", params=MOVABLE)
def movable(request) -> Path:
    return page_of(request, *request.param)


def drawn(chart):
    """Return what a chart shows: its title, and the shapes of its lines and dots."""
    return chart.locator("svg").evaluate("""(svg) => [svg.querySelector(".role-title-text text").textContent,
        ...[...svg.querySelectorAll(".mark-line path, .mark-symbol path")].map(
          (path) => path.getAttribute("d") + path.getAttribute("transform"))]""")


def within(page, holds, milliseconds: int = 10_000) -> None:
    """Wait until a page is as asked: a slow machine draws later, not otherwise."""
    for _ in range(milliseconds // 50):
        if holds():
            return
        page.wait_for_timeout(50)
    assert holds()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_arrow_keys_move_the_curves_and_its_title_says_so(chromium, movable, motion):
    page, complaints = opened(chromium, movable, reduced_motion=motion)
    chart = page.locator(".chart")
    assert chart.count() == 1
    slider = chart.locator("input[type=range]")
    before = drawn(chart)
    slider.press("ArrowLeft")
    within(page, lambda: drawn(chart)[0] != before[0] and drawn(chart)[1:] != before[1:])
    after = drawn(chart)
    within(page, lambda: slider.get_attribute("aria-valuetext") == after[0])
    page.wait_for_timeout(300)
    assert drawn(chart) == after  # nothing moves by itself
    slider.press("ArrowRight")
    within(page, lambda: drawn(chart) == before)
    assert chart.locator("svg").get_attribute("aria-label") or chart.locator("[aria-label]").count()
    assert complaints == []
    page.context.close()


def test_without_scripts_and_on_paper_its_figure_stands_alone(chromium, movable):
    page, _ = opened(chromium, movable, java_script_enabled=False)
    assert not page.locator(".interactive").is_visible()
    page.context.close()
    page, _ = opened(chromium, movable)
    page.locator(".interactive").wait_for(state="visible")
    page.emulate_media(media="print")
    assert not page.locator(".interactive").is_visible()
    page.context.close()


def test_a_chart_follows_the_window(chromium, movable):
    page, _ = opened(chromium, movable)
    wide = page.locator(".chart svg").bounding_box()["width"]
    page.set_viewport_size({"width": 390, "height": 900})
    within(page, lambda: page.locator(".chart svg").bounding_box()["width"] < min(wide, 390))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()
