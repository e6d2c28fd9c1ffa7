"""YAML 1.2, by ruamel.yaml: `no` is text, 017 is 17, 1e-4 is a number, and a key that occurs twice is an error."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from learning_dynamics.errors import ProjectError


def read_value(text: str) -> Any:
    """Read one value as a YAML file would hold it; `YAMLError` and `ValueError` say what is wrong with it."""
    return YAML(typ="safe").load(text)


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises
    ------
    ProjectError
        If it is missing, is no YAML, or holds no mapping: file, line and what is wrong.
    """
    if not file.is_file():
        raise ProjectError(f"{file}: no such file")
    try:
        block = read_value(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProjectError(f"{file}: cannot be read ({error.strerror})") from None
    except (YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark else str(file)
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ProjectError(f"{place}: {problem}; correct the file") from None
    if not isinstance(block, dict):
        raise ProjectError(f"{file}: must be a mapping of keys to values")
    return block
