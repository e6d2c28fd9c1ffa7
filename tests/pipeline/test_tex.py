"""A paper's claims as LaTeX: numbers as macros, a table that LaTeX sets."""

import shutil
import subprocess

import pandas as pd
import pytest

from learning_dynamics.pipeline.report import tex
from learning_dynamics.pipeline.store.records import COLUMNS

PDFLATEX = shutil.which("pdflatex")


def claims():
    blank = {"float": float("nan"), "int": 0, "str": ""}
    whole = {column.name: blank[column.type] for column in COLUMNS}
    first = {"claim": "toy.lemma_1", "reference": "Lemma 1, 50 %", "statement": r"As $\gamma \to 0$ & `a_b` ≤ 3e-5"}
    first |= {"verdict": "corrected", "correction": r"$\|x\| \le 1$", "measured": 2.5e-14, "draws": 3}
    second = {"claim": "toy.figure_2", "reference": "Figure 2", "statement": "x² rises", "verdict": "untested"}
    return pd.DataFrame([whole | first, whole | second | {"measured": 0.5, "lower": 0.25, "upper": 0.75}])


def test_numbers_are_macros_and_prose_is_escaped():
    text = tex.describe("toy", claims())
    assert r"\csname ld@lemma_1@measured\endcsname{$2.5\cdot 10^{-14}$}" in text
    assert r"\csname ld@figure_2@measured\endcsname{$0.5$ [$0.25$, $0.75$]}" in text
    assert r"Lemma 1, 50 \% & As $\gamma \to 0$ \& \texttt{a\_b} $\leq$ $3\cdot 10^{-5}$" in text
    assert "ld@figure_2@predicted" not in text


@pytest.mark.skipif(PDFLATEX is None, reason="pdflatex is not installed")
def test_latex_sets_it(tmp_path):
    (tmp_path / "claims.tex").write_text(tex.describe("toy", claims()), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{amsmath,amssymb,booktabs,longtable}\input{claims}"
        r"\begin{document}\ldmeasured{lemma_1} \ldverdict{figure_2} \ldtable\end{document}",
        encoding="utf-8",
    )
    ended = subprocess.run([PDFLATEX, "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]


def test_it_replaces_no_article(workspace):
    article = workspace.folder / "article.tex"
    article.write_text("\\documentclass{article}\n")
    ended = workspace.stage("tex", "toy", "--out", "article.tex")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "article.tex: is there, and was not written by this command" in ended.stderr
    assert article.read_text() == "\\documentclass{article}\n"
    for _ in range(2):
        assert workspace.stage("tex", "toy", "--out", "claims.tex").returncode == 0
