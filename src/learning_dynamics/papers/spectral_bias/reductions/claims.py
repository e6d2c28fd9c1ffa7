"""The smaller systems that the flow reduces to, and the bound on the loss that they give."""

from __future__ import annotations

from learning_dynamics.claims import Outcome, at_most, claim, equal
from learning_dynamics.papers.spectral_bias.evidence import flow_error, largest_error, led_by, members, trajectory_error
from learning_dynamics.papers.spectral_bias.selections import select
from learning_dynamics.tables import Tables


@claim("Lemma 3.1", "largest distance of (W1, W2) from (Z1 P, Pᵀ Z2), relative to |W1|")
def lemma_3_1(tables: Tables) -> Outcome:
    """The layers stay in the span of the initial rows P, where a pair (Z1, Z2) of size d obeys the same flow.

    The network of full width and the pair of size d are integrated apart, and held against each other at
    every recorded time; what W1 and W2 have outside the span of P is measured by itself. The proof's last
    line starts the pair at Z1(0) = I; by the lemma's own definition it is √(2γ) I, from which it is started here.
    """
    outside = max(select(table, "subspace")["value"].max() for table in tables.values())
    apart = max(select(table, "projected")["value"].max() for table in tables.values())
    return Outcome(
        led_by(
            equal(float(apart), 0.0, trajectory_error(tables), because="two integrations apart: 5000 rtol"),
            equal(float(outside), 0.0, flow_error(tables), because="outside the span of P: 4 rtol"),
        ),
        members(tables),
    )


@claim(
    "Lemma 3.3",
    "largest |dβ/dt − (I − ααᵀ)⁻¹α|, relative to |dβ/dt| at the start",
    correction="β itself, not its derivative, is 2γ(I − ααᵀ)⁻¹α",
)
def lemma_3_3(tables: Tables) -> Outcome:
    """α = Z1⁻ᵀ Z2 obeys dα/dt = R − α Rᵀ α, and dβ/dt = (I − ααᵀ)⁻¹ α.

    The first half holds: the Riccati equation, integrated by itself, follows the network. The second half is
    a misprint, both in the dot over β and in the missing 2γ: the appendix proves β = 2γ (I − ααᵀ)⁻¹ α (Lemma
    C.2), which the network obeys at every time. As printed, the right side grows like 1/γ while the
    predictor comes to rest.
    """
    allowed = trajectory_error(tables)
    riccati = max(select(table, "alpha")["value"].max() for table in tables.values())
    printed = max(select(table, "printed_beta_speed")["value"].max() for table in tables.values())
    corrected = max(select(table, "beta_from_alpha")["value"].max() for table in tables.values())
    because = "two integrations apart: 5000 rtol"
    first_half = equal(float(riccati), 0.0, allowed, because=because)
    return Outcome(
        led_by(equal(float(printed), 0.0, allowed, because=because), first_half),
        members(tables),
        corrected=led_by(equal(float(corrected), 0.0, allowed, because=because), first_half),
        reason="the second half prints a derivative, and drops 2γ, where the appendix proves β itself",
    )


@claim(
    "Theorem 3.2 (a)",
    "largest |d∇Ψ(σ_i)/dt + ∂L/∂σ_i| along the flow, relative to the largest |∂L/∂σ_i|",
    correction="the potential is ½ tr(D sinh⁻¹(D/γ) − √(D² + γ²)): the ½ belongs before both terms",
)
def theorem_3_2_a(tables: Tables) -> Outcome:
    """The singular values D of β follow the mirror flow of Ψ(D) = tr(½ D sinh⁻¹(D/γ) − √(D² + γ²)).

    The speed of each singular value, uᵀ(dβ/dt)v, and the force on it, uᵀRv, are read off the network's states
    at each time. With the potential as printed they disagree: its gradient is ½ sinh⁻¹(D/γ) − ½ D/√(D² + γ²),
    so that near zero it would not move at all. The proof arrives at ½ sinh⁻¹(D/γ), the gradient of
    ½(D sinh⁻¹(D/γ) − √(D² + γ²)), and that one holds. Integrated, the two differ by up to ½.
    """
    (table,) = tables.values()
    gamma = min(table.attrs["settings"]["gammas"])
    force = select(table, "mirror_speed")["predicted"].abs().max()

    def violation(quantity: str) -> float:
        rows = select(table, quantity)
        return float((rows["value"] - rows["predicted"]).abs().max() / force)

    # the coordinate's curvature at zero, 1 / (2 gamma), multiplies the states' error
    allowed = flow_error(tables) * max(1.0, 1 / (2 * gamma))
    because = "4 rtol over 2γ"
    return Outcome(
        equal(violation("printed_mirror_speed"), 0.0, allowed, because=because),
        members(tables),
        corrected=equal(violation("mirror_speed"), 0.0, allowed, because=because),
        reason="the printed potential misplaces a factor ½, as differentiating it shows",
    )


@claim("Theorem 3.2 (b)", "largest distance between the network's β and the mirror flow's, relative to the largest")
def theorem_3_2_b(tables: Tables) -> Outcome:
    """With one output the predictor follows the mirror flow of ψ, run at speed √(γ + √(|β|² + γ²)).

    The mirror flow is integrated by itself, in the coordinates ∇ψ(β) = β / √(γ + √(|β|² + γ²)), whose inverse
    is β = m √(|m|² + 2γ), and held against the network of width 200 at every recorded time, for three scales.
    """
    check = equal(
        largest_error(tables, "beta"), 0.0, trajectory_error(tables), because="two integrations apart: 5000 rtol"
    )
    return Outcome(check, members(tables))


@claim("Lemma C.8", "largest ratio of the loss to its bound along the flow")
def lemma_c_8(tables: Tables) -> Outcome:
    """With one output the loss at time t is at most D_ψ(β*, 0) / (√(2γ) t).

    The bound holds with room to spare: the quadratic loss gives ⟨∇L, β − β*⟩ = 2L, of which the proof uses L
    (and prints that inequality the wrong way round), and the actual decay is exponential in the end.
    """
    ratio = max((rows["value"] / rows["predicted"]).max() for rows in (select(t, "loss") for t in tables.values()))
    return Outcome(at_most(float(ratio), 1.0, because="the loss over its bound"), members(tables))
