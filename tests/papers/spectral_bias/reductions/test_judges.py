"""What the claims on the smaller systems accept and refuse: each bound met just inside, and missed by little.

The network's layers are W1 = Z1 P and W2 = P^T Z2, its predictor is beta = W1 W2, and alpha = Z1^{-T} Z2. Draws 0 and 1
are of the scale gamma = 1, draws 2 and 3 of 1e-2. `put` alters one draw, `everywhere` all; see `doctored`, which also
lists the verdicts.
"""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on, with_steps

# claims allow an error of steps times rtol, 1e-9, some of them times the condition number of Z1, or its square
STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10 = [with_steps(steps=1000, rtol=1e-12), everywhere("condition_of_Z1", 10.0)]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance_from_pair", 0.9e-9)], "reproduced"),
        ([put("distance_from_pair", 1.1e-9)], "contradicted"),
        ([put("part_outside_P", 0.9e-9)], "reproduced"),
        ([put("part_outside_P", 1.1e-9)], "contradicted"),
        # the pair from Z1(0) = I, which the proof's last line has, would fit as well
        ([everywhere("distance_from_unit_pair", 0.0)], "undecided"),
    ],
)
def test_lemma_3_1_asks_that_the_network_is_the_pair_in_the_span_of_p(alterations, verdict):
    """(W1, W2) = (Z1 P, P^T Z2), where the pair (Z1, Z2) is integrated by itself."""
    assert verdict_on("lemma_3_1", *STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, for beta times the squared condition number, 100
        ([put("distance_of_beta", 0.9e-7)], "corrected"),
        ([put("distance_of_beta", 1.1e-7)], "contradicted"),
        # for alpha times the condition number, 10
        ([put("distance_of_alpha", 0.9e-8)], "corrected"),
        ([put("distance_of_alpha", 1.1e-8)], "contradicted"),
        # beta without the factor 2 gamma would fit as well
        ([everywhere("distance_of_beta_without_2_gamma", 0.0)], "undecided"),
        # the speed of beta, as printed, fits
        ([everywhere("distance_of_beta_speed", 0.0)], "reproduced"),
    ],
)
def test_lemma_3_3_asks_that_alpha_solves_its_riccati_equation_and_gives_beta(alterations, verdict):
    """d alpha/dt = R - alpha R^T alpha, with R = X^T (Y - X beta), is integrated by itself.

    Corrected: beta itself, not its speed, is 2 gamma (I - alpha alpha^T)^{-1} alpha.
    """
    assert verdict_on("lemma_3_3", *STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9 of a force of one
        ([put("mirror_speed", 1 + 0.9e-9)], "corrected"),
        ([put("mirror_speed", 1 + 1.1e-9)], "contradicted"),
        # at the scale gamma = 1e-2 it is 1 / (2 gamma) times as much: fifty times
        ([put("mirror_speed", 1 + 49e-9, draw=2)], "corrected"),
        ([put("mirror_speed", 1 - 51e-9, draw=2)], "contradicted"),
        ([everywhere("mirror_speed", 0.5)], "contradicted"),  # of a potential half as large
        ([everywhere("printed_mirror_speed", 1.0)], "reproduced"),  # the potential as printed fits
    ],
)
def test_theorem_3_2_a_asks_that_mirror_coordinates_move_as_their_forces_say(alterations, verdict):
    """Corrected: the potential with both terms halved. Its speeds, and the forces, are set to one."""
    speeds, forces = everywhere("mirror_speed", 1.0), everywhere("mirror_speed", 1.0, column="predicted")
    steps_and_condition = STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10
    assert verdict_on("theorem_3_2_a", *steps_and_condition, speeds, forces, *alterations) == verdict


EQUAL_AT_EVERY_SCALE = [everywhere("beta", 1.0), everywhere("beta", 1.0, column="predicted")]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, times the condition number, 10
        ([put("beta", factor=1 + 0.9e-8)], "reproduced"),
        ([put("beta", factor=1 + 1.1e-8)], "contradicted"),
        ([put("beta", factor=1 + 1.1e-8, draw=3)], "contradicted"),  # at the smaller scale
        # the mirror flow of another scale would fit as well
        (EQUAL_AT_EVERY_SCALE, "undecided"),
        # 2e-6 is allowed: a predictor shrunk by a millionth would fit as well
        ([everywhere("condition_of_Z1", 2e3)], "undecided"),
    ],
)
def test_theorem_3_2_b_asks_that_the_predictor_is_that_of_the_mirror_flow(alterations, verdict):
    """Beta is integrated once with the network and once by itself; errors are relative to its largest entry."""
    assert verdict_on("theorem_3_2_b", *STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # by the proof half the bound, which is `predicted`, is a bound too
        ([put("loss", 0.49), put("loss", 1.0, column="predicted")], "reproduced"),
        ([put("loss", 0.51), put("loss", 1.0, column="predicted")], "contradicted"),
        # a bound ten times as sharp would hold as well
        ([everywhere("loss", 1e-9)], "undecided"),
    ],
)
def test_lemma_c_8_asks_that_the_loss_is_at_most_half_its_bound(alterations, verdict):
    """The bound is D_psi(beta_*, 0) / (sqrt(2 gamma) t)."""
    assert verdict_on("lemma_c_8", *STEPS_BY_RTOL_IS_1E_9_AND_CONDITION_10, *alterations) == verdict
