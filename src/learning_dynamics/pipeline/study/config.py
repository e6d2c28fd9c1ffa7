"""The configuration as files: read, laid over one another, checked in structure, each value traced to its file."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jsonschema

from learning_dynamics.errors import ProjectError, shortened, suggest_name
from learning_dynamics.files import configured_path
from learning_dynamics.pipeline.study.plain_yaml import read_yaml

Block = dict[str, Any]
Key = tuple[str, ...]
ROOT = Path(__file__).resolve().parents[4]
SCHEMAS = ROOT / "workflow/schemas"
PAPERS = Path("workflow/config")
COMMAND_LINE = "--config"
OLD_NAMES = {
    "sensitivity": "`robustness`, with `values`",
    "turning": "`robustness`, with `range`, or `grid` in place of `values`",
    "replications": "`seeds`",
    "replicated": "`seeds_of`",
    "wild": "`free` in a data set, run or claim, and `draws` for their number",
}


@dataclass
class Configuration:
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

    def origin(self, *path: str) -> str:
        """Return the file that last set a value, or the nearest block around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        return str(PAPERS / f"{path[0]}.yaml")

    def with_seed(self, seed: int) -> Configuration:
        """Return the same configuration under another seed."""
        return replace(self, seed=seed)

    def overlay_of(self, *path: str) -> str | None:
        """Return the overlay that changed a value which another file had set; None if it stands as it was."""
        last = self.origins.get(path)
        return last if last is not None and self.base.get(path) != last else None


def load(files: Sequence[Path] = (), overrides: Mapping[str, Any] | None = None, root: Path = ROOT) -> Configuration:
    """Read ``config.yaml``, overlays laid over it, and what the command line gives, then each paper's file.

    Parameters
    ----------
    files : sequence of path
        Overlays, later ones laid over earlier ones.
    overrides : mapping, optional
        Values from the command line (or, from Snakemake, everything merged), laid over the files.
    root : path
        Folder of ``config.yaml``.

    Raises
    ------
    ProjectError
        At the first mistake in form: file, key and mend.
    """
    top = read_yaml(root / "config.yaml")
    where: dict[Key, str] = {}
    shipped = top.get("seed")
    _check_schema(top, "config", "config.yaml")
    merge(top, {}, "config.yaml", where)
    for file in files:
        block = read_yaml(file)
        _check_schema(block, "overlay", str(file))
        merge(top, block, str(file), where)
    extra = {key: value for key, value in (overrides or {}).items() if top.get(key) != value}
    _check_schema(extra, "overlay", COMMAND_LINE)
    merge(top, extra, COMMAND_LINE, where)
    configuration = Configuration(
        top["seed"],
        top.get("scale"),
        {},
        top.get("seeds", 0),
        tuple(paper for paper in top.get("seeds_of", []) if paper in top["papers"]),
        top.get("draws", 0),
    )
    for paper in top.get("seeds_of", []):
        # fewer papers may be chosen
        if paper not in top["papers"] and not (root / PAPERS / f"{paper}.yaml").is_file():
            origin = where.get(("seeds_of",), "config.yaml")
            raise ProjectError(f"{origin}: seeds_of: no paper `{paper}`{suggest_name(paper, top['papers'])}")
    for paper in top["papers"]:
        _load_paper(configuration, paper, top, where, root)
    for paper in top.get("changes", {}):
        if paper not in top["papers"]:
            origin = where.get(("changes", paper), "overlay")
            raise ProjectError(f"{origin}: changes.{paper}: unknown paper{suggest_name(paper, top['papers'])}")
    if configuration.scale is None and top["seed"] != shipped:
        configuration.scale = f"seed{top['seed']}"
    if configuration.scale in configuration.papers:
        raise ProjectError(f"{where.get(('scale',), 'overlay')}: scale: is the name of a paper; choose another")
    return configuration


def output_folders(configuration: Configuration) -> tuple[Path, Path]:
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


def _load_paper(configuration: Configuration, paper: str, top: Block, where: dict[Key, str], root: Path) -> None:
    file = PAPERS / f"{paper}.yaml"
    if not (root / file).is_file():
        # what lies beside a folder of its name is an overlay
        papers = [path.stem for path in (root / PAPERS).glob("*.yaml") if not path.with_suffix("").is_dir()]
        raise ProjectError(f"{where.get(('papers',), 'config.yaml')}: papers: no {file}{suggest_name(paper, papers)}")
    block: Block = {}
    layers = [(read_yaml(root / file), str(file))]
    for folder in top.get("overlays", []):
        key = f"{where.get(('overlays',), 'overlay')}: overlays"
        base = configured_path(folder, key)
        base = base if base.is_dir() else root / base
        if not base.is_dir():
            raise ProjectError(f"{key}: no folder {folder}")
        overlay = base / f"{paper}.yaml"
        if overlay.is_file():
            layers.append((read_yaml(overlay), str(Path(folder) / f"{paper}.yaml")))
    if paper in top.get("changes", {}):
        layers.append((top["changes"][paper], where.get(("changes", paper), COMMAND_LINE)))
    for number, (layer, name) in enumerate(layers):
        _check_schema(layer, "paper" if number == 0 else "changes", name)
        if number and top.get("scale") is None:
            _refuse_changed_blocks(block, layer, name)
        merge(block, layer, name, configuration.origins, (paper,), configuration.base)
        configuration.overlaid |= number > 0
    configuration.papers[paper] = block


def _refuse_changed_blocks(below: Block, above: Mapping[str, Any], file: str) -> None:
    for section in ("data", "runs", "figures", "interactive", "claims"):
        for name, block in above.get(section, {}).items():
            if name in below.get(section, {}) and below[section][name] != {**below[section][name], **block}:
                raise ProjectError(
                    f"{file}: {section}.{name}: changes what is there, and its results would replace the default's; "
                    "name this configuration with `scale: NAME`"
                )


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


def refuse_old_names(block: Any, file: str, path: Sequence[str] = ()) -> None:
    """Refuse keys of earlier versions.

    Raises
    ------
    ProjectError
        It names the new key.
    """
    for key, value in block.items() if isinstance(block, Mapping) and len(path) < 5 else ():
        if key in OLD_NAMES:
            raise ProjectError(f"{file}: {'.'.join([*path, str(key)])}: is called {OLD_NAMES[key]} now")
        refuse_old_names(value, file, [*path, str(key)])


# 1.0 is no whole number: whoever counts to it fails
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@functools.cache
def _schema() -> dict[str, Any]:
    return read_yaml(SCHEMAS / "config.schema.yaml")


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return _Validator({**_schema(), "$ref": f"#/$defs/{name}"})


def _check_schema(block: Mapping[str, Any], name: str, file: str) -> None:
    refuse_old_names(block, file)
    errors = list(_validator(name).iter_errors(block))
    error = jsonschema.exceptions.best_match(errors)
    if error is not None:
        if error.validator == "required":
            # a misspelt key says more than the one that is missing for it
            same_place = (
                candidate
                for candidate in errors
                if candidate.path == error.path and candidate.validator == "additionalProperties"
            )
            error = next(same_place, error)
        where = ".".join(str(part) for part in error.absolute_path) or "top level"
        raise ProjectError(f"{file}: {where}: {_explain(error)}")


def _explain(error: jsonschema.ValidationError) -> str:
    if error.validator == "additionalProperties":
        properties = error.schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in properties)
        return f"unknown key `{unknown}`{suggest_name(str(unknown), properties)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"`{missing}` is missing; add it"
    if error.validator == "type":
        return f"must be of type {error.validator_value} (is {shortened(error.instance)})"
    if error.validator == "enum":
        return f"must be one of {', '.join(map(str, error.validator_value))} (is {shortened(error.instance)})"
    if error.validator == "pattern":
        return f"`{str(error.instance)[:80]}` must match {error.validator_value}"
    if error.validator == "maximum":
        return f"must be {error.validator_value} or less (is {shortened(error.instance)})"
    if error.validator == "maxLength":
        return f"`{str(error.instance)[:80]}` has more than {error.validator_value} characters"
    return " ".join(error.message.split())[:300]


def leaf_paths(block: Mapping[str, Any], path: Key = ()) -> Iterator[Key]:
    """Yield the path of keys to each value."""
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from leaf_paths(value, (*path, str(key)))
        else:
            yield (*path, str(key))
