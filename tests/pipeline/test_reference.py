"""The reference lists what there is to set and to measure, understands every formula, and needs no network."""

import ast
import functools
import importlib.util
import re
import subprocess
import sys

import pytest

from learning_dynamics import settings as setting_types
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.reference import pages as reference
from learning_dynamics.pipeline.reference.settings import TYPES
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.study import quantities
from learning_dynamics.pipeline.study.signatures import signature_of
from learning_dynamics.pipeline.study.sources import SOURCE_ROOT, definitions, topics
from tests.support import PAPERS, ROOT, project

GUIDES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@functools.cache
def pages() -> dict[str, str]:
    return reference.pages(project().study)


def sections(paper: str) -> dict[str, str]:
    """Return the sections of a paper's page by their anchors."""
    _, *parts = re.split(r"^### \S+ \{#(\S+) .*\}$", pages()[f"settings/{paper}.md"], flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def kinds(paper: str) -> list[str]:
    found = []
    for topic in topics(paper):
        found += [f"{topic}.{name}" for name in definitions(f"learning_dynamics.papers.{paper}.{topic}.runs")]
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_kind_of_run_has_its_settings_and_its_columns(paper):
    assert kinds(paper)
    for kind in kinds(paper):
        section = sections(paper)[kind]
        first_cells = re.findall(r"<tr><td><code>([\w*-]+)</code>", section)
        of_run, of_measuring = (list(signature_of(stage, paper, kind, kind).types) for stage in ("run", "metrics"))
        columns = [column.name for column in paper_function(paper, "metrics", kind).columns]
        measured = list(quantities.declared_quantities(paper, kind))
        assert first_cells == of_run + of_measuring + measured + columns, kind


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_says_what_it_takes_and_where_it_comes_from(paper):
    rows = re.findall(
        r"<tr><td><code>(\w+)</code></td><td><code>.+?</code></td><td>(.+?)</td><td>(.*?)</td>",
        pages()[f"settings/{paper}.md"],
    )
    assert rows
    for name, meaning, origin in rows:
        assert len(meaning) > 5, name
        words = r"stated|code|inferred|chosen: \S|the default|the configuration's <code>seed"
        assert re.match(rf'{words}|<a href="#\w+">setting by setting', origin)


@pytest.mark.parametrize("paper", PAPERS)
def test_formulas_are_set_and_links_lead_somewhere(paper):
    page = pages()[f"settings/{paper}.md"]
    assert "<math>" in page
    assert not re.findall(r"\$|\\[A-Za-z]+", page)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r"\{#(\S+?)[ }]", page))


def test_values_that_come_from_several_places_name_their_runs():
    assert re.search(
        r"<code>gamma</code></td>.*stated \(.*small_scale.*\)<br>chosen: .+\(", pages()["settings/spectral_bias.md"]
    )


def test_what_a_docstring_refers_to_stands_on_the_page():
    assert "ensembles are judged" in sections("spectral_bias")["noise.observables.on_each_path"]
    assert '<a href="#noise.observables.on_each_path">' in sections("spectral_bias")["noise.noise_process"]


def test_every_type_has_its_words():
    assert set(setting_types.__all__) - set(TYPES) == {"Real"}  # which is `float`


def test_every_formula_of_the_library_is_understood():
    folder, documented = SOURCE_ROOT / "learning_dynamics", (ast.Module, ast.ClassDef, ast.FunctionDef)
    files = [
        file for name in reference.public_modules() for file in (folder / f"{name}.py", *(folder / name).glob("*.py"))
    ]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    texts = [ast.get_docstring(node) for tree in trees for node in ast.walk(tree) if isinstance(node, documented)]
    assert len(texts) > 100
    assert [one for text in texts for one in maths.unknown_commands(text or "")] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_every_formula_of_the_guides_is_understood(guide):
    prose = re.sub(r"```.*?```|`[^`]+`", "", (ROOT / "docs" / guide).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert maths.unknown_commands(prose.replace("$$", "$")) == []


def test_every_page_is_in_the_navigation():
    def listed(node) -> list[str]:
        children = node.values() if isinstance(node, dict) else node
        return [node] if isinstance(node, str) else [one for child in children for one in listed(child)]

    named = listed(reference.navigation(project().study, GUIDES))
    assert sorted(named) == sorted([*pages(), *GUIDES])
    assert {"dynamics", "measures", "datasets", "plotting", "tidy", "judging"} <= set(reference.public_modules())


@pytest.mark.skipif(not importlib.util.find_spec("mkdocs"), reason="MkDocs is not installed: make docs installs it")
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    for file in [*tmp_path.rglob("*.html"), *tmp_path.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|link|img|iframe)\b[^>]*https?://|@import|url\(.?https?:", text), file.name
        prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert file.suffix == ".css" or "$" not in prose, file.name
    assert "<msubsup>" in (tmp_path / "which_paper_says_what.html").read_text(encoding="utf-8")
