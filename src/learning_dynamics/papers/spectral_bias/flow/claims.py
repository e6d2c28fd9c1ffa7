"""The limit of the gradient flow: Theorem 3.1 and Corollary 3.1."""

from collections.abc import Mapping, Sequence

import numpy as np

from learning_dynamics.judging import Checks, Finding, Untested, claim, every_draw
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.draws import (
    LEFT_OPEN,
    PerTable,
    gathered,
    local_errors,
    multiplied,
    per_table,
    relative_errors,
    several_interpolators,
    worst,
)
from learning_dynamics.tidy import Quantity, Table, by_draw, settings_of

ONE_INTERPOLATOR = "as many samples as inputs in every run: there is one interpolator; give fewer samples"


@claim(
    "Theorem 3.1 (i)",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, to a relative residual near rtol",
)
def theorem_3_1_i(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ with $\gamma > 0$, labels that can be fitted and $X$ of full rank, the parameters converge, and
    their limit has zero loss.

    Parameters that kept drifting while the loss falls would not do. A bound on what is left of the way follows from the
    imbalance: $|\nabla L|^2 \geq 4\gamma\lambda_{\min}(XX^\top) L$, so that the way from time $t$ on is no longer than
    $|Y - X\beta(t)| / \sqrt{2\gamma\lambda_{\min}(XX^\top)}$. The distance from the end is held against it at every
    recorded time; in {draws} draws it uses up to {value:.0%} of it. At the end the bound leaves {left:.1e} of the
    parameters' norm open at most.
    """
    arrival = gathered(flows, "arrival", phase="draw")
    remainder = gathered(flows, "left", phase="draw")
    tolerance = np.concatenate(
        [np.full(table["seed"].nunique(), settings_of(table)["integration"]["rtol"] ** 0.5) for table in flows]
    )

    def judge(predicted: np.ndarray) -> Checks:
        yield every_draw(
            r"largest $|\theta(t) - \theta_\infty|$ over its bound by the residual",
            arrival,
            at_most=predicted,
            because="the bound by the imbalance",
        )
        yield every_draw(
            "what the bound leaves of the way at the end, relative to the parameters' norm",
            remainder,
            at_most=tolerance,
            because="the square root of rtol: the end is the limit",
        )

    ones = np.ones(len(arrival))
    return Finding(
        judge,
        ones,
        rivals={
            r"a way bounded with $\lambda_{\max}$ in place of $\lambda_{\min}$": gathered(
                flows, "inverse_condition", phase="draw"
            ),
            "half the way": 0.5 * ones,
        },
        facts={"left": float(np.nanmax(remainder))},
    )


@claim("Theorem 3.1 (ii)", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale")
def theorem_3_1_ii(flows: Sequence[Table], unequal: Table) -> Finding:
    r"""From $I_\gamma$ with any $\gamma > 0$ the predictor converges to the interpolator of least $\ell_2$ norm,
    $\beta_* = X^+ Y$.

    The distance that is left, {largest:.1e} of $|\beta_*|$ at most in {draws} draws, is what the residual at the end
    explains. It takes the imbalance to be a multiple of the identity: from rows of unequal lengths, with the same zero
    second layer and on the same data as in the first of these runs, the flow ends at interpolators that are
    {unequal:.2g} (median) of $|\beta_*|$ away. (The proof, in Lemma C.6, prints Woodbury's identity with a minus for
    a plus; $\beta = 2\gamma\alpha(I - \alpha^\top\alpha)^{-1}$ lies in the row space all the same.)
    """
    if not any(several_interpolators(table) for table in flows):
        raise Untested(ONE_INTERPOLATOR)
    distance = gathered(flows, "distance", phase="limit")
    tolerance = gathered(flows, "distance_bound", phase="limit") * (1 + 1e-3) + local_errors(*flows)
    unequal_distance = float(np.nanmedian(by_draw(unequal, "distance", phase="limit")))

    def judge(predicted: np.ndarray) -> Checks:
        name = r"$|\beta - \beta_*| / |\beta_*|$ at the end of the flow"
        yield every_draw(name, np.abs(distance - predicted), at_most=tolerance, because=LEFT_OPEN, predicted=0.0)

    zeros = np.zeros(len(distance))
    rivals = {r"an interpolator $10^{-6}$ away": zeros + 1e-6}
    if several_interpolators(flows[0]):
        rivals["an interpolator as far away as where unequal rows lead"] = zeros + unequal_distance
    return Finding(
        judge,
        zeros,
        rivals=rivals,
        facts={"unequal": unequal_distance, "largest": float(np.nanmax(distance))},
    )


@claim("Theorem 3.1 (iii)", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale")
def theorem_3_1_iii(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the flow ends, among all interpolating networks, at one that minimises
    $\frac{1}{2}|W_2|^2 + \frac{1}{2}|W_1|^2 - \gamma \log\det(W_1 W_1^\top)$.

    Checked in two ways: the conditions of Proposition C.5 (a multiplier in the row space of $X$ balances both
    gradients), and random perturbations of each limit, led back to the interpolators, none of which lowers the
    potential. The paper derives the conditions as necessary. They are sufficient too: in terms of $S = W_1 W_1^\top$
    and $\beta$ the problem is to minimise
    $\frac{1}{2}\mathrm{tr} S - \gamma\log\det S + \frac{1}{2}\mathrm{tr}(\beta^\top S^{-1}\beta)$
    under $X\beta = Y$, which is convex, so that a stationary point is a global minimum. Both gradients vanish along
    the whole flow, by Lemmas 3.2 and C.3, so that their errors are the integrator's; that the end is an interpolator
    is Theorem 3.1 (i).
    """
    condition = worst(flows, "condition", phase="flow")
    tolerance = local_errors(*flows) * condition
    measured = {name: gathered(flows, name, phase="limit") for name in ("stationarity_W1", "stationarity_W2", "excess")}

    def judge(reading: Mapping[str, np.ndarray]) -> Checks:
        # alpha's error is relative to |alpha|, which is |W_2| / |W_1| times the condition number at most
        for layer, part, allowed, number in (
            ("W_1", "stationarity_W1", tolerance, "condition number"),
            ("W_2", "stationarity_W2", tolerance * condition, "squared condition number"),
        ):
            yield every_draw(
                f"gradient of the Lagrangian in ${layer}$ at the end, relative to $|{layer}|$",
                reading[part],
                at_most=allowed,
                because=f"steps times rtol times the {number} of $Z_1$",
                predicted=0.0,
            )
        yield every_draw(
            "least increase of the potential over perturbations",
            reading["excess"],
            at_least=0.0,
            because="no perturbation lowers it",
        )

    def substitute(part: Quantity, quantity: Quantity) -> dict[str, np.ndarray]:
        return measured | {part: gathered(flows, quantity, phase="limit")}

    rivals = {
        "the sum of squares alone, by its gradient": substitute("stationarity_W1", "stationarity_plain"),
        r"$2\gamma$ before the logarithm, by its gradient": substitute("stationarity_W1", "stationarity_double"),
        "the sum of squares alone, by perturbations": substitute("excess", "excess_plain"),
        r"$2\gamma$ before the logarithm, by perturbations": substitute("excess", "excess_double"),
    }
    if any(several_interpolators(table) for table in flows):
        rivals["another interpolator, a thousandth away in $W_2$"] = substitute("stationarity_W2", "stationarity_moved")
    return Finding(judge, measured, rivals=rivals)


@claim("Corollary 3.1", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale")
def corollary_3_1(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the hidden layer ends with
    $\sigma_i(W_1) = (\sqrt{\sigma_i(\beta_*)^2 + \gamma^2} + \gamma)^{1/2}$ for $i \leq k$, and $\sqrt{2\gamma}$ for
    the other $d - k$.

    A small scale leaves a hidden layer close to rank $k$, a large one a layer of full rank. The largest error in
    {draws} draws is {largest:.1e} of $\sigma_1$. The spectrum of $W_2$ follows in the same way (Lemma C.10) and is a
    part of this check.
    """
    star = per_table(flows, "sigma_beta", "predicted", phase="limit")
    gammas = [settings_of(table)["gamma"] for table in flows]
    hidden, outer = (per_table(flows, name, phase="limit") for name in ("sigma_w1", "sigma_w2"))
    layer = [theory.output_singular_values(values, gamma) for values, gamma in zip(star, gammas, strict=True)]
    tolerance = gathered(flows, "sigma_bound", phase="limit") * (1 + 1e-3) + local_errors(*flows)
    # the squares of both layers' values move alike, so that the values move as the inverse of their sizes
    ratios = gathered(flows, "sigma_w1", phase="limit") / gathered(flows, "sigma_w2", phase="limit")

    def law(change: float) -> PerTable:
        return [
            theory.hidden_singular_values(values, change * gamma, ends.shape[1])
            for values, gamma, ends in zip(star, gammas, hidden, strict=True)
        ]

    def judge(predicted: PerTable) -> Checks:
        for number, measured, expected, allowed in (
            (1, hidden, predicted, tolerance),
            (2, outer, layer, tolerance * np.maximum(ratios, 1.0) ** 2),
        ):
            yield every_draw(
                rf"largest error of $\sigma_i(W_{number})$ at the end, relative to $\sigma_1$",
                relative_errors(measured, expected),
                at_most=allowed,
                because=LEFT_OPEN,
                predicted=0.0,
            )

    return Finding(
        judge,
        law(1.0),
        rivals={
            r"the square root of $\sigma_i(\beta_*)$, as from balanced layers": law(0.0),
            r"$\gamma/2$ in place of $\gamma$": law(0.5),
            "all singular values as at the start": [
                np.full(ends.shape, np.sqrt(2 * gamma)) for ends, gamma in zip(hidden, gammas, strict=True)
            ],
        },
        scaled=multiplied,
        facts={"largest": float(np.nanmax(relative_errors(hidden, law(1.0))))},
    )
