"""Whether verdicts change when claims are judged again: marks beside a verdict, a line for each claim, a matrix."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES, legend
from learning_dynamics.pipeline.store.records import OWN_CHOICES, agreement

# `in_words` of a paper's configuration, by `setting` or `claim.setting`: how another value of a claim's setting is
# named, as a text with {} for the value, or a text for each value
Phrases = Mapping[str, str | Mapping[str, str]]
MIN_SHARE = 2 / 3  # of other seeds that give a verdict; fewer are marked; chosen
MAX_DIGITS = 4  # of a number without an interval
ROUNDING = 1e-6  # errors below it are those of arithmetic and integrators, whose range says nothing
MAX_OTHERS = 4  # changes with another verdict that are named
OTHERS = {  # what else was tried, by the kind of change: one of them, and several
    "threshold": ("other choice of thresholds", "other choices of thresholds"),
    "seed": ("other seed", "other seeds"),
    "draw": ("random setting", "random settings"),
}
MARKS = {  # beside a verdict
    "†": "another choice of a threshold or setting gives another verdict",
    "‡": "fewer than two thirds of the other seeds that were tried give this verdict",
}


def count_judged_again(claims: pd.DataFrame, variations: pd.DataFrame) -> pd.DataFrame:
    """Return a table of claims with what came of judging them again; verdicts stay those of the configured seed.

    ``agreement`` becomes that of all thresholds and settings tried, ``seeds`` and ``seeds_agreeing`` count other seeds.
    """
    rows_by_claim: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for variation in variations.to_dict("records"):
        rows_by_claim[variation["claim"]].append(variation)
    counted = []
    for row in claims.to_dict("records"):
        rows = rows_by_claim[row["claim"]]
        if any(variation["change"] in OWN_CHOICES for variation in rows):
            row["agreement"] = agreement(row, rows)
        verdicts_of_seeds = [variation["verdict"] for variation in rows if variation["change"] == "seed"]
        row["seeds"] = len(verdicts_of_seeds)
        row["seeds_agreeing"] = verdicts_of_seeds.count(row["verdict"])
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
    """Return in a sentence or two which changes keep a claim's verdict, and which do not; nothing if there are none."""
    keeping, turning = [], []
    for setting in _settings(verdict, rows):
        where = f"in {_of_runs(setting)}{setting.turned}"
        if setting.kept:
            keeping.append(f"with `{setting.name}` {setting.kept} {where}")
        else:
            turning.append(f"with any other value of `{setting.name}` that was tried {where}")
    for kind, (other, others) in OTHERS.items():
        count = _count(kind, verdict, rows, phrases=phrases)
        if count is None:
            continue
        listed = count.turned
        if kind == "seed":
            listed = [*_range_over_seeds(verdict, rows), *listed]
        if count.n_tried == 1:
            what = f"the one {other} that was tried"
        elif count.n_kept:
            what = f"{count.n_kept} of {count.n_tried} {others}"
        else:
            what = f"any of {count.n_tried} {others}"
        (keeping if count.n_kept else turning).append(f"with {what}{_in_brackets(listed)}")
    sentences = []
    if keeping:
        sentences.append(f"The verdict stays {'; '.join(keeping)}")
    if turning:
        sentences.append(f"{'It' if keeping else 'The verdict'} does not stay {'; '.join(turning)}")
    return ". ".join(sentences)


def comparable_numbers(variations: pd.DataFrame, decisive: Mapping[str, Any] | None) -> pd.DataFrame:
    """Return a claim's variations without numbers that are not of the check that its card shows.

    A variation has the number of the headline, the first check. Where another one decides, the card shows that one's.
    """
    if decisive and decisive["check"] != 0:
        return variations.assign(measured=np.nan)
    return variations


def stable_digits(claim: Mapping[str, Any], rows: pd.DataFrame) -> int:
    """Return how many digits of a claim's number its spread over seeds leaves: 2 to 4, and 4 without other seeds."""
    seeds = rows[(rows["change"] == "seed") & (rows["verdict"] == claim["verdict"])]["measured"]
    values = np.array([claim["measured"], *seeds], dtype=float)
    values = values[np.isfinite(values)]
    if not len(values) or np.ptp(values) == 0:
        return MAX_DIGITS
    # from 0.123 to 0.125 the numbers share two digits and differ in the third
    n_shared = np.floor(np.log10(np.abs(values).max() / np.ptp(values))) + 1
    return int(np.clip(n_shared, 2, MAX_DIGITS))


def page(claims: pd.DataFrame, variations: pd.DataFrame, phrases: Mapping[str, Phrases]) -> str:
    """Return all claims against the kinds of change, as Markdown: how many verdicts stay, and where they turn.

    Parameters
    ----------
    phrases : mapping of str to mapping
        By paper, how another threshold is named; see `describe_thresholds`.
    """
    claims = claims.assign(marks=[marks(claim) for claim in _records(claims)])
    lines = [
        "# Robustness: claims judged again",
        "",
        _summary(claims, variations),
        "",
        "Every verdict, with its reason: [robustness.csv](robustness.csv). Made by `make robustness` (`SEEDS=20` tries "
        "twenty seeds).",
        "",
        *(
            f"- `{row['claim']}`, draw {row['value']}: contradicted: {row['reason']}"
            for row in _records(_contradicted_draws(claims, variations))
        ),
        "",
        "; ".join([legend(claims["verdict"]), *meanings(claims["marks"])])
        + ". 14/17: 14 of the 17 other thresholds, other seeds or random settings that were tried give the verdict.",
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
    n_contradicted = _contradicted_draws(claims, variations)["claim"].nunique()
    return (
        f"{variations['claim'].nunique()} claims were judged again under some change. The published verdict is always "
        "that of the default run; what was judged again only sets marks beside it. For "
        f"{sum('†' in shown for shown in claims['marks'])} claims another threshold, or another value of a setting, "
        "gives another verdict (†). Other seeds were tried for "
        f"{len(under_seeds)} claims: for {(under_seeds['seeds_agreeing'] == under_seeds['seeds']).sum()} every seed "
        f"gives the verdict, for {sum('‡' in shown for shown in claims['marks']) or 'none'} fewer than two thirds do "
        "(‡). For "
        f"{under_draws.nunique()} theorems and formulas, what their hypotheses leave free was drawn at random: "
        f"{n_contradicted or 'none'} of them {'is' if n_contradicted <= 1 else 'are'} contradicted under such a draw."
    )


def _table(claims: pd.DataFrame, variations: pd.DataFrame, phrases: Phrases) -> list[str]:
    """Return the lines of a table of claims by kinds of change; claims whose cells agree share a row."""
    names_by_row: dict[str, list[str]] = {}
    for claim in _records(claims):
        rows, verdict = variations[variations["claim"] == claim["claim"]], claim["verdict"]
        settings = [
            f"`{setting.name}` {setting.kept or 'at no other value'} in {_of_runs(setting)}{setting.turned}"
            for setting in _settings(verdict, rows)
        ]
        cells = ["<br>".join(settings)]
        for kind in OTHERS:
            count = _count(kind, verdict, rows, phrases=phrases)
            cells.append(f"{count.n_kept}/{count.n_tried}{_in_brackets(count.turned)}" if count else "")
        row = "|".join(_in_unicode(cell).replace("|", "\\|") for cell in cells)
        name = claim["claim"].partition(".")[2]
        names_by_row.setdefault(row, []).append(f"{VERDICT_STYLES[verdict].sign}{claim['marks']}&nbsp;`{name}`")
    return [
        "|claims|settings with the same verdict|thresholds|seeds|random settings|",
        "|---|---|---|---|---|",
        *(f"|{' '.join(names)}|{row}|" for row, names in names_by_row.items()),
    ]


def _in_unicode(text: str) -> str:
    """Return a text with its formulas in Unicode; names of settings stay as they are."""
    return re.sub(r"\$(.+?)\$", lambda formula: maths.to_text(formula[1]), text)


class Setting(NamedTuple):
    """Over which values of a setting a verdict holds."""

    name: str
    runs: tuple[str, ...]  # in which it was varied
    kept: str  # values that keep the verdict; nothing if none does
    turned: str  # in brackets, those that turn it; nothing if none does


def _settings(verdict: str, rows: pd.DataFrame) -> list[Setting]:
    """Return for each setting over which values a verdict holds; runs that agree on this share an entry."""
    rows = rows[rows["change"] == "setting"].sort_values("what", kind="stable")
    runs: dict[tuple[str, str, str], list[str]] = {}
    for what, rows_of_setting in rows.groupby("what", sort=False):
        run, _, name = str(what).partition(".")
        kept, turned = _stretches(verdict, rows_of_setting.to_dict("records"))
        runs.setdefault((name, kept, turned), []).append(run)
    return [Setting(name, tuple(of_runs), kept, turned) for (name, kept, turned), of_runs in runs.items()]


def _of_runs(setting: Setting) -> str:
    """Return the runs in which a setting was varied, for a sentence."""
    *others, last = [f"`{name}`" for name in setting.runs]
    if others:
        return f"the runs {', '.join(others)} and {last}"
    return f"the run {last}"


class Count(NamedTuple):
    """How many changes of a kind keep a verdict."""

    n_kept: int
    n_tried: int
    turned: list[str]  # the changes that turn it, in words


def _count(kind: str, verdict: str, all_rows: pd.DataFrame, *, phrases: Phrases) -> Count | None:
    """Return how many changes of a kind keep a verdict, and which turn it; None if none was tried."""
    rows = all_rows[all_rows["change"] == kind].to_dict("records")
    if not rows:
        return None
    turned = [row for row in rows if row["verdict"] != verdict]
    if kind == "threshold":
        words = [f"{row['verdict']} if {describe_thresholds(row, phrases)}" for row in _smallest_changes(turned)]
    elif kind == "seed":
        words = [f"{row['verdict']} with seed {row['value']}" for row in turned]
    else:
        counts = Counter(row["verdict"] for row in turned)
        words = [f"{counts[other]} {other}" for other in VERDICT_STYLES if counts[other]]
    return Count(len(rows) - len(turned), len(rows), words)


def _range_over_seeds(verdict: str, all_rows: pd.DataFrame) -> list[str]:
    """Return what other seeds measured, as 'measured 1 to 2'.

    Nothing if all agree, or differ by rounding; and nothing if a verdict turns: then the numbers may be of another
    check.
    """
    rows = all_rows[all_rows["change"] == "seed"]
    measured = rows.loc[np.isfinite(rows["measured"]), "measured"]
    if measured.empty or (rows["verdict"] != verdict).any() or measured.abs().max() < ROUNDING:
        return []
    low, high = f"{measured.min():.2g}", f"{measured.max():.2g}"
    return [f"measured {low} to {high}"] if low != high else []


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
    """Return the changes of thresholds of which no part alone gives the same verdict.

    If ``level = 0.1`` gives `undecided`, so that ``level = 0.1`` with ``share = 0.2`` does too, the first is enough.
    """
    smallest = []
    for row in rows:
        # `<` of items is a proper subset
        parts = [other for other in rows if _thresholds(other).items() < _thresholds(row).items()]
        if not any(part["verdict"] == row["verdict"] for part in parts):
            smallest.append(row)
    return smallest


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
    kept, turned = [], []
    for its_verdict, neighbours in groupby(values, key=lambda value: by_value[value]["verdict"]):
        first, *rest = map(format_value, neighbours)
        stretch = f"from {first} to {rest[-1]}" if rest else f"at {first}"
        if its_verdict == verdict:
            kept.append(stretch)
        else:
            turned.append(f"{its_verdict} {stretch}")
    return " and ".join(kept), _in_brackets(turned)


def format_value(value: str) -> str:
    """Return a value as one writes it by hand: 1e-6 for 1e-06, 1 for 1.0, and sizes of classes by colons.

    >>> format_value("1e+06"), format_value("1.0"), format_value("[[64, 16, 4, 1]]"), format_value("[0.1, 0.5]")
    ('1e6', '1', '64:16:4:1', '[0.1, 0.5]')
    >>> format_value("[0.01]"), format_value("0.00031622776"), format_value("697.83"), format_value("100000000.0")
    ('0.01', '0.000316', '698', '1e8')
    """
    one_list = re.fullmatch(r"\[\[([\d, ]+)\]\]", value)
    if one_list:
        return one_list[1].replace(", ", ":")
    value = re.sub(r"^\[([^\[\],]+)\]$", r"\1", value)  # a list of one value is that value
    with suppress(ValueError):
        value = _format_number(float(value))
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", value)


def _format_number(value: float) -> str:
    """Return a number in three digits, a whole one below a million in all of its digits."""
    if value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    if 1000 <= abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.3g}"
