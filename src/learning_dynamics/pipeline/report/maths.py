"""Prose with formulas between dollars: as HTML with MathML, as plain text in Unicode.

latex2mathml is the only parser of LaTeX: plain text is read off the MathML tree, so that page and terminal agree.
"""

import functools
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markupsafe import Markup, escape

PROSE = re.compile(r"\$([^$]+)\$|`+([^`]+)`+")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?![\w.]\d)")
SIGNS = {"<=": "≤", ">=": "≥", "+-": "±"}
# names that are set upright, as one word: \mathrm{NC}, \operatorname{rank}, \log
NAME = re.compile(
    r"\\(?:(?:mathrm|operatorname)\{([A-Za-z0-9]+)\}"
    r"|(arccos|arg|cosh?|deg|det|dim|exp|inf|ker|lim|liminf|ln|log|max|min|sinh?|sup|tanh?)(?![A-Za-z]))"
)
# such a name, as `\text`, with its subscripts and superscripts
SCRIPTED = r"\\text\{\w+\}(?:\s*[_^](?:\{[^{}]*\}|\\?\w+))*"
ACCENTS = {"^": "\u0302", "~": "\u0303", "¯": "\u0304", "˙": "\u0307", "¨": "\u0308", "→": "\u20d7", "ˇ": "\u030c"}
RELATIONS = set("=<>≤≥≪≫≈≃≅≡∼∝→⟶↦←⇒∈∉⊂⊆∪∩±≠≲≳⪰⪯≻")
TERMS = set("+−")
OPENING = set("([{⟨⌊⌈")
CLOSING = set(")]}⟩⌋⌉")
MAX_UNBROKEN = 20  # characters: longer formulas may break after a relation, or before a term


def _letters(kind: str) -> dict[str, str]:
    """Return characters and what Unicode has for them as ``<super>`` or ``<sub>``."""
    # where Unicode has them
    blocks = (
        range(0xB2, 0xBA),
        range(0x2B0, 0x2E5),
        range(0x1D2C, 0x1DC0),
        range(0x2070, 0x20A0),
        range(0x2C7C, 0x2C7E),
    )
    letters = [chr(code) for block in blocks for code in block]
    of_kind = [letter for letter in letters if unicodedata.decomposition(letter).startswith(kind)]
    return {unicodedata.normalize("NFKC", letter): letter for letter in of_kind}


SUBSCRIPTS = _letters("<sub>")
SUPERSCRIPTS = _letters("<super>") | {"⊤": "ᵀ", "*": "*", "†": "†", "′": "′"}


# -- one formula -----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def to_mathml(latex: str) -> str:
    """Return a formula as ``<math>``, one that cannot be parsed as ``<code>``.

    A long formula is several elements, so that a line may break after its relations and before its terms.

    >>> to_mathml("x_1")
    '<math><msub><mi>x</mi><mn>1</mn></msub></math>'
    """
    tree = _tree(latex)
    if tree is None:
        return str(Markup("<code>{}</code>").format(latex))
    pieces = [Element("math")]
    is_long = len(to_text(latex)) > MAX_UNBROKEN
    depth = 0  # of parentheses
    for child in tree:
        sign = child.text if child.tag == "mo" else None
        depth += (sign in OPENING) - (sign in CLOSING)
        is_sum = sign in TERMS and child.get("form") != "prefix"
        # parentheses grow with what is between them: within them a line breaks later; both shares are chosen
        least = MAX_UNBROKEN * (0.5 if depth == 0 else 0.75)
        if is_long and is_sum and len(_text(pieces[-1])) > least:
            child.set("form", "infix")  # it would be a sign, at the beginning of an element
            pieces.append(Element("math"))
        pieces[-1].append(child)
        if is_long and sign in RELATIONS:
            pieces.append(Element("math"))
    return "<wbr>".join(
        ElementTree.tostring(piece, encoding="unicode", short_empty_elements=False) for piece in pieces if len(piece)
    )


@functools.lru_cache(maxsize=4096)
def to_text(latex: str) -> str:
    r"""Return a formula in Unicode, one that cannot be parsed as it is.

    >>> to_text(r"\sigma_1(W) \le 10^{-3}")
    'σ₁(W) ≤ 10⁻³'
    """
    tree = _tree(latex)
    if tree is None:
        return latex
    # a space before a fraction that follows a letter or digit: `_text` marks where fractions begin
    text = re.sub(r"(?<=\w)\0", " ", _text(tree)).replace("\0", "")
    return " ".join(text.split())


def _tree(latex: str) -> Element | None:
    """Return a formula's MathML, with names set upright and signs told from differences; None if it has none."""
    prepared = NAME.sub(lambda name: rf"\text{{{name[1] or name[2]}}}", latex)
    # a thin space after such a name before a letter, digit, bar or macro, as in `\log x`; none before a relation
    prepared = re.sub(rf"({SCRIPTED})\s*(?!\\(?:left|right|big|to|in)\b)(?=[\w|]|\\[A-Za-z|])", r"\1\\,", prepared)
    # and before it after a letter, digit or closing bracket, as in `2 \log x`, if it is no index or argument
    prepared = re.sub(rf"(?<=[\w}})])\s*(?<![_^{{])(?<!frac)(?={SCRIPTED})", r"\\,", prepared)
    try:
        text = convert(prepared)
    except Exception:  # the parser has a class of its own for each way to be wrong, and some IndexErrors
        return None
    tree = ElementTree.fromstring(text.replace(' xmlns="http://www.w3.org/1998/Math/MathML" display="inline"', ""))[0]
    for node in tree.iter():
        for before, child in pairwise(node):
            is_after_sign = before.tag == child.tag == "mo" and before.text not in CLOSING | set("|‖")
            if is_after_sign and child.text in ("+", "−", "±"):
                child.set("form", "prefix")  # a sign of a number, not a difference
        if node.tag == "mo" and node.text in ("|", "‖", "/"):
            node.attrib.update(stretchy="false", lspace="0", rspace="0")  # browsers take them for relations
        if node.tag == "mover" and node[1].text in ACCENTS:
            node.set("accent", "true")
    return tree


def _text(node: Element) -> str:
    """Return a MathML tree as text."""
    parts = [_text(child) for child in node]
    match node.tag:
        case "mo" if node.text in RELATIONS:
            return f" {node.text} "
        case "mo" if node.text in (",", ";"):
            return f"{node.text} "
        case "mspace":
            return " "
        case "mfrac":
            return "\0" + "/".join(map(_in_parentheses, parts))  # `to_text` puts a space for the mark, or nothing
        case "msqrt":
            radicand = "".join(parts)
            return f"√{radicand}" if len(radicand) == 1 or radicand.isdigit() else f"√({radicand})"
        case "mroot":
            return f"{_script(parts[1], SUPERSCRIPTS, '')}√{_in_parentheses(parts[0])}"
        case "msub" | "munder":
            return parts[0] + _script(parts[1], SUBSCRIPTS, "_")
        case "msup":
            return parts[0] + _script(parts[1], SUPERSCRIPTS, "^")
        case "msubsup" | "munderover":
            return parts[0] + _script(parts[1], SUBSCRIPTS, "_") + _script(parts[2], SUPERSCRIPTS, "^")
        case "mover":
            mark = ACCENTS.get(parts[1])
            return unicodedata.normalize("NFC", parts[0] + mark) if mark else f"{parts[0]}^{parts[1]}"
        case "mtable" | "mtr":
            return ("; " if node.tag == "mtable" else ", ").join(parts)
        case _:
            return node.text or "".join(parts)


def _in_parentheses(text: str) -> str:
    """Return a text in parentheses, one letter, number or word as it is."""
    return text if len(text) < 2 or re.fullmatch(r"[\w.]+[₀-₉ᵢⱼ⁰-⁹]*", text) else f"({text})"


def _script(text: str, letters: dict[str, str], mark: str) -> str:
    """Return a text raised or lowered by Unicode's characters, if it has them all, else after `mark`: ^ or _."""
    plain = text.replace(" ", "")
    if plain and all(letter in letters for letter in plain):
        return "".join(letters[letter] for letter in plain)
    return f"{mark}{text}" if len(plain) == 1 or plain.isalnum() else f"{mark}({text})"


# -- prose that holds formulas ---------------------------------------------------------------------------------------


def html(text: str) -> Markup:
    """Return prose as HTML: formulas as MathML, names between backquotes as code, powers of ten raised."""
    prose = _convert_pieces(
        text,
        formula=to_mathml,
        code=lambda name: f"<code>{escape(name)}</code>",
        words=lambda words: _powers(str(escape(_signs(words))), lambda power: f"<sup>{power}</sup>"),
    )
    # a browser would break the line between a formula and the comma after it
    return Markup(re.sub(r"(<math>(?:(?!<math>).)*</math>)([.,;:!?)\]’']+)", r'<span class="line">\1\2</span>', prose))


def paragraphs(text: str) -> Markup:
    """Return prose as HTML paragraphs; blank lines part them."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))
    return Markup("").join(Markup("<p>{}</p>").format(html(part)) for part in parts if part)


def plain(text: str) -> str:
    """Return prose as one line of plain text, formulas in Unicode.

    >>> plain("an error of $10^{-3}$ or 2e-05")
    'an error of 10⁻³ or 2·10⁻⁵'
    """
    return " ".join(_convert_pieces(text, formula=to_text, code=str, words=plain_words).split())


def plain_words(text: str) -> str:
    """Return words without formulas as they are printed: signs and powers of ten by their own characters."""
    return _powers(_signs(text), lambda power: _script(power, SUPERSCRIPTS, "^"))


Convert = Callable[[str], str]


def _convert_pieces(text: str, *, formula: Convert, code: Convert, words: Convert) -> str:
    """Return a text whose formulas, code and words are converted, by a function each."""
    # the split gives words, a formula or None, code or None, words, ...; it ends with words
    pieces = [*PROSE.split(text), "", ""]
    converted = []
    for before, latex, name in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        converted.append(words(before))
        if latex:
            converted.append(formula(latex))
        elif name:
            converted.append(code(name))
    return "".join(converted)


def _signs(text: str) -> str:
    """Return a text with a sign for each of `SIGNS` that is a word by itself, and with minus signs before numbers."""
    for ascii_, sign in SIGNS.items():
        text = re.sub(rf"(?<![^\s(]){re.escape(ascii_)}(?=\s)", sign, text)
    return re.sub(r"(?<![^\s(\[])-(?=\.?\d)", "−", text)


def _powers(text: str, raise_power: Convert) -> str:
    """Return a text with numbers like 2e-05 as powers of ten."""

    def as_power(number: re.Match[str]) -> str:
        base = f"{number[1]}·10".removeprefix("1·")
        exponent = str(int(number[2])).replace("-", "−")
        return base + raise_power(exponent)

    return POWER.sub(as_power, text)
