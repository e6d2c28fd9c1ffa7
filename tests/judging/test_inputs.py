"""Arguments of checks: those that do not fit are refused in one line, which says what was given and what to write."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import mean, median
from learning_dynamics.judging import (
    at_least,
    at_most,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
    share_of_draws,
)
from learning_dynamics.pipeline.commands.claims import evaluate_claim

X = np.arange(1.0, 13.0).reshape(3, 4)  # three draws, four times
FIRST = X[:, 0]
LONGEST_MESSAGE = 300  # characters: less than four lines of a terminal
ONE, ALL = {"another": 9.0}, {"another": 2 * X}  # rivals, which fit: one number, and one for each draw and time

# by case: what makes the check, and words of the refusal
WRONG: dict[str, tuple[Callable, str]] = {
    "a column": (
        lambda: equal_on_every_draw("x", X, X, tolerance=0.1, relative_to=X[:, :1], rivals=ALL),
        "x: relative_to must be one number for each draw (has shape (3, 1)); write [:, 0]",
    ),
    "one for each time": (
        lambda: equal_on_every_draw("x", X, X, tolerance=0.1, relative_to=X[0], rivals=ALL),
        "x: relative_to must be one number for each draw (has shape (4,)); there are 3 draws",
    ),
    "a prediction without times": (
        lambda: equal_on_every_draw("x", X, FIRST, tolerance=0.1, rivals=ALL),
        "x: predicted must have the shape of measured, (3, 4) (has (3,)); if it is one number for each draw, write "
        "[:, None]",
    ),
    "no draws": (
        lambda: equal_on_every_draw("x", X[:0], X[:0], tolerance=0.1, rivals={"another": X[:0]}),
        "x: no draws",
    ),
    "a rival of fewer draws": (
        lambda: equal_on_every_draw("x", X, X, tolerance=0.1, rivals={"another": X[:2]}),
        "x: predicted must have the shape of measured, (3, 4) (has (2, 4)); if it is one number for each draw, write "
        "[:, None] (under `another`)",
    ),
    "a correction of fewer draws": (
        lambda: equal_on_every_draw("x", X, 2 * X, tolerance=0.1, corrected=X[:2], rivals=ALL),
        "write [:, None] (under `the correction`)",
    ),
    "tolerances of times": (
        lambda: equal_on_every_draw("x", X, X, tolerance=0.1 * X, rivals=ALL),
        "x: tolerance must be one number for each draw (has shape (3, 4)); reduce each draw to one, as by .max(axis=1)",
    ),
    "a tolerance in words": (
        lambda: equal_on_every_draw("x", X, X, tolerance="0.1", rivals=ALL),
        "x: tolerance must be numbers (is '0.1')",
    ),
    "a negative tolerance": (
        lambda: equal_on_every_draw("x", X, X, tolerance=[0.1, -0.2, 0.1], rivals=ALL),
        "x: tolerance must be 0 or more (is -0.2)",
    ),
    "a negative tolerance of an estimate": (
        lambda: equal("x", 1.0, 1.0, tolerance=-0.1, rivals=ONE),
        "x: tolerance must be 0 or more (is -0.1)",
    ),
    "no tolerance": (
        lambda: equal_on_every_draw("x", X, X, rivals=ALL),
        "x: missing a required argument: 'tolerance'; equal_on_every_draw takes name, measured, predicted, tolerance,",
    ),
    "numbers of times": (
        lambda: every_draw("x", X, at_most=100.0, rivals=ONE),
        "x: values must be one number for each draw (has shape (3, 4)); reduce each draw to one, as by .max(axis=1)",
    ),
    "bounds of times": (
        lambda: every_draw("x", FIRST, at_most=X[0], rivals=ONE),
        "x: at_most must be one number for each draw (has shape (4,)); there are 3 draws",
    ),
    "flags of fewer draws": (
        lambda: every_draw("x", FIRST, at_least=1.0, undecided=[True, False], rivals=ONE),
        "x: undecided must be one number for each draw (has shape (2,)); there are 3 draws",
    ),
    "words": (
        lambda: every_draw("x", ["a", "b"], at_most=1.0, rivals=ONE),
        "x: values must be numbers (is list of <U1)",
    ),
    "complex numbers": (
        lambda: every_draw("x", FIRST + 1j, at_most=1.0, rivals=ONE),
        "x: values must be numbers (is ndarray of complex128)",
    ),
    "unequal rows": (
        lambda: every_draw("x", [[1, 2], [3]], at_most=1.0, rivals=ONE),
        "x: values has rows of unequal lengths; give an array of numbers",
    ),
    "nothing": (lambda: every_draw("x", None, at_most=1.0, rivals=ONE), "x: values must be numbers (is None)"),
    "draws for an estimate": (
        lambda: at_most("x", FIRST, 1.0, rivals=ONE),
        "x: the estimate must be one number, or mean(values) or median(values) over draws (has shape (3,)); to compare "
        "each draw use every_draw",
    ),
    "a column for an estimate": (lambda: equal("x", pd.Series(FIRST), 1.0, rivals=ONE), "(has shape (3,)); to compare"),
    "bounds for an estimate": (
        lambda: at_least("x", mean(FIRST), FIRST, rivals=ONE),
        "x: bound must be one number (has shape (3,))",
    ),
    "predictions for an estimate": (
        lambda: equal("x", median(FIRST), FIRST, rivals=ONE),
        "x: predicted must be one number (has shape (3,))",
    ),
    "an average of times": (
        lambda: at_most("x", mean(X), 1.0, rivals=ONE),
        "an average over draws takes one number for each draw (has shape (3, 4))",
    ),
    "a share of times": (
        lambda: share_of_draws("x", X > 3, at_least=0.5, rivals=ONE),
        "x: holds must be one number for each draw (has shape (3, 4)); reduce each draw to one, as by .max(axis=1)",
    ),
    "a share of words": (
        lambda: share_of_draws("x", ["yes", "no"], at_least=0.5, rivals=ONE),
        "x: holds must be numbers (is list of <U3)",
    ),
    "no name": (
        lambda: every_draw(FIRST, at_most=1.0, rivals=ONE),
        "every_draw: give the quantity in words first (is ndarray)",
    ),
    "a misspelt argument": (
        lambda: every_draw("x", FIRST, atmost=1.0, rivals=ONE),
        "x: got an unexpected keyword argument 'atmost'; every_draw takes name, values, at_most, at_least,",
    ),
    "a misspelt argument of a rival": (
        lambda: every_draw("x", FIRST, at_most=100.0, rivals={"another": {"vales": 2 * FIRST}}),
        "x: `another`: no parameter `vales`; did you mean `values`?",
    ),
    "one rival without words": (
        lambda: equal_on_every_draw("x", X, X, tolerance=0.1, rivals=2 * X),
        "x: rivals must be a mapping from words to wrong predictions (is ndarray)",
    ),
    "no check": (lambda: ("x", 1.0), "yields tuple; yield checks, Facts or a Reason"),
    "a number": (lambda: 1.0, "yields float; yield checks, Facts or a Reason"),
}


def refusal(make_check):
    """Return the message with which a claim named `limits` that yields this check is refused."""

    @claim("Theorem 1", scope="made up")
    def made_up():
        yield make_check()

    with pytest.raises(ProjectError) as refused:
        evaluate_claim("limits", made_up, {}, {})
    return str(refused.value)


@pytest.mark.parametrize("case", WRONG)
def test_an_argument_that_does_not_fit_is_refused_with_what_to_write(case):
    """The message is one line, with the name of the claim and without an error of Python's or NumPy's."""
    make_check, words = WRONG[case]
    message = refusal(make_check)
    assert message.startswith("claim limits: ")
    assert words in message
    assert "Error" not in message
    assert "\n" not in message
    assert len(message) < LONGEST_MESSAGE


@pytest.mark.parametrize(
    "values", [[1, 2, 3], (1.0, 2.0), FIRST, pd.Series(FIRST), FIRST.astype(np.float32), FIRST > 1], ids=repr
)
def test_numbers_of_draws_may_be_a_list_an_array_a_column_or_flags(values):
    check = every_draw("x", values, at_most=20.0)  # above all of them
    assert (check.state, check.draws_for) == ("holds", len(values))
    assert check.value == max(values)  # the nearest to the bound


@pytest.mark.parametrize("number", [1.0, 1, np.float64(1), np.array(1.0), np.array([1.0])], ids=repr)
def test_one_number_may_be_a_scalar_or_an_array_of_one(number):
    assert equal("x", number, 1.0).state == "holds"
    assert every_draw("x", FIRST, at_least=number).state == "holds"


def test_one_prediction_for_each_time_is_that_of_all_draws():
    # of three draws the first is as predicted; the others are off by 4 and 8 and allowed nothing
    check = equal_on_every_draw("x", X, X[0], tolerance=[1.0, 0.0, 0.0])
    assert (check.draws_for, check.draws_against) == (1, 2)


def test_one_prediction_for_each_draw_is_that_of_all_its_times():
    # each draw rises by 3 from its first time, which is 3/4, 3/8 and 3/12 of its largest number
    check = equal_on_every_draw("x", X, X[:, :1], tolerance=0.5)
    assert (check.draws_for, check.draws_against) == (2, 1)


def test_a_rival_may_replace_the_counts_of_an_estimate():
    with_counts = {"estimate": 0.5, "draws_for": 1, "draws_undecided": 2}
    check = at_least("x", mean(FIRST), -100.0, rivals={"another": with_counts})
    check_of_the_rival = check.under(["another"], factor=1.0)
    assert (check_of_the_rival.draws_for, check_of_the_rival.draws_undecided) == (1, 2)
