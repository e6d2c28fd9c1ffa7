"""Files that are not what their name says: one line that names them, never a traceback, never a pickle."""

import io
import json
import os
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, PngImagePlugin

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.roles import load_tables
from learning_dynamics.pipeline.store.arrays import (
    load_arrays,
    load_trajectory,
    read_record,
    save_arrays,
    save_trajectory,
)
from learning_dynamics.pipeline.store.pictures import read_record as read_drawn
from learning_dynamics.pipeline.store.seals import seal, sealing
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table
from learning_dynamics.pipeline.study.stale_outputs import fault
from learning_dynamics.tidy import SEED, VALUE
from learning_dynamics.trajectories import Trajectory

RECORD = {"settings": {"kind": "a.b"}, "fingerprint": "abc"}


def refused(read, path):
    with pytest.raises(ProjectError) as error:
        read(path)
    text = str(error.value)
    assert str(path) in text
    assert "\n" not in text
    assert "run snakemake" in text or "cannot be read" in text
    return text


class Malicious:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


def whole_npz(path):
    save_trajectory(path, Trajectory(np.arange(3.0), {"x": np.zeros((2, 3))}), RECORD)
    return path.read_bytes()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


OURS = np.array(json.dumps(RECORD))
NPZ = {
    "empty": b"",
    "text": b"not an archive\n",
    "zeros": b"\0" * 4096,
    "zip of text": zipped(a="b"),
    "npz of somebody else": npz(x=np.arange(3)),
    "lone array": npy(np.arange(3)),
    "pickle": pickle.dumps(Malicious()),
    "pickled array": npy(np.array([Malicious()], dtype=object), allow_pickle=True),
    "pickle in an archive": npz(learning_dynamics=np.array([Malicious()], dtype=object)),
    "pickle beside our record": npz(learning_dynamics=OURS, time=np.array([Malicious()], dtype=object)),
    "record is no JSON": npz(learning_dynamics=np.array("{")),
    "record is a list": npz(learning_dynamics=np.array("[1]")),
    "record is a number": npz(learning_dynamics=np.array(3)),
    "record is bytes": npz(learning_dynamics=np.frombuffer(b"\xff\xfe", dtype=np.uint8)),
    "encrypted member": zipped(learning_dynamics__npy=b"\x93NUMPY"),
    "bad header": zipped(**{"learning_dynamics.npy": b"\x93NUMPY\x01\x00\x10\x00{'descr': bad  }\n"}),
    "parquet": b"PAR1" + b"\0" * 50 + b"PAR1",
    "no settings": npz(learning_dynamics=np.array("{}"), time=np.arange(3)),
    "settings are text": npz(learning_dynamics=np.array('{"settings": "x"}'), time=np.arange(3)),
    "no time": npz(learning_dynamics=OURS, x=np.arange(3)),
    "no series": npz(learning_dynamics=OURS, time=np.arange(3.0)),
    "series of another length": npz(learning_dynamics=OURS, time=np.arange(3.0), **{"series/x": np.zeros((2, 4))}),
    "time is a number": npz(learning_dynamics=OURS, time=np.array(3.0), **{"series/x": np.zeros((2, 4))}),
    "undecided of another length": npz(
        learning_dynamics=OURS, time=np.arange(4.0), undecided=np.zeros(3, bool), **{"series/x": np.zeros((2, 4))}
    ),
}


def put(path, content, sealed):
    """Write foreign content, with a digest of ours if it can carry one."""
    path.write_bytes(content)
    if sealed:
        with suppress(OSError):
            seal(path, path.suffix)


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", NPZ)
def test_a_foreign_archive_is_one_line(tmp_path, monkeypatch, kind, sealed):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.npz"
    put(path, NPZ[kind], sealed)
    refused(load_trajectory, path)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_archive_is_one_line(tmp_path, share):
    path = tmp_path / "run.npz"
    whole = whole_npz(path)
    path.write_bytes(whole[: int(share * len(whole))])
    for read in (load_trajectory, load_arrays, read_record):
        refused(read, path)


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7])
def test_a_flipped_bit_is_found(tmp_path, place):
    path = tmp_path / "data.npz"
    save_arrays(path, {"x": np.random.default_rng(0).standard_normal(1000)}, RECORD)
    spoilt = bytearray(path.read_bytes())
    spoilt[int(place * len(spoilt))] ^= 1
    path.write_bytes(bytes(spoilt))
    refused(load_arrays, path)


def parquet(table, metadata=None):
    stream = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(arrow.replace_schema_metadata(metadata), stream)
    return stream.getvalue()


TABLE = pd.DataFrame({"seed": [0, 1], "value": [1.0, 2.0]})
PARQUET = {
    "empty": b"",
    "text": b"seed,value\n0,1\n",
    "magic alone": b"PAR1PAR1",
    "zip": zipped(a="b"),
    "parquet of somebody else": parquet(TABLE),
    "record is no JSON": parquet(TABLE, {"learning_dynamics": "{"}),
    "record is a list": parquet(TABLE, {"learning_dynamics": "[1]"}),
    "record is no text": parquet(TABLE, {"learning_dynamics": b"\xff\xfe"}),
    "record without settings": parquet(TABLE, {"learning_dynamics": "{}"}),
    "settings are a list": parquet(TABLE, {"learning_dynamics": '{"settings": [1]}'}),
}


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", PARQUET)
def test_a_foreign_table_is_one_line(tmp_path, kind, sealed):
    path = tmp_path / "t.parquet"
    put(path, PARQUET[kind], sealed)
    refused(read_table, path)
    with pytest.raises(ProjectError):
        load_tables(tmp_path, {"run": {"name": "t", "sweep": {}}})


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_a_truncated_table_is_one_line(tmp_path, share):
    path = tmp_path / "t.parquet"
    write_table(path, TABLE, (SEED, VALUE), RECORD)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    for read in (read_table, read_provenance):
        refused(read, path)


def png(size=(4, 4), **text):
    told = PngImagePlugin.PngInfo()
    for key, value in text.items():
        told.add_text(key, value)
    stream = io.BytesIO()
    Image.new("RGB", size).save(stream, "png", pnginfo=told)
    return stream.getvalue()


PICTURES = {
    "empty": b"",
    "text": b"no picture",
    "picture of somebody else": png(),
    "record is no JSON": png(learning_dynamics="{"),
    "record is a list": png(learning_dynamics="[1]"),
    "jpeg": b"\xff\xd8\xff\xe0" + b"\0" * 30,
}


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("kind", PICTURES)
def test_a_foreign_picture_is_one_line(tmp_path, kind, sealed):
    path = tmp_path / "f.png"
    put(path, PICTURES[kind], sealed)
    refused(read_drawn, path)


@pytest.mark.parametrize("name", ["x.npz", "x.parquet", "x.png", "x.pdf"])
@pytest.mark.parametrize("make", ["nothing", "folder", "link to itself", "link to nowhere"])
def test_what_is_no_file_is_a_fault(tmp_path, name, make):
    path = tmp_path / name
    {
        "nothing": lambda: None,
        "folder": path.mkdir,
        "link to itself": lambda: path.symlink_to(path),
        "link to nowhere": lambda: path.symlink_to(tmp_path / "nowhere"),
    }[make]()
    assert fault(path, "abc").startswith(str(path))


def test_an_output_of_another_fingerprint_is_a_fault(tmp_path):
    path = tmp_path / "x.npz"
    whole_npz(path)
    assert fault(path, "abc") is None
    assert "was made by other settings or other code" in fault(path, "abd")
    with sealing(tmp_path / "x.pdf") as partial:
        partial.write_bytes(b"%PDF abc\n%%EOF\n")
    assert fault(tmp_path / "x.pdf", "abc") is None
    (tmp_path / "x.pdf").write_bytes(b"%PDF abc\n%%EOF\n")
    assert fault(tmp_path / "x.pdf", "abc") is not None
