"""Completed matrices: runs against torch, measures by definition, judges on made-up ones."""

import numpy as np
import pandas as pd
import pytest
import scipy

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.completed_matrices import measures_of
from learning_dynamics.papers.deep_linear.completion import figures, metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SIZE, RANK, SEEN = 6, 2, 22
SETTINGS = {
    "depth": 3,
    "scales": [0.3, 0.1],
    "learning_rates": [0.5],
    "optimiser": "gradient_descent",
    "stop": 0.1,
    "max_steps": 400,
    "precision": "double",
    "seed": 5,
}


@pytest.fixture(scope="module")
def data():
    return low_rank(size=SIZE, rank=RANK, observed=SEEN, draws=2, seed=3)


def measures_by_definition(W, truth, mask):
    values = np.linalg.svd(W, compute_uv=False)
    return {
        "error": np.mean((W - truth) ** 2),
        "train_loss": np.mean((W - truth)[mask] ** 2),
        # the trace of the root of W'W
        "nuclear_norm": np.trace(scipy.linalg.sqrtm(W.T @ W)).real,
        "effective_rank": np.exp(scipy.stats.entropy(values)),
        "size": SIZE,
        "observed": SEEN,
    }


def test_completions_are_plain_descent_from_gaussian_layers(data):
    _, table = trajectory_and_table(runs.completion, metrics.completion, SETTINGS, data)
    for draw, rng in enumerate(generators(5, "deep_linear.completion", 2)):
        normal = rng.standard_normal((3, SIZE, SIZE))
        truth, mask = data["truth"][draw], data["mask"][draw]
        for scale in SETTINGS["scales"]:
            layers = list(normal * scale ** (1 / 3) / np.sqrt(SIZE))
            layers, losses = plain.descend_until(layers, plain.observed(truth, mask), 0.5, 0.1, 400)
            rows = select(table, draw=draw, scale=scale)
            row = rows.set_index("quantity")["value"]
            case = f"{draw=}, {scale=}"
            assert row["steps"] == len(losses) - 1, case
            assert rows["converged"].all() == (losses[-1] <= 0.1), case
            for name, value in measures_by_definition(plain.multiply(layers), truth, mask).items():
                assert row[name] == pytest.approx(value, rel=1e-7), name
            known = measures_by_definition(truth, truth, mask)
            assert row["true_nuclear_norm"] == pytest.approx(known["nuclear_norm"], rel=1e-5), case
            assert row["true_effective_rank"] == pytest.approx(known["effective_rank"], rel=1e-5), case


def test_nothing_is_measured_of_what_diverged(data):
    found = measures_of(np.full((2, SIZE, SIZE), np.inf), data["truth"], data["mask"])
    assert all(np.isnan(values).all() for name, values in found.items() if not name.startswith("true"))


def test_the_misfit_is_the_largest_on_an_observed_entry(data):
    truth, mask = data["truth"], data["mask"]
    moved = truth.copy()
    rows, columns = np.nonzero(mask[0])
    moved[0, rows[3], columns[3]] -= 0.25
    rows, columns = np.nonzero(~mask[1])
    moved[1, rows[3], columns[3]] += 0.5
    found = {"truth": truth, "mask": mask, "minimiser": moved, "gap": np.array([1e-4, 2e-4])}
    _, table = trajectory_and_table(runs.nuclear_norm, metrics.nuclear_norm, {}, found)
    np.testing.assert_array_equal(by_draw(table, "gap", draw="draw")[:, 0], [1e-4, 2e-4])
    np.testing.assert_allclose(by_draw(table, "misfit", draw="draw")[:, 0], [0.25, 0.0], atol=1e-15)
    np.testing.assert_allclose(by_draw(table, "error", draw="draw")[:, 0], [0.0625 / 36, 0.25 / 36])


# -- judges ---------------------------------------------------------------------------------------

SCALE, LARGE = 1e-6, 1e-3
WOBBLE = np.array([-0.1, -0.06, -0.02, 0.02, 0.06, 0.1])  # of draws around their mean, in decades


def network_table(error, norm, rank, *, large=None, converged=True):
    """Return the table of six draws at two scales and two rates; numbers at the larger rate are wrong.

    `error` (a geometric mean over draws), `norm` and `rank` are those at `SCALE`, `large` those at the larger scale.
    """
    rows = []
    for scale, values in ((SCALE, (error, norm, rank)), (LARGE, large or (error, norm, rank))):
        for rate, off in ((20.0, 50.0), (10.0, 1.0)):
            for draw, wobble in enumerate(WOBBLE):
                measured = {
                    "error": values[0] * 10**wobble * off,
                    "nuclear_norm": values[1] * off,
                    "effective_rank": values[2] + wobble,
                    "observed": 2000.0,
                }
                rows += [
                    {
                        "depth": 2,
                        "scale": scale,
                        "learning_rate": rate,
                        "draw": draw,
                        "converged": converged,
                        "quantity": name,
                        "value": value,
                    }
                    for name, value in measured.items()
                ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scales": [SCALE, LARGE]}
    return table


def minimiser_table(error, norm, rank, *, misfit=1e-3, gap=1e-4):
    rows = []
    for draw, wobble in enumerate(WOBBLE[::-1]):
        measured = {
            "error": error * 10**wobble,
            "nuclear_norm": norm,
            "effective_rank": rank - wobble,
            "misfit": misfit,
            "gap": gap,
            "observed": 2000.0,
        }
        rows += [{"draw": draw, "quantity": name, "value": value} for name, value in measured.items()]
    return pd.DataFrame(rows)


# by role, how its table is made: error, norm and rank with which all claims hold
RIGHT = {
    "depth_2": (network_table, (1e-3, 101.0, 6.0)),
    "depth_3": (network_table, (1e-5, 102.0, 5.0)),
    "minimiser": (minimiser_table, (1e-1, 100.0, 8.0)),
    "depth_2_many": (network_table, (1e-6, 100.02, 5.0)),
    "depth_3_many": (network_table, (1e-6, 100.02, 5.1)),
    "minimiser_many": (minimiser_table, (1e-6, 100.0, 5.05)),
}
ROLES = {
    "depth_beats_nuclear_norm_2k": tuple(RIGHT),
    "depth_3_beats_depth_2_2k": ("depth_2", "depth_3", "depth_2_many", "depth_3_many"),
    "deep_has_larger_nuclear_norm": tuple(RIGHT),
    "depth_lowers_effective_rank": tuple(RIGHT),
}
GIVEN = {"depth_beats_nuclear_norm_2k": {"decades": 2.0}, "depth_3_beats_depth_2_2k": {"decades": 1.0}}


def evaluation_with(claim, **changed):
    """Return what a claim says of the right tables, with options (or other `values`) for the roles that are named."""
    tables = {}
    for role in ROLES[claim]:
        make, values = RIGHT[role]
        options = changed.get(role, {})
        tables[role] = make(*options.pop("values", values), **options)
    return evaluation("deep_linear", claim, tables, scale=SCALE, **GIVEN.get(claim, {}))


@pytest.mark.parametrize("claim", ROLES)
def test_right_tables_are_reproduced(claim):
    assert evaluation_with(claim).verdict == "reproduced"


@pytest.mark.parametrize(
    ("claim", "role", "values"),
    [
        ("depth_beats_nuclear_norm_2k", "depth_3", (2e-3, 102.0, 5.0)),
        ("depth_beats_nuclear_norm_2k", "depth_2", (2e-1, 101.0, 6.0)),
        ("depth_3_beats_depth_2_2k", "depth_3", (2e-4, 102.0, 5.0)),
        ("depth_3_beats_depth_2_2k", "depth_2", (5e-5, 101.0, 6.0)),
        ("deep_has_larger_nuclear_norm", "depth_2", (1e-3, 100.03, 6.0)),
        ("deep_has_larger_nuclear_norm", "depth_3", (1e-3, 100.03, 6.0)),
        ("depth_lowers_effective_rank", "depth_2", (1e-3, 101.0, 8.1)),
        ("depth_lowers_effective_rank", "depth_3", (1e-3, 101.0, 6.1)),
    ],
)
def test_what_does_not_show_is_not_reproduced(claim, role, values):
    found = evaluation_with(claim, **{role: {"values": values}})
    assert found.verdict == "not reproduced"


@pytest.mark.parametrize("claim", ROLES)
def test_runs_that_did_not_converge_decide_nothing(claim):
    assert evaluation_with(claim, depth_3={"converged": False}).judgement.state == "undecided"


def test_excesses_are_compared_with_the_solvers_proved_gaps():
    """An excess of 0.8 % beyond that with many entries: gaps of 0.3 % together leave it, of 1.2 % do not."""
    assert evaluation_with("deep_has_larger_nuclear_norm", minimiser={"gap": 3e-3}).verdict == "reproduced"
    assert evaluation_with("deep_has_larger_nuclear_norm", minimiser={"gap": 1.2e-2}).verdict == "not reproduced"
    assert evaluation_with("deep_has_larger_nuclear_norm", minimiser_many={"gap": 1.2e-2}).verdict == "not reproduced"
    assert evaluation_with("deep_has_larger_nuclear_norm").judgement.headline.value == pytest.approx(0.01 - 2e-4)


def test_facts_are_those_of_the_tables():
    found = evaluation_with("depth_beats_nuclear_norm_2k", depth_2={"large": (1e-2, 101.0, 6.0)})
    assert found.facts["value"] == pytest.approx(4.0)
    assert found.facts["depth_2_below"] == pytest.approx(2.0)
    assert found.facts["depth_2_below_at_largest_scale"] == pytest.approx(1.0)
    found = evaluation_with("depth_lowers_effective_rank", depth_2={"large": (1e-2, 101.0, 7.5)})
    assert found.facts["value"] == pytest.approx(2.0)
    assert found.facts["at_largest_scale"] == pytest.approx(0.5)


def evaluation_of_recovery(error, fourth=None):
    """Judge errors of which the worst draw's is 10^0.1 times the given one; the fourth draw's may be another."""
    many, few = minimiser_table(error, 100.0, 5.0), minimiser_table(0.1, 100.0, 8.0)
    if fourth is not None:
        many.loc[(many["quantity"] == "error") & (many["draw"] == 3), "value"] = fourth
    return evaluation("deep_linear", "nuclear_norm_recovers_5k", {"many": many, "few": few}, factor=10.0)


def test_every_draw_is_recovered_to_within_the_slack():
    assert evaluation_of_recovery(0.5e-5).verdict == "reproduced"
    assert evaluation_of_recovery(0.5e-5).judgement.headline.value == pytest.approx(0.5e-5 * 10**0.1)
    assert evaluation_of_recovery(2e-5).verdict == "not reproduced"
    assert evaluation_of_recovery(1e-6, fourth=1.0).verdict == "not reproduced"


def test_the_figure_refuses_more_learning_rates_than_it_has_lines():
    table, minimiser = network_table(1e-3, 101.0, 6.0), minimiser_table(1e-1, 100.0, 8.0)
    third = table[table["learning_rate"] == 10.0].assign(learning_rate=5.0)
    with pytest.raises(ProjectError, match="3 learning rates"):
        figures.completion([pd.concat([table, third])], [table], minimiser, minimiser)
