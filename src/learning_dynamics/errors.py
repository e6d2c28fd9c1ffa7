"""The errors that users see: each says in one line what is wrong, where, and the fix; and helpers that write them."""

import difflib
from collections.abc import Collection, Iterable

LONGEST = 80  # characters of a value that a message quotes; chosen: with the words around it a message stays short


class ProjectError(Exception):
    """An error that a person can do something about; the command line prints it without a traceback."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())  # a file or a key that it names may have line breaks


class DivergenceError(ProjectError):
    """A simulation reached infinite or undefined numbers, or could not be carried to its end."""


class CheckError(ProjectError):
    """A claim that cannot be judged as it is written.

    For example, it yields no check, or an argument of a check or of `@claim` does not fit.
    """


class UnfinishedError(ProjectError):
    """The time granted (`progress.grant`) is over, and the state is saved: the same command continues from there.

    The message is the beginning of a sentence, such as "40 of 350 epochs are trained"; `__str__` adds the end.
    """

    def __str__(self) -> str:
        return f"{super().__str__()} in the time that was granted; run the same command again to go on"


def shortened(value: object) -> str:
    """Return a value as Python writes it, cut after `LONGEST` characters."""
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def suggest_name(name: object, candidates: Iterable[object]) -> str:
    """Return the end of an error message on an unknown name: the nearest of the candidates, or all of them."""
    names = sorted(map(str, candidates))
    matches = difflib.get_close_matches(str(name), names, n=1)
    if matches:
        return f"; did you mean `{matches[0]}`?"
    if names:
        return f"; known are: {', '.join(names)}"
    return "; none are known here"


def check_known(name: object, known: Collection[object], thing: str, where: str) -> None:
    """Refuse an unknown name of a `thing`, such as "paper".

    `where` begins the message. It is the place where the name is written (a file, a key, an option), or the paper that
    lacks what has this name.

    Raises
    ------
    ProjectError
        If `name` is not among the `known`.
    """
    if name not in known:
        raise ProjectError(f"{where}: no {thing} `{name}`{suggest_name(name, known)}")
