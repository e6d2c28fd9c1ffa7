"""The steps of the proofs about the flow's limit: Lemmas 3.2, C.3, C.4, C.6 and C.10; and balanced layers.

X has n samples as rows, of d inputs, and Y has k outputs; beta = W1 W2 is the predictor, beta_* = X^+ Y the
interpolator of least norm, R = X^T (Y - X beta), |.| the Frobenius norm. From I_gamma, which is W1 = sqrt(2 gamma) P
with orthonormal rows of P and W2 = 0, the flow is (W1, W2) = (Z1 P, P^T Z2) (Lemma 3.1), with Z1 of shape (d, d) and Z2
of (d, k); alpha = Z1^{-T} Z2. The imbalance is Z1^T Z1 - Z2 Z2^T.

Tables have rows of three phases: `flow`, along it; `limit`, at its end; `draw`, one number for each draw. A draw is one
random data set and start. What is measured is in `flow.quantities`, with symbols and equations.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Claim, Facts, Untested, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.draws import STEPS_BY_RTOL, has_several_interpolators, steps_by_rtol
from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.quantities import DISTANCE, SAMPLES, SIGMA_BETA, SIGMA_W1, SIGMA_W2
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Draws, Table

# Setting of `lemma_c_4`, whose value is in workflow/config/spectral_bias.yaml:
# - visible: an asymmetry of a derivative, relative to its term in D, from which on it is far above rounding


@claim(
    "Lemma 3.2",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow",
)
def lemma_3_2(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ the imbalance $Z_1^\top Z_1 - Z_2 Z_2^\top$ stays $2\gamma I$ for all times.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$ and
    $Z_2 = P W_2$. Each eigenvalue of the imbalance is compared with $2\gamma$ at every recorded time: a symmetric
    matrix whose eigenvalues are all $2\gamma$ is $2\gamma I$. The largest error in {draws} draws is {largest_error:.1e}
    of the largest $\sigma_1(Z_1)^2$ along its flow. The error allowed is {largest_allowed_error:.1e} of $2\gamma$ at
    most.
    """
    flow = Draws(flows, phase="flow")
    # eigenvalues of the imbalance, and by the lemma 2 gamma for each (C.8): shape (draws, entries at all times), padded
    # with zeros in both where d is smaller
    eigenvalues, two_gamma = flow.with_prediction(quantities.IMBALANCE)
    tolerance = steps_by_rtol(flow)
    largest_square = flow.largest(quantities.LARGEST_EIGENVALUE)  # the largest sigma_1(Z1)^2 along each flow
    yield equal_on_every_draw(
        r"largest error of an eigenvalue of $Z_1^\top Z_1 - Z_2 Z_2^\top$, relative to the largest $\sigma_1(Z_1)^2$ "
        "along its flow",
        eigenvalues,
        two_gamma,
        tolerance=tolerance,
        # rtol is relative to the layers, whose squares make up the imbalance: not to 2 gamma, which may be far smaller
        relative_to=largest_square,
        because=STEPS_BY_RTOL,
        rivals={
            r"$\gamma I$ in place of $2\gamma I$": 0.5 * two_gamma,
            "balanced layers, an imbalance of zero": 0 * two_gamma,
        },
        fact="largest_error",
    )
    # the first entry is 2 gamma in every draw: zeros are padded at the end
    yield Facts(largest_allowed_error=float(np.nanmax(tolerance * largest_square / two_gamma[:, 0])))


@claim(
    "Lemma C.3",
    quantifier="all draws",
    scope="d > n: Gaussian and ill-conditioned data, large and small scale, along the flow",
)
def lemma_c_3(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$ the columns of $\alpha = Z_1^{-\top} Z_2$ stay in the span of the data, the rows of $X$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$ and
    $Z_2 = P W_2$. The lemma is about the limit; its proof, and the measurement, are about all times. In {draws} draws
    the part outside the span is {largest_part_outside:.1e} of $|\alpha|$ at most. The inverse of $Z_1$ multiplies
    errors of $Z_1$ by its condition number, and so the error allowed is multiplied by it.
    """
    if not any(has_several_interpolators(table) for table in flows):
        raise Untested("as many samples as inputs in every run: nothing is outside of their span; give fewer samples")
    flow, limits = Draws(flows, phase="flow"), Draws(flows, phase="limit")

    def number_of_inputs(limit: Draws) -> np.ndarray:
        """Return d for each draw of a table: W1 has as many singular values, shape (draws, d)."""
        sigma_W1 = limit.entries(SIGMA_W1)
        return np.full(len(sigma_W1), sigma_W1.shape[1])

    inputs, samples = limits.per_table(number_of_inputs), Draws(flows, phase="draw")[SAMPLES]
    # a random direction has the share (d - n) / d of its squared length outside the span of n others, on average
    outside_at_random = np.sqrt(np.maximum(inputs - samples, 0) / inputs)
    yield equal_on_every_draw(
        r"largest part of $\alpha$ outside the span of the data, relative to $|\alpha|$",
        flow.largest(quantities.ALPHA_OUTSIDE_DATA),  # |alpha - X^+ X alpha| / |alpha|
        0.0,
        tolerance=steps_by_rtol(flow) * flow.largest(quantities.CONDITION_OF_Z1),
        relative_to=1.0,  # the part is relative to |alpha| already
        because="steps times the relative tolerance times the condition number of $Z_1$",
        rivals={
            "directions at random, which leave the span by $\\sqrt{1 - n/d}$": outside_at_random,
            # chosen: small, and far above the tolerance
            "directions that leave the span a thousandth as far": 1e-3 * outside_at_random,
        },
        fact="largest_part_outside",
    )


@claim(
    "Lemma C.4, the end of the proof",
    quantifier="all draws",
    scope="limits of flows from rows of one length, and of unequal lengths",
    correction=r"$\nabla\Psi_1(Z_1) = Z_1 - Z_1^{-\top} D$. Such a potential exists for $D = 2\gamma I$. For a "
    r"diagonal $D$ that is not a multiple of the identity none exists.",
    reason="the factors are in the other order, as (P2) shows; the conclusion of the lemma holds",
)
def lemma_c_4(equal: Sequence[Table], unequal: Table, *, visible: Positive) -> Claim:
    r"""At the limit of the flow a potential $\Psi_1$ of $Z_1$ must have the gradient $Z_1 - D Z_1^{-\top}$, with $D$
    the imbalance. For $D = 2\gamma I$ such a potential exists; for a diagonal $D$ that is no multiple of the identity
    none does, and the proof breaks.

    The layers are $Z_1 = W_1 P^\top$ and $Z_2 = P W_2$, from $W_2(0) = 0$ and orthogonal rows of $W_1(0)$ along the
    rows of $P$. Their imbalance $D = Z_1^\top Z_1 - Z_2 Z_2^\top$ is $2\gamma I$ where these rows have one length. The
    formula for the gradient is compared with $Z_1^{-\top} Z_2 Z_2^\top$, which is the gradient by (P2) of Proposition
    C.5. From rows of unequal lengths the printed formula is off by up to {printed:.2g} of it (errata 8). A gradient has
    a symmetric derivative. For $D = 2\gamma I$ the derivative of the corrected formula is symmetric to rounding. For
    rows of unequal lengths its asymmetry, along pairs of directions, is at least {smallest_asymmetry:.2g} of the term
    with $D$, where {visible:.0e} is far above rounding. There the conclusion of Theorem 3.1 (ii) fails too, not only
    its proof: the flow ends {median_distance:.2g} of $|\beta_*|$ away from $\beta_* = X^+ Y$ (median), while the
    imbalance stays $D$ as it should.
    """
    limit = Draws(unequal, phase="limit")
    # |<K, dF[H]> - <H, dF[K]>| of the field F(Z) = Z - Z^{-T} D over pairs K, H, relative to its term in D
    asymmetry_of_equal_rows = Draws(equal, phase="limit")[quantities.ASYMMETRY]
    asymmetry_of_unequal_rows = limit[quantities.ASYMMETRY]
    # values of two rivals. One says that the derivative is symmetric from all rows, the other that it is from none
    of_all_rows = {"values": np.concatenate([asymmetry_of_equal_rows, asymmetry_of_unequal_rows])}
    # the distance from Z1^{-T} Z2 Z2^T, by (P2), to Z1 - D Z1^{-T}, and corrected to Z1 - Z1^{-T} D
    yield every_draw(
        "distance of the formula from the gradient that (P2) asks for, relative to it, from rows of unequal lengths",
        limit[quantities.GRADIENT_PRINTED],
        # the inverse of Z1 multiplies its errors by the condition number; chosen: its square, which leaves room
        at_most=steps_by_rtol(limit) * limit[quantities.CONDITION_OF_Z1] ** 2,
        because="steps times the relative tolerance times the squared condition number of $Z_1$",
        predicted=0.0,
        corrected={"values": limit[quantities.GRADIENT_CORRECTED]},
    )
    yield every_draw(
        "asymmetry of the derivative where a potential exists, relative to its term in $D$",
        asymmetry_of_equal_rows,
        at_most=1e-12,  # chosen: 4500 eps; the inverse of Z1 multiplies rounding by its condition number
        because="rounding, over inverses",
        rivals={"a potential whatever the imbalance": of_all_rows},
    )
    yield every_draw(
        "asymmetry of the derivative where no potential exists",
        asymmetry_of_unequal_rows,
        at_least=visible,
        because="far above rounding",
        rivals={"no potential whatever the imbalance": of_all_rows},
        fact="smallest_asymmetry",
    )
    flow = Draws(unequal)  # at all times, the limit among them
    yield every_draw(
        r"largest drift of the imbalance from $D$, relative to $\sigma_1(Z_1)^2$ at the same time",
        flow.largest(quantities.IMBALANCE_DRIFT),
        at_most=steps_by_rtol(flow),
        because=STEPS_BY_RTOL,
    )
    yield Facts(visible=visible, median_distance=float(np.nanmedian(limit[DISTANCE])))


@claim(
    "Lemma C.6, (C.13)",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow",
    correction="For labels that can be fitted, "
    r"$\frac{d}{dt}|Y - X\beta|^2 \leq -4\gamma\lambda_{\min}(XX^\top)|Y - X\beta|^2$: "
    r"$Y - X\beta$ decays instead of $R$, and at twice the printed rate.",
    reason="the inequality for the trace of three matrices is false, and the rate fails with it at small scales",
)
def lemma_c_6(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, for $R = X^\top(Y - X\beta)$: $\frac{d}{dt}|R|^2 \leq -2\gamma\lambda_{\min}(X^\top X)|R|^2$,
    with the smallest eigenvalue that is not zero.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$ and
    $Z_2 = P W_2$. The rates at which $|R|^2$ and $|Y - X\beta|^2$ decay are compared with 2 and with 4, in units of
    $\gamma\lambda_{\min}$, at all times of all draws; they are computed from the state by the chain rule. The proof
    takes $\mathrm{tr}(ABC) \geq \lambda_{\min}(A)\lambda_{\min}(B)\mathrm{tr}(C)$ for three positive semidefinite
    matrices. This is false, since the trace may be negative (errata 10). In {growing_draws} of {draws} draws $|R|^2$
    grows for a while, at a rate of up to {fastest_growth:.2g} units. The convergence that the lemma proves stands, with
    $Y - X\beta$ in place of $R$: by the imbalance $Z_1^\top Z_1 - Z_2 Z_2^\top = 2\gamma I$, $\frac{d}{dt}|Y -
    X\beta|^2 = -2|Z_1^\top R|^2 - 2|R Z_2^\top|^2 \leq -4\gamma\lambda_{\min}(XX^\top)|Y - X\beta|^2$. The measured
    rate at which $|Y - X\beta|^2$ decays is {slowest_decay:.3g} units at least.
    """
    draws = Draws(flows, phase="draw")
    # -(d|A|^2/dt) / |A|^2 for A = R and A = Y - X beta, in units of gamma lambda_min: the least along each flow, and
    # negative where the square grows
    rate_of_R, rate_of_residual = draws[quantities.DECAY_RATE_OF_R], draws[quantities.DECAY_RATE_OF_RESIDUAL]
    # Factor on bounds, for rounding: a residual is a difference of near numbers. Rates are read while it is above 1e-8
    # of the labels (`settled` in the configuration), where rounding is eps / 1e-8 = 2e-8 of it; chosen: 1e-6
    rounded = 1 - 1e-6

    def residual_decays(at_least: float | np.ndarray) -> dict[str, Any]:
        """Return name, values and bound of the check that the residual itself, instead of R, decays at a rate."""
        return {
            "name": r"slowest relative decay of $|Y - X\beta|^2$, in units of $\gamma\lambda_{\min}$",
            "values": rate_of_residual,
            "at_least": at_least * rounded,
        }

    yield every_draw(
        r"slowest relative decay of $|R|^2$, in units of $\gamma\lambda_{\min}$",
        rate_of_R,
        at_least=2.0 * rounded,  # (C.13)
        because="up to the rounding of a small residual",
        # The correction, and each rival, is about another quantity. With r = Y - X beta and R = X^T r: -d|r|^2/dt =
        # 2 |Z1^T R|^2 + 2 |R Z2^T|^2, where Z1 Z1^T >= 2 gamma I (C.8) and |R|^2 >= lambda_min |r|^2, so that |r|^2
        # falls at the rate 4 gamma lambda_min at least
        corrected=residual_decays(4.0),
        # rivals of the correction
        rivals={
            "the residual twice as fast": residual_decays(8.0),  # twice the corrected rate
            r"the residual with $\lambda_{\max}$ in place of $\lambda_{\min}$": residual_decays(
                4.0 / draws[quantities.INVERSE_CONDITION_OF_X] ** 2  # lambda_max / lambda_min = cond(X)^2
            ),
        },
    )
    yield Facts(
        growing_draws=int((rate_of_R < 0).sum()),
        fastest_growth=float(max(-np.nanmin(rate_of_R), 0.0)),
        slowest_decay=float(np.nanmin(rate_of_residual)),
    )


@claim(
    "Lemma C.10",
    quantifier="all draws",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow",
)
def lemma_c_10(flows: Sequence[Table]) -> Claim:
    r"""From $I_\gamma$, at all times, $\sigma_i(Z_1)^2 = \gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$ and
    $\sigma_i(Z_2)^2 = -\gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$.

    $I_\gamma$ is the start $W_1(0) = \sqrt{2\gamma} P$, $P P^\top = I$, $W_2(0) = 0$; $Z_1 = W_1 P^\top$ and
    $Z_2 = P W_2$. Each layer is compared with the measured spectrum of $\beta = W_1 W_2$ at the same time; $Z_1$ and
    $W_1 = Z_1 P$ share their singular values, as do $Z_2$ and $W_2$.
    """
    flow = Draws(flows, phase="flow")
    # predicted by (C.16), the lemma's formulas, from the measured sigma_i(beta); shape (draws, entries at all times)
    sigma_Z1, predicted_Z1 = flow.with_prediction(SIGMA_W1)
    sigma_Z2, predicted_Z2 = flow.with_prediction(SIGMA_W2)

    def predicted_Z1_with(gamma_times: float) -> np.ndarray:
        """Return sigma_i(Z1) by (C.16), with gamma multiplied by a factor; the shape of `sigma_Z1`."""

        def of_table(draws: Draws) -> np.ndarray:
            gamma = draws.setting("gamma")[:, None, None]  # with axes for times and singular values
            inputs = draws.entries(SIGMA_W1, "time").shape[2]
            sigma_beta = draws.entries(SIGMA_BETA, "time")  # shape (draws, times, k)
            sigma = theory.hidden_singular_values(sigma_beta, gamma_times * gamma, inputs)
            return sigma.reshape(len(sigma), -1)  # times and indices in one axis

        return flow.per_table(of_table)  # tables may differ in their number of inputs

    yield equal_on_every_draw(
        r"largest error of $\sigma_i(Z_1)$ along the flow, relative to $\sigma_1$",  # the largest sigma_1 of all times
        sigma_Z1,
        predicted_Z1,
        tolerance=steps_by_rtol(flow),
        because=STEPS_BY_RTOL,
        rivals={
            "balanced layers": predicted_Z1_with(0.0),
            r"$2\gamma$ in place of $\gamma$": predicted_Z1_with(2.0),
        },
    )
    # no rivals here: each rival above takes another gamma, and the check of Z1 refuses it
    yield equal_on_every_draw(
        r"largest error of $\sigma_i(Z_2)$ along the flow, relative to $\sigma_1(Z_1)$",
        sigma_Z2,
        predicted_Z2,
        tolerance=steps_by_rtol(flow),
        relative_to=sigma_Z1.max(axis=1),  # and not to Z2, which starts at zero
        because=STEPS_BY_RTOL,
    )


@claim(
    "Section 2, balanced initialisation",
    quantifier="all draws",
    scope="Gaussian data, d > n, balanced Gaussian layers, two scales",
)
def balanced_start(flows: Sequence[Table], unbalanced: Table) -> Claim:
    r"""From balanced layers, $W_1^\top W_1 = W_2 W_2^\top$, the hidden layer has rank at most $k$ at all times,
    whatever the scale.

    $k$ is the number of outputs. The largest $\sigma_{k+1}(W_1)$ at any time in {draws} draws is {largest_ratio:.1e} of
    $\sigma_1(W_1)$. The square root of the integrator's error is allowed. So a hidden layer of rank above $k$ needs
    layers that are not balanced.
    """
    # k and d are the numbers of singular values of W2 and W1, the same in all flows
    limit = Draws(flows[0], phase="limit")
    if limit.entries(SIGMA_W2).shape[1] >= limit.entries(SIGMA_W1).shape[1]:
        raise Untested("as many outputs as inputs: there is no rank to fall short of; give fewer outputs")

    def largest_beyond_rank(flow: Draws, fewer: int = 0) -> np.ndarray:
        """Return the largest sigma_(r+1) / sigma_1 of W1 along the flow for r = k - fewer, shape (draws,)."""
        sigma = flow.entries(SIGMA_W1, "time")  # shape (draws, times, d)
        rank = flow.entries(SIGMA_W2, "time").shape[2] - fewer  # r
        return (sigma[..., rank] / sigma[..., 0]).max(axis=1)  # as places count from 0, sigma_(r+1) is at r

    balanced, not_balanced = Draws(flows, phase="flow"), Draws(unbalanced, phase="flow")
    yield every_draw(
        r"largest $\sigma_{k+1}(W_1) / \sigma_1(W_1)$ along the flow",
        balanced.per_table(largest_beyond_rank),  # tables may have other times
        # W1^T W1 is W2 W2^T, of rank k, but for an error of steps times rtol of sigma_1^2: sigma_(k+1)^2 is no
        # larger than this error (Weyl)
        at_most=np.sqrt(steps_by_rtol(balanced)),
        because="the square root of an error of steps times the relative tolerance",
        rivals={
            # sigma_k instead of sigma_(k+1)
            "rank at most $k - 1$": {"values": balanced.per_table(lambda flow: largest_beyond_rank(flow, fewer=1))},
            # other data: flows from orthogonal rows of unequal lengths and W2(0) = 0
            "layers that are not balanced": {
                "values": largest_beyond_rank(not_balanced),
                "at_most": np.sqrt(steps_by_rtol(not_balanced)),
            },
        },
        fact="largest_ratio",
    )
