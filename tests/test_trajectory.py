"""Trajectories and their files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from learning_dynamics.errors import ProjectError
from learning_dynamics.trajectory import (
    Trajectory,
    load_arrays,
    load_trajectory,
    save_arrays,
    save_trajectory,
)

RECORD = {"settings": {"kind": "flow", "gamma": 0.5}}


@settings(max_examples=25)
@given(
    series=hnp.arrays(np.float64, st.tuples(*[st.integers(1, 4)] * 4), elements=st.floats(allow_nan=False)),
    constant=hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=3)),
)
def test_a_trajectory_comes_back_as_it_was_saved(tmp_path_factory, series, constant):
    path = tmp_path_factory.mktemp("trajectory") / "run.npz"
    saved = Trajectory(np.arange(float(series.shape[1])), {"W": series}, {"X": constant})
    save_trajectory(path, saved, RECORD)
    loaded = load_trajectory(path)
    np.testing.assert_array_equal(loaded.time, saved.time)
    np.testing.assert_array_equal(loaded.series["W"], series)
    np.testing.assert_array_equal(loaded.constants["X"], constant)
    assert loaded.settings == RECORD["settings"]
    assert loaded.members == series.shape[0]


def test_a_series_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match=r"series 'W' has shape \(2, 3\); expected \(members, 4"):
        Trajectory(np.arange(4.0), {"W": np.zeros((2, 3))})


def test_the_same_arrays_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save_arrays(tmp_path / name, {"x": np.arange(5.0)}, RECORD)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("kept", [0, 10, 200, 400])
def test_a_truncated_file_is_named_with_the_mend(tmp_path, kept):
    path = tmp_path / "run.npz"
    save_arrays(path, {"x": np.arange(50.0)}, RECORD)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ProjectError, match=r"run\.npz: truncated, or not an \.npz archive; delete it"):
        load_arrays(path)


def test_a_foreign_archive_is_named_with_the_mend(tmp_path):
    np.savez(tmp_path / "foreign.npz", x=np.arange(3))
    with pytest.raises(ProjectError, match=r"foreign\.npz: not written by learning-dynamics"):
        load_arrays(tmp_path / "foreign.npz")


def test_a_lone_array_is_refused(tmp_path):
    np.save(tmp_path / "lone.npy", np.arange(3))
    with pytest.raises(ProjectError, match=r"lone\.npy: "):
        load_arrays(tmp_path / "lone.npy")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ProjectError, match="no such file; run snakemake"):
        load_trajectory(tmp_path / "absent.npz")


def test_data_are_not_a_trajectory(tmp_path):
    save_arrays(tmp_path / "data.npz", {"x": np.arange(3.0)}, RECORD)
    with pytest.raises(ProjectError, match="holds no trajectory"):
        load_trajectory(tmp_path / "data.npz")
