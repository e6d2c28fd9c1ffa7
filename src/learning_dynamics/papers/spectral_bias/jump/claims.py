"""The singular vectors that stand still, the learning curve on whitened data, and its jumps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from learning_dynamics.judging import Check, Checks, Finding, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias.draws import local_errors, per_table, relative_errors, worst
from learning_dynamics.settings import Fraction
from learning_dynamics.tidy import Quantity, Table

# the matrices whose symmetry the proof of Theorem C.11 uses, by the paper's equation
SYMMETRIC = {
    "c_17": r"$R^\top\alpha$ (C.17)",
    "c_18": r"$R\alpha^\top$ (C.18)",
    "c_22": r"$Z_1^\top R Z_2^\top$ (C.22)",
}


@dataclass(frozen=True)
class Reading:
    """Runs in which singular vectors should stand still, be shared, and the proof's matrices be symmetric."""

    standing: Sequence[Table]
    sharing: Sequence[Table]
    symmetric: Sequence[Table]


@claim(
    "Theorem C.11, (C.17), (C.18), (C.22)", scope="whitened and Gaussian data, large and small scale, along the flow"
)
def theorem_c_11(whitened: Sequence[Table], others: Sequence[Table], unequal: Table) -> Finding:
    r"""From $I_\gamma$, $\beta$, $Z_1$ and $\alpha$ share left singular vectors, and $\beta$, $Z_2$ and $\alpha$ right
    ones; on whitened data, $X^\top X = I$, they stand still, at those of $\beta_*$.

    Vectors are compared without choosing signs or orders: shared ones by commutators of $\beta\beta^\top$ and
    $\beta^\top\beta$ with the layers' and $\alpha$'s Gram matrices, standing ones by what $\beta$ and $\alpha$ have
    off the diagonal in the singular basis of $\beta_*$, and the proof's steps by the asymmetry of the three matrices
    that it shows to be symmetric. (On the way the proof drops a factor $2\gamma$ and, for (C.17), prints a difference
    where a sum belongs; the asymmetries obey linear equations all the same, and start at zero.) On Gaussian data the
    vectors do turn: up to {turning:.0%} of $\beta$ lies off the diagonal, and the three matrices are not symmetric.
    From rows of unequal lengths, the layers do not share their vectors with $\beta$.
    """
    runs = [*whitened, *others]
    right = Reading(standing=whitened, sharing=runs, symmetric=whitened)

    def judge(reading: Reading) -> Checks:
        def vanishes(name: str, tables: Sequence[Table], quantity: Quantity, predicted: float = np.nan) -> Check:
            return every_draw(
                name,
                worst(tables, quantity),
                # alpha, and beta at the start, are as small as the scale: relative errors are larger by the condition
                at_most=local_errors(*tables) * worst(tables, "condition") ** 2,
                because="steps times rtol times the squared condition number of $Z_1$",
                predicted=predicted,
            )

        yield vanishes(
            r"largest part of $\beta$ off the diagonal in the singular basis of $\beta_*$, relative to $|\beta|$",
            reading.standing,
            "turning",
            predicted=0.0,
        )
        yield vanishes(
            r"largest part of $\alpha$ off the diagonal in the basis of $\beta_*$, relative to $|\alpha|$",
            reading.standing,
            "alpha_turning",
        )
        for quantity, label in (("shared_vectors", "$Z_1$ and $Z_2$"), ("alpha_vectors", r"$\alpha$")):
            name = rf"largest commutator of $\beta$'s Gram matrices with those of {label}, relative to their norms"
            yield vanishes(name, reading.sharing, quantity)
        for quantity, label in SYMMETRIC.items():
            yield vanishes(f"largest asymmetry of {label}, relative to its factors", reading.symmetric, quantity)

    return Finding(
        judge,
        right,
        rivals={
            "vectors that stand still whatever the data": replace(right, standing=runs),
            "vectors that are shared from rows of unequal lengths too": replace(right, sharing=[unequal]),
            "matrices that are symmetric whatever the data": replace(right, symmetric=runs),
        },
        facts={"turning": float(np.nanmax(worst(others, "turning")))},
    )


@claim(
    "Theorem C.12",
    scope="whitened data: networks at large and small scale, and down to vanishing ones",
    correction=r"At the jump itself the limit is $\sigma/(1 + 2\sigma)$, as the theorem's own proof finds.",
)
def theorem_c_12(jump: Table, networks: Sequence[Table]) -> Finding:
    r"""On whitened data, from $I_\gamma$, $\sigma_i(\beta)$ has a closed form, whose limit at time $\ln(1/\gamma) t$ is
    0 for $t < 1/(2\sigma)$ and $\sigma$ from $t = 1/(2\sigma)$ on, with $\sigma = \sigma_i(\beta_*)$.

    The closed form holds at every scale, against networks and down to the vanishing scales. The limit holds before
    and after the jump. At $t = 1/(2\sigma)$, where the theorem prints $\sigma$ (and section 3.2 prints 0), neither
    holds: the value there is $\sigma/(1 + 2\sigma)$, as the last lines of the proof say.
    """
    smallest = jump[(jump["gamma"] == jump["gamma"].min()) & (jump["limit"] > 0)]
    jumps = smallest.loc[smallest.groupby("index")["time"].idxmin()]
    final = jump.groupby("index")["limit"].max()[jumps["index"]].to_numpy()
    jump_tolerance = _next_terms(float(jump["gamma"].min())) + local_errors(jump).max()

    tables = [jump, *(table[table["phase"] == "flow"] for table in networks)]
    errors = relative_errors(*(per_table(tables, "sigma_beta", column) for column in ("value", "predicted")))
    tolerance = local_errors(jump, *networks)

    def judge(predicted: np.ndarray) -> Checks:
        yield equal_on_every_draw(
            r"error of $\sigma_i(\beta)$ at time $\ln(1/\gamma) / (2\sigma_i)$, relative to $\sigma_i$, each $i$",
            jumps["value"].to_numpy(),
            predicted,
            tolerance=jump_tolerance,
            relative_to=final,
            because="the smallest scale's distance from its limit, and steps times rtol",
            left_out={"larger scales, which are further from the limit": jump["gamma"].nunique() - 1},
        )
        yield every_draw(
            "largest error of the closed form along the flow, relative to the largest value",
            errors,
            at_most=tolerance,
            because="steps times rtol",
        )

    return Finding(
        judge,
        final,
        corrected=final / (1 + 2 * final),
        rivals={"0 at the jump, as in section 3.2": 0 * final, "half the jump's height": final / 2},
        reason="the closed form is right; the limit's value at the jump is printed wrong",
    )


@claim(
    "Section 3.2, jump process", scope="whitened data, three singular values, scales down to the smallest of the run"
)
def jump_process(jump: Table, *, away: Fraction) -> Finding:
    r"""On whitened data, as $\gamma \to 0$, $\sigma_i(\beta)$ at time $\ln(1/\gamma) t$ jumps from 0 to
    $\sigma_i(\beta_*)$ at $t = 1/(2\sigma_i(\beta_*))$, the largest first.

    The time at which $\sigma_i$ passes half its limit is
    $1/(2\sigma) + \ln(2\sigma) / (2\sigma\ln(1/\gamma))$, so that it approaches $1/(2\sigma)$ only logarithmically; it
    is extrapolated from the two smallest scales. Away from the jump the distance to the step shrinks with every scale.
    What happens at the instant itself is the subject of Theorem C.12.
    """
    final, limit_times, smallest_times = _jump_times(jump)
    step = jump["time"] - 1 / (2 * jump.groupby("index")["limit"].transform("max"))
    distant = jump[step.abs() > away]
    distance = (distant["value"] - distant["limit"]).abs().groupby(distant["gamma"]).max().sort_index(ascending=False)
    shrinking = distance.to_numpy()[1:] / distance.to_numpy()[:-1]
    # a straight line through two scales multiplies their errors; what it leaves out is of the order of the larger
    scales = np.sort(jump["gamma"].unique())[:2]
    near, far = 1 / np.log(1 / scales)
    accuracy = (near + far) / (far - near) * (_next_terms(scales[-1]) + local_errors(jump).max())

    def judge(predicted: np.ndarray) -> Checks:
        yield equal_on_every_draw(
            "error of the extrapolated time of the jump, relative to it, each singular value",
            limit_times,
            predicted,
            tolerance=accuracy,
            relative_to=1 / (2 * final),
            because="the larger scale's distance from its limit and steps times rtol, extrapolated",
            resolution=0.01,
            left_out={"scales above the two smallest": jump["gamma"].nunique() - 2},
        )
        yield every_draw(
            "distance to the step away from the jump, over that at the scale before",
            shrinking,
            at_most=1.0,
            because="each scale nearer to the step",
            left_out={"the largest scale, which has none before it": 1},
        )

    return Finding(
        judge,
        1 / (2 * final),
        rivals={
            r"$1/\sigma$, the rate of the layers": 1 / final,
            "one time for all": np.full(len(final), np.mean(1 / (2 * final))),
            "the times at the smallest scale, not extrapolated": smallest_times,
        },
    )


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
