"""Checks in each state, and claims made up of checks.

A check takes its quantity in words, what is measured, and a bound or a prediction: ``at_most("size", 1.0, 3.0)`` says
that a size measured as 1 is at most 3, ``equal("size", 1.0, 3.0)`` that it is 3.
"""

import numpy as np

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import claim, evaluate, every_draw

HOLDS = every_draw("error", 0.1, at_most=1.0)
FAILS = every_draw("error", 2.0, at_most=1.0)
OPEN = every_draw("error", np.nan, at_most=1.0)
STATES = {"holds": HOLDS, "fails": FAILS, "undecided": OPEN}


def estimate(value, *, lower, upper, draws):
    """Return a mean of so many draws with this interval."""
    return Estimate(value=value, lower=lower, upper=upper, draws=draws, how="mean (t)")


def check_named(name, judgement):
    """Return the one check of a judgement that has this name."""
    (check,) = [check for check in judgement.checks if check.name == name]
    return check


def evaluation_of(*checks, tables=None, **about):
    """Return what a claim of these checks says, under the name of Theorem 1; `about` are arguments of `@claim`.

    It has a verdict, with its `reason`; the judgement of the printed sentence, `judgement`, and that of its correction,
    `corrected`; and in `rivals` the verdict that each rival would get.
    """

    @claim("Theorem 1", **{"scope": "made up", **about})
    def made_up(**_tables):
        yield from checks

    return evaluate(made_up, tables or {}, {})
