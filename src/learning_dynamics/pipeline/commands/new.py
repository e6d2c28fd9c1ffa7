"""Begin a paper: a folder with one topic, one run, metric, figure, claim and test; all work, and are yours to edit."""

import keyword
import re
import shlex
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, find_files
from learning_dynamics.pipeline.plan.config_files import PAPERS, ROOT

NO_TEXT = ("true", "false", "null")  # YAML reads these words as values that are no text
SKELETON = Path(__file__).with_name("skeleton")


def execute(paper: str, /, root: Path = ROOT) -> None:
    """Write the skeleton of a paper into the project's folders, add it to `papers` in config.yaml, say what is next.

    Parameters
    ----------
    paper : str
        Its name: the folder's, and what commands call it.
    root : path
        The project's folder.
    """
    is_reserved = keyword.iskeyword(paper) or paper in NO_TEXT
    if not re.fullmatch("[a-z][a-z0-9_]*", paper) or is_reserved or len(paper) > 40:
        raise ProjectError(
            f"`{paper}`: a paper's name is small letters, digits and underscores, no word of Python or YAML"
        )
    if paper in _names_of_rules(root):
        raise ProjectError(f"`{paper}`: is the name of a rule of Snakemake; choose another")
    home = root / "src/learning_dynamics/papers" / paper
    config = root / PAPERS / f"{paper}.yaml"
    for path in (home, config):
        if path.exists():
            raise ProjectError(f"{path}: is there already; choose another name")

    files = {home / "decay" / f"{part}.py": part for part in ("theory", "runs", "metrics", "figures", "claims")}
    files |= {root / "tests/papers" / paper / "decay/test_decay.py": "test"}
    for file, part in files.items():
        _write(file, (SKELETON / f"{part}.py.txt").read_text(encoding="utf-8").replace("NAME", paper))
    about = f'"""{paper}: which section of the paper is which topic.\n\n- section 1: `decay`\n"""\n'
    _write(home / "__init__.py", about)
    _write(home / "decay/__init__.py", '"""Decay on a parabola."""\n')
    for folder in (root / "tests/papers" / paper, root / "tests/papers" / paper / "decay"):
        _write(folder / "__init__.py", "")
    _write(config, (SKELETON / "config.yaml.txt").read_text(encoding="utf-8").replace("NAME", paper))
    print(f"wrote {home}, {config} and {root / 'tests/papers' / paper}")

    steps = []
    if Path.cwd() != root:
        steps.append(f"cd {shlex.quote(str(root))}")
    if not _add_to_papers(root / "config.yaml", paper):
        steps.append(f"add `{paper}` to `papers` in config.yaml")
    steps.append(f"snakemake --cores all {paper}")
    print(f"next: {', then: '.join(steps)}")
    print(f"its verdicts: python -m learning_dynamics summary --papers {paper}")
    print(f"for its tests: make verdicts PAPERS={paper}")


def _names_of_rules(root: Path) -> set[str]:
    """Return the names that `snakemake NAME` knows besides the papers' and their sweeps'."""
    files = [ROOT / "Snakefile", *find_files(ROOT / "workflow/rules", "*.smk")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    metrics = {f"{config.stem}_metrics" for config in find_files(root / PAPERS, "*.yaml")}
    return metrics | {name for text in texts for name in re.findall(r"^rule (\w+)", text, re.MULTILINE)}


def _add_to_papers(config: Path, paper: str) -> bool:
    """Add a paper to those that the configuration names; return whether its list was found."""
    text = config.read_text(encoding="utf-8") if config.is_file() else ""
    changed, count = re.subn(r"^(papers: \[[^\]\n]+)\]", rf"\1, {paper}]", text, flags=re.MULTILINE)
    if count:
        with atomic_write(config, own_file=True) as partial:
            partial.write_text(changed, encoding="utf-8")
    return bool(count)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
