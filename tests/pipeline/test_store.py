"""Tables, arrays, pictures and claims as files: they come back as written, and wrong or damaged ones are refused."""

import io
import json
import os
import random
import shutil
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.judging import Claim, Facts, Untested, claim, equal, evaluate, every_draw
from learning_dynamics.pipeline.commands.check import find_damage
from learning_dynamics.pipeline.commands.roles import load_tables
from learning_dynamics.pipeline.store import records
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory, save_arrays, save_trajectory
from learning_dynamics.pipeline.store.pictures import read_png, read_record
from learning_dynamics.pipeline.store.stamps import KEY, digest
from learning_dynamics.pipeline.store.tables import read_stamp, read_table, write_table
from learning_dynamics.tidy import QUANTITY, SEED, VALUE, Column
from learning_dynamics.trajectories import Trajectory
from tests.pipeline.conftest import refusal
from tests.support import ROOT

COLUMNS = (
    Column("seed", "int", "ensemble member", draw=True),
    Column("name", "str", "what it is", draw=True),
    Column("value", "float", "measured"),
    Column("predicted", "float", "theory", nullable=True),
)
RECORD = {"settings": {"gamma": 0.5}, "commit": "abc", "fingerprint": "abc", "name": "x"}  # of how a file was made


def table(**changes):
    """Return a table with the columns of `COLUMNS`, some of them changed."""
    good = {"seed": [0, 1], "name": ["a", "ß"], "value": [0.5, 1.5], "predicted": [np.nan, 1.0]}
    return pd.DataFrame(good | changes)


# -- tables and arrays -------------------------------------------------------------------------------------------------


def test_a_table_is_read_by_plain_pandas(tmp_path):
    write_table(tmp_path / "t.parquet", table(), COLUMNS, RECORD)
    # types of columns may differ: pandas reads them as declared
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), table(), check_dtype=False)


def test_a_table_keeps_its_record_and_knows_its_settings_and_draws(tmp_path):
    write_table(tmp_path / "t.parquet", table(), COLUMNS, RECORD)
    assert read_stamp(tmp_path / "t.parquet") == RECORD
    assert read_table(tmp_path / "t.parquet", "abc").attrs == {"settings": {"gamma": 0.5}, "draw": ("seed", "name")}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(table().drop(columns="seed"), "columns are", id="a column is missing"),
        pytest.param(
            table(value=[0.5, np.nan]),
            "column 'value' has empty or nan values and may not, first at seed 1, name ß; if that is meant, "
            "declare VALUE_IF_ANY",
            id="a number is nan",
        ),
        pytest.param(table(value=[0.5, np.inf]), "column 'value' has infinite values", id="a number is infinite"),
        pytest.param(table(seed=[0.5, 1.5]), "truncated", id="a whole number is none"),
        pytest.param(table(name=[None, "b"]), "column 'name' has empty", id="a name is missing"),
    ],
)
def test_a_table_that_breaks_its_declaration_is_refused_and_not_written(bad, message, tmp_path):
    assert message in refusal(write_table, tmp_path / "t.parquet", bad, COLUMNS, RECORD)
    assert not list(tmp_path.iterdir())


MASKED = np.ma.masked_equal([1.0, 2.0, 99.0], 99.0)  # a file of arrays would lose the mask


def test_masked_entries_of_a_data_set_are_refused(tmp_path):
    message = refusal(save_arrays, tmp_path / "data.npz", {"X": MASKED}, RECORD)
    assert "array `X` has masked entries; leave them out, or fill them" in message
    assert not list(tmp_path.iterdir())


def test_masked_entries_of_a_run_are_refused(tmp_path):
    run = Trajectory(np.arange(2.0), {"x": np.zeros((1, 2))}, {"X": MASKED})
    message = refusal(save_trajectory, tmp_path / "run.npz", run, RECORD)
    assert "array `constants/X` has masked entries; leave them out, or fill them" in message
    assert not list(tmp_path.iterdir())


def test_a_masked_array_without_masked_entries_is_saved(tmp_path):
    save_arrays(tmp_path / "data.npz", {"X": np.ma.array([1.0, 2.0])}, RECORD)
    arrays, _ = load_arrays(tmp_path / "data.npz")
    np.testing.assert_array_equal(arrays["X"], [1.0, 2.0])


@settings(max_examples=25)
@given(
    series=hnp.arrays(np.float64, st.tuples(*[st.integers(1, 4)] * 4), elements=st.floats(allow_nan=False)),
    constant=hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=3)),
    undecided=st.booleans(),
)
def test_a_trajectory_comes_back_as_it_was_saved(tmp_path_factory, series, constant, undecided):
    path = tmp_path_factory.mktemp("trajectory") / "run.npz"
    n_members, n_times = series.shape[:2]
    members = np.arange(n_members) == 0 if undecided else None  # the first alone is undecided, or it is not known
    saved = Trajectory(np.arange(float(n_times)), {"W": series}, {"X": constant}, undecided=members)
    save_trajectory(path, saved, RECORD)
    loaded, record = load_trajectory(path, "abc")
    np.testing.assert_array_equal(loaded.time, saved.time)
    np.testing.assert_array_equal(loaded.series["W"], series)
    np.testing.assert_array_equal(loaded.constants["X"], constant)
    np.testing.assert_array_equal(loaded.undecided, members)
    assert loaded.settings == RECORD["settings"]
    assert record == RECORD


# -- damage ------------------------------------------------------------------------------------------------------------


FLIPPED_BITS = 400  # of a file of each format


def write_sample(path):
    """Write a table, arrays or a figure, by the suffix of the file."""
    draw = np.random.default_rng(2023)
    if path.suffix == ".parquet":
        values = draw.standard_normal(300)
        predicted = np.where(values > 2, np.nan, values)
        many = {"seed": range(300), "name": ["a", "ß"] * 150, "value": values, "predicted": predicted}
        write_table(path, pd.DataFrame(many), COLUMNS, RECORD)
    elif path.suffix == ".npz":
        arrays = {"time": np.arange(9.0), "noise": draw.standard_normal(300), "zero": np.zeros((2, 500))}
        save_arrays(path, arrays, RECORD)
    else:
        figure = plt.figure(figsize=(1, 1))
        figure.gca().plot(draw.standard_normal(20))
        with atomic_write(path) as partial:
            figure.savefig(partial, format="png", metadata={KEY: '{"alt": "a curve"}'})
        plt.close(figure)


def contents(path):
    """Return all that any reader gets of an output, as texts and bytes."""
    if path.suffix == ".parquet":
        read = read_table(path)
        return [read.to_csv(), str(read.dtypes), str(read.attrs), str(read_stamp(path))]
    if path.suffix == ".npz":
        arrays, record = load_arrays(path)
        return [str(record), *((name, array.dtype, array.shape, array.tobytes()) for name, array in arrays.items())]
    with Image.open(io.BytesIO(read_png(path))) as image:
        return [str(read_record(path)), image.size, image.tobytes()]


# the file of the other flipped bits is read as before: no reader looks at dates, statistics and descriptions, of which
# Parquet has the most
@pytest.mark.parametrize(("kind", "least_share_refused"), [("parquet", 0.6), ("npz", 0.85), ("png", 0.95)])
def test_a_file_with_a_flipped_bit_is_refused_or_read_as_before(kind, least_share_refused, tmp_path):
    path, draw = tmp_path / f"file.{kind}", random.Random(2023)
    write_sample(path)
    whole, before = path.read_bytes(), contents(path)
    n_refused = 0
    for _ in range(FLIPPED_BITS):
        bit = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        try:
            assert contents(path) == before, f"bit {bit}"
        except ProjectError:
            n_refused += 1
    assert n_refused > least_share_refused * FLIPPED_BITS


KINDS = ("parquet", "npz", "png")


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_file_has_no_damage(kind, tmp_path):
    path = tmp_path / f"file.{kind}"
    write_sample(path)
    assert find_damage(path) is None


def assert_is_damaged(path):
    damage = find_damage(path)
    assert damage.startswith(f"{path}: damaged, or not written by learning-dynamics (")
    assert "\n" not in damage


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.999])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_short_is_damaged_as_one_line_says(kind, share, tmp_path):
    path = tmp_path / f"file.{kind}"
    write_sample(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    assert_is_damaged(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_format_is_damaged_as_one_line_says(kind, tmp_path):
    path = tmp_path / f"file.{kind}"
    path.write_bytes(b"somebody's work\n" * 99)
    assert_is_damaged(path)


def test_no_pickle_is_read(tmp_path):
    arrays = {KEY: np.array('{"settings": {}}'), "time": np.array([{}], dtype=object)}
    np.savez(tmp_path / "run.npz", **arrays)
    assert "allow_pickle=False" in find_damage(tmp_path / "run.npz")


# -- runs of a sweep as one table --------------------------------------------------------------------------------------


def write_metrics(folder, name, n_seeds=1, **settings):
    """Write the metrics of a run with some settings: a row for each seed, whose value is the number of seeds."""
    metrics = pd.DataFrame({"seed": range(n_seeds), "quantity": "loss", "value": float(n_seeds)})
    record = {"settings": settings, "fingerprint": f"of {name}"}
    write_table(folder / f"{name}.parquet", metrics, (SEED, QUANTITY, VALUE), record)


def test_a_swept_run_is_one_table_with_a_column_for_each_swept_setting(tmp_path):
    for gamma, n_seeds in ((1e-4, 2), (1, 3)):
        for width in (10, 20):
            name = f"scan--gamma-{gamma}--width-{width}"
            write_metrics(tmp_path, name, n_seeds, gamma=gamma, width=width, init="orthogonal")
    sweep = {"gamma": [1e-4, 1], "width": [10, 20]}
    scan = load_tables(tmp_path, {"scan": {"name": "scan", "sweep": sweep}})["scan"]
    assert list(scan.columns) == ["seed", "quantity", "value", "gamma", "width"]
    # by runs: 2 seeds at each width, then 3 seeds at each width
    assert scan["gamma"].tolist() == [1e-4] * 4 + [1.0] * 6
    assert scan["width"].tolist() == [10, 10, 20, 20, 10, 10, 10, 20, 20, 20]
    assert scan["value"].tolist() == [2.0] * 4 + [3.0] * 6
    settings = {"init": "orthogonal", **sweep}
    assert scan.attrs == {"settings": settings, "draw": ("seed",), "run": "scan", "swept": ("gamma", "width")}


def test_a_role_of_a_list_of_runs_has_a_list_of_tables(tmp_path):
    write_metrics(tmp_path, "alone", gamma=2.0)
    (alone,) = load_tables(tmp_path, {"others": [{"name": "alone", "fingerprint": "of alone"}]})["others"]
    assert alone.attrs["settings"] == {"gamma": 2.0}


def test_a_swept_seed_is_refused(tmp_path):
    for seed in (5, 6):
        write_metrics(tmp_path, f"scan--seed-{seed}", n_seeds=2, seed=seed)
    run = {"name": "scan", "sweep": {"seed": [5, 6]}}
    # metrics have a column of that name; claims would take the runs for one draw
    assert "column `seed` that is not the swept setting `seed`" in refusal(load_tables, tmp_path, {"run": run})


# a process of its own prints by how much its peak of memory grows while it loads few rows, and these rows
PRINT_PEAK_AND_ROWS = """
import resource, sys
from pathlib import Path
from learning_dynamics.pipeline.commands.roles import load_table

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MiB

folder, run = Path(sys.argv[1]), {"name": "scan", "sweep": {"gamma": [1, 2, 3]}}
load_table(folder, {"name": "small"}, {"quantity": "loss"})
before = peak()
rows = load_table(folder, run, {"quantity": "gap", "seed": 7.0})
print(peak() - before, rows["gamma"].tolist(), rows["value"].tolist())
"""


def test_few_rows_of_a_large_sweep_take_little_memory(tmp_path):
    n_rows, n_rows_of_gap = 1_500_000, 1000
    for gamma in (1, 2, 3):
        metrics = pd.DataFrame(
            {
                "seed": np.arange(n_rows),
                "quantity": ["gap"] * n_rows_of_gap + ["loss"] * (n_rows - n_rows_of_gap),
                "value": np.arange(n_rows) / gamma,
            }
        )
        record = {"settings": {"gamma": gamma}, "fingerprint": str(gamma)}
        write_table(tmp_path / f"scan--gamma-{gamma}.parquet", metrics, (SEED, QUANTITY, VALUE), record)
    write_metrics(tmp_path, "small")
    command = [sys.executable, "-c", PRINT_PEAK_AND_ROWS, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    growth_of_peak, rows = ended.stdout.split(maxsplit=1)
    assert rows.strip() == f"[1, 2, 3] {[7 / 1, 7 / 2, 7 / 3]}"  # seed / gamma of seed 7
    assert float(growth_of_peak) < 150  # MiB; with all rows, as a data frame, it is 225


@pytest.fixture
def swept(tmp_path):
    """A folder with the metrics of a sweep of two runs, and the sweep as a claim's plan describes it."""
    for gamma in (1, 2):
        write_metrics(tmp_path, f"scan--gamma-{gamma}", gamma=gamma)
    fingerprint = digest(["of scan--gamma-1", "of scan--gamma-2"])
    return tmp_path, {"name": "scan", "sweep": {"gamma": [1, 2]}, "fingerprint": fingerprint}


def test_a_table_of_another_run_is_refused_in_a_sweep_and_alone(swept):
    folder, sweep = swept
    assert load_tables(folder, {"run": sweep})["run"]["gamma"].tolist() == [1, 2]  # a row of each run
    shutil.copy(folder / "scan--gamma-1.parquet", folder / "scan--gamma-2.parquet")
    assert "was made by other settings" in refusal(load_tables, folder, {"run": sweep})
    alone = {"name": "scan--gamma-2", "fingerprint": "of scan--gamma-2"}
    assert "scan--gamma-2.parquet: was made by other settings or other code" in refusal(
        load_tables, folder, {"run": alone}
    )


def test_a_table_that_is_missing_is_refused_with_what_makes_it(swept):
    folder, _ = swept
    message = refusal(load_tables, folder, {"run": {"name": "scan", "sweep": {"gamma": [1, 3]}}})
    assert "scan--gamma-3.parquet: no such file; run snakemake" in message


def test_a_swept_setting_with_the_name_of_another_column_is_refused(tmp_path):
    for value in (1, 2):
        write_metrics(tmp_path, f"scan--value-{value}", n_seeds=2, value=value)
    message = refusal(load_tables, tmp_path, {"run": {"name": "scan", "sweep": {"value": [1, 2]}}})
    assert "column `value` that is not the swept setting `value`; rename it" in message


def test_arrays_of_other_settings_are_refused(tmp_path):
    save_arrays(tmp_path / "x.npz", {"x": np.arange(5.0)}, RECORD)  # its fingerprint is "abc"
    assert "x.npz: was made by other settings or other code" in refusal(load_arrays, tmp_path / "x.npz", "def")


def test_arrays_without_series_are_no_trajectory(tmp_path):
    save_arrays(tmp_path / "x.npz", {"x": np.arange(5.0)}, RECORD)
    assert "no series" in refusal(load_trajectory, tmp_path / "x.npz")


# -- claims ------------------------------------------------------------------------------------------------------------


@claim("Theorem 2", scope="three draws", correction="it is two")
def theorem(measured) -> Claim:
    """It is one: reproduced by a measured size of 1, corrected by 2, contradicted by 3."""
    if measured is None:
        raise Untested("needs a machine")
    yield equal("size", np.float64(measured), 1.0, tolerance=0.1, rivals={"none": 0.0}, corrected=2.0)
    yield every_draw("rank", [1, 2, 3], at_most=3)
    # of types that JSON has not
    yield Facts(size=np.float32(0.5), count=np.int64(3), name="x", nothing=None, path=[1])


def judged(measured):
    """Return the evaluation of `theorem` where a size was measured, or None."""
    return evaluate(theorem, tables={"measured": measured}, settings={})


NONE_AS_PRINTED = {"measured_as_printed": np.nan, "predicted_as_printed": np.nan, "quantity_as_printed": ""}


@pytest.mark.parametrize(
    ("measured", "verdict", "predicted", "as_printed"),
    [
        (1.0, "reproduced", 1.0, NONE_AS_PRINTED),
        # the correction predicts two, the printed statement one
        (
            2.0,
            "corrected",
            2.0,
            {"measured_as_printed": 2.0, "predicted_as_printed": 1.0, "quantity_as_printed": "size"},
        ),
        (3.0, "contradicted", 1.0, NONE_AS_PRINTED),
    ],
)
def test_the_row_of_a_corrected_claim_has_both_numbers(measured, verdict, predicted, as_printed):
    """One of the correction, and one of the printed statement."""
    row = records.claim_row(theorem.claim, judged(measured))
    assert (row["verdict"], row["measured"], row["predicted"]) == (verdict, measured, predicted)
    np.testing.assert_equal({key: row[key] for key in as_printed}, as_printed)  # nan equals nan


def test_a_correction_of_another_quantity_has_a_value_beside_the_printed_one():
    @claim("Lemma 1", scope="a made-up draw", correction="the residual decays")
    def decays() -> Claim:
        """The gradient decays."""
        yield every_draw(
            "decay", [-4004.0], at_least=4.0, rivals={"none": {"values": [0.0]}}, corrected={"values": [4.1]}
        )

    row = records.claim_row(decays.claim, evaluate(decays, tables={}, settings={}))
    assert (row["verdict"], row["measured"], row["measured_as_printed"]) == ("corrected", 4.1, -4004.0)
    printed = records.printed_check(row)
    assert (printed["measured"], printed["criterion"]) == (-4004.0, ">= 4 on every draw")


# what the job adds to the row of a claim
BY_THE_JOB = {
    **{"paper": "p", "claim": "p.t", "statement": "", "expected": ""},
    **{"figure": None, "evidence": "", "agreement": 1.0},
}


def claim_that_comes_back(evaluation, folder):
    """Return the row of `theorem` after it is written and read."""
    columns = [column.name for column in records.COLUMNS]
    rows = pd.DataFrame([records.claim_row(theorem.claim, evaluation) | BY_THE_JOB])[columns]
    write_table(folder / "claims.parquet", rows, records.COLUMNS, {"settings": {}})
    return read_table(folder / "claims.parquet").iloc[0]


@pytest.mark.parametrize(
    ("measured", "verdict", "correction"),
    [
        (1.0, "reproduced", ""),  # a sentence that holds as printed needs no correction
        (2.0, "corrected", "it is two"),
        (3.0, "contradicted", "it is two"),
        (None, "untested", "it is two"),
    ],
)
def test_the_row_of_a_claim_comes_back_with_its_correction_unless_it_is_reproduced(
    measured, verdict, correction, tmp_path
):
    row = claim_that_comes_back(judged(measured), tmp_path)
    assert (row["verdict"], row["scope"], row["correction"]) == (verdict, "three draws", correction)


@pytest.mark.parametrize("measured", [1.0, 2.0, 3.0])
def test_facts_of_a_claim_come_back_as_json(measured, tmp_path):
    row = claim_that_comes_back(judged(measured), tmp_path)
    facts = {"size": 0.5, "count": 3, "name": "x", "nothing": None, "path": "[1]"}
    assert json.loads(row["facts"]).items() >= facts.items()


# `theorem` has two checks; the number of a check counts those of the same statement
OF_PRINTED, OF_CORRECTED = [["printed", 0], ["printed", 1]], [["corrected", 0], ["corrected", 1]]


@pytest.mark.parametrize(
    ("measured", "statements_and_numbers"),
    [
        pytest.param(1.0, OF_PRINTED, id="reproduced"),
        pytest.param(2.0, OF_PRINTED + OF_CORRECTED, id="corrected"),
        pytest.param(3.0, OF_PRINTED + OF_CORRECTED, id="contradicted"),
    ],
)
def test_checks_of_the_printed_and_the_corrected_statement_are_rows(measured, statements_and_numbers, tmp_path):
    rows = records.check_rows(judged(measured))
    checks = pd.DataFrame([{"paper": "p", "claim": "p.t", **row} for row in rows])
    write_table(tmp_path / "checks.parquet", checks, records.CHECK_COLUMNS, {"settings": {}})
    assert read_table(tmp_path / "checks.parquet")[["of", "check"]].to_numpy().tolist() == statements_and_numbers


def test_an_untested_claim_has_no_checks():
    assert records.check_rows(judged(None)) == []
