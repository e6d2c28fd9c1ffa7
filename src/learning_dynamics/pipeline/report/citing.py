"""How a claim's entry and the reproduction of a paper are cited: BibTeX, and the site's address."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.plan.plain_yaml import read_yaml
from learning_dynamics.pipeline.report.maths import plain
from learning_dynamics.pipeline.store.stamps import commit_year, origin

CITATION = ROOT / "CITATION.cff"
PAGES = "figures"  # the folder of the site that holds the pages


@dataclass(frozen=True)
class Edition:
    """What the BibTeX entries of one version have in common.

    Attributes
    ----------
    authors : str
    version : str
        The package's version and commit.
    year : str
        Of the commit; empty if it is not known.
    address : str
        The site's, with a slash at its end; empty if it is not known.
    """

    authors: str
    version: str
    year: str
    address: str

    def of_paper(self, paper: str, title: str) -> str:
        """Return the BibTeX entry of a paper's reproduction."""
        return self._entry(paper, f"Reproduction of ``{title}''", f"{paper}.html", "")

    def of_claim(self, claim: Mapping[str, Any], title: str) -> str:
        """Return the BibTeX entry of one claim: what it is, its verdict, where it is found."""
        name = claim["claim"]
        paper = name.partition(".")[0]
        heading = f"{plain(claim['reference'])} of ``{title}'': {claim['verdict']}"
        return self._entry(name, heading[:1].upper() + heading[1:], f"{paper}.html#{name}", name)

    def _entry(self, key: str, title: str, place: str, claim: str) -> str:
        fields = {"author": f"{{{self.authors}}}", "title": f"{{{title}}}", "howpublished": self.version}
        if self.year:
            fields["year"] = self.year
        if claim:
            fields["note"] = "Claim " + claim.replace("_", r"\_")
        if self.address:
            fields["url"] = f"{self.address}{PAGES}/{place}"
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@misc{{learning_dynamics.{key},\n{lines}\n}}"


def edition(record: Mapping[str, Any]) -> Edition:
    """Return the edition of pages with this stamp."""
    citation = read_yaml(CITATION) if CITATION.is_file() else {}
    authors = " and ".join(author.get("name", "") for author in citation.get("authors", [])) or "learning-dynamics"
    version = f"learning-dynamics {record['versions'].get('learning-dynamics', '')}".strip()
    if record["commit"]:
        version += f", commit {record['commit'][:12]}"
    return Edition(authors, version, commit_year() or "", site_address())


@functools.cache
def site_address() -> str:
    """Return where the pages are shown: ``url`` of CITATION.cff, else GitHub Pages of the clone's origin, else ""."""
    citation = read_yaml(CITATION) if CITATION.is_file() else {}
    return str(citation.get("url", "")) or github_pages(origin() or "")


def github_pages(remote: str) -> str:
    """Return the address of a GitHub repository's pages; empty for a repository elsewhere.

    >>> github_pages("git@github.com:someone/learning-dynamics.git")
    'https://someone.github.io/learning-dynamics/'
    >>> github_pages("https://example.org/x.git")
    ''
    """
    parts = re.fullmatch(r"(?:https://|(?:ssh://)?git@)github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?", remote)
    return f"https://{parts[1].lower()}.github.io/{parts[2]}/" if parts else ""
