"""Tables, arrays, pictures and claims as files: what comes back, and what is refused when written or read."""

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
RECORD = {"settings": {"gamma": 0.5}, "commit": "abc", "fingerprint": "abc", "name": "x"}
FLIPS = 400  # of each format


def table(**changes):
    good = {"seed": [0, 1], "name": ["a", "ß"], "value": [0.5, 1.5], "predicted": [np.nan, 1.0]}
    return pd.DataFrame(good | changes)


# -- tables and arrays -------------------------------------------------------------------------------------------------


def test_a_table_is_read_by_plain_pandas_and_keeps_its_stamp(tmp_path):
    write_table(tmp_path / "t.parquet", table(), COLUMNS, RECORD)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), table(), check_dtype=False)
    assert read_stamp(tmp_path / "t.parquet") == RECORD
    assert read_table(tmp_path / "t.parquet", "abc").attrs == {"settings": {"gamma": 0.5}, "draw": ("seed", "name")}


def test_a_table_that_breaks_its_declaration_is_refused_and_not_written(tmp_path):
    for bad, message in (
        (table().drop(columns="seed"), "columns are"),
        (table(value=[0.5, np.nan]), "column 'value' has empty or nan values"),
        (table(value=[0.5, np.inf]), "column 'value' has infinite values"),
        (table(seed=[0.5, 1.5]), "truncated"),
        (table(name=[None, "b"]), "column 'name' has empty"),
    ):
        assert message in refusal(write_table, tmp_path / "t.parquet", bad, COLUMNS, RECORD), bad
        assert not list(tmp_path.iterdir()), bad


def test_masked_entries_are_refused_since_a_file_would_lose_the_mask(tmp_path):
    hidden = np.ma.masked_equal([1.0, 2.0, 99.0], 99.0)
    message = "array `X` has masked entries; leave them out, or fill them"
    assert message in refusal(save_arrays, tmp_path / "data.npz", {"X": hidden}, RECORD)
    run = Trajectory(np.arange(2.0), {"x": np.zeros((1, 2))}, {"X": hidden})
    assert message.replace("X", "constants/X") in refusal(save_trajectory, tmp_path / "run.npz", run, RECORD)
    assert not list(tmp_path.iterdir())
    save_arrays(tmp_path / "data.npz", {"X": np.ma.array([1.0, 2.0])}, RECORD)
    np.testing.assert_array_equal(load_arrays(tmp_path / "data.npz")[0]["X"], [1.0, 2.0])


@settings(max_examples=25)
@given(
    series=hnp.arrays(np.float64, st.tuples(*[st.integers(1, 4)] * 4), elements=st.floats(allow_nan=False)),
    constant=hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=3)),
    undecided=st.booleans(),
)
def test_a_trajectory_comes_back_as_it_was_saved(tmp_path_factory, series, constant, undecided):
    path = tmp_path_factory.mktemp("trajectory") / "run.npz"
    members = np.arange(len(series)) == 0 if undecided else None
    saved = Trajectory(np.arange(float(series.shape[1])), {"W": series}, {"X": constant}, undecided=members)
    save_trajectory(path, saved, RECORD)
    loaded, record = load_trajectory(path, "abc")
    np.testing.assert_array_equal(loaded.time, saved.time)
    np.testing.assert_array_equal(loaded.series["W"], series)
    np.testing.assert_array_equal(loaded.constants["X"], constant)
    np.testing.assert_array_equal(loaded.undecided, members)
    assert loaded.settings == RECORD["settings"]
    assert record == RECORD


# -- damage ------------------------------------------------------------------------------------------------------------


def write(path):
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


# the rest lies where no reader looks: dates, statistics, descriptions
@pytest.mark.parametrize(("kind", "refused"), [("parquet", 0.6), ("npz", 0.85), ("png", 0.95)])
def test_no_flipped_bit_changes_what_a_reader_gets(kind, refused, tmp_path):
    path, draw = tmp_path / f"file.{kind}", random.Random(2023)
    write(path)
    whole, right = path.read_bytes(), contents(path)
    noticed = 0
    unnoticed = []
    for _ in range(FLIPS):
        bit = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        try:
            unnoticed += [bit] if contents(path) != right else []
        except ProjectError:
            noticed += 1
    assert unnoticed == []
    assert noticed > refused * FLIPS


def test_a_file_that_is_cut_short_or_foreign_is_one_line(tmp_path):
    for kind in ("parquet", "npz", "png"):
        path = tmp_path / f"file.{kind}"
        write(path)
        assert find_damage(path) is None, kind
        whole = path.read_bytes()
        cut = [whole[: int(share * len(whole))] for share in (0.0, 0.02, 0.5, 0.999)]
        for content in (*cut, b"somebody's work\n" * 99):
            path.write_bytes(content)
            assert find_damage(path).startswith(f"{path}: damaged, or not written by learning-dynamics ("), (
                kind,
                len(content),
            )
            assert "\n" not in find_damage(path), (kind, len(content))


def test_no_pickle_is_read(tmp_path):
    arrays = {KEY: np.array('{"settings": {}}'), "time": np.array([{}], dtype=object)}
    np.savez(tmp_path / "run.npz", **arrays)
    assert "allow_pickle=False" in find_damage(tmp_path / "run.npz")


# -- runs of a sweep as one table --------------------------------------------------------------------------------------


def write_metrics(folder, name, rows=1, **settings):
    made = pd.DataFrame({"seed": range(rows), "quantity": ["loss"] * rows, "value": [float(rows)] * rows})
    record = {"settings": settings, "fingerprint": f"of {name}"}
    write_table(folder / f"{name}.parquet", made, (SEED, QUANTITY, VALUE), record)


def test_a_swept_run_is_one_table(tmp_path):
    for rows, gamma in ((2, 1e-4), (3, 1)):
        for width in (10, 20):
            name = f"scan--gamma-{gamma}--width-{width}"
            write_metrics(tmp_path, name, rows, gamma=gamma, width=width, init="orthogonal")
    write_metrics(tmp_path, "alone", gamma=2.0)
    sweep = {"gamma": [1e-4, 1], "width": [10, 20]}
    roles = {"scan": {"name": "scan", "sweep": sweep}, "others": [{"name": "alone", "fingerprint": "of alone"}]}
    tables = load_tables(tmp_path, roles)
    scan = tables["scan"]
    assert list(scan.columns) == ["seed", "quantity", "value", "gamma", "width"]
    assert scan["gamma"].tolist() == [1e-4] * 4 + [1.0] * 6
    assert scan["width"].tolist() == [10, 10, 20, 20, 10, 10, 10, 20, 20, 20]
    assert scan["value"].tolist() == [2.0] * 4 + [3.0] * 6
    assert scan.attrs == {"settings": {"init": "orthogonal", **sweep}, "draw": ("seed",), "run": "scan"}
    assert tables["others"][0].attrs["settings"] == {"gamma": 2.0}


def test_a_swept_seed_is_refused(tmp_path):
    for seed in (5, 6):
        write_metrics(tmp_path, f"scan--seed-{seed}", 2, seed=seed)
    run = {"name": "scan", "sweep": {"seed": [5, 6]}}
    # claims would take all runs for one draw
    assert "column `seed` that is not the swept setting `seed`" in refusal(load_tables, tmp_path, {"run": run})


FEW_ROWS = """
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
    rows = 1_500_000
    for gamma in (1, 2, 3):
        made = pd.DataFrame(
            {
                "seed": np.arange(rows),
                "quantity": ["gap"] * 1000 + ["loss"] * (rows - 1000),
                "value": np.arange(rows) / gamma,
            }
        )
        record = {"settings": {"gamma": gamma}, "fingerprint": str(gamma)}
        write_table(tmp_path / f"scan--gamma-{gamma}.parquet", made, (SEED, QUANTITY, VALUE), record)
    write_metrics(tmp_path, "small")
    command = [sys.executable, "-c", FEW_ROWS, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    peak, answer = ended.stdout.split(maxsplit=1)
    assert answer.strip() == f"[1, 2, 3] {[7.0, 3.5, 7 / 3]}"
    assert float(peak) < 150  # MiB; all rows as a data frame take 390


def test_an_input_that_is_not_what_it_should_be_is_refused(tmp_path):
    for gamma in (1, 2):
        write_metrics(tmp_path, f"scan--gamma-{gamma}", gamma=gamma)
        write_metrics(tmp_path, f"scan--value-{gamma}", 2, value=gamma)
    save_arrays(tmp_path / "x.npz", {"x": np.arange(5.0)}, RECORD)
    of = digest(["of scan--gamma-1", "of scan--gamma-2"])
    sweep = {"name": "scan", "sweep": {"gamma": [1, 2]}, "fingerprint": of}
    assert len(load_tables(tmp_path, {"run": sweep})["run"]) == 2
    shutil.copy(tmp_path / "scan--gamma-1.parquet", tmp_path / "scan--gamma-2.parquet")
    alone = {"name": "scan--gamma-2", "fingerprint": "of scan--gamma-2"}
    missing = {"name": "scan", "sweep": {"gamma": [1, 3]}}
    hidden = {"name": "scan", "sweep": {"value": [1, 2]}}
    for action, arguments, words in (
        (load_tables, (tmp_path, {"run": sweep}), "was made by other settings"),
        (load_tables, (tmp_path, {"run": alone}), "scan--gamma-2.parquet: was made by other settings or other code"),
        (load_tables, (tmp_path, {"run": missing}), "scan--gamma-3.parquet: no such file; run snakemake"),
        (load_tables, (tmp_path, {"run": hidden}), "column `value` that is not the swept setting `value`; rename it"),
        (load_arrays, (tmp_path / "x.npz", "def"), "x.npz: was made by other settings or other code"),
        (load_trajectory, (tmp_path / "x.npz",), "no series"),
    ):
        assert words in refusal(action, *arguments), action


# -- claims ------------------------------------------------------------------------------------------------------------


@claim("Theorem 2", scope="three draws", correction="it is two")
def theorem(measured) -> Claim:
    """It is one."""
    if measured is None:
        raise Untested("needs a machine")
    yield equal("size", np.float64(measured), 1.0, tolerance=0.1, rivals={"none": 0.0}, corrected=2.0)
    yield every_draw("rank", [1, 2, 3], at_most=3)
    yield Facts(size=np.float32(0.5), count=np.int64(3), name="x", nothing=None, path=[1])


REST = {"paper": "p", "claim": "p.t", "statement": "", "expected": "", "figure": None, "evidence": "", "agreement": 1.0}


@pytest.mark.parametrize(
    ("measured", "verdict", "shown", "printed"),
    [
        (1.0, "reproduced", (1.0, 1.0), (np.nan, np.nan, "")),
        (2.0, "corrected", (2.0, 2.0), (2.0, 1.0, "size")),
        (3.0, "contradicted", (3.0, 1.0), (np.nan, np.nan, "")),
    ],
)
def test_a_row_has_the_number_of_what_holds_and_beside_it_that_of_what_is_printed(measured, verdict, shown, printed):
    row = records.claim_row(theorem.claim, evaluate(theorem, {"measured": measured}, {}))
    assert row["verdict"] == verdict
    assert (row["measured"], row["predicted"]) == shown
    found = tuple(row[f"{name}_as_printed"] for name in ("measured", "predicted", "quantity"))
    np.testing.assert_equal(found, printed)


def test_of_a_correction_by_other_values_both_numbers_are_kept():
    @claim("Lemma 1", scope="a made-up draw", correction="the residual decays")
    def decays() -> Claim:
        """The gradient decays."""
        yield every_draw(
            "decay", [-4004.0], at_least=4.0, rivals={"none": {"values": [0.0]}}, corrected={"values": [4.1]}
        )

    row = records.claim_row(decays.claim, evaluate(decays, {}, {}))
    assert (row["verdict"], row["measured"], row["measured_as_printed"]) == ("corrected", 4.1, -4004.0)
    printed = records.printed_check(row)
    assert (printed["measured"], printed["criterion"]) == (-4004.0, ">= 4 on every draw")


def test_an_evaluation_is_a_row_of_claims_and_rows_of_its_checks(tmp_path):
    columns = [column.name for column in records.COLUMNS]
    found = {}
    # a sentence that holds as it stands needs no correction
    for measured, correction in ((1.0, ""), (2.0, "it is two"), (3.0, "it is two"), (None, "it is two")):
        one = evaluate(theorem, {"measured": measured}, {})
        rows = pd.DataFrame([records.claim_row(theorem.claim, one) | REST])[columns]
        write_table(tmp_path / "claims.parquet", rows, records.COLUMNS, {"settings": {}})
        back = read_table(tmp_path / "claims.parquet").iloc[0]
        assert (back["scope"], back["correction"]) == ("three draws", correction), measured
        checks = pd.DataFrame([{"paper": "p", "claim": "p.t", **check} for check in records.check_rows(one)])
        if len(checks):
            write_table(tmp_path / "checks.parquet", checks, records.CHECK_COLUMNS, {"settings": {}})
            facts = {"size": 0.5, "count": 3, "name": "x", "nothing": None, "path": "[1]"}
            assert json.loads(back["facts"]).items() >= facts.items(), measured
        found[back["verdict"]] = list(zip(checks.get("of", []), checks.get("check", []), strict=True))
    printed, corrected = ([(of, number) for number in (0, 1)] for of in ("printed", "corrected"))
    both = printed + corrected
    assert found == {"reproduced": printed, "corrected": both, "contradicted": both, "untested": []}
