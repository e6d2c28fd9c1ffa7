"""What `Grid` reads from tables made by hand, and how the members of several cells are stacked."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import starts
from learning_dynamics.papers.softmax_dynamics.grids import WHILE_RARE, Grid, Moment
from tests.papers.softmax_dynamics.tables import grid_table

# class sizes, kind of start and scale, two members each
CELLS = [("2-2-2-2", "gaussian", 0.1), ("4-2-1-1", "balanced", 0.01)]
FINAL = np.ones((4, 4))  # a quantity by class of all four members, where the values do not matter


def table_of(name: str, values) -> pd.DataFrame:
    """Return the table of a grid with one quantity, named ``name@measure@threshold`` as for `grid_table`."""
    return grid_table(CELLS, {name: np.asarray(values)}, seeds=2)


def test_members_are_in_the_tables_order():
    members = Grid(table_of("final", FINAL)).members
    assert members["counts"].tolist() == ["2-2-2-2", "2-2-2-2", "4-2-1-1", "4-2-1-1"]
    assert members["seed"].tolist() == [0, 1, 0, 1]


def test_a_grid_restricted_to_skewed_sizes_has_their_members_alone():
    skewed = Grid(table_of("final", FINAL), skewed=True)
    assert skewed.scale.tolist() == [0.01, 0.01]
    assert skewed.class_sizes.tolist() == [[4, 2, 1, 1], [4, 2, 1, 1]]


SIGMA = np.outer([1, 2, 3, 4], [1.0, 2.0, 3.0, 5.0, 8.0])  # of each member, at each moment in their order


def test_a_quantity_is_read_at_a_moment():
    # of the third and fourth member, at the third moment
    assert Grid(table_of("sigma_1", SIGMA), skewed=True).at(Moment.RARE_BEGIN, "sigma_1").tolist() == [3 * 3, 4 * 3]


def test_a_change_over_a_window_is_the_value_at_its_end_less_that_at_its_beginning():
    change = Grid(table_of("sigma_1", SIGMA), skewed=True).change(WHILE_RARE, "sigma_1")
    assert change.tolist() == [3 * (5 - 3), 4 * (5 - 3)]


def test_a_quantity_that_was_not_measured_at_a_moment_is_refused():
    # it has entries for four classes, 1 to 4, and none for the fifth moment
    with pytest.raises(ProjectError, match="no rows"):
        Grid(table_of("final", FINAL)).at(Moment.END, "final")


def test_a_class_without_a_time_of_learning_is_never_learned_unless_its_flow_failed():
    """A failed flow has no final probability either."""
    times = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0], [np.nan, np.nan]])
    final = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.9], [np.nan, np.nan]])
    table = grid_table(CELLS, {"learning_time": times, "final": final}, seeds=2)
    expected = [[1.0, np.inf], [np.inf, 2.0], [3.0, 4.0], [np.nan, np.nan]]
    np.testing.assert_array_equal(Grid(table).learning_times(), expected)


def test_the_course_of_a_rank_spells_its_falls_and_rises_and_is_missing_for_a_failed_flow():
    # of each member the first four swings, zeros after the last
    swings = [[-0.3, 0.5, -0.1, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0] * 4, [np.nan] * 4]
    courses = Grid(table_of("swing@rankme@0.05", swings)).courses(measure="rankme", threshold=0.05)
    assert courses[:3].tolist() == ["FRF", "R", ""]
    assert courses.isna().tolist() == [False, False, False, True]


def test_a_rank_keeps_growing_if_it_falls_by_less_than_the_threshold_and_its_flow_has_not_failed():
    falls = [0.04, 0.05, 0.0, np.nan]
    grid = Grid(table_of("fall@rankme@0.05", falls))
    assert grid.keeps_growing(measure="rankme", threshold=0.05).tolist() == [True, False, True, False]


# -- stacking cells ----------------------------------------------------------------------------------------------------


def test_the_last_name_of_a_cell_changes_fastest():
    cells = starts.grid_cells(size=[1, 2], scale=[0.1, 0.2])
    assert cells == [
        {"size": 1, "scale": 0.1},
        {"size": 1, "scale": 0.2},
        {"size": 2, "scale": 0.1},
        {"size": 2, "scale": 0.2},
    ]


@pytest.fixture
def stacked():
    """Return the trajectory of two cells of two members each, at one time; `size` entries of x are the cell's scale."""

    def follow(scale: float, size: int) -> dict[str, np.ndarray]:
        return {"x": np.full((2, 1, size), scale)}  # members, times, entries

    cells = [{"size": 1, "scale": 0.1}, {"size": 2, "scale": 0.2}]
    return starts.over_cells(follow, cells, seeds=2, times=np.zeros(1))


def test_members_of_cells_are_stacked_cell_by_cell_and_padded_with_zeros(stacked):
    assert stacked.series["x"][:, 0].tolist() == [[0.1, 0.0], [0.1, 0.0], [0.2, 0.2], [0.2, 0.2]]


def test_constants_tell_the_cell_of_each_member(stacked):
    assert stacked.constants["size"].tolist() == [1, 1, 2, 2]
    assert stacked.constants["scale"].tolist() == [0.1, 0.1, 0.2, 0.2]
