"""Prose with mathematics between dollars, as HTML with MathML, as plain text in Unicode, as reStructuredText.

One parser of LaTeX serves all three: text is read off the MathML tree, so that page and terminal cannot disagree.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape

from learning_dynamics.pipeline.report.templates import MATHS

COMMAND = re.compile(r"\\[A-Za-z]+")
CODE = re.compile(r"(`+[^`]+`+)")
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?![\w.]\d)")
PERCENT = re.compile(r"(?<=\d) %")  # no line begins with it
SIGNS = {"<=": "≤", ">=": "≥", "+-": "±"}
# marks above a letter, as LaTeX's accents set them, and the combining characters that plain text has for them
ACCENTS = {"^": "\u0302", "~": "\u0303", "¯": "\u0304", "˙": "\u0307", "¨": "\u0308", "→": "\u20d7", "ˇ": "\u030c"}
SUPERSCRIPTS = dict(
    zip(
        "0123456789+−-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW⊤*†′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵀ*†′",
        strict=True,
    )
)
SUBSCRIPTS = dict(zip("0123456789+−-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
SPACED = set("=<>≤≥≪≫≈≃≅≡∼∝→⟶↦←⇒∈∉⊂⊆∪∩±≠")
OPENING = set("([{⟨⌊⌈")
TERMS = set("+−-")
BARS = set("|‖∥!")
CLOSING = set(")]}⟩⌋⌉") | BARS
FUNCTIONS = {
    "arccos",
    "arg",
    "cos",
    "cosh",
    "deg",
    "det",
    "diag",
    "dim",
    "exp",
    "inf",
    "ker",
    "lim",
    "ln",
    "log",
    "max",
    "min",
}
FUNCTIONS |= {"rank", "sgn", "sign", "sin", "sinh", "softmax", "span", "sup", "tan", "tanh", "tr", "vec", "Tr", "Var"}
MAX_UNBROKEN = 20  # characters: formulas above this may break after a relation, or before a term
PUNCTUATION = re.compile(r"[.,;:!?)\]’']+")


# -- one formula -----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def to_mathml(latex: str) -> str:
    """Return a formula as a ``<math>`` element; one that cannot be parsed comes back as code.

    A long formula is several elements, so that a line may break after its relations and before its terms.

    >>> to_mathml("x_1")
    '<math><msub><mi>x</mi><mn>1</mn></msub></math>'
    """
    tree = _tree(latex)
    if tree is None:
        return str(Markup("<code>{}</code>").format(latex))
    pieces, depth, long = [Element("math")], 0, len(to_text(latex)) > MAX_UNBROKEN
    for child in tree:
        sign = child.text if child.tag == "mo" else None
        depth += (sign in OPENING) - (sign in CLOSING - BARS)
        # within parentheses only where there is no other way: the two of a pair grow with what stands beside them
        if sign in TERMS and long and len(_read(pieces[-1])) > MAX_UNBROKEN * (0.5 if depth == 0 else 0.75):
            child.set("form", "infix")
            pieces.append(Element("math"))
        pieces[-1].append(child)
        if sign in SPACED and long:
            pieces.append(Element("math"))
    return "<wbr>".join(
        ElementTree.tostring(piece, encoding="unicode", short_empty_elements=False) for piece in pieces if len(piece)
    )


@functools.lru_cache(maxsize=4096)
def to_text(latex: str) -> str:
    r"""Return a formula in Unicode.

    >>> to_text(r"\sigma_1(W) \le 10^{-3}")
    'σ₁(W) ≤ 10⁻³'
    """
    tree = _tree(latex)
    if tree is None:
        return latex
    return re.sub(r"\s+", " ", _read(tree)).strip()


def unknown_commands(text: str) -> list[str]:
    """Return what of a text's mathematics is not understood: commands that stay as they are, broken formulas."""
    unknown = []
    for formula in MATHS.findall(text):
        tree = _tree(formula[1:-1])
        unknown += (
            [formula] if tree is None else [command for text in tree.itertext() for command in COMMAND.findall(text)]
        )
    return unknown


def _tree(latex: str) -> Element | None:
    try:
        tree = convert_to_element(latex)
    except Exception:  # the parser has a class of its own for each way to be wrong, and some IndexErrors
        return None
    tree.attrib.clear()
    for node in tree.iter():
        node.text = unescape(node.text) if node.text else None  # it comes as character references
    _tidy(tree)
    while len(tree) == 1 and tree[0].tag == "mrow":
        tree[:] = list(tree[0])
    return tree


def _tidy(node: Element) -> None:
    """Join upright letters into words, and spell bold letters by their own characters, as MathML Core wants it."""
    for child in node:
        _tidy(child)
        if child.tag == "mrow" and len(child) == 1:
            _replace_by(child, child[0])
    if node.tag in ("mrow", "math", "mstyle"):
        joined: list[Element] = []
        for child in node:
            upright = child.get("mathvariant") == "normal" and child.tag == "mi"
            follows = bool(joined) and joined[-1].get("mathvariant") == "normal" and joined[-1].tag == "mi"
            if follows and (upright or (child.tag == "mn" and node.tag == "mrow")):
                joined[-1].text = (joined[-1].text or "") + (child.text or "")
            else:
                joined.append(child)
        for child in joined:
            if child.tag == "mi" and child.get("mathvariant") == "normal" and len(child.text or "") > 1:
                del child.attrib["mathvariant"]  # as names of several letters are anyway
        node[:] = joined
    if node.get("mathvariant") == "bold-italic":
        del node.attrib["mathvariant"]
        node.text = "".join(_bold(letter) for letter in node.text or "")
    if node.tag == "mo" and node.text in ("|", "‖", "∥", "/"):
        # fences that do not grow, and the slash: without the space of a relation
        node.attrib.update(stretchy="false", lspace="0", rspace="0")
    if node.tag in ("mrow", "math", "mtd", "msqrt"):
        _space(node)
    if node.tag == "mover" and len(node) == 2 and node[1].text in ACCENTS:
        node.set("accent", "true")
        node[1].attrib.pop("stretchy", None) if len(node[0]) else node[1].set("stretchy", "false")


def _space(row: Element) -> None:
    """Set signs that stand before a number close to it, and names of functions off what they are applied to."""
    spaced: list[Element] = []
    for index, child in enumerate(row):
        previous = row[index - 1] if index else None
        after_operator = previous is None or (previous.tag == "mo" and (previous.text or "") not in CLOSING)
        if child.tag == "mo" and child.text in ("−", "+", "±") and after_operator:
            child.attrib.update(form="prefix", lspace="0", rspace="0")
        named, follows = _is_name(previous), child.tag != "mo" or child.text in ("|", "‖")
        if (named and follows) or (_is_name(child) and previous is not None and not after_operator):
            spaced.append(Element("mspace", width="0.17em"))
        spaced.append(child)
    row[:] = spaced


def _is_name(node: Element | None) -> bool:
    """Return whether a node is a function's name, or one with sub- or superscripts."""
    if node is not None and node.tag in ("msub", "msup", "msubsup"):
        node = node[0]
    return node is not None and node.tag == "mi" and (node.text or "") in FUNCTIONS


def _replace_by(node: Element, replacement: Element) -> None:
    children, text, attributes = list(replacement), replacement.text, dict(replacement.attrib)
    node.clear()
    node.tag, node.text = replacement.tag, text
    node.attrib.update(attributes)
    node.extend(children)


def _bold(letter: str) -> str:
    for start, first_letter, count in ((0x1D468, "A", 26), (0x1D482, "a", 26), (0x1D71E, "Α", 25), (0x1D736, "α", 25)):
        offset = ord(letter) - ord(first_letter)
        if 0 <= offset < count:
            return chr(start + offset)
    return letter


def _read(node: Element) -> str:
    """Return a MathML tree as text."""
    parts = [_read(child) for child in node]
    match node.tag:
        case "mi" | "mn":
            return (
                unicodedata.normalize("NFKC", node.text or "")
                if ord((node.text or " ")[0]) > 0x1D000
                else _own_text(node)
            )
        case "mo":
            sign = _own_text(node)
            return f" {sign} " if sign in SPACED else f"{sign} " if sign in (",", ";") else sign
        case "mspace":
            return " " if float(node.get("width", "0").rstrip("em") or 0) > 0.2 else ""
        case "mfrac":
            return "/".join(_bracket(part) for part in parts)
        case "msqrt":
            radicand = "".join(parts)
            return f"√{radicand}" if len(radicand) == 1 or radicand.isdigit() else f"√({radicand})"
        case "mroot":
            return f"{_raise(parts[1], SUPERSCRIPTS, '')}√{_bracket(parts[0])}"
        case "msub" | "munder":
            return parts[0] + _raise(parts[1], SUBSCRIPTS, "_")
        case "msup":
            return parts[0] + _raise(parts[1], SUPERSCRIPTS, "^")
        case "msubsup" | "munderover":
            return parts[0] + _raise(parts[1], SUBSCRIPTS, "_") + _raise(parts[2], SUPERSCRIPTS, "^")
        case "mover":
            mark = ACCENTS.get(parts[1])
            return unicodedata.normalize("NFC", parts[0] + mark) if mark else f"{parts[0]}^{parts[1]}"
        case "mtable":
            return "; ".join(parts)
        case "mtr":
            return ", ".join(parts)
        case _:
            return _spaced_words(node, parts) or (node.text or "").replace("\u00a0", " ")


def _own_text(node: Element) -> str:
    return (node.text or "").replace("\u2009", " ")


def _spaced_words(node: Element, parts: list[str]) -> str:
    """Return a row's parts joined, with a space after the name of a function that is followed by a letter."""
    text = ""
    for child, part in zip(node, parts, strict=True):
        after_word = re.search(r"[A-Za-z]{2,}[₀-₉]*$", text) is not None
        text += " " + part if after_word and part[:1].isalnum() and child.tag not in ("mo", "mtext") else part
    return text


def _bracket(text: str) -> str:
    return text if len(text) < 2 or re.fullmatch(r"[\w.]+[₀-₉ᵢⱼ⁰-⁹]*", text) else f"({text})"


def _raise(text: str, letters: dict[str, str], mark: str) -> str:
    plain = text.replace(" ", "")
    if plain and all(letter in letters for letter in plain):
        return "".join(letters[letter] for letter in plain)
    return f"{mark}{text}" if len(plain) == 1 or plain.isalnum() else f"{mark}({text})"


# -- prose that holds formulas ---------------------------------------------------------------------------------------


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text: ``maths``, ``code`` or ``words``."""
    for index, piece in enumerate(MATHS.split(text)):
        if index % 2:
            yield "maths", piece[1:-1]
            continue
        for fragment_index, fragment in enumerate(CODE.split(piece)):
            if fragment:
                yield ("code", fragment.strip("`")) if fragment_index % 2 else ("words", fragment)


def html(text: str) -> Markup:
    """Return prose as HTML: formulas as MathML, names between backquotes as code, powers of ten raised."""
    pieces: list[str] = []
    for kind, piece in _parts(text):
        if kind == "maths":
            pieces.append(to_mathml(piece))
        elif kind == "code":
            pieces.append(f"<code>{escape(piece)}</code>")
        else:
            # what follows a formula without a space stays on its line
            punctuation = PUNCTUATION.match(piece) if pieces and pieces[-1].endswith("</math>") else None
            if punctuation:
                earlier, opening, last = pieces[-1].rpartition("<math>")
                pieces[-1] = f'{earlier}<span class="line">{opening}{last}{escape(punctuation[0])}</span>'
                piece = piece[punctuation.end() :]
            escaped = str(escape(PERCENT.sub("\u00a0%", _signs(piece))))
            pieces.append(POWER.sub(lambda number: f"{_mantissa(number)}<sup>{int(number[2])}</sup>", escaped))
    return Markup("".join(pieces).replace("<sup>-", "<sup>−"))


def paragraphs(text: str) -> Markup:
    """Return prose as HTML paragraphs; blank lines part them."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))
    return Markup("").join(Markup("<p>{}</p>").format(html(part)) for part in parts if part)


def plain(text: str) -> str:
    """Return prose as one line of plain text, formulas in Unicode.

    >>> plain("an error of $10^{-3}$ or 2e-05")
    'an error of 10⁻³ or 2·10⁻⁵'
    """
    pieces = []
    for kind, piece in _parts(text):
        pieces.append(to_text(piece) if kind == "maths" else plain_words(piece) if kind == "words" else piece)
    return " ".join("".join(pieces).split())


def plain_words(text: str) -> str:
    """Return words without formulas as they are printed: signs and powers of ten by their own characters."""
    return POWER.sub(lambda number: _mantissa(number) + _raise(str(int(number[2])), SUPERSCRIPTS, "^"), _signs(text))


def rst(text: str) -> str:
    """Return prose as reStructuredText in which no character is markup, paragraphs kept."""
    parts = (plain(part) for part in re.split(r"\n\s*\n", text.strip()))
    return "\n\n".join(re.sub(r"([\\*_|`<>])", r"\\\1", part) for part in parts if part)


def _signs(text: str) -> str:
    for ascii_, sign in SIGNS.items():
        text = re.sub(rf"(?<![^\s(]){re.escape(ascii_)}(?=\s)", sign, text)
    return re.sub(r"(?<![^\s(\[])-(?=\.?\d)", "−", text)


def _mantissa(number: re.Match[str]) -> str:
    return "10" if float(number[1]) == 1 else f"{number[1]}·10"
