"""Every output carries a digest of its bytes: whatever changes in the file, a reader gets what was written or none."""

import json
import random

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import ExifTags, Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.arrays import load_arrays, save_arrays
from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.provenance import KEY
from learning_dynamics.pipeline.store.seals import FRAMES, sealing, verified
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table
from learning_dynamics.tidy import Column

RECORD = {"settings": {"gamma": 0.5}, "fingerprint": "abc", "name": "x"}
COLUMNS = (Column("seed", "int", "member"), Column("name", "str", "which"), Column("value", "float", "v", True))
FLIPS = 1000
SEED = 2023


def write_parquet(path):
    values = np.random.default_rng(SEED).standard_normal(300)
    values[7] = np.nan
    table = pd.DataFrame({"seed": range(300), "name": ["a", "ß"] * 150, "value": values})
    write_table(path, table, COLUMNS, RECORD)


def write_npz(path):
    draw = np.random.default_rng(SEED)
    save_arrays(path, {"time": np.arange(9.0), "noise": draw.standard_normal(300), "zero": np.zeros((2, 50))}, RECORD)


def write_png(path):
    figure = plt.figure(figsize=(1, 1))
    said = {KEY: "{}"} if path.suffix == ".png" else {"Subject": KEY}
    with sealing(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], metadata=said)
    plt.close(figure)


def write_webp(path):
    exif = Image.Exif()
    exif[ExifTags.Base.ImageDescription] = f'{{"{KEY}": {{"alt": "a curve"}}}}'
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    with sealing(path) as partial:
        frames[0].save(partial, "WEBP", save_all=True, append_images=frames[1:], exif=exif)


def write_text(path):
    with sealing(path) as partial:
        partial.write_text("What was found.\n" * 20, encoding="utf-8")


def write_json(path):
    with sealing(path) as partial:
        partial.write_text('[{"alt": "a curve"},\n{"mark": "line"},\n', encoding="utf-8")


WRITERS = {
    ".parquet": write_parquet,
    ".npz": write_npz,
    ".png": write_png,
    ".pdf": write_png,
    ".webp": write_webp,
    ".json": write_json,
}
READERS = {
    ".parquet": [lambda path: read_table(path).assign(made=str(read_provenance(path))), read_provenance],
    ".npz": [load_arrays],
    ".png": [read_record, verified],
    ".webp": [read_record, verified],
    ".json": [read_record, verified],
}


def written(folder, kind):
    path = folder / f"x{kind}"
    WRITERS.get(kind, write_text)(path)
    return path


def same(one, other):
    if isinstance(one, pd.DataFrame):
        return one.equals(other) and list(one) == list(other)
    if isinstance(one, tuple):
        (arrays, record), (others, another) = one, other
        alike = arrays.keys() == others.keys() and all(np.array_equal(arrays[key], others[key]) for key in arrays)
        return alike and record == another
    return one == other


def test_no_flipped_bit_changes_what_a_reader_gets(tmp_path):
    draw = random.Random(SEED)
    kinds = sorted(FRAMES)
    whole = {kind: written(tmp_path, kind).read_bytes() for kind in kinds}
    right = {kind: [read(tmp_path / f"x{kind}") for read in READERS.get(kind, [verified])] for kind in kinds}
    refused = 0
    for number in range(FLIPS):
        kind = kinds[number % len(kinds)]
        bit = draw.randrange(8 * len(whole[kind]))
        spoilt = bytearray(whole[kind])
        spoilt[bit // 8] ^= 1 << bit % 8
        path = tmp_path / f"x{kind}"
        path.write_bytes(bytes(spoilt))
        for read, expected in zip(READERS.get(kind, [verified]), right[kind], strict=True):
            try:
                assert same(read(path), expected), (kind, bit)
            except ProjectError as error:
                refused += str(path) in str(error) and str(error).endswith("delete it and run snakemake again")
    assert refused == sum(len(READERS.get(kinds[number % len(kinds)], [verified])) for number in range(FLIPS))


@pytest.mark.parametrize("kind", sorted(FRAMES))
def test_what_is_sealed_stays_what_it_is(tmp_path, kind):
    path = written(tmp_path, kind)
    assert b"learning_dynamics blake2b" in verified(path)
    if kind == ".parquet":
        assert len(pd.read_parquet(path)) == 300
    elif kind == ".npz":
        with np.load(path) as archive:
            assert np.array_equal(archive["time"], np.arange(9.0))
    elif kind == ".json":
        assert json.loads(path.read_text(encoding="utf-8"))[0] == {"alt": "a curve"}
    elif kind in (".png", ".webp"):
        with Image.open(path) as image:
            image.load()
            assert getattr(image, "n_frames", 1) == (2 if kind == ".webp" else 1)
    again = written(tmp_path, kind)  # over its own
    assert verified(again)


@pytest.mark.parametrize("kind", sorted(FRAMES))
def test_a_file_that_carries_no_digest_is_neither_read_nor_replaced(tmp_path, kind):
    path = written(tmp_path, kind)
    path.write_bytes(b"somebody's work, of many hours\n" * 10)
    with pytest.raises(ProjectError, match="before outputs carried a digest of their contents; delete it and run"):
        verified(path)
    with pytest.raises(ProjectError, match="was not written by this command; delete it, or name another"):
        written(tmp_path, kind)
    assert path.read_bytes().startswith(b"somebody's work")


def test_an_edit_that_keeps_the_metadata_is_seen(tmp_path):
    import pyarrow.parquet as pq

    path = written(tmp_path, ".parquet")
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    with pytest.raises(ProjectError, match="carried a digest"):
        read_table(path)
    path.unlink()
    path = written(tmp_path, ".npz")
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **arrays)
    with pytest.raises(ProjectError, match="carried a digest"):
        load_arrays(path)


@pytest.mark.parametrize("kind", [".parquet", ".npz", ".png", ".pdf"])
def test_a_pipe_is_not_waited_for(tmp_path, kind):
    import os

    os.mkfifo(tmp_path / f"x{kind}")
    with pytest.raises(ProjectError, match="not a regular file"):
        verified(tmp_path / f"x{kind}")
    with pytest.raises(ProjectError, match="is no file that could be replaced"):
        written(tmp_path, kind)


def test_another_ending_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ProjectError, match=r"x\.docx: must end in one of"), sealing(tmp_path / "x.docx"):
        raise AssertionError
    assert not list(tmp_path.iterdir())
