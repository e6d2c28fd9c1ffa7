"""The ReLU student: its compiled descent against the loss it should descend."""

import numpy as np

from learning_dynamics.datasets import relu_teacher
from learning_dynamics.papers.spectral_bias.relu import models as relu_student
from learning_dynamics.papers.spectral_bias.relu import runs


def problem():
    data = relu_teacher.gaussian(samples=10, inputs=5, neurons=2, output_weights="gaussian", seeds=1, seed=0)
    rng = np.random.default_rng(0)
    return data["X"][0], data["y"][0], rng.standard_normal((20, 5)), rng.standard_normal(20), data


def test_the_teacher_fits_its_own_labels():
    X, y, _, _, data = problem()
    assert relu_student.loss(data["teacher_W"][0], data["teacher_a"][0], X, y) < 1e-30


def test_one_step_is_the_losss_gradient():
    X, y, W, a, _ = problem()
    step = 1e-3
    moved_W, moved_a = relu_student.descend(W, a, X, y, step, np.array([0, 1]))
    np.testing.assert_array_equal(moved_W[0], W)
    gradient_W, gradient_a = (moved_W[0] - moved_W[1]) / step, (moved_a[0] - moved_a[1]) / step
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction_W, direction_a = rng.standard_normal(W.shape), rng.standard_normal(a.shape)
        shift = 1e-6
        forward = relu_student.loss(W + shift * direction_W, a + shift * direction_a, X, y)
        backward = relu_student.loss(W - shift * direction_W, a - shift * direction_a, X, y)
        slope = np.sum(gradient_W * direction_W) + np.sum(gradient_a * direction_a)
        # rounding of the loss over twice the shift
        np.testing.assert_allclose((forward - backward) / (2 * shift), slope, rtol=1e-6, atol=1e-7)


def test_records_are_the_steps_asked_for():
    X, y, W, a, _ = problem()
    all_W, _ = relu_student.descend(W, a, X, y, 1e-3, np.arange(8))
    some_W, _ = relu_student.descend(W, a, X, y, 1e-3, np.array([0, 2, 7]))
    np.testing.assert_array_equal(some_W, all_W[[0, 2, 7]])


def test_a_run_leaves_the_loss_and_the_singular_values_of_its_layers():
    data = relu_teacher.gaussian(samples=10, inputs=5, neurons=2, output_weights="gaussian", seeds=2, seed=0)
    settings = {"neurons": 8, "scale": 0.5, "step": 0.01, "start": 0.1, "horizon": 1.0, "decade": 0.0, "points": 5}
    found = runs.relu_descent(data, **settings, seed=0)
    W, a = found.constants["limit_W1"], found.constants["limit_W2"]
    np.testing.assert_allclose(found.series["loss"][:, -1], relu_student.loss(W, a, data["X"], data["y"]), rtol=1e-12)
    np.testing.assert_allclose(found.series["sigma"][:, -1], np.linalg.svd(W, compute_uv=False), rtol=1e-12)


def test_a_descent_that_diverges_is_nan_and_no_error_of_its_own():
    data = relu_teacher.gaussian(samples=10, inputs=5, neurons=2, output_weights="gaussian", seeds=1, seed=0)
    settings = {"neurons": 8, "scale": 10.0, "step": 10.0, "start": 10.0, "horizon": 500.0, "decade": 0.0, "points": 5}
    with np.errstate(all="ignore"):
        found = runs.relu_descent(data, **settings, seed=0)
    assert not np.isfinite(found.series["loss"][:, -1]).any()


def test_a_small_start_is_given_its_logarithm_of_time():
    data = relu_teacher.gaussian(samples=4, inputs=3, neurons=2, output_weights="gaussian", seeds=1, seed=0)
    settings = {"neurons": 4, "step": 0.1, "start": 0.1, "horizon": 5.0, "decade": 2.0, "points": 5, "seed": 0}
    ends = [runs.relu_descent(data, scale=scale, **settings).time[-1] for scale in (10.0, 1.0, 0.1, 1e-4)]
    np.testing.assert_allclose(ends, [5.0, 5.0, 7.0, 13.0])
