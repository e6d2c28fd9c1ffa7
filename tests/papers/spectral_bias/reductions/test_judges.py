"""What the claims on the smaller systems accept and refuse: each bound met just inside, and missed by little."""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on, with_steps

# a thousand steps at 1e-12 each, and a condition number of ten
EXACT = [with_steps(1000, 1e-12), everywhere("condition_of_Z1", 10.0)]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance_from_pair", 0.9e-9)], "reproduced"),
        ([put("distance_from_pair", 1.1e-9)], "contradicted"),
        ([put("part_outside_P", 0.9e-9)], "reproduced"),
        ([put("part_outside_P", 1.1e-9)], "contradicted"),
        ([everywhere("distance_from_unit_pair", 0.0)], "undecided"),
    ],
)
def test_lemma_3_1(alterations, verdict):
    assert verdict_on("lemma_3_1", *EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance_of_beta", 0.9e-7)], "corrected"),
        ([put("distance_of_beta", 1.1e-7)], "contradicted"),
        ([put("distance_of_alpha", 0.9e-8)], "corrected"),
        ([put("distance_of_alpha", 1.1e-8)], "contradicted"),
        ([everywhere("distance_of_beta_without_2_gamma", 0.0)], "undecided"),
        ([everywhere("distance_of_beta_speed", 0.0)], "reproduced"),
    ],
)
def test_lemma_3_3(alterations, verdict):
    assert verdict_on("lemma_3_3", *EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # draw 0 is of the scale one, where the curvature multiplies nothing
        ([put("mirror_speed", 1 + 0.9e-9)], "corrected"),
        ([put("mirror_speed", 1 + 1.1e-9)], "contradicted"),
        # draw 2 is of the scale 1e-2: fifty times as much
        ([put("mirror_speed", 1 + 49e-9, draw=2)], "corrected"),
        ([put("mirror_speed", 1 - 51e-9, draw=2)], "contradicted"),
        ([everywhere("mirror_speed", 0.5)], "contradicted"),
        ([everywhere("printed_mirror_speed", 1.0)], "reproduced"),
    ],
)
def test_theorem_3_2_a(alterations, verdict):
    ones = [everywhere("mirror_speed", 1.0, column=column) for column in ("value", "predicted")]
    assert verdict_on("theorem_3_2_a", *EXACT, *ones, *alterations) == verdict


ONES = [everywhere("beta", 1.0), everywhere("beta", 1.0, column="predicted")]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("beta", times=1 + 0.9e-8)], "reproduced"),
        ([put("beta", times=1 + 3e-8)], "contradicted"),
        ([put("beta", times=1 + 1e-6, draw=3)], "contradicted"),
        (ONES, "undecided"),  # the mirror flow of another scale would do
        ([everywhere("condition_of_Z1", 2e3)], "undecided"),  # a predictor shrunk by a millionth would do
    ],
)
def test_theorem_3_2_b(alterations, verdict):
    assert verdict_on("theorem_3_2_b", *EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("loss", 0.49), put("loss", 1.0, column="predicted")], "reproduced"),
        ([put("loss", 0.51), put("loss", 1.0, column="predicted")], "contradicted"),
        ([everywhere("loss", 1e-9)], "undecided"),  # a bound ten times as sharp would do
    ],
)
def test_lemma_c_8(alterations, verdict):
    assert verdict_on("lemma_c_8", *EXACT, *alterations) == verdict
