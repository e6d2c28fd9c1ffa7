"""The steps of the proofs about the flow's limit: Lemmas 3.2, C.3, C.4, C.6 and C.10; and balanced layers."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.judging import Checks, Finding, Untested, claim, every_draw
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.draws import (
    STEPS_BY_RTOL,
    PerTable,
    gathered,
    local_errors,
    multiplied,
    per_table,
    relative_errors,
    several_interpolators,
    worst,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, by_draw, settings_of


@claim("Lemma 3.2", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow")
def lemma_3_2(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the imbalance $Z_1^\top Z_1 - Z_2 Z_2^\top$ stays $2\gamma I$ for all times.

    Held against all eigenvalues of the imbalance at all recorded times; a check with meaning wherever the error
    allowed is far below $2\gamma$ itself. The largest error in {draws} draws is {largest:.1e} of
    $|Z_1^\top Z_1|$.
    """
    measured, printed = (per_table(flows, "imbalance", column, phase="flow") for column in ("value", "predicted"))
    sizes = [values.max(axis=1) for values in per_table(flows, "scale", phase="flow")]
    tolerance = local_errors(*flows)

    def judge(predicted: PerTable) -> Checks:
        errors = relative_errors(measured, predicted, sizes)
        name = r"largest error of an eigenvalue of $Z_1^\top Z_1 - Z_2 Z_2^\top$, relative to $|Z_1^\top Z_1|$"
        yield every_draw(name, errors, at_most=tolerance, because=STEPS_BY_RTOL, predicted=0.0)

    return Finding(
        judge,
        printed,
        rivals={
            r"$\gamma I$ in place of $2\gamma I$": multiplied(printed, 0.5),
            "balanced layers, an imbalance of zero": multiplied(printed, 0.0),
        },
        scaled=multiplied,
        facts={"largest": float(np.nanmax(relative_errors(measured, printed, sizes)))},
    )


@claim("Lemma C.3", scope="d > n: Gaussian and ill-conditioned data, large and small scale, along the flow")
def lemma_c_3(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$ the columns of $\alpha = Z_1^{-\top} Z_2$ stay in the span of the data, the rows of $X$.

    The lemma is about the limit; its proof, and the measurement, are about all times. The error of $Z_1$ is multiplied
    by its condition number when it is inverted, and so is the error allowed. The largest part outside, of $|\alpha|$,
    is {largest:.1e} in {draws} draws.
    """
    if not any(several_interpolators(table) for table in flows):
        raise Untested("as many samples as inputs in every run: nothing is outside of their span; give fewer samples")
    outside = worst(flows, "alpha_outside", phase="flow")
    tolerance = local_errors(*flows) * worst(flows, "condition", phase="flow")
    inputs = np.concatenate([np.full(len(ends), ends.shape[1]) for ends in per_table(flows, "sigma_w1", phase="limit")])
    random_parts = np.sqrt(np.maximum(inputs - gathered(flows, "samples", phase="draw"), 0) / inputs)

    def judge(predicted: np.ndarray) -> Checks:
        yield every_draw(
            r"largest part of $\alpha$ outside the span of the data, relative to $|\alpha|$",
            np.abs(outside - predicted),
            at_most=tolerance,
            because="steps times rtol times the condition number of $Z_1$",
            predicted=0.0,
        )

    return Finding(
        judge,
        np.zeros(len(outside)),
        rivals={
            "directions at random, which leave the span by $\\sqrt{1 - n/d}$": random_parts,
            "a thousandth of that": 1e-3 * random_parts,
        },
        facts={"largest": float(np.nanmax(outside))},
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
    isotropic, anisotropic = (gathered(tables, "curl", phase="limit") for tables in (equal, [unequal]))
    everywhere = np.concatenate([isotropic, anisotropic])

    def judge(with_potential: tuple[np.ndarray, np.ndarray]) -> Checks:
        symmetric, asymmetric = with_potential
        yield every_draw(
            "asymmetry of the derivative where a potential exists, relative to its size",
            symmetric,
            at_most=1e-12,
            because="rounding, over inverses",
        )
        yield every_draw(
            "asymmetry of the derivative where none exists",
            asymmetric,
            at_least=visible,
            because="far above rounding",
        )
        yield every_draw(
            "drift of the imbalance from $D$, relative to $|Z_1^\\top Z_1|$",
            worst([unequal], "imbalance"),
            at_most=local_errors(unequal),
            because=STEPS_BY_RTOL,
        )

    return Finding(
        judge,
        (isotropic, anisotropic),
        rivals={
            "a potential whatever the imbalance": (everywhere, anisotropic),
            "no potential whatever the imbalance": (isotropic, everywhere),
        },
        facts={
            "away": float(np.nanmedian(by_draw(unequal, "distance", phase="limit"))),
            "least": float(np.nanmin(anisotropic)),
        },
    )


@claim(
    "Lemma C.6, (C.13)",
    scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow",
    correction=r"$\frac{d}{dt}|Y - X\beta|^2 \leq -4\gamma\lambda_{\min}(XX^\top)|Y - X\beta|^2$: the "
    "residual itself decays, and at twice the printed rate.",
)
def lemma_c_6(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$, for $R = X^\top(Y - X\beta)$:
    $\frac{d}{dt}|R|^2 \leq -2\gamma\lambda_{\min}(X^\top X)|R|^2$, with the smallest eigenvalue that is not zero.

    The speed is computed from the state by the chain rule, in units of $\gamma\lambda_{\min}$. The proof takes
    $\mathrm{tr}(ABC) \geq \lambda_{\min}(A)\lambda_{\min}(B)\mathrm{tr}(C)$ for three positive semidefinite matrices,
    which is false: the trace may be negative. So it is here, in {growing} of {draws} draws: $|R|^2$ grows for a while,
    at up to {fastest:.2g} of these units. The lemma's conclusion stands, by another quantity: the residual obeys
    $\frac{d}{dt}|Y - X\beta|^2 = -2|Z_1^\top R|^2 - 2|R Z_2^\top|^2 \leq -4\gamma\lambda_{\min}(XX^\top)|Y - X\beta|^2$
    by the imbalance. The measured rate of its fall is {slowest:.3g} units at least.
    """
    names = {"gradient_rate": "$|R|^2$", "residual_rate": "$|Y - X\\beta|^2$"}
    rates = {name: gathered(flows, name, phase="draw") for name in names}
    spread = gathered(flows, "inverse_condition", phase="draw") ** -2

    def judge(predicted: tuple[Quantity, np.ndarray]) -> Checks:
        quantity, bound = predicted
        yield every_draw(
            f"slowest relative decay of {names[quantity]}, in units of $\\gamma\\lambda_{{\\min}}$",
            rates[quantity],
            at_least=bound * (1 - 1e-6),
            because="to the rounding of a small residual",
        )

    ones = np.ones(len(spread))
    return Finding(
        judge,
        ("gradient_rate", 2 * ones),
        corrected=("residual_rate", 4 * ones),
        rivals={
            "the residual twice as fast": ("residual_rate", 8 * ones),
            r"the residual with $\lambda_{\max}$ in place of $\lambda_{\min}$": ("residual_rate", 4 * spread),
        },
        reason="the inequality for the trace of three matrices is false, and the rate fails with it at small scales",
        facts={
            "growing": int((rates["gradient_rate"] < 0).sum()),
            "fastest": float(max(-np.nanmin(rates["gradient_rate"]), 0.0)),
            "slowest": float(np.nanmin(rates["residual_rate"])),
        },
    )


@claim("Lemma C.10", scope="Gaussian and ill-conditioned data, d > n and d = n, large and small scale, along the flow")
def lemma_c_10(flows: Sequence[Table]) -> Finding:
    r"""From $I_\gamma$, at all times, $\sigma_i(Z_1)^2 = \gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$ and
    $\sigma_i(Z_2)^2 = -\gamma + \sqrt{\gamma^2 + \sigma_i(\beta)^2}$.

    Each layer is held against the measured spectrum of $\beta$ at the same time; $Z_1$ and $W_1 = Z_1 P$ share their
    singular values, as do $Z_2$ and $W_2$.
    """
    tolerance = local_errors(*flows)
    hidden, outer = (per_table(flows, name, phase="flow") for name in ("sigma_w1", "sigma_w2"))
    outer_predicted = per_table(flows, "sigma_w2", "predicted", phase="flow")
    beta = [_by_time(table, "sigma_beta") for table in flows]
    largest = [values.max(axis=1) for values in hidden]

    def law(change: float) -> PerTable:
        return [
            theory.hidden_singular_values(
                sigma, change * settings_of(table)["gamma"], values.shape[1] // sigma.shape[1]
            ).reshape(values.shape)
            for table, sigma, values in zip(flows, beta, hidden, strict=True)
        ]

    def judge(predicted: PerTable) -> Checks:
        for label, errors in (
            (r"$\sigma_i(Z_1)$ along the flow, relative to $\sigma_1$", relative_errors(hidden, predicted)),
            (
                r"$\sigma_i(Z_2)$ along the flow, relative to $\sigma_1(Z_1)$",
                relative_errors(outer, outer_predicted, largest),
            ),
        ):
            yield every_draw(
                f"largest error of {label}", errors, at_most=tolerance, because=STEPS_BY_RTOL, predicted=0.0
            )

    return Finding(
        judge,
        law(1.0),
        rivals={"balanced layers": law(0.0), r"$2\gamma$ in place of $\gamma$": law(2.0)},
        scaled=multiplied,
    )


@claim("Section 2, balanced initialisation", scope="Gaussian data, d > n, balanced Gaussian layers, two scales")
def balanced_start(flows: Sequence[Table], unbalanced: Table) -> Finding:
    r"""From balanced layers, $W_1^\top W_1 = W_2 W_2^\top$, the hidden layer has rank at most $k$ at all times,
    whatever the scale.

    The largest $\sigma_{k+1}(W_1)$ at any time in {draws} draws is {largest:.1e} of $\sigma_1$. A rank that depends on
    the scale takes an imbalance.
    """
    inputs, outputs = (by_draw(flows[0], name, phase="limit").shape[1] for name in ("sigma_w1", "sigma_w2"))
    if outputs >= inputs:
        raise Untested("as many outputs as inputs: there is no rank to fall short of; give fewer outputs")

    def spare_values(tables: Sequence[Table], fewer: int) -> np.ndarray:
        spectra = [_by_time(table, "sigma_w1") for table in tables]
        outputs = [ends.shape[1] for ends in per_table(tables, "sigma_w2", phase="limit")]
        return np.concatenate(
            [
                (sigma[..., count - fewer] / sigma[..., 0]).max(axis=1)
                for sigma, count in zip(spectra, outputs, strict=True)
            ]
        )

    def judge(reading: tuple[Sequence[Table], int]) -> Checks:
        tables, fewer = reading
        yield every_draw(
            r"largest $\sigma_{k+1}(W_1) / \sigma_1(W_1)$ along the flow",
            spare_values(tables, fewer),
            at_most=np.sqrt(local_errors(*tables)),
            because="the square root of an error of steps times rtol",
        )

    return Finding(
        judge,
        (flows, 0),
        rivals={"rank at most $k - 1$": (flows, 1), "layers that are not balanced": ([unbalanced], 0)},
        facts={"largest": float(np.nanmax(spare_values(flows, 0)))},
    )


def _by_time(table: Table, quantity: Quantity) -> np.ndarray:
    """Return singular values along the flow, shape (draws, times, entries)."""
    flat = by_draw(table, quantity, phase="flow")
    entries = by_draw(table, quantity, phase="limit").shape[1]
    return flat.reshape(len(flat), -1, entries)
