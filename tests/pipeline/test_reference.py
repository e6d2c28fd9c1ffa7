"""The reference, a site that mkdocs builds from source: settings and columns of every kind of run, nothing remote."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from tests.support import PAPERS, ROOT, plan


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def kinds_of_run(paper: str) -> set[str]:
    """Return the functions of a paper's runs, as `flow.two_layer`."""
    config = plan(papers=[paper]).config
    return {config.resolved_block(paper, "runs", run)["function"] for run in config.blocks(paper, "runs")}


def settings_and_columns(paper: str, kind: str) -> list[str]:
    """Return the settings of a kind of run, those of its metrics, and the columns of the metrics' table."""
    simulate, measure = paper_function(paper, "runs", kind), paper_function(paper, "metrics", kind)
    settings = [inspect.getfullargspec(inspect.unwrap(function)).kwonlyargs for function in (simulate, measure)]
    return [*settings[0], *settings[1], *(column.name for column in measure.columns)]


def sections_of(page: Path) -> dict[str, str]:
    """Return the HTML below each heading of a page's kinds of run, by the heading's id."""
    _, *ids_and_texts = re.split(r'<h3 id="([^"]+)"', page.read_text(encoding="utf-8"))
    return dict(zip(ids_and_texts[::2], ids_and_texts[1::2], strict=True))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_kind_of_run_has_a_row_for_each_setting_and_column(site, paper):
    sections = sections_of(site / f"settings/{paper}.html")
    for kind in kinds_of_run(paper):
        rows = re.findall(r"<tr><td><code>(\w+)</code>", sections[kind])
        assert rows == settings_and_columns(paper, kind), kind


@pytest.mark.parametrize("paper", PAPERS)
def test_no_cell_is_empty_of_the_tables_of_a_kind_of_run(site, paper):
    # each setting says where its value comes from, each column what it means
    sections = sections_of(site / f"settings/{paper}.html")
    for kind in kinds_of_run(paper):
        assert "<td></td>" not in sections[kind], kind


def test_no_page_loads_anything_from_the_network(site):
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)\b[^>]*https?://|@import|url\(.?https?:", text), file.name


def test_formulas_are_mathml_and_no_dollar_or_command_of_latex_is_left(site):
    assert "<msubsup>" in (site / "which_paper_says_what.html").read_text(encoding="utf-8")
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert "$" not in prose, file.name
        assert not re.search(r"<mi>\\", text), file.name  # a command that MathML does not know


def test_the_library_and_every_paper_are_in_the_navigation(site):
    links = re.findall(r'href="(\w+/\w+)\.html"', (site / "index.html").read_text(encoding="utf-8"))
    assert {f"settings/{paper}" for paper in PAPERS} <= set(links)
    assert {f"library/{name}" for name in ("notebook", "dynamics", "measures", "datasets", "tidy")} <= set(links)
