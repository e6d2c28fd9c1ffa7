"""Formulas as MathML and as text; every formula that the project shows is understood."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import yaml

from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.templates import MATHS
from tests.support import ROOT


def test_a_formula_is_readable_as_text():
    for latex, text in (
        (r"\|x\|_2 \le 10^{-3}", "‖x‖₂ ≤ 10⁻³"),
        (r"\mathcal{L}_{\mathrm{NC1}} + \ell_{2/L}", "ℒ_NC1+ℓ_(2/L)"),
        (r"\hat W^\top W", "ŴᵀW"),
        (r"\frac{1 - (d-1)}{x + 1} \dot\sigma_i", "(1−(d−1))/(x+1)σ̇ᵢ"),
        (r"t\log t + \cos\theta_{ij} \to -1/(C-1)", "t log t+cos θᵢⱼ → −1/(C−1)"),
        (r"\sqrt{2\gamma} \operatorname{rank} W", "√(2γ) rank W"),
        (r"\begin{pmatrix}a & b\\ c & d\end{pmatrix}", "(a, b; c, d)"),
        (r"\left( a", r"\left( a"),
    ):
        assert maths.to_text(latex) == text


def test_mathml_has_the_spaces_that_browsers_do_not_know():
    assert '<mtext>ln</mtext><mspace width="0.167em"></mspace><mi>t</mi>' in maths.to_mathml(r"\ln t")
    assert '<mo form="prefix">−</mo><mn>1</mn>' in maths.to_mathml("x = -1")
    assert "prefix" not in maths.to_mathml(r"(a) - |b| - c")
    assert maths.to_mathml("|a|").count('stretchy="false" lspace="0" rspace="0"') == 2
    assert maths.to_mathml(r"\left( a") == r"<code>\left( a</code>"

    # long formulas may break after a relation
    assert maths.to_mathml(r"\sigma_1(W) \ge \dots \ge \sigma_d(W) \ge 0").count("<wbr>") == 3
    assert "<wbr>" not in maths.to_mathml("x = y")


def test_prose_is_escaped_and_its_signs_are_set():
    assert maths.html("<b> a <= 1e-05 `x<y`") == "&lt;b&gt; a ≤ 10<sup>−5</sup> <code>x&lt;y</code>"
    assert maths.html("see $x$.") == 'see <span class="line"><math><mi>x</mi></math>.</span>'
    assert maths.plain("`code`: at least -0.5, up to 3.2e+12") == "code: at least −0.5, up to 3.2·10¹²"


def texts(node: Any) -> Iterator[str]:
    """Yield every text of a syntax tree that is not a piece of a formatted one, or of a YAML document."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)
    elif isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from texts(child)


def formulas_of(kind: str) -> Iterator[str]:
    if kind == "papers":
        files = (SOURCE_ROOT / "learning_dynamics/papers").rglob("*.py")
        shown = [file for file in files if file.stem in ("__init__", "claims", "figures", "interactive")]
        parts = [text for file in shown for text in texts(ast.parse(file.read_text(encoding="utf-8")))]
    elif kind == "configuration":
        files = (ROOT / "workflow/config").rglob("*.yaml")
        parts = [text for file in files for text in texts(yaml.safe_load(file.read_text(encoding="utf-8")))]
    else:
        guides = [file.read_text(encoding="utf-8") for file in (ROOT / "docs").glob("*.md")]
        as_code = [re.sub(r"\$`([^`]+)`\$", r"$\1$", re.sub("(?s)```.*?```", "", guide)) for guide in guides]
        parts = [re.sub(r"`[^`$]+`", "", guide.replace("$$", "$")) for guide in as_code]
    return (formula[1:-1] for part in parts for formula in MATHS.findall(part))


def test_every_formula_is_understood():
    for kind in ("papers", "configuration", "guides"):
        formulas = set(formulas_of(kind))
        assert len(formulas) > 20
        assert [one for one in formulas if "\\" in maths.to_text(one) or "<code>" in maths.to_mathml(one)] == []
