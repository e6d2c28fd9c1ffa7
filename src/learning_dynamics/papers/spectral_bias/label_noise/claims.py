"""Label noise takes away small singular values, and the process that appendix D puts in its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics.claims import Finding, Judgement, at_most, claim, equal_on_every_draw, every_draw
from learning_dynamics.evidence import Estimate
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, by_draw, select, settings_of


@claim(
    "Figure 1b",
    scope="one output, as many orthonormal samples as inputs (five), width 200, a large scale",
    empirical=True,
)
def label_noise_low_rank(plain: Table, noisy: Table, *, fallen: Fraction) -> Finding:
    r"""Label noise makes the small singular values of $W_1$ decay; plain gradient descent raises one singular value and
    leaves the others where they were.

    Without noise the lower ones keep their values to rounding, as for the flow. With fresh noise at every step they
    decay exponentially, at the rate {rate:.3g} a unit of time (median over {draws} draws), while the predictor keeps
    fluctuating around the teacher. The largest is inflated: noise drives $|W_1|^2$ towards $d |W_2|^2$, and a layer of
    rank one with $\sigma_1 |W_2| = |\beta_*|$ then has $\sigma_1^2 = \sqrt{d} |\beta_*|$ ($d$ inputs); the time mean
    of $\sigma_1^2$ over the second half is {inflated:.2f} times that (median).
    """
    time = by_draw(noisy, "loss", column="time")[0]
    late = time >= time[-1] / 2

    def second(table: Table) -> np.ndarray:
        return by_draw(table, "sigma_w1", index=2)

    def judge(table: Table) -> Judgement:
        values = second(table)
        slopes = np.polyfit(time[late], np.log(values[:, late]).T, 1)[0]
        kept = by_draw(plain, "sigma_w1", time=float(time[-1])) / by_draw(plain, "sigma_w1", time=0.0)
        return Judgement(
            every_draw(
                r"$\sigma_2(W_1)$ at the end with label noise, relative to the start",
                values[:, -1] / values[:, 0],
                at_most=fallen,
                because="clearly fallen",
            ),
            every_draw(
                r"slope of $\ln\sigma_2(W_1)$ over the second half",
                slopes,
                at_most=0.0,
                because="still falling",
            ),
            every_draw(
                r"largest change of $\sigma_i(W_1)$, $i > 1$, without noise, relative to it",
                np.abs(kept[:, 1:] - 1).max(axis=1),
                at_most=1e-9,
                because="rounding over all steps",
            ),
        )

    inputs = by_draw(noisy, "sigma_w1", time=0.0).shape[1]
    top = by_draw(noisy, "sigma_w1", index=1)[:, late] ** 2
    norms = by_draw(noisy, "beta_norm")[:, 0]
    return Finding(
        judge,
        noisy,
        rivals={"plain descent does the same": plain},
        facts={
            "rate": float(-np.median(np.polyfit(time[late], np.log(second(noisy)[:, late]).T, 1)[0])),
            "inflated": float(np.median(top.mean(axis=1) / (np.sqrt(inputs) * norms))),
        },
    )


@claim(
    "Appendix D, from label noise to the process (4.1)",
    scope="one output, noise far larger than the drift; d > n and d = n, singular values of X in a ratio",
)
def label_noise_sde(ensembles: Sequence[Table], weighted: Table, *, errors: Positive) -> Finding:
    r"""Where noise dominates, label-noise descent with $k = 1$ is in law
    $dW = X^\top dB\, a^\top$, $da = W^\top X^\top dB$ in time $(\eta\delta)^2 t$, which is
    $dW = D\, dB\, a^\top$, $da = W^\top D\, dB$ in the singular basis of $X$; and what is shown for $D = I$ extends to
    diagonal matrices $D$.

    $E|a|^2$ over many paths of the descent itself is held against the process's at the end, on {draws} data sets; it
    grows at the rate $\sqrt{\sum_j D_j^4}$ where $D = I$ has $\sqrt{d}$. Rows still align with $a$: for unequal $D$
    the angle closes at the rate {angle:.3g}. What does not extend is the low rank of $W$ for $d > n$: what $W$ has
    outside the span of the data never moves ({outside:.1e} of $|W|$ at most), so that $d - n$ directions keep their
    size.
    """
    found, wanted, spread, moved = [], {"exact": [], "isotropic": [], "all": [], "slow": []}, [], []
    for table in ensembles:
        end = float(table["time"].max())
        rows = select(table, "output_square", time=end)
        found.append(rows["value"].to_numpy())
        wanted["exact"].append(rows["predicted"].to_numpy())
        wanted["isotropic"].append(by_draw(table, "isotropic", time=end)[:, 0])
        wanted["all"].append(by_draw(table, "all_directions", time=end)[:, 0])
        spread.append(
            errors * rows["error"].to_numpy() + np.abs(by_draw(table, "euler", time=end)[:, 0] - wanted["exact"][-1])
        )
        settings = settings_of(table)
        # the drift left out, over the whole time, beside sizes that it acts on
        spread[-1] = spread[-1] + settings["step"] * settings["steps"] * wanted["exact"][-1] ** 2
        moved.append(by_draw(table, "outside", time=end)[:, 0])
        wanted["slow"].append(rows["predicted"].to_numpy() * settings["step"] * settings["noise"])
    measured, tolerance, outside = (np.concatenate(parts) for parts in (found, spread, moved))
    predictions = {name: np.concatenate(parts) for name, parts in wanted.items()}
    angle = select(weighted, "angle").iloc[0]

    def judge(predicted: np.ndarray) -> Judgement:
        return Judgement(
            equal_on_every_draw(
                "error of $E|a|^2$ over paths of the descent, relative to it",
                measured,
                predicted,
                tolerance=tolerance / measured,
                relative_to=measured,
                because="standard errors, the recursion's finite steps, and the drift left out",
                resolution=0.25,
            ),
            every_draw(
                "change of what $W$ has outside the span of the data, relative to $|W|$",
                outside,
                at_most=1e-9,
                because="rounding over all steps",
            ),
            at_most(
                "rate at which the angle between rows and $a$ grows, unequal $D$",
                Estimate(angle["value"], angle["lower"], angle["upper"], int(angle["paths"]), "mean (t)"),
                0.0,
                because="rows align",
            ),
        )

    return Finding(
        judge,
        predictions["exact"],
        rivals={
            "$D$ replaced by its quadratic mean": predictions["isotropic"],
            "noise in all $d$ directions": predictions["all"],
            r"time in units of $1/\eta\delta$, at first order": predictions["slow"],
        },
        facts={"angle": float(-angle["value"]), "outside": float(outside.max())},
    )
