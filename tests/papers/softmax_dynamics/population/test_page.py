"""Numbers that docs/which_population_decides.md prints, computed again from its formulas and from flows."""

import re
from pathlib import Path

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.population import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.softmax_dynamics.network import trajectory_with_settings

PAGE = (Path(__file__).parents[4] / "docs/which_population_decides.md").read_text()


def rank_of(variances: np.ndarray) -> float:
    shares = variances / variances.sum()
    return float(np.exp(-np.sum(shares * np.log(shares))))


def test_the_ranks_at_equal_margins():
    """Two pairs of opposite classes, of which a class of n examples has a squared length of one over the root of n."""
    printed = re.search(r"the rank over examples is higher: ([\d.]+) instead of ([\d.]+) at 512:1", PAGE)
    sizes = np.array([512.0, 64.0, 8.0, 1.0])
    signs = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
    f = signs * sizes[:, None] ** -0.25
    share = (sizes / sizes.sum())[:, None]
    centred = f - (share * f).sum(axis=0)
    covariance = (share * centred).T @ centred
    assert float(printed[1]) == pytest.approx(rank_of(np.linalg.eigvalsh(covariance)), abs=0.005)
    assert float(printed[2]) == pytest.approx(rank_of(np.array([1 / 9, 8 / 9])), abs=0.005)


def cells_of(header: str) -> dict[str, dict[float, float]]:
    """Return the number at each scale of the rows of a table, by class sizes such as "512:64:8:1"."""
    lines = PAGE[PAGE.index(header) :].split("\n\n")[0].splitlines()
    scales = [float(cell) for cell in lines[0].strip("|").split("|")[1:]]
    rows = [line.strip("| ").split("|") for line in lines[2:]]
    return {cells[0].strip(): dict(zip(scales, map(number_of, cells[1:]), strict=True)) for cells in rows}


def number_of(cell: str) -> float:
    cell = cell.strip()
    return float(cell[:-1]) / 100 if cell.endswith("%") else float(cell)


def flow_table(sizes: str, scale: float, *, dimension: int, points: int, threshold: float, **span: float):
    integration = {"first_time": 0.01, "horizon": 1e3, "rtol": 1e-6, "atol": min(1e-12, 1e-7 * scale), "points": points}
    settings = {
        "counts": [[int(size) for size in sizes.split(":")]],
        "dimensions": [dimension],
        "scales": [scale],
        "loss": "cross_entropy",
        "seeds": 20,
    }
    flows = trajectory_with_settings(runs.class_flows, {**settings, "integration": integration | span}, seed=1)
    return metrics.class_flows(flows, thresholds=[threshold], lower=0.4, upper=0.9)


def falls(*cell, **settings):
    return select(flow_table(*cell, **settings), "fall_rare", population="classes")["value"].to_numpy()


FALLS = cells_of("| sizes | 1e-3 | 1e-6 |")
SHARES = cells_of("| sizes, d = 3 |")


@pytest.mark.parametrize(
    ("sizes", "scale"), [("27:9:3:1", 1e-3), ("27:9:3:1", 1e-12), ("64:16:4:1", 1e-6), ("512:64:8:1", 1e-24)]
)
def test_the_median_fall_over_classes(sizes, scale):
    """Of other draws than the page's: medians of small starts hardly depend on them."""
    found = falls(sizes, scale, dimension=2, points=960, threshold=0.005, first_time=0.1, horizon=1e4)
    assert np.median(found) == pytest.approx(FALLS[sizes][scale], abs=0.012)


@pytest.mark.parametrize(
    ("sizes", "scale"),
    [("27:9:3:1", 1e-5), ("27:9:3:1", 1e-2), ("64:16:4:1", 1e-4), ("125:25:5:1", 1e-6), ("125:25:5:1", 1e-3)],
)
def test_the_share_that_falls_in_three_dimensions(sizes, scale):
    """Of 20 draws against the page's 40: within three standard errors of the difference."""
    share = SHARES[sizes][scale]
    found = np.mean(falls(sizes, scale, dimension=3, points=120, threshold=0.05) >= 0.05)
    error = np.sqrt(max(share * (1 - share), 0.05 * 0.95) * (1 / 20 + 1 / 40))
    assert found == pytest.approx(share, abs=3 * error)


ONE_FREQUENT = re.compile(r"^\| (\d+:1:1:1) \| (\d+)% .* \| (\d+)% .* \| (\d+)% .*\|$", re.MULTILINE)


@pytest.mark.parametrize("dimension", [2, 3, 4])
@pytest.mark.parametrize("sizes", ["200:1:1:1", "3000:1:1:1"])
def test_the_share_with_three_phases_where_one_class_is_frequent(sizes, dimension):
    """Of 40 draws from two scales against the page's 180 from three: within three standard errors, and a tenth."""
    printed = {line[1]: line.groups()[1:] for line in ONE_FREQUENT.finditer(PAGE)}
    share = float(printed[sizes][dimension - 2]) / 100
    tables = [
        flow_table(sizes, scale, dimension=dimension, points=240, threshold=0.05, first_time=1e-3)
        for scale in (1e-3, 1e-2)
    ]
    shows = [select(table, "phases", population="examples")["value"] for table in tables]
    error = np.sqrt(max(share * (1 - share), 0.05 * 0.95) * (1 / 40 + 1 / 180))
    # the third scale, 0.1, shows fewer
    assert np.mean(shows) == pytest.approx(share, abs=3 * error + 0.1)
