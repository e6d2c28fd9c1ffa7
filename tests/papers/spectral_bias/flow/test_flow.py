"""Gradient flow against the exact results, over shapes, scales and seeds that hypothesis draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.datasets.regression import gaussian
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.flow import claims as flow_claims
from learning_dynamics.papers.spectral_bias.flow.metrics import linear_flow as measure
from learning_dynamics.papers.spectral_bias.flow.runs import linear_flow
from learning_dynamics.papers.spectral_bias.proof import claims as proof_claims
from tests.support import trajectory_of

# the claims that need no other data than flows from orthogonal rows
EXACT_RESULTS = (
    flow_claims.theorem_3_1_i,  # parameters converge, within a bound by the residual
    flow_claims.theorem_3_1_iii,  # the limit minimises the potential of eq. 3.1
    flow_claims.corollary_3_1,  # spectra of both layers at the limit
    proof_claims.lemma_3_2,  # the imbalance stays 2 gamma I
    proof_claims.lemma_c_3,  # alpha stays in the span of the data
    proof_claims.lemma_c_10,  # spectra of both layers at all times
)


def flow(*, samples, inputs, outputs, width, gamma, seed, seeds=1, patience=1e4):
    """Return the trajectory of the flow from orthogonal rows on Gaussian data of this shape."""
    data = gaussian(samples=samples, inputs=inputs, outputs=outputs, seeds=seeds, seed=seed)
    integration = {
        "horizon": 5.0,
        "points": 11,
        "residual": 1e-11,
        "patience": patience,
        "rtol": 1e-12,
        "atol": 1e-15,
    }
    settings = {"width": width, "gamma": gamma, "integration": integration}
    trajectory = trajectory_of(linear_flow, data, **settings, seed=seed)
    trajectory.settings = {"function": "linear_flow", **settings}
    return trajectory


def table_of(trajectory):
    """Return the table of a trajectory, with the settings that claims read."""
    table = measure(trajectory, settled=1e-8, perturbations=5)  # decay rates are read while the residual is above 1e-8
    table.attrs["settings"] = trajectory.settings
    return table


@settings(max_examples=12)
@given(
    samples=st.integers(1, 4),
    spare_inputs=st.integers(2, 5),
    outputs=st.integers(1, 8),
    spare_width=st.integers(0, 20),
    log10_gamma=st.floats(-6, 0.5),
    seed=st.integers(0, 10_000),
)
def test_the_exact_results_hold_whatever_the_shape_and_scale(
    samples, spare_inputs, outputs, spare_width, log10_gamma, seed
):
    inputs = samples + spare_inputs
    shape = {"samples": samples, "inputs": inputs, "outputs": outputs, "width": inputs + spare_width}
    table = table_of(flow(**shape, gamma=10.0**log10_gamma, seed=seed))
    for result in EXACT_RESULTS:
        judgement = evaluate(result, tables={"flows": [table]}, settings={}).judgement
        assert judgement.state == "holds", f"{result.__name__}: {judgement}"


@pytest.fixture(scope="module")
def one_draw_late():
    """Return the trajectory of three draws, cut before the slowest reaches its limit, and the number of that draw."""
    shape = {"samples": 3, "inputs": 6, "outputs": 2, "width": 8, "gamma": 0.1, "seed": 1, "seeds": 3}
    limit_times = flow(**shape).constants["limit_time"]
    # halfway between the two slowest draws, so that no rounding of a limit's time decides which one is late
    patience = float(np.sort(limit_times)[-2:].mean())
    return flow(**shape, patience=patience), int(np.argmax(limit_times))


def test_only_the_draw_that_does_not_reach_its_limit_in_time_is_undecided(one_draw_late):
    trajectory, slowest = one_draw_late
    assert list(np.flatnonzero(trajectory.undecided)) == [slowest]


def test_a_claim_with_one_late_draw_is_undecided_and_judges_the_others(one_draw_late):
    trajectory, _ = one_draw_late
    evaluation = evaluate(flow_claims.corollary_3_1, tables={"flows": [table_of(trajectory)]}, settings={})
    assert evaluation.verdict == "undecided"
    headline = evaluation.judgement.headline
    assert (headline.draws, headline.draws_for, headline.draws_undecided) == (3, 3 - 1, 1)


@settings(max_examples=50)
@given(
    values=st.lists(st.floats(0, 1e3), min_size=1, max_size=5),
    gamma=st.floats(1e-30, 1e3),
    spare_inputs=st.integers(0, 4),
)
def test_predicted_spectra_multiply_to_betas_and_differ_by_the_imbalance(values, gamma, spare_inputs):
    """For each i s_i(W1) s_i(W2) = s_i(beta) and s_i(W1)^2 - s_i(W2)^2 = 2 gamma (Lemmas C.10 and 3.2)."""
    beta = np.sort(np.array(values))[::-1]
    hidden = theory.hidden_singular_values(beta, gamma, len(beta) + spare_inputs)
    output = theory.output_singular_values(beta, gamma)
    # a few operations round either spectrum, by 1e-16 each
    np.testing.assert_allclose(hidden[: len(beta)] * output, beta, rtol=1e-13, atol=1e-300)
    # both squares round in proportion to beta, and may be much larger than their difference
    np.testing.assert_allclose(hidden[: len(beta)] ** 2 - output**2, 2 * gamma, rtol=1e-12, atol=1e-12 * beta[0])
    np.testing.assert_allclose(hidden[len(beta) :], np.sqrt(2 * gamma), rtol=1e-15)
