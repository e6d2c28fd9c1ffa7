"""Claims on the fibres H -> AH, on the tangent space of the renormalised features, and on simplex frames."""

import numpy as np

from learning_dynamics.judging import Check, Checks, Finding, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.neural_collapse.draws import (
    DIFFERENCE_ERROR,
    ROUNDING,
    by_size,
    largest,
    over_sizes,
    zero_on_every_draw,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, by_draw, draw_columns, select, settings_of

FREE = "Gaussian features of three sizes, within-class covariance of full rank"
RENORMALISED = FREE + ", renormalised"


@claim("Section 3.1, eq. 7", scope=FREE + ", any global mean and bias; A positive definite, symmetric, general")
def invariance(features: Table) -> Finding:
    r"""Without weight decay, predictions and loss of the least-squares classifier do not change under $H \to AH$, $A$
    invertible.

    The text takes $A$ symmetric, and appendix D.1 positive definite: neither is needed. Equation 7 loses a factor $CN$
    in its first step and has it back in its last; appendix D.1 writes $H = AX$ with $A = \Sigma_W^{-1/2}$, where it is
    $\Sigma_W^{1/2}$. The loss is constant along fibres, so that its gradient is orthogonal to every $BH$ with a square
    matrix $B$.
    """
    tolerance = 10 * np.finfo(float).eps * settings_of(features)["condition"] ** 2

    def judge(changes: tuple[Quantity, Quantity]) -> Checks:
        for quantity, change in zip(("predictions", "losses"), changes, strict=True):
            yield zero_on_every_draw(
                f"relative change of {quantity}",
                largest(features, change),
                tolerance,
                "rounding: 10 units times the square of A's condition number",
            )

    return Finding(
        judge,
        printed=("predictions", "losses"),
        rivals={
            "the classifier of $H$ kept for $AH$": ("predictions--classifier_kept", "losses--classifier_kept"),
        },
    )


def _check_zero(features: Table, name: str, gap: Quantity, flow: str) -> Check:
    """Hold a gap of a tangent map, relative, against rounding."""
    return zero_on_every_draw(name, largest(features, gap, flow=flow), ROUNDING, "rounding", resolution=np.inf)


@claim("Propositions 3 and 4", scope=RENORMALISED)
def tangent_space(features: Table) -> Finding:
    r"""The tangent space at $X$ is $\{Z : XCZ^\top + ZCX^\top = 0\}$, and the printed map
    $Z - \frac12(XCZ^\top + ZCX^\top)X$ is a projection onto it.

    Curves that stay on the manifold $XCX^\top = I$ have velocities that satisfy the equation, every solution is the
    velocity of such a curve, and the equation's rank is $P(P+1)/2$, as many as the manifold has constraints. The
    printed map takes everything into that space, leaves what lies there alone, and applied twice does what it does
    once; so does the orthogonal projection: a space has many projections onto it, which differ in what they discard.
    Proposition 3 as printed lacks the transpose of its last $X$, a slip: the shapes do not fit without it.
    """

    def judge(statement: tuple[str, str]) -> Checks:
        flow, equation = statement
        yield _check_zero(features, "image off the space", "image", flow)
        yield _check_zero(features, "second application", "idempotence", flow)
        yield _check_zero(features, "tangents moved", "tangent_moved", flow)
        curves = largest(features, f"curve_equation{equation}", "curve_velocity")
        codimensions = select(features, f"codimension{equation}").sort_values(draw_columns(features))
        rank = codimensions["features"] * (codimensions["features"] + 1) / 2
        yield every_draw(
            "velocities of curves off the equation",
            curves,
            at_most=DIFFERENCE_ERROR,
            because="error of central differences",
        )
        yield equal_on_every_draw(
            "rank of the equation", codimensions["value"], rank, tolerance=0.0, because="a rank is a whole number"
        )

    rivals = {
        "the printed map without its factor $1/2$": ("whole", ""),
        "a minus between its products, as the proof of Lemma 2 prints": ("minus_sign", ""),
        "$XCZ^\\top - ZCX^\\top = 0$ in the place of the equation": ("printed", "--minus_sign"),
        "$XZ^\\top + ZX^\\top = 0$ in the place of the equation": ("printed", "--uncentred"),
    }
    return Finding(judge, printed=("printed", ""), rivals=rivals)


@claim(
    "Proposition 4, proof of Lemma 4",
    scope=RENORMALISED,
    correction=r"The orthogonal projection is self-adjoint: $Z - \frac{CN}{2}(XCZ^\top + ZCX^\top)XC$.",
)
def projection_self_adjoint(features: Table) -> Finding:
    r"""The printed map onto the tangent space may be moved across the inner product:
    $\langle\Pi(A), B\rangle = \langle A, \Pi(B)\rangle$.

    It may not: $\Pi$ as printed is a projection but not an orthogonal one; its matrix differs from its transpose by
    {printed:.2g} of its norm on the draw where it is worst. What is put in its place must be self-adjoint, and a
    projection onto the tangent space as well. The printed map discards $SX$, a move along the fibre, where
    orthogonality asks to discard $SXC$.

    The step matters because of what the adjoint does. It maps $Z$ to $Z - \frac12(ZX^\top + XZ^\top)XC$, and the
    gradient satisfies $\nabla L\,X^\top = 0$, the loss being constant along fibres. So the adjoint leaves the gradient
    alone (to {adjoint:.1g} of its norm, where the map itself changes it by {moved:.2g} or more), and the equation that
    Lemma 4 arrives at is gradient flow without any projection, which leaves the manifold: at least {normal:.2g} of the
    gradient is normal to it. Its class means do move as under the orthogonal projection, which is how Lemma 5 and
    Proposition 2 come out right for that one. Equation 5 says "projects" and no more: read as the orthogonal
    projection, Proposition 2 stands and the formula of Proposition 4 is to be replaced; read as that formula, it is
    Proposition 2 that falls. `proposition_2` has both.
    """

    def judge(flow: str) -> Checks:
        yield _check_zero(features, "$\\|\\Pi - \\Pi^\\top\\|_F / \\|\\Pi\\|_F$", "asymmetry", flow)
        yield _check_zero(features, "image off the tangent space", "image", flow)
        yield _check_zero(features, "tangents moved", "tangent_moved", flow)

    facts = {
        "printed": largest(features, "asymmetry", flow="printed").max(),
        "adjoint": largest(features, "adjoint_gradient").max(),
        "moved": by_draw(features, "printed_gradient").min(),
        "normal": by_draw(features, "gradient_normal").min(),
    }
    reason = "the printed map is not its own adjoint"
    rivals = {
        "the orthogonal projection without its factor $1/2$, self-adjoint too": "whole_orthogonal",
        "the printed map with a minus between its products": "minus_sign",
    }
    return Finding(judge, printed="printed", rivals=rivals, corrected="orthogonal", reason=reason, facts=facts)


@claim("Lemma 2", scope=RENORMALISED + "; steps in a random direction of zero mean")
def lemma_2(features: Table, *, tolerance: Positive) -> Finding:
    r"""A step $X + \Delta$ that is renormalised equals $X + \Pi(\Delta) + O(\|\Delta\|^2)$ with the printed map $\Pi$.

    The remainder relative to $\|\Delta\|$ must fall as the first power of the step. The proof's last formula but one
    prints a minus between the two products of $\Pi$, a slip. With the orthogonal projection, under which Proposition 2
    holds, the lemma does not: the order of what is left is {orthogonal:.2g}.
    """

    def order(flow: str) -> np.ndarray:
        remainders = by_draw(features, "remainder", flow=flow)
        return np.log2(remainders[:, -2] / remainders[:, -1])

    def judge(flow: str) -> Checks:
        yield equal_on_every_draw(
            "order of the remainder over the step, from the two smallest steps",
            order(flow),
            1.0,
            tolerance=tolerance,
            relative_to=1.0,
            because="next order: the step's relative size, some thousandths, times a curvature",
        )

    rivals = {
        "the orthogonal projection": "orthogonal",
        "a minus between the products, as the proof prints": "minus_sign",
    }
    return Finding(judge, printed="printed", rivals=rivals, facts={"orthogonal": np.median(order("orthogonal"))})


@claim("Lemma 3", scope=RENORMALISED + "; the non-zero singular values, along the printed map")
def lemma_3(features: Table) -> Finding:
    r"""Along $\Pi(dX)$, with the printed $\Pi$, singular values change by
    $d\omega_j = (y_j^\top/N - \omega_j x_j^\top C)\,dx_j$ in aligned coordinates.

    Measured by central differences. Along the orthogonal projection the second product is absent.
    """

    def error(measured: np.ndarray, predicted: np.ndarray, *_: int) -> np.ndarray:
        return np.abs(measured - predicted).max(axis=(1, 2)) / np.abs(measured).max(axis=(1, 2))

    def judge(formula: Quantity) -> Checks:
        yield zero_on_every_draw(
            "slopes of $\\omega_j$ less the formula, relative",
            over_sizes(error, by_size(features, "slope"), by_size(features, formula)),
            DIFFERENCE_ERROR,
            "error of central differences",
        )

    return Finding(judge, printed="slope--lemma_3", rivals={"the first product alone": "slope--without_shrinking"})


@claim("Lemma 7", scope="matrices of the sizes of three draws, both directions of the equivalence")
def lemma_7(features: Table) -> Finding:
    r"""A matrix is a simplex equiangular tight frame if and only if it has exactly $C-1$ non-zero singular values, all
    equal, and its columns sum to zero.

    The Gram matrix of a matrix with both properties is held against a simplex frame's; singular values and column sum
    of a rotated simplex frame against the properties.
    """

    def judge(gap: Quantity) -> Checks:
        yield zero_on_every_draw(
            "relative gap, the larger of both directions", largest(features, gap), ROUNDING, "rounding"
        )

    return Finding(
        judge,
        printed="lemma_7",
        rivals={
            "equal singular values without columns that sum to zero": "lemma_7--other_null_space",
            "columns that sum to zero without equal singular values": "lemma_7--unequal_values",
        },
    )
