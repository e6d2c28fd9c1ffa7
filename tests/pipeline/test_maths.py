"""Formulas as MathML, as text, as reStructuredText; every formula that the project shows is understood."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from docutils.core import publish_doctree
from docutils.nodes import Text, paragraph, system_message

from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.study.sources import SOURCE_ROOT
from tests.support import ROOT

SHOWN = sorted((SOURCE_ROOT / "learning_dynamics/papers").glob("*/*/claims.py"))
SHOWN += sorted((SOURCE_ROOT / "learning_dynamics/papers").glob("*/*/__init__.py"))


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\sigma_1(W) \le 10^{-3}", "σ₁(W) ≤ 10⁻³"),
        (r"\|x\|_2", "‖x‖₂"),
        (r"\ell_{2/L}", "ℓ_(2/L)"),
        (r"\mathcal{L}_{\mathrm{NC1}}", "ℒ_NC1"),
        (r"W^\top W", "WᵀW"),
        (r"\frac{d\sigma}{dt}", "dσ/dt"),
        (r"\dot\sigma_i / \sigma_i", "σ̇ᵢ/σᵢ"),
        (r"\hat W", "Ŵ"),
        (r"\cos\theta_{ij} \to -1/(C-1)", "cos θᵢⱼ → −1/(C−1)"),
        (r"\sqrt{2\gamma}", "√(2γ)"),
        (r"\begin{pmatrix}a & b\\ c & d\end{pmatrix}", "(a, b; c, d)"),
        (r"\operatorname{rank} W", "rank W"),
    ],
)
def test_a_formula_is_readable_without_being_set(latex, text):
    assert maths.to_text(latex) == text


def test_names_of_functions_are_words_and_minus_belongs_to_its_number():
    assert "<mi>Tr</mi>" in maths.to_mathml(r"\mathrm{Tr}(W)")
    assert '<mo form="prefix" lspace="0" rspace="0">−</mo>' in maths.to_mathml(r"e^{-\lambda t}")
    assert "prefix" not in maths.to_mathml(r"a - b")
    assert '<mi>ln</mi><mspace width="0.17em"></mspace><mi>t</mi>' in maths.to_mathml(r"\ln t")


def test_long_formulas_may_break_after_a_relation():
    assert maths.to_mathml(r"\sigma_1(W) \ge \dots \ge \sigma_d(W) \ge 0").count("<wbr>") == 3
    assert "<wbr>" not in maths.to_mathml("x = y")


def test_prose_is_escaped_and_its_signs_are_set():
    assert maths.html("<b> a <= 1e-05 `x<y`") == "&lt;b&gt; a ≤ 10<sup>−5</sup> <code>x&lt;y</code>"
    assert maths.html("see $x$.") == 'see <span class="line"><math><mi>x</mi></math>.</span>'
    assert maths.plain("at least -0.5, up to 3.2e+12") == "at least −0.5, up to 3.2·10¹²"


def test_what_is_not_understood_is_told_and_shown_as_written():
    assert maths.unknown_commands(r"$\foo x$ and $\left( a$") == [r"\foo", r"$\left( a$"]
    assert maths.to_mathml(r"\left( a") == r"<code>\left( a</code>"
    assert maths.to_text(r"\left( a") == r"\left( a"


def test_no_character_is_markup_in_a_caption_of_snakemakes_report():
    text = r"Rates $|\dot\sigma_i|$ of |e|, a_b_ *c* `d` <e>_ \f." + "\n\nSecond."
    tree = publish_doctree(maths.rst(text), settings_overrides={"report_level": 1, "warning_stream": False})
    assert not list(tree.findall(system_message))
    assert [one.astext() for one in tree.findall(paragraph)] == [maths.plain(text[: text.index("\n")]), "Second."]
    assert all(isinstance(child, Text) for one in tree.findall(paragraph) for child in one.children)


def strings(node: Any) -> Iterator[str]:
    """Yield every text of a syntax tree that is not a piece of a formatted one, or of a YAML document."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from strings(child)
    elif isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from strings(child)


@pytest.mark.parametrize("file", SHOWN, ids=lambda file: "/".join(file.parts[-3:]))
def test_every_formula_of_claims_is_understood(file: Path):
    unknown = [one for text in strings(ast.parse(file.read_text())) for one in maths.unknown_commands(text)]
    assert unknown == []


@pytest.mark.parametrize("file", sorted((ROOT / "workflow/config").glob("**/*.yaml")), ids=lambda file: file.stem)
def test_every_formula_of_the_configuration_is_understood(file: Path):
    unknown = [one for text in strings(yaml.safe_load(file.read_text())) for one in maths.unknown_commands(text)]
    assert unknown == []


@pytest.mark.parametrize(
    "file",
    sorted((SOURCE_ROOT / "learning_dynamics/papers").glob("*/*/figures.py")),
    ids=lambda file: "/".join(file.parts[-3:]),
)
def test_every_formula_of_captions_is_understood(file: Path):
    tree = ast.parse(file.read_text())
    captions = [ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [one for text in captions for one in maths.unknown_commands(text)] == []


def test_a_line_does_not_begin_with_a_per_cent_sign():
    assert maths.html("a 95 % interval") == "a 95\N{NO-BREAK SPACE}% interval"
