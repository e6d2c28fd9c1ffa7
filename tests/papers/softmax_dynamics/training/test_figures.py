"""The maps of trainings, read off their artists: shares, hatching, labels and captions, and tables they refuse."""

import itertools
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.training import figures

SEEDS = 10  # draws of each cell
# four classes: all equal, and sizes that fall with a class's number k, rounded
SIZES = {"equal": "1-1-1-1", "$1/k$": "7-4-2-2", "$1/k^2$": "16-4-2-1"}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def trainings(*, method: str, share: float, decay: float = 0.0, batch: int = 0, learned: float = 1.0) -> pd.DataFrame:
    """Return trainings of which a share, at sizes as 1/k^2, has a rank over classes that falls by 0.1.

    No other rank falls. All learn in three dimensions, and in two a share `learned` of them. A batch of 0 is all
    examples.
    """
    rows = []
    for (law, counts), d, seed in itertools.product(SIZES.items(), (2, 3), range(SEEDS)):
        cell = {
            "method": method,
            "learning_rate": 0.1,
            "decay": decay,
            "batch": batch,
            "steps": 100,
            "counts": counts,
            "dimension": d,
            "scale": 0.01,
            "seed": seed,
        }
        has_learned = d == 3 or seed < SEEDS * learned
        falls = law == "$1/k^2$" and seed < SEEDS * share
        rows += [
            {**cell, "population": "", "threshold": 0.0, "quantity": "learned", "value": float(has_learned)},
            {
                **cell,
                "population": "classes",
                "threshold": 0.05,
                "quantity": "fall_learning",
                "value": 0.1 if falls else 0.0,
            },
            {**cell, "population": "examples", "threshold": 0.05, "quantity": "fall_learning", "value": 0.0},
        ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"seeds": SEEDS, "momentum": 0.9}
    return table


def hatched_cells(axis) -> set[tuple[int, int]]:
    """Return the row and the column of each hatched cell of a map."""
    return {
        (round(patch.get_y() + 0.5), round(patch.get_x() + 0.5))
        for patch in axis.patches
        if isinstance(patch, Rectangle) and patch.get_hatch()
    }


@pytest.fixture
def optimisers_map():
    """Return the panels over classes and over examples of a map of three optimisers.

    Equal sizes are not tried in three dimensions under AdamW with minibatches.
    """
    minibatches = trainings(method="AdamW", decay=0.6, batch=4, share=0.8)
    was_tried = (minibatches["counts"] != SIZES["equal"]) | (minibatches["dimension"] == 2)
    tried = minibatches[was_tried]
    tried.attrs = minibatches.attrs
    tables = [
        tried,
        trainings(method="AdamW", share=0.5),
        trainings(method="SGD", share=0.3, learned=0.4),
    ]
    drawn = figures.optimisers(tables, threshold=0.05)
    over_classes, over_examples = [axis for axis in drawn.figure.axes if axis.images]
    return over_classes, over_examples


def test_a_map_of_optimisers_has_rows_for_descent_then_full_batches_then_minibatches(optimisers_map):
    over_classes, _ = optimisers_map
    labels = [label.get_text() for label in over_classes.get_yticklabels()]
    assert labels == ["descent, all", "AdamW, decay 0, all", "AdamW, decay 0.6, batch 4"]


def test_cells_of_such_a_map_are_shares_by_law_and_dimension_and_empty_where_nothing_was_tried(optimisers_map):
    over_classes, over_examples = optimisers_map
    # equal sizes in two and three dimensions, those as 1/k, and those as 1/k^2
    expected = [[0, 0, 0, 0, 0.3, 0.3], [0, 0, 0, 0, 0.5, 0.5], [0, np.nan, 0, 0, 0.8, 0.8]]
    np.testing.assert_allclose(np.ma.filled(over_classes.images[0].get_array(), np.nan), expected)
    assert not over_examples.images[0].get_array().any()


def test_cells_of_such_a_map_are_hatched_where_fewer_than_half_learn(optimisers_map):
    # four draws of ten learn under descent in two dimensions: in the first row, the first column of each law
    for panel in optimisers_map:
        assert hatched_cells(panel) == {(0, 0), (0, 2), (0, 4)}


@pytest.mark.parametrize("column", ["learning_rate", "steps", "scale"])
def test_a_map_of_optimisers_refuses_trainings_at_two_values_of_a_setting_that_it_does_not_show(column):
    table = trainings(method="SGD", share=0.3)
    at_two_values = pd.concat([table, table.assign(**{column: 2 * table[column]})])
    at_two_values.attrs = table.attrs
    with pytest.raises(ProjectError, match=f"a map of trainings has one `{column}`, not"):
        figures.optimisers([table, at_two_values], threshold=0.05)


def eight_examples_table(
    sizes: Sequence[str] = ("4-2-1-1", "3-3-1-1", "2-2-2-2"), dimensions: Sequence[int] = (2, 3)
) -> pd.DataFrame:
    """Return trainings at two rates, in batches of two and in full ones, which have the batch 0.

    In full batches all draws at the sizes 4-2-1-1 show three phases, and no others. At the larger rate four draws of
    ten learn, at the smaller one all.
    """
    rows = []
    for rate, batch, counts, d, seed in itertools.product((0.1, 1.0), (2, 0), sizes, dimensions, range(SEEDS)):
        cell = {
            "method": "SGD",
            "learning_rate": rate,
            "decay": 0.0,
            "batch": batch,
            "steps": 100,
            "counts": counts,
            "skewed": len(set(counts.split("-"))) > 1,
            "dimension": d,
            "scale": 0.01,
            "seed": seed,
        }
        learned = float(rate == 0.1 or seed < 4)
        phases = float(counts == "4-2-1-1" and batch == 0)
        rows += [
            {**cell, "population": "", "threshold": 0.0, "quantity": "learned", "value": learned},
            {**cell, "population": "examples", "threshold": 0.05, "quantity": "phases", "value": phases},
        ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"seeds": SEEDS, "steps": 100}
    return table


@pytest.fixture
def search() -> pd.DataFrame:
    return eight_examples_table()


@pytest.mark.parametrize(("column", "other"), [("method", "Adam"), ("decay", 0.1), ("steps", 50), ("scale", 1.0)])
def test_maps_of_eight_examples_refuse_trainings_at_two_values_of_a_setting_that_they_do_not_show(
    search, column, other
):
    at_two_values = pd.concat([search, search.assign(**{column: other})])
    at_two_values.attrs = search.attrs
    with pytest.raises(ProjectError, match=f"a map of trainings has one `{column}`, not"):
        figures.eight_examples(at_two_values, threshold=0.05)


def maps_of(search: pd.DataFrame) -> list[Axes]:
    """Return the maps of the figure: three class sizes in two dimensions, then the two skewed ones in three."""
    maps = [axis for axis in figures.eight_examples(search, threshold=0.05).figure.axes if axis.images]
    assert len(maps) == 5
    return maps


def test_maps_of_eight_examples_are_titled_by_class_sizes_without_the_letter(search):
    titles = [axis.get_title()[len("(a) ") :] for axis in maps_of(search)[:3]]
    assert titles == ["4 : 2 : 1 : 1", "3 : 3 : 1 : 1", "2 : 2 : 2 : 2"]


def test_maps_of_eight_examples_show_shares_of_all_draws_by_batch_and_rate(search):
    skewed, other_skewed, equal, skewed_in_three, other_skewed_in_three = maps_of(search)
    # a row for each batch, all examples in the second; to the right the larger rate, at which four of ten learn
    for axis in (skewed, skewed_in_three):
        assert axis.images[0].get_array().tolist() == [[0, 0], [1, 0.4]]
    for axis in (other_skewed, equal, other_skewed_in_three):
        assert not axis.images[0].get_array().any()
    assert [label.get_text() for label in skewed.get_yticklabels()] == ["2", "all"]


def test_maps_of_eight_examples_are_hatched_where_fewer_than_half_learn(search):
    for axis in maps_of(search):
        assert hatched_cells(axis) == {(0, 1), (1, 1)}  # at the larger rate, in both rows


# letters of the panels with a bottleneck, of those with equal sizes, and of those without a bottleneck
@pytest.mark.parametrize(
    ("sizes", "panels"),
    [
        (["4-2-1-1", "2-2-2-2"], ("(a), (b)", "(b)", "(c)")),
        (["4-2-1-1", "3-3-1-1", "2-2-2-2"], ("(a) to (c)", "(c)", "(d), (e)")),
        (["4-2-1-1", "3-3-1-1", "5-1-1-1", "2-2-2-2", "3-3-3-3"], ("(a) to (e)", "(d), (e)", "(f) to (h)")),
    ],
)
def test_the_caption_names_as_many_panels_as_the_run_has_class_sizes(sizes, panels):
    drawn = figures.eight_examples(eight_examples_table(sizes), threshold=0.05)
    narrow, equal, wide = panels
    assert drawn.facts["narrow_panels"] == narrow
    assert drawn.facts["equal_panels"] == equal
    assert drawn.facts["wide_panels"] == wide
    # the letters that the panels of equal sizes have, in titles such as "(c) 2 : 2 : 2 : 2"
    letters = []
    for axis in drawn.figure.axes:
        letter, _, sizes_of_panel = axis.get_title().partition(" ")
        if axis.images and len(set(sizes_of_panel.split(" : "))) == 1:
            letters.append(letter)
    assert ", ".join(letters) == equal


@pytest.mark.parametrize("sizes", [["4-2-1-1", "3-3-1-1"], ["2-2-2-2"]])
def test_eight_examples_without_skewed_or_equal_sizes_are_refused(sizes):
    message = f"compares skewed class sizes with equal ones, not {', '.join(sizes)} alone; add the others to `counts`"
    with pytest.raises(ProjectError, match=message):
        figures.eight_examples(eight_examples_table(sizes), threshold=0.05)


@pytest.mark.parametrize("dimensions", [[2], [2, 3, 4], [1, 2]])
def test_eight_examples_must_have_two_numbers_of_dimensions_the_larger_without_a_bottleneck(dimensions):
    listed = ", ".join(map(str, dimensions))
    message = f"two numbers of dimensions, the larger without a bottleneck, not {listed}; give two as `dimensions`"
    with pytest.raises(ProjectError, match=message):
        figures.eight_examples(eight_examples_table(dimensions=dimensions), threshold=0.05)
