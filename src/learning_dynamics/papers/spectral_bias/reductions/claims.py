"""The smaller systems that the flow reduces to, each integrated by itself, and the bound on the loss that they give."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Checks, Finding, claim, every_draw
from learning_dynamics.papers.spectral_bias.draws import (
    PerTable,
    gathered,
    local_errors,
    multiplied,
    per_table,
    relative_errors,
    worst,
)
from learning_dynamics.tidy import Quantity, Table

APART = "steps of both integrations times rtol"
SCOPE = "Gaussian data, d > n, three scales, one and several outputs"


@claim("Lemma 3.1", scope=SCOPE)
def lemma_3_1(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the layers stay in the span of the initial rows, $(W_1, W_2) = (Z_1 P, P^\top Z_2)$, where the
    pair $(Z_1, Z_2)$ of size $d$ obeys the same flow from $Z_1(0) = \sqrt{2\gamma} I$, $Z_2(0) = 0$.

    The network of full width and the pair are integrated apart, and held against each other at every recorded time;
    what $W_1$ and $W_2$ have outside the span of $P$ is measured by itself. The proof's last line starts the pair at
    $Z_1(0) = I$, against the lemma's own definition.
    """
    tolerance = local_errors(*flows)

    def judge(quantity: Quantity) -> Checks:
        for label, part, because in (
            ("distance of $Z_1$ from the pair integrated by itself", quantity, APART),
            ("part of the layers outside the span of $P$", "subspace", "steps times rtol"),
        ):
            yield every_draw(
                f"largest {label}, relative to $|W_1|$",
                worst(flows, part),
                at_most=tolerance,
                because=because,
                predicted=0.0,
            )

    return Finding(
        judge,
        "projected",
        rivals={"the pair scaled to start at the identity, as the proof's last line has it": "unit_pair"},
    )


@claim(
    "Lemma 3.3",
    scope=SCOPE,
    correction=r"$\beta$ itself, not its derivative, is $2\gamma(I - \alpha\alpha^\top)^{-1}\alpha$, as the "
    "appendix proves.",
)
def lemma_3_3(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$, $\alpha = Z_1^{-\top} Z_2$ obeys $\dot\alpha = R - \alpha R^\top \alpha$, and
    $\dot\beta = (I - \alpha\alpha^\top)^{-1}\alpha$.

    The first half holds: the Riccati equation, integrated by itself, follows the network. The second half is a
    misprint, both in the dot over $\beta$ and in the missing $2\gamma$: the appendix proves
    $\beta = 2\gamma (I - \alpha\alpha^\top)^{-1}\alpha$ (Lemma C.2), which the network obeys at every time. As printed,
    the right side grows like $1/\gamma$ while the predictor comes to rest.
    """
    # alpha is found by inverting Z1, and the difference I - alpha alpha^T has the inverse square of its condition
    condition = worst(flows, "condition")
    names = {
        "printed_beta_speed": r"largest $|\dot\beta - (I - \alpha\alpha^\top)^{-1}\alpha|$, relative to its start",
        "beta_without_scale": r"largest $|\beta - (I - \alpha\alpha^\top)^{-1}\alpha| / |\beta_*|$",
        "beta_from_alpha": r"largest $|\beta - 2\gamma(I - \alpha\alpha^\top)^{-1}\alpha| / |\beta_*|$",
    }

    def judge(quantity: Quantity) -> Checks:
        yield every_draw(
            names[quantity],
            worst(flows, quantity),
            at_most=local_errors(*flows) * condition**2,
            because=f"{APART} and the squared condition number of $Z_1$",
            predicted=0.0,
        )
        yield every_draw(
            "largest distance of $\\alpha$ from the Riccati equation's solution",
            worst(flows, "alpha"),
            at_most=local_errors(*flows) * condition,
            because=f"{APART} and the condition number of $Z_1$",
            predicted=0.0,
        )

    return Finding(
        judge,
        "printed_beta_speed",
        corrected="beta_from_alpha",
        rivals={r"$\beta$ without the factor $2\gamma$": "beta_without_scale"},
        reason="a dot too many and a factor too few, as the appendix shows",
    )


@claim(
    "Theorem 3.2 (a)",
    scope="Gaussian data, d > n, three outputs, three scales",
    correction=r"The potential is $\frac{1}{2} \mathrm{tr}(D \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$: the half "
    "belongs before both terms.",
)
def theorem_3_2_a(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the singular values $D$ of $\beta$ follow the mirror flow of
    $\Psi_\gamma(D) = \mathrm{tr}(\frac{1}{2} D \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$.

    The speed of each singular value, $u^\top \dot\beta v$, and the force on it, $u^\top R v$, are read off the
    network's states at each time. With the potential as printed they disagree: its gradient is
    $\frac{1}{2}\sinh^{-1}(D/\gamma) - \frac{1}{2} D/\sqrt{D^2 + \gamma^2}$, flat near zero, where the flow would run
    away at once. The proof arrives at $\frac{1}{2}\sinh^{-1}(D/\gamma)$, the gradient of $\frac{1}{2}(D
    \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$, and that one holds.
    """
    force = per_table(flows, "mirror_speed", "predicted")
    gammas = gathered(flows, "mirror_speed", "gamma")

    def judge(prediction: tuple[Quantity, float]) -> Checks:
        quantity, factor = prediction
        yield every_draw(
            "largest difference of a mirror coordinate's speed and its force, relative to the largest force",
            relative_errors(force, multiplied(per_table(flows, quantity), factor)),
            # the coordinate's curvature at zero, 1 / (2 gamma), multiplies the states' error
            at_most=local_errors(*flows) * np.maximum(1.0, 1 / (2 * gammas)),
            because=r"steps times rtol over $2\gamma$",
            predicted=0.0,
        )

    return Finding(
        judge,
        ("printed_mirror_speed", 1.0),
        corrected=("mirror_speed", 1.0),
        rivals={r"a potential without the $\frac{1}{2}$": ("mirror_speed", 2.0)},
        reason="the printed potential misplaces a factor one half, as differentiating it shows",
        scaled=lambda prediction, factor: (prediction[0], prediction[1] * factor),
    )


@claim("Theorem 3.2 (b)", scope="Gaussian data, d > n, one output, three scales")
def theorem_3_2_b(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ with one output the predictor follows the mirror flow of
    $\psi_\gamma(\beta) = \frac{2}{3} w^{3/2} - 2\gamma w^{1/2}$, $w = \gamma + \sqrt{|\beta|^2 + \gamma^2}$, run at the
    speed $w^{1/2}$.

    The mirror flow is integrated by itself, in the coordinates $\nabla\psi(\beta) = w^{-1/2}\beta$, whose inverse is
    $\beta = m\sqrt{|m|^2 + 2\gamma}$, and held against the network at every recorded time. The largest difference in
    {draws} draws is {largest:.1e} of the largest entry.
    """
    measured, printed, gammas = (per_table(flows, "beta", column) for column in ("value", "predicted", "gamma"))
    # the data's draws follow one another, once for each scale
    per_scale = [int((scales[:, 0] == scales[0, 0]).sum()) for scales in gammas]
    tolerance = local_errors(*flows) * worst(flows, "condition")

    def judge(predicted: PerTable) -> Checks:
        yield every_draw(
            r"largest distance between the network's $\beta$ and the mirror flow's, relative to the largest entry",
            relative_errors(measured, predicted),
            at_most=tolerance,
            because=f"{APART} and the condition number of $Z_1$",
            predicted=0.0,
        )

    rivals = {"a predictor shrunk by a millionth": multiplied(printed, 1 - 1e-6)}
    if all(len(scales) > count for scales, count in zip(gammas, per_scale, strict=True)):
        rivals["the mirror flow of another scale, on the same data"] = [
            np.roll(beta, count, axis=0) for beta, count in zip(printed, per_scale, strict=True)
        ]
    return Finding(
        judge,
        printed,
        rivals=rivals,
        scaled=multiplied,
        facts={"largest": float(np.nanmax(relative_errors(measured, printed)))},
    )


@claim("Lemma C.8", scope="one output: Gaussian and ill-conditioned data, scales from 1 down")
def lemma_c_8(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ with one output the loss at time $t$ is at most $D_\psi(\beta_*, 0) / (\sqrt{2\gamma} t)$.

    The loss reaches {value:.2g} of its bound at most in {draws} draws, of which there is one for each data set and
    scale. The bound has room to spare for two reasons: $\langle\nabla L, \beta - \beta_*\rangle$ is $2L$, of which the
    proof uses $L$ (and prints that inequality the wrong way round), and the decay is exponential in the end. So half
    the bound is a bound as well, and is held too. Section 3.2 quotes $O(1/(\gamma t))$: that is the statement for all
    scales at once, since $D_\psi(\beta_*, 0)/\sqrt{2\gamma} \leq |\beta_*|^2/(4\gamma)$ with equality in the limit of
    large ones; for vanishing scales the bound grows as $\gamma^{-1/2}$ alone.
    """
    losses, bounds = (per_table(flows, "loss", column) for column in ("value", "predicted"))
    ratios = np.concatenate([(values / bound).max(axis=1) for values, bound in zip(losses, bounds, strict=True)])

    def judge(bound: np.ndarray) -> Checks:
        for label, factor, because in (
            ("its bound", 1, "the loss over its bound"),
            ("half its bound", 2, "what the proof's inequality gives"),
        ):
            name = f"largest ratio of the loss to {label} along the flow"
            yield every_draw(name, factor * ratios, at_most=bound, because=because)

    ones = np.ones(len(ratios))
    return Finding(
        judge,
        ones,
        rivals={
            "a bound ten times as sharp": 0.1 * ones,
            r"$\sqrt{2\gamma}$ above the line, as if small scales took less time": 2 * gathered(flows, "loss", "gamma"),
        },
    )
