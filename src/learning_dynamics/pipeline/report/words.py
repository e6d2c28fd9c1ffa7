"""What the page says besides numbers, so that it is written again when words change."""

from __future__ import annotations

from pathlib import Path

from learning_dynamics.pipeline.report.places import topic_about, topic_title
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.study.study import Study


def digest_of_words(study: Study) -> str:
    """Return a digest of captions, claims' texts, the configuration and the page's own code."""
    words: list[object] = [study.configuration.papers]
    for paper in study.papers:
        words += [study.caption(paper, name) for name in study.figures(paper)]
        words += [study.caption(paper, name, "motion") for name in study.motions(paper)]
        words += [study.caption(paper, name, "interactive") for name in study.interactives(paper)]
        words += [study.explanation(paper, name) for name in study.blocks(paper, "claims")]
        kinds = [study.kind("figure", paper, name) for name in study.figures(paper)]
        for topic in sorted({kind.partition(".")[0] for kind in kinds}):
            words += [topic_title(paper, topic), topic_about(paper, topic)]
    code = [file for file in Path(__file__).parent.glob("*") if file.suffix in (".py", ".html", ".css", ".js")]
    return digest([words, [file.read_text(encoding="utf-8") for file in sorted(code)]])
