"""Trajectories that no regulariser emulates.

W is the end-to-end matrix, l the loss, and P_W the preconditioner that depth N puts before the gradient of l (slide
16). If P_W vec(grad l) is the gradient of a function, its integral along every closed curve vanishes. The table has
integrals along closed curves by draw, depth and case; a case is one output with whitened or correlated inputs, or two
outputs. The second moments of whitened inputs are the identity.
"""

from learning_dynamics.judging import Claim, Facts, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.deep_linear.line_integral.quantities import INTEGRAL, WHITENED
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, select

# Settings of the claim, whose values are in workflow/config/deep_linear.yaml:
# - rounding: error of the quadrature, relative to the integral of the absolute value; chosen, above the few 1e-16 of
#   integrals that vanish. An integral that does not vanish is a million times `rounding` or more; the factor is chosen


@claim(
    "Slide 18, Trajectories cannot be emulated via regularization",
    quantifier="all draws",
    scope="squared losses with a gradient at zero; one output "
    "with whitened and with correlated inputs, and two outputs; depths 1, 2, 3, 4, 5 and 8",
    correction="The statement holds from depth 3 on where $W$ has more than one entry, as in the theorem that the "
    "slide abbreviates. At depth 2 it holds with at least two outputs and two inputs. For squared losses at depth 2 it "
    "holds with one output and inputs whose second moments are no multiple of the identity. But with one output and "
    "whitened inputs, or with one input, $P_W \\nabla\\ell$ is a gradient field.",
    reason="at depth 2, with one output and whitened inputs, the integral vanishes",
)
def no_regulariser(curve: Table, *, rounding: Positive) -> Claim:
    r"""If $\nabla\ell(0) \ne 0$, no function has $P_W\,\mathrm{vec}(\nabla\ell)$ as its gradient, at any depth of two
    or more (the slide names no depth).

    Where no function has the field as its gradient, its integral along some closed curve does not vanish. Judged is the
    integral over that of the absolute value: up to {rounding:g}, the rounding of the quadrature, it counts as zero,
    from a million times that on as not zero. It is at least {value:.2g} but at depth 1, and at depth 2 with one output
    and whitened inputs.

    The need for more than two layers is not our finding: it is the hypothesis of the theorem behind the slide (Arora,
    Cohen and Hazan 2018, theorem 2, from memory), which is reproduced here. New is where depth 2 is an exception, and
    where not (for other losses see errata 1).

    $P_W$ is the preconditioner that depth $N$ puts before the gradient $\nabla\ell$ at $W$. With one output, $P_W
    \nabla\ell = |W|^{2-2/N} (\nabla\ell + (N-1)\, \hat w \hat w^\top \nabla\ell)$, with $\hat w = W / |W|$. With
    whitened inputs $\nabla\ell$ is the sum of a part along $W$, for which the field is a gradient at every depth, and
    of a constant part $g$. For $g$ the antisymmetric part of the field's Jacobian is a multiple of $2 - 2/N - (N-1)$,
    which is zero at $N = 1$ and $N = 2$. So at depth 2 the end-to-end dynamics are plain gradient flow on $|W| \langle
    W, g \rangle + \frac{2}{3}|W|^3$, an objective of the kind that the slide rules out.
    """
    # one row for each curve, depth and case, which is a draw of these checks
    table = select(curve, INTEGRAL)
    integrals = table["value"].abs().to_numpy()
    depth = table["depth"].to_numpy()
    is_whitened = (table["case"] == WHITENED).to_numpy()  # one output with whitened inputs
    # Which integrals vanish: by the slide only those at depth 1, where P_W is the identity and the field a gradient; by
    # the correction also those at depth 2 with one output and whitened inputs. Two rivals say that more vanish. The
    # correction and each rival give both checks other integrals to judge, {"values": ...}
    vanishes = depth == 1
    vanishes_as_corrected = vanishes | (is_whitened & (depth == 2))
    vanishes_at_depth_2 = depth <= 2
    vanishes_if_whitened = vanishes | is_whitened
    at_depth_2 = "at depth 2 the integral always vanishes"
    if_whitened = "with one output and whitened inputs it always vanishes"
    yield every_draw(
        "smallest |∮ P_W vec(∇ℓ)·dW| / ∮ |P_W vec(∇ℓ)·dW| where it is predicted not to vanish",
        integrals[~vanishes],
        at_least=1e6 * rounding,
        because="a million times the rounding of the quadrature",
        corrected={"values": integrals[~vanishes_as_corrected]},
        rivals={
            # the next check refuses these two; this one passes, as fewer integrals must not vanish
            at_depth_2: {"values": integrals[~vanishes_at_depth_2]},
            if_whitened: {"values": integrals[~vanishes_if_whitened]},
            # by this rival no integral vanishes: this check gets those at depth 1 as well, and refuses the rival. The
            # next check does not name it, and judges what the correction gives it
            "it does not vanish at depth 1 either": {"values": integrals},
        },
    )
    yield every_draw(
        "largest |∮ P_W vec(∇ℓ)·dW| / ∮ |P_W vec(∇ℓ)·dW| where it is predicted to vanish",
        integrals[vanishes],
        at_most=rounding,
        because="rounding of the quadrature",
        corrected={"values": integrals[vanishes_as_corrected]},
        rivals={
            at_depth_2: {"values": integrals[vanishes_at_depth_2]},
            if_whitened: {"values": integrals[vanishes_if_whitened]},
        },
    )
    # The slide, the correction and the rivals predict the same in this check: the closed form of
    # `theory.sector_integral`, which integrals with one output and whitened inputs have, at every depth
    with_closed_form = table[table["predicted"].notna()]
    yield equal_on_every_draw(
        "difference from the closed form, one output and whitened inputs",
        with_closed_form["value"],
        with_closed_form["predicted"],
        tolerance=rounding,
        relative_to=1.0,  # both are shares of the integral of the absolute value
        because="Gauss-Legendre quadrature of smooth sides",
    )
    yield Facts(rounding=rounding)
