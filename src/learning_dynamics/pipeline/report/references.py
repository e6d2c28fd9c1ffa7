"""What a paper is cited as: BibTeX, and names for links."""

import re
from collections.abc import Mapping, Sequence
from typing import Any


def bibtex(references: Sequence[Mapping[str, Any]]) -> str:
    r"""Return BibTeX entries of references with authors ("family, given"), title, year, url and perhaps venue.

    >>> print(bibtex([{"authors": ["Yun, C."], "title": "A view", "year": 2021, "url": "https://arxiv.org/abs/1"}]))
    @misc{yun2021view,
      author = {Yun, C.},
      title = {{A view}},
      year = {2021},
      url = {https://arxiv.org/abs/1}
    }
    """
    return "\n\n".join(_entry(reference) for reference in references)


def _entry(reference: Mapping[str, Any]) -> str:
    kind, fields = "misc", {"author": " and ".join(reference["authors"]), "title": f"{{{reference['title']}}}"}
    if "venue" in reference:
        kind, fields = "inproceedings", fields | {"booktitle": reference["venue"]}
    fields |= {"year": str(reference["year"]), "url": reference["url"]}
    family = re.sub(r"[^a-z]", "", reference["authors"][0].partition(",")[0].lower())
    words = re.findall(r"[a-z]+", reference["title"].lower())
    title_word = next((word for word in words if len(word) > 3), "")
    lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
    return f"@{kind}{{{family}{reference['year']}{title_word},\n{lines}\n}}"


def link_name(url: str) -> str:
    """Return a link's name: arXiv's number, or the host.

    >>> link_name("https://arxiv.org/abs/2010.02501"), link_name("https://papers.nips.cc/paper/x.html")
    ('arXiv:2010.02501', 'papers.nips.cc')
    """
    number = re.fullmatch(r"https://arxiv\.org/abs/(\S+)", url)
    return f"arXiv:{number[1]}" if number else url.split("/")[2]
