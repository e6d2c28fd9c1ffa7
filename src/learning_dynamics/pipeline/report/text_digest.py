"""What the page says besides numbers, so that it is written again when words change."""

from pathlib import Path

from learning_dynamics.pipeline.report.source_links import topic_about, topic_title
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.study.study import Study


def digest_of_texts(study: Study) -> str:
    """Return a digest of captions, claims' texts, the configuration and the page's own code."""
    texts: list[object] = [study.configuration.papers]
    for paper in study.papers:
        texts += [study.caption(paper, name) for name in study.figures(paper)]
        texts += [study.caption(paper, name, "motion") for name in study.motions(paper)]
        texts += [study.caption(paper, name, "interactive") for name in study.interactives(paper)]
        texts += [study.explanation(paper, name) for name in study.blocks(paper, "claims")]
        kinds = [study.kind("figure", paper, name) for name in study.figures(paper)]
        for topic in sorted({kind.partition(".")[0] for kind in kinds}):
            texts += [topic_title(paper, topic), topic_about(paper, topic)]
    code = [file for file in Path(__file__).parent.glob("*") if file.suffix in (".py", ".html", ".css", ".js")]
    return digest([texts, [file.read_text(encoding="utf-8") for file in sorted(code)]])
