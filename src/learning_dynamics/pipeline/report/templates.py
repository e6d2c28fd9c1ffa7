"""Prose with numbers in it: templates whose fields are filled from what was measured, so that no result is typed."""

import math
import re
import string
from collections.abc import Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name

MATHS = re.compile(r"(\$[^$]+\$)")
# `{name}` and `{name:.2f}`, but no argument's braces: not those of `\frac{a}`, `x_{ab}` and `}{b}`
IN_MATHS = re.compile(r"(?<![\\\w^}])\{([a-z]\w+)(?::[^{}]*)?\}")


class _Fields(string.Formatter):
    """Fills fields by their whole names: ``{claim.value}`` is the fact of that name, not an attribute."""

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        # dotted names are looked up whole: nothing is called or reached into
        if field_name not in kwargs:
            raise ProjectError(
                f"the text has a field `{{{field_name}}}` that nothing fills{suggest_name(field_name, kwargs)}"
            )
        return kwargs[field_name], field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion:
            raise ValueError(f"`!{conversion}` is not for prose")
        return value


def fill(text: str, facts: Mapping[str, Any], where: str = "") -> str:
    """Return a text with its ``{name}`` and ``{name:format}`` fields filled; mathematics between dollars is left alone.

    A field that was not measured (a claim that is untested) reads as a dash.

    Raises
    ------
    ProjectError
        If a field has no fact, or its format does not fit, or a fact's field stands within mathematics; it begins with
        where the text stands.
    """
    parts = MATHS.split(text)  # words at even places, formulas at odd ones
    shown = {key: _Shown(value) for key, value in facts.items()}
    try:
        fields_in_maths = [name for formula in parts[1::2] for name in IN_MATHS.findall(formula) if name in facts]
        if fields_in_maths:
            inside = fields_in_maths[0]
            raise ProjectError(
                f"the text has the field `{{{inside}}}` within mathematics, where nothing is filled; end it before, "
                f"as in `$x =$ {{{inside}}}`"
            )
        parts[::2] = [_Fields().vformat(part, (), shown) for part in parts[::2]]
    except ValueError as error:
        message = f"the text {text[:60]!r}... has a field that cannot be filled: {error}"
        raise ProjectError(f"{where}: {message}" if where else message) from None
    except ProjectError as error:
        raise ProjectError(f"{where}: {error}" if where else str(error)) from None
    return "".join(parts)


def fields(text: str) -> set[str]:
    """Return the names of a text's fields."""
    plain = "".join(MATHS.split(text)[::2])
    return {name for _, name, _, _ in string.Formatter().parse(plain) if name}


class _Shown:
    """A fact as prose shows it: numbers by their format, what is missing as a dash."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, form: str) -> str:
        value = self.value
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "–"
        if isinstance(value, str):
            return value
        text = format(value, form)
        mantissa, mark, exponent = text.partition("e")
        return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$" if mark and exponent.lstrip("+-").isdigit() else text
