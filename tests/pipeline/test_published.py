"""The results in docs/results: written by `publish`, compared with a run and with the configuration, and counted.

Tests use a made-up paper or tables of made-up claims; the first three read the project's own docs/results.
"""

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
from learning_dynamics.pipeline.store.records import COLUMNS, VARIATION_COLUMNS, is_expected
from learning_dynamics.pipeline.store.tables import write_table

# of docs/results, which everybody who clones the project loads; pictures take 5 MB, tables and pages 1.4 MB
MAX_BYTES = 6_500_000


def claims_table(*rows):
    """Return a run's table of claims of the paper `toy`; columns that a row leaves out are blank."""
    blank = {"float": float("nan"), "int": 0, "str": ""}
    blank_row = {column.name: blank[column.type] for column in COLUMNS} | {"paper": "toy", "rivals": "{}"}
    return pd.DataFrame([blank_row | row for row in rows])


def publish_claims(folder, table):
    """Write a table of claims as the published one of a folder, and return it as it is read from there."""
    (folder / published.CLAIMS).write_text(to_csv(table), encoding="utf-8")
    return published.read_claims(folder)


def write_versions(folder, **versions):
    """Write with what the results of a folder were published: commits, and fingerprints of verdicts by paper."""
    (folder / published.VERSIONS).write_text(json.dumps(versions), encoding="utf-8")


# -- the project's own docs/results --------------------------------------------------------------------------------

is_published = pytest.mark.skipif(not published.FOLDER.is_dir(), reason="nothing is published yet")


def claims_and_figures_published_otherwise(config, folder):
    """Return the claims and figures whose published results are not those that a configuration expects.

    They are those that only one of both has, and claims with another verdict.
    """
    claims = published.read_claims(folder)
    verdicts = dict(zip(claims["claim"], claims["verdict"], strict=True))
    expected, figures = {}, set()
    # a paper that is begun here is published with the next publication
    for paper in set(config.papers) & set(claims["paper"]):
        for name in config.blocks(paper, "claims"):
            expected[f"{paper}.{name}"] = config.expected_verdict(paper, name)
        figures |= {f"{paper}/{name}" for name in config.figures(paper)}
        figures |= {f"{paper}/{name}.motion" for name in config.motions(paper)}
    # a table is a figure that is published as CSV
    files = [path.relative_to(folder) for kind in ("png", "webp", "csv") for path in folder.glob(f"*/*.{kind}")]
    published_figures = {file.with_suffix("").as_posix() for file in files}
    in_both = set(expected) & set(verdicts)
    with_another_verdict = {claim for claim in in_both if not is_expected(verdicts[claim], expected[claim])}
    return (set(expected) ^ set(verdicts)) | (figures ^ published_figures) | with_another_verdict


@is_published
def test_published_results_are_as_the_configuration_expects_but_for_listed_ones():
    # this page says to readers which claims are judged otherwise by now
    newer = published.FOLDER / "judged_since.md"
    text = newer.read_text(encoding="utf-8") if newer.exists() else ""
    listed = set(re.findall(r"^\| `([\w.]+)` ", text, re.MULTILINE))
    assert claims_and_figures_published_otherwise(Plan(load()).config, published.FOLDER) == listed, (
        "write them again with: make publish"
    )


@is_published
def test_published_results_are_small():
    assert sum(path.stat().st_size for path in published.FOLDER.rglob("*") if path.is_file()) < MAX_BYTES


@is_published
def test_tables_and_pages_of_the_project_count_as_many_claims_of_each_verdict():
    places = counts.published_counts()
    assert set(places) == {f"docs/results/{name}" for name in ("claims.csv", "README.md", "<paper>.md")} | {"README.md"}
    assert counts.differences(places) == []


# -- a run's table of claims compared with the published one ---------------------------------------------------------


@pytest.mark.parametrize(
    ("here", "there", "outcome"),  # of a claim: in this run, and as it is published
    [
        pytest.param(
            {"verdict": "reproduced", "measured": 1.0},
            {"verdict": "reproduced", "measured": 1.0},
            "as published",
            id="the same number",
        ),
        pytest.param({"verdict": "untested"}, {"verdict": "untested"}, "as published", id="no numbers"),
        pytest.param(
            {"verdict": "reproduced", "measured": 1.0},
            {"verdict": "reproduced", "measured": 2.0},
            "with another number",
            id="another number",
        ),
        pytest.param(
            {"verdict": "reproduced", "measured": 1.0},
            {"verdict": "reproduced", "measured": 2.0, "lower": 0.5, "upper": 3.5},
            "as published",
            id="a number within the published interval",
        ),
        pytest.param(
            {"verdict": "reproduced"},
            {"verdict": "reproduced", "measured": 1.0},
            "with another number",
            id="a number that is published and missing here",
        ),
        pytest.param(
            {"verdict": "corrected", "measured": 1.0},
            {"verdict": "reproduced", "measured": 1.0},
            "with another verdict",
            id="another verdict",
        ),
    ],
)
def test_a_claim_has_another_number_only_outside_the_published_interval(here, there, outcome, tmp_path):
    known = publish_claims(tmp_path, claims_table({"claim": "toy.lemma", **there}))
    compared = published.compare_claims(claims_table({"claim": "toy.lemma", **here}), known)
    assert list(compared["outcome"]) == [outcome]


def reproduced(*names):
    """Return rows of reproduced claims of the paper `toy`."""
    return [{"claim": f"toy.{name}", "verdict": "reproduced"} for name in names]


def test_claims_are_compared_in_the_order_of_the_run_and_missing_ones_follow(tmp_path):
    """Claims of papers that were not run are left out."""
    of_another_paper = {"claim": "other.a", "paper": "other", "verdict": "reproduced"}
    known = publish_claims(tmp_path, claims_table(*reproduced("b", "c", "x"), of_another_paper))
    compared = published.compare_claims(claims_table(*reproduced("c", "a", "b")), known)
    assert compared[["claim", "outcome"]].to_numpy().tolist() == [
        ["toy.c", "as published"],
        ["toy.a", "new"],
        ["toy.b", "as published"],
        ["toy.x", "missing"],
    ]


def test_a_published_table_has_formulas_in_unicode(tmp_path):
    row = {"claim": "toy.a", "statement": r"$\sigma_1 \le 10^{-3}$, always", "quantity_as_printed": r"$\gamma$ of it"}
    known = publish_claims(tmp_path, claims_table(row))
    assert known["statement"].item() == "σ₁ ≤ 10⁻³, always"
    assert known["quantity_as_printed"].item() == "γ of it"


@pytest.fixture
def published_folder(tmp_path, monkeypatch):
    """A folder in which commands look for published results, instead of docs/results."""
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    monkeypatch.setattr(published.read_claims, "__defaults__", (tmp_path,))  # of its parameter `folder`
    return tmp_path


def write_claims(file, table):
    """Write a table as a run writes that of all claims."""
    file.parent.mkdir(exist_ok=True)
    write_table(file, table, COLUMNS, {"settings": {}})


A_CONTRADICTED = [{"claim": "toy.a", "verdict": "contradicted"}, *reproduced("b")]


def test_compare_prints_and_counts_claims_with_another_verdict_and_fails(published_folder, capsys):
    publish_claims(published_folder, claims_table(*reproduced("a", "b")))
    write_claims(published_folder / "claims.parquet", claims_table(*A_CONTRADICTED))
    assert compare.execute(published_folder / "claims.parquet") == 1
    assert "2 claims: 1 with another verdict, 1 as published" in capsys.readouterr().out


def test_a_run_that_contradicts_a_published_verdict_names_the_claim(tmp_path):
    known = publish_claims(tmp_path, claims_table(*reproduced("a", "b")))
    warning = verdicts.describe_differences(claims_table(*A_CONTRADICTED), known)
    assert "differs from the published results: toy.a: contradicted, was reproduced" in warning
    assert "toy.b" not in warning


@pytest.mark.parametrize(("published_fingerprint", "n_outdated"), [("as planned", 0), ("another", 1)])
def test_published_verdicts_with_another_fingerprint_than_planned_are_outdated(
    published_fingerprint, n_outdated, tmp_path
):
    write_versions(tmp_path, verdicts={"toy": published_fingerprint})
    assert len(published.describe_outdated_papers({"toy": "as planned"}, tmp_path)) == n_outdated


@pytest.mark.parametrize("is_absolute", [False, True])
def test_compare_counts_verdicts_whichever_way_the_default_table_is_named(
    is_absolute, published_folder, monkeypatch, capsys
):
    table = claims_table(*reproduced("a"))
    publish_claims(published_folder, table)
    monkeypatch.setattr(counts, "published_counts", lambda root: {})  # only those of the run
    monkeypatch.chdir(published_folder)
    default = Path("results/claims.parquet")
    write_claims(default, table)
    Path("results/verdicts.txt").write_text("1 claims: 1 corrected\n")
    assert compare.execute(default.absolute() if is_absolute else default) == 1
    assert "counts differ: results/verdicts.txt" in capsys.readouterr().out.replace(f"{published_folder}/", "")


# a correction holds with 4.085, where the printed statement has -4004
CORRECTED = {
    "claim": "toy.lemma",
    "verdict": "corrected",
    "reference": "Lemma 1",
    "quantity": "decay",
    "measured": 4.085,
    "measured_as_printed": -4004.0,
    "quantity_as_printed": "growth",
}


def test_a_published_corrected_claim_has_both_numbers(tmp_path):
    """One of its correction, and one of the printed statement."""
    known = publish_claims(tmp_path, claims_table(CORRECTED))
    assert known["measured"].item() == 4.085
    assert known["measured_as_printed"].item() == -4004.0


def test_the_table_of_verdicts_has_both_numbers_of_a_corrected_claim():
    """Each is below its heading."""
    # the paper, the headings, a rule, and then a row for each claim
    _, head, _, row, *_ = verdicts.describe(claims_table(CORRECTED), width=150).splitlines()
    assert row[head.index("measured") :].split()[0] == "4.085"
    assert row[head.index("as printed") :].split()[0] == "−4004"


def test_compare_prints_both_numbers_of_a_corrected_claim_here_and_as_published(published_folder, capsys):
    publish_claims(published_folder, claims_table(CORRECTED))
    write_claims(published_folder / "claims.parquet", claims_table(CORRECTED))
    compare.execute(published_folder / "claims.parquet")
    assert capsys.readouterr().out.count("4.085 (as printed −4004)") == 2


def test_the_page_of_another_scale_has_both_numbers_of_a_corrected_claim(tmp_path):
    """At that scale, and as published."""
    table = claims_table(CORRECTED)
    compared = published.compare_claims(table, publish_claims(tmp_path, table))
    page = markdown.scale_page(
        "small", titles={"toy": "Toy"}, claims=table, comparison=compared, of_another_criterion=set()
    )
    assert "| corrected | 4.085 (as printed −4004) | corrected | 4.085 (as printed −4004) |" in page


def test_the_page_of_a_scale_compares_no_verdicts_that_checks_of_other_names_decided():
    default = claims_table(*reproduced("a", "b", "c"))
    of_scale = default.assign(verdict=["reproduced", "undecided", "undecided"])
    page = markdown.scale_page(
        "small",
        titles={},
        claims=of_scale,
        comparison=published.compare_claims(of_scale, default),
        of_another_criterion={"toy.c"},
    )
    assert "1 get the verdict of [the default run](../../results/README.md), 1 another; 1 were judged" in page
    sections = {section.splitlines()[0]: section for section in page.split("\n## ")}
    assert "[toy.a]" in sections["The verdict of the default run"]
    assert "[toy.b]" in sections["Another verdict than in the default run"]
    assert "[toy.c]" in sections["Judged by a check of another name than in the default run"]
    assert page.count("](toy.md#") == 3  # each claim is in one section


# -- publish: what it writes -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def publishing_once(built, tmp_path_factory):
    """The made-up paper's project, published, with a README that has findings between marks; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("publishing") / "project")
    workspace.write("README.md", "# ours\n\n<!-- findings -->\nold\n<!-- end of findings -->\n\nmore\n")
    ended = workspace.cli("publish")
    assert ended.returncode == 0, ended.stderr
    return workspace


@pytest.fixture
def publishing(publishing_once, tmp_path):
    """A copy of that project, to be changed freely."""
    return publishing_once.copy(tmp_path / "project")


def test_a_papers_page_shows_every_figure_as_it_was_drawn(publishing_once):
    page = publishing_once.read("docs/results/toy.md")
    for name in read_yaml(publishing_once.folder / "workflow/config/toy.yaml")["figures"]:
        assert f"](toy/{name}.webp)" in page, name
        with (
            Image.open(publishing_once.folder / f"docs/results/toy/{name}.webp") as shown,
            Image.open(publishing_once.folder / f"figures/toy/{name}.png") as drawn,
        ):
            np.testing.assert_array_equal(shown.convert("RGB"), drawn.convert("RGB"), name)


def test_a_papers_page_has_an_anchor_for_every_claim(publishing_once):
    page = publishing_once.read("docs/results/toy.md")
    for name in read_yaml(publishing_once.folder / "workflow/config/toy.yaml")["claims"]:
        assert f'<a name="toy.{name}"></a>' in page, name


def test_publish_replaces_the_findings_of_the_readme_and_keeps_the_rest(publishing_once):
    readme = publishing_once.read("README.md")
    assert readme.startswith("# ours\n")
    assert readme.endswith("\nmore\n")
    assert "old" not in readme
    assert "docs/results/toy.md" in readme


def test_links_between_published_pages_lead_to_files(publishing_once):
    for page in (publishing_once.folder / "docs/results").glob("*.md"):
        links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
        assert links != [], page.name
        for link in links:
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_run_that_was_published_compares_as_published(publishing_once):
    ended = publishing_once.cli("compare")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 claims: 2 as published" in ended.stdout
    assert "counts differ" not in ended.stdout


def test_summary_counts_verdicts_as_the_run_does(publishing_once):
    summary = publishing_once.cli("summary").stdout
    assert counts.counts_of_terminal(summary) == {"reproduced": 2}
    assert counts.counts_of_terminal(publishing_once.read("results/verdicts.txt")) == {"reproduced": 2}


def contents_of(folder):
    """Return the content of every file of a folder, by path."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_publishing_again_changes_nothing_and_deletes_a_figure_that_is_no_more(publishing):
    folder = publishing.folder / "docs/results"
    before = contents_of(folder)
    (folder / "toy/no_more.webp").write_bytes(b"")
    assert publishing.cli("publish").returncode == 0
    assert contents_of(folder) == before


def test_results_of_other_settings_are_not_published(publishing):
    before = contents_of(publishing.folder / "docs/results")
    publishing.configure("runs", "descent", "steps", value=400)
    ended = publishing.cli("publish")
    assert ended.returncode == 1
    assert "make figures" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert contents_of(publishing.folder / "docs/results") == before


# -- published variations: claims judged again with another seed, draw, setting or threshold ---------------------------

# `toy.decay` was judged again in each way; a claim `gone` is no more, and `toy.other` has another verdict now
PUBLISHED_VARIATIONS = """claim,change,what,value,verdict,measured,reason
toy.decay,seed,seed,2024,undecided,1.5,
toy.decay,draw,draw,7,reproduced,1.5,
toy.decay,setting,slow.rate,0.5,reproduced,1.5,
toy.decay,threshold,rounding,2.0,reproduced,1.5,
gone,draw,draw,1,reproduced,1.5,
toy.other,seed,seed,2024,reproduced,1.5,
"""
NO_VARIATIONS = pd.DataFrame(columns=[column.name for column in VARIATION_COLUMNS])


def publish_claims_with_variations(folder):
    """Publish two claims and their variations; return the claims of a run, in which the second has another verdict."""
    publish_claims(folder, claims_table(*reproduced("decay"), {"claim": "toy.other", "verdict": "corrected"}))
    (folder / published.ROBUSTNESS).write_text(PUBLISHED_VARIATIONS, encoding="utf-8")
    return claims_table(*reproduced("decay", "other", "new"))


def judged_here(change):
    """Return the variation of `toy.decay` by another seed or draw, 9, as if it had been judged here."""
    row = {"paper": "toy", "claim": "toy.decay", "change": change, "what": change, "value": "9"}
    return pd.DataFrame([row | {"verdict": "reproduced", "measured": 1.5, "reason": ""}])


@pytest.mark.parametrize(
    ("variations", "values"),
    [
        # thresholds are tried by every run, so that published ones are not needed
        pytest.param(NO_VARIATIONS, ["2024", "7", "0.5"], id="nothing judged here: seed, draw and setting stay"),
        pytest.param(judged_here("seed"), ["9", "7", "0.5"], id="a seed judged here: draw and setting stay"),
        pytest.param(judged_here("draw"), ["9", "2024"], id="a draw judged here: the seed stays"),
    ],
)
def test_published_variations_stay_unless_such_were_judged_here(variations, values, tmp_path):
    """Of claims with the same verdict: seeds replace seeds, and draws replace draws and settings."""
    run = publish_claims_with_variations(tmp_path)
    completed = published.complete_variations(variations, run, tmp_path)
    assert set(completed["claim"]) == {"toy.decay"}
    assert list(completed["value"]) == values


def test_there_are_no_variations_where_none_were_published_or_judged_here(tmp_path):
    run = publish_claims_with_variations(tmp_path)
    (tmp_path / published.ROBUSTNESS).unlink()
    assert published.complete_variations(NO_VARIATIONS, run, tmp_path).empty


@pytest.mark.parametrize(
    ("setting", "values", "stay"),
    [
        pytest.param("rate", [0.1, 0.9], ["2024", "7", "0.5"], id="the rate is still changed"),
        pytest.param("steps", [1, 9], ["2024", "7"], id="only the steps are changed now"),
    ],
)
def test_a_published_variation_stays_only_while_the_configuration_changes_its_setting(
    setting, values, stay, tmp_path, configured, monkeypatch
):
    entry = {"run": "slow", "setting": setting, "range": values, "claims": ["geometric"]}
    plan = configured("robustness.range", entry)
    monkeypatch.setattr(published, "folder_of", lambda scale: tmp_path)
    rows = robustness.read_all_variations(plan, tmp_path / "results", publish_claims_with_variations(tmp_path))
    assert list(rows["value"]) == stay


@pytest.mark.parametrize(
    "versions",
    [
        pytest.param({"commit": "0123456789"}, id="published with it"),
        pytest.param({"commit": "fedcba", "judged_again": "0123456789"}, id="kept from it when published last"),
    ],
)
def test_variations_that_were_not_judged_here_have_the_commit_that_judged_them(versions, tmp_path, configured):
    plan, run = configured(), publish_claims_with_variations(tmp_path)
    write_versions(tmp_path, **versions)
    variations = published.complete_variations(NO_VARIATIONS, run, tmp_path)
    found = publish.find_judged_again(plan, results=tmp_path, variations=variations, out=tmp_path)
    assert found == "0123456789"


def test_without_variations_of_an_earlier_commit_none_is_named(tmp_path, configured):
    folders = {"results": tmp_path, "out": tmp_path}
    plan = configured()
    publish_claims_with_variations(tmp_path)
    assert publish.find_judged_again(plan, variations=NO_VARIATIONS, **folders) == ""
    (tmp_path / published.ROBUSTNESS).unlink()  # now nothing was ever judged again
    assert publish.find_judged_again(plan, variations=NO_VARIATIONS, **folders) is None


def test_the_first_page_names_the_earlier_commit_that_judged_variations(tmp_path):
    page = markdown.results_page([], tmp_path, judged_again="0123456789")
    assert "Some of them were judged with the code of an earlier commit, `0123456`." in page


def test_the_first_page_leads_to_no_page_of_variations_where_nothing_was_judged_again(tmp_path):
    assert "robustness.md" in markdown.results_page([], tmp_path, judged_again="")  # by this commit
    assert "robustness.md" not in markdown.results_page([], tmp_path, judged_again=None)


# -- counts of verdicts, which tables and pages show ------------------------------------------------------------------


def test_a_table_counts_verdicts_by_paper_and_together_and_leaves_observations_out():
    table = claims_table(
        {"verdict": "reproduced"},
        {"verdict": "corrected", "paper": "other"},
        {"verdict": "reproduced", "origin": "ours"},  # an observation: no claim of a paper
    )
    assert counts.counts_of_table(table) == {
        "toy": {"reproduced": 1},
        "other": {"corrected": 1},
        counts.ALL: {"reproduced": 1, "corrected": 1},
    }


ONE_REPRODUCED, ONE_CORRECTED = Counter(reproduced=1), Counter(corrected=1)
OF_TABLE = {"toy": ONE_REPRODUCED, "other": ONE_CORRECTED, counts.ALL: ONE_REPRODUCED + ONE_CORRECTED}


@pytest.mark.parametrize(
    ("of_page", "lines"),
    [
        pytest.param({"toy": ONE_REPRODUCED, "other": ONE_CORRECTED}, [], id="alike by paper"),
        pytest.param({counts.ALL: ONE_REPRODUCED + ONE_CORRECTED}, [], id="alike together"),
        pytest.param({counts.ALL: ONE_REPRODUCED}, ["page: all papers: 0 corrected, 1 in table"], id="other together"),
        pytest.param({"toy": ONE_REPRODUCED}, ["page: other: 0 corrected, 1 in table"], id="a paper is left out"),
        pytest.param(
            {"toy": ONE_REPRODUCED, "other": ONE_REPRODUCED},
            ["page: other: 1 reproduced, 0 in table; other: 0 corrected, 1 in table"],
            id="another verdict of a paper",
        ),
        pytest.param(
            {}, ["page: toy: 0 reproduced, 1 in table; other: 0 corrected, 1 in table"], id="all papers are left out"
        ),
    ],
)
def test_a_place_that_counts_otherwise_than_the_first_is_named_with_both_counts(of_page, lines):
    assert counts.differences({"table": OF_TABLE, "page": of_page}) == lines


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
            "docs/results/<paper>.md: toy: 1 reproduced, 2 in docs/results/claims.csv; "
            "toy: 1 corrected, 0 in docs/results/claims.csv",
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
def test_compare_names_a_file_that_counts_otherwise_in_one_line(publishing, path, old, new, line):
    publishing.edit(path, old, new)
    ended = publishing.cli("compare")
    assert ended.returncode == 1
    assert [text for text in ended.stdout.splitlines() if "counts differ" in text] == [f"counts differ: {line}"]


def test_compare_names_a_run_that_counts_otherwise_than_the_published_files(publishing):
    # `toy.geometric` is published as undecided; all published files agree on that
    publishing.edit("README.md", "| 2 |", "| 1 |")
    publishing.edit("docs/results/README.md", "2 reproduced", "1 reproduced")
    publishing.edit("docs/results/toy.md", "2 r", "1 r")
    before, verdict, after = publishing.read("docs/results/claims.csv").rpartition(",reproduced,")
    assert verdict
    publishing.write("docs/results/claims.csv", f"{before},undecided,{after}")
    assert (
        "counts differ: results/claims.parquet: toy: 2 reproduced, 1 in docs/results/claims.csv; toy: 0 undecided"
        in publishing.cli("compare").stdout
    )


# -- what is published of other seeds and scales, on the pages of a run -----------------------------------------------


@pytest.fixture(scope="module")
def with_published_seeds(publishing_once, tmp_path_factory):
    """A run and its publication after other seeds of `toy.decay` were published: one of three gives its verdict."""
    workspace = publishing_once.copy(tmp_path_factory.mktemp("seeds") / "project")
    workspace.write(
        "docs/results/robustness.csv",
        "claim,change,what,value,verdict,measured,reason\n"
        "toy.decay,seed,seed,2024,undecided,1.5,\n"
        "toy.decay,seed,seed,2025,undecided,1.5,\n"
        "toy.decay,seed,seed,2026,reproduced,1.5,\n",
    )
    workspace.snakemake()
    ended = workspace.cli("publish")
    assert ended.returncode == 0, ended.stderr
    return workspace


def test_a_run_and_its_publication_count_published_seeds_beside_the_verdict(with_published_seeds):
    run = pd.read_parquet(with_published_seeds.folder / "results/claims.parquet").set_index("claim")
    assert list(run.loc["toy.decay", ["verdict", "seeds", "seeds_agreeing"]]) == ["reproduced", 3, 1]
    assert run.loc["toy.geometric", "seeds"] == 0
    again = pd.read_csv(with_published_seeds.folder / "docs/results/claims.csv").set_index("claim")
    assert list(again.loc["toy.decay", ["verdict", "seeds", "seeds_agreeing"]]) == ["reproduced", 3, 1]


@pytest.mark.parametrize(
    "file", ["figures/toy.html", "figures/index.html", "results/verdicts.txt", "docs/results/toy.md"]
)
def test_pages_of_a_run_mark_a_verdict_that_most_published_seeds_do_not_give(
    publishing_once, with_published_seeds, file
):
    assert "‡" not in publishing_once.read(file)  # before seeds were published
    assert "‡" in with_published_seeds.read(file)


def test_summary_marks_such_a_verdict_and_counts_it_as_before(with_published_seeds):
    summary = with_published_seeds.cli("summary").stdout
    assert "‡" in summary
    assert "2 claims: 2 reproduced\n" in summary


def test_published_seeds_are_published_again(with_published_seeds):
    assert "toy.decay,seed,seed,2026,reproduced" in with_published_seeds.read("docs/results/robustness.csv")


def run_small_scale(workspace):
    """Run and publish the scale `small`, at which `descent`, and so the claim `toy.decay`, has twenty steps."""
    changes = {"toy": {"runs": {"descent": {"steps": 20}}}}
    workspace.write("small.yaml", yaml.safe_dump({"scale": "small", "changes": changes}))
    workspace.snakemake("--configfile", "small.yaml")
    ended = workspace.cli("publish", "--configfile", "small.yaml", "--papers", "toy")
    assert ended.returncode == 0, ended.stderr


def test_another_scale_is_published_beside_the_default_with_the_verdicts_of_both(publishing):
    default = (publishing.folder / "docs/results/claims.csv").read_bytes()
    run_small_scale(publishing)
    page = publishing.read("docs/scales/small/README.md")
    assert "2 claims were judged at this scale. 2 get the verdict of [the default run]" in page
    assert "## The verdict of the default run" in page
    assert "[toy.decay](toy.md#toy.decay)" in page
    assert (publishing.folder / "docs/results/claims.csv").read_bytes() == default
    assert publishing.cli("check").returncode == 0


def test_the_default_run_is_published_with_all_papers_only(publishing_once):
    refused = publishing_once.cli("publish", "--papers", "toy")
    assert refused.returncode == 1
    assert refused.stderr == (
        "error: docs/results are of the default run and all papers; name another scale with --configfile\n"
    )


@pytest.fixture(scope="module")
def with_a_verdict_of_another_scale(publishing_once, tmp_path_factory):
    """The default run, judged and published after another scale was, at which `toy.decay` is undecided.

    The configuration calls that scale "twenty steps".
    """
    workspace = publishing_once.copy(tmp_path_factory.mktemp("scales") / "project")
    run_small_scale(workspace)
    workspace.configure("scales", "small", value="twenty steps")
    file = workspace.folder / "docs/scales/small/claims.csv"
    claims = pd.read_csv(file)
    claims.loc[claims["claim"] == "toy.decay", "verdict"] = "undecided"
    claims.to_csv(file, index=False)
    workspace.snakemake()
    ended = workspace.cli("publish")
    assert ended.returncode == 0, ended.stderr
    return workspace


def verdict_with_number(claims, verdict):
    """Return what a table of claims has of `toy.decay` as pages show it: a verdict, the number and its bound."""
    decay = claims.set_index("claim").loc["toy.decay"]
    bound = decay["criterion"].partition(" (")[0].removesuffix(" on every draw")
    return f"{verdict} ({decay['measured']:.4g}, {bound})"


def verdict_of_small_scale(workspace):
    """Return what the published table of the scale `small` has of `toy.decay` as pages show it."""
    return verdict_with_number(pd.read_csv(workspace.folder / "docs/scales/small/claims.csv"), "undecided")


def test_judge_prints_the_published_verdict_of_another_scale(with_a_verdict_of_another_scale):
    printed = with_a_verdict_of_another_scale.cli("judge", "toy.decay").stdout
    assert f"On twenty steps: {verdict_of_small_scale(with_a_verdict_of_another_scale)}." in printed


def test_a_claim_with_the_same_runs_at_another_scale_has_no_verdict_of_it(with_a_verdict_of_another_scale):
    # `toy.geometric` does not read the run `descent`
    printed = with_a_verdict_of_another_scale.cli("judge", "toy.geometric").stdout
    assert printed.startswith("toy.geometric: reproduced")
    assert "twenty steps" not in printed


@pytest.mark.parametrize(
    ("file", "after_the_count"),
    [("docs/results/toy.md", ". In the table measured"), ("figures/toy.html", '</summary>\n  <p class="quiet">In the')],
    ids=["markdown", "page"],
)
def test_a_page_counts_claims_that_turn_at_another_scale_and_their_cards_say_so(
    with_a_verdict_of_another_scale, file, after_the_count
):
    page = with_a_verdict_of_another_scale.read(file)
    count = "Claims about trainings with another verdict at another scale: 1 of 1 on twenty steps"
    assert f"{count}{after_the_count}" in page
    assert page.count("On twenty steps: undecided (") == 1


def test_a_page_lists_claims_that_turn_at_another_scale_with_both_verdicts(with_a_verdict_of_another_scale):
    workspace = with_a_verdict_of_another_scale
    there = verdict_of_small_scale(workspace)
    claims = pd.read_csv(workspace.folder / "docs/results/claims.csv")
    here = verdict_with_number(claims, "reproduced")
    assert f"](#toy.decay) (`decay`) | {here} | {there} |" in workspace.read("docs/results/toy.md")
    assert f"<td>{here}</td><td>{there}</td>" in workspace.read("figures/toy.html")


def published_at_another_scale(**changed):
    """Return the published row of `toy.nc2` at one other scale, as `published.read_scales` has it."""
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


# of how many claims that can be compared the verdict turns, where there is one claim
NOT_COMPARED, STAYS, TURNS = "0 of 0", "0 of 1", "1 of 1"
OTHER_NAME = "published by a check of another name"
VERDICTS_ELSEWHERE = [
    pytest.param({}, "not reproduced (0.078, ≤ 0.044)", TURNS, id="another verdict by the same check"),
    pytest.param({"verdict": "reproduced"}, "reproduced (0.078, ≤ 0.044)", STAYS, id="the same verdict"),
    pytest.param(
        {"quantity": "its fall"}, "not reproduced (its fall: 0.078, ≤ 0.044)", TURNS, id="by the claim's other check"
    ),
    pytest.param(
        {"quantity": "the spread from zero error on"}, OTHER_NAME, NOT_COMPARED, id="by a check that is no more"
    ),
    pytest.param({"quantity": np.nan}, OTHER_NAME, NOT_COMPARED, id="published before tables had quantities"),
    pytest.param({"verdict": "untested", "quantity": np.nan, "measured": np.nan}, "untested", TURNS, id="untested"),
    # a corrected claim: checks of its correction and of the printed statement must both be there
    pytest.param(
        {"verdict": "corrected", "quantity_as_printed": "its fall"},
        "corrected (0.078, ≤ 0.044)",
        TURNS,
        id="corrected by both checks",
    ),
    pytest.param(
        {"verdict": "corrected", "quantity_as_printed": "no more"},
        OTHER_NAME,
        NOT_COMPARED,
        id="corrected, but the check of the printed statement is no more",
    ),
]


@pytest.mark.parametrize(("changed", "verdict", "count"), VERDICTS_ELSEWHERE)
def test_a_card_names_the_verdict_of_another_scale_or_that_another_check_decided(changed, verdict, count):
    scales = published_at_another_scale(**changed)
    assert contents.describe_elsewhere(CLAIM_OF_TWO_CHECKS, scales) == f"On MNIST: {verdict}"


@pytest.mark.parametrize(("changed", "verdict", "count"), VERDICTS_ELSEWHERE)
def test_a_verdict_of_another_scale_counts_if_the_claim_still_has_its_check(changed, verdict, count):
    compared = contents.compare_scales([CLAIM_OF_TWO_CHECKS], published_at_another_scale(**changed))
    assert f"{count} on MNIST" in compared.summary


@pytest.mark.parametrize(("changed", "verdict", "count"), VERDICTS_ELSEWHERE)
def test_a_claim_that_turns_at_another_scale_is_listed_with_both_verdicts(changed, verdict, count):
    compared = contents.compare_scales([CLAIM_OF_TWO_CHECKS], published_at_another_scale(**changed))
    rows = [(CLAIM_OF_TWO_CHECKS, ["reproduced (0.082, ≤ 0.088)", verdict])] if count == TURNS else []
    assert list(compared.turned) == rows


def test_a_claim_that_is_untested_here_has_the_verdict_of_another_scale():
    here = {"claim": "toy.nc2", "verdict": "untested", "quantity": "", "measured": np.nan, "draws": 0, "checks": []}
    sentence = "On MNIST: not reproduced (the spread σⱼ of cosines: 0.078, ≤ 0.044)"
    assert contents.describe_elsewhere(here, published_at_another_scale()) == sentence
