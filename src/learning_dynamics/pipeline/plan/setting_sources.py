"""Why a setting has its value, as ``provenance:`` says: the paper or its code has it, or somebody chose it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.pipeline.plan.blocks import Spec, flat
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import PAPERS, Key, Layers
from learning_dynamics.pipeline.plan.schema import all_settings
from learning_dynamics.pipeline.plan.signatures import Signature, signatures_of


@dataclass(frozen=True)
class _Setting:
    """A setting of a run or data set, and the block that sets its value.

    Attributes
    ----------
    path : tuple of str
        The keys under which the configuration has the value.
    owner : str
        The run or data set whose block sets it: the run itself, or the nearest that it extends.
    lineage : list of str
        The runs from the run itself to the owner, both included.
    overrides : bool
        Whether the value replaces that of a run farther up, or is swept.
    """

    path: Key
    owner: str
    lineage: list[str]
    overrides: bool


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
    is `chosen`, with the name of that file. None is also returned for a setting that no block has, whose value is the
    function's default.

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
    layers = config.configuration.layers[paper]  # the files that the paper's block is merged from, the lowest first
    setting = _find_setting(config, paper, section, name, key)
    if setting is None:
        return None
    file = layers.origin(*setting.path)  # the file that sets the value, of several the highest layer's
    is_shipped = file == f"{PAPERS}/{paper}.yaml"
    is_changed = layers.overlay_of(*setting.path) is not None  # it replaces the value of a file below
    # In the order in which reasons are looked for: an overlay that does not set the value, but gives a reason for it,
    # counts only where the shipped file has none.
    every_file = (file, *layers.blocks)

    # reason 1
    for block_name in setting.lineage:
        files = (file,) if is_changed and block_name == setting.owner else every_file
        reason = _first_reason(layers, (section, block_name, "provenance", key), files)
        if reason:
            return reason

    # reasons 2 and 3
    functions = _functions(config, paper, section, name)
    holders = [(_function_name(config, paper, section, name), key), *_class_fields(functions, key)]
    paths = [("provenance", *holder) for holder in holders]
    # a reason in the overlay that sets the value is about this value, even where that overrides or is swept
    if not is_shipped:
        reason = _first_reason_of(layers, paths, (file,))
        if reason:
            return reason
    # the reasons in other files are about the value that it replaces
    if is_changed:
        return {"chosen": f"changed by {file}, no reason given"}
    reason = _first_reason_of(layers, paths, every_file)
    is_of_a_source = reason and _origin_and_reason(reason)[0] in ("stated", "code")
    if reason and not (setting.overrides and is_of_a_source):
        return reason

    return None if is_shipped else {"chosen": f"set by {file}, no reason given"}


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
        If there is such a setting: its name, and the block that has it.
    """
    by_function = config.blocks(paper, "provenance")
    # Functions may share a block of reasons, by an anchor of YAML. So a key below a function need not be its setting,
    # only that of some function which the paper has below `provenance`.
    of_any_function = {
        key
        for function_name in by_function
        for function in signatures_of(paper, function_name)
        for key in function.fields
    }
    classes: dict[str, set[str]] = {}
    for section, name in _blocks(config, paper):
        for function in _functions(config, paper, section, name):
            for parameter_class in function.classes.values():  # the dataclasses of settings that it takes
                for settings_class in parameter_class.lineage:  # the class and its bases
                    classes.setdefault(settings_class.name, set()).update(settings_class.fields)
    known = {*classes, *(function_name for function_name in by_function if signatures_of(paper, function_name))}
    for function_name, reasons in by_function.items():
        where = config.where(paper, "provenance", function_name)
        check_known(function_name, known, "kind of run, source of data or class of settings", where)
        for key in reasons:
            check_known(key, classes.get(function_name, of_any_function), "setting", f"{where}.{key}")
    for section, name in _blocks(config, paper):
        where = config.where(paper, section, name)
        fields = {key for function in _functions(config, paper, section, name) for key in function.fields}
        for key in config.declared_block(paper, section, name).get("provenance", {}):
            check_known(key, fields, "setting", f"{where}.provenance.{key}")
        settings = config.every_setting(paper, section, name)
        missing = [key for key in settings if provenance(config, paper, section, name, key) is None]
        if missing:
            others = f", nor have {', '.join(missing[1:])}" if missing[1:] else ""
            block = ", ".join(f"{key}: stated" for key in missing)
            raise ProjectError(
                f"{where}.{missing[0]}: has no provenance{others}; add it to this block, provenance: {{{block}}} "
                "(stated, code, inferred, or {chosen: why}), or to its function, whose `stated` and `code` do not "
                "apply to a value that a run overrides or sweeps"
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


def _find_setting(config: Config, paper: str, section: str, name: str, key: str) -> _Setting | None:
    """Return which block sets a setting of a run or data set; None if the value is the function's default."""
    # the run, then the runs that it extends, nearest first; a data set extends none
    blocks = [(name, config.declared_block(paper, section, name))]
    if section == "runs":
        blocks = list(config.ancestry(paper, name))
    with_value = [number for number, (_, block) in enumerate(blocks) if key in all_settings(block)]
    if not with_value:
        return None
    nearest = with_value[0]
    owner, block = blocks[nearest]
    return _Setting(
        path=(section, owner, *_path_in_block(block, key)),
        owner=owner,
        lineage=[run for run, _ in blocks[: nearest + 1]],
        overrides=len(with_value) > 1 or key in block.get("sweep", {}),
    )


def _path_in_block(block: Mapping[str, Any], key: str) -> Key:
    """Return the keys under which a block has a setting: ``limit.rtol`` is below `limit`, that below `measure`."""
    if key in block.get("sweep", {}):
        return ("sweep", key)
    path = tuple(key.split("."))
    return ("measure", *path) if key in flat(block.get("measure", {})) else path


def _first_reason_of(layers: Layers, paths: Sequence[Key], files: Sequence[str]) -> Any:
    """Return the reason at the first of several paths of keys that has one in one of the files, or None."""
    reasons = (_first_reason(layers, path, files) for path in paths)
    return next(filter(None, reasons), None)


def _first_reason(layers: Layers, path: Key, files: Sequence[str]) -> Any:
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
