"""Tidy tables: built from arrays, and read again as rows, as draws and as arrays of draws by times by entries."""

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
    settings_of,
)

TIMES = np.array([0.0, 0.5, 2.0])
GAMMA, INIT = Column("gamma", "float", "scale"), Column("init", "str", "start")


@columns(SEED, TIME, GAMMA, INIT, QUANTITY, INDEX, VALUE, PREDICTED)
def table():
    """Return two draws at three times: states of two entries, 0 to 11, and the sum of either state as its norm."""
    states = np.arange(12.0).reshape(2, 3, 2)
    measured = {"state": states, "norm": (states.sum(axis=2), [[1.0], [2.0]])}
    return rows(measured, {"seed": [7, 8], "time": TIMES}, gamma=0.5, init=["a", "b"])


def test_columns_are_those_declared_in_their_order_and_others_are_left_out():
    @columns(VALUE, QUANTITY, SEED)
    def in_another_order():
        return table()

    assert list(in_another_order().columns) == ["value", "quantity", "seed"]


def test_a_declared_column_that_is_not_returned_is_refused():
    @columns(SEED, TIME, QUANTITY, VALUE)
    def decay():
        return rows({"x": np.zeros(2)}, {"seed": [7, 8]})

    with pytest.raises(ProjectError, match=r"test_tidy\.py: `decay` returns no column `time`, which @columns declares"):
        decay()


def test_there_is_a_row_for_each_number_in_the_order_of_the_axes():
    state = table().query("quantity == 'state'")
    assert state["value"].tolist() == list(range(12))
    assert state["seed"].tolist() == [7] * 6 + [8] * 6
    assert state["time"].tolist() == [0.0, 0.0, 0.5, 0.5, 2.0, 2.0] * 2
    assert state["index"].tolist() == [1, 2] * 6
    assert state["init"].tolist() == ["a"] * 6 + ["b"] * 6


def test_the_index_of_one_number_is_zero():
    assert (table().query("quantity == 'norm'")["index"] == 0).all()


def test_predictions_are_broadcast_and_nan_where_there_are_none():
    state, norm = (table().query(f"quantity == '{quantity}'") for quantity in ("state", "norm"))
    assert norm["predicted"].tolist() == [1.0] * 3 + [2.0] * 3
    assert state["predicted"].isna().all()


def test_coordinates_may_differ_by_member():
    table = rows({"x": np.zeros((2, 3))}, {"seed": [0, 1], "time": [TIMES, 10 * TIMES]})
    assert table["time"].tolist() == [*TIMES, *(10 * TIMES)]


@pytest.mark.parametrize("shape", [(2,), (2, 3, 2, 2)])
def test_too_few_or_too_many_axes_are_refused(shape):
    with pytest.raises(ValueError, match=rf"x: {len(shape)} axes for coordinates \['seed', 'time'\] and an index"):
        rows({"x": np.zeros(shape)}, {"seed": [0, 1], "time": TIMES})


def test_rows_are_selected_by_a_value():
    state = select(table(), "state", seed=7)
    assert state["value"].tolist() == [0, 1, 2, 3, 4, 5]


def test_rows_are_selected_by_any_of_a_list():
    found = select(table(), ["state", "norm"], time=[0.0, 2.0], index=[0, 1])
    # of seed 7 and of seed 8, each at two of the three times: the first entry of the state, and the norm
    assert found.query("quantity == 'state'")["value"].tolist() == [0, 4, 6, 10]
    assert found.query("quantity == 'norm'")["value"].tolist() == [1, 9, 13, 21]


@pytest.mark.parametrize(
    ("quantity", "where", "message"),
    [
        ("stat", {}, "no rows where quantity is 'stat'; did you mean `state`"),
        ("state", {"seed": 9}, "no rows where quantity is 'state', seed is 9"),
        ("state", {"sed": 7}, "the table has no column `sed`; did you mean `seed`"),
    ],
)
def test_a_selection_without_rows_is_refused_with_the_nearest_name(quantity, where, message):
    with pytest.raises(ProjectError) as refused:
        select(table(), quantity, **where)
    assert message in str(refused.value)


DEPTH = Column("depth", "int", "number of layers", draw=True)


@columns(SEED, DEPTH, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def at_two_depths():
    """The table at depth 3, its values negative, and below it at depth 2: draws are pairs of seed and depth."""
    deep = table().assign(depth=3)
    return joined(at_two_depths.columns, deep.assign(value=-deep["value"]), table().assign(depth=2))


def reversed_seeds():
    """Return the table at two depths, with the rows of the larger seed first."""
    return at_two_depths().sort_values("seed", ascending=False, kind="stable")


def test_joined_tables_come_one_below_the_other_with_the_declared_columns():
    both = joined((VALUE, SEED), table(), table().assign(value=-1.0))
    assert list(both.columns) == ["value", "seed"]
    assert both["value"].tolist() == [*table()["value"], *[-1.0] * len(table())]
    assert both.index.tolist() == list(range(2 * len(table())))


@pytest.mark.parametrize(
    "of_table",
    [
        at_two_depths,
        reversed_seeds,
        pytest.param(lambda: select(reversed_seeds(), "norm"), id="selected"),
        pytest.param(lambda: reversed_seeds().assign(twice=2.0), id="with another column"),
    ],
)
def test_draws_are_those_of_the_declared_draw_columns_in_ascending_order(of_table):
    assert draw_columns(of_table()) == ["seed", "depth"]
    by_seed_and_depth = [[1, 5, 9], [-1, -5, -9], [13, 17, 21], [-13, -17, -21]]
    np.testing.assert_array_equal(by_draw(of_table(), "norm"), by_seed_and_depth)


def test_any_column_can_be_read_by_draw():
    np.testing.assert_array_equal(by_draw(reversed_seeds(), "norm", column="time"), [TIMES] * 4)


def test_other_draw_columns_may_be_named():
    # of each seed the three times at depth 3, whose values are negative, and at depth 2
    by_seed = [[-1, -5, -9, 1, 5, 9], [-13, -17, -21, 13, 17, 21]]
    np.testing.assert_array_equal(by_draw(at_two_depths(), "norm", draw="seed"), by_seed)


def test_a_table_that_does_not_know_its_draws_is_refused():
    unknown = rows({"x": np.array([3.0, 4.0])}, {"seed": [0, 1]})
    with pytest.raises(ProjectError, match="does not know which columns identify its draws"):
        by_draw(unknown, "x")
    np.testing.assert_array_equal(by_draw(unknown, "x", draw="seed"), [[3.0], [4.0]])  # the column is named here


def test_draws_of_unequal_length_are_refused_not_padded():
    whole = table()
    with pytest.raises(ProjectError, match=r"draws have \[2, 3\] entries"):
        by_draw(whole.drop(index=whole.query("quantity == 'norm' and seed == 7").index[0]), "norm")


def test_tables_in_each_others_roles_are_refused_as_a_setting_does_not_grow():
    small, large = table(), table()
    small.attrs["settings"], large.attrs["settings"] = {"gamma": 1e-4}, {"gamma": 1.0}
    ascending("gamma", small=small, large=large)
    with pytest.raises(ProjectError, match=r"roles `small` and `large`: gamma is 1\.0 and 0\.0001, and must grow"):
        ascending("gamma", small=large, large=small)


def test_a_cached_function_is_called_once_for_the_same_table_and_arguments():
    calls = []

    @cached_per_table
    def multiplied(table, quantity, *, factor=2.0):
        calls.append((quantity, factor))
        return factor * table["value"].to_numpy()

    one, other = table(), table()
    assert multiplied(one, "state") is multiplied(one, "state")
    assert calls == [("state", 2.0)]
    multiplied(one, "norm")
    multiplied(one, "state", factor=3.0)
    multiplied(other, "state")
    assert calls == [("state", 2.0), ("norm", 2.0), ("state", 3.0), ("state", 2.0)]


def test_an_array_that_is_cached_cannot_be_changed():
    @cached_per_table
    def values(table):
        return 2.0 * table["value"].to_numpy()  # a new array: that of pandas is read-only without the cache

    with pytest.raises(ValueError, match="read-only"):
        values(table())[0] = 0.0


def test_what_is_cached_is_forgotten_with_its_table():
    calls = []

    @cached_per_table
    def size(table):
        calls.append(len(table))
        return len(table)

    # each table is gone before the next is made, which then often has its address in memory
    for count in range(1, 20):
        assert size(pd.DataFrame({"value": range(count)})) == count, count
    assert calls == list(range(1, 20))


@pytest.mark.parametrize(
    ("draw_of_each_row", "values_by_draw"),
    [
        pytest.param([np.nan, 0, 1, np.nan], [[1], [2]], id="numbers"),
        pytest.param(["b", None, "a", None], [[2], [0]], id="words, sorted"),
    ],
)
def test_rows_without_an_entry_in_a_draw_column_belong_to_no_draw(draw_of_each_row, values_by_draw):
    table = pd.DataFrame({"quantity": "x", "member": draw_of_each_row, "value": [0.0, 1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(by_draw(table, "x", draw="member"), values_by_draw)


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def flow(size=2, seeds=(1, 0)):
    """Yield the rows of a table: of each seed states of some size at two times, and one number at the end.

    States are counted through, seed by seed, and predicted to be negative; the number is ten times the seed.
    """
    states = np.arange(float(len(seeds) * 2 * size)).reshape(len(seeds), 2, size)
    yield rows({"state": (states, -states)}, {"seed": seeds, "time": [0.0, 1.0]})
    yield rows({"end": (10.0 * np.array(seeds), 1.0)}, {"seed": seeds}, time=1.0)


@pytest.fixture
def draws():
    """Draws of two tables: seeds 1 and 0 with states of two entries, seed 5 with states of three."""
    small, large = flow(), flow(size=3, seeds=(5,))
    small.attrs["settings"] = {"integration": {"rtol": 1e-6}}
    large.attrs["settings"] = {"integration": {"rtol": 1e-9}}
    return Draws([small, large])


def test_draws_of_several_tables_follow_one_another_each_table_sorted_by_seed(draws):
    np.testing.assert_array_equal(draws.column("seed"), [0, 1, 5])
    np.testing.assert_array_equal(draws["end"], [0, 10, 50])
    np.testing.assert_array_equal(draws.entries("end", column="predicted"), [[1], [1], [1]])


def test_each_draw_has_the_settings_of_its_table(draws):
    np.testing.assert_array_equal(draws.setting("integration.rtol"), [1e-6, 1e-6, 1e-9])


@pytest.fixture
def sweep():
    """A sweep of two scales, as many as draws: of seeds 0 and 1 a number that is 10 at scale 0.1 and 20 at 0.2."""
    parts = [flow().assign(scale=scale, value=100 * scale) for scale in (0.1, 0.2)]
    both = pd.concat(parts, ignore_index=True)
    both.attrs = {"draw": ("seed",), "swept": ("scale",), "settings": {"scale": [0.1, 0.2], "rtol": 1e-6}}
    return both


def test_each_draw_of_one_value_of_a_sweep_has_that_value(sweep):
    np.testing.assert_array_equal(Draws(sweep[sweep["scale"] == 0.2]).setting("scale"), [0.2, 0.2])
    np.testing.assert_array_equal(Draws(sweep, scale=0.2).setting("scale"), [0.2, 0.2])
    np.testing.assert_array_equal(Draws(sweep, scale=0.2).setting("rtol"), [1e-6, 1e-6])


def test_draws_of_a_sweep_may_be_told_apart_by_the_swept_value(sweep):
    by_scale = Draws(sweep, draw=["scale", "seed"])
    np.testing.assert_array_equal(by_scale["end"], [10, 10, 20, 20])
    np.testing.assert_array_equal(by_scale.setting("scale"), [0.1, 0.1, 0.2, 0.2])
    # each draw with both of its numbers, by an axis of scales
    np.testing.assert_array_equal(Draws(sweep).entries("end", "scale"), [[[10], [20]], [[10], [20]]])


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda draws: draws["end"], id="a number"),
        pytest.param(lambda draws: draws.largest("state"), id="the largest"),
        pytest.param(lambda draws: draws.column("time"), id="a column"),
        pytest.param(lambda draws: draws.setting("scale"), id="the swept setting"),
        pytest.param(lambda draws: draws.setting("rtol"), id="another setting"),
    ],
)
def test_draws_that_mix_values_of_a_sweep_are_refused_by_the_name_of_the_setting(sweep, read):
    with pytest.raises(
        ProjectError, match=r"each draw mixes runs of a sweep, which differ in scale; .*table\['scale'\]"
    ):
        read(Draws(sweep))


def test_a_list_is_no_setting_of_each_draw_even_with_an_item_for_each():
    table = flow()
    table.attrs["settings"] = {"counts": [10, 20]}
    with pytest.raises(ProjectError, match="setting `counts` is a list"):
        Draws(table).setting("counts")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([0.1, 0.2], id="numbers"),
        pytest.param(["orthogonal", "gaussian"], id="words"),
        pytest.param([[1, 1], [2, 1]], id="lists"),
        pytest.param([5.0, None], id="a number and none"),
    ],
)
def test_settings_of_some_rows_of_a_sweep_have_the_value_of_these_rows(values):
    swept = pd.DataFrame({"value": range(4), "start.of": [values[0]] * 2 + [values[1]] * 2})
    swept.attrs = {"swept": ("start.of",), "settings": {"start": {"of": values, "rate": 1.0}, "seeds": 2}}
    assert settings_of(swept) == {"start": {"of": values, "rate": 1.0}, "seeds": 2}
    assert settings_of(swept[swept["value"] < 2]) == {"start": {"of": values[0], "rate": 1.0}, "seeds": 2}
    assert settings_of(swept[swept["value"] > 2]) == {"start": {"of": values[1], "rate": 1.0}, "seeds": 2}
    assert swept.attrs["settings"]["start"]["of"] == values


# of seeds 0, 1 and 5: shape (draws, times, entries)
PADDED_STATES = [[[4, 5, 0], [6, 7, 0]], [[0, 1, 0], [2, 3, 0]], [[0, 1, 2], [3, 4, 5]]]


def test_entries_by_time_are_padded_with_zeros(draws):
    np.testing.assert_array_equal(draws.entries("state", "time"), PADDED_STATES)


def test_predictions_are_padded_like_measured_values(draws):
    measured, predicted = draws.with_prediction("state", "time")
    np.testing.assert_array_equal(measured, PADDED_STATES)
    np.testing.assert_array_equal(predicted, -np.array(PADDED_STATES))


def test_entries_of_all_times_are_padded_at_the_end(draws):
    np.testing.assert_array_equal(draws.entries("state"), [[4, 5, 6, 7, 0, 0], [0, 1, 2, 3, 0, 0], range(6)])


def test_padding_is_neither_the_largest_nor_the_smallest_number_of_a_draw(draws):
    np.testing.assert_array_equal(draws.largest("state"), [7, 3, 5])
    np.testing.assert_array_equal(draws.smallest("state"), [4, 0, 0])  # 4 of the draw whose padding is 0


def test_draws_are_read_where_a_column_has_a_value(draws):
    # the first entry at the last time
    np.testing.assert_array_equal(draws.at_end().where(index=1)["state"], [6, 2, 3])


def test_draws_are_read_where_a_condition_on_a_column_holds(draws):
    # the larger of all entries at the first time
    np.testing.assert_array_equal(draws.where(time=lambda time: time < 0.5).largest("state"), [5, 1, 2])


def test_a_draw_without_a_number_has_no_largest():
    table = flow()
    table.loc[table.index[0], "value"] = np.nan
    np.testing.assert_array_equal(Draws(table).largest("state"), [7, np.nan])


def test_several_numbers_of_a_draw_are_not_read_as_one():
    with pytest.raises(ProjectError, match="`state`: 4 numbers for each draw"):
        Draws(flow())["state"]


def test_draws_are_grouped_by_each_pair_of_values_of_two_columns():
    norms = []  # of seeds 7 and 8
    for depth, time, group in Draws(at_two_depths()).groups("depth", "time"):
        norms.append((depth, time, group["norm"].tolist()))
    assert norms == [
        (2, 0.0, [1, 13]),
        (2, 0.5, [5, 17]),
        (2, 2.0, [9, 21]),
        (3, 0.0, [-1, -13]),
        (3, 0.5, [-5, -17]),
        (3, 2.0, [-9, -21]),
    ]


def test_a_column_that_distinguishes_draws_may_be_chosen():
    np.testing.assert_array_equal(Draws(at_two_depths(), draw="depth", seed=7).largest("norm"), [9, -1])


def test_tables_of_other_times_are_not_padded_along_their_times():
    early = select(table(), time=TIMES[:2].tolist())
    early.attrs = table().attrs
    with pytest.raises(ProjectError, match="tables differ in their numbers of time"):
        Draws([table(), early]).entries("norm", "time")
