"""The page, in a real headless Chromium."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to open the page in")


@pytest.fixture(scope="module")
def opened(whole):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
        context.set_default_timeout(300_000)  # milliseconds; a busy machine is slow to draw
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.goto((whole.folder / "figures/index.html").as_uri())
        yield page, complaints
        browser.close()


def test_it_opens_from_the_file_system_without_complaint(opened):
    _page, complaints = opened
    assert complaints == []


def test_every_image_is_decoded_and_large(opened, whole):
    page, _ = opened
    sizes = page.evaluate("""async () => Promise.all([...document.images].map(async image => {
        await image.decode(); return [image.naturalWidth, image.getBoundingClientRect().width]; }))""")
    assert len(sizes) == len(list(whole.folder.glob("figures/*/*.png")))
    for natural, shown in sizes:
        assert natural >= 900
        assert shown >= 700


def test_the_claims_are_there_with_their_verdicts(opened, whole):
    page, _ = opened
    claims = pd.read_parquet(whole.folder / "results/claims.parquet")
    rows = page.locator("table.claims tbody tr:not(.paper)")
    assert rows.count() == len(claims)
    assert [text.strip() for text in rows.locator("td:last-child .verdict:first-child").all_inner_texts()] == list(
        claims["verdict"]
    )
    for claim in claims["claim"]:
        assert page.locator(f'article[id="{claim}"]').count() == 1


def test_links_to_data_and_figures_lead_somewhere(opened, whole):
    page, _ = opened
    links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    files = {link for link in links if not link.startswith("#")}
    assert files
    for link in files:
        assert (whole.folder / "figures" / link).is_file(), link
    for link in set(links) - files:
        assert page.locator(f'[id="{link[1:]}"]').count() == 1, link


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    page, _ = opened
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
