"""The compiled integrator: scipy's own steps and states, its error, where it ends, and why it stops."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import CONDITION, FIELD, flow, flows
from learning_dynamics.errors import DivergenceError

TIMES = np.r_[0.0, np.geomspace(0.01, 20.0, 40)]


@compiled(FIELD)
def pendulum(state, data, shape, slope):
    slope[0], slope[1] = state[1], -np.sin(state[0]) - data[0] * state[1]


@compiled(FIELD)
def power(state, data, shape, slope):
    slope[:] = data[0] * state ** shape[0]


@compiled(CONDITION)
def small(state, data, shape):
    return state[0] < 1e-4


def in_python(_time, state):
    return np.array([state[1], -np.sin(state[0]) - 0.1 * state[1]])


def starts(members: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-2.0, 2.0, size=(members, 2))


@pytest.mark.parametrize("end", [0.7, 20.0])
def test_its_steps_are_scipys(end):
    for start in starts(4):
        found = flow(pendulum, [0.1], (), start, np.array([0.0, end]), rtol=1e-9, atol=1e-12, land=True)
        theirs = DOP853(in_python, 0.0, start, end, rtol=1e-9, atol=1e-12)
        steps = 0
        while theirs.status == "running":
            theirs.step()
            steps += 1
        assert found.steps == steps, start
        assert found.evaluations == theirs.nfev, start
        # the same steps up to rounding; another choice of steps would differ by some 1e-9
        np.testing.assert_allclose(found.final_state, theirs.y, atol=1e-13)


def test_a_step_cut_short_to_land_does_not_shorten_the_next():
    start, times = starts(1)[0], np.array([0.0, 10.0, 20.0])
    close = np.array([0.0, 10.0, 10.0 + 1e-6, 20.0])
    steps = [flow(pendulum, [0.1], (), start, at, rtol=1e-9, atol=1e-12, land=True).steps for at in (times, close)]
    # one step more; growing tenfold from 1e-6, the step would need six to be what it was
    assert steps[1] <= steps[0] + 2


def test_the_interpolant_is_scipys():
    start = starts(1)[0]
    found = flow(pendulum, [0.1], (), start, TIMES, rtol=1e-4, atol=1e-4)
    theirs = solve_ivp(in_python, (0, 20), start, "DOP853", TIMES, rtol=1e-4, atol=1e-4).y.T
    # between steps the two are as far from the truth as they are long, and agree to rounding
    np.testing.assert_allclose(found.states, theirs, atol=1e-12)


@pytest.mark.parametrize("land", [True, False])
@pytest.mark.parametrize("rate", [-1.0, 0.0])
def test_times_are_recorded_from_the_first_on(rate, land):
    times = np.array([1.0, 1.0, 1.01, 2.0, 3.0])
    found = flow(power, [rate], (1,), np.array([2.0]), times, rtol=1e-10, atol=1e-13, land=land)
    np.testing.assert_allclose(found.states[:, 0], 2 * np.exp(rate * (times - 1)), rtol=1e-8)
    assert found.final_time == 3.0


def test_it_goes_on_until_the_condition_holds_or_its_patience_ends():
    found = flow(power, [-1.0], (1,), np.ones(1), TIMES[:5], rtol=1e-9, atol=1e-12, until=small)
    assert found.final_state[0] < 1e-4
    assert -np.log(1e-4) <= found.final_time < -np.log(1e-4) + 3
    tired = flow(power, [-1.0], (1,), np.ones(1), TIMES[:5], rtol=1e-9, atol=1e-12, until=small, last_time=7.0)
    assert tired.final_time == 7.0
    assert tired.final_state[0] == pytest.approx(np.exp(-7.0), rel=1e-7)


def test_divergence_says_when_and_what_to_do():
    settings = {"rtol": 1e-9, "atol": 1e-12}
    for rate, degree, steps, why in (
        (1.0, 2, 1000, r"diverged at time 1 .*underflowed"),
        (np.nan, 1, 1000, r"diverged at time 0 .*begin with finite numbers"),
        (-1e4, 1, 5, r"ran out of steps: 5 taken by time .*raise max_steps"),
    ):
        with pytest.raises(DivergenceError, match=why):
            flow(power, [rate], (degree,), np.ones(1), np.array([0.0, 2.0]), max_steps=steps, **settings)


@compiled(FIELD)
def ends_at_zero(state, data, shape, slope):
    slope[:] = -np.exp(0.0 * np.log(state))  # -1; no number below zero


def test_a_step_that_ends_where_the_field_is_no_number_is_taken_back():
    found = flow(ends_at_zero, [], (), np.ones(1), np.zeros(1), rtol=1e-6, atol=1e-9, until=small, last_time=1e3)
    assert 0 <= found.final_state[0] < 1e-4
    assert found.final_time == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("land", [True, False])
def test_a_member_is_as_it_would_be_alone(land):
    frictions, initial = np.linspace(0.0, 2.0, 7), starts(7)
    settings = {"rtol": 1e-8, "atol": 1e-10, "until": small, "last_time": 30.0, "land": land}
    found = flows(pendulum, frictions[:, None], (), initial, TIMES, **settings)
    assert len(set(found.steps)) > 1
    for member in range(7):
        alone = flow(pendulum, frictions[member : member + 1], (), initial[member], TIMES, **settings)
        np.testing.assert_array_equal(found.states[member], alone.states)
        np.testing.assert_array_equal(found.final_states[member], alone.final_state)
        ends = found.final_times[member], found.steps[member], found.evaluations[member]
        assert ends == (alone.final_time, alone.steps, alone.evaluations), member


def test_a_member_that_fails_says_why_and_leaves_the_others_alone():
    found = flows(power, np.array([[1.0], [-1.0]]), (2,), np.ones((2, 1)), np.array([0.0, 2.0]), rtol=1e-9, atol=1e-12)
    assert list(found.failures) == [0]
    assert "diverged at time 1 " in found.failures[0]
    assert np.isnan(found.states[0]).all()
    assert np.isnan(found.final_states[0]).all()
    np.testing.assert_allclose(found.states[1, :, 0], [1.0, 1 / 3], rtol=1e-7)


DOUBLING = """\
from learning_dynamics.dynamics.compilation import compiled
@compiled("float64(float64)")
def twice(value):
    return 2.0 * value
print(twice(21.0), sum(twice.stats.cache_hits.values()))
"""


def doubled(module, **variables):
    """Compile and call a function in a process of its own; return its value, and how often it came from the cache."""
    module.write_text(DOUBLING)
    os.utime(module, (1e9, 1e9))  # of the same version each time
    command = [sys.executable, "-B", str(module)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert not done.stderr
    return done.stdout.split()


def test_where_nothing_can_be_kept_it_compiles_all_the_same(tmp_path):
    """Root may write anywhere: files stand where the folders would be made, beside the source and at home."""
    (tmp_path / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    home = str(tmp_path / "home")
    assert doubled(tmp_path / "doubling.py", HOME=home, XDG_CACHE_HOME=home, NUMBA_CACHE_DIR="") == ["42.0", "0"]


def first_half(content):
    return content[: len(content) // 2]


def zeros(content):
    return bytes(len(content))


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("kept_of", [first_half, zeros])
def test_a_broken_cache_is_replaced(kept_of, ending, tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    assert doubled(tmp_path / "doubling.py", **kept) == ["42.0", "0"]
    assert doubled(tmp_path / "doubling.py", **kept) == ["42.0", "1"]
    files = list((tmp_path / "kept").rglob(f"*{ending}"))
    assert files
    for file in files:
        file.write_bytes(kept_of(file.read_bytes()))
    assert doubled(tmp_path / "doubling.py", **kept) == ["42.0", "0"]
    assert doubled(tmp_path / "doubling.py", **kept) == ["42.0", "1"]


def test_what_is_wrong_with_a_function_is_raised():
    with pytest.raises(numba.TypingError, match="unknown_name"):

        @compiled(FIELD)
        def field(state, data, shape, slope):
            slope[:] = unknown_name  # noqa: F821


def test_tolerances_that_no_step_can_meet_are_a_divergence():
    # 1e-300 at a coordinate that starts at zero: its slope in units of the tolerance has no finite square
    with pytest.raises(DivergenceError, match=r"diverged at time 0 .*raise atol"):
        flow(pendulum, [0.1], (), np.array([1.0, 0.0]), TIMES, rtol=1e-16, atol=1e-300)
    coarse, fine = (flow(pendulum, [0.1], (), np.array([1.0, 0.0]), TIMES, rtol=1e-9, atol=a) for a in (1e-12, 1e-60))
    np.testing.assert_allclose(fine.states, coarse.states, atol=1e-6)
