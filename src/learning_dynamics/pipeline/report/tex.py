r"""A paper's claims for an article of one's own: numbers as macros, verdicts as a LaTeX table.

For pdfLaTeX and later; the file names the packages that it needs.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import pandas as pd

from learning_dynamics.pipeline.report.maths import CODE, POWER, SIGNS
from learning_dynamics.pipeline.report.templates import MATHS

HEAD = r"""% Claims of {paper}, written by `python -m learning_dynamics tex {paper}`.
% \usepackage{{amsmath,amssymb,booktabs,longtable}} in the preamble, then \input this file there or in the text:
% \ldmeasured{{{example}}}, \ldpredicted{{...}}, \lddraws{{...}}, \ldverdict{{...}} print a claim's numbers,
% \ldtable the table of all.
\makeatletter
\def\ld@print#1#2{{\ifcsname ld@#1@#2\endcsname\csname ld@#1@#2\endcsname\else
  \PackageError{{learning-dynamics}}{{no `#2' of claim `#1'}}{{}}\fi}}
\providecommand\ldmeasured[1]{{\ld@print{{#1}}{{measured}}}}
\providecommand\ldpredicted[1]{{\ld@print{{#1}}{{predicted}}}}
\providecommand\lddraws[1]{{\ld@print{{#1}}{{draws}}}}
\providecommand\ldverdict[1]{{\ld@print{{#1}}{{verdict}}}}
"""
TABLE = r"""\def\ldtable{%
\begin{longtable}{p{.2\linewidth}p{.5\linewidth}ll}
\toprule
Claim & Statement & Measured & Verdict \\
\midrule
\endhead
"""
SPECIAL = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
SPECIAL |= {character: f"\\{character}" for character in "#$%&_{}"}
MATHEMATICAL = {
    "≤": r"\leq",
    "≥": r"\geq",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "→": r"\to",
    "∞": r"\infty",
    "≈": r"\approx",
    "≠": r"\neq",
    "−": "-",
    "σ": r"\sigma",
    "κ": r"\kappa",
    "λ": r"\lambda",
    "γ": r"\gamma",
    "ℓ": r"\ell",
    "∇": r"\nabla",
    "ω": r"\omega",
    "α": r"\alpha",
    "β": r"\beta",
    "η": r"\eta",
    "θ": r"\theta",
    "ε": r"\varepsilon",
    "⊤": r"\top",
    "ᵀ": r"^{\top}",
    "∝": r"\propto",
    "√": r"\surd",
    "Σ": r"\Sigma",
    "‖": r"\Vert",
    "⊥": r"\perp",
}


def describe(paper: str, claims: pd.DataFrame) -> str:
    """Return a file of LaTeX that holds a paper's claims."""
    rows = claims.to_dict("records")
    names = [row["claim"].partition(".")[2] for row in rows]
    lines = [HEAD.format(paper=paper, example=names[0])]
    for name, row in zip(names, rows, strict=True):
        values = {"measured": _measured(row), "verdict": row["verdict"], "draws": str(row["draws"])}
        if not pd.isna(row["predicted"]):
            values["predicted"] = number(row["predicted"])
        lines += [rf"\expandafter\def\csname ld@{name}@{key}\endcsname{{{value}}}" for key, value in values.items()]
    lines.append(TABLE.rstrip("\n"))
    for name, row in zip(names, rows, strict=True):
        statement = prose(row["statement"])
        if row["correction"]:
            statement += rf" \emph{{What holds:}} {prose(row['correction'])}"
        lines.append(rf"{prose(row['reference'])} & {statement} & \ldmeasured{{{name}}} & {row['verdict']} \\")
    lines += [r"\bottomrule", r"\end{longtable}}", r"\makeatother", ""]
    return "\n".join(lines)


def number(value: float, digits: int = 4) -> str:
    """Return a number as LaTeX.

    >>> number(0.39), number(-0.0), number(1e-7)
    ('$0.39$', '$0$', '$10^{-7}$')
    """
    return f"${POWER.sub(_power, f'{value + 0.0:.{digits}g}')}$"


def _power(match: re.Match[str]) -> str:
    factor = "" if match[1] == "1" else rf"{match[1]}\cdot "
    return f"{factor}10^{{{int(match[2])}}}"


def _measured(row: Mapping[str, Any]) -> str:
    if pd.isna(row["measured"]):
        return "--"
    interval = "" if pd.isna(row["lower"]) else f" [{number(row['lower'], 3)}, {number(row['upper'], 3)}]"
    return number(row["measured"]) + interval


def prose(text: str) -> str:
    r"""Return prose with formulas between dollars as LaTeX.

    >>> prose("50 % of `a_b`: $x^2$, ≤ 3e-5")
    '50 \\% of \\texttt{a\\_b}: $x^2$, $\\leq$ $3\\cdot 10^{-5}$'
    """
    pieces = MATHS.split(" ".join(text.split()))
    for index in range(0, len(pieces), 2):
        within = CODE.split(pieces[index])
        within[::2] = [_escape_words(piece) for piece in within[::2]]
        within[1::2] = [rf"\texttt{{{_escape_words(piece.strip('`'))}}}" for piece in within[1::2]]
        pieces[index] = "".join(within)
    return "".join(pieces)


def _escape_words(text: str) -> str:
    for sign, symbol in SIGNS.items():
        text = text.replace(sign, symbol)
    numbers = re.split(rf"({POWER.pattern})", text)
    # of each power the pattern's own two groups come along
    return "".join(
        f"${POWER.sub(_power, piece)}$" if index % 4 == 1 else "".join(map(_escape_letter, piece))
        for index, piece in enumerate(numbers)
        if index % 4 < 2
    )


def _escape_letter(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    if letter in MATHEMATICAL:
        return f"${MATHEMATICAL[letter]}$"
    decomposed = unicodedata.decomposition(letter)
    if decomposed.startswith(("<super>", "<sub>")):
        mark = "^" if decomposed.startswith("<super>") else "_"
        return f"${mark}{{{chr(int(decomposed.split()[1], 16)).replace('−', '-')}}}$"
    return letter
