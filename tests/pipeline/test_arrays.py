"""Data sets and trajectories as files."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.arrays import (
    load_arrays,
    load_trajectory,
    read_record,
    save_arrays,
    save_trajectory,
)
from learning_dynamics.trajectories import Trajectory

RECORD = {"settings": {"kind": "flow", "gamma": 0.5}, "fingerprint": "abc"}


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
    assert record == RECORD == read_record(path)


def test_the_same_arrays_give_the_same_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        save_arrays(tmp_path / name, {"x": np.arange(5.0)}, RECORD)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_what_is_worth_it_is_compressed(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, 100_000, dtype=np.uint8)
    grams = {"symmetric": np.ones((500, 5, 5)), "empty": np.empty(0), "name": np.array(""), "strided": noise[::2]}
    save_arrays(tmp_path / "x.npz", {"noise": noise, **grams}, RECORD)
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
    assert entries["noise"].compress_type == zipfile.ZIP_STORED
    assert entries["symmetric"].compress_size < 0.1 * grams["symmetric"].nbytes
    loaded, _ = load_arrays(tmp_path / "x.npz")
    for name, array in {"noise": noise, **grams}.items():
        np.testing.assert_array_equal(loaded[name], array)


def test_an_input_of_another_fingerprint_is_refused(tmp_path):
    save_arrays(tmp_path / "x.npz", {"x": np.arange(5.0)}, RECORD)
    with pytest.raises(ProjectError, match=r"x\.npz: was made by other settings or other code"):
        load_arrays(tmp_path / "x.npz", "def")


def test_data_are_not_a_trajectory(tmp_path):
    save_arrays(tmp_path / "data.npz", {"x": np.arange(3.0)}, RECORD)
    with pytest.raises(ProjectError, match="no series"):
        load_trajectory(tmp_path / "data.npz")
