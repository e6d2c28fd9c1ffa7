"""The third phase: whether the rank falls while rare classes are learned, and what skew has to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from learning_dynamics.claims import Check, Finding, Judgement, at_least, claim, share_of_draws
from learning_dynamics.evidence import difference, share
from learning_dynamics.papers.softmax_dynamics.compression.selections import FULL_BATCH, map_draws
from learning_dynamics.papers.softmax_dynamics.draws import (
    END,
    FIRST,
    MORE,
    RARE_BEGIN,
    RARE_LEARNED,
    START,
    TREATED,
    members,
    shapes,
    share_difference,
    values,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, ascending


@claim("Figure 4, compression-seeking", scope=TREATED, empirical=True)
def compression(
    grid: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    within: Literal["fall", "fall_rare", "fall_learning"],
    typical: Fraction,
) -> Finding:
    """Under cross-entropy, with skewed classes and a bottleneck, the effective rank falls again while the rare classes
    are learned.

    Of a fall after a rise the part that lies in that time counts, if it is as deep as a fall must be. There is one in
    {value:.1%} of the draws, and at no scale in more than {highest:.0%} (scale {at:g}); if the faintest part is counted
    as well, in {any:.1%}. The whole course of the three phases, a fall, a rise and another fall, is that of
    {phases:.1%}. The rank rises meanwhile in {rising:.0%}, by {net:+.2f} in the median draw.
    """
    fallen = values(grid, within, 0, measure, threshold, skewed=True)
    net = values(grid, "net", 0, measure, skewed=True)
    scale = members(grid, skewed=True)["scale"].to_numpy()
    found = shapes(grid, measure, threshold, skewed=True)

    def judge(direction: str) -> Judgement:
        shown = fallen >= threshold if direction == "falls" else net >= threshold
        return Judgement(
            share_of_draws(
                "draws whose rank, after a rise, falls while the rare classes are learned",
                shown,
                at_least=typical,
                undecided=np.isnan(fallen),
                because=MORE,
            )
        )

    by_scale = {one: float(np.mean(fallen[scale == one] >= threshold)) for one in np.unique(scale)}
    at = max(by_scale, key=by_scale.__getitem__)
    facts = {
        "highest": by_scale[at],
        "at": at,
        "any": float(np.mean(fallen > 0)),
        "phases": float(np.mean([word is not None and word.startswith("FRF") for word in found])),
        "rising": float(np.mean(net >= threshold)),
        "net": float(np.nanmedian(net)),
    }
    return Finding(judge, "falls", {"the rank rises while they are learned": "rises"}, facts=facts)


@claim("Figure 4, the singular values", scope=TREATED, empirical=True)
def dominant_direction_reused(grid: Table, *, typical: Fraction) -> Finding:
    r"""While rare classes are learned the dominant direction is re-used: $\sigma_1$ grows faster than $\sigma_2$, and
    goes on to do so.

    Compared are the two values' changes from before the first of the rarest classes is learned to after the last
    ({value:.0%} of the draws), and from there to the end ({after:.0%}). What RankMe (not centred) follows is their
    ratio, which is a claim of its own.
    """
    sizes = [values(grid, name, None, skewed=True) for name in ("sigma_1", "sigma_2")]

    def more(places: tuple[int, int], name: str) -> Check:
        begin, end = places
        grown = [table[:, end - 1] - table[:, begin - 1] for table in sizes]
        faster = grown[0] - grown[1]
        return share_of_draws(name, faster > 0, at_least=typical, undecided=np.isnan(faster), because=MORE)

    def judge(windows: tuple[tuple[int, int], tuple[int, int]]) -> Judgement:
        meanwhile, after = windows
        return Judgement(
            more(meanwhile, "draws whose larger singular value grows more while rare classes are learned"),
            more(after, "draws whose larger singular value grows more after that"),
        )

    before, rare, after = (FIRST, RARE_BEGIN), (RARE_BEGIN, RARE_LEARNED), (RARE_LEARNED, END)
    rivals = {
        "before they are learned, in place of while": (before, after),
        "before they are learned, in place of after": (rare, before),
    }
    return Finding(judge, (rare, after), rivals, facts={"after": more(after, "").value})


@claim("Figure 4, the singular values' ratio", scope=TREATED, origin="ours", empirical=True)
def ratio_falls(grid: Table, *, typical: Fraction) -> Finding:
    r"""While rare classes are learned, and after, the ratio $\sigma_1 / \sigma_2$ falls, even where $\sigma_1$ grows
    faster.

    In two dimensions RankMe without centring is a falling function of this ratio, and rises with its fall. The median
    ratio goes from {begin:.2f} before the first of the rarest classes is learned to {learned:.2f} after the
    last and {end:.2f} at the end.
    """
    first, second = (values(grid, name, None, skewed=True) for name in ("sigma_1", "sigma_2"))
    ratio = first / second

    def falls(table: np.ndarray, begin: int, end: int, name: str) -> Check:
        change = table[:, end - 1] - table[:, begin - 1]
        return share_of_draws(name, change < 0, at_least=typical, undecided=np.isnan(change), because=MORE)

    def judge(reading: tuple[np.ndarray, tuple[int, int]]) -> Judgement:
        table, (begin, end) = reading
        return Judgement(
            falls(table, begin, end, "draws whose ratio falls while the rare classes are learned"),
            falls(table, RARE_LEARNED, END, "draws whose ratio falls after that"),
        )

    medians = np.nanmedian(ratio, axis=0)
    facts = {"begin": medians[RARE_BEGIN - 1], "learned": medians[RARE_LEARNED - 1], "end": medians[END - 1]}
    rare = (RARE_BEGIN, RARE_LEARNED)
    rivals = {
        "the difference falls, not the ratio alone": (first - second, rare),
        "the ratio falls from the start, before any class is learned": (ratio, (START, FIRST)),
    }
    return Finding(judge, (ratio, rare), rivals, facts=facts)


@claim(
    "Section 3.3, necessity",
    scope="8 examples, V = 4, cross-entropy, gradient flow from four scales; equal classes (d = 2), d = 3",
    empirical=True,
)
def skew_and_bottleneck_are_necessary(
    grid: Table,
    no_bottleneck: Table,
    *,
    measure: Literal["rankme_centred", "rankme", "effective_rank"],
    threshold: Positive,
    within: Literal["fall", "fall_rare", "fall_learning"],
    rare: Fraction,
) -> Finding:
    """Skewed classes and a bottleneck are both necessary for compression: where one of them is lacking, the rank does
    not fall while classes are learned.

    The paper says it of all three phases; tested here is the third. Of equal classes none is rare, so that all draws,
    with both and without one, are judged over the time in which classes after the first are learned, and by one rule:
    of a fall after a rise, the part in that time must be as deep as a fall. There is one in {treated:.1%} of the draws
    with both, in {equal:.1%} of those with equal classes and in {wide:.1%} of those with three dimensions. The share
    with both exceeds these by {equal_difference:+.1%} ({equal_least:+.1%} to {equal_most:+.1%}) and
    {wide_difference:+.1%} ({wide_least:+.1%} to {wide_most:+.1%}). Where a fall is rare with both as well, its absence
    without one would not have shown that both are needed.
    """
    ascending("dimension", grid=grid, no_bottleneck=no_bottleneck)
    fallen = {
        "treated": values(grid, within, 0, measure, threshold, skewed=True),
        "equal": values(grid, within, 0, measure, threshold, skewed=False),
        "wide": values(no_bottleneck, within, 0, measure, threshold, skewed=True),
    }

    def judge(controls: Mapping[str, str]) -> Judgement:
        return Judgement(
            *(
                share_of_draws(
                    f"draws whose rank, after a rise, falls while classes are learned, {name}",
                    fallen[control] >= threshold,
                    at_most=rare,
                    undecided=np.isnan(fallen[control]),
                    because="necessary means never without; one draw in twenty is let pass",
                )
                for control, name in controls.items()
            )
        )

    facts = {name: float(np.mean(shown >= threshold)) for name, shown in fallen.items()}
    for control in ("equal", "wide"):
        difference = share_difference(fallen["treated"] >= threshold, fallen[control] >= threshold)
        facts |= {
            f"{control}_difference": difference.value,
            f"{control}_least": difference.lower,
            f"{control}_most": difference.upper,
        }
    printed = {"wide": "without a bottleneck", "equal": "without skew"}
    rivals = {"the treated case as its own control": {"treated": "with both"}}
    return Finding(judge, printed, rivals, facts=facts)


@claim(
    "Figure 4, the search",
    scope="skewed classes of 8 examples, V = 4, d = 2, Gaussian starts; full batches, every optimiser of the map",
    origin="ours",
    empirical=True,
)
def full_batches_do_not_compress(
    variants: Table,
    *,
    measure: Literal["rankme_centred", "rankme"],
    threshold: Positive,
    within: Literal["fall", "fall_rare", "fall_learning"],
    typical: Fraction,
) -> Finding:
    """With full batches the rank falls while rare classes are learned in fewer than half of the draws, however the
    training is varied: by plain descent, larger steps, momentum, weight decay, Adam, or with correlated inputs.

    Each variant is judged by itself. By plain gradient descent it falls in {value:.0%} of the draws; most often under
    {most} at {amount:g}, in {share:.0%} ({share_low:.0%} to {share_high:.0%}), where the fall has a median depth of
    {depth:.2g}. With inputs correlated between all examples it does in up to {shared:.0%}, within classes in
    {by_class:.0%}. Draws that diverge count as falls in each part; {diverged} do, no more than {most_diverged} under
    one variant.
    """
    rows = map_draws(variants, within, measure, threshold, control="treated")
    full = rows[rows["variant"].isin(FULL_BATCH)]
    shares = {}
    for key, cell in full.groupby(["variant", "amount"]):
        shares[key] = share(int((cell["value"] >= threshold).sum()), len(cell))
    top = max(shares, key=lambda key: shares[key].value)
    deep = full[(full["variant"] == top[0]) & (full["amount"] == top[1]) & (full["value"] >= threshold)]["value"]

    def judge(kept: Sequence[str]) -> Judgement:
        cells = rows[rows["variant"].isin(kept)].groupby(["variant", "amount"], sort=False)["value"]
        return Judgement(
            *(
                share_of_draws(
                    f"treated draws whose rank, after a rise, falls while rare classes are learned: {name} {size:g}",
                    cell >= threshold,
                    at_most=typical,
                    undecided=np.isnan(cell),
                    because=MORE,
                )
                for (name, size), cell in cells
            )
        )

    def most_under(variant: str) -> float:
        return max(found.value for key, found in shares.items() if key[0] == variant)

    facts = {
        "most": top[0],
        "amount": top[1],
        "share": shares[top].value,
        "share_low": shares[top].lower,
        "share_high": shares[top].upper,
        "depth": float(deep.median()) if len(deep) else 0.0,
        "diverged": int(full["value"].isna().sum()),
        "most_diverged": int(full["value"].isna().groupby([full["variant"], full["amount"]]).sum().max()),
        "shared": most_under("inputs shared"),
        "by_class": most_under("inputs by class"),
    }
    return Finding(judge, FULL_BATCH, {"minibatches in their place": ("minibatch",)}, facts=facts)


@claim(
    "Figure 4, the search",
    scope="skewed and equal classes of 8 examples, d = 2 and d = V = 4, Gaussian starts, one example at a time",
    origin="ours",
    empirical=True,
)
def noise_compresses(
    variants: Table,
    *,
    measure: Literal["rankme_centred", "rankme"],
    threshold: Positive,
    typical: Fraction,
) -> Finding:
    """Trained on one example at a time the rank does fall while rare classes are learned, in most draws, and more often
    than in equally long times before and after; it falls without skew and without a bottleneck as well.

    It falls in {value:.0%} of the treated draws, by {depth:.2f} in the median one, in {equal:.0%} of those with equal
    classes and in {wide:.0%} of those with as many dimensions as classes. Steps of one example jitter, and a series
    that jitters falls at any time: the treated draws are held against windows of as many recorded steps just before
    ({before:.0%}; shorter where the start is near) and just after ({after:.0%}). The gradient of the one example is
    multiplied by the number of examples, so that noise is large. Over the whole time in which the rare classes are
    learned the rank changes by {net:+.2f} in the median draw: falls within that time are no phase by themselves.
    """
    cases = {"treated": "treated draws", "equal": "draws with equal classes", "wide": "draws without a bottleneck"}
    beside = {"fall_before": "before", "fall_after": "after"}
    batch = variants[(variants["variant"] == "minibatch") & (variants["amount"] == 1)]["variant"].size
    if not batch:
        raise ValueError("the map has no minibatches of one example; add 1 to `batches`")

    def depths(control: str, variant: str, window: str) -> np.ndarray:
        rows = map_draws(variants, window, measure, threshold, control=control)
        chosen = rows["variant"] == variant
        if variant == "minibatch":
            chosen &= rows["amount"] == 1
        return rows[chosen]["value"].to_numpy()

    def judge(reading: tuple[str, str]) -> Judgement:
        found = {control: depths(control, *reading) for control in cases}
        return Judgement(
            *(
                share_of_draws(
                    f"{name} whose rank, after a rise, falls while the rarest classes are learned",
                    found[control] >= threshold,
                    at_least=typical,
                    undecided=np.isnan(found[control]),
                    because=MORE,
                )
                for control, name in cases.items()
            ),
            *(
                at_least(
                    f"share of treated draws that fall, less that in an equally long window {when} (paired)",
                    difference(found["treated"] >= threshold, depths("treated", reading[0], window) >= threshold),
                    0.0,
                    because="noise falls at any time",
                )
                for window, when in beside.items()
            ),
        )

    def fallen(control: str, window: str) -> float:
        return float(np.mean(depths(control, "minibatch", window) >= threshold))

    net = map_draws(variants, "net", measure, 0.0, control="treated")
    net = net[(net["variant"] == "minibatch") & (net["amount"] == 1)]["value"]
    facts = {
        "depth": float(np.nanmedian(depths("treated", "minibatch", "fall_rare"))),
        "equal": fallen("equal", "fall_rare"),
        "wide": fallen("wide", "fall_rare"),
        "net": float(net.median()),
    }
    facts |= {when: fallen("treated", window) for window, when in beside.items()}
    rivals = {"full batches from the same starts": ("gradient descent", "fall_rare")}
    rivals |= {f"the window {when} in its place": ("minibatch", window) for window, when in beside.items()}
    return Finding(judge, ("minibatch", "fall_rare"), rivals, facts=facts)
