"""The arguments of checks as arrays of numbers, or an error of one line that says what was given instead.

In each function `name` is the check's and `parameter` is its argument's; an error begins with both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learning_dynamics.errors import CheckError, shortened


def numbers(name: str, parameter: str, value: Any) -> np.ndarray:
    """Return a number, or an array of numbers or truth values, as an array of float64 of the same shape.

    nan counts as a number.

    Raises
    ------
    CheckError
        If it has rows of unequal lengths, or entries that are no numbers.
    """
    try:
        array = np.asarray(value)
    except ValueError:  # lists of unequal lengths
        raise CheckError(f"{name}: {parameter} has rows of unequal lengths; give an array of numbers") from None
    if array.dtype.kind not in "biuf":
        raise CheckError(f"{name}: {parameter} must be numbers (is {_describe(value, array)})")
    return array.astype(float)


def one_number(name: str, parameter: str, value: Any) -> float:
    """Return a number, or the only entry of an array, as a float.

    Raises
    ------
    CheckError
        If there is not exactly one entry, or it is no number.
    """
    array = numbers(name, parameter, value)
    if array.size != 1:
        raise CheckError(f"{name}: {parameter} must be one number (has shape {array.shape})")
    return float(array.item())


def refuse_negative(name: str, parameter: str, value: Any) -> None:
    """Refuse an allowed error, already numbers, that is below zero: no measurement could meet it. nan is not refused.

    Raises
    ------
    CheckError
        If an entry is negative.
    """
    if (np.asarray(value) < 0).any():
        raise CheckError(f"{name}: {parameter} must be 0 or more (is {np.min(value):.3g})")


def one_per_draw(name: str, parameter: str, value: Any, draws: int | None = None) -> np.ndarray:
    """Return one number for each draw, shape (draws,); a single number is that of every draw.

    Without `draws` there are as many draws as numbers.

    Raises
    ------
    CheckError
        If its shape is neither (draws,) nor that of one number, or it has an entry that is no number.
    """
    array = numbers(name, parameter, value)
    if draws is None:
        draws = array.size
    if array.ndim <= 1 and array.size in (1, draws):
        return np.broadcast_to(array, (draws,))
    if array.ndim <= 1:
        fix = f"there are {draws} draws"
    elif array.shape[1:] == (1,):
        fix = "write [:, 0]"
    else:
        fix = "reduce each draw to one, as by .max(axis=1)"
    raise CheckError(f"{name}: {parameter} must be one number for each draw (has shape {array.shape}); {fix}")


def measured_and_predicted(name: str, measured: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return measured numbers and their predictions, broadcast to one shape, (draws, ...).

    Raises
    ------
    CheckError
        If their shapes do not broadcast, or an entry is no number.
    """
    measured, predicted = numbers(name, "measured", measured), numbers(name, "predicted", predicted)
    try:
        of_one_shape = np.broadcast_arrays(measured, predicted)
    except ValueError:
        raise CheckError(
            f"{name}: predicted must have the shape of measured, {measured.shape} (has {predicted.shape}); if it "
            "is one number for each draw, write [:, None]"
        ) from None
    measured, predicted = map(np.atleast_1d, of_one_shape)
    return measured, predicted


def _describe(value: Any, array: np.ndarray) -> str:
    """Return what an error quotes of a value that is not numeric: itself, or the types of a list and of its entries."""
    return shortened(value) if array.ndim == 0 else f"{type(value).__name__} of {array.dtype}"
