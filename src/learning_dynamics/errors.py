"""The one exception that users see: what is wrong, where, and the mend, in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ProjectError(Exception):
    """A mistake that a person can mend; the command line prints it without a traceback."""


class DivergenceError(ProjectError, ArithmeticError):
    """A simulation left the finite numbers, or could not be carried to its end."""


def near(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the nearest known name, or all of them."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean `{close[0]}`?"
    return f"; known are: {', '.join(known)}" if known else "; none are known here"
