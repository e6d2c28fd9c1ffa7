"""Formats carry checksums of what they hold: a flipped bit is refused, or changes nothing that a reader gets."""

import io
import os
import random

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.check import find_damage
from learning_dynamics.pipeline.plan.stale_outputs import fault
from learning_dynamics.pipeline.store.arrays import load_arrays, save_arrays
from learning_dynamics.pipeline.store.pictures import read_png, read_record
from learning_dynamics.pipeline.store.provenance import KEY
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table
from learning_dynamics.tidy import Column

RECORD = {"settings": {"gamma": 0.5}, "fingerprint": "abc", "name": "x"}
COLUMNS = (
    Column("seed", "int", "member", draw=True),
    Column("name", "str", "which"),
    Column("value", "float", "v", nullable=True),
)
FLIPS = 400  # of each format


def write(path):
    draw = np.random.default_rng(2023)
    if path.suffix == ".parquet":
        values = draw.standard_normal(300)
        values[7] = np.nan
        table = pd.DataFrame({"seed": range(300), "name": ["a", "ß"] * 150, "value": values})
        write_table(path, table, COLUMNS, RECORD)
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
        table = read_table(path)
        return [table.to_csv(), str(table.dtypes), str(table.attrs), str(read_provenance(path))]
    if path.suffix == ".npz":
        arrays, record = load_arrays(path)
        return [str(record), *((name, array.dtype, array.shape, array.tobytes()) for name, array in arrays.items())]
    with Image.open(io.BytesIO(read_png(path))) as image:
        return [str(read_record(path)), image.size, image.tobytes()]


def test_no_flipped_bit_changes_what_a_reader_gets(tmp_path):
    for name in ("table.parquet", "arrays.npz", "picture.png"):
        path, draw = tmp_path / name, random.Random(2023)
        write(path)
        whole, right = path.read_bytes(), contents(path)
        refused = 0
        for _ in range(FLIPS):
            bit = draw.randrange(8 * len(whole))
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(bytes(flipped))
            try:
                read = contents(path)
            except ProjectError:
                refused += 1
            else:
                assert read == right, f"bit {bit} is another, and nobody says so"
        # the rest lies where no reader looks: dates, statistics, descriptions
        assert refused > {".parquet": 0.6, ".npz": 0.9, ".png": 0.95}[path.suffix] * FLIPS


def test_a_file_that_is_cut_short_or_foreign_is_one_line(tmp_path):
    for name in ("table.parquet", "arrays.npz", "picture.png"):
        for share in (0.0, 0.02, 0.5, 0.999):
            path = tmp_path / name
            write(path)
            assert find_damage(path) is None
            whole = path.read_bytes()
            for content in (whole[: int(share * len(whole))], b"somebody's work\n" * 99):
                path.write_bytes(content)
                assert find_damage(path).startswith(f"{path}: damaged, or not written by learning-dynamics (")
                assert "\n" not in find_damage(path)


class Malicious:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


def test_no_pickle_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.npz"
    record = np.array('{"settings": {}}')
    np.savez(path, **{KEY: record, "time": np.array([Malicious()], dtype=object)})
    assert "allow_pickle=False" in find_damage(path)
    assert not (tmp_path / "executed").exists()


def test_an_output_says_what_made_it(tmp_path):
    path = tmp_path / "x.npz"
    save_arrays(path, {"time": np.arange(3.0)}, RECORD)
    assert fault(path, "abc") is None
    assert "was made by other settings or other code" in fault(path, "abd")
    (tmp_path / "x.pdf").write_bytes(b"%PDF abc\n%%EOF\n")
    assert fault(tmp_path / "x.pdf", "abc") is None
    assert fault(tmp_path / "y.pdf", "abc") == f"{tmp_path / 'y.pdf'}: no such file; run snakemake to make it"
