"""What the page says besides numbers, so that it is written again when words change."""

from __future__ import annotations

from pathlib import Path

from learning_dynamics.pipeline.project import Project
from learning_dynamics.pipeline.provenance import digest
from learning_dynamics.pipeline.report.places import topic_about, topic_title


def digest_of_words(project: Project) -> str:
    """Return a digest of captions, claims' texts, the configuration and the page's own code."""
    words: list[object] = [project.configuration.papers]
    for paper in project.papers:
        words += [project.caption(paper, name) for name in project.figures(paper)]
        words += [project.caption(paper, name, "motion") for name in project.motions(paper)]
        words += [project.caption(paper, name, "interactive") for name in project.interactives(paper)]
        words += [project.explanation(paper, name) for name in project.claims(paper)["claims"]]
        kinds = [project.figure(paper, name)["kind"] for name in project.figures(paper)]
        for topic in sorted({kind.partition(".")[0] for kind in kinds}):
            words += [topic_title(paper, topic), topic_about(paper, topic)]
    code = [file for file in Path(__file__).parent.glob("*") if file.suffix in (".py", ".html", ".css", ".js")]
    code.append(Path(__file__).parent.with_name("maths.py"))
    return digest([words, [file.read_text(encoding="utf-8") for file in sorted(code)]])
