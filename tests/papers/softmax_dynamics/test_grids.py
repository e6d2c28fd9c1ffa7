"""What is read of a grid, on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import starts
from learning_dynamics.papers.softmax_dynamics.grids import WHILE_RARE, Grid, Moment
from tests.papers.softmax_dynamics.tables import grid_table

CELLS = [("2-2-2-2", "gaussian", 0.1), ("4-2-1-1", "balanced", 0.01)]  # two members each


def grid_of(**quantities) -> pd.DataFrame:
    return grid_table(CELLS, {name.replace("_at_", "@"): np.asarray(of) for name, of in quantities.items()}, seeds=2)


def test_members_are_in_the_tables_order_and_those_asked_for():
    table = grid_of(final=np.ones((4, 4)))
    members = Grid(table).members
    assert members["counts"].tolist() == ["2-2-2-2", "2-2-2-2", "4-2-1-1", "4-2-1-1"]
    assert members["seed"].tolist() == [0, 1, 0, 1]
    skewed = Grid(table, skewed=True)
    assert skewed.scale.tolist() == [0.01, 0.01]
    assert skewed.class_sizes.tolist() == [[4, 2, 1, 1], [4, 2, 1, 1]]


def test_a_quantity_is_read_at_a_moment_and_over_a_window():
    sigma = np.array([[1.0, 2.0, 3.0, 5.0, 8.0]]) * np.arange(1, 5)[:, None]
    skewed = Grid(grid_of(sigma_1=sigma), skewed=True)
    assert skewed.at(Moment.RARE_BEGIN, "sigma_1").tolist() == [9.0, 12.0]
    assert skewed.change(WHILE_RARE, "sigma_1").tolist() == [6.0, 8.0]


def test_what_was_not_measured_at_a_moment_is_refused():
    with pytest.raises(ProjectError, match="no rows"):
        Grid(grid_of(final=np.ones((4, 4)))).at(Moment.END, "final")


def test_a_class_is_learned_never_or_not_known():
    """A failed flow has neither a time nor an end."""
    times = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0], [np.nan, np.nan]])
    final = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [np.nan, np.nan]])
    measured = Grid(grid_of(learning_time=times, final=final)).learning_times()
    expected = [[1.0, np.inf], [np.inf, 2.0], [3.0, 4.0], [np.nan, np.nan]]
    np.testing.assert_array_equal(measured, expected)


def test_the_course_of_a_rank_is_its_falls_and_rises():
    swing = [[-0.3, 0.5, -0.1, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0] * 4, [np.nan] * 4]
    courses = Grid(grid_of(**{"swing_at_rankme_at_0.05": swing})).courses("rankme", 0.05)
    assert courses[:3].tolist() == ["FRF", "R", ""]
    assert courses.isna().tolist() == [False, False, False, True]


def test_a_rank_that_failed_does_not_keep_growing():
    fall = [0.04, 0.05, 0.0, np.nan]
    growing = Grid(grid_of(**{"fall_at_rankme_at_0.05": fall})).keeps_growing("rankme", 0.05)
    assert growing.tolist() == [True, False, True, False]


def test_cells_are_followed_by_name_and_their_members_padded():
    cells = starts.grid_cells(size=[1, 2], scale=[0.1, 0.2])
    assert [tuple(cell.values()) for cell in cells] == [(1, 0.1), (1, 0.2), (2, 0.1), (2, 0.2)]

    def follow(scale: float, size: int) -> dict[str, np.ndarray]:
        return {"x": np.full((2, 1, size), scale)}

    trajectory = starts.over_cells(follow, cells, seeds=2, times=np.zeros(1))
    assert (
        trajectory.series["x"][:, 0].tolist()
        == [[0.1, 0], [0.1, 0], [0.2, 0], [0.2, 0]] + [[0.1] * 2] * 2 + [[0.2] * 2] * 2
    )
    assert trajectory.constants["size"].tolist() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert trajectory.constants["scale"].tolist() == [0.1, 0.1, 0.2, 0.2] * 2
