"""Prose with numbers in it: templates whose fields are filled with measured facts, so that no result is typed."""

import math
import numbers
import re
import string
from collections.abc import Mapping
from typing import Any

from learning_dynamics.errors import ProjectError, shortened, suggest_name

MATHS = re.compile(r"(\$[^$]+\$)")
# A field within mathematics, as in `x = {value:.2f}`, and none of TeX's own braces, as in `\frac{ab}{cd}`, `x_{ab}`,
# `\{ab\}`: these follow a letter, a digit, `_`, `^`, `}` or a backslash; or, as in `\sqrt[3]{ab}`, what
# `OPTIONAL_ARGUMENT` finds.
FIELD_IN_MATHS = re.compile(r"(?<![\\\w^}])\{([A-Za-z][\w.]*)(?::[^{}]*)?\}")
OPTIONAL_ARGUMENT = re.compile(r"\\[A-Za-z]+\[[^][]*\]$")  # of a command, at the end of what is before its brace


class _Shown:
    """A fact as prose shows it: a number in its field's format, a text as it is, what is missing as a dash."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, form: str) -> str:
        value = self.value
        if value is None or (isinstance(value, numbers.Real) and math.isnan(value)):
            return "–"
        if isinstance(value, str):
            return value
        text = format(value, form)
        # 1.2e-05 becomes a power of ten
        mantissa, mark, exponent = text.partition("e")
        return f"${mantissa} \\cdot 10^{{{int(exponent)}}}$" if mark and exponent.lstrip("+-").isdigit() else text


class _Fields(string.Formatter):
    """Fills fields by their whole names: ``{claim.value}`` is the fact of that name, not an attribute."""

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        if field_name not in kwargs:
            raise ProjectError(
                f"the text has a field `{{{field_name}}}` that nothing fills{suggest_name(field_name, kwargs)}"
            )
        return kwargs[field_name], field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion:  # `!r` or `!s`
            raise ValueError(f"`!{conversion}` is not for prose")
        return value


def fill(text: str, facts: Mapping[str, Any], where: str = "") -> str:
    """Return a text with its ``{name}`` and ``{name:format}`` fields filled; mathematics between dollars has none.

    A fact that was not measured, as of an untested claim, reads as a dash.

    Parameters
    ----------
    where : str
        Where the text is from: the beginning of an error's message.

    Raises
    ------
    ProjectError
        If a field has no fact, or a format that does not fit its number, or if a fact's field is within mathematics
        and its brace is not one of TeX's own.
    """
    parts = MATHS.split(text)  # prose at even places, formulas at odd ones
    shown = {key: _Shown(value) for key, value in facts.items()}
    try:
        in_maths = [name for formula in parts[1::2] for name in _fields_in_maths(formula) if name in facts]
        if in_maths:
            name = in_maths[0]
            raise ProjectError(
                f"the text has the field `{{{name}}}` within mathematics, where nothing is filled; end it before, "
                f"as in `$x =$ {{{name}}}`"
            )
        parts[::2] = [_Fields().vformat(part, (), shown) for part in parts[::2]]
    except (TypeError, ValueError) as error:
        message = f"the text {shortened(text)} has a field that cannot be filled: {error}"
        raise ProjectError(f"{where}: {message}" if where else message) from None
    except ProjectError as error:
        raise ProjectError(f"{where}: {error}" if where else str(error)) from None
    return "".join(parts)


def _fields_in_maths(formula: str) -> list[str]:
    """Return the names in braces of a formula that are not TeX's own."""
    return [
        match[1] for match in FIELD_IN_MATHS.finditer(formula) if not OPTIONAL_ARGUMENT.search(formula[: match.start()])
    ]


def fields(text: str) -> set[str]:
    """Return the names of the fields that `fill` fills in a text: those outside mathematics."""
    plain = "".join(MATHS.split(text)[::2])
    return {name for _, name, _, _ in string.Formatter().parse(plain) if name}
