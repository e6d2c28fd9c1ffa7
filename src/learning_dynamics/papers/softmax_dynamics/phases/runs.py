"""The toy model from single cells and over grids of class skews, initialisations and scales, by gradient flow."""

import numpy as np

from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow
from learning_dynamics.settings import Count, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def toy(
    *,
    counts: list[Count],
    dimension: Count,
    loss: model.Loss,
    init: model.Init,
    scale: Positive,
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow from one class skew and one scale.

    Returns
    -------
    Trajectory
        Series f (members, times, examples, d) and W (members, times, d, classes); constant labels.
    """
    return toy_flow.cell_flows(
        counts, dimension, loss=loss, init=init, scale=scale, seeds=seeds, integration=integration, seed=seed
    )


def flow_grid(
    *,
    counts: list[list[Count]],
    dimension: Count,
    loss: model.Loss,
    inits: list[model.Init],
    scales: list[Positive],
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow over a grid of class skews, initialisations and scales, in one batch.

    Returns
    -------
    Trajectory
        As in `toy`, members cell by cell, in single precision; constants labels, shape (members, examples, classes),
        and counts, shape (members, classes), init and scale of each member.

    Raises
    ------
    ProjectError
        If class sizes differ in their number of classes or of examples.
    """
    if len({(len(sizes), sum(sizes)) for sizes in counts}) > 1:
        raise ProjectError("flow_grid: all entries of `counts` must have as many classes and as many examples")
    # a cell is {counts, init, scale}: what `starts.cell_states` takes, and the names of the constants
    cells = starts.grid_cells(counts=counts, init=inits, scale=scales)
    cell_states = [starts.cell_states(dimension=dimension, seeds=seeds, seed=seed, **cell) for cell in cells]
    labels, initial = (np.concatenate(part) for part in zip(*cell_states, strict=True))
    states = toy_flow.flow(labels, initial, dimension, loss=loss, times=integration.times, tolerances=integration)
    constants = {"labels": labels} | starts.constants_of(cells, seeds)
    # single precision: its rounding, 6e-8, lies below what the integrator leaves
    series = {name: part.astype(np.float32) for name, part in starts.factors_of(states, labels, dimension).items()}
    return Trajectory(integration.times, series, constants, undecided=starts.undecided(states))
