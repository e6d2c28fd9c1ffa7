"""Predictions for the draws of several runs at once, whose arrays may differ in size, and the errors they leave."""

import numpy as np

Predictions = list[np.ndarray]  # one array for each table, draws along the first axis


def multiplied(predictions: Predictions, factor: float) -> Predictions:
    """Return predictions for each table, multiplied."""
    return [factor * predicted for predicted in predictions]


def relative_errors(measured: Predictions, predicted: Predictions, sizes: Predictions | None = None) -> np.ndarray:
    """Return each draw's largest error over entries, relative to its size, by default its largest measured value.

    Parameters
    ----------
    measured, predicted : list of ndarray, each of shape (draws, entries)
    sizes : list of ndarray, each of shape (draws,), optional

    Returns
    -------
    ndarray, shape (draws of all tables,)
    """
    errors = []
    for number, (values, expected) in enumerate(zip(measured, predicted, strict=True)):
        size = np.abs(values).max(axis=1) if sizes is None else sizes[number]
        errors.append(np.abs(values - expected).max(axis=1) / size)
    return np.concatenate(errors)
