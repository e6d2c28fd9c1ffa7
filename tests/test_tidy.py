"""Tidy tables: built from arrays, and selected again."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.tidy import (
    INDEX,
    PREDICTED,
    QUANTITY,
    SEED,
    TIME,
    VALUE,
    Column,
    Draws,
    ascending,
    by_draw,
    cached_per_table,
    columns,
    draw_columns,
    joined,
    rows,
    select,
)

TIMES = np.array([0.0, 0.5, 2.0])
GAMMA, INIT = Column("gamma", "float", "scale"), Column("init", "str", "start")


@columns(SEED, TIME, GAMMA, INIT, QUANTITY, INDEX, VALUE, PREDICTED)
def table():
    states = np.arange(12.0).reshape(2, 3, 2)
    measured = {"state": states, "norm": (states.sum(axis=2), [[1.0], [2.0]])}
    return rows(measured, {"seed": [7, 8], "time": TIMES}, gamma=0.5, init=["a", "b"])


def test_a_row_for_each_number_in_the_order_of_the_axes_and_predictions_are_broadcast():
    state, norm = (table().query(f"quantity == '{quantity}'") for quantity in ("state", "norm"))
    assert list(table().columns) == ["seed", "time", "gamma", "init", "quantity", "index", "value", "predicted"]
    assert state["value"].tolist() == list(range(12))
    assert state["seed"].tolist() == [7] * 6 + [8] * 6
    assert state["time"].tolist() == [0.0, 0.0, 0.5, 0.5, 2.0, 2.0] * 2
    assert state["index"].tolist() == [1, 2] * 6
    assert state["init"].tolist() == ["a"] * 6 + ["b"] * 6
    assert state["predicted"].isna().all()
    assert (norm["index"] == 0).all()  # of scalars
    assert norm["predicted"].tolist() == [1.0] * 3 + [2.0] * 3


def test_coordinates_may_differ_by_member():
    found = rows({"x": np.zeros((2, 3))}, {"seed": [0, 1], "time": np.array([TIMES, 10 * TIMES])})
    assert found["time"].tolist() == [*TIMES, *(10 * TIMES)]


@pytest.mark.parametrize("shape", [(2,), (2, 3, 2, 2)])
def test_too_few_or_too_many_axes_are_refused(shape):
    with pytest.raises(ValueError, match=r"x: . axes for coordinates"):
        rows({"x": np.zeros(shape)}, {"seed": [0, 1], "time": TIMES})


def test_select_takes_values_and_lists():
    assert len(select(table(), "state", seed=7)) == 6
    assert len(select(table(), ["state", "norm"], time=[0.0, 2.0], index=[0, 1])) == 8


@pytest.mark.parametrize(
    ("quantity", "where", "message"),
    [
        ("stat", {}, "no rows where quantity is 'stat'; did you mean `state`"),
        ("state", {"seed": 9}, "no rows where quantity is 'state', seed is 9"),
        ("state", {"sed": 7}, "the table has no column `sed`; did you mean `seed`"),
    ],
)
def test_what_was_not_measured_is_an_error(quantity, where, message):
    with pytest.raises(ProjectError) as refused:
        select(table(), quantity, **where)
    assert message in str(refused.value)


DEPTH = Column("depth", "int", "number of layers", draw=True)


@columns(SEED, DEPTH, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def at_two_depths():
    deep = table().assign(depth=3)
    return joined(at_two_depths.columns, deep.assign(value=-deep["value"]), table().assign(depth=2))


def test_draws_are_told_apart_as_the_metrics_function_declares_and_come_sorted():
    measured = at_two_depths()
    assert list(measured.columns) == [column.name for column in at_two_depths.columns]
    shuffled = measured.sort_values("seed", ascending=False, kind="stable")
    for rows_of_it in (measured, shuffled, select(shuffled, "norm"), shuffled.assign(twice=2.0)):
        assert draw_columns(rows_of_it) == ["seed", "depth"], rows_of_it
        np.testing.assert_array_equal(
            by_draw(rows_of_it, "norm"), [[1, 5, 9], [-1, -5, -9], [13, 17, 21], [-13, -17, -21]]
        )
    np.testing.assert_array_equal(by_draw(shuffled, "norm", column="time"), [TIMES] * 4)
    assert by_draw(measured, "norm", draw="seed").shape == (2, 6)


def test_a_table_that_does_not_know_its_draws_is_refused():
    unknown = rows({"x": np.zeros(2)}, {"seed": [0, 1]})
    with pytest.raises(ProjectError, match="does not know which columns identify its draws"):
        by_draw(unknown, "x")
    assert by_draw(unknown, "x", draw="seed").shape == (2, 1)


def test_draws_of_unequal_length_are_refused_not_padded():
    whole = table()
    with pytest.raises(ProjectError, match=r"draws have \[2, 3\] entries"):
        by_draw(whole.drop(index=whole.query("quantity == 'norm' and seed == 7").index[0]), "norm")


def test_swapped_roles_are_refused_by_what_tells_them_apart():
    small, large = table(), table()
    small.attrs["settings"], large.attrs["settings"] = {"gamma": 1e-4}, {"gamma": 1.0}
    ascending("gamma", small=small, large=large)
    with pytest.raises(ProjectError, match=r"roles `small` and `large`: gamma is 1\.0 and 0\.0001, and must grow"):
        ascending("gamma", small=large, large=small)


def test_what_was_read_of_a_table_is_read_once_and_cannot_be_changed():
    read = []

    @cached_per_table
    def doubled(table, quantity, *, factor=2.0):
        read.append(quantity)
        return factor * table["value"].to_numpy()

    one, other = table(), table()
    first = doubled(one, "state")
    assert doubled(one, "state") is first
    doubled(one, "norm")
    doubled(one, "state", factor=3.0)
    doubled(other, "state")
    assert read == ["state", "norm", "state", "state"]
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


def test_what_was_read_is_forgotten_with_the_table():
    read = []

    @cached_per_table
    def size(table):
        read.append(len(table))
        return len(table)

    # a table made where another one was has its address
    for count in range(1, 20):
        assert size(pd.DataFrame({"value": range(count)})) == count, count
    assert read == list(range(1, 20))


@pytest.mark.parametrize(
    ("draws", "expected"), [([np.nan, 0, 1, np.nan], [[1], [2]]), (["b", None, "a", None], [[2], [0]])]
)
def test_rows_that_miss_a_draw_column_are_of_no_draw(draws, expected):
    table = pd.DataFrame({"quantity": "x", "of": draws, "value": [0.0, 1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(by_draw(table, "x", draw="of"), expected)


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def flow(size=2, seeds=(1, 0), rtol=1e-6):
    """Yield what was measured of `seeds` at two times: states of some size, and one number a draw."""
    states = np.arange(float(len(seeds) * 2 * size)).reshape(len(seeds), 2, size)
    yield rows({"state": (states, -states)}, {"seed": seeds, "time": [0.0, 1.0]})
    yield rows({"end": (10.0 * np.array(seeds), 1.0)}, {"seed": seeds}, time=1.0)


def flows():
    small, large = flow(), flow(size=3, seeds=(5,))
    small.attrs["settings"], large.attrs["settings"] = ({"integration": {"rtol": rtol}} for rtol in (1e-6, 1e-9))
    return [small, large]


def test_draws_of_several_tables_follow_one_another_and_shorter_ones_are_padded():
    draws = Draws(flows())
    np.testing.assert_array_equal(draws["end"], [0, 10, 50])  # sorted by seed, then the second table's
    np.testing.assert_array_equal(draws.entries("end", column="predicted"), [[1], [1], [1]])
    np.testing.assert_array_equal(draws.setting("integration.rtol"), [1e-6, 1e-6, 1e-9])
    np.testing.assert_array_equal(draws.column("seed"), [0, 1, 5])
    states = [[[4, 5, 0], [6, 7, 0]], [[0, 1, 0], [2, 3, 0]], [[0, 1, 2], [3, 4, 5]]]
    np.testing.assert_array_equal(draws.entries("state", "time"), states)
    np.testing.assert_array_equal(draws.with_prediction("state", "time")[1], -np.array(states))
    np.testing.assert_array_equal(draws.entries("state"), [[4, 5, 6, 7, 0, 0], [0, 1, 2, 3, 0, 0], range(6)])
    np.testing.assert_array_equal(draws.largest("state"), [7, 3, 5])
    np.testing.assert_array_equal(draws.smallest("state"), [4, 0, 0])  # what pads is not read
    np.testing.assert_array_equal(draws.at_end().where(index=1)["state"], [6, 2, 3])
    np.testing.assert_array_equal(draws.where(time=lambda time: time < 0.5).largest("state"), [5, 1, 2])


def test_a_draw_without_a_number_has_no_largest_and_several_numbers_are_not_one():
    table = flow()
    table.loc[table.index[0], "value"] = np.nan
    np.testing.assert_array_equal(Draws(table).largest("state"), [7, np.nan])
    with pytest.raises(ProjectError, match="`state`: 4 numbers for each draw"):
        Draws(table)["state"]


def test_draws_are_grouped_by_what_columns_have_together():
    draws = Draws(at_two_depths())
    assert [(depth, time, group["norm"].tolist()) for depth, time, group in draws.groups("depth", "time")] == [
        (depth, time, [sign * (4 * place + 1), sign * (4 * place + 13)])
        for depth, sign in ((2, 1), (3, -1))
        for place, time in enumerate(TIMES)
    ]
    np.testing.assert_array_equal(Draws(at_two_depths(), draw="depth", seed=7).largest("norm"), [9, -1])


def test_tables_of_other_times_are_not_padded_along_their_times():
    early = select(table(), time=TIMES[:2].tolist())
    early.attrs = table().attrs
    with pytest.raises(ProjectError, match="tables differ in their numbers of time"):
        Draws([table(), early]).entries("norm", "time")
