"""Numbers that docs/which_population_decides.md prints, computed again from its formulas and from other draws."""

import re

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics.population import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.softmax_dynamics.network import trajectory_with_settings
from tests.support import ROOT

PAGE = (ROOT / "docs/which_population_decides.md").read_text(encoding="utf-8")


def rank_of_variances(variances: np.ndarray) -> float:
    """Return RankMe: the exponential of the entropy of the shares of the variance."""
    shares = variances / variances.sum()
    return float(np.exp(-np.sum(shares * np.log(shares))))


ROUNDED = 0.005  # of what the page prints with two digits


def test_the_page_prints_the_ranks_at_equal_margins_over_examples_and_over_classes():
    """Two pairs of opposite classes, of which a class of n examples has a squared length of one over the root of n."""
    printed = re.search(r"the rank over examples is higher: ([\d.]+) instead of ([\d.]+) at 512:1", PAGE)
    sizes = np.array([512.0, 64.0, 8.0, 1.0])
    signs = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    f = signs * sizes[:, None] ** -0.25
    weights = (sizes / sizes.sum())[:, None]  # of classes, in the mean over examples
    centred = f - (weights * f).sum(axis=0)
    covariance = (weights * centred).T @ centred
    over_examples, over_classes = float(printed[1]), float(printed[2])
    assert over_examples == pytest.approx(rank_of_variances(np.linalg.eigvalsh(covariance)), abs=ROUNDED)
    # the eigenvalue of the rare pair is eight times that of the frequent one
    assert over_classes == pytest.approx(rank_of_variances(np.array([1.0, 8.0])), abs=ROUNDED)


def cells_of(header: str) -> dict[str, dict[float, float]]:
    """Return the numbers of a table of the page, by class sizes such as "512:64:8:1" and by scale."""
    lines = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()
    scales = [float(cell) for cell in lines[0].strip("|").split("|")[1:]]
    rows = [line.strip("| ").split("|") for line in lines[2:]]
    return {cells[0].strip(): dict(zip(scales, map(number_of, cells[1:]), strict=True)) for cells in rows}


def number_of(cell: str) -> float:
    """Return the number that a cell prints; of "40%" it is 0.4."""
    cell = cell.strip()
    return float(cell[:-1]) / 100 if cell.endswith("%") else float(cell)


FLOWS = 20


def measured_flows(
    sizes: str, scale: float, *, dimension: int, points: int, threshold: float, **span: float
) -> pd.DataFrame:
    """Return what is measured of `FLOWS` flows; `span` may give another first time and another horizon.

    Falls and rises count from `threshold` on, and `points` is the number of records.
    """
    integration = {"first_time": 0.01, "horizon": 1e3, "rtol": 1e-6, "atol": min(1e-12, 1e-7 * scale), "points": points}
    settings = {
        "counts": [[int(size) for size in sizes.split(":")]],
        "dimensions": [dimension],
        "scales": [scale],
        "loss": "cross_entropy",
        "seeds": FLOWS,
    }
    flows = trajectory_with_settings(runs.class_flows, {**settings, "integration": integration | span}, seed=1)
    return metrics.class_flows(flows, thresholds=[threshold], lower=0.4, upper=0.9)


def falls_over_classes(sizes: str, scale: float, **settings) -> np.ndarray:
    """Return how far the rank over classes falls while the rare classes are learned, of each flow."""
    flows = measured_flows(sizes, scale, **settings)
    return select(flows, "fall_rare", population="classes")["value"].to_numpy()


def standard_error(share: float, draws: int, other_draws: int) -> float:
    """Return that of the difference of two measured shares; a share near 0 or 1 has the variance of one of 0.05."""
    variance = max(share * (1 - share), 0.05 * 0.95)
    return np.sqrt(variance * (1 / draws + 1 / other_draws))


PRINTED_FALLS = cells_of("| sizes | 1e-3 | 1e-6 |")
PRINTED_SHARES = cells_of("| sizes, d = 3 |")


@pytest.mark.parametrize(
    ("sizes", "scale"), [("27:9:3:1", 1e-3), ("27:9:3:1", 1e-12), ("64:16:4:1", 1e-6), ("512:64:8:1", 1e-24)]
)
def test_the_page_prints_the_median_fall_over_classes(sizes, scale):
    """From small starts all draws fall alike: medians of other draws differ by seven thousandths at most."""
    depths = falls_over_classes(sizes, scale, dimension=2, points=960, threshold=0.005, first_time=0.1, horizon=1e4)
    assert np.median(depths) == pytest.approx(PRINTED_FALLS[sizes][scale], abs=0.007 + ROUNDED)


@pytest.mark.parametrize(
    ("sizes", "scale"),
    [("27:9:3:1", 1e-5), ("27:9:3:1", 1e-2), ("64:16:4:1", 1e-4), ("125:25:5:1", 1e-6), ("125:25:5:1", 1e-3)],
)
def test_the_page_prints_the_share_that_falls_in_three_dimensions(sizes, scale):
    """The page has 40 draws."""
    share = PRINTED_SHARES[sizes][scale]
    threshold = 0.05
    depths = falls_over_classes(sizes, scale, dimension=3, points=120, threshold=threshold)
    tolerance = 3 * standard_error(share, draws=FLOWS, other_draws=40)
    assert np.mean(depths >= threshold) == pytest.approx(share, abs=tolerance)


# a row such as "| 200:1:1:1 | 6% (6%) | 0% (36%) | 0% (66%) |", with shares in two, three and four dimensions
ONE_FREQUENT = re.compile(r"^\| (\d+:1:1:1) \| (\d+)% .* \| (\d+)% .* \| (\d+)% .*\|$", re.MULTILINE)


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("sizes", ["200:1:1:1", "3000:1:1:1"])
def test_the_page_prints_the_share_with_three_phases_where_one_class_is_frequent(sizes, dimension):
    """The page has 180 draws, from three scales; here draws are from the smaller two."""
    (row,) = [row for row in ONE_FREQUENT.finditer(PAGE) if row[1] == sizes]
    share = float(row[dimension]) / 100  # of two dimensions it is the second group
    tables = [
        measured_flows(sizes, scale, dimension=dimension, points=240, threshold=0.05, first_time=1e-3)
        for scale in (1e-3, 1e-2)
    ]
    shows = np.concatenate([select(table, "phases", population="examples")["value"] for table in tables])
    # fewer draws show the phases from the third scale, 0.1: a share of all that is lower by up to a tenth
    tolerance = 3 * standard_error(share, draws=len(shows), other_draws=180) + 0.1
    assert np.mean(shows) == pytest.approx(share, abs=tolerance)
