"""The errata: their counterexamples hold, corrected claims and no others have one, and docstrings cite them."""

import ast
import inspect
import re

import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.plan.config_files import load
from tests.support import ROOT

FILES = sorted((ROOT / "docs/errata").glob("*.md"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_counterexamples_hold(file):
    for number, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", file.read_text(encoding="utf-8")), 1):
        assert "assert" in block, f"block {number} asserts nothing"
        exec(compile(block, f"{file.name}, block {number}", "exec"), {})


def test_every_corrected_claim_has_an_erratum_and_no_other():
    corrected = []
    for paper, configuration in load().papers.items():
        for name, block in configuration["claims"].items():
            origin = paper_function(paper, "claims", block["function"]).claim.origin
            if block.get("expected") == "corrected" and origin != "ours":  # our own sentences are in no letter
                corrected.append(f"{paper}.{name}")
    with_erratum = []
    for file in FILES:
        for line in re.findall(r"(?m)^Claims?: .*$", file.read_text(encoding="utf-8")):
            # [paper.claim](../results/paper.md#paper.claim)
            with_erratum += re.findall(r"\[([a-z_]+\.[a-z0-9_]+)\]\(\.\./results/\w+\.md#\1\)", line)
    assert sorted(with_erratum) == sorted(corrected)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_letter_says_how_many_statements_it_lists_and_numbers_them(file):
    text = file.read_text(encoding="utf-8")
    opening, *_ = text.partition("\n## ")
    numbers = [int(number) for number in re.findall(r"(?m)^## (\d+)\. ", text)]
    assert numbers
    assert re.search(rf"\b{len(numbers)} statements?\b", opening)
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_docstring_that_mentions_a_misprint_cites_a_statement_of_the_letter(file):
    """A docstring on a misprint, or on what holds "as printed", says for example (errata 7), and 7 is in the letter."""
    listed = len(re.findall(r"(?m)^## \d+\. ", file.read_text(encoding="utf-8")))
    for module in sorted((ROOT / "src/learning_dynamics/papers" / file.stem).rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                continue
            docstring = inspect.cleandoc(ast.get_docstring(node) or "")
            cited = [int(number) for number in re.findall(r"\berrata (\d+)", docstring)]
            where = f"{module.relative_to(ROOT)}, {getattr(node, 'name', 'module')}"
            mentions_a_misprint = re.search(r"misprint|as printed|is printed|a slip\b|erratum", docstring)
            assert cited or not mentions_a_misprint, where
            assert all(1 <= number <= listed for number in cited), where


def test_pages_of_the_documentation_that_modules_of_papers_name_exist():
    for module in sorted((ROOT / "src/learning_dynamics/papers").rglob("*.py")):
        for page in re.findall(r"\((docs/\w+\.md)\)", module.read_text(encoding="utf-8")):
            assert (ROOT / page).is_file(), f"{module.relative_to(ROOT)}: {page}"
