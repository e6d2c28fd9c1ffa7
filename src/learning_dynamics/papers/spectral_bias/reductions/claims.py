"""The smaller systems that the flow reduces to, each integrated by itself, and the bound on the loss that they give.

The flow starts at I_gamma: W1(0) = sqrt(2 gamma) P with orthonormal rows, P P^T = I, and W2(0) = 0. Z1 = W1 P^T and
Z2 = P W2 are the network's layers in the span of the rows of P, beta = W1 W2, alpha = Z1^{-T} Z2,
R = X^T (Y - X beta); beta_* = X^+ Y is the interpolator of least norm, |.| the Frobenius norm.

A draw is one random data set and start at one scale gamma: a table has all data sets at each scale. Its `steps` are
those of the network and of all the smaller systems together.
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Claim, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias.draws import steps_by_rtol
from learning_dynamics.papers.spectral_bias.quantities import LOSS
from learning_dynamics.papers.spectral_bias.reductions import quantities
from learning_dynamics.tidy import Draws, Table

ERRORS_OF_BOTH = "steps of both integrations times the relative tolerance"
SCOPE = "Gaussian data, d > n, three scales, one and several outputs"


@claim("Lemma 3.1", quantifier="all draws", scope=SCOPE)
def lemma_3_1(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ the layers stay in the span of the initial rows, $(W_1, W_2) = (Z_1 P, P^\top Z_2)$, where the
    pair $(Z_1, Z_2)$ of size $d$ obeys the same flow from $Z_1(0) = \sqrt{2\gamma} I$, $Z_2(0) = 0$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. The network of full width and the
    pair are integrated separately, and compared at every recorded time. A second check tests what $W_1$ and $W_2$ have
    outside the span of $P$. The proof's last line starts the pair at $Z_1(0) = I$, against the lemma's own definition
    (errata 7).
    """
    draws = Draws(flows)
    tolerance = steps_by_rtol(draws)
    # the larger of |W1 P^T - z1| and |P W2 - z2|, over |W1|, where the pair (z1, z2) solves (3.4) by itself
    yield every_draw(
        "larger of the distances of $Z_1$ and $Z_2$ from the pair integrated by itself, relative to $|W_1|$",
        draws.largest(quantities.DISTANCE_FROM_PAIR),
        at_most=tolerance,
        because=ERRORS_OF_BOTH,
        predicted=0.0,
        rivals={  # the distance of the same network from another pair
            "the pair scaled to start at the identity, as the proof's last line has it": {
                "values": draws.largest(quantities.DISTANCE_FROM_UNIT_PAIR)  # |W1 P^T - z1 / sqrt(2 gamma)| / |W1|
            }
        },
    )
    yield every_draw(
        "largest part of the layers outside the span of $P$, relative to $|W_1|$",
        draws.largest(quantities.PART_OUTSIDE_P),  # the larger of |W1 - W1 P^T P| and |W2 - P^T P W2|, over |W1|
        at_most=tolerance,
        because="steps times the relative tolerance",
        predicted=0.0,
    )


@claim(
    "Lemma 3.3",
    quantifier="all draws",
    scope=SCOPE,
    correction=r"$\beta$ itself, not its derivative, is $2\gamma(I - \alpha\alpha^\top)^{-1}\alpha$, as the "
    "appendix proves.",
    reason="a dot too many and a factor too few, as the appendix shows",
)
def lemma_3_3(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, $\alpha = Z_1^{-\top} Z_2$ obeys $\dot\alpha = R - \alpha R^\top \alpha$, and
    $\dot\beta = (I - \alpha\alpha^\top)^{-1}\alpha$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$,
    $Z_2 = P W_2$ and $R = X^\top(Y - X\beta)$. The first half holds: the Riccati equation for $\alpha$, integrated
    separately, follows the network. The second half is a misprint (errata 4), both in the dot over $\beta$ and in the
    missing $2\gamma$: the appendix proves $\beta = 2\gamma (I - \alpha\alpha^\top)^{-1}\alpha$ (Lemma C.2), which the
    network obeys at every time. As printed, the right side grows like $1/\gamma$ while the predictor comes to rest.
    """
    draws = Draws(flows)
    # alpha = Z1^{-T} Z2 takes the inverse of Z1, which multiplies errors by the condition number of Z1. The condition
    # number of I - alpha alpha^T = 2 gamma (Z1 Z1^T)^{-1} (C.12) is the square of that of Z1
    condition = draws.largest(quantities.CONDITION_OF_Z1)
    tolerance = steps_by_rtol(draws)
    # with a, the Riccati equation's solution, and f(a) = (I - a a^T)^{-1} a: as printed |beta' - f(a)|, relative to
    # |beta'| at the first time; corrected |beta - 2 gamma f(a)| / |beta_*|, and by the rival |beta - f(a)| / |beta_*|
    yield every_draw(
        r"largest $|\dot\beta - (I - \alpha\alpha^\top)^{-1}\alpha|$, relative to its start",
        draws.largest(quantities.DISTANCE_OF_BETA_SPEED),
        at_most=tolerance * condition**2,
        because=f"{ERRORS_OF_BOTH} and the squared condition number of $Z_1$",
        predicted=0.0,
        corrected={
            "name": r"largest $|\beta - 2\gamma(I - \alpha\alpha^\top)^{-1}\alpha| / |\beta_*|$",
            "values": draws.largest(quantities.DISTANCE_OF_BETA),
        },
        rivals={
            r"$\beta$ without the factor $2\gamma$": {
                "values": draws.largest(quantities.DISTANCE_OF_BETA_WITHOUT_2_GAMMA)
            }
        },
    )
    yield every_draw(
        "largest distance of $\\alpha$ from the Riccati equation's solution",
        draws.largest(quantities.DISTANCE_OF_ALPHA),  # |alpha - a|; the norm of alpha is of order one
        at_most=tolerance * condition,
        because=f"{ERRORS_OF_BOTH} and the condition number of $Z_1$",
        predicted=0.0,
    )


@claim(
    "Theorem 3.2 (a)",
    quantifier="all draws",
    scope="Gaussian data, d > n, three outputs, three scales",
    correction=r"While the singular values are positive and simple, they follow the mirror flow of "
    r"$\frac{1}{2} \mathrm{tr}(D \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$: the half belongs before both terms.",
    reason="the printed potential misplaces a factor one half, as differentiating it shows",
)
def theorem_3_2_a(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ the singular values $D$ of $\beta$ follow the mirror flow of $\Psi_\gamma(D) =
    \mathrm{tr}(\frac{1}{2} D \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$, and $R = X^\top(Y - X\beta)$. The
    potential's gradient has an entry for each singular value, its mirror coordinate. The coordinate's speed must be the
    force $u^\top R v$, with the singular vectors $u, v$ of $\beta$. Both are read off the network's states at each
    time, the speed through $u^\top \dot\beta v$. With the potential as printed (errata 1) they disagree: its gradient
    is $\frac{1}{2}\sinh^{-1}(D/\gamma) - \frac{1}{2} D/\sqrt{D^2 + \gamma^2}$, flat near zero, so that there the flow
    would run away at once. The proof arrives at $\frac{1}{2}\sinh^{-1}(D/\gamma)$, the gradient of $\frac{1}{2}(D
    \sinh^{-1}(D/\gamma) - \sqrt{D^2 + \gamma^2})$; with this potential they agree.
    """
    draws = Draws(flows)
    # With a potential sum_i phi(sigma_i) the mirror flow is d phi'(sigma_i) / dt = -dL / d sigma_i. Its left side, the
    # speed of the mirror coordinate phi'(sigma_i), is phi''(sigma_i) u^T (d beta/dt) v; its right side, the force, is
    # u^T R v. Shape (draws, times x singular values) each
    speed, force = draws.with_prediction(quantities.MIRROR_SPEED)
    printed_speed = draws.entries(quantities.PRINTED_MIRROR_SPEED)
    yield equal_on_every_draw(
        "largest difference of a mirror coordinate's speed and its force, relative to the largest force",
        force,  # is taken for what is measured, since errors are relative to it; each potential predicts its own speed
        printed_speed,
        # the states' error, steps times rtol, times the largest phi'', which is 1 / (2 gamma), at sigma = 0; a factor
        # of one at least
        tolerance=steps_by_rtol(draws) * np.maximum(1.0, 1 / (2 * draws.column("gamma"))),
        because=r"steps times the relative tolerance, over $2\gamma$ where $2\gamma$ is below one",
        corrected=speed,
        rivals={r"a potential without the $\frac{1}{2}$": 2 * speed},  # of the correction: twice its potential
    )


@claim("Theorem 3.2 (b)", quantifier="all draws", scope="Gaussian data, d > n, one output, three scales")
def theorem_3_2_b(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ with one output the predictor follows the mirror flow of $\psi_\gamma(\beta) = \frac{2}{3}
    w^{3/2} - 2\gamma w^{1/2}$, $w = \gamma + \sqrt{|\beta|^2 + \gamma^2}$, with time run at the speed $w^{1/2}$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$. The mirror flow is integrated
    separately, in the coordinates $m = \nabla\psi_\gamma(\beta) = w^{-1/2}\beta$, whose inverse is
    $\beta = m\sqrt{|m|^2 + 2\gamma}$, and compared with the network at every recorded time. The largest difference in
    {draws} draws is {largest_distance:.1e} of the largest entry of $\beta$.
    """
    draws = Draws(flows)
    measured, mirror = draws.with_prediction(quantities.BETA)  # entries of beta at all times
    # chosen: small, and far above the tolerance
    rivals = {"a predictor shrunk by a millionth": (1 - 1e-6) * mirror}

    def mirror_of_another_scale(of_one_table: Draws) -> np.ndarray:
        """Return each draw's prediction at the previous scale, on the same data, shape (draws, entries).

        A table lists all data sets at its first scale, then all at its second, and so on: the previous scale is as many
        draws back as there are data sets; the first scale takes the last.
        """
        gamma = of_one_table.column("gamma")
        n_data_sets = np.sum(gamma == gamma[0])
        return np.roll(of_one_table.entries(quantities.BETA, column="predicted"), n_data_sets, axis=0)

    # with one scale alone the previous scale would be the same one, and its prediction no rival
    every_table_has_several_scales = all(np.unique(of_one_table.column("gamma")).size > 1 for of_one_table in draws)
    if every_table_has_several_scales:
        rivals["the mirror flow of another scale, on the same data"] = draws.per_table(mirror_of_another_scale)
    yield equal_on_every_draw(
        r"largest distance between the network's $\beta$ and the mirror flow's, relative to the largest entry",
        measured,
        mirror,
        # the errors of both integrations; the condition number is chosen, and leaves room
        tolerance=steps_by_rtol(draws) * draws.largest(quantities.CONDITION_OF_Z1),
        because=f"{ERRORS_OF_BOTH} and the condition number of $Z_1$",
        rivals=rivals,
        fact="largest_distance",
    )


@claim("Lemma C.8", quantifier="all draws", scope="one output: Gaussian and ill-conditioned data, scales from 1 down")
def lemma_c_8(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ with one output, and labels that can be fitted, the loss at time $t$ is at most
    $D_\psi(\beta_*, 0) / (\sqrt{2\gamma} t)$, with the Bregman divergence $D_\psi$ of the potential $\psi_\gamma$ of
    Theorem 3.2 (b).

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $\psi_\gamma(\beta) =
    \frac{2}{3} w^{3/2} - 2\gamma w^{1/2}$ with $w = \gamma + \sqrt{|\beta|^2 + \gamma^2}$, and $\beta_* = X^+ Y$. In
    {draws} draws, one for each data set and scale, the loss is {value:.2g} of its bound at most. The bound has room for
    two reasons. First, $\langle\nabla L, \beta - \beta_*\rangle$ is $2L$, of which the proof uses $L$ (and prints that
    inequality the wrong way round, errata 13). So half the bound is a bound as well, and is tested too. Second, the
    decay is exponential in the end. Section 3.2 quotes $O(1/(\gamma t))$, one bound for all scales, since
    $D_\psi(\beta_*, 0)/\sqrt{2\gamma} \leq |\beta_*|^2/(4\gamma)$, with equality in the limit of large scales. For
    vanishing scales the bound grows as $\gamma^{-1/2}$ alone.
    """
    draws = Draws(flows)

    def loss_over_bound(of_one_table: Draws) -> np.ndarray:
        """Return the largest ratio of L to D_psi(beta_*, 0) / (sqrt(2 gamma) t) over times, shape (draws,)."""
        loss, bound = of_one_table.with_prediction(LOSS)
        return (loss / bound).max(axis=1)

    ratios = draws.per_table(loss_over_bound)
    # A rival replaces the bound of one by its own. The first check compares the ratios with it, the second twice the
    # ratios; a rival is refused if one of the checks refuses it
    rivals = {
        "a bound ten times as sharp": 0.1,  # chosen
        # D_psi / t times sqrt(2 gamma) instead of over it: 2 gamma times the bound
        r"$\sqrt{2\gamma}$ above the line, as if small scales took less time": 2 * draws.column("gamma"),
    }
    yield every_draw(
        "largest ratio of the loss to its bound along the flow",
        ratios,
        at_most=1.0,
        because="Lemma C.8",
        rivals=rivals,
    )
    yield every_draw(
        "largest ratio of the loss to half its bound along the flow",
        2 * ratios,
        at_most=1.0,
        because="what the proof's inequality gives",
        rivals=rivals,
    )
