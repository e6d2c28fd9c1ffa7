"""How verdicts fare when claims are judged again: marks beside a verdict, a line for each claim, a matrix."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES, legend
from learning_dynamics.pipeline.store.records import OWN_CHOICES, agreement

# how another value of a claim's setting is named, by `setting` or `claim.setting`: a text with {} for the value, or a
# text for each value
Phrases = Mapping[str, str | Mapping[str, str]]
MIN_SHARE = 2 / 3  # of other seeds that give a verdict; fewer are marked
MAX_DIGITS = 4  # of a number without an interval
ROUNDING = 1e-6  # errors below it are those of arithmetic and integrators, whose range says nothing
MAX_OTHERS = 4  # changes with another verdict that are named
SENTENCES = {
    "threshold": "at {} of {} other thresholds",
    "seed": "with {} of {} other seeds",
    "draw": "in {} of {} random settings",
}
CELLS = dict.fromkeys(SENTENCES, "{}/{}")  # in a table whose head names the kind
MARKS = {  # beside a verdict
    "†": "another choice of a threshold or setting gives another verdict",
    "‡": "fewer than two of three other seeds give this verdict",
}


def count_judged_again(claims: pd.DataFrame, variations: pd.DataFrame) -> pd.DataFrame:
    """Return a table of claims with what came of judging them again; verdicts stay those of the configured seed.

    ``agreement`` becomes that of all thresholds and settings tried, ``seeds`` and ``seeds_agreeing`` count other seeds.
    """
    counted = []
    for row in claims.to_dict("records"):
        rows = variations[variations["claim"] == row["claim"]]
        if rows["change"].isin(OWN_CHOICES).any():
            row["agreement"] = agreement(row, rows.to_dict("records"))
        seeds = rows[rows["change"] == "seed"]
        row["seeds"] = len(seeds)
        row["seeds_agreeing"] = int((seeds["verdict"] == row["verdict"]).sum())
        counted.append(row)
    return pd.DataFrame(counted, columns=claims.columns).astype(claims.dtypes)


def marks(claim: Mapping[str, Any]) -> str:
    """Return the marks beside a claim's verdict, of `MARKS`; none where nothing was judged again."""
    shown = ""
    if claim["agreement"] < 1:  # false for nan, where no choice was tried
        shown += "†"
    if claim["seeds_agreeing"] < MIN_SHARE * claim["seeds"]:
        shown += "‡"
    return shown


def meanings(marked: Iterable[str]) -> list[str]:
    """Return what the marks beside some verdicts mean, each once, with the mark."""
    used = set("".join(marked))
    return [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in used]


def describe(verdict: str, rows: pd.DataFrame, phrases: Phrases) -> str:
    """Return in a line under which changes a claim keeps its verdict; nothing if there are none."""
    parts = [f"with {text}" for text in _settings(verdict, rows)]
    parts += [text for kind, words in SENTENCES.items() for text in _count(kind, words, verdict, rows, phrases)]
    if not parts:
        return ""
    opening = "Holds" if verdict in ("reproduced", "corrected") else "Same verdict"
    return f"{opening} {'; '.join(parts)}"


def stable_digits(claim: Mapping[str, Any], rows: pd.DataFrame) -> int:
    """Return how many digits of a claim's number its spread over seeds leaves: 2 to 4, and 4 without other seeds."""
    seeds = rows[(rows["change"] == "seed") & (rows["verdict"] == claim["verdict"])]["measured"]
    values = np.array([claim["measured"], *seeds], dtype=float)
    values = values[np.isfinite(values)]
    if not len(values) or np.ptp(values) == 0:
        return MAX_DIGITS
    return int(np.clip(np.floor(np.log10(np.abs(values).max() / np.ptp(values))) + 1, 2, MAX_DIGITS))


def page(claims: pd.DataFrame, variations: pd.DataFrame, phrases: Mapping[str, Phrases]) -> str:
    """Return all claims against the kinds of change, as Markdown: how many verdicts stay, and where they turn.

    Parameters
    ----------
    phrases : mapping of str to mapping
        By paper, how another threshold is named; see `describe_thresholds`.
    """
    claims = claims.assign(marks=[marks(claim) for claim in _records(claims)])
    lines = [
        "# Judged again",
        "",
        _summary(claims, variations),
        "",
        "Every verdict, with its reason: [robustness.csv](robustness.csv). Made by `make robustness`.",
        "",
        *(
            f"- `{row['claim']}`, draw {row['value']}: contradicted: {row['reason']}"
            for row in _records(_contradicted_draws(claims, variations))
        ),
        "",
        "; ".join([legend(claims["verdict"]), *meanings(claims["marks"])])
        + ". 2/3: two of three give the verdict, of the other thresholds, the other seeds, or the random settings.",
        "",
    ]
    judged_again = claims[claims["claim"].isin(variations["claim"])]
    for paper, of_paper in judged_again.groupby(judged_again["claim"].str.split(".").str[0], sort=False):
        lines += ["", f"## {paper}", "", *_table(of_paper, variations, phrases[paper])]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table.to_dict("records")


def _contradicted_draws(claims: pd.DataFrame, variations: pd.DataFrame) -> pd.DataFrame:
    """Return the draws under which a claim is contradicted that is not so by default, in the order of claims."""
    order = {claim["claim"]: place for place, claim in enumerate(_records(claims[claims["verdict"] != "contradicted"]))}
    is_contradicted = (variations["change"] == "draw") & (variations["verdict"] == "contradicted")
    rows = variations[is_contradicted & variations["claim"].isin(order)]
    return rows.sort_values("claim", key=lambda names: names.map(order), kind="stable")


def _summary(claims: pd.DataFrame, variations: pd.DataFrame) -> str:
    """Return in a paragraph how many claims were judged again, and how many got another verdict."""
    under_seeds = claims[claims["seeds"] > 0]
    under_draws = variations.loc[variations["change"] == "draw", "claim"]
    return (
        f"{variations['claim'].nunique()} claims were judged again with something changed. No change alters a verdict, "
        "which is that of the default run. Another threshold, or another value of a setting that the paper does not "
        f"state, gives another verdict on {sum('†' in shown for shown in claims['marks'])} (†). Under other seeds "
        f"{len(under_seeds)} claims were judged: all seeds give the verdict on "
        f"{(under_seeds['seeds_agreeing'] == under_seeds['seeds']).sum()}, fewer than two of three on "
        f"{sum('‡' in shown for shown in claims['marks'])} (‡). Under random settings of what hypotheses leave free "
        f"{under_draws.nunique()} theorems and formulas were judged; "
        f"{_contradicted_draws(claims, variations)['claim'].nunique()} are contradicted under one."
    )


def _table(claims: pd.DataFrame, variations: pd.DataFrame, phrases: Phrases) -> list[str]:
    """Return the lines of a table of claims by kinds of change; claims whose cells agree share a row."""
    names_by_row: dict[str, list[str]] = {}
    for claim in _records(claims):
        rows, verdict = variations[variations["claim"] == claim["claim"]], claim["verdict"]
        cells = ["<br>".join(_settings(verdict, rows))]
        cells += ["".join(_count(kind, words, verdict, rows, phrases)) for kind, words in CELLS.items()]
        row = "|".join(_in_unicode(cell).replace("|", "\\|") for cell in cells)
        name = claim["claim"].partition(".")[2]
        names_by_row.setdefault(row, []).append(f"{VERDICT_STYLES[verdict].sign}{claim['marks']}&nbsp;`{name}`")
    return [
        "|claims|settings|thresholds|seeds|random settings|",
        "|---|---|---|---|---|",
        *(f"|{' '.join(names)}|{row}|" for row, names in names_by_row.items()),
    ]


def _in_unicode(text: str) -> str:
    """Return a text with its formulas in Unicode; names of settings stay as they are."""
    return re.sub(r"\$(.+?)\$", lambda formula: maths.to_text(formula[1]), text)


def _settings(verdict: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield for each setting over which values a verdict holds: one text for runs that agree."""
    rows = rows[rows["change"] == "setting"].sort_values("what", kind="stable")
    runs: dict[tuple[str, str, str], list[str]] = {}
    for what, tried in rows.groupby("what", sort=False):
        run, _, setting = str(what).partition(".")
        runs.setdefault((setting, *_stretches(verdict, tried.to_dict("records"))), []).append(run)
    for (setting, kept, turned), names in runs.items():
        values = f"`{setting}` {kept}" if kept else f"no other `{setting}` tried"
        yield f"{values} in {', '.join(names)}{turned}"


def _count(kind: str, words: str, verdict: str, all_rows: pd.DataFrame, phrases: Phrases) -> Iterator[str]:
    """Yield how many changes of a kind keep a verdict, and which turn it; nothing where none was tried."""
    rows = all_rows[all_rows["change"] == kind].to_dict("records")
    if not rows:
        return
    turned = [row for row in rows if row["verdict"] != verdict]
    if kind == "threshold":
        others = [f"{row['verdict']} where {describe_thresholds(row, phrases)}" for row in _smallest_changes(turned)]
    elif kind == "seed":
        others = [f"{row['verdict']} with seed {row['value']}" for row in turned]
        measured = [row["measured"] for row in rows if np.isfinite(row["measured"])]
        low, high = (f"{end:.2g}" for end in (min(measured, default=0), max(measured, default=0)))
        is_rounding = max(map(abs, measured), default=0) < ROUNDING
        # of a verdict that turns they are perhaps another check's
        if low != high and not (turned or is_rounding) and words is SENTENCES[kind]:
            others.insert(0, f"measured {low} to {high}")
    else:
        counts = Counter(row["verdict"] for row in turned)
        others = [f"{counts[other]} {other}" for other in VERDICT_STYLES if counts[other]]
    yield words.format(len(rows) - len(turned), len(rows)) + _in_brackets(others)


def describe_thresholds(row: Mapping[str, Any], phrases: Phrases) -> str:
    """Return the thresholds that were changed for a verdict, in the words of the paper's configuration, or by name.

    >>> row = {"claim": "p.nc1", "what": "level and average and share", "value": "0.1 and median and 0.2"}
    >>> describe_thresholds(row, {"nc1.level": "{} is small", "level": "?", "average": {"median": "it is the median"}})
    '0.1 is small and it is the median and `share` is 0.2'
    """
    claim, texts = row["claim"].partition(".")[2], []
    for name, value in _thresholds(row).items():
        phrase = phrases.get(f"{claim}.{name}", phrases.get(name, f"`{name}` is {{}}"))
        if not isinstance(phrase, str):
            phrase = phrase.get(value, f"`{name}` is {{}}")
        texts.append(phrase.replace("{}", format_value(value)))
    return " and ".join(texts)


def _thresholds(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the thresholds that were changed together, by name."""
    names = row["what"].split(" and ")
    return dict(zip(names, row["value"].split(" and ", len(names) - 1), strict=True))


def _smallest_changes(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the changes of thresholds of which no part alone gives the same verdict."""
    changes = [(_thresholds(row).items(), row["verdict"]) for row in rows]
    return [
        row
        for row, (change, verdict) in zip(rows, changes, strict=True)
        if not any(part < change and other == verdict for part, other in changes)
    ]


def _in_brackets(others: Sequence[str]) -> str:
    if not others:
        return ""
    listed = list(others[:MAX_OTHERS])
    if len(others) > MAX_OTHERS:
        listed.append(f"{len(others) - MAX_OTHERS} more")
    return f" ({', '.join(listed)})"


def _stretches(verdict: str, rows: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return over which values of a setting a verdict holds, and, in brackets, where it turns into which other."""
    by_value = {row["value"]: row for row in rows}
    values = list(by_value)
    with suppress(ValueError):  # words and lists stay in the order of the configuration
        values.sort(key=float)
    stretches: dict[bool, list[str]] = {True: [], False: []}
    for other, group in groupby(values, key=lambda value: by_value[value]["verdict"]):
        first, *rest = map(format_value, group)
        stretch = f"from {first} to {rest[-1]}" if rest else f"at {first}"
        if other == verdict:
            stretches[True].append(stretch)
        else:
            stretches[False].append(f"{other} {stretch}")
    return " and ".join(stretches[True]), _in_brackets(stretches[False])


def format_value(value: str) -> str:
    """Return a value as one writes it by hand: 1e-6 for 1e-06, 1 for 1.0, and sizes of classes by colons.

    >>> format_value("1e+06"), format_value("1.0"), format_value("[[64, 16, 4, 1]]"), format_value("[0.1, 0.5]")
    ('1e6', '1', '64:16:4:1', '[0.1, 0.5]')
    """
    one_list = re.fullmatch(r"\[\[([\d, ]+)\]\]", value)
    if one_list:
        return one_list[1].replace(", ", ":")
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", value).removesuffix(".0")
