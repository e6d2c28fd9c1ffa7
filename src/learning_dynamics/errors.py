"""The one exception that users see: what is wrong, where, and the fix, in one line."""

import difflib
from collections.abc import Collection, Iterable


class ProjectError(Exception):
    """A mistake that a person can fix; the command line prints it without a traceback."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())  # a file or a key that it names may have line breaks


class DivergenceError(ProjectError, ArithmeticError):
    """A simulation left the finite numbers, or could not be carried to its end."""


class CheckError(ProjectError, ValueError):
    """A claim that cannot be judged as it is written: it yields no check, or gives one what does not fit."""


class UnfinishedError(ProjectError):
    """The time granted is over, and the state is saved: the same command goes on from there.

    The message begins a sentence, as "40 of 350 epochs are trained" does; its end is added.
    """

    def __str__(self) -> str:
        return f"{super().__str__()} in the time that was granted; run the same command again to go on"


def shortened(value: object) -> str:
    """Return a value as Python writes it, cut after 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "..."


def suggest_name(name: object, candidates: Iterable[object]) -> str:
    """Return the end of an error message: the nearest known name, or all of them."""
    candidates = sorted(map(str, candidates))
    matches = difflib.get_close_matches(str(name), candidates, n=1)
    if matches:
        return f"; did you mean `{matches[0]}`?"
    return f"; known are: {', '.join(candidates)}" if candidates else "; none are known here"


def check_known(name: object, known: Collection[object], thing: str, where: str) -> None:
    """Refuse a name that is not among those known: `thing` is what it should name, `where` the file or key with it."""
    if name not in known:
        raise ProjectError(f"{where}: no {thing} `{name}`{suggest_name(name, known)}")
