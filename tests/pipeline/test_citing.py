"""Entries of BibTeX for a claim, at its permanent address, and for a paper's reproduction; the site's address."""

import re

import pytest

from learning_dynamics.pipeline.report import citing
from learning_dynamics.pipeline.report.citing import Edition, edition, github_pages
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES
from tests.support import ROOT

CLAIM = {"claim": "toy.slow_decay", "reference": r"Lemma 1, $\gamma$", "verdict": "corrected"}
EDITION = Edition(
    authors="The authors",
    version="learning-dynamics 1.0, commit 0123456789ab",
    year="2026",
    address="https://a.github.io/b/",
)


def fields(entry: str) -> dict[str, str]:
    """Return the fields of a BibTeX entry, without their outer braces."""
    return dict(re.findall(r"(?m)^  (\w+) = \{(.*)\},?$", entry))


def test_a_claim_is_cited_by_its_address_verdict_and_version():
    entry = EDITION.of_claim(CLAIM, title="A paper")
    assert entry.startswith("@misc{learning_dynamics.toy.slow_decay,\n")
    assert entry.count("{") == entry.count("}")  # BibTeX reads no other entry
    assert fields(entry) == {
        "author": "{The authors}",
        "title": "{Lemma 1, γ of ``A paper'': corrected}",
        "howpublished": "learning-dynamics 1.0, commit 0123456789ab",
        "year": "2026",
        "note": r"Claim toy.slow\_decay",
        "url": "https://a.github.io/b/figures/toy.html#toy.slow_decay",
    }


def test_a_reproduction_is_cited_by_its_page():
    assert fields(EDITION.of_paper("toy", title="A paper"))["url"] == "https://a.github.io/b/figures/toy.html"


def test_a_citation_leaves_out_an_unknown_year_and_address():
    unpublished = Edition(authors="The authors", version="learning-dynamics", year="", address="")
    assert sorted(fields(unpublished.of_paper("toy", title="A paper"))) == ["author", "howpublished", "title"]


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        pytest.param(
            "git@github.com:Some-One/learning-dynamics.git", "https://some-one.github.io/learning-dynamics/", id="ssh"
        ),
        pytest.param(
            "https://github.com/someone/learning-dynamics", "https://someone.github.io/learning-dynamics/", id="https"
        ),
        pytest.param("ssh://git@github.com/someone/x.y.git", "https://someone.github.io/x.y/", id="ssh as a URL"),
        pytest.param("https://gitlab.com/someone/learning-dynamics.git", "", id="not GitHub"),
        pytest.param("/srv/git/learning-dynamics", "", id="a folder"),
        pytest.param("", "", id="no remote"),
    ],
)
def test_the_sites_address_is_that_of_the_repositorys_pages_on_github(remote, address):
    assert github_pages(remote) == address


@pytest.fixture
def cited(tmp_path, monkeypatch):
    """The edition of a citation file, and of results that record a version and a commit."""
    file = tmp_path / "CITATION.cff"
    file.write_text("url: https://example.org/site/\nauthors: [{name: One}]\n", encoding="utf-8")
    monkeypatch.setattr(citing, "CITATION", file)
    monkeypatch.setattr(citing, "site_address", citing.site_address.__wrapped__)  # the function without its cache
    return edition({"versions": {"learning-dynamics": "1.0"}, "commit": "0123456789abcdef"})


def test_site_and_authors_are_those_of_the_citation_file(cited):
    assert cited.address == "https://example.org/site/"
    assert cited.authors == "One"


def test_the_version_is_that_of_the_results(cited):
    assert cited.version == "learning-dynamics 1.0, commit 0123456789ab"


def test_a_verdict_means_the_same_in_the_guide_and_on_the_page():
    guide = (ROOT / "docs/how_a_verdict_is_made.md").read_text(encoding="utf-8")
    meanings_in_guide = dict(re.findall(r"(?m)^\| ([a-z ]+) \| (.+) \|$", guide))  # rows of tables, of all kinds
    for verdict, style in VERDICT_STYLES.items():
        assert meanings_in_guide[verdict] == style.meaning
