"""What the claim on discrete descent accepts and refuses: each bound met just inside, and missed by little."""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on

EPS = 2.220446049250313e-16
ALL = {"draw": None}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([], "corrected"),
        ([put("output_step", 90 * EPS, role="whitened")], "corrected"),
        ([put("output_step", 110 * EPS, role="whitened")], "contradicted"),
        ([put("output_step", 110 * EPS, role="others")], "contradicted"),
        ([put("gradient_step", 90 * EPS, role="others")], "corrected"),
        ([put("gradient_step", 110 * EPS, role="others")], "contradicted"),
        # four hundred steps round
        ([put("output_turning", 39_000 * EPS, role="whitened")], "corrected"),
        ([put("output_turning", 41_000 * EPS, role="whitened")], "contradicted"),
        ([put("layer_turning", 41_000 * EPS, role="whitened")], "contradicted"),
        ([put("gradient_turning", 1.4e-7, role="whitened")], "corrected"),
        ([put("gradient_turning", 1.6e-7, role="whitened")], "contradicted"),
        # a step back: a shrinks, or R grows
        ([put("output_norm", 1.0, role="whitened", time=200.0), put("output_norm", 0.9, role="whitened", time=201.0)],
         "contradicted"),
        ([put("gradient_norm", 0.9, role="whitened", time=200.0)], "contradicted"),
        ([put("sigma_w1", 0.94**0.5, role="whitened", time=400.0),
          put("sigma_w1", 1.0, role="whitened", time=400.0, index=1)], "contradicted"),
    ],
)  # fmt: skip
def test_each_bound(alterations, verdict):
    assert verdict_on("discrete_descent", *alterations) == verdict


def test_a_share_of_the_spectrum():
    others = [put("sigma_w1", 0.0, role="whitened", time=400.0, index=index) for index in (3, 4, 5)]
    for second, verdict in ((0.049, "corrected"), (0.051, "contradicted")):
        ends = [
            put("sigma_w1", (1 - second) ** 0.5, role="whitened", time=400.0, index=1),
            put("sigma_w1", second**0.5, role="whitened", time=400.0, index=2),
        ]
        assert verdict_on("discrete_descent", *others, *ends) == verdict


@pytest.mark.parametrize(
    "rival",
    [
        [everywhere("gradient_step_first", 0.0)],
        [everywhere("gradient_step_printed", 0.0)],
        [
            put("output_turning", 0.0, role="others", **ALL),
            put("gradient_turning", 0.0, role="others", **ALL),
            put("layer_turning", 0.0, role="others", **ALL),
        ],
    ],
    ids=["first order", "transposed", "directions that always stay"],
)
def test_it_says_nothing_where_a_rival_holds_as_well(rival):
    assert verdict_on("discrete_descent", *rival) == "undecided"


def test_what_is_printed_would_be_accepted():
    printed = [everywhere("output_step_printed", 0.0), everywhere("gradient_step_printed", 0.0)]
    growing = []
    for time in range(401):
        growing.append(put("gradient_norm", time / 400, role="whitened", time=float(time), **ALL))
    assert verdict_on("discrete_descent", *printed, *growing) == "reproduced"
