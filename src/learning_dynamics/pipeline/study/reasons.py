"""Why a setting has its value, as ``provenance:`` says: the paper or its code has it, or somebody chose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.study.blocks import Spec, all_settings, flat, own_settings
from learning_dynamics.pipeline.study.signatures import Signature, signature_of, signatures_of
from learning_dynamics.pipeline.study.study import Study


def provenance(study: Study, paper: str, section: str, name: str, key: str) -> Any:
    """Return where a setting of a run or data set comes from: a word, a mapping with the reason, or None.

    A reason belongs to the value beside it: to the block that sets it and those that inherit it, else to kind and
    setting, else, of a setting like ``limit.rtol``, to the class that it is a field of. An overlay that changes a value
    brings its own, or none is given. What a paper states of a kind is not said of a value that a run sets over the one
    it inherits, or sweeps.
    """
    configuration = study.configuration
    blocks = list(study.ancestry(paper, name)) if section == "runs" else [(name, study.declared(paper, "data", name))]
    setters = [(owner, block) for owner, block in blocks if key in all_settings(block)]
    if not setters:
        return None
    owner, block = setters[0]
    path = (paper, section, owner, *_path_in_block(block, key))
    overlay = configuration.overlay_of(*path)
    for child, inheriting in blocks[: blocks.index((owner, block)) + 1]:
        if key in inheriting.get("provenance", {}):
            reason_from = configuration.origins.get((paper, section, child, "provenance", key))
            reason_from = reason_from or configuration.origin(paper, section, child, "provenance")
            if overlay is None or reason_from == overlay or child != owner:
                return inheriting["provenance"][key]
    kind = study.resolved(paper, section, name)["kind" if section == "runs" else "source"]
    reasons = study.blocks(paper, "provenance")
    holders = [(kind, key), *_class_fields(paper, kind, key)]
    holder, inner = next(
        ((block_name, name) for block_name, name in holders if name in reasons.get(block_name, {})), (kind, key)
    )
    shared = reasons.get(holder, {}).get(inner)
    if overlay is not None:
        from_overlay = configuration.origins.get((paper, "provenance", holder, inner)) == overlay
        return shared if from_overlay else {"chosen": f"changed by {overlay}, no reason given"}
    shipped = configuration.base.get(path) == f"workflow/config/{paper}.yaml"
    default = None if shipped else {"chosen": f"set by {configuration.origin(*path)}, no reason given"}
    if shared is None:
        return default
    origin = next(iter(shared)) if isinstance(shared, Mapping) else shared
    if origin in ("stated", "code") and (len(setters) > 1 or key in block.get("sweep", {})):
        return default
    return shared


def unstated_settings(study: Study, paper: str) -> list[Spec]:
    """Return every setting that the paper does not state: section, name, key, value, origin, reason."""
    rows = []
    for section, name, key, value in _settings(study, paper):
        origin = provenance(study, paper, section, name, key)
        origin_word, reason = next(iter(origin.items())) if isinstance(origin, Mapping) else (origin, "")
        if origin_word != "stated":
            row = {
                "section": section,
                "name": name,
                "setting": key,
                "value": value,
                "origin": origin_word,
                "reason": reason,
            }
            rows.append(row)
    return rows


def check_reasons(study: Study, paper: str) -> None:
    """Refuse a setting of which nothing says where it comes from, and a reason for none.

    Raises
    ------
    ProjectError
        It names the block and the setting.
    """
    shared: list[Signature] = []  # kinds may share a block of reasons: a key must be a setting of one of them
    classes = classes_of_settings(study, paper)
    for kind in study.blocks(paper, "provenance"):
        functions = signatures_of(paper, kind)
        if not functions and kind not in classes:
            where = study.where(paper, "provenance", kind)
            raise ProjectError(f"{where}: no kind of run or source of data, nor a class of settings, is so called")
        shared += functions
    for kind, reasons in study.blocks(paper, "provenance").items():
        functions = [classes[kind]] if kind in classes else [*signatures_of(paper, kind), *shared]
        _check_names(study.where(paper, "provenance", kind), reasons, functions)
    for name, block in study.blocks(paper, "data").items():
        where = study.where(paper, "data", name)
        _check_names(
            f"{where}.provenance", block.get("provenance", {}), [signature_of("data", paper, block["source"], where)]
        )
    for name, block in study.blocks(paper, "runs").items():
        functions = signatures_of(paper, study.resolved(paper, "runs", name)["kind"])
        _check_names(f"{study.where(paper, 'runs', name)}.provenance", block.get("provenance", {}), functions)
    for section, name, key, _ in _settings(study, paper):
        if provenance(study, paper, section, name, key) is None:
            or_kind = (
                "; what is stated of its kind is not said of a value that a run sets over one it inherits, or sweeps"
                if _said_of_kind(study, paper, section, name, key)
                else ", or for all of its kind"
            )
            raise ProjectError(
                f"{study.where(paper, section, name)}.{key}: where does it come from? say so beside it under "
                f"`provenance` (stated, code, inferred, or {{chosen: why}}){or_kind}"
            )


def _said_of_kind(study: Study, paper: str, section: str, name: str, key: str) -> bool:
    kind = study.resolved(paper, section, name)["kind" if section == "runs" else "source"]
    return key in study.blocks(paper, "provenance").get(kind, {})


def _check_names(where: str, reasons: Mapping[str, Any], functions: Sequence[Signature]) -> None:
    settings = set().union(*(function.fields for function in functions))
    for key in reasons:
        if key not in settings:
            raise ProjectError(f"{where}.{key}: no setting of `{functions[0].name}`{suggest_name(key, settings)}")


def classes_of_settings(study: Study, paper: str) -> dict[str, Signature]:
    """Return the classes of settings that a paper's runs, their metrics and data take, and their bases, by name.

    Raises
    ------
    ProjectError
        If two have one name.
    """
    kinds = [block["source"] for block in study.blocks(paper, "data").values()]
    kinds += [study.resolved(paper, "runs", name)["kind"] for name in study.blocks(paper, "runs")]
    classes: dict[str, Signature] = {}
    for kind in dict.fromkeys(kinds):
        for settings_class in (
            argument for function in signatures_of(paper, kind) for argument in function.classes.values()
        ):
            for ancestor in (settings_class, *settings_class.ancestors):
                if classes.setdefault(ancestor.name, ancestor).where != ancestor.where:
                    raise ProjectError(
                        f"{ancestor.where}: `{ancestor.name}` stands in {classes[ancestor.name].where} too; rename it"
                    )
    return classes


def _class_fields(paper: str, kind: str, key: str) -> Iterator[tuple[str, str]]:
    """Yield the class that a setting like ``limit.rtol`` is a field of, and its bases, with the field's name."""
    name, _, inner = key.partition(".")
    for function in signatures_of(paper, kind) if inner else ():
        if name in function.classes:
            yield from (
                (settings_class.name, inner)
                for settings_class in (function.classes[name], *function.classes[name].ancestors)
            )


def _settings(study: Study, paper: str) -> Iterator[tuple[str, str, str, Any]]:
    """Yield section, name, key and value of every setting of data sets and runs."""
    for name, block in study.blocks(paper, "data").items():
        for key, value in flat(own_settings("data", block)).items():
            yield "data", name, key, value
    for name in study.blocks(paper, "runs"):
        for key, value in study.every_setting(paper, "runs", name).items():
            yield "runs", name, key, value


def _path_in_block(block: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if key in block.get("sweep", {}):
        return ("sweep", key)
    path = tuple(key.split("."))
    return ("measure", *path) if key in flat(block.get("measure", {})) else path
