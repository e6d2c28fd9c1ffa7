"""What papers are cited as: in the configuration, in CITATION.cff, as BibTeX."""

import re

import yaml

from learning_dynamics.pipeline.report.references import bibtex, link_name
from tests.support import PAPERS, ROOT, plan


def test_every_paper_can_be_read_and_cited():
    for paper in PAPERS:
        references = plan().config.paper_block(paper)["references"]
        entries = bibtex(references)
        keys = re.findall(r"(?m)^@(?:misc|inproceedings)\{(\w+),$", entries)
        assert len(keys) == len(set(keys)) == len(references) > 0, paper
        assert entries.count("{") == entries.count("}")
        assert all(re.fullmatch(r"arXiv:\d{4}\.\d{5}|papers\.nips\.cc", link_name(one["url"])) for one in references)


def test_the_citation_file_has_the_same_references():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    there = {(one["title"], one["year"], one["url"]) for one in cited if "url" in one}
    ours = [one for paper in PAPERS for one in plan().config.paper_block(paper)["references"]]
    here = {(one["title"], one["year"], one["url"]) for one in ours}
    assert there == here
