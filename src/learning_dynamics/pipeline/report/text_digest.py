"""What the page says besides numbers, so that it is written again when words change."""

from pathlib import Path

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.report.source_links import topic_about, topic_title
from learning_dynamics.pipeline.store.stamps import digest


def digest_of_texts(config: Config) -> str:
    """Return a digest of captions, claims' texts, the configuration and the page's own code."""
    texts: list[object] = [config.configuration.papers]
    for paper in config.papers:
        for stage, names in config.drawings(paper).items():
            texts += [config.caption(paper, name, stage) for name in names]
        texts += [config.explanation(paper, name) for name in config.blocks(paper, "claims")]
        function_names = [config.function_name("figure", paper, name) for name in config.figures(paper)]
        for topic in sorted({function_name.partition(".")[0] for function_name in function_names}):
            texts += [topic_title(paper, topic), topic_about(paper, topic)]
    code = [file for file in find_files(Path(__file__).parent, "*") if file.suffix in (".py", ".html", ".css", ".js")]
    return digest([texts, [file.read_text(encoding="utf-8") for file in code]])
