"""Gradient flow against the exact results, over shapes, scales and seeds that nobody chose."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.datasets.regression import gaussian
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.flow import claims
from learning_dynamics.papers.spectral_bias.flow.metrics import linear_flow as measure
from learning_dynamics.papers.spectral_bias.flow.runs import linear_flow
from learning_dynamics.papers.spectral_bias.proof import claims as proof
from tests.support import trajectory_of

EXACT = ("lemma_3_2", "theorem_3_1_i", "theorem_3_1_iii", "corollary_3_1", "lemma_c_10", "lemma_c_3")


def flow(*, samples, inputs, outputs, width, gamma, seed, seeds=1, patience=1e4):
    data = gaussian(samples=samples, inputs=inputs, outputs=outputs, seeds=seeds, seed=seed)
    integration = {"horizon": 5.0, "points": 11, "residual": 1e-11, "patience": patience}
    integration |= {"rtol": 1e-12, "atol": 1e-15}
    settings = {"width": width, "gamma": gamma, "integration": integration}
    trajectory = trajectory_of(linear_flow, data, **settings, seed=seed)
    trajectory.settings = {"function": "linear_flow", **settings}
    return trajectory


def table_of(trajectory):
    table = measure(trajectory, settled=1e-8, perturbations=5)
    table.attrs["settings"] = trajectory.settings
    return table


@settings(max_examples=12)
@given(
    samples=st.integers(1, 4),
    spare=st.integers(2, 5),
    outputs=st.integers(1, 8),
    wider=st.integers(0, 20),
    exponent=st.floats(-6, 0.5),
    seed=st.integers(0, 10_000),
)
def test_the_exact_results_hold_whatever_the_shape_and_scale(samples, spare, outputs, wider, exponent, seed):
    inputs = samples + spare
    shape = {"samples": samples, "inputs": inputs, "outputs": outputs}
    table = table_of(flow(**shape, width=inputs + wider, gamma=10.0**exponent, seed=seed))
    found = {
        name: evaluate(getattr(claims if hasattr(claims, name) else proof, name), {"flows": [table]}, {}).judgement
        for name in EXACT
    }
    assert {name: judged.state for name, judged in found.items()} == dict.fromkeys(EXACT, "holds"), found


def test_a_draw_that_does_not_arrive_is_undecided_and_its_siblings_live():
    settings = {"samples": 3, "inputs": 6, "outputs": 2, "width": 8, "gamma": 0.1, "seed": 1, "seeds": 3}
    whole = flow(**settings)
    slowest = int(np.argmax(whole.constants["limit_time"]))
    # between the two slowest: a limit is met at the end of a step, and how long the last steps are is left to rounding
    patience = float(np.sort(whole.constants["limit_time"])[-2:].mean())
    cut = flow(**settings, patience=patience)
    assert list(np.flatnonzero(cut.undecided)) == [slowest]
    found = evaluate(claims.corollary_3_1, {"flows": [table_of(cut)]}, {})
    assert found.verdict == "undecided"
    headline = found.judgement.headline
    assert (headline.draws, headline.draws_for, headline.draws_undecided) == (3, 2, 1)


@settings(max_examples=50)
@given(
    values=st.lists(st.floats(0, 1e3), min_size=1, max_size=5),
    gamma=st.floats(1e-30, 1e3),
    more=st.integers(0, 4),
)
def test_the_two_layers_spectra_differ_by_the_imbalance(values, gamma, more):
    beta = np.sort(np.array(values))[::-1]
    hidden = theory.hidden_singular_values(beta, gamma, len(beta) + more)
    output = theory.output_singular_values(beta, gamma)
    np.testing.assert_allclose(hidden[: len(beta)] * output, beta, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(hidden[: len(beta)] ** 2 - output**2, 2 * gamma, rtol=1e-12, atol=1e-12 * beta[0])
    np.testing.assert_allclose(hidden[len(beta) :], np.sqrt(2 * gamma), rtol=1e-15)
