"""Wild draws and turning points: what is drawn, what is refused, and that planted errors and turns are found."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import yaml

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import mean
from learning_dynamics.judging import VERDICTS, Evaluation, Judgement, at_most, every_draw
from learning_dynamics.pipeline.commands import wild
from learning_dynamics.pipeline.report.turning import describe_turning
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES
from learning_dynamics.pipeline.store.tables import read_provenance
from learning_dynamics.pipeline.study import regions
from learning_dynamics.pipeline.study.config import read_yaml
from learning_dynamics.pipeline.study.project import Project

# -- what is drawn -----------------------------------------------------------------------------------------------------


def test_a_draw_stays_in_its_ranges_and_is_the_same_each_time(configured):
    configured("data.starts.wild", {"samples": [2, 9]})
    found = configured("runs.slow.wild", {"rate": [1e-4, 0.015], "steps": ["samples", 12]})
    layers = [regions.wild_layer(found.study, "toy", draw) for draw in range(1, 40)]
    assert layers[:3] == [regions.wild_layer(found.study, "toy", draw) for draw in range(1, 4)]
    samples = [layer["data"]["starts"]["samples"] for layer in layers]
    assert set(samples) == set(range(2, 10))
    rates = [layer["runs"]["slow"]["rate"] for layer in layers]
    assert 1e-4 <= min(rates) < 1e-3 < 5e-3 < max(rates) <= 0.015  # by the logarithm
    assert all(low <= layer["runs"]["slow"]["steps"] <= 12 for low, layer in zip(samples, layers, strict=True))


def test_named_ends_are_those_of_the_draw_in_any_order_and_where_they_are_inherited(configured):
    configured("runs.slow.wild", {"rate": [1e-3, "steps"], "steps": [2, 3]})
    found = configured("runs.fast.wild", {"rate": [1e-3, "steps"]})
    for draw in range(1, 30):
        layer = regions.wild_layer(found.study, "toy", draw)["runs"]
        assert max(layer["slow"]["rate"], layer["fast"]["rate"]) <= layer["slow"]["steps"] <= 3


def test_a_digest_is_of_all_that_a_draw_reads(configured):
    found = configured("runs.slow.wild", {"steps": [2, 3]})
    before = regions.region_fingerprint(found, "toy", {})
    assert regions.regions_of_other_versions(found, "wild", {"toy/draw1": before, "other/draw1": before}) == [
        "toy/draw1", "other/draw1",
    ]  # fmt: skip
    layer = regions.wild_layer(found.study, "toy", 1)
    assert (
        regions.regions_of_other_versions(found, "wild", {"toy/draw1": regions.region_fingerprint(found, "toy", layer)})
        == []
    )
    assert regions.region_fingerprint(configured("data.starts.samples", 7), "toy", {}) != before
    before = regions.region_fingerprint(configured("data.starts.samples", 3), "toy", {})
    assert regions.region_fingerprint(configured("claims.geometric.wild", False), "toy", {}) != before


def test_a_list_is_a_choice_and_anything_else_a_value(configured):
    found = configured("runs.descent.wild", {"steps": [10, 20, 30], "seeds": 2})
    drawn = [regions.wild_layer(found.study, "toy", draw)["runs"]["descent"] for draw in range(30)]
    assert {one["steps"] for one in drawn} == {10, 20, 30}
    assert {one["seeds"] for one in drawn} == {2}


def test_what_inherits_a_drawn_setting_is_drawn_with_it(configured):
    found = configured("runs.slow.wild", {"steps": [3, 9], "rate": [0.001, 0.015]})
    layer = regions.wild_layer(found.study, "toy", 1)
    drawn = Project(regions.with_layer(found.study.configuration, "toy", layer, "wild", 7))
    fast, slow = (drawn.run("toy", name)["settings"] for name in ("fast", "slow"))
    assert fast["steps"] == slow["steps"] == layer["runs"]["slow"]["steps"]
    assert (fast["rate"], slow["rate"]) == (0.02, layer["runs"]["slow"]["rate"])  # it has its own
    assert drawn.study.seed == 7
    assert regions.wild_claims(found.study, "toy") == ["geometric"]


def test_a_claim_may_be_left_out_of_wild_draws(configured):
    configured("runs.slow.wild", {"steps": [3, 9]})
    assert regions.wild_claims(configured("claims.geometric.wild", False).study, "toy") == []
    with pytest.raises(ProjectError, match=r"claims.geometric.wild: must be False"):
        configured("claims.geometric.wild", {"steps": [3, 9]})


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"stpes": [1, 9]}, "runs.slow.wild.stpes: no setting of `slow`; did you mean `steps`?"),
        ({"steps": [0, 9]}, "runs.slow.wild.steps: must be 1 or more"),
        ({"steps": [9, 2]}, "runs.slow.wild.steps: from the smaller to the larger"),
        ({"steps": []}, "runs.slow.wild.steps: nothing to draw"),
        ({"data": [["starts"]]}, "runs.slow.wild.data: no data set `['starts']`"),
        ({"rate": [0.1, "stpes"]}, "toy: runs.slow.wild.rate: `stpes` is no number and names none; did you mean"),
    ],
)
def test_a_wild_block_that_means_nothing_is_refused(configured, block, message):
    with pytest.raises(ProjectError) as refused:
        configured("runs.slow.wild", block)
    assert message in str(refused.value)


HOLDS, FAILS = every_draw("x", 0.0, at_most=1.0), every_draw("x", 2.0, at_most=1.0)
OPEN = at_most("x", mean([0.0, 3.0]), 1.0)


@pytest.mark.parametrize(
    ("verdict", "printed", "corrected", "expected", "on_draw"),
    [
        ("reproduced", HOLDS, HOLDS, "corrected", "corrected"),  # one layer, one sample: both agree
        ("reproduced", HOLDS, FAILS, "corrected", "reproduced"),
        ("contradicted", FAILS, OPEN, "corrected", "undecided"),
        ("contradicted", FAILS, FAILS, "corrected", "contradicted"),
        ("reproduced", HOLDS, None, "reproduced", "reproduced"),
        ("contradicted", FAILS, None, "reproduced", "contradicted"),
    ],
)
def test_where_the_printed_formula_happens_to_hold_the_correction_counts(
    verdict, printed, corrected, expected, on_draw
):
    found = Evaluation(verdict, Judgement(printed), corrected and Judgement(corrected))
    assert wild.verdict_on_draw(found, expected)[0] == on_draw


def some_open(count, against=0):
    values = [0.0] * 20
    values[:count] = [np.nan] * count
    values[count : count + against] = [2.0] * against
    return every_draw("x", values, at_most=1.0)


def test_a_part_that_is_open_as_a_whole_leaves_a_draw_open():
    many = every_draw("x", np.zeros(100), at_most=1.0)
    for printed in (Judgement(many, OPEN), Judgement(many, every_draw("x", [np.nan], at_most=1.0))):
        assert wild.verdict_on_draw(Evaluation("undecided", printed, None), "reproduced")[0] == "undecided"
    found = Evaluation("contradicted", Judgement(FAILS), Judgement(many, OPEN))
    assert wild.verdict_on_draw(found, "corrected")[0] == "undecided"


@pytest.mark.parametrize(
    ("check", "on_draw"),
    [(some_open(1), "decided"), (some_open(2), "decided"), (some_open(3), "undecided"), (some_open(1, 1), "undecided")],
)
@pytest.mark.parametrize("expected", ["reproduced", "corrected"])
def test_a_statement_is_decided_where_nine_in_ten_of_a_draws_data_sets_are(check, on_draw, expected):
    printed, corrected = (check, None) if expected == "reproduced" else (FAILS, check)
    verdict = "contradicted" if corrected or check.state == "fails" else "undecided"
    found = Evaluation(verdict, Judgement(printed), corrected and Judgement(corrected))
    told = wild.verdict_on_draw(found, expected)[0]
    if check.state == "fails":
        assert told == "contradicted"
    else:
        assert told == {"decided": expected, "undecided": "undecided"}[on_draw]


@pytest.mark.parametrize(
    ("printed", "rivals", "on_draw"),
    [
        (HOLDS, {"the same by chance": "reproduced", "another": "contradicted"}, "reproduced"),
        (HOLDS, {"another": "contradicted"}, "undecided"),  # open for a reason of its own
        (HOLDS, {}, "undecided"),
        (OPEN, {"the same by chance": "undecided"}, "undecided"),
    ],
)
def test_a_rival_that_says_the_same_does_not_leave_a_draw_open(printed, rivals, on_draw):
    found = Evaluation("undecided", Judgement(printed), None, rivals=rivals)
    verdict, why = wild.verdict_on_draw(found, "reproduced")
    assert verdict == on_draw
    assert ("the same by chance would get the same verdict on this draw" in why) == (on_draw == "reproduced")


# -- where it is sought ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "grid"),
    [
        ({"range": [1e-4, 1.0]}, [1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ({"range": [0.0, 1.0], "points": 3}, [0.0, 0.5, 1.0]),
        ({"range": [1, 4]}, [1, 2, 3, 4]),
        ({"values": ["a", "b"]}, ["a", "b"]),
        ({"range": [0.1, 0.1000001]}, [0.1, 0.1000001]),
        ({"range": [5e-324, 1.0], "points": 2}, [5e-324, 1.0]),
    ],
)
def test_the_grid_has_a_value_a_decade(check, grid):
    assert regions.turning_grid(check) == grid


@pytest.mark.parametrize(("low", "high", "turns"), [(1e-8, 1e-2, 3e-5), (-1.0, 2.0, 0.71), (1, 1000, 137)])
def test_halving_ends_within_a_tenth(low, high, turns):
    for _ in range(60):
        middle = regions.midpoint(low, high)
        if middle is None:
            break
        low, high = (middle, high) if middle <= turns else (low, middle)
    assert low <= turns <= high
    assert high - low <= max(0.1 * abs(high) + 1e-9, 1)


def test_a_range_of_all_numbers_has_a_grid_and_a_middle():
    assert len(regions.turning_grid({"range": [1e-300, 1e99]})) == 400
    assert regions.midpoint(1e-300, 1e-200) == 1e-250
    assert regions.midpoint(5e-324, 1.0) > 5e-324


def test_words_are_not_halved():
    assert regions.midpoint("a", "b") is None


CHECK = {"run": "slow", "setting": "steps", "range": [5, 50], "claims": ["geometric"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": "slwo"}, "name the `run` or the `data` whose setting it is; did you mean `slow`"),
        ({"setting": "stpes"}, "no setting of `slow`; did you mean `steps`"),
        ({"range": [0, 50]}, "must be 1 or more"),
        ({"range": [50, 5]}, "from the smaller to the larger"),
        ({"range": [5, float("inf")]}, "must be a finite number"),
        ({"data": "starts"}, "give `run` or `data`"),
        ({"values": [5, 6]}, "give `range` or `values`"),
        ({"range": ..., "values": [5, 6], "points": 5}, "points: is for a `range`"),
        ({"setting": "rate", "range": [1, 2]}, "rate is a real number; write its ends with a point"),
        ({"claims": ["decay"]}, "claim `decay` does not use runs `slow`"),
    ],
)
def test_a_turning_check_that_means_nothing_is_refused(configured, change, message):
    with pytest.raises(ProjectError) as refused:
        configured("turning.steps", {key: value for key, value in (CHECK | change).items() if value is not ...})
    assert message in str(refused.value)


def test_only_the_named_run_is_varied(configured):
    found = configured("turning.steps", CHECK)
    turned = Project(regions.turning_configuration(found.study, "toy", CHECK, 7))
    assert [turned.run("toy", name)["settings"]["steps"] for name in ("slow", "fast")] == [7, 40]
    assert list(turned.study.paper_block("toy")["claims"]) == ["geometric"]


def test_a_turning_check_stands_beside_others_of_other_claims(configured):
    configured("turning.steps", CHECK)
    found = configured("turning.others", {**CHECK, "run": "descent", "claims": ["decay"]})
    assert list(found.study.checks("toy", "turning")) == ["steps", "others"]
    turned = Project(regions.turning_configuration(found.study, "toy", CHECK, 7))
    assert list(turned.study.paper_block("toy")["claims"]) == ["geometric"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("1e-06", "0.01", "reproduced", 1.0)], "reproduced from 1e-6 to 0.01"),
        (
            [("1e-06", "1e-05", "reproduced", 1.0), ("0.0001", "0.0001", "undecided", 0.4)],
            "reproduced from 1e-6 to 1e-5, undecided at 0.0001 (40% of draws for it)",
        ),
    ],
)
def test_where_a_verdict_turns_is_told_in_a_line(rows, told):
    keys = ("from", "to", "verdict", "share")
    found = [{"run": "small", "setting": "scale", **dict(zip(keys, row, strict=True))} for row in rows]
    assert describe_turning(found) == f"`scale` of small: {told}"


def test_every_verdict_has_a_look_of_its_own():
    assert tuple(VERDICT_STYLES) == VERDICTS
    assert (
        len({look.fill for look in VERDICT_STYLES.values()})
        == len({look.sign for look in VERDICT_STYLES.values()})
        == len(VERDICTS)
    )


# -- planted -----------------------------------------------------------------------------------------------------------

PLANTED = '''

@claim("planted", scope="made up")
def planted(run: Table, *, turns: Positive) -> Finding:
    """It holds up to a rate."""
    rate = settings_of(run)["rate"]
    return Finding(
        lambda factor: [every_draw("rate", [rate], at_most=turns * factor)], 1.0, {"a bound of nothing": 1e-9}
    )
'''


@pytest.fixture
def planted(clean):
    """The made-up paper with a statement that turns at 0.37, and one with a bound read off the default's data."""
    path = "src/learning_dynamics/papers/toy/decay/claims.py"
    text = clean.read(path)
    head, _, function = text.partition('@claim("section 1"')
    narrow = '\n\n@claim("section 1"' + function.replace("def decay(", "def narrow(").replace(
        '0.5 * settings["step"] * settings["rate"]', "2e-3"
    )
    assert "2e-3" in narrow
    head = head.replace("equal_on_every_draw\n", "equal_on_every_draw, every_draw\n").replace(
        "from learning_dynamics.tidy", "from learning_dynamics.settings import Positive\nfrom learning_dynamics.tidy"
    )
    clean.write(path, head + '@claim("section 1"' + function + narrow + PLANTED)
    config = read_yaml(clean.folder / "workflow/config/toy.yaml")
    config["runs"]["descent"]["wild"] = {"rate": [0.1, 3.0], "step": [1e-3, 0.05], "steps": 100, "seeds": 3}
    for name, settings in (("narrow", {}), ("planted", {"turns": 0.37})):
        config["claims"][name] = {"kind": f"decay.{name}", "runs": {"run": "descent"}, **settings}
    turning = {"run": "descent", "setting": "rate", "range": [0.01, 100.0], "claims": ["planted", "decay"]}
    config["turning"] = {"rate": turning}
    clean.write("workflow/config/toy.yaml", yaml.safe_dump(config))
    return clean


def stretches(workspace, claim):
    found = pd.read_parquet(workspace.folder / "results/toy/turning/rate.parquet")
    return found[found["claim"] == f"toy.{claim}"]


def test_a_planted_turning_point_is_found_to_a_tenth_and_an_interruption_is_taken_up(planted):
    out = ("--out", "results/toy/turning/rate.parquet")
    ended = planted.stage("turning", "toy", "rate", *out)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("5 values of rate, then at most")
    below, above = stretches(planted, "planted").to_dict("records")
    assert (below["verdict"], above["verdict"], below["own"], above["own"]) == (
        "reproduced", "contradicted", False, True,
    )  # fmt: skip
    assert (below["from"], above["to"]) == ("0.01", "100")
    assert float(below["to"]) <= 0.37 <= float(above["from"]) <= 1.1 * float(below["to"])
    assert not list((planted.folder / "results/toy/resume").iterdir())
    # what was judged before an interruption is not judged again; a line that was cut off is
    judged = {"planted": ["undecided", None, "kept"], "decay": ["undecided", None, "kept"]}
    made = read_provenance(planted.folder / "results/toy/turning/rate.parquet")["fingerprint"]
    kept = planted.folder / f"results/toy/resume/turning-toy-rate-{made}.jsonl"
    kept.write_text("\n".join([json.dumps(["0.01", judged]), "5", '{"a": 1, "b": 2}', '["0.1", {"pla']))
    assert planted.stage("turning", "toy", "rate", *out).returncode == 0
    assert [row["verdict"] for row in stretches(planted, "planted").to_dict("records")] == [
        "undecided", "reproduced", "contradicted",
    ]  # fmt: skip


def test_a_bound_that_was_read_off_the_defaults_data_is_caught_by_wild_draws(planted):
    draws = []
    for draw in range(1, 7):
        out = f"results/toy/wild/draw{draw}.parquet"
        ended = planted.stage("wild", "toy", "--draw", str(draw), "--out", out)
        assert ended.returncode == 0, ended.stderr
        draws.append(out)
    found = pd.concat([pd.read_parquet(planted.folder / out) for out in draws])
    verdicts = {claim: set(rows["verdict"]) for claim, rows in found.groupby("claim")}
    assert "contradicted" in verdicts["toy.narrow"]
    assert verdicts["toy.decay"] == {"reproduced"}
    assert "toy.geometric" not in verdicts  # its runs are not drawn
    names = {"out": "parquet", "csv": "csv", "markdown": "md", "pdf": "pdf", "png": "png"}
    files = itertools.chain.from_iterable((f"--{name}", f"results/wild.{kind}") for name, kind in names.items())
    ended = planted.stage("regions", "wild", *draws, *files)
    assert ended.returncode == 0, ended.stderr
    told = planted.read("results/wild.md")
    assert "`toy.narrow`, draw" in told
    assert "`toy.decay`, draw" not in told
    assert "| `toy.decay` | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |" in told
    assert planted.read("results/wild.csv").startswith("claim,draw,verdict,reason\n")
