"""Central-path formulas against solvers that know nothing of them: generalised eigenvalues, integrators, autograd."""

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import flows, identities, limits, tangents, theory
from learning_dynamics.papers.neural_collapse.central_path import models as central_path
from learning_dynamics.papers.neural_collapse.central_path.metrics import free_features as measure_features
from learning_dynamics.papers.neural_collapse.central_path.metrics import renormalised_descent as measure_descent
from learning_dynamics.papers.neural_collapse.central_path.metrics import renormalised_flows as measure_flows
from learning_dynamics.papers.neural_collapse.central_path.runs import (
    free_features,
    renormalised_descent,
    renormalised_flows,
)
from learning_dynamics.tidy import by_draw, select
from tests.papers.neural_collapse import oracles
from tests.support import called

SIZES = pytest.mark.parametrize("size", [(2, 9, 4), (3, 7, 5), (5, 6, 4)])


@SIZES
def test_spectral_losses_are_those_of_a_solved_classifier(size):
    classes = size[0]
    H = oracles.features(*size)
    W, b = oracles.least_squares(H, classes)
    within, _, means = oracles.covariances(H, classes)
    omega = oracles.singular_values(H, classes)
    scores = W @ means + b[:, None]
    expected = {
        theory.spectral_loss: oracles.square_error(W, b, H, classes),
        theory.spectral_variability_loss: 0.5 * np.trace(W @ within @ W.T),
        theory.spectral_geometry_loss: 0.5 * np.sum((scores - np.eye(classes)) ** 2) / classes,
    }
    for formula, value in expected.items():
        assert formula(omega, classes) == pytest.approx(value, rel=1e-9), formula.__name__
        np.testing.assert_allclose(formula(np.stack([omega, omega]), classes), [value, value], rtol=1e-9)
    np.testing.assert_allclose(central_path.snr_singular_values(H, classes), omega, rtol=1e-9)


@SIZES
def test_classifier_and_loss_are_the_solvers(size):
    classes = size[0]
    H = oracles.features(*size, seed=1)
    W, b = oracles.least_squares(H, classes)
    np.testing.assert_allclose(central_path.classifier(H, classes), W, atol=1e-10)
    assert central_path.loss(H, classes) == pytest.approx(oracles.square_error(W, b, H, classes), rel=1e-10)
    np.testing.assert_allclose(central_path.gradient(H, classes), oracles.gradient(H, classes), atol=1e-12)
    W, b = oracles.least_squares(H, classes, decay := 0.2)
    extended = np.column_stack([W, b])
    np.testing.assert_allclose(identities.least_squares(H, classes, decay), extended, atol=1e-10)
    total = oracles.square_error(W, b, H, classes) + 0.5 * decay * (np.sum(W**2) + np.sum(b**2))
    assert central_path.extended_loss(extended, H, decay) == pytest.approx(total, rel=1e-12)


@SIZES
def test_renormalisation_is_the_inverse_root_of_the_covariance(size):
    H = oracles.features(*size, seed=2)
    X = oracles.renormalised(H, size[0])
    np.testing.assert_allclose(central_path.renormalised(H, size[0]), X, atol=1e-10)
    _, _, means = oracles.covariances(X, size[0])
    np.testing.assert_allclose(central_path.signal_to_noise(H, size[0]), means, atol=1e-10)


@pytest.mark.parametrize("name", ["orthogonal", "printed"])
@SIZES
def test_speeds_are_those_of_autograd_gradients_projected_by_least_squares(size, name):
    classes, examples, _ = size
    X = oracles.renormalised(oracles.features(*size, seed=3), classes)
    gradient = oracles.gradient(X, classes)
    if name == "orthogonal":
        move = -oracles.tangent_part(X, gradient, classes)
        speed = theory.snr_velocity
    else:  # the plain gradient: renormalisation afterwards is the printed map
        move, speed = -gradient, theory.algorithm_velocity
    h = 1e-4 / np.abs(move).max()
    ahead, behind = (oracles.singular_values(X + sign * h * move, classes) for sign in (1, -1))
    omega = oracles.singular_values(X, classes)
    np.testing.assert_allclose((ahead - behind) / (2 * h), speed(omega, classes, examples), rtol=1e-5)
    image = flows.velocity(X, classes, flows.TANGENT_MAPS["orthogonal"])
    np.testing.assert_allclose(image, -oracles.tangent_part(X, gradient, classes), atol=1e-12)


@pytest.mark.parametrize(("classes", "examples", "start"), [(3, 8, 0.4), (10, 2, 0.01), (4, 50, 10.0)])
def test_courses_and_asymptotes_against_a_stiff_integrator(classes, examples, start):
    """In log time and log omega: N (C + w^2)^2 w' = w as printed, and C N (C + w^2) w' = w for the algorithm."""
    equations = {
        (theory.snr_closed_form, theory.snr_asymptote): lambda w2: examples * (classes + w2) ** 2,
        (theory.algorithm_closed_form, theory.algorithm_asymptote): lambda w2: classes * examples * (classes + w2),
    }
    times = np.array([1.0, 1e3, 1e9, 1e14])
    for (course, asymptote), factor in equations.items():
        solved = scipy.integrate.solve_ivp(
            lambda s, y, factor=factor: np.exp(s) / factor(np.exp(2 * y)), (np.log(1e-6), np.log(times[-1])),
            [np.log(start)], method="LSODA", t_eval=np.log(times), rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        omega = np.exp(solved.y[0])
        np.testing.assert_allclose(course(start, times, classes, examples), omega, rtol=1e-7)
        np.testing.assert_allclose(course(start, np.zeros(1), classes, examples), start, rtol=1e-11)
        given = (times[-1], examples) if course is theory.snr_closed_form else (times[-1], classes, examples)
        assert asymptote(*given) == pytest.approx(omega[-1], rel=2e-5)


def test_gradient_keeps_its_digits_where_signal_dwarfs_noise():
    classes, examples, size = 4, 8, 6
    X = oracles.renormalised(oracles.features(classes, examples, size), classes)
    means = oracles.covariances(X, classes)[2]
    U, _, Vt = np.linalg.svd(means, full_matrices=False)
    spectrum = np.array([2e4, 1.5e4, 1e4])
    far = X + np.repeat((U[:, :3] * spectrum) @ Vt[:3] - means, examples, axis=1)
    moved = oracles.covariances(central_path.gradient(far, classes), classes)[2]
    expected = -spectrum / (examples * (classes + spectrum**2) ** 2)
    # of this a tenth is wrong if the classifier is computed with the inverse of Sigma_T
    np.testing.assert_allclose(np.diag(U.T @ moved @ Vt.T)[:3], expected, rtol=1e-6)


@pytest.mark.parametrize(("size", "message"), [((3, 2, 6), "singular"), ((6, 9, 3), "rank")])
def test_impossible_sizes_are_refused(size, message):
    with pytest.raises(ValueError, match=message):
        central_path.gaussian_features(np.random.default_rng(0), *size, 0.5)


def test_distances_from_the_limits_of_corollary_2():
    classes, examples, size = 3, 7, 5
    X = oracles.renormalised(oracles.features(classes, examples, size), classes)
    start = oracles.renormalised(oracles.features(classes, examples, size, seed=1), classes)
    means, first = (oracles.covariances(each, classes)[2] for each in (X, start))
    # the orthogonal factor of the polar decomposition, where the first singular values are not zero
    polar = first @ scipy.linalg.pinv(scipy.linalg.sqrtm(first.T @ first).real, rtol=1e-6)
    top = np.linalg.norm(means, 2)
    found = limits.limit_gaps(X, start, classes)
    assert found["snr_limit"] == pytest.approx(np.linalg.norm(means / top - polar), rel=1e-9)
    copies = np.kron(polar, np.ones(examples))
    assert found["features_limit"] == pytest.approx(np.linalg.norm(X / top - copies) / np.sqrt(examples), rel=1e-9)
    # the part of X outside of a span, by least squares on its basis
    U, _, Vt = np.linalg.svd(first)
    basis = np.column_stack([np.outer(U[:, j], Vt[j]).ravel() for j in range(classes - 1)])
    left = np.linalg.lstsq(basis, means.ravel(), rcond=None)[1]
    assert found["vectors"] == pytest.approx(np.sqrt(left.item()) / np.linalg.norm(means), rel=1e-9)


def test_collapse_of_renormalised_features_by_definition():
    classes, examples, size = 3, 7, 5
    H = oracles.renormalised(oracles.features(classes, examples, size, signal=0.4), classes)
    found = limits.collapse_along(H, classes)
    within, between, means = oracles.covariances(H, classes)
    W, _ = oracles.least_squares(H, classes)
    norms = np.linalg.norm(means, axis=0)
    cosines = (means.T @ means / np.outer(norms, norms))[np.triu_indices(classes, 1)]
    nearest = scipy.spatial.distance.cdist(H.T, means.T).argmin(axis=1)
    expected = {
        "trace": np.trace(np.linalg.pinv(between, rcond=1e-10) @ within),
        "nc2_norms": norms.std() / norms.mean(),
        "nc2_angles": np.mean([abs(cosine + 0.5) for cosine in cosines]),
        "nc3": np.linalg.norm(W.T / np.linalg.norm(W) - means / np.linalg.norm(means)) ** 2,
        "nc4": np.mean((W @ H).argmax(axis=0) != nearest),
    }
    assert 0 < expected["nc4"] < 1
    for quantity, value in expected.items():
        assert found[quantity] == pytest.approx(value, rel=1e-9), quantity


def test_tangents_by_finite_differences_of_curves():
    size = (3, 7, 4)
    X = oracles.renormalised(oracles.features(*size), size[0])
    Z = np.random.default_rng(1).standard_normal(X.shape)
    centred = Z - Z.mean(axis=1, keepdims=True)

    def curve(h):
        return oracles.renormalised(X + h * centred, size[0])

    tangent = (curve(1e-5) - curve(-1e-5)) / 2e-5
    np.testing.assert_allclose(flows.printed_map(X, centred, size[0]), tangent, atol=1e-8)
    left = tangents.step_remainders(X, Z, size[0])
    steps = np.array(tangents.STEPS) * np.linalg.norm(X) / np.linalg.norm(centred)
    moved = [np.linalg.norm(curve(h) - X - h * tangent) / np.linalg.norm(h * centred) for h in steps]
    np.testing.assert_allclose(left["printed"], moved, rtol=1e-4)
    assert (left["orthogonal"] > 0.05).all()
    assert (left["minus_sign"] > 0.05).all()
    slopes = tangents.singular_value_slopes(X, Z, size[0])
    rise = (oracles.singular_values(X + 1e-5 * tangent, 3) - oracles.singular_values(X - 1e-5 * tangent, 3)) / 2e-5
    for name in ("slope", "slope--lemma_3"):
        np.testing.assert_allclose(slopes[name], rise, rtol=1e-6)
    image = oracles.tangent_part(X, centred, size[0])
    rise = (oracles.singular_values(X + 1e-5 * image, 3) - oracles.singular_values(X - 1e-5 * image, 3)) / 2e-5
    np.testing.assert_allclose(slopes["slope--without_shrinking"], rise, rtol=1e-6)
    gaps = tangents.manifold_gaps(X, Z, size[0])
    assert gaps["codimension"] == 10
    assert max(gaps["curve_equation"], gaps["curve_velocity"]) < 1e-8
    assert gaps["curve_equation--minus_sign"] > 0.05
    for name, tangent_map in {**flows.TANGENT_MAPS, **tangents.ALTERED_MAPS}.items():
        found = tangents.map_gaps(X, Z, 3, tangent_map)
        basis = np.eye(X.size).reshape(X.size, *X.shape)
        matrix = np.column_stack([tangent_map(X, one, 3).ravel() for one in basis])
        antisymmetric = np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix)
        assert found["asymmetry"] == pytest.approx(antisymmetric, abs=1e-12), name
        twice = np.linalg.norm(matrix @ matrix @ Z.ravel() - matrix @ Z.ravel()) / np.linalg.norm(matrix @ Z.ravel())
        assert found["idempotence"] == pytest.approx(twice, abs=1e-11), name
        assert (found["image"] < 1e-12) == (name in flows.TANGENT_MAPS), name
        assert (found["tangent_moved"] < 1e-12) == (name != "minus_sign"), name
    gradient = oracles.gradient(X, 3)
    normal = np.linalg.norm(gradient - oracles.tangent_part(X, gradient, 3)) / np.linalg.norm(gradient)
    found = tangents.adjoint_gaps(X, 3)
    assert found["gradient_normal"] == pytest.approx(normal, rel=1e-9)
    assert found["adjoint_gradient"] < 1e-12 < 0.01 < found["printed_gradient"]


def test_the_tables_hold_what_their_quantities_are_named_after():
    size = {"sizes": [[3, 6, 4]], "signal": 0.5, "seeds": 2, "seed": 3}
    free = free_features(**size, condition=10.0)
    free.settings = {"sizes": [[3, 6, 4]]}
    table = measure_features(free, decays=[0.0, 0.1])
    for member in range(2):
        H, A = (free.series[f"{name}_C3_N6_P4"][member, 0] for name in "HA")
        mine = table[table["seed"] == member]

        def value(quantity, index=0, mine=mine):
            return select(mine, quantity, index=index)["value"].item()

        weights, b = oracles.least_squares(H, 3)
        assert value("loss") == pytest.approx(oracles.square_error(weights, b, H, 3), rel=1e-9)
        within, between, _ = oracles.covariances(H, 3)
        assert value("loss_nc1") == pytest.approx(0.5 * np.trace(weights @ within @ weights.T), rel=1e-9)
        assert value("loss_nc23") == pytest.approx(value("loss") - value("loss_nc1"), rel=1e-9)
        traces = np.trace(np.linalg.pinv(between, rcond=1e-10) @ within)
        assert value("trace") == pytest.approx(traces, rel=1e-9)
        omega = oracles.singular_values(H, 3)
        np.testing.assert_allclose(select(mine, "omega")["value"], omega, rtol=1e-9)
        assert value("trace_renormalised") == pytest.approx(3 * np.sum(omega**-2.0), rel=1e-9)
        assert theory.trace_bound(omega, 3) == pytest.approx(value("trace_renormalised"), rel=1e-9)
        for flow, speed in {"orthogonal": theory.snr_velocity, "printed": theory.algorithm_velocity}.items():
            np.testing.assert_allclose(select(mine, "speed", flow=flow)["value"], speed(omega, 3, 6), rtol=1e-7)
        for index, decay in enumerate((0.0, 0.1), start=1):
            solved = np.column_stack(oracles.least_squares(H, 3, decay / 2))
            apart = np.linalg.norm(solved - np.column_stack(oracles.least_squares(H, 3, decay)))
            expected = apart / np.linalg.norm(np.column_stack(oracles.least_squares(H, 3, decay)))
            assert value("classifier--half_decay", index) == pytest.approx(expected, rel=1e-8, abs=1e-13)
            assert value("theorem_1", index) < 1e-13
        for index, change in enumerate(A, start=1):
            kept = weights @ change @ H + b[:, None]
            scores = weights @ H + b[:, None]
            expected = np.linalg.norm(kept - scores) / np.linalg.norm(scores)
            assert value("predictions--classifier_kept", index) == pytest.approx(expected, rel=1e-8)


def test_the_tables_of_flows_and_descent_hold_spectra_of_their_states():
    size = {"sizes": [[3, 6, 4]], "signal": 0.5, "seeds": 2, "seed": 3}
    flow = called(renormalised_flows, **size, start=0.1, horizon=100.0, points=3, rtol=1e-9, atol=1e-12)
    flow.settings = {"sizes": [[3, 6, 4]]}
    table = measure_flows(flow)
    X = flow.series["orthogonal_C3_N6_P4"][1, -1]
    omega = oracles.singular_values(X, 3)
    last = table[(table["flow"] == "orthogonal") & (table["time"] == 100.0) & (table["seed"] == 1)]
    np.testing.assert_allclose(select(last, "omega")["value"], omega, rtol=1e-8)
    assert select(last, "excess")["value"].item() == pytest.approx(omega[0] / omega[-1] - 1, rel=1e-8)
    assert select(last, "drift")["value"].item() == pytest.approx(
        np.abs(oracles.covariances(X, 3)[0] - np.eye(4)).max(), abs=1e-12
    )
    weights, b = oracles.least_squares(X, 3)
    assert select(last, "loss")["value"].item() == pytest.approx(oracles.square_error(weights, b, X, 3), rel=1e-8)
    descent = renormalised_descent(**size, horizon=16.0, points=3, steps=[4.0, 2.0])
    descent.settings = {"sizes": [[3, 6, 4]], "steps": [4.0, 2.0]}
    table = measure_descent(descent)
    for step in (4.0, 2.0):
        X = descent.series["descent0_C3_N6_P4"][1, 0]
        for _ in range(int(16 / step)):
            X = oracles.renormalised(X - step * oracles.gradient(X, 3), 3)
        rows = table[(table["step"] == step) & (table["time"] == 16.0) & (table["seed"] == 1)]
        for quantity in ("omega", "omega--one_step"):
            np.testing.assert_allclose(select(rows, quantity)["value"], oracles.singular_values(X, 3), rtol=1e-9)
        assert (by_draw(rows, "vectors") < 1e-12).all()
