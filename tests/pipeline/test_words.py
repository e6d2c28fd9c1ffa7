"""What is read: formulas, prose with fields, references, and what a page in Markdown says of a claim."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import yaml

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT
from learning_dynamics.pipeline.report import contents, markdown, maths
from learning_dynamics.pipeline.report.contents import Paper, Topic
from learning_dynamics.pipeline.report.references import bibtex, link_name
from learning_dynamics.pipeline.report.templates import MATHS, fields, fill
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES
from tests.pipeline.conftest import refusal
from tests.support import PAPERS, ROOT, plan


def test_a_formula_is_readable_as_text_and_spaced_in_mathml():
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
        assert maths.to_text(latex) == text, latex
    # what browsers do not know of themselves
    assert '<mtext>ln</mtext><mspace width="0.167em"></mspace><mi>t</mi>' in maths.to_mathml(r"\ln t")
    assert '<mo form="prefix">−</mo><mn>1</mn>' in maths.to_mathml("x = -1")
    assert "prefix" not in maths.to_mathml(r"(a) - |b| - c")
    assert maths.to_mathml("|a|").count('stretchy="false" lspace="0" rspace="0"') == 2
    assert maths.to_mathml(r"\left( a") == r"<code>\left( a</code>"
    # long formulas may break after a relation
    assert maths.to_mathml(r"\sigma_1(W) \ge \dots \ge \sigma_d(W) \ge 0").count("<wbr>") == 3
    assert "<wbr>" not in maths.to_mathml("x = y")


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


def shown() -> dict[str, list[str]]:
    """Return the texts that the project shows, by where they stand."""
    parts = [
        file
        for file in find_files(SOURCE_ROOT / "learning_dynamics/papers", "**/*.py")
        if file.stem in ("__init__", "claims", "figures", "interactive")
    ]
    guides = [re.sub("(?s)```.*?```", "", file.read_text("utf-8")) for file in (ROOT / "docs").glob("*.md")]
    as_formulas = [re.sub(r"\$`([^`]+)`\$", r"$\1$", guide).replace("$$", "$") for guide in guides]
    return {
        "papers": [text for file in parts for text in texts(ast.parse(file.read_text("utf-8")))],
        "configuration": [
            text
            for file in find_files(ROOT / "workflow/config", "**/*.yaml")
            for text in texts(yaml.safe_load(file.read_text("utf-8")))
        ],
        "guides": [re.sub(r"`[^`$]+`", "", guide) for guide in as_formulas],
    }


def test_every_formula_is_understood():
    for whose, parts in shown().items():
        formulas = {formula[1:-1] for part in parts for formula in MATHS.findall(part)}
        assert len(formulas) > 20, whose
        assert [one for one in formulas if "\\" in maths.to_text(one) or "<code>" in maths.to_mathml(one)] == [], whose


def test_prose_is_escaped_and_its_signs_are_set():
    assert maths.html("<b> a <= 1e-05 `x<y`") == "&lt;b&gt; a ≤ 10<sup>−5</sup> <code>x&lt;y</code>"
    assert maths.html("see $x$.") == 'see <span class="line"><math><mi>x</mi></math>.</span>'
    assert maths.plain("`code`: at least -0.5, up to 3.2e+12") == "code: at least −0.5, up to 3.2·10¹²"
    assert markdown.prose("<script>x</script> [a](javascript:b)") == r"\<script\>x\</script\> [a\](javascript:b)"


def test_fields_are_filled():
    for text, facts, filled in (
        ("{value:.2g} of {draws}", {"value": 0.1234, "draws": 20}, "0.12 of 20"),
        (r"$\frac{a}{b}$ is {x:.1f}", {"x": 1.0}, r"$\frac{a}{b}$ is 1.0"),
        ("{claim.value:.3g}", {"claim.value": 2.0}, "2"),
        ("{x:.1e}", {"x": 3.2e-9}, r"$3.2 \cdot 10^{-9}$"),
        ("{x:.2g}", {"x": float("nan")}, "–"),
        ("{x:.2g}", {"x": np.float64(0.5)}, "0.5"),
        ("{x:.2g}", {"x": None}, "–"),
        (r"{{literal}}: $x_{value}$, ${other}$", {"value": 1.0}, r"{literal}: $x_{value}$, ${other}$"),
    ):
        assert fill(text, facts) == filled, text
    assert fields(r"{a:.2g} and $x_{b}$ and {c.d}") == {"a", "c.d"}


def test_a_field_that_cannot_be_filled_is_one_line_and_nothing_is_called():
    for text, message in (
        ("{valeu}", "`{valeu}` that nothing fills; did you mean `value`"),
        ("{value.__class__}", "`{value.__class__}` that nothing fills"),
        ("{value[0]}", "{value[0]}"),
        ("{value:q}", "cannot be filled"),
        ("{value!r}", "cannot be filled"),
        ("{value", "cannot be filled"),
        (r"$\lambda_{2} = {value:.2f}$", "`{value}` within mathematics, where nothing is filled"),
    ):
        said = refusal(fill, text, {"value": 1.0}, "figures.py: `spectra`")
        assert said.startswith("figures.py: `spectra`: the text "), text
        assert message in said, text
        assert "\n" not in said, text


def test_every_paper_can_be_read_and_cited():
    whole = []
    for paper in PAPERS:
        references = plan().config.paper_block(paper)["references"]
        entries = bibtex(references)
        keys = re.findall(r"(?m)^@(?:misc|inproceedings)\{(\w+),$", entries)
        assert len(keys) == len(set(keys)) == len(references) > 0, paper
        assert entries.count("{") == entries.count("}"), paper
        assert all(re.fullmatch(r"arXiv:\d{4}\.\d{5}|papers\.nips\.cc", link_name(one["url"])) for one in references), (
            paper
        )
        whole += references
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    there, here = (
        {(one["title"], one["year"], one["url"]) for one in listed if "url" in one} for listed in (cited, whole)
    )
    assert there == here


def card(tmp_path, **changed):
    """The page of a paper with two claims that were judged once, the first of them changed."""
    claim = {
        "claim": "made_up.a",
        "id": "a",
        "verdict": "reproduced",
        "quantifier": "all draws",
        "reference": "Figure 1",
        "code": "src/learning_dynamics/judging.py#L1",
        "statement": "It falls.",
        "correction": "",
        "reason": "",
        "scope": "everywhere",
        "robustness": "",
        "elsewhere": "",
        "marks": "",
        "rivals": {},
        "decisive": {
            "predicted": float("nan"),
            "quantity": "the size",
            "measured": 1.0,
            "lower": float("nan"),
            "criterion": "at most 2",
            "draws_for": 3,
            "draws_against": 0,
            "draws_undecided": 0,
            "excluded": "",
        },
    }
    topic = Topic("made_up", "flow", "The flow", [], [claim | changed, claim | {"id": "b"}])
    return markdown.paper_page(Paper("made_up", "Things", "Nobody", "", "", [topic], [], [], [], None, []), tmp_path)


def test_a_card_says_how_the_claim_fared_and_nothing_twice(tmp_path):
    text = card(tmp_path, robustness="Holds with 2 of 4 other seeds", marks="†‡")
    assert "**reproduced**†‡ (about all draws). Figure 1" in text
    assert "\n  Holds with 2 of 4 other seeds.\n" in text
    assert not {"†", "‡"} & set(card(tmp_path))
    first, second = card(tmp_path).split("<summary>Details</summary>")[1:]
    assert "everywhere. 3/3 draws." in first
    assert "Scope of [`a`](#made_up.a). 3/3 draws." in second
    printed = {"quantity": "the gradient", "measured": -4004.0, "criterion": ">= 4", "lower": float("nan")}
    columns = {f"{name}_as_printed": value for name, value in (printed | {"upper": float("nan")}).items()}
    corrected = card(tmp_path, verdict="corrected", predicted_as_printed=4.0, **columns)
    assert "**1**: the size; at most 2.  \n  As printed: **−4004**, predicted 4: the gradient; ≥ 4." in corrected
    against = {"draws_for": 2, "draws_against": 2, "draws_undecided": 0, "excluded": "", "lower": float("nan")}
    numbers = {"predicted": float("nan"), "quantity": "the size", "measured": 1.0, "criterion": "at most 2"}
    assert "Draws: 2 for, 2 against." in card(tmp_path, decisive=against | numbers)
    for reason, told in (
        ("does not show at this scale", ""),
        ("one direction is learnt; does not show at this scale", "one direction is learnt"),
        ("the interval covers the bound", "the interval covers the bound"),
    ):
        assert contents.drop_repeated_clause(VERDICT_STYLES["not reproduced"].meaning, reason) == told, reason
