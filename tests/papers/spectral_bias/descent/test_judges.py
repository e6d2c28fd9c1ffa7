"""What the claim on discrete descent accepts and refuses: each bound met just inside, and missed by little."""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on

EPS = 2.220446049250313e-16
ALL = {"draw": None}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
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
        (
            [
                put("output_norm", 1.0, role="whitened", time=200.0),
                put("output_norm", 0.9, role="whitened", time=201.0),
            ],
            "contradicted",
        ),
        ([put("gradient_norm", 0.9, role="whitened", time=200.0)], "contradicted"),
    ],
)
def test_each_bound(alterations, verdict):
    assert verdict_on("discrete_descent", *alterations) == verdict


@pytest.mark.parametrize(("second", "verdict"), [(0.049, "corrected"), (0.051, "contradicted")])
def test_a_share_of_the_spectrum(second, verdict):
    spectrum = [1 - second, second, 0.0, 0.0, 0.0]
    ends = [
        put("sigma_w1", square**0.5, role="whitened", time=400.0, index=index)
        for index, square in enumerate(spectrum, start=1)
    ]
    assert verdict_on("discrete_descent", *ends) == verdict


TURNING = [put(f"{name}_turning", 0.0, role="others", **ALL) for name in ("output", "gradient", "layer")]
ORDERS = [[everywhere(f"gradient_step_{name}", 0.0)] for name in ("first", "printed")]


@pytest.mark.parametrize("rival", [*ORDERS, TURNING])
def test_it_says_nothing_where_a_rival_holds_as_well(rival):
    assert verdict_on("discrete_descent", *rival) == "undecided"


def test_what_is_printed_would_be_accepted():
    printed = [everywhere("output_step_printed", 0.0), everywhere("gradient_step_printed", 0.0)]
    growing = [put("gradient_norm", time / 400, role="whitened", time=float(time), **ALL) for time in range(401)]
    assert verdict_on("discrete_descent", *printed, *growing) == "reproduced"
