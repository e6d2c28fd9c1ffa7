"""The singular vectors that stand still, the learning curve on whitened data, and its jumps."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, Claim, Facts, claim, equal_on_every_draw, every_draw, takes_rivals
from learning_dynamics.papers.spectral_bias.draws import relative_errors, steps_by_rtol
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Draws, Quantity, Table

# the matrices whose symmetry the proof of Theorem C.11 uses, by the paper's equation
SYMMETRIC = {
    "c_17": r"$R^\top\alpha$ (C.17)",
    "c_18": r"$R\alpha^\top$ (C.18)",
    "c_22": r"$Z_1^\top R Z_2^\top$ (C.22)",
}


@claim(
    "Theorem C.11, (C.17), (C.18), (C.22)",
    quantifier="all draws",
    scope="whitened and Gaussian data, large and small scale, along the flow",
)
def theorem_c_11(whitened: Sequence[Table], others: Sequence[Table], unequal: Table) -> Claim:
    r"""From $I_\gamma$, $\beta$, $Z_1$ and $\alpha$ share left singular vectors, and $\beta$, $Z_2$ and $\alpha$ right
    ones; on whitened data, $X^\top X = I$, they stand still, at those of $\beta_*$.

    Vectors are compared without choosing signs or orders: shared ones by commutators of $\beta\beta^\top$ and
    $\beta^\top\beta$ with the layers' and $\alpha$'s Gram matrices, standing ones by what $\beta$ and $\alpha$ have off
    the diagonal in the singular basis of $\beta_*$, and the proof's steps by the asymmetry of the three matrices that
    it shows to be symmetric. (On the way the proof drops a factor $2\gamma$ and, for (C.17), prints a difference where
    a sum belongs (errata 14); the asymmetries obey linear equations all the same, and start at zero.) On Gaussian data
    the vectors do turn: up to {turning:.0%} of $\beta$ lies off the diagonal, and the three matrices are not symmetric.
    From rows of unequal lengths, the layers do not share their vectors with $\beta$.
    """

    @takes_rivals("tables")
    def vanishes(name: str, tables: Sequence[Table], quantity: Quantity, predicted: float = np.nan) -> Check:
        draws = Draws(tables)
        return every_draw(
            name,
            draws.worst(quantity),
            # alpha, and beta at the start, are as small as the scale: relative errors are larger by the condition
            at_most=steps_by_rtol(draws) * draws.worst("condition") ** 2,
            because="steps times rtol times the squared condition number of $Z_1$",
            predicted=predicted,
        )

    runs = [*whitened, *others]
    still = {"vectors that stand still whatever the data": runs}
    yield vanishes(
        r"largest part of $\beta$ off the diagonal in the singular basis of $\beta_*$, relative to $|\beta|$",
        whitened,
        "turning",
        0.0,
        rivals=still,
    )
    yield vanishes(
        r"largest part of $\alpha$ off the diagonal in the basis of $\beta_*$, relative to $|\alpha|$",
        whitened,
        "alpha_turning",
        rivals=still,
    )
    for quantity, label in (("shared_vectors", "$Z_1$ and $Z_2$"), ("alpha_vectors", r"$\alpha$")):
        name = rf"largest commutator of $\beta$'s Gram matrices with those of {label}, relative to their norms"
        rivals = {"vectors that are shared from rows of unequal lengths too": [unequal]}
        yield vanishes(name, runs, quantity, rivals=rivals)
    for quantity, label in SYMMETRIC.items():
        name = f"largest asymmetry of {label}, relative to its factors"
        yield vanishes(name, whitened, quantity, rivals={"matrices that are symmetric whatever the data": runs})
    yield Facts(turning=float(np.nanmax(Draws(others).worst("turning"))))


@claim(
    "Theorem C.12",
    quantifier="all draws",
    scope="whitened data: networks at large and small scale, and down to vanishing ones",
    correction=r"At the jump itself the limit is $\sigma/(1 + 2\sigma)$, as the theorem's own proof finds.",
    reason="the closed form is right; the limit's value at the jump is printed wrong",
)
def theorem_c_12(jump: Table, networks: Sequence[Table]) -> Claim:
    r"""On whitened data, from $I_\gamma$, $\sigma_i(\beta)$ has a closed form, whose limit at time $\ln(1/\gamma) t$ is
    0 for $t < 1/(2\sigma)$ and $\sigma$ from $t = 1/(2\sigma)$ on, with $\sigma = \sigma_i(\beta_*)$.

    The closed form holds at every scale, against networks and down to the vanishing scales. The limit holds before
    and after the jump. At $t = 1/(2\sigma)$, where the theorem prints $\sigma$ (and section 3.2 prints 0), neither
    holds (errata 15): the value there is $\sigma/(1 + 2\sigma)$, as the last lines of the proof say.
    """
    smallest = jump[(jump["gamma"] == jump["gamma"].min()) & (jump["limit"] > 0)]
    jumps = smallest.loc[smallest.groupby("index")["time"].idxmin()]
    final = jump.groupby("index")["limit"].max()[jumps["index"]].to_numpy()
    yield equal_on_every_draw(
        r"error of $\sigma_i(\beta)$ at time $\ln(1/\gamma) / (2\sigma_i)$, relative to $\sigma_i$, each $i$",
        jumps["value"].to_numpy(),
        final,
        tolerance=_next_terms(float(jump["gamma"].min())) + steps_by_rtol(Draws(jump)).max(),
        relative_to=final,
        because="the smallest scale's distance from its limit, and steps times rtol",
        excluded={"larger scales, which are further from the limit": jump["gamma"].nunique() - 1},
        corrected=final / (1 + 2 * final),
        rivals={"0 at the jump, as in section 3.2": 0 * final, "half the jump's height": final / 2},
    )
    curves = Draws([jump, *(table[table["phase"] == "flow"] for table in networks)])
    yield every_draw(
        "largest error of the closed form along the flow, relative to the largest value",
        relative_errors(*curves.compared("sigma_beta")),
        at_most=steps_by_rtol(curves),
        because="steps times rtol",
    )


@claim(
    "Section 3.2, jump process",
    quantifier="all draws",
    scope="whitened data, three singular values, scales down to the smallest of the run",
)
def jump_process(jump: Table, *, away: Fraction) -> Claim:
    r"""On whitened data, from $I_\gamma$ as $\gamma \to 0$, $\sigma_i(\beta)$ at time $\ln(1/\gamma) t$ jumps from 0 to
    $\sigma_i(\beta_*)$ at $t = 1/(2\sigma_i(\beta_*))$, the largest first.

    The time at which $\sigma_i$ passes half its limit is
    $1/(2\sigma) + \ln(2\sigma) / (2\sigma\ln(1/\gamma))$, so that it approaches $1/(2\sigma)$ only logarithmically; it
    is extrapolated from the two smallest scales. Away from the jump the distance to the step shrinks with every scale.
    The network is followed down to $\gamma$ = {smallest:.0e}; below that only the closed form speaks. What happens at
    the instant itself is the subject of Theorem C.12.
    """
    final, limit_times, smallest_times = _jump_times(jump)
    # a straight line through two scales multiplies their errors; what it leaves out is of the order of the larger
    scales = np.sort(jump["gamma"].unique())[:2]
    near, far = 1 / np.log(1 / scales)
    yield equal_on_every_draw(
        "error of the extrapolated time of the jump, relative to it, each singular value",
        limit_times,
        1 / (2 * final),
        tolerance=(near + far) / (far - near) * (_next_terms(scales[-1]) + steps_by_rtol(Draws(jump)).max()),
        relative_to=1 / (2 * final),
        because="the larger scale's distance from its limit and steps times rtol, extrapolated",
        resolution=0.01,
        excluded={"scales above the two smallest": jump["gamma"].nunique() - 2},
        rivals={
            r"$1/\sigma$, the rate of the layers": 1 / final,
            "one time for all": np.full(len(final), np.mean(1 / (2 * final))),
            "the times at the smallest scale, not extrapolated": smallest_times,
        },
    )
    step = jump["time"] - 1 / (2 * jump.groupby("index")["limit"].transform("max"))
    distant = jump[step.abs() > away]
    distance = (distant["value"] - distant["limit"]).abs().groupby(distant["gamma"]).max().sort_index(ascending=False)
    yield every_draw(
        "distance to the step away from the jump, over that at the scale before",
        distance.to_numpy()[1:] / distance.to_numpy()[:-1],
        at_most=1.0,
        because="each scale nearer to the step",
        excluded={"the largest scale, which has none before it": 1},
    )
    yield Facts(smallest=float(scales[0]))


def _next_terms(scale: float) -> float:
    """Return the order of the closed form's next terms beyond the limit: the scale times its logarithm."""
    return 100 * scale * np.log(1 / scale)


def _jump_times(table: pd.DataFrame) -> np.ndarray:
    """When each singular value passes half of its limit, in rescaled time, as gamma vanishes.

    The logarithm of s / (limit - s) is linear in time near the jump and is interpolated; the times at the two smallest
    scales are extrapolated to gamma = 0, linearly in 1 / ln(1/gamma).

    Returns
    -------
    ndarray, shape (3, singular values)
        Limits, extrapolated times, and times at the smallest scale.
    """
    scales = np.sort(table["gamma"].unique())[:2]
    records = []
    for _, rows in table.groupby("index"):
        limit = rows["limit"].max()
        inside = rows[(rows["value"] > 0.01 * limit) & (rows["value"] < 0.99 * limit)]
        odds = np.log(inside["value"] / (limit - inside["value"]))
        times = [
            float(np.interp(0.0, odds[at_scale], inside["time"][at_scale]))
            for at_scale in (inside["gamma"] == gamma for gamma in scales)
        ]
        _, intercept = np.polyfit(1 / np.log(1 / scales), times, 1)
        records.append((limit, intercept, times[0]))
    return np.array(records).T
