"""Why a setting has its value, as ``provenance:`` says: the paper or its code has it, or somebody chose it."""

from collections.abc import Iterator, Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.pipeline.plan.blocks import Spec, flat
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import PAPERS, Key, Layers
from learning_dynamics.pipeline.plan.schema import all_settings
from learning_dynamics.pipeline.plan.signatures import Signature, signatures_of


def provenance(config: Config, paper: str, section: str, name: str, key: str) -> Any:
    """Return where a setting of a run or data set comes from: a word, a mapping with the reason, or None.

    The owner of a setting is the run itself if its block sets the value, else the nearest run that it extends whose
    block does; a data set owns all of its settings. The first of these reasons counts:

    1. below ``provenance:`` of a block: of the run itself, of a run between it and the owner, of the owner;
    2. below ``provenance:`` of the paper, under the function of the run, its kind;
    3. the same, of a setting like ``limit.rtol`` under the class that it is a field of.

    Two rules leave a reason out. If an overlay changes the value in the owner's block, the other files' reasons in
    that block and below ``provenance:`` of the paper do not count: they are about the previous value. `stated` and
    `code` of a kind or class do not apply to a value that a run overrides or sweeps, unless an overlay that sets the
    value gives them itself.

    Without any reason a value of the paper's own file has None, which `check_reasons` refuses; a value of another file
    is `chosen`, with the name of that file.

    For example, with ::

        provenance: {flow.train: {width: stated, horizon: {chosen: "until all have converged"}}}
        runs:
          small: {function: flow.train, width: 20, horizon: 40.0}
          large: {extends: small, width: 200, provenance: {width: {chosen: "ten times as wide"}}}

    the width of `small` is `stated`; that of `large` is `chosen`, and would be None, which is refused, without the
    reason in its block: the paper states 20, not 200. The horizon of both is `chosen`, since what somebody chose for a
    kind of run applies to every value. An overlay that sets the width of `small` to 30 must say why in its own file:
    what the paper's file says of 20 is not said of 30.
    """
    layers = config.configuration.layers[paper]
    # the run, then the runs that it extends, nearest first; a data set extends none
    blocks = [(name, config.declared_block(paper, section, name))]
    if section == "runs":
        blocks = list(config.ancestry(paper, name))
    setters = [number for number, (_, block) in enumerate(blocks) if key in all_settings(block)]
    if not setters:
        return None
    nearest = setters[0]
    owner, block = blocks[nearest]
    path = (section, owner, *_path_in_block(block, key))
    # `file` sets the value; `overlay` is the same file if one below it sets the value too, else None
    overlay, file = layers.overlay_of(*path), layers.origin(*path)
    every_file = (file, *layers.blocks)  # in the order in which reasons are looked for

    # reason 1; an heir is the run itself, a run between it and the owner, or the owner
    for heir, _ in blocks[: nearest + 1]:
        files = every_file
        if overlay and heir == owner:
            files = (file,)
        reason = _reason(layers, (section, heir, "provenance", key), *files)
        if reason:
            return reason
    # reasons 2 and 3
    function_name = _function_name(config, paper, section, name)
    functions = _functions(config, paper, section, name)
    holders = [(function_name, key), *_class_fields(functions, key)]

    def reason_of_kind(*files: str) -> Any:
        reasons = (_reason(layers, ("provenance", *holder), *files) for holder in holders)
        return next(filter(None, reasons), None)

    is_shipped = file == f"{PAPERS}/{paper}.yaml"
    # a reason in the file that sets the value is about this value, whatever that overrides
    if not is_shipped and reason_of_kind(file):
        return reason_of_kind(file)
    if not overlay:
        reason = reason_of_kind(*every_file)
        overrides = len(setters) > 1 or key in block.get("sweep", {})
        if reason and not (overrides and _origin_and_reason(reason)[0] in ("stated", "code")):
            return reason

    if is_shipped:
        return None
    how = "changed" if overlay else "set"
    return {"chosen": f"{how} by {file}, no reason given"}


def unstated_settings(config: Config, paper: str) -> list[Spec]:
    """Return every setting that the paper does not state: section, name, setting, value, origin, reason."""
    rows = []
    for section, name in _blocks(config, paper):
        for key, value in config.every_setting(paper, section, name).items():
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
    by_function = config.blocks(paper, "provenance")
    # functions may share a block of reasons: a key must be a setting of one of them
    shared = {
        key
        for function_name in by_function
        for function in signatures_of(paper, function_name)
        for key in function.fields
    }
    classes: dict[str, set[str]] = {}
    for section, name in _blocks(config, paper):
        for function in _functions(config, paper, section, name):
            for argument in function.classes.values():
                for settings_class in argument.lineage:
                    classes.setdefault(settings_class.name, set()).update(settings_class.fields)
    known = {*classes, *(function_name for function_name in by_function if signatures_of(paper, function_name))}
    for function_name, reasons in by_function.items():
        where = config.where(paper, "provenance", function_name)
        check_known(function_name, known, "kind of run, source of data or class of settings", where)
        for key in reasons:
            check_known(key, classes.get(function_name, shared), "setting", f"{where}.{key}")
    for section, name in _blocks(config, paper):
        where = config.where(paper, section, name)
        fields = {key for function in _functions(config, paper, section, name) for key in function.fields}
        for key in config.declared_block(paper, section, name).get("provenance", {}):
            check_known(key, fields, "setting", f"{where}.provenance.{key}")
        for key in config.every_setting(paper, section, name):
            if provenance(config, paper, section, name, key) is None:
                raise ProjectError(
                    f"{where}.{key}: has no provenance; add it to this block (stated, code, inferred, or {{chosen: "
                    "why}), or to its function, whose `stated` and `code` do not apply to a value that a run overrides "
                    "or sweeps"
                )


def _blocks(config: Config, paper: str) -> Iterator[tuple[str, str]]:
    """Yield section and name of every data set and run."""
    return ((section, name) for section in ("data", "runs") for name in config.blocks(paper, section))


def _function_name(config: Config, paper: str, section: str, name: str) -> str:
    """Return ``topic.function`` of a run, or the source of a data set."""
    return config.resolved_block(paper, section, name)["function" if section == "runs" else "source"]


def _functions(config: Config, paper: str, section: str, name: str) -> list[Signature]:
    """Return what a run or data set calls; of a run also its metrics, which have the same name."""
    return signatures_of(paper, _function_name(config, paper, section, name))


def _class_fields(functions: list[Signature], key: str) -> Iterator[tuple[str, str]]:
    """Yield the class that a setting like ``limit.rtol`` is a field of, and its bases, with the field's name."""
    name, _, field = key.partition(".")
    for function in functions:
        if field and name in function.classes:
            yield from ((settings_class.name, field) for settings_class in function.classes[name].lineage)


def _path_in_block(block: Mapping[str, Any], key: str) -> Key:
    """Return the keys under which a block has a setting: ``limit.rtol`` is below `limit`, that below `measure`."""
    if key in block.get("sweep", {}):
        return ("sweep", key)
    path = tuple(key.split("."))
    return ("measure", *path) if key in flat(block.get("measure", {})) else path


def _reason(layers: Layers, path: Key, *files: str) -> Any:
    """Return what is at a path of keys, such as a run's ``provenance`` of a setting, in the first file that has it."""
    for file in files:
        block: Any = layers.blocks[file]
        for key in path:
            block = (block or {}).get(key)  # an overlay may have null there
        if block:
            return block
    return None


def _origin_and_reason(provenance: Any) -> tuple[str, str]:
    """Return the word of a provenance, such as `chosen`, and the reason, which is "" where the word is all there is."""
    if isinstance(provenance, Mapping):
        return next(iter(provenance.items()))  # a mapping of one: the origin to the reason
    return provenance, ""
