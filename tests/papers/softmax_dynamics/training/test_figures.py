"""What the maps of trainings draw, read off their artists."""

import itertools
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.training import figures

SEEDS = 10
SIZES = {"equal": "1-1-1-1", "$1/k$": "7-4-2-2", "$1/k^2$": "16-4-2-1"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def trainings(method: str, decay: float, batch: int, share: float, learned: float) -> pd.DataFrame:
    """Falls over classes in so many of the draws at 1/k^2, none over examples; so many learn at d = 2, all at d = 3."""
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
        known = {"population": "", "threshold": 0.0, "quantity": "learned"}
        rows.append({**cell, **known, "value": float(seed < SEEDS * (learned if d == 2 else 1.0))})
        for population in ("classes", "examples"):
            fallen = 0.1 * (seed < SEEDS * share and law == "$1/k^2$" and population == "classes")
            known = {"population": population, "threshold": 0.05, "quantity": "fall_learning", "value": fallen}
            rows.append({**cell, **known})
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"seeds": SEEDS, "momentum": 0.9}
    return table


def hatched(axis) -> set[tuple[int, int]]:
    return {
        (round(patch.get_y() + 0.5), round(patch.get_x() + 0.5))
        for patch in axis.patches
        if isinstance(patch, Rectangle) and patch.get_hatch()
    }


def test_optimisers_have_a_row_each_and_laws_a_column():
    cells = [("AdamW", 0.6, 4, 0.8, 1.0), ("AdamW", 0.0, 0, 0.5, 1.0), ("SGD", 0.0, 0, 0.3, 0.4)]
    tables = [trainings(*cell) for cell in cells]
    tables[0] = tables[0][(tables[0]["counts"] != SIZES["equal"]) | (tables[0]["dimension"] == 2)]
    drawn = figures.optimisers(tables, threshold=0.05)
    classes, examples = [axis for axis in drawn.figure.axes if axis.images]
    # full batches first, of them descent; laws in order, in each the dimensions; what was not tried stays empty
    expected = [[0, 0, 0, 0, 0.3, 0.3], [0, 0, 0, 0, 0.5, 0.5], [0, np.nan, 0, 0, 0.8, 0.8]]
    np.testing.assert_allclose(np.ma.filled(classes.images[0].get_array(), np.nan), expected)
    assert not examples.images[0].get_array().any()
    names = ["descent, all", "AdamW, decay 0, all", "AdamW, decay 0.6, batch 4"]
    assert [label.get_text() for label in classes.get_yticklabels()] == names
    # four of ten have learned under descent in two dimensions
    assert hatched(classes) == hatched(examples) == {(0, 0), (0, 2), (0, 4)}


@pytest.mark.parametrize("column", ["learning_rate", "steps", "scale"])
def test_trainings_that_a_map_of_optimisers_would_mix_are_refused(column):
    table = trainings("SGD", 0.0, 0, 0.3, 0.4)
    twice = pd.concat([table, table.assign(**{column: 2 * table[column]})])
    twice.attrs = table.attrs
    with pytest.raises(ProjectError, match=f"one `{column}`, not"):
        figures.optimisers([table, twice], threshold=0.05)


def eight_examples_table(
    sizes: Sequence[str] = ("4-2-1-1", "3-3-1-1", "2-2-2-2"), dimensions: Sequence[int] = (2, 3)
) -> pd.DataFrame:
    """Three phases at 4-2-1-1 in full batches; four of ten learn at the larger rate, all at the smaller one."""
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
        learned, phases = float(seed < (4 if rate == 1.0 else 10)), float(counts == "4-2-1-1" and batch == 0)
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
def test_trainings_that_a_map_of_eight_examples_would_mix_are_refused(search, column, other):
    twice = pd.concat([search, search.assign(**{column: other})])
    twice.attrs = search.attrs
    with pytest.raises(ProjectError, match=f"one `{column}`, not"):
        figures.eight_examples(twice, threshold=0.05)


def test_a_search_is_hatched_where_few_learn_and_counts_all_draws(search):
    drawn = [axis for axis in figures.eight_examples(search, threshold=0.05).figure.axes if axis.images]
    treated, other_sizes, equal, wide, wide_of_other_sizes = drawn[:5]
    assert [axis.get_title()[4:] for axis in drawn[:3]] == ["4 : 2 : 1 : 1", "3 : 3 : 1 : 1", "2 : 2 : 2 : 2"]
    # batches upwards, all examples on top; rates to the right
    assert treated.images[0].get_array().tolist() == wide.images[0].get_array().tolist() == [[0, 0], [1, 0.4]]
    for axis in (other_sizes, equal, wide_of_other_sizes):
        assert not axis.images[0].get_array().any()
    assert [label.get_text() for label in treated.get_yticklabels()] == ["2", "all"]
    assert hatched(treated) == {(0, 1), (1, 1)}


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
    assert tuple(drawn.facts[f"{kind}_panels"] for kind in ("narrow", "equal", "wide")) == panels
    titles = [axis.get_title() for axis in drawn.figure.axes if axis.images]
    equal = [title for title in titles if len(set(title[4:].split(" : "))) == 1]
    assert ", ".join(title[:3] for title in equal) == panels[1]


@pytest.mark.parametrize("sizes", [["4-2-1-1", "3-3-1-1"], ["2-2-2-2"]])
def test_eight_examples_without_skewed_or_equal_sizes_are_refused(sizes):
    with pytest.raises(ProjectError, match=f"not {', '.join(sizes)} alone; add the others to `counts` of the run"):
        figures.eight_examples(eight_examples_table(sizes), threshold=0.05)


@pytest.mark.parametrize("dimensions", [[2], [2, 3, 4], [1, 2]])
def test_eight_examples_in_other_than_a_bottleneck_and_none_are_refused(dimensions):
    listed = ", ".join(map(str, dimensions))
    with pytest.raises(ProjectError, match=f"not {listed}; give two as `dimensions` of the run"):
        figures.eight_examples(eight_examples_table(dimensions=dimensions), threshold=0.05)
