"""Why a setting has its value, as ``provenance:`` says: the paper or its code has it, or somebody chose it."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.plan.blocks import Spec, all_settings, flat
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import PAPERS, Key
from learning_dynamics.pipeline.plan.signatures import Signature, signature_of, signatures_of


def provenance(config: Config, paper: str, section: str, name: str, key: str) -> Any:
    """Return where a setting of a run or data set comes from: a word, a mapping with the reason, or None.

    A reason belongs to values that the same file sets. It stands in the block that sets the value or inherits it, else
    below ``provenance:`` of the paper, under the kind of run or, of a setting like ``limit.rtol``, under the class that
    it is a field of. `stated` and `code` of a kind in a paper's own file do not apply to a value that a run
    overrides or sweeps.
    """
    layers = config.configuration.layers[paper]
    blocks = list(config.ancestry(paper, name)) if section == "runs" else [(name, config.declared(paper, "data", name))]
    setters = [number for number, (_, block) in enumerate(blocks) if key in all_settings(block)]
    if not setters:
        return None
    owner, block = blocks[setters[0]]
    path = (section, owner, *_path_in_block(block, key))
    overlay, file = layers.overlay_of(*path), layers.origin(*path)
    for child, inheriting in blocks[: setters[0] + 1]:
        if key in inheriting.get("provenance", {}):
            from_file, first = _reasons(config, paper, file, (section, child, "provenance", key))
            if from_file or overlay is None or child != owner:
                return from_file or first
    kind = config.resolved(paper, section, name)["kind" if section == "runs" else "source"]
    reasons = config.blocks(paper, "provenance")
    holders = [(kind, key), *_class_fields(paper, kind, key)]
    holder = next(((holder, inner) for holder, inner in holders if inner in reasons.get(holder, {})), (kind, key))
    from_file, shared = _reasons(config, paper, file, ("provenance", *holder))
    is_shipped = file == f"{PAPERS}/{paper}.yaml"
    if from_file and not is_shipped:
        return from_file
    overrides = len(setters) > 1 or key in block.get("sweep", {})
    if overlay or shared is None or (overrides and _origin_and_reason(shared)[0] in ("stated", "code")):
        verb = "changed" if overlay else "set"
        return None if is_shipped else {"chosen": f"{verb} by {file}, no reason given"}
    return shared


def unstated_settings(config: Config, paper: str) -> list[Spec]:
    """Return every setting that the paper does not state: section, name, setting, value, origin, reason."""
    rows = []
    for section, name, key, value in _settings(config, paper):
        origin, reason = _origin_and_reason(provenance(config, paper, section, name, key))
        if origin != "stated":
            place = {"section": section, "name": name, "setting": key, "value": value}
            rows.append(place | {"origin": origin, "reason": reason})
    return rows


def check_reasons(config: Config, paper: str) -> None:
    """Refuse a setting without provenance, and provenance of what is no setting.

    Raises
    ------
    ProjectError
        It names the block and the setting.
    """
    classes = classes_of_settings(config, paper)
    shared: list[Signature] = []  # kinds may share a block of reasons: a key must be a setting of one of them
    for kind in config.blocks(paper, "provenance"):
        functions = signatures_of(paper, kind)
        if not functions and kind not in classes:
            where = config.where(paper, "provenance", kind)
            raise ProjectError(f"{where}: no kind of run or source of data, nor a class of settings, is so called")
        shared += functions
    for kind in config.blocks(paper, "provenance"):
        functions = [classes[kind]] if kind in classes else [*signatures_of(paper, kind), *shared]
        _check_names(config, (paper, "provenance", kind), functions)
    for name, block in config.blocks(paper, "data").items():
        functions = [signature_of("data", paper, block["source"], config.where(paper, "data", name))]
        _check_names(config, (paper, "data", name, "provenance"), functions)
    for name in config.blocks(paper, "runs"):
        functions = signatures_of(paper, config.resolved(paper, "runs", name)["kind"])
        _check_names(config, (paper, "runs", name, "provenance"), functions)
    for section, name, key, _ in _settings(config, paper):
        if provenance(config, paper, section, name, key) is None:
            raise ProjectError(
                f"{config.where(paper, section, name)}.{key}: has no provenance; add it to this block (stated, code, "
                "inferred, or {chosen: why}), or to its kind, whose `stated` and `code` do not apply to a value that a "
                "run overrides or sweeps"
            )


def _check_names(config: Config, path: Key, functions: list[Signature]) -> None:
    settings = set().union(*(function.fields for function in functions))
    reasons: Mapping[str, Any] = config.configuration.papers
    for part in path:
        reasons = reasons.get(part, {})
    for key in reasons:
        if key not in settings:
            nearest = suggest_name(key, settings)
            raise ProjectError(f"{config.where(*path)}.{key}: no setting of `{functions[0].name}`{nearest}")


def classes_of_settings(config: Config, paper: str) -> dict[str, Signature]:
    """Return the classes of settings that a paper's runs, their metrics and data take, and their bases, by name.

    Raises
    ------
    ProjectError
        If two have one name.
    """
    kinds = [block["source"] for block in config.blocks(paper, "data").values()]
    kinds += [config.resolved(paper, "runs", name)["kind"] for name in config.blocks(paper, "runs")]
    functions = [function for kind in dict.fromkeys(kinds) for function in signatures_of(paper, kind)]
    classes: dict[str, Signature] = {}
    for argument in (argument for function in functions for argument in function.classes.values()):
        for settings_class in (argument, *argument.ancestors):
            if classes.setdefault(settings_class.name, settings_class).where != settings_class.where:
                first = classes[settings_class.name].where
                raise ProjectError(f"{settings_class.where}: `{settings_class.name}` is in {first} too; rename it")
    return classes


def _class_fields(paper: str, kind: str, key: str) -> Iterator[tuple[str, str]]:
    """Yield the class that a setting like ``limit.rtol`` is a field of, and its bases, with the field's name."""
    name, _, inner = key.partition(".")
    for function in signatures_of(paper, kind) if inner else ():
        if name in function.classes:
            for settings_class in (function.classes[name], *function.classes[name].ancestors):
                yield settings_class.name, inner


def _settings(config: Config, paper: str) -> Iterator[tuple[str, str, str, Any]]:
    """Yield section, name, key and value of every setting of data sets and runs."""
    for section in ("data", "runs"):
        for name in config.blocks(paper, section):
            for key, value in config.every_setting(paper, section, name).items():
                yield section, name, key, value


def _path_in_block(block: Mapping[str, Any], key: str) -> Key:
    if key in block.get("sweep", {}):
        return ("sweep", key)
    path = tuple(key.split("."))
    return ("measure", *path) if key in flat(block.get("measure", {})) else path


def _reasons(config: Config, paper: str, file: str, path: Key) -> tuple[Any, Any]:
    """Return the reason that a file gives at a path of keys, and that of this file or the first that gives one."""
    layers = config.configuration.layers[paper].blocks.items()
    reasons = {name: functools.reduce(lambda block, key: block.get(key, {}), path, layer) for name, layer in layers}
    given = [reasons.get(file), *reasons.values()]
    return reasons.get(file) or None, next(filter(None, given), None)


def _origin_and_reason(provenance: Any) -> tuple[str, str]:
    return next(iter(provenance.items())) if isinstance(provenance, Mapping) else (provenance, "")
