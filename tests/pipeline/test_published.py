"""The published results: those of the configuration, and compared with a run claim by claim."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from learning_dynamics.pipeline.commands import compare, publish, robustness, verdicts
from learning_dynamics.pipeline.commands.publish import to_csv
from learning_dynamics.pipeline.plan.config_files import load, read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.report import contents, counts, markdown
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS, is_expected
from learning_dynamics.pipeline.store.tables import write_table

MOST = 6_500_000  # bytes, for who clones the project; pictures take 5 MB, twenty seeds of every claim 0.3 MB


def claims(*rows):
    blank = {"float": float("nan"), "int": 0, "str": ""}
    whole = {column.name: blank[column.type] for column in COLUMNS} | {"paper": "toy", "rivals": "{}"}
    return pd.DataFrame([whole | row for row in rows])


def publish_claims(folder, table):
    (folder / published.CLAIMS).write_text(to_csv(table), encoding="utf-8")
    return published.read_claims(folder)


def versions(folder, **block):
    (folder / published.VERSIONS).write_text(json.dumps(block), encoding="utf-8")


def differences(plan, folder):
    """Return in what the published results are not those of the configuration, without running anything."""
    claims = published.read_claims(folder)
    if claims is None:
        return [f"{folder / published.CLAIMS}: is not there"]
    config, verdicts = plan.config, dict(zip(claims["claim"], claims["verdict"], strict=True))
    # a paper that is begun here is published with the next publication
    papers = [paper for paper in config.papers if paper in set(claims["paper"])]
    expected = {f"{p}.{name}": config.expected_verdict(p, name) for p in papers for name in config.blocks(p, "claims")}
    figures = {f"{p}/{name}" for p in papers for name in config.figures(p)}
    figures |= {f"{p}/{name}.motion" for p in papers for name in config.motions(p)}
    # a table is a figure that is published as CSV
    files = [path.relative_to(folder) for kind in ("png", "webp", "csv") for path in folder.glob(f"*/*.{kind}")]
    present = {path.with_suffix("").as_posix() for path in files}
    configured, there = {**expected, **dict.fromkeys(sorted(figures))}, {**verdicts, **dict.fromkeys(sorted(present))}
    return [
        *(f"{name}: is configured, not published" for name in configured if name not in there),
        *(f"{name}: is published, not configured" for name in there if name not in configured),
        *(
            f"{claim}: is published as {verdicts[claim]}, expected {verdict}"
            for claim, verdict in expected.items()
            if claim in verdicts and not is_expected(verdicts[claim], verdict)
        ),
    ]


def test_published_results_are_those_of_the_configuration():
    if not published.FOLDER.is_dir():
        pytest.skip("nothing is published yet")
    stale = differences(Plan(load()), published.FOLDER)
    # a reader of the published pages is told which claims are judged otherwise by now
    newer = published.FOLDER / "judged_since.md"
    listed = re.findall(r"^\| `([\w.]+)` ", newer.read_text(encoding="utf-8"), re.MULTILINE) if newer.exists() else []
    assert sorted(line.partition(":")[0] for line in stale) == sorted(listed), "write them again with: make publish"
    assert sum(path.stat().st_size for path in published.FOLDER.rglob("*") if path.is_file()) < MOST


def test_claims_are_compared_in_the_order_of_the_run_and_of_papers_that_were_run(tmp_path):
    for here, there, outcome in (
        ({"verdict": "reproduced", "measured": 1.0}, {"verdict": "reproduced", "measured": 1.0}, "as published"),
        ({"verdict": "untested"}, {"verdict": "untested"}, "as published"),
        ({"verdict": "reproduced", "measured": 1.0}, {"verdict": "reproduced", "measured": 2.0}, "with another number"),
        (
            {"verdict": "reproduced", "measured": 1.0},
            {"verdict": "reproduced", "measured": 2.0, "lower": 0.5, "upper": 3.5},
            "as published",
        ),
        ({"verdict": "corrected", "measured": 1.0}, {"verdict": "reproduced", "measured": 1.0}, "with another verdict"),
    ):
        known = publish_claims(tmp_path, claims({"claim": "toy.lemma", **there}))
        assert list(published.compare_claims(claims({"claim": "toy.lemma", **here}), known)["outcome"]) == [outcome], (
            here
        )

    others = {"claim": "other.a", "paper": "other", "statement": r"$\sigma_1 \le 10^{-3}$, always"}
    known = publish_claims(
        tmp_path, claims(*({"claim": f"toy.{name}", "verdict": "reproduced"} for name in "bcx"), others)
    )
    assert known["statement"].iloc[-1] == "σ₁ ≤ 10⁻³, always"
    both = published.compare_claims(
        claims(*({"claim": f"toy.{name}", "verdict": "reproduced"} for name in "cab")), known
    ).set_index("claim")
    assert list(both.index) == ["toy.c", "toy.a", "toy.b", "toy.x"]
    assert list(both["outcome"]) == ["as published", "new", "as published", "missing"]


def test_compare_says_what_differs_and_what_is_of_another_version(tmp_path, monkeypatch, capsys, configured):
    publish_claims(
        tmp_path, claims({"claim": "toy.a", "verdict": "reproduced"}, {"claim": "toy.b", "verdict": "reproduced"})
    )
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    monkeypatch.setattr(published.read_claims, "__defaults__", (tmp_path,))
    table = claims({"claim": "toy.a", "verdict": "reproduced"}, {"claim": "toy.b", "verdict": "contradicted"})
    write_table(tmp_path / "claims.parquet", table, COLUMNS, {"settings": {}})
    assert compare.execute(tmp_path / "claims.parquet") == 1
    printed = capsys.readouterr().out
    assert "1 with another verdict" in printed
    planned = {"toy": configured().fingerprint("claims", "toy", "claims")}
    for made, outdated in ((planned["toy"], 0), ("of another", 1)):
        versions(tmp_path, verdicts={"toy": made})
        assert len(published.find_outdated_papers(planned, tmp_path)) == outdated, made
    assert "differs from the published results: toy.b: contradicted, was reproduced" in verdicts.describe_differences(
        table, published.read_claims()
    )


def test_counts_are_compared_whichever_way_the_default_table_is_named(tmp_path, monkeypatch, capsys):
    table = claims({"claim": "toy.a", "verdict": "reproduced"})
    publish_claims(tmp_path, table)
    monkeypatch.setattr(published.read_claims, "__defaults__", (tmp_path,))
    monkeypatch.setattr(counts, "published_counts", lambda root: {})
    monkeypatch.chdir(tmp_path)
    default = Path("results/claims.parquet")
    default.parent.mkdir()
    write_table(default, table, COLUMNS, {"settings": {}})
    (default.parent / "verdicts.txt").write_text("1 claims: 1 corrected\n")
    for named in (default, default.absolute()):
        assert compare.execute(named) == 1, named
        assert "counts differ" in capsys.readouterr().out, named


def test_every_table_shows_the_number_of_what_holds_and_names_that_of_what_is_printed(tmp_path, monkeypatch, capsys):
    corrected = {"claim": "toy.lemma", "verdict": "corrected", "measured": 4.085, "measured_as_printed": -4004.0}
    table = claims(corrected | {"reference": "Lemma 1", "quantity": "decay", "quantity_as_printed": r"$\gamma$ of it"})
    known = publish_claims(tmp_path, table)
    assert list(known.loc[0, ["measured", "measured_as_printed", "quantity_as_printed"]]) == [4.085, -4004.0, "γ of it"]
    head, _, row = verdicts.describe(table, width=150).splitlines()[1:4]
    assert [row[head.index(column) :].split()[0] for column in ("measured", "as printed")] == ["4.085", "−4004"]
    monkeypatch.setattr(published.read_claims, "__defaults__", (tmp_path,))
    write_table(tmp_path / "claims.parquet", table, COLUMNS, {"settings": {}})
    compare.execute(tmp_path / "claims.parquet")
    assert capsys.readouterr().out.count("4.085 (as printed −4004)") == 2
    page = markdown.scale_page("small", {"toy": "Toy"}, table, published.compare_claims(table, known), set())
    assert "| corrected | 4.085 (as printed −4004) | corrected | 4.085 (as printed −4004) |" in page


def test_the_page_of_a_scale_compares_no_verdicts_that_checks_of_other_names_decided():
    here = claims(*({"claim": f"toy.{name}", "verdict": "reproduced"} for name in "abc"))
    there = here.assign(verdict=["reproduced", "undecided", "undecided"])
    page = markdown.scale_page("small", {}, there, published.compare_claims(there, here), {"toy.c"})
    assert "1 get the verdict of [the default run](../../results/README.md), 1 another; 1 were judged" in page
    sections = {section.splitlines()[0]: section for section in page.split("\n## ")}
    assert "[toy.a]" in sections["The verdict of the default run"]
    assert "[toy.b]" in sections["Another verdict than in the default run"]
    assert "[toy.c]" in sections["Judged by a check of another name than in the default run"]
    assert page.count("](toy.md#") == 3


@pytest.fixture(scope="module")
def publishing_once(built, tmp_path_factory):
    workspace = built.copy(tmp_path_factory.mktemp("publishing") / "project")
    workspace.write("README.md", "# ours\n\n<!-- findings -->\nold\n<!-- end of findings -->\n\nmore\n")
    ended = workspace.cli("publish")
    assert ended.returncode == 0, ended.stderr
    return workspace


@pytest.fixture
def publishing(publishing_once, tmp_path):
    return publishing_once.copy(tmp_path / "project")


def test_publishing_writes_what_a_reader_needs(publishing):
    folder = publishing.folder / "docs/results"
    block = read_yaml(publishing.folder / "workflow/config/toy.yaml")
    page = (folder / "toy.md").read_text(encoding="utf-8")
    for name in block["figures"]:
        assert f"](toy/{name}.webp)" in page, name
        with (
            Image.open(folder / f"toy/{name}.webp") as shown,
            Image.open(publishing.folder / f"figures/toy/{name}.png") as drawn,
        ):
            np.testing.assert_array_equal(shown.convert("RGB"), drawn.convert("RGB"), name)
    for name in block["claims"]:
        assert f'<a name="toy.{name}"></a>' in page, name
    assert "decay" in publishing.read("docs/results/README.md")
    readme = publishing.read("README.md")
    assert readme.startswith("# ours\n")
    assert readme.endswith("\nmore\n")
    assert "old" not in readme
    assert "docs/results/toy.md" in readme
    for written in folder.glob("*.md"):
        for link in re.findall(r"\]\(([^)#]+)", written.read_text(encoding="utf-8")):
            assert (written.parent / link).exists(), f"{written.name}: {link}"
    ended = publishing.cli("compare")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "as published" in ended.stdout
    assert "counts differ" not in ended.stdout
    summary = counts.counts_of_terminal(publishing.cli("summary").stdout)
    assert summary == counts.counts_of_terminal(publishing.read("results/verdicts.txt")) == {"reproduced": 2}


def test_publishing_again_changes_nothing_and_refuses_what_is_outdated(publishing):
    def state():
        files = sorted((publishing.folder / "docs/results").rglob("*"))
        return {file: file.read_bytes() for file in files if file.is_file()}

    before = state()
    stray = publishing.folder / "docs/results/toy/of_old.webp"
    stray.write_bytes(b"")  # what was published once, and is not any more, goes
    assert publishing.cli("publish").returncode == 0
    assert state() == before
    publishing.configure("runs", "descent", "steps", value=400)
    ended = publishing.cli("publish")
    assert ended.returncode == 1
    assert "make figures" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert state() == before


PUBLISHED_AGAIN = """claim,change,what,value,verdict,measured,reason
toy.decay,seed,seed,2024,undecided,1.5,
toy.decay,draw,draw,7,reproduced,1.5,
toy.decay,setting,slow.rate,0.5,reproduced,1.5,
toy.decay,threshold,rounding,2.0,reproduced,1.5,
gone,draw,draw,1,reproduced,1.5,
toy.other,seed,seed,2024,reproduced,1.5,
"""


def publish_claims_with_variations(folder):
    """Publish two claims, judged again, and return those of a run in which the second has another verdict."""
    publish_claims(
        folder, claims({"claim": "toy.decay", "verdict": "reproduced"}, {"claim": "toy.other", "verdict": "corrected"})
    )
    (folder / published.ROBUSTNESS).write_text(PUBLISHED_AGAIN, encoding="utf-8")
    return claims(*({"claim": f"toy.{name}", "verdict": "reproduced"} for name in ("decay", "other", "new")))


def test_what_is_published_of_claims_judged_again_stays_beside_a_run_with_the_same_verdict(tmp_path):
    run, nothing = publish_claims_with_variations(tmp_path), published.read_variations(tmp_path).head(0)
    variations = published.complete_variations(nothing, run, tmp_path)
    assert set(variations["claim"]) == {"toy.decay"}
    assert list(variations["value"]) == ["2024", "7", "0.5"]
    # other seeds are judged here: published draws and settings stay; other draws: published seeds stay
    seed, draw = (variations[variations["change"] == change].assign(value="9") for change in ("seed", "draw"))
    assert list(published.complete_variations(seed, run, tmp_path)["value"]) == ["9", "7", "0.5"]
    assert list(published.complete_variations(draw, run, tmp_path)["value"]) == ["9", "2024"]
    (tmp_path / published.ROBUSTNESS).unlink()
    assert published.complete_variations(nothing, run, tmp_path).empty


@pytest.mark.parametrize(
    ("setting", "values", "kept"), [("rate", [0.1, 0.9], ["2024", "7", "0.5"]), ("steps", [1, 9], ["2024", "7"])]
)
def test_of_a_setting_that_is_no_longer_changed_nothing_published_stays(
    setting, values, kept, tmp_path, configured, monkeypatch
):
    entry = {"run": "slow", "setting": setting, "range": values, "claims": ["geometric"]}
    plan = configured("robustness.range", entry)
    monkeypatch.setattr(published, "folder_of", lambda scale: tmp_path)
    rows = robustness.read_all_variations(plan, tmp_path / "results", publish_claims_with_variations(tmp_path))
    assert list(rows["value"]) == kept


def test_what_was_judged_again_at_an_earlier_commit_is_said_so(tmp_path, configured):
    plan, run = configured(), publish_claims_with_variations(tmp_path)
    variations = published.complete_variations(published.read_variations(tmp_path).head(0), run, tmp_path)
    for block in ({"commit": "0123456789"}, {"commit": "fedcba", "judged_again": "0123456789"}):
        versions(tmp_path, **block)
        assert publish.find_judged_again(plan, tmp_path, variations, tmp_path) == "0123456789", block
    page = markdown.results_page([], tmp_path, "0123456789")
    assert "Some of them were judged with the code of an earlier commit, `0123456`." in page
    assert publish.find_judged_again(plan, tmp_path, variations.head(0), tmp_path) == ""
    (tmp_path / published.ROBUSTNESS).unlink()
    assert publish.find_judged_again(plan, tmp_path, variations.head(0), tmp_path) is None
    assert "robustness.md" not in markdown.results_page([], tmp_path, None)


def test_places_are_compared_by_paper_and_together_and_observations_are_in_no_count():
    rows = [{"verdict": "reproduced"}, {"verdict": "corrected", "paper": "other"}]
    rows += [{"verdict": "reproduced", "origin": "ours"}]
    table = counts.counts_of_table(claims(*rows))
    assert table == {"toy": {"reproduced": 1}, "other": {"corrected": 1}, counts.ALL: {"reproduced": 1, "corrected": 1}}
    own, together = Counter(reproduced=1), Counter(reproduced=1, corrected=1)
    for place, lines in (
        ({"toy": own, "other": Counter(corrected=1)}, []),
        ({counts.ALL: together}, []),
        ({counts.ALL: own}, ["here: all papers: 0 corrected, 1 in table"]),
        ({"toy": own}, ["here: other: 0 corrected, 1 in table"]),  # a paper is left out
        ({"toy": own, "other": own}, ["here: other: 1 reproduced, 0 in table; other: 0 corrected, 1 in table"]),
        ({}, ["here: toy: 0 reproduced, 1 in table; other: 0 corrected, 1 in table"]),
    ):
        assert counts.differences({"table": table, "here": place}) == lines, place


def test_the_documents_that_are_tracked_count_alike():
    if not published.FOLDER.is_dir():
        pytest.skip("nothing is published yet")
    places = counts.published_counts()
    assert set(places) == {f"docs/results/{name}" for name in ("claims.csv", "README.md", "<paper>.md")} | {"README.md"}
    assert counts.differences(places) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "line"),
    [
        ("README.md", "| 2 |", "| 3 |", "README.md: toy: 3 reproduced, 2 in docs/results/claims.csv"),
        (
            "docs/results/README.md",
            "1 paper: 2 reproduced",
            "1 paper: 1 reproduced",
            "docs/results/README.md: all papers: 1 reproduced, 2 in docs/results/claims.csv",
        ),
        (
            "docs/results/toy.md",
            "2 reproduced.",
            "1 reproduced, 1 corrected.",
            "docs/results/<paper>.md: toy: 1 reproduced, 2 in docs/results/claims.csv; toy: 1 corrected, 0 in docs/re",
        ),
        (
            "results/verdicts.txt",
            "claims: 2 reproduced",
            "claims: 1 reproduced",
            "results/verdicts.txt: all papers: 1 reproduced, 2 in results/claims.parquet",
        ),
        (
            "figures/index.html",
            "2 reproduced</span>",
            "1 reproduced</span>",
            "figures/index.html: all papers: 1 reproduced, 2 in results/claims.parquet",
        ),
        (
            "figures/toy.html",
            "2 reproduced</span>",
            "1 reproduced</span>",
            "figures/<paper>.html: toy: 1 reproduced, 2 in results/claims.parquet",
        ),
    ],
)
def test_a_place_that_counts_otherwise_is_named_in_a_line(publishing, path, old, new, line):
    publishing.edit(path, old, new)
    ended = publishing.cli("compare")
    assert ended.returncode == 1
    told = [text for text in ended.stdout.splitlines() if text.startswith("counts differ: ")]
    assert len(told) == 1, ended.stdout
    assert told[0].startswith(f"counts differ: {line}")


def test_a_run_that_counts_otherwise_than_what_is_published_is_told(publishing):
    for path, old in (
        ("README.md", "| 2 |"),
        ("docs/results/README.md", "2 reproduced"),
        ("docs/results/toy.md", "2 r"),
    ):
        publishing.edit(path, old, old.replace("2", "1"))
    table = publishing.read("docs/results/claims.csv")
    last = table.rindex(",reproduced,")
    publishing.write("docs/results/claims.csv", f"{table[:last]},undecided,{table[last:].removeprefix(',reproduced,')}")
    told = publishing.cli("compare").stdout
    assert "counts differ: results/claims.parquet: toy: 2 reproduced, 1 in docs/results/claims.csv; toy: 0 und" in told


def test_a_mark_that_is_published_is_shown_by_every_run_and_counts_stay(publishing):
    seeds = "".join(f"toy.decay,seed,seed,{seed},undecided,1.5,\n" for seed in (2024, 2025))
    head = "claim,change,what,value,verdict,measured,reason\n"
    publishing.write("docs/results/robustness.csv", f"{head}{seeds}toy.decay,seed,seed,2026,reproduced,1.5,\n")
    publishing.snakemake()
    joined = pd.read_parquet(publishing.folder / "results/claims.parquet").set_index("claim")
    assert list(joined.loc["toy.decay", ["verdict", "seeds", "seeds_agreeing"]]) == ["reproduced", 3, 1]
    assert joined.loc["toy.geometric", "seeds"] == 0
    ended = publishing.cli("publish")
    assert ended.returncode == 0, ended.stderr
    tables = ("figures/toy.html", "figures/index.html", "results/verdicts.txt", "docs/results/toy.md")
    printed = {name: publishing.read(name) for name in tables} | {"summary": publishing.cli("summary").stdout}
    for name, text in printed.items():
        assert "‡" in text, name
    assert "2 claims: 2 reproduced\n" in printed["summary"]
    csv = pd.read_csv(publishing.folder / "docs/results/claims.csv").set_index("claim")
    assert list(csv.loc["toy.decay", ["verdict", "seeds", "seeds_agreeing"]]) == ["reproduced", 3, 1]
    assert "2026" in publishing.read("docs/results/robustness.csv")  # published again


def test_another_scale_is_published_beside_the_default(publishing):
    steps = {"descent": {"steps": 20}}
    publishing.write("small.yaml", yaml.safe_dump({"scale": "small", "changes": {"toy": {"runs": steps}}}))
    publishing.snakemake("--configfile", "small.yaml")
    default = (publishing.folder / "docs/results/claims.csv").read_bytes()
    ended = publishing.cli("publish", "--configfile", "small.yaml", "--papers", "toy")
    assert ended.returncode == 0, ended.stderr
    page = publishing.read("docs/scales/small/README.md")
    assert "2 claims were judged at this scale. 2 get the verdict of [the default run]" in page
    assert "## The verdict of the default run" in page
    assert "[toy.decay](toy.md#toy.decay)" in page
    assert (publishing.folder / "docs/results/claims.csv").read_bytes() == default
    assert publishing.cli("check").returncode == 0
    refused = publishing.cli("publish", "--papers", "toy").stderr
    assert (
        refused == "error: docs/results are of the default run and all papers; name another scale with --configfile\n"
    )


def test_a_card_names_the_verdicts_that_are_published_of_other_scales(publishing):
    steps = {"descent": {"steps": 20}}
    publishing.write("small.yaml", yaml.safe_dump({"scale": "small", "changes": {"toy": {"runs": steps}}}))
    publishing.snakemake("--configfile", "small.yaml")
    assert publishing.cli("publish", "--configfile", "small.yaml", "--papers", "toy").returncode == 0
    publishing.configure("scales", "small", value="twenty steps")
    claims = pd.read_csv(publishing.folder / "docs/scales/small/claims.csv")
    claims.loc[claims["claim"] == "toy.decay", "verdict"] = "undecided"
    claims.to_csv(publishing.folder / "docs/scales/small/claims.csv", index=False)
    publishing.snakemake()
    there = claims.set_index("claim").loc["toy.decay"]
    bound = there["criterion"].partition(" (")[0].removesuffix(" on every draw")
    number = f"undecided ({there['measured']:.4g}, {bound})"
    said = f"On twenty steps: {number}."
    in_all = "Claims about trainings with another verdict at another scale: 1 of 1 on twenty steps. In the table"
    assert said in publishing.cli("judge", "toy.decay").stdout
    # it reads other runs, which are the same there
    assert "twenty steps" not in publishing.cli("judge", "toy.geometric").stdout
    assert publishing.cli("publish").returncode == 0
    for page in ("docs/results/toy.md", "figures/toy.html"):
        text = publishing.read(page)
        assert in_all in text, page
        assert text.count("On twenty steps: undecided (") == 1, page
    # and a table of those that turn, whose rows lead to the cards
    here = pd.read_parquet(publishing.folder / "results/claims.parquet").set_index("claim").loc["toy.decay", "measured"]
    cell_here = f"reproduced ({here:.4g}, {bound})"
    assert f"](#toy.decay) (`decay`) | {cell_here} | {number} |" in publishing.read("docs/results/toy.md")
    assert f"<td>{cell_here}</td><td>{number}</td>" in publishing.read("figures/toy.html")


def published_at_another_scale(**changed):
    """Return what is published of a claim at one other scale, as `published.read_scales` has it."""
    row = {"scale": "mnist", "trained_on": "MNIST", "claim": "toy.nc2", "verdict": "not reproduced", "draws": 6}
    row |= {"quantity": "the spread σⱼ of cosines", "measured": 0.078, "criterion": "≤ 0.044 on every draw (half)"}
    row |= {"quantity_as_printed": np.nan}
    return pd.DataFrame([row | changed])


CLAIM_OF_TWO_CHECKS = {
    "claim": "toy.nc2",
    "verdict": "reproduced",
    "quantity": "the spread $\\sigma_j$ of cosines",
    "measured": 0.082,
    "criterion": "<= 0.088 on every draw (half)",
    "draws": 9,
    "checks": [{"quantity": "the spread $\\sigma_j$ of cosines"}, {"quantity": "its fall"}],
}


@pytest.mark.parametrize(
    ("changed", "cell", "counts"),
    [
        ({}, "not reproduced (0.078, ≤ 0.044)", "1 of 1"),
        ({"quantity": "its fall"}, "not reproduced (its fall: 0.078, ≤ 0.044)", "1 of 1"),
        ({"quantity": "the spread of cosines from zero error on"}, "published by a check of another name", "0 of 0"),
        ({"quantity": np.nan}, "published by a check of another name", "0 of 0"),  # published before quantities were
        ({"verdict": "reproduced"}, "reproduced (0.078, ≤ 0.044)", "0 of 1"),
        ({"verdict": "untested", "quantity": np.nan, "measured": np.nan}, "untested", "1 of 1"),
        # a corrected claim: both its correction and what is printed must still be measured
        ({"verdict": "corrected", "quantity_as_printed": "its fall"}, "corrected (0.078, ≤ 0.044)", "1 of 1"),
        ({"verdict": "corrected", "quantity_as_printed": "no more"}, "published by a check of another name", "0 of 0"),
    ],
)
def test_a_verdict_of_another_scale_counts_where_the_claim_still_has_its_check(changed, cell, counts):
    scales = published_at_another_scale(**changed)
    assert contents.describe_elsewhere(CLAIM_OF_TWO_CHECKS, scales) == f"On MNIST: {cell}"
    compared = contents.compare_scales([CLAIM_OF_TWO_CHECKS], scales)
    assert f"{counts} on MNIST" in compared.summary
    texts = [text for _, texts in compared.turned for text in texts]
    assert texts == (["reproduced (0.082, ≤ 0.088)", cell] if counts == "1 of 1" else [])


def test_a_claim_that_is_untested_here_has_the_verdict_of_another_scale():
    here = {"claim": "toy.nc2", "verdict": "untested", "quantity": "", "measured": np.nan, "draws": 0, "checks": []}
    said = "On MNIST: not reproduced (the spread σⱼ of cosines: 0.078, ≤ 0.044)"
    assert contents.describe_elsewhere(here, published_at_another_scale()) == said
