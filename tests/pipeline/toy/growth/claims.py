"""Whether growth is geometric, and the faster the larger the rate."""

import numpy as np
from learning_dynamics.papers.toy.growth import theory

from learning_dynamics.judging import Claim, claim, equal_on_every_draw, every_draw
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, ascending, by_draw, settings_of


@claim("section 2", scope="normal starts, two rates")
def geometric(slow: Table, fast: Table, *, rounding: Positive) -> Claim:
    r"""Growth in steps is geometric, $x_n = (1 + r)^n x_0$, and faster at a larger rate.

    The largest error over {draws} draws is {value:.1e}.
    """
    ascending("rate", slow=slow, fast=fast)
    x, step = by_draw(slow, "x"), by_draw(slow, "x", column="time")[0]
    faster = abs(by_draw(fast, "x")[:, -1])

    def growing(factor: float) -> np.ndarray:
        return theory.state(step, factor * settings_of(slow)["rate"], x[:, 0])

    printed, larger, a_rate_larger = growing(1.0), growing(1.01), "a rate one percent larger"
    yield equal_on_every_draw(
        "largest relative error of $x_n$",
        x,
        printed,
        tolerance=rounding * len(step),
        because="one rounding a step",
        rivals={a_rate_larger: larger},
    )
    yield every_draw(
        "growth at the larger rate",
        faster,
        at_least=abs(printed[:, -1]),
        rivals={a_rate_larger: abs(larger[:, -1])},
    )
