"""YAML as a configuration needs it: text as keys, plain values, nothing that is silently something else, no bombs."""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from learning_dynamics.errors import ProjectError

TAG = "tag:yaml.org,2002:"
MAX_MERGED_KEYS = 10_000  # keys of one block
MAX_FILE_SIZE = 20_000_000  # characters
MAX_DEPTH = 60  # blocks within blocks
MAX_VALUES = 1_000_000  # of one file, aliases counted as often as they stand
# how values are written that everybody reads the same way
FORMS = {
    f"{TAG}int": re.compile(r"[-+]?(0|[1-9][0-9_]{0,300})"),
    f"{TAG}float": re.compile(
        r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    ),
    f"{TAG}bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
}
DIGITS = "write its decimal digits, or quote text"
MENDS = {
    f"{TAG}int": f"is no plain whole number (YAML takes 017 for 15 and 1:30 for 90); {DIGITS}",
    f"{TAG}float": f"is no plain number (YAML takes 1:30.5 for 90.5); {DIGITS}",
    f"{TAG}bool": "would be read as true or false; write true or false, or quote text",
    f"{TAG}timestamp": "would be read as a date; quote text",
    f"{TAG}binary": "is binary data, which no setting takes",
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which nothing is silently another thing: no key stands twice, no `017` is 15, no `no` is false."""

    def refuse(self, node: yaml.ScalarNode) -> Any:
        raise yaml.constructor.ConstructorError(None, None, f"`{node.value[:40]}` {MENDS[node.tag]}", node.start_mark)

    def plain(self, node: yaml.ScalarNode) -> Any:
        """Return a whole number, number or truth value as everybody reads it."""
        if not (isinstance(node.value, str) and FORMS[node.tag].fullmatch(node.value)):
            return self.refuse(node)
        return getattr(super(), f"construct_yaml_{node.tag.rpartition(':')[2]}")(node)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > MAX_MERGED_KEYS:
            raise yaml.constructor.ConstructorError(None, None, "merges too many keys", node.start_mark)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(None, None, "must be a mapping of keys to values", node.start_mark)
        merged = [pair for pair in node.value if pair[0].tag == "tag:yaml.org,2002:merge"]
        keys: set[Any] = set()
        for key_node, _ in node.value:
            if (key_node, _) in merged:
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"a key must be text (is {key!r:.40}); quote it", key_node.start_mark
                )
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key `{key}` stands twice in one block", key_node.start_mark
                )
            keys.add(key)
        return super().construct_mapping(node, deep)


for _kind in ("int", "float", "bool"):
    _Loader.add_constructor(TAG + _kind, _Loader.plain)
for _kind in ("timestamp", "binary"):
    _Loader.add_constructor(TAG + _kind, _Loader.refuse)


def read_value(text: str) -> Any:
    """Read one value as a YAML file would hold it; `yaml.YAMLError` says what is wrong with it."""
    return yaml.load(text, _Loader)


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises
    ------
    ProjectError
        If it is missing, no text, no YAML, holds a key twice, or is no mapping: file, line and what is wrong.
    """
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise ProjectError(f"{file}: cannot be read (not a regular file)")
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ProjectError(f"{file}: no such file") from None
    except UnicodeDecodeError:
        raise ProjectError(f"{file}: is not text in UTF-8; save it so") from None
    except OSError as error:
        raise ProjectError(f"{file}: cannot be read ({error.strerror})") from None
    if len(text) > MAX_FILE_SIZE or _depth(text) > MAX_DEPTH:
        raise ProjectError(f"{file}: is too large or too deep to be a configuration; write less into it")
    try:
        block = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ProjectError(f"{file}{line}: {error.problem}; mend the YAML") from None
    except yaml.YAMLError as error:
        raise ProjectError(f"{file}: {' '.join(str(error).split())}; mend the YAML") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        # a tag such as !!set on what is none
        raise ProjectError(f"{file}: a value that YAML cannot build ({str(error)[:80]}); mend the YAML") from None
    if block is None:
        raise ProjectError(f"{file}: is empty")
    if not isinstance(block, dict):
        raise ProjectError(f"{file}: must be a mapping of keys to values")
    check_plain(block, str(file))
    return block


def _depth(text: str) -> int:
    """Return how deep brackets are at most open, and inline lists in lists."""
    deepest = max((len(dashes) // 2 for dashes in re.findall(r"(?:[-?:] +){9,}", text)), default=0)
    n_open = 0
    if text.count("[") + text.count("{") > MAX_DEPTH:
        for sign in re.findall(r"[][{}]", text):
            n_open += 1 if sign in "[{" else -1
            deepest = max(deepest, n_open)
    return deepest


def check_plain(block: Any, file: str) -> None:
    """Refuse what is no plain configuration: keys that are no text, values of other types, loops, bombs of aliases."""
    sizes: dict[int, int] = {}

    def size(value: Any, path: tuple[str, ...]) -> int:
        where = f"{file}: {'.'.join(path) or 'top level'}"
        if value is None or isinstance(value, str | bool | int | float):
            return 1
        if not isinstance(value, list | dict):
            raise ProjectError(f"{where}: a value of type {type(value).__name__}, which no setting takes")
        if id(value) in sizes:
            if sizes[id(value)] == 0 or len(path) > MAX_DEPTH:
                raise ProjectError(f"{where}: holds itself; mend the YAML")
            return sizes[id(value)]
        sizes[id(value)] = 0
        pairs = value.items() if isinstance(value, dict) else ((str(index), item) for index, item in enumerate(value))
        total = 1
        for key, item in pairs:
            if not isinstance(key, str):
                raise ProjectError(f"{where}: a key must be text (is {key!r:.40}); quote it")
            total += size(item, (*path, key[:40]))
        if total > MAX_VALUES:
            raise ProjectError(f"{where}: {total} values, aliases counted; write fewer")
        sizes[id(value)] = total
        return total

    size(block, ())
