"""Claims on the fibres H → AH and on the tangent space of the renormalised features."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Outcome, all_of, claim, equal
from learning_dynamics.papers.neural_collapse.central_path.rows import (
    DIFFERENCE_ERROR,
    ROUNDING,
    draws,
    largest_of,
    measured,
)
from learning_dynamics.tables import Tables


@claim("Section 3.1, eq. 7", "largest relative change of predictions or loss under H → AH")
def invariance(tables: Tables) -> Outcome:
    """Without weight decay, predictions and loss of the least-squares classifier do not change under H → AH, A
    invertible.

    The text takes A symmetric and appendix D.1 drops that: A is drawn positive definite, symmetric with
    eigenvalues of both signs, and neither; global mean and bias are there. All leave predictions and loss as they were,
    up to rounding errors that grow with the square of A's condition number. The invariance has a consequence that
    matters below: the loss is constant along H → AH, so that its gradient is orthogonal to every SH.
    """
    table = tables["central_path_features"]
    tolerance = 10 * np.finfo(float).eps * table.attrs["settings"]["condition"] ** 2
    gap = largest_of(table, "prediction_gap", "loss_gap")
    return Outcome(equal(gap, 0.0, tolerance, because="rounding: 10 ε cond(A)²"), draws(table))


@claim("Propositions 3 and 4", "largest relative departure from a projection onto the tangent space")
def tangent_space(tables: Tables) -> Outcome:
    """The tangent space at X is {Z : XCZᵀ + ZCXᵀ = 0}, and the printed map is a projection onto it.

    Curves that stay on the manifold X C Xᵀ = I have velocities that satisfy the equation, every solution is the
    velocity of such a curve, and the equation's rank is P(P + 1)/2, as many as the manifold has constraints. The
    printed map Z − ½(XCZᵀ + ZCXᵀ)X takes everything into that space, leaves what lies there alone, and applied
    twice does what it does once; so does the orthogonal projection Z − (CN/2)(XCZᵀ + ZCXᵀ)XC. A space has many
    projections onto it: they differ in what they discard, S X here and S X C there, S symmetric. Proposition 3 as
    printed lacks the transpose of its last X, a slip: the shapes do not fit without it. Features keep all P rows;
    the paper drops to the C rows of its aligned coordinates, which changes nothing in the spectrum.
    """
    table = tables["central_path_features"]
    codimension = measured(table, "codimension")
    missed = float((codimension["value"] - codimension["predicted"]).abs().max())
    exact = largest_of(table, "image", "idempotence", "tangent_moved")
    curves = largest_of(table, "curve_equation", "curve_velocity")
    check = all_of(
        equal(exact, 0.0, ROUNDING, because="rounding"),
        equal(curves, 0.0, DIFFERENCE_ERROR, because="error of central differences"),
        equal(missed, 0.0, 0.5, because="a rank is a whole number"),
    )
    return Outcome(check, draws(table))


@claim("Proposition 4, proof of Lemma 4", "largest ‖Π − Πᵀ‖_F / ‖Π‖_F of the printed map as a matrix")
def projection_self_adjoint(tables: Tables) -> Outcome:
    """The printed map onto the tangent space may be moved across the inner product: ⟨Π(A), B⟩ = ⟨A, Π(B)⟩.

    It may not: Π as printed is a projection but not an orthogonal one. It discards S X, a move along the fibre X →
    AX, where orthogonality asks to discard S X C. In the degenerate inner product tr(A C Bᵀ) it would be the
    orthogonal one, as on a Stiefel manifold with a metric of that form, but C sees only deviations from class
    means, and the gradient is taken in the Frobenius inner product.

    The step matters because of what the adjoint does. It maps Z to Z − ½(ZXᵀ + XZᵀ)XC, and the gradient satisfies
    ∇L Xᵀ = 0, the loss being constant along fibres. So the adjoint leaves the gradient alone, and the equation that
    Lemma 4 arrives at is gradient flow without any projection, which leaves the manifold. Its class means do move
    as under the orthogonal projection, which is how Lemma 5 and Proposition 2 come out right for that one: see
    `proposition_2`. The expansion in Lemma 2, apart from a sign that slips in its last line, is right, and for the
    printed map.
    """
    table = tables["central_path_features"]
    orthogonal = largest_of(table, "asymmetry", flow="orthogonal")
    reason = (
        f"the orthogonal projection measures {orthogonal:.1g}. The adjoint of the printed map changes the gradient by "
        f"{largest_of(table, 'adjoint_gradient'):.1g} of its norm, the map itself by "
        f"{measured(table, 'printed_gradient')['value'].min():.2g} or more; at least "
        f"{measured(table, 'gradient_normal')['value'].min():.2g} of the gradient's norm is normal to the manifold"
    )
    check = equal(largest_of(table, "asymmetry", flow="printed"), 0.0, ROUNDING, because="rounding")
    return Outcome(check, draws(table), reason=reason)
