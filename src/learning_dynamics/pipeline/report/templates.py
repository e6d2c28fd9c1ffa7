"""Prose with numbers in it: templates whose fields are filled from what was measured, so that no result is typed."""

import re
from collections.abc import Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name

MATHS = re.compile(r"(\$[^$]+\$)")
IN_MATHS = re.compile(r"(?<![\\\w^}])\{([a-z]\w+)(?::[^{}]*)?\}")  # braces that are not an argument's
FIELD = re.compile(r"\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}")  # a brace that is doubled, or name and format


def fill(text: str, facts: Mapping[str, Any], where: str = "") -> str:
    """Return a text with its ``{name}`` and ``{name:format}`` fields filled; mathematics between dollars is left alone.

    A field that was not measured (a claim that is untested) reads as a dash.

    Raises
    ------
    ProjectError
        If a field has no fact, or its format does not fit, or a fact's field stands within mathematics; it begins with
        where the text stands.
    """
    parts = MATHS.split(text)
    try:
        inside = next((name for maths in parts[1::2] for name in IN_MATHS.findall(maths) if name in facts), None)
        if inside is not None:
            raise ProjectError(
                f"the text has the field `{{{inside}}}` within mathematics, where nothing is filled; end it before, "
                f"as in `$x =$ {{{inside}}}`"
            )
        parts[::2] = [FIELD.sub(lambda field: _fill_field(field, facts), part) for part in parts[::2]]
    except ValueError as error:
        text = f"the text {text[:60]!r}... has a field that cannot be filled: {error}"
        raise ProjectError(f"{where}: {text}" if where else text) from None
    except ProjectError as error:
        raise ProjectError(f"{where}: {error}" if where else str(error)) from None
    return "".join(parts)


def fields(text: str) -> set[str]:
    """Return the names of a text's fields."""
    return {name for part in MATHS.split(text)[::2] for name, _ in FIELD.findall(part) if name}


def _fill_field(field: re.Match[str], facts: Mapping[str, Any]) -> str:
    """Return what stands for a field: numbers by their format, a dash for what is missing."""
    name, form = field.groups()
    if name is None:
        return field[0][0]  # of a doubled brace
    if name not in facts:
        raise ProjectError(f"the text has a field `{{{name}}}` that nothing fills{suggest_name(name, facts)}")
    value = facts[name]
    if value is None or value != value:
        return "–"
    if isinstance(value, str):
        return value
    text = format(value, form or "")
    mantissa, mark, exponent = text.partition("e")
    return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$" if mark and exponent.lstrip("+-").isdigit() else text
