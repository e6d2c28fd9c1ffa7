"""The reference is built from source: every kind of run with its settings and columns, and nothing from elsewhere."""

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
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_kind_of_run_has_its_settings_and_its_columns(site):
    config = plan().config
    for paper in PAPERS:
        _, *parts = re.split(r'<h3 id="([^"]+)"', (site / f"settings/{paper}.html").read_text(encoding="utf-8"))
        sections = dict(zip(parts[::2], parts[1::2], strict=True))
        for kind in {config.resolved_block(paper, "runs", name)["function"] for name in config.blocks(paper, "runs")}:
            functions = [paper_function(paper, part, kind) for part in ("runs", "metrics")]
            named = [inspect.getfullargspec(inspect.unwrap(function)).kwonlyargs for function in functions]
            names = [*named[0], *named[1], *(column.name for column in functions[1].columns)]
            assert re.findall(r"<tr><td><code>(\w+)</code>", sections[kind]) == names, kind
            assert not re.search(r"<td></td>", sections[kind]), kind  # each says where its value comes from


def test_it_needs_no_network_and_its_formulas_are_set(site):
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)\b[^>]*https?://|@import|url\(.?https?:", text), file.name
        prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert file.suffix == ".css" or "$" not in prose, file.name
        assert not re.search(r"<mi>\\", text), file.name
    assert "<msubsup>" in (site / "which_paper_says_what.html").read_text(encoding="utf-8")


def test_the_library_and_every_paper_are_in_the_navigation(site):
    links = re.findall(r'href="(\w+/\w+)\.html"', (site / "index.html").read_text(encoding="utf-8"))
    assert {f"settings/{paper}" for paper in PAPERS} <= set(links)
    assert {f"library/{name}" for name in ("notebook", "dynamics", "measures", "datasets", "tidy")} <= set(links)
