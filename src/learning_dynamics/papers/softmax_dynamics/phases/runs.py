"""The toy model by gradient flow, from single cells and over grids of class sizes, kinds of starts and scales.

f are the features, a row of length d for each example, and W is the classifier, a column for each class. A cell is one
combination of class sizes, kind of start and scale; its members are draws, as many as the setting `seeds`.
"""

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
    """Gradient flow from the draws of one cell.

    Returns
    -------
    Trajectory
        Series f (members, times, examples, d) and W (members, times, d, classes); constant labels, one-hot, (members,
        examples, classes).
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
    """Gradient flow over a grid: every combination of class sizes, kind of start and scale is a cell.

    Returns
    -------
    Trajectory
        Series f and W with the shapes that they have in `toy`, in single precision. Members come cell by cell, so that
        draws vary fastest, then scales, then kinds of starts. Constants are labels, one-hot, (members, examples,
        classes); counts, the class sizes, (members, classes); init and scale, (members,).

    Raises
    ------
    ProjectError
        If entries of `counts` differ in their number of classes or of examples.
    """
    if len({(len(sizes), sum(sizes)) for sizes in counts}) > 1:
        raise ProjectError("flow_grid: all entries of `counts` must have as many classes and as many examples")
    # a cell is {counts, init, scale}: what `starts.cell_states` takes, and the names of the constants
    cells = starts.grid_cells(counts=counts, init=inits, scale=scales)
    cell_states = [starts.cell_states(dimension=dimension, seeds=seeds, seed=seed, **cell) for cell in cells]
    labels, initial = (np.concatenate(part) for part in zip(*cell_states, strict=True))
    states = toy_flow.flow(labels, initial, dimension, loss=loss, times=integration.times, tolerances=integration)
    constants = {"labels": labels} | starts.constants_of(cells, seeds)
    # single precision: its rounding, 6e-8, is below the integrator's error
    series = {name: part.astype(np.float32) for name, part in starts.factors_of(states, labels, dimension).items()}
    return Trajectory(integration.times, series, constants, undecided=starts.undecided(states))
