"""What the report writes: formulas as text and MathML, fields filled in prose, references, and claims in Markdown."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import yaml

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT
from learning_dynamics.pipeline.report import contents, markdown, maths, source_links
from learning_dynamics.pipeline.report.contents import Paper, Topic
from learning_dynamics.pipeline.report.references import bibtex, link_name
from learning_dynamics.pipeline.report.templates import MATHS, fields, fill
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES
from tests.pipeline.conftest import refusal
from tests.support import PAPERS, ROOT, plan


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\|x\|_2 \le 10^{-3}", "‖x‖₂ ≤ 10⁻³"),
        (r"\mathcal{L}_{\mathrm{NC1}} + \ell_{2/L}", "ℒ_NC1+ℓ_(2/L)"),
        (r"\hat W^\top W", "ŴᵀW"),
        (r"\frac{1 - (d-1)}{x + 1} \dot\sigma_i", "(1−(d−1))/(x+1)σ̇ᵢ"),
        (r"t\log t + \cos\theta_{ij} \to -1/(C-1)", "t log t+cos θᵢⱼ → −1/(C−1)"),
        (r"\sqrt{2\gamma} \operatorname{rank} W", "√(2γ) rank W"),
        (r"\begin{pmatrix}a & b\\ c & d\end{pmatrix}", "(a, b; c, d)"),
        pytest.param(r"\left( a", r"\left( a", id="not understood"),
    ],
)
def test_a_formula_becomes_text_in_unicode(latex, text):
    assert maths.to_text(latex) == text


def test_mathml_has_a_space_after_the_name_of_a_function():
    assert '<mtext>ln</mtext><mspace width="0.167em"></mspace><mi>t</mi>' in maths.to_mathml(r"\ln t")


def test_in_mathml_a_minus_is_a_sign_after_a_relation_and_an_operation_between_terms():
    # browsers leave no space after an operator of the form `prefix`
    assert '<mo form="prefix">−</mo><mn>1</mn>' in maths.to_mathml("x = -1")
    between_terms = maths.to_mathml(r"(a) - |b| - c")
    assert between_terms.count("<mo>−</mo>") == 2
    assert "prefix" not in between_terms


def test_bars_in_mathml_neither_stretch_nor_have_space():
    assert maths.to_mathml("|a|").count('stretchy="false" lspace="0" rspace="0"') == 2


def test_a_formula_that_is_not_understood_is_shown_as_code():
    assert maths.to_mathml(r"\left( a") == r"<code>\left( a</code>"


def test_a_long_formula_may_break_after_a_relation_and_a_short_one_does_not():
    assert maths.to_mathml(r"\sigma_1(W) \ge \dots \ge \sigma_d(W) \ge 0").count("<wbr>") == 3
    assert "<wbr>" not in maths.to_mathml("x = y")


def texts_of_code(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a syntax tree, docstrings among them; not f-strings, of which the tree has only parts."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from texts_of_code(child)


def texts_of_yaml(node: Any) -> Iterator[str]:
    """Yield the texts of a YAML document, keys left out."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        yield from texts_of_yaml(list(node.values()))
    elif isinstance(node, list):
        for child in node:
            yield from texts_of_yaml(child)


def texts_of_papers() -> Iterator[str]:
    """Yield the texts of the papers' modules of which pages show texts."""
    for file in find_files(SOURCE_ROOT / "learning_dynamics/papers", "**/*.py"):
        if file.stem in ("__init__", "claims", "figures", "interactive"):
            yield from texts_of_code(ast.parse(file.read_text("utf-8")))


def texts_of_configuration() -> Iterator[str]:
    for file in find_files(ROOT / "workflow/config", "**/*.yaml"):
        yield from texts_of_yaml(yaml.safe_load(file.read_text("utf-8")))


def texts_of_guides() -> Iterator[str]:
    """Yield the guides without their code, formulas between single dollars: GitHub's are also $`x`$ and $$x$$."""
    for file in (ROOT / "docs").glob("*.md"):
        guide = re.sub("(?s)```.*?```", "", file.read_text("utf-8"))
        guide = re.sub(r"\$`([^`]+)`\$", r"$\1$", guide).replace("$$", "$")
        yield re.sub(r"`[^`$]+`", "", guide)


@pytest.mark.parametrize("texts", [texts_of_papers, texts_of_configuration, texts_of_guides])
def test_every_formula_that_is_shown_is_understood(texts):
    with_dollars = {formula for text in texts() for formula in MATHS.findall(text)}
    formulas = {formula[1:-1] for formula in with_dollars}
    assert len(formulas) > 20  # each of the three has more; fewer are found if `MATHS` or the files are wrong
    # a formula that is not understood is left as LaTeX, or shown as code
    assert [formula for formula in formulas if "\\" in maths.to_text(formula)] == []
    assert [formula for formula in formulas if "<code>" in maths.to_mathml(formula)] == []


def test_html_escapes_prose_and_sets_its_signs():
    assert maths.html("<b> a <= 1e-05 `x<y`") == "&lt;b&gt; a ≤ 10<sup>−5</sup> <code>x&lt;y</code>"


def test_html_breaks_no_line_between_a_formula_and_a_full_stop():
    assert maths.html("see $x$.") == 'see <span class="line"><math><mi>x</mi></math>.</span>'


def test_plain_text_has_signs_and_powers_of_ten():
    assert maths.plain("`code`: at least -0.5, up to 3.2e+12") == "code: at least −0.5, up to 3.2·10¹²"


def test_markdown_escapes_tags_and_links():
    assert markdown.prose("<script>x</script> [a](javascript:b)") == r"\<script\>x\</script\> [a\](javascript:b)"


@pytest.mark.parametrize(
    ("text", "facts", "filled"),
    [
        ("{value:.2g} of {draws}", {"value": 0.1234, "draws": 20}, "0.12 of 20"),
        (r"$\frac{a}{b}$ is {x:.1f}", {"x": 1.0}, r"$\frac{a}{b}$ is 1.0"),
        (r"$\sqrt[3]{ab}$ is {ab:.1f}", {"ab": 1.0}, r"$\sqrt[3]{ab}$ is 1.0"),
        ("{claim.value:.3g}", {"claim.value": 2.0}, "2"),
        ("{x:.1e}", {"x": 3.2e-9}, r"$3.2 \cdot 10^{-9}$"),
        ("{x:.2g}", {"x": float("nan")}, "–"),
        ("{x:.2g}", {"x": np.float32("nan")}, "–"),
        ("{x:.2g}", {"x": np.float64(0.5)}, "0.5"),
        ("{x:.2g}", {"x": None}, "–"),
        (r"{{literal}}: $x_{value}$, ${other}$", {"value": 1.0}, r"{literal}: $x_{value}$, ${other}$"),
    ],
)
def test_fields_are_filled_outside_formulas_and_formulas_stay(text, facts, filled):
    assert fill(text, facts) == filled


def test_the_fields_of_a_text_are_those_outside_formulas():
    assert fields(r"{a:.2g} and $x_{b}$ and {c.d}") == {"a", "c.d"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{valeu}", "`{valeu}` that nothing fills; did you mean `value`"),
        ("{value.__class__}", "`{value.__class__}` that nothing fills"),
        ("{value[0]}", "`{value[0]}` that nothing fills"),
        ("{value:q}", "cannot be filled"),
        ("{value!r}", "cannot be filled"),
        ("{value", "cannot be filled"),
        ("{values:.2f}", "cannot be filled"),
        (r"$\lambda_{2} = {value:.2f}$", "`{value}` within mathematics, where nothing is filled"),
        ("$x = {claim.value:.2g}$", "`{claim.value}` within mathematics, where nothing is filled"),
        ("$x = {r}$", "`{r}` within mathematics, where nothing is filled"),
        (r"$\sqrt[{r}]{value}$", "`{r}` within mathematics, where nothing is filled"),
        ("$x = [0, 1]{r}$", "`{r}` within mathematics, where nothing is filled"),
    ],
)
def test_a_field_that_cannot_be_filled_is_refused_in_one_line(text, message):
    facts = {"value": 1.0, "claim.value": 1.0, "r": 1.0, "values": [1.0, 2.0]}
    line = refusal(fill, text, facts, where="figures.py: `spectra`")
    assert line.startswith("figures.py: `spectra`: the text ")
    assert message in line
    assert "\n" not in line
    assert "..." not in line  # no text is long enough to be cut


def references_of(paper: str) -> list[dict[str, Any]]:
    """Return a paper's references as its configuration has them."""
    return plan().config.paper_block(paper)["references"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_reference_of_a_paper_is_a_bibtex_entry_with_a_key_of_its_own(paper):
    references = references_of(paper)
    entries = bibtex(references)
    keys = re.findall(r"(?m)^@(?:misc|inproceedings)\{(\w+),$", entries)
    assert references != []
    assert len(keys) == len(references)
    assert len(set(keys)) == len(keys)
    assert entries.count("{") == entries.count("}")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_reference_links_to_arxiv_or_to_the_proceedings(paper):
    names = [link_name(reference["url"]) for reference in references_of(paper)]
    assert [name for name in names if not re.fullmatch(r"arXiv:\d{4}\.\d{5}|papers\.nips\.cc", name)] == []


def test_the_citation_file_has_the_references_of_all_papers():
    def titles_years_and_urls(references: list[dict[str, Any]]) -> set[tuple]:
        # both may have entries without a URL, which need not be in the other
        return {(entry["title"], entry["year"], entry["url"]) for entry in references if "url" in entry}

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    of_papers = [reference for paper in PAPERS for reference in references_of(paper)]
    assert titles_years_and_urls(cited) == titles_years_and_urls(of_papers)


def claim_with(**changed):
    """Return the data of the card of a claim `a`, reproduced with the number 1, with some of its entries changed."""
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
        "on_other_processors": "",
        "elsewhere": "",
        "explanation": "",
        "variations": [],
        "marks": "",
        "rivals": {},
        "decisive": {
            "predicted": float("nan"),
            "quantity": "the size",
            "measured": 1.0,
            "lower": float("nan"),
            "interval": "the draw nearest its bound, of 3",
            "criterion": "at most 2",
            "draws_for": 3,
            "draws_against": 0,
            "draws_undecided": 0,
            "excluded": "",
        },
    }
    return claim | changed


def paper_with(**parts):
    """Return a paper with some parts; all others are empty."""
    empty = {
        "citation": "Nobody",
        "summary": "",
        "notation": "",
        "topics": [],
        "claims": [],
        "observations": [],
        "unstated": [],
        "lead": None,
        "references": [],
    }
    return Paper("made_up", "Things", **empty | parts)


def page(folder, **changed):
    """Return the page, in Markdown, of a paper with claims `a`, of which entries are changed, and `b`."""
    claims = [claim_with(**changed), claim_with(id="b")]
    topic = Topic("made_up", "flow", title="The flow", exhibits=[], unshown_claims=claims)
    return markdown.paper_page(paper_with(topics=[topic]), folder)


def test_a_card_has_the_verdict_and_its_marks(tmp_path):
    text = page(tmp_path, marks="†‡")
    assert "**reproduced**†‡ (a claim about every draw). Figure 1" in text


@pytest.mark.parametrize("mark", ["†", "‡"])
def test_a_page_of_claims_without_marks_has_none(tmp_path, mark):
    assert mark not in page(tmp_path)


def test_a_card_has_the_robustness_of_its_verdict(tmp_path):
    text = page(tmp_path, robustness="The verdict stays with 2 of 4 other seeds")
    assert "\n  The verdict stays with 2 of 4 other seeds.\n" in text


@pytest.mark.parametrize(
    ("verdict", "verdict_of_rival", "shown"),
    [
        ("reproduced", "contradicted", "Rejected rivals (wrong predictions): twice the size."),
        ("reproduced", "reproduced", "Rejected rivals (wrong predictions): twice the size (reproduced)."),
        ("undecided", "undecided", "Rivals (wrong predictions), by the same test: twice the size (undecided)."),
    ],
)
def test_a_card_names_rivals_and_the_outcome_of_those_that_pass(tmp_path, verdict, verdict_of_rival, shown):
    rivals = {"twice the size": verdict_of_rival}
    text = page(tmp_path, verdict=verdict, rivals=rivals, min_detectable_error=0.1)
    assert f" {shown} A prediction that is wrong by more than 0.1 (relative error) would have been rejected." in text


def test_a_scope_that_a_claim_above_has_is_a_link_to_it(tmp_path):
    _, first, second = page(tmp_path).split("<summary>Details</summary>")
    assert "Tested on: everywhere. All 3 draws agree." in first
    assert "Tested on: the same as [`a`](#made_up.a). All 3 draws agree." in second


def test_details_begin_with_the_claims_explanation_and_its_paragraphs_stay(tmp_path):
    text = page(tmp_path, explanation="It falls since\n$x$ does.\n\nMore.")
    _, details, _ = text.split("<summary>Details</summary>")
    assert details.startswith("\n\n  It falls since $`x`$ does.\n  \n  More.\n\n  Tested on: everywhere.")


def test_a_card_of_a_corrected_claim_has_both_numbers(tmp_path):
    """One of the correction, and one of the printed statement."""
    printed = {
        "quantity_as_printed": "the gradient",
        "measured_as_printed": -4004.0,
        "predicted_as_printed": 4.0,
        "criterion_as_printed": ">= 4",
        "lower_as_printed": float("nan"),
        "upper_as_printed": float("nan"),
    }
    lines = page(tmp_path, verdict="corrected", **printed).splitlines()
    assert "  The size: **1**. Criterion: at most 2.  " in lines
    assert "  As printed: The gradient: **−4004**, predicted 4. Criterion: ≥ 4." in lines


def test_a_cards_reason_does_not_repeat_the_name_of_the_quantity_below(tmp_path):
    assert "\n  Why: too few draws.  \n  The size: **1**." in page(tmp_path, reason="the size: too few draws")


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """An empty folder, taken as that of the guides and of the letters of errata to papers' authors."""
    monkeypatch.setattr(source_links, "ERRATA", tmp_path)
    monkeypatch.setattr(source_links, "DOCS", tmp_path)
    return tmp_path


WITH_ERRATA = "It falls (errata 3), as is derived (docs/derived.md)."


def test_a_page_links_to_errata_and_to_guides(docs):
    (docs / "made_up.md").touch()  # the letter of errata of the paper `made_up`
    (docs / "derived.md").touch()
    linked = page(docs / "results", explanation=WITH_ERRATA)
    assert "It falls ([errata 3](../made_up.md)), as is derived ([derived.md](" in linked


def test_errata_and_guides_that_do_not_exist_are_no_links(docs):
    assert "It falls (errata 3), as is derived (derived.md)." in page(docs / "results", explanation=WITH_ERRATA)


@pytest.mark.parametrize("items", ["errata 3", "errata 3 and 4", "errata 3, 4 and 12"])
def test_several_errata_are_one_link(docs, items):
    (docs / "made_up.md").touch()
    html = '<a href="{address}">{words}</a>'
    linked = source_links.link_to_docs(f"It falls ({items}).", paper="made_up", folder=docs, form=html)
    assert linked == f'It falls (<a href="made_up.md">{items}</a>).'


@pytest.mark.parametrize(
    ("verdict", "heading"),
    [("corrected", "## Corrected claims\n"), ("contradicted", "## Corrected and contradicted claims\n")],
)
def test_a_heading_of_the_first_page_names_contradicted_claims_where_there_are_some(tmp_path, verdict, heading):
    claim = claim_with(verdict=verdict, quantity="the size", measured=1.0, lower=float("nan"))
    assert heading in markdown.results_page([paper_with(claims=[claim])], tmp_path, judged_again=None)


def test_a_card_counts_draws_for_and_against(tmp_path):
    decisive = claim_with()["decisive"] | {"draws_for": 5, "draws_against": 2, "interval": "share (Wilson)"}
    assert "5 draws agree, 2 do not." in page(tmp_path, decisive=decisive)


def test_the_first_page_ends_with_undecided_claims_and_what_marks_mean(tmp_path):
    """Each claim has its reason and its number."""
    open_claim = claim_with(verdict="undecided", statement="$|x|$ falls.", reason="the size: too few draws", marks="†")
    paper = paper_with(claims=[open_claim, claim_with(claim="made_up.b")])
    text = markdown.results_page([paper], tmp_path, judged_again=None)
    row = (
        "| [Figure 1](made_up.md#made_up.a) | $`\\vert x\\vert `$ falls. | undecided† "
        "| Too few draws. The size: **1**. Criterion: at most 2 |"
    )
    head = "| where | claim | verdict | why |\n|---|---|---|---|"
    legend = "† another choice of a threshold or setting gives another verdict"
    # `made_up.b` is reproduced, and has no row
    assert text.endswith(f"undecided or untested\n\n{head}\n{row}\n\n{legend}\n")


def test_a_card_names_the_verdict_of_other_processors_and_why(tmp_path):
    sentence = "On other processors the verdict can be undecided: rounding decides"
    assert f"\n  {sentence}.\n" in page(tmp_path, on_other_processors=sentence)


def test_a_page_of_claims_with_one_verdict_is_silent_on_other_processors(tmp_path):
    assert "On other processors" not in page(tmp_path)


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("does not show at this scale", ""),
        ("one direction is learnt; does not show at this scale", "one direction is learnt"),
        ("the interval contains the bound", "the interval contains the bound"),
    ],
)
def test_a_reason_does_not_repeat_what_the_verdict_means(reason, shown):
    assert contents.drop_repeated_clause(VERDICT_STYLES["not reproduced"].meaning, reason) == shown
