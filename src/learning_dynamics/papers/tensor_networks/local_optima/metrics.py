"""Which local optimum every start has come to, and which one was predicted for it.

- The series ``limit_<depth>`` (data sets, scales, starts, inputs), with scales instead of times, have coefficients of
  diagonal networks, divided by their least margin.
- The constants ``layers_<depth>`` (data sets, starts, L - 1, inputs) have the starts at scale one, without the last
  layer, which starts at zero. The setting `starts` is the number of starts on each data set.
- `X` (data sets, samples, inputs), `y` (data sets, samples), of 1 and -1. Labelled points are the y_i x_i.

In the code `vertices` are those of the set of coefficients with all margins at least one, orthant by orthant
(`solutions.margin_vertices`); `optima` are those vertices that are local optima, in the order of their numbers. A
prediction is the same at all scales, as it comes from a start at scale one.
"""

from typing import NamedTuple

import numpy as np

from learning_dynamics.papers.tensor_networks.local_optima import quantities
from learning_dynamics.papers.tensor_networks.local_optima.theory import (
    are_local_optima,
    blow_up_times,
    escaping_signs,
    greedy_choice,
)
from learning_dynamics.papers.tensor_networks.solutions import margin_vertices
from learning_dynamics.papers.tensor_networks.tables import DEPTH, SCALE, measured
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

START = Column("start", "int", "which of the starts on a data set, the same at every scale")
OPTIMAL = measured("where a flow is at no local optimum")


@columns(SEED, DEPTH, SCALE, START, *OPTIMAL)
def from_scaled_starts(trajectory: Trajectory, *, near: Positive) -> Tables:
    """Measure which local optimum of the l_(2/L) max-margin problem each start has come to.

    Local optima of a data set are numbered from 1, the global one, in the order of their quasi-norms. A start has come
    to one of them if its coefficients, divided by their least margin, differ from it by at most `near` of its length.

    Quantities
    ----------
    optimum
        Number of the local optimum that is reached, nan if none is; predicted by the greedy choice of coordinates that
        escape from zero (`theory.escaping_signs`).
    optimum_by_gradients
        `optimum`, predicted by the greedy choice with the same blow-up time for all coordinates, whatever the start.
    optimum_by_weighted_l1
        `optimum`, predicted by the vertex of least l1 norm with the blow-up times as weights; the prediction is nan
        where this vertex is no local optimum.
    within_escaped
        1 where all nonzero entries of the optimum that is reached are among the coordinates that the greedy choice lets
        escape, 0 where not; nan where no optimum is reached.
    number_of_optima
        Number of local optima of a data set; once, at the first start and scale.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    labelled_points = y[..., None] * X
    vertices = [margin_vertices(points) for points in labelled_points]
    for depth in settings["depths"]:
        limits = trajectory.series[f"limit_{depth}"]
        times = blow_up_times(trajectory.constants[f"layers_{depth}"] ** 2)  # (data sets, starts, inputs)
        data_sets = [
            _optima_of_starts(*data_set, power=2 / depth, near=near)
            for data_set in zip(labelled_points, vertices, limits, times, strict=True)
        ]
        # each field of `OptimaOfStarts` as one array, data sets first
        reached, greedy, by_gradients, by_weighted_l1, within_escaped, n_optima = map(
            np.array, zip(*data_sets, strict=True)
        )
        measures = {
            quantities.OPTIMUM: (reached, greedy[:, None]),
            quantities.OPTIMUM_BY_GRADIENTS: (reached, by_gradients[:, None]),
            quantities.OPTIMUM_BY_WEIGHTED_L1: (reached, by_weighted_l1[:, None]),
            quantities.WITHIN_ESCAPED: within_escaped,
        }
        axes = {"seed": np.arange(len(X)), "scale": trajectory.time, "start": np.arange(settings["starts"])}
        yield rows(measures, axes, depth=depth)
        once = axes | {"scale": trajectory.time[:1], "start": np.zeros(1, dtype=int)}
        yield rows({quantities.NUMBER_OF_OPTIMA: n_optima[:, None, None]}, once, depth=depth)


class OptimaOfStarts(NamedTuple):
    """On one data set the numbers of the optima that are reached, and of those that are predicted; nan for none."""

    reached: np.ndarray  # (scales, starts)
    greedy: np.ndarray  # (starts,)
    by_gradients: np.ndarray  # (starts,)
    by_weighted_l1: np.ndarray  # (starts,)
    within_escaped: np.ndarray  # (scales, starts): 1 if all nonzero entries of the one reached have escaped, else 0
    n_optima: float  # of the data set


def _optima_of_starts(
    labelled_points: np.ndarray,
    vertices: np.ndarray,
    limits: np.ndarray,
    times: np.ndarray,
    *,
    power: float,
    near: float,
) -> OptimaOfStarts:
    """Return the optima of one data set that starts reach, and those that are predicted.

    Parameters
    ----------
    labelled_points : ndarray, shape (samples, inputs)
    vertices : ndarray, shape (vertices, inputs)
    limits : ndarray, shape (scales, starts, inputs)
    times : ndarray, shape (starts, inputs)
        Blow-up times, in any unit.
    """
    optima = vertices[are_local_optima(labelled_points, vertices, power)]
    optima = optima[np.argsort(np.sum(np.abs(optima) ** power, axis=1))]
    lengths = np.linalg.norm(optima, axis=1)
    distances = np.linalg.norm(limits[..., None, :] - optima, axis=-1) / lengths  # (scales, starts, optima)
    # of a limit that is nan the first optimum is the nearest, but a distance of nan is not within `near`
    nearest = np.argmin(np.where(np.isfinite(distances), distances, np.inf), axis=-1)
    at_optimum = np.take_along_axis(distances, nearest[..., None], axis=-1)[..., 0] <= near
    # predictions: for each start by its blow-up times, for all starts alike by equal ones, and by the weighted l1 norm
    signs = np.array([escaping_signs(labelled_points, row, vertices) for row in times])  # (starts, inputs)
    even_choice = greedy_choice(escaping_signs(labelled_points, np.ones(len(times[0])), vertices), optima)
    weighted = vertices[np.argmin(times @ np.abs(vertices).T, axis=1)]
    # whether every nonzero entry of the optimum that is nearest has escaped, (scales, starts)
    among = np.all((optima[nearest] == 0) | (signs != 0), axis=-1)
    return OptimaOfStarts(
        reached=np.where(at_optimum, nearest + 1.0, np.nan),
        greedy=np.array([_number(greedy_choice(row, optima)) for row in signs]),
        by_gradients=np.full(len(times), _number(even_choice)),
        by_weighted_l1=np.array([_number(_place(vertex, optima)) for vertex in weighted]),
        within_escaped=np.where(at_optimum, among, np.nan),
        n_optima=float(len(optima)),
    )


def _place(vertex: np.ndarray, optima: np.ndarray) -> int:
    """Return the place of a vertex among the optima, from 0; -1 if it is not there."""
    matches = (optima == vertex).all(axis=1)
    return int(np.argmax(matches)) if matches.any() else -1


def _number(place: int) -> float:
    """Return the number, from 1, of the optimum at a place, from 0; nan for the place -1 of none."""
    return place + 1.0 if place >= 0 else np.nan
