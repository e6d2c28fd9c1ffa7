"""The configuration as files: read, laid over one another, checked in structure, each value traced to its file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from ruamel.yaml.error import YAMLError

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.files import configured_path
from learning_dynamics.pipeline.plan.plain_yaml import read_value, read_yaml
from learning_dynamics.pipeline.plan.schema import Paper, Top
from learning_dynamics.pipeline.plan.validation import find_problem

Block = dict[str, Any]
Key = tuple[str, ...]
ROOT = Path(__file__).resolve().parents[4]
PAPERS = Path("workflow/config")
COMMAND_LINE = "--config"


@dataclass
class ConfigFiles:
    """All of a configuration.

    Attributes
    ----------
    seed : int
    scale : str or None
        The name under which results lie; None for the default's.
    papers : mapping from paper to block
        Each paper's data, runs, figures, claims.
    overlaid : bool
        Whether anything but the seed differs from the shipped configuration.
    origins : mapping from path of keys to file
        Where each value was last set; the path begins with the paper.
    base : mapping from path of keys to file
        Where each value was first set.
    layers : mapping from paper to list of (file, block)
        Of what a paper's block is merged, in this order.
    """

    seed: int
    scale: str | None
    papers: dict[str, Block]
    seeds: int = 0
    seeds_of: tuple[str, ...] = ()
    draws: int = 0
    overlaid: bool = False
    origins: dict[Key, str] = field(default_factory=dict)
    base: dict[Key, str] = field(default_factory=dict)
    layers: dict[str, list[tuple[str, Block]]] = field(default_factory=dict)

    def origin(self, *path: str) -> str:
        """Return the file that last set a value, or the nearest block around it."""
        return _nearest(self.origins, path, f"{PAPERS}/{path[0]}.yaml")

    def where(self, paper: str, *path: str) -> str:
        """Return how an error begins: the file that sets a key of a paper, and the key."""
        return f"{self.origin(paper, *path)}: {'.'.join(path) or 'top level'}"

    def with_seed(self, seed: int) -> ConfigFiles:
        """Return the same configuration under another seed."""
        return replace(self, seed=seed)

    def overlay_of(self, *path: str) -> str | None:
        """Return the overlay that changed a value which another file had set; None if it stands as it was."""
        last = self.origins.get(path)
        return last if last is not None and self.base.get(path) != last else None


def load(files: Sequence[Path] = (), overrides: Mapping[str, Any] | None = None, root: Path = ROOT) -> ConfigFiles:
    """Read ``config.yaml``, overlays laid over it, and what the command line gives, then each paper's file.

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
    top: Block = {}
    origins: dict[Key, str] = {}
    merge(top, read_yaml(root / "config.yaml"), "config.yaml", origins)
    shipped_seed = top.get("seed")
    for name, block in [*((str(file), read_yaml(file)) for file in files), (COMMAND_LINE, overrides or {})]:
        if name == COMMAND_LINE:
            block = {key: _typed(value) if isinstance(value, Mapping | list) else value for key, value in block.items()}
        merge(top, block, name, origins)

    def where(*path: str) -> str:
        return f"{_nearest(origins, path, 'config.yaml')}: {'.'.join(path) or 'top level'}"

    _validate(Top, top, where)
    scale = top.get("scale") or (f"seed{top['seed']}" if top["seed"] != shipped_seed else None)
    if scale in [*top["papers"], *shipped_papers(root)]:
        raise ProjectError(f"{where('scale')}: is the name of a paper; choose another")
    changes, seeds_of = top.get("changes", {}), top.get("seeds_of", [])
    for paper in changes:
        check_known(paper, top["papers"], "paper", where("changes", paper))
    for paper in seeds_of:  # fewer papers may be chosen
        check_known(paper, [*top["papers"], *shipped_papers(root)], "paper", where("seeds_of"))
    configuration = ConfigFiles(
        top["seed"],
        scale,
        {},
        top.get("seeds", 0),
        tuple(paper for paper in seeds_of if paper in top["papers"]),
        top.get("draws", 0),
    )
    folders = {}
    for folder in top.get("overlays", []):
        path = configured_path(folder, where("overlays"))
        folders[folder] = path if path.is_dir() else root / path
        if not folders[folder].is_dir():
            raise ProjectError(f"{where('overlays')}: no folder {folder}")
    for paper in top["papers"]:
        check_known(paper, shipped_papers(root), "configuration of paper", where("papers"))
        name = f"{paper}.yaml"
        layers = [(f"{PAPERS}/{name}", read_yaml(root / PAPERS / name))]
        layers += [
            (f"{key}/{name}", read_yaml(path / name)) for key, path in folders.items() if (path / name).is_file()
        ]
        if paper in changes:
            layers.append((_nearest(origins, ("changes", paper), COMMAND_LINE), changes[paper]))
        _load_paper(configuration, paper, layers, may_change=top.get("scale") is not None)
    return configuration


def _typed(value: Any) -> Any:
    """Return a value of the command line with its numbers: inside mappings and lists Snakemake leaves them as text."""
    if isinstance(value, Mapping):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    with suppress(YAMLError, ValueError, TypeError):
        number = read_value(value)
        return number if isinstance(number, int | float) else value
    return value


def shipped_papers(root: Path) -> list[str]:
    """Return the papers that have a configuration; a file beside a folder of its name is an overlay."""
    files = sorted((root / PAPERS).glob("*.yaml"))
    return [file.stem for file in files if not file.with_suffix("").is_dir()]


def _nearest(origins: Mapping[Key, str], path: Key, default: str) -> str:
    """Return the file that last set a value, or the nearest block around it."""
    around = (path[:length] for length in range(len(path), 0, -1))
    return next((origins[key] for key in around if key in origins), default)


def _validate(model: type[BaseModel], block: Block, where: Callable[..., str]) -> None:
    problem = find_problem(model, block)
    if problem is not None:
        raise ProjectError(f"{where(*problem[0])}: {problem[1]}")


def output_folders(configuration: ConfigFiles) -> tuple[Path, Path]:
    """Return where the results and the figures of a configuration lie, below the folder that one works in.

    Raises
    ------
    ProjectError
        If neither is there and this is not the project's folder: whatever is said of them would be said of nothing.
    """
    if not (Path("results").exists() or Path("figures").exists() or Path.cwd() == ROOT):
        raise ProjectError(f"{Path.cwd()}: neither results nor figures lie here; go to the project's folder: cd {ROOT}")
    scale = configuration.scale or ""
    return Path("results", scale), Path("figures", scale)


def _load_paper(configuration: ConfigFiles, paper: str, layers: Sequence[tuple[str, Block]], may_change: bool) -> None:
    """Lay changes over a paper's file; without a scale they may add blocks, and change none."""
    block: Block = {}
    for file, layer in layers:
        before = {} if may_change else copy.deepcopy(block)
        merge(block, layer, file, configuration.origins, (paper,), configuration.base)
        _validate(Paper, block, lambda *path: configuration.where(paper, *path))
        for section in ("data", "runs", "figures", "interactive", "claims"):
            for name, value in before.get(section, {}).items():
                if block[section][name] != value:
                    raise ProjectError(
                        f"{file}: {section}.{name}: changes what is there, and its results would replace those of the "
                        "default; name this configuration with `scale: NAME`"
                    )
    configuration.papers[paper], configuration.layers[paper] = block, list(layers)
    configuration.overlaid |= len(layers) > 1


def merge(
    below: Block,
    above: Mapping[str, Any],
    file: str,
    origins: dict[Key, str],
    path: Key = (),
    base: dict[Key, str] | None = None,
) -> None:
    """Lay one block over another, key by key, and note the file of each value."""
    for key, value in above.items():
        if not isinstance(key, str):
            raise ProjectError(f"{file}: {'.'.join(path) or 'top level'}: the key {key!r:.40} is not text; quote it")
        key_path = (*path, key)
        if isinstance(value, Mapping):
            if not isinstance(below.get(key), dict):
                below[key] = {}
            origins[key_path] = file
            if base is not None:
                base.setdefault(key_path, file)
            merge(below[key], value, file, origins, key_path, base)
        else:
            below[key] = value
            origins[key_path] = file
            if base is not None:
                base.setdefault(key_path, file)


def leaf_paths(block: Mapping[str, Any], path: Key = ()) -> Iterator[Key]:
    """Yield the path of keys to each value."""
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from leaf_paths(value, (*path, str(key)))
        else:
            yield (*path, str(key))
