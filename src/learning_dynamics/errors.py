"""The one exception that users see: what is wrong, where, and the mend, in one line."""

from __future__ import annotations


class ProjectError(Exception):
    """A mistake that a person can mend; the command line prints it without a traceback."""


class DivergenceError(ProjectError, ArithmeticError):
    """A simulation left the finite numbers, or could not be carried to its end."""
