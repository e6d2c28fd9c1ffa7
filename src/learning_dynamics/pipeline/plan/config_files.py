"""The configuration as files: read, laid over one another and checked in structure; each value's file is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from ruamel.yaml.error import YAMLError

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.files import configured_path, find_files
from learning_dynamics.pipeline.plan.plain_yaml import read_value, read_yaml
from learning_dynamics.pipeline.plan.schema import Paper, Top
from learning_dynamics.pipeline.plan.validation import find_problem

Block = dict[str, Any]
Key = tuple[str, ...]
ROOT = Path(__file__).resolve().parents[4]
PAPERS = Path("workflow/config")
COMMAND_LINE = "--config"  # in errors, instead of a file's name


@dataclass(frozen=True)
class Layers:
    """Blocks by the file that has them; each is laid over those before it.

    There are two kinds: the layers of ``config.yaml`` (`schema.Top`), and the layers of one paper (`schema.Paper`).
    """

    blocks: dict[str, Block]

    def merged(self, model: type[BaseModel]) -> Block:
        """Return all blocks merged into one.

        In a paper's layers null leaves out the block that the layers below it have. In the layers of ``config.yaml``
        null is a value: inside ``changes:`` it is meant for the paper's layers.

        Raises
        ------
        ProjectError
            At the first value that does not fit the model: file, key and fix.
        """
        block: Block = {}
        for layer in self.blocks.values():
            merge(block, layer, drop=model is Paper)
        problem = find_problem(model, block)
        if problem is not None:
            path, message = problem
            raise ProjectError(f"{self.where(*path)}: {message}")
        return block

    def setters(self, *path: str) -> list[str]:
        """Return the files that set the value at a path of keys, the lowest layer's first."""
        return [file for file, block in self.blocks.items() if _has_key(block, path)]

    def origin(self, *path: str) -> str:
        """Return the file that sets a value; of several the highest layer's.

        Where none sets it, it is the file that sets the nearest block around the value; without such a block it is the
        lowest layer's.
        """
        for length in range(len(path), 0, -1):
            files = self.setters(*path[:length])
            if files:
                return files[-1]
        return next(iter(self.blocks))

    def where(self, *path: str) -> str:
        """Return the beginning of an error's message: the file that sets a key, and the key."""
        return f"{self.origin(*path)}: {'.'.join(path) or 'top level'}"

    def overlay_of(self, *path: str) -> str | None:
        """Return the highest of several files that set a value; None if one file sets it, or none.

        `origin` returns a file in every case.
        """
        files = self.setters(*path)
        return files[-1] if len(files) > 1 else None


@dataclass(frozen=True)
class ConfigFiles:
    """A configuration, merged from its files.

    Attributes
    ----------
    seed : int
    scale : str or None
        The folder of the results within ``results``; None for the default configuration, which has none.
    papers : mapping from paper to block
        Each paper's data, runs, figures, claims.
    layers : mapping from paper to Layers
        The files that a paper's block is merged from.
    seeds, seeds_of : sequence of int, tuple of str
        The seeds under which claims are judged again, and the papers whose claims are judged under them.
    draws : int
        On how many draws ``snakemake robustness`` judges claims.
    """

    seed: int
    scale: str | None
    papers: dict[str, Block] = field(default_factory=dict)
    layers: dict[str, Layers] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    seeds_of: tuple[str, ...] = ()
    draws: int = 0

    @property
    def overlaid(self) -> bool:
        """Whether anything but the seed differs from the shipped configuration."""
        return any(len(layers.blocks) > 1 for layers in self.layers.values())


def load(files: Sequence[Path] = (), overrides: Mapping[str, Any] | None = None, root: Path = ROOT) -> ConfigFiles:
    """Read ``config.yaml``, the overlays and the values of the command line, then each paper's file.

    Parameters
    ----------
    files : sequence of path
        Overlays, later ones laid over earlier ones.
    overrides : mapping, optional
        Values from the command line, laid over the files.
    root : path
        Folder of ``config.yaml``.

    Raises
    ------
    ProjectError
        At the first mistake in form: file, key and fix.
    """
    shipped = read_yaml(root / "config.yaml")
    # Snakemake has converted a number that is a value by itself, but none inside a mapping or list
    command_line = {
        key: _as_yaml_reads(value) if isinstance(value, Mapping | list) else value
        for key, value in (overrides or {}).items()
    }
    overlays = {_layer_name(file): read_yaml(file) for file in files}
    layers = Layers({"config.yaml": shipped, **overlays, COMMAND_LINE: command_line})
    # keys of config.yaml, such as `seed`, `papers` and `changes`; `layers` are its layers, and no paper's
    top = layers.merged(Top)
    where = layers.where

    known_papers = shipped_papers(root)
    # The folder within `results`: of a scale, or else of another seed than the shipped one. By a paper's name it would
    # be the folder of that paper's default results.
    scale = top.get("scale") or (f"seed{top['seed']}" if top["seed"] != shipped.get("seed") else None)
    if scale in [*top["papers"], *known_papers]:
        raise ProjectError(f"{where('scale')}: is the name of a paper; choose another")
    for paper in top["papers"]:
        check_known(paper, known_papers, "configuration of paper", where("papers"))
    # `changes:` and `seeds_of:` may name papers that `papers:` leaves out
    for paper in top.get("changes", {}):
        check_known(paper, known_papers, "paper", where("changes", paper))
    for paper in top.get("seeds_of", []):
        check_known(paper, known_papers, "paper", where("seeds_of"))

    folders = {folder: _overlay_folder(folder, root, where("overlays")) for folder in top.get("overlays", [])}
    seeds_of = tuple(paper for paper in top.get("seeds_of", []) if paper in top["papers"])
    first, n_seeds = top.get("first_seed", top["seed"] + 1), top.get("seeds", 0)
    # `n_seeds` seeds from `first` on; the configured seed is left out, so that one more is looked at
    seeds = [seed for seed in range(first, first + n_seeds + 1) if seed != top["seed"]][:n_seeds]
    configuration = ConfigFiles(top["seed"], scale, seeds=seeds, seeds_of=seeds_of, draws=top.get("draws", 0))

    for paper in top["papers"]:
        name = f"{paper}.yaml"
        # from the lowest layer up: the shipped file, files of folders of overlays, `changes:`
        blocks = {f"{PAPERS}/{name}": read_yaml(root / PAPERS / name)}
        blocks |= {f"{key}/{name}": read_yaml(path / name) for key, path in folders.items() if (path / name).is_file()}
        if paper in top.get("changes", {}):  # under the name of the file that has it
            blocks[layers.origin("changes", paper)] = top["changes"][paper]
        layers_of_paper = Layers(blocks)
        configuration.layers[paper] = layers_of_paper
        configuration.papers[paper] = layers_of_paper.merged(Paper)
        if "scale" not in top:
            _check_unchanged(configuration.papers[paper], layers_of_paper)
    return configuration


def _as_yaml_reads(value: Any) -> Any:
    """Return a value of the command line in which a text that YAML reads as a number or null is that, at any depth."""
    if isinstance(value, Mapping):
        return {key: _as_yaml_reads(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_yaml_reads(inner) for inner in value]
    if value == "null":
        return None
    with suppress(YAMLError, ValueError, TypeError):
        number = read_value(value)
        return number if isinstance(number, int | float) else value
    return value


def _overlay_folder(folder: str, root: Path, where: str) -> Path:
    """Return a folder of overlays: one in the working folder, or else in the folder of ``config.yaml``."""
    path = configured_path(folder, where)
    path = path if path.is_dir() else root / path
    if not path.is_dir():
        raise ProjectError(f"{where}: no folder {folder}")
    return path


def _layer_name(file: Path) -> str:
    """Return how errors name an overlay: ``./config.yaml`` for one of that name, which is not the shipped file."""
    return f"./{file}" if str(file) == "config.yaml" else str(file)


def _check_unchanged(block: Block, layers: Layers) -> None:
    """Refuse overlays without a scale if they change a block of the shipped file; they may add blocks."""
    shipped = next(iter(layers.blocks.values()))
    for section in ("data", "runs", "figures", "interactive", "claims"):
        for name, value in shipped.get(section, {}).items():
            if block.get(section, {}).get(name) != value:
                raise ProjectError(
                    f"{layers.where(section, name)}: changes what is there, and its results would replace those of "
                    "the default; name this configuration with `scale: NAME`"
                )


def shipped_papers(root: Path) -> list[str]:
    """Return the papers that have a configuration; a file next to a folder of its own name is an overlay."""
    files = find_files(root / PAPERS, "*.yaml")
    return [file.stem for file in files if not file.with_suffix("").is_dir()]


def output_folders(configuration: ConfigFiles) -> tuple[Path, Path]:
    """Return the folders of a configuration's results and figures, relative to the working folder.

    Raises
    ------
    ProjectError
        If neither is there and the working folder is not the project's: it is probably the wrong folder.
    """
    if not (Path("results").exists() or Path("figures").exists() or Path.cwd().samefile(ROOT)):
        raise ProjectError(f"{Path.cwd()}: neither results nor figures lie here; go to the project's folder: cd {ROOT}")
    scale = configuration.scale or ""
    return Path("results", scale), Path("figures", scale)


def merge(below: Block, above: Mapping[str, Any], *, drop: bool = False) -> None:
    """Lay the block `above` over `below`, which is changed, key by key; with `drop` null leaves out a block below."""
    for key, value in above.items():
        if drop and value is None and isinstance(below.get(key), dict):
            del below[key]
        elif isinstance(value, Mapping):
            if not isinstance(below.get(key), dict):
                below[key] = {}
            merge(below[key], value, drop=drop)
        else:
            below[key] = value


def _has_key(block: Any, path: Key) -> bool:
    """Whether a block has a value at a path of keys."""
    for key in path:
        # keys of YAML may be numbers, those of paths are texts
        values = {str(name): value for name, value in block.items()} if isinstance(block, Mapping) else {}
        if key not in values:
            return False
        block = values[key]
    return True
