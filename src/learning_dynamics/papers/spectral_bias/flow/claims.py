"""The limit of the gradient flow (Theorem 3.1, Corollary 3.1), and the steps of its proof (Lemmas 3.2, C.3 to C.10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, every_draw
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.integration import gathered, local_errors, worst
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, by_draw, settings_of

STEPS_BY_RTOL = "the integrator's steps times its rtol"
LEFT_OPEN = "what the remaining residual leaves open, and steps times rtol"
Predictions = list[np.ndarray]  # one array for each table, draws along the first axis


def multiplied(predictions: Predictions, factor: float) -> Predictions:
    """Return predictions for each table, multiplied."""
    return [factor * predicted for predicted in predictions]


def relative_errors(measured: Predictions, predicted: Predictions, sizes: Predictions | None = None) -> np.ndarray:
    """Return each draw's largest error over entries, relative to its size, by default its largest measured value."""
    errors = []
    for number, (found, wanted) in enumerate(zip(measured, predicted, strict=True)):
        size = np.abs(found).max(axis=1) if sizes is None else sizes[number]
        errors.append(np.abs(found - wanted).max(axis=1) / size)
    return np.concatenate(errors)


@claim("Lemma 3.2", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow")
def lemma_3_2(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the imbalance $Z_1^\top Z_1 - Z_2 Z_2^\top$ stays $2\gamma I$ for all times.

    Held against all eigenvalues of the imbalance at all recorded times; a check with meaning wherever the error
    allowed is far below $2\gamma$ itself. The largest error in {draws} draws is {value:.1e} of $|Z_1^\top Z_1|$.
    """
    measured = [by_draw(table, "imbalance", phase="flow") for table in flows]
    printed = [by_draw(table, "imbalance", column="predicted", phase="flow") for table in flows]
    sizes = [by_draw(table, "scale", phase="flow").max(axis=1) for table in flows]
    tolerance = local_errors(*flows)

    def judge(predicted: Predictions) -> Judgement:
        errors = relative_errors(measured, predicted, sizes)
        name = r"largest error of an eigenvalue of $Z_1^\top Z_1 - Z_2 Z_2^\top$, relative to $|Z_1^\top Z_1|$"
        return Judgement(every_draw(name, errors, at_most=tolerance, because=STEPS_BY_RTOL, predicted=0.0))

    return Finding(
        judge,
        printed,
        rivals={
            r"$\gamma I$ in place of $2\gamma I$": multiplied(printed, 0.5),
            "balanced layers, an imbalance of zero": multiplied(printed, 0.0),
        },
        scaled=multiplied,
    )


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
    bounds = np.concatenate([np.full(table["seed"].nunique(), settings_of(table)["residual"] ** 2) for table in flows])
    ends, starts = gathered(flows, "loss", phase="limit"), gathered(flows, "loss", phase="flow", time=0.0)

    def judge(predicted: np.ndarray) -> Judgement:
        return Judgement(
            every_draw(
                r"largest $|\theta(t) - \theta_\infty|$ over its bound by the residual",
                arrival,
                at_most=predicted,
                because="the bound by the imbalance",
            ),
            every_draw(
                "loss at the end, relative to the start",
                ends / starts,
                at_most=1.01 * bounds * gathered(flows, "residual", phase="flow", time=0.0) ** -2,
                because="the square of the residual asked for",
            ),
        )

    one = np.ones(len(arrival))
    return Finding(
        judge,
        one,
        rivals={
            r"a way bounded with $\lambda_{\max}$ in place of $\lambda_{\min}$": gathered(
                flows, "inverse_condition", phase="draw"
            ),
            "half the way": 0.5 * one,
        },
        facts={"left": float(np.nanmax(gathered(flows, "left", phase="draw")))},
    )


@claim("Theorem 3.1 (ii)", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale")
def theorem_3_1_ii(flows: Sequence[Table], unequal: Table) -> Finding:
    r"""From $I_\gamma$ with any $\gamma > 0$ the predictor converges to the interpolator of least $\ell_2$ norm,
    $\beta_* = X^+ Y$.

    The distance that is left, {value:.1e} of $|\beta_*|$ at most in {draws} draws, is what the residual at the end
    explains. It takes the imbalance to be a multiple of the identity: from rows of unequal lengths, with the same zero
    second layer and on the same data as in the first of these runs, the flow ends at interpolators that are
    {unequal:.2g} (median) of $|\beta_*|$ away.
    """
    distance = gathered(flows, "distance", phase="limit")
    tolerance = gathered(flows, "distance_bound", phase="limit") * (1 + 1e-3) + local_errors(*flows)
    other = float(np.nanmedian(by_draw(unequal, "distance", phase="limit")))

    def judge(predicted: np.ndarray) -> Judgement:
        name = r"$|\beta - \beta_*| / |\beta_*|$ at the end of the flow"
        errors = np.abs(distance - predicted)
        return Judgement(every_draw(name, errors, at_most=tolerance, because=LEFT_OPEN, predicted=0.0))

    nothing = np.zeros(len(distance))
    return Finding(
        judge,
        nothing,
        rivals={
            "an interpolator as far away as where unequal rows lead": nothing + other,
            r"an interpolator $10^{-6}$ away": nothing + 1e-6,
        },
        facts={"unequal": other},
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
    under $X\beta = Y$, which is convex, so that a stationary point is a global minimum.
    """
    tolerance = gathered(flows, "distance_bound", phase="limit") + local_errors(*flows)

    def judge(first: str) -> Judgement:
        return Judgement(
            every_draw(
                "gradient of the Lagrangian in $W_1$ at the end, relative to $|W_1|$",
                gathered(flows, first, phase="limit"),
                at_most=tolerance,
                because=LEFT_OPEN,
                predicted=0.0,
            ),
            every_draw(
                "gradient of the Lagrangian in $W_2$ at the end, relative to $|W_2|$",
                gathered(flows, "stationarity_W2", phase="limit"),
                at_most=tolerance,
                because=LEFT_OPEN,
                predicted=0.0,
            ),
            every_draw(
                "least increase of the potential over perturbations",
                gathered(flows, "excess", phase="limit"),
                at_least=0.0,
                because="no perturbation lowers it",
            ),
        )

    return Finding(
        judge,
        "stationarity_W1",
        rivals={
            "the sum of squares alone": "stationarity_plain",
            r"$2\gamma$ before the logarithm": "stationarity_double",
        },
    )


@claim("Corollary 3.1", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale")
def corollary_3_1(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the hidden layer ends with
    $\sigma_i(W_1) = (\sqrt{\sigma_i(\beta_*)^2 + \gamma^2} + \gamma)^{1/2}$ for $i \leq k$, and $\sqrt{2\gamma}$ for
    the other $d - k$.

    A small scale leaves a hidden layer close to rank $k$, a large one a layer of full rank. The largest error in
    {draws} draws is {value:.1e} of $\sigma_1$. The spectrum of $W_2$ follows in the same way (Lemma C.10) and is a
    part of this check.
    """
    star = [by_draw(table, "sigma_beta", column="predicted", phase="limit") for table in flows]
    gammas = [settings_of(table)["gamma"] for table in flows]
    hidden = [by_draw(table, "sigma_w1", phase="limit") for table in flows]
    outer = [by_draw(table, "sigma_w2", phase="limit") for table in flows]
    layer = [theory.output_singular_values(found, gamma) for found, gamma in zip(star, gammas, strict=True)]
    tolerance = gathered(flows, "sigma_bound", phase="limit") * (1 + 1e-3) + local_errors(*flows)
    # the second layer's spectrum is as far from its limit as the first's, absolutely
    ratios = np.concatenate([found[:, 0] / other[:, 0] for found, other in zip(hidden, outer, strict=True)])

    def law(change: float) -> Predictions:
        pairs = zip(star, gammas, hidden, strict=True)
        return [theory.hidden_singular_values(found, change * gamma, first.shape[1]) for found, gamma, first in pairs]

    def judge(predicted: Predictions) -> Judgement:
        first, second = relative_errors(hidden, predicted), relative_errors(outer, layer)
        return Judgement(
            every_draw(
                r"largest error of $\sigma_i(W_1)$ at the end, relative to $\sigma_1$",
                first,
                at_most=tolerance,
                because=LEFT_OPEN,
                predicted=0.0,
            ),
            every_draw(
                r"largest error of $\sigma_i(W_2)$ at the end, relative to $\sigma_1$",
                second,
                at_most=tolerance * np.maximum(ratios, 1.0) ** 2,
                because=LEFT_OPEN,
                predicted=0.0,
            ),
        )

    return Finding(
        judge,
        law(1.0),
        rivals={
            r"the square root of $\sigma_i(\beta_*)$, as from balanced layers": law(0.0),
            r"$\gamma/2$ in place of $\gamma$": law(0.5),
            "all singular values as at the start": [
                np.full(first.shape, np.sqrt(2 * gamma)) for first, gamma in zip(hidden, gammas, strict=True)
            ],
        },
        scaled=multiplied,
    )


@claim("Lemma C.10", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow")
def lemma_c_10(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$, at all times, $\sigma_i(Z_1)^2 = \gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$ and
    $\sigma_i(Z_2)^2 = -\gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$.

    Each layer is held against the measured spectrum of $\beta$ at the same time; $Z_1$ and $W_1 = Z_1 P$ share their
    singular values, as do $Z_2$ and $W_2$.
    """
    tolerance = local_errors(*flows)
    hidden = [by_draw(table, "sigma_w1", phase="flow") for table in flows]
    outer = [by_draw(table, "sigma_w2", phase="flow") for table in flows]
    second = [by_draw(table, "sigma_w2", phase="flow", column="predicted") for table in flows]
    beta = [_by_time(table, "sigma_beta") for table in flows]
    largest = [found.max(axis=1) for found in hidden]

    def law(change: float) -> Predictions:
        found = []
        for table, sigma in zip(flows, beta, strict=True):
            inputs = int(by_draw(table, "sigma_w1", phase="limit").shape[1])
            predicted = theory.hidden_singular_values(sigma, change * settings_of(table)["gamma"], inputs)
            found.append(predicted.reshape(len(predicted), -1))
        return found

    def judge(predicted: Predictions) -> Judgement:
        return Judgement(
            every_draw(
                r"largest error of $\sigma_i(Z_1)$ along the flow, relative to $\sigma_1$",
                relative_errors(hidden, predicted),
                at_most=tolerance,
                because=STEPS_BY_RTOL,
                predicted=0.0,
            ),
            every_draw(
                r"largest error of $\sigma_i(Z_2)$ along the flow, relative to $\sigma_1(Z_1)$",
                relative_errors(outer, second, largest),
                at_most=tolerance,
                because=STEPS_BY_RTOL,
                predicted=0.0,
            ),
        )

    return Finding(
        judge,
        law(1.0),
        rivals={"balanced layers": law(0.0), r"$2\gamma$ in place of $\gamma$": law(2.0)},
        scaled=multiplied,
    )


@claim("Lemma C.3", scope="d > n: Gaussian and ill-conditioned data, large and small scale, along the flow")
def lemma_c_3(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the columns of $\alpha = Z_1^{-\top} Z_2$ stay in the span of the data, the rows of $X$.

    The lemma is about the limit; its proof, and the measurement, are about all times. The error of $Z_1$ is multiplied
    by its condition number when it is inverted, and so is the error allowed. The largest part outside, of $|\alpha|$,
    is {value:.1e} in {draws} draws.
    """
    outside = worst(flows, "alpha_outside", phase="flow")
    tolerance = local_errors(*flows) * worst(flows, "condition", phase="flow")
    missed = []
    for table in flows:
        inputs = by_draw(table, "sigma_w1", phase="limit").shape[1]
        samples = int(by_draw(table, "samples", phase="draw")[0, 0])
        missed.append(np.full(table["seed"].nunique(), np.sqrt(max(inputs - samples, 0) / inputs)))

    def judge(predicted: np.ndarray) -> Judgement:
        name = r"largest part of $\alpha$ outside the span of the data, relative to $|\alpha|$"
        errors = np.abs(outside - predicted)
        because = "steps times rtol times the condition number of $Z_1$"
        return Judgement(every_draw(name, errors, at_most=tolerance, because=because, predicted=0.0))

    return Finding(
        judge,
        np.zeros(len(outside)),
        rivals={
            "directions at random, which leave the span by $\\sqrt{1 - n/d}$": np.concatenate(missed),
            "a thousandth of that": 1e-3 * np.concatenate(missed),
        },
    )


@claim("Lemma C.4 and Proposition C.5", scope="limits of flows from rows of one length, and of unequal lengths")
def lemma_c_4(equal: Sequence[Table], unequal: Table, *, visible: Positive) -> Finding:
    r"""At the limit of the flow the gradient of a potential of $Z_1$ has to be $Z_1 - Z_1^{-\top} D$, with $D$ the
    imbalance. For $D = 2\gamma I$ such a potential exists; for a diagonal $D$ that is no multiple of the identity none
    does, and the proof breaks.

    A gradient has a symmetric derivative. The field's derivative is symmetric to rounding where $D$ is isotropic, and
    by {least:.2g} of its size at least asymmetric where it is not. (The lemma prints $D Z_1^{-\top}$; condition (P2)
    gives $Z_1^{-\top} D$.) The breaking is no mere lack of proof: from rows of unequal lengths the flow does not end
    at $\beta_*$, but {away:.2g} of $|\beta_*|$ away from it (median), while the imbalance stays $D$ as it should.
    """
    isotropic, anisotropic = gathered(equal, "curl", phase="limit"), by_draw(unequal, "curl", phase="limit")[:, 0]

    def judge(with_potential: tuple[np.ndarray, np.ndarray]) -> Judgement:
        yes, no = with_potential
        because = "rounding, over inverses"
        return Judgement(
            every_draw(
                "asymmetry of the derivative where a potential exists, relative to its size",
                yes,
                at_most=1e-12,
                because=because,
            ),
            every_draw(
                "asymmetry of the derivative where none exists",
                no,
                at_least=visible,
                because="far above rounding",
            ),
            every_draw(
                "drift of the imbalance from $D$, relative to $|Z_1^\\top Z_1|$",
                worst([unequal], "imbalance"),
                at_most=local_errors(unequal),
                because=STEPS_BY_RTOL,
            ),
        )

    return Finding(
        judge,
        (isotropic, anisotropic),
        rivals={
            "a potential whatever the imbalance": (np.concatenate([isotropic, anisotropic]), anisotropic),
            "no potential whatever the imbalance": (isotropic, np.concatenate([isotropic, anisotropic])),
        },
        facts={
            "away": float(np.nanmedian(by_draw(unequal, "distance", phase="limit"))),
            "least": float(np.nanmin(anisotropic)),
        },
    )


@claim(
    "Lemma C.6, (C.13)",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow",
    correction="d|Y − Xβ|²/dt ≤ −4γ λ_min(XXᵀ) |Y − Xβ|²: the residual itself decays at that rate, twice the printed",
)
def lemma_c_6(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$, for $R = X^\top(Y - X\beta)$:
    $\frac{d}{dt}|R|^2 \leq -2\gamma\lambda_{\min}(X^\top X)|R|^2$, with the smallest eigenvalue that is not zero.

    The speed is computed from the state by the chain rule, in units of $\gamma\lambda_{\min}$. The proof takes
    $\mathrm{tr}(ABC) \geq \lambda_{\min}(A)\lambda_{\min}(B)\mathrm{tr}(C)$ for three positive semidefinite matrices,
    which is false: the trace may be negative. So it is here, in {growing} of {draws} draws: $|R|^2$ grows for a while,
    at up to {fastest:.2g} of these units. The lemma's conclusion stands, by another quantity: the residual obeys
    $\frac{d}{dt}|Y - X\beta|^2 = -2|Z_1^\top R|^2 - 2|R Z_2^\top|^2 \leq -4\gamma\lambda_{\min}(XX^\top)|Y - X\beta|^2$
    by the imbalance, which falls at {slowest:.3g} units at least.
    """
    rates = {name: gathered(flows, name, phase="draw") for name in ("gradient_rate", "residual_rate")}
    names = {"gradient_rate": "$|R|^2$", "residual_rate": "$|Y - X\\beta|^2$"}
    spread = gathered(flows, "inverse_condition", phase="draw") ** -2

    def judge(predicted: tuple[str, np.ndarray]) -> Judgement:
        quantity, least = predicted
        return Judgement(
            every_draw(
                f"slowest relative decay of {names[quantity]}, in units of $\\gamma\\lambda_{{\\min}}$",
                rates[quantity],
                at_least=least * (1 - 1e-6),
                because="to the rounding of a small residual",
            )
        )

    one = np.ones(len(spread))
    return Finding(
        judge,
        ("gradient_rate", 2 * one),
        corrected=("residual_rate", 4 * one),
        rivals={
            "the residual twice as fast": ("residual_rate", 8 * one),
            r"the residual with $\lambda_{\max}$ in place of $\lambda_{\min}$": ("residual_rate", 4 * spread),
        },
        reason="the inequality for the trace of three matrices is false, and the rate fails with it at small scales",
        facts={
            "growing": int((rates["gradient_rate"] < 0).sum()),
            "fastest": float(max(-np.nanmin(rates["gradient_rate"]), 0.0)),
            "slowest": float(np.nanmin(rates["residual_rate"])),
        },
    )


@claim("Section 2, balanced initialisation", scope="Gaussian data, d > n, balanced Gaussian layers, two scales")
def balanced_start(flows: Sequence[Table]) -> Finding:
    r"""From balanced layers, $W_1^\top W_1 = W_2 W_2^\top$, the hidden layer has rank at most $k$ at all times,
    whatever the scale.

    The largest $\sigma_{k+1}(W_1)$ at any time in {draws} draws is {value:.1e} of $\sigma_1$. A rank that depends on
    the scale takes an imbalance.
    """
    hidden = [_by_time(table, "sigma_w1") for table in flows]
    outputs = [by_draw(table, "sigma_w2", phase="limit").shape[1] for table in flows]

    def judge(fewer: int) -> Judgement:
        beyond = [
            (sigma[..., count - fewer] / sigma[..., 0]).max(axis=1)
            for sigma, count in zip(hidden, outputs, strict=True)
        ]
        name = r"largest $\sigma_{k+1}(W_1) / \sigma_1(W_1)$ along the flow"
        because = "the square root of an error of steps times rtol"
        return Judgement(
            every_draw(name, np.concatenate(beyond), at_most=np.sqrt(local_errors(*flows)), because=because)
        )

    return Finding(judge, 0, rivals={"rank at most $k - 1$": 1})


def _by_time(table: Table, quantity: str) -> np.ndarray:
    """Return singular values along the flow, shape (draws, times, entries)."""
    flat = by_draw(table, quantity, phase="flow")
    entries = by_draw(table, quantity, phase="limit").shape[1]
    return flat.reshape(len(flat), -1, entries)
