"""Claims judged again: what is changed and what is refused, and that planted errors, draws and turns are seen."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from learning_dynamics.evidence import mean
from learning_dynamics.judging import Evaluation, Judgement, at_most, every_draw
from learning_dynamics.pipeline.commands import variation, verdicts
from learning_dynamics.pipeline.plan import variations
from learning_dynamics.pipeline.plan.config_files import read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.report.robustness import (
    count_judged_again,
    describe,
    describe_thresholds,
    marks,
    page,
    stable_digits,
)
from learning_dynamics.pipeline.store.records import COLUMNS as CLAIM_COLUMNS
from learning_dynamics.pipeline.store.records import VARIATION_COLUMNS, variation_row
from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import toy
from tests.support import plan


def layers_of(found, count=40):
    return [variations.draw_layer(found.config, "toy", draw) for draw in range(1, count)]


def changed(found, name, value):
    """The project under one value of a change."""
    change = variations.change(found.config, "toy", name)
    return Plan(variations.changed_configuration(found.config, "toy", change, value))


def test_a_draw_stays_in_its_ranges_and_is_the_same_each_time(configured):
    configured("data.starts.free", {"samples": [2, 9]})
    found = configured("runs.slow.free", {"rate": [1e-4, 0.015], "steps": ["samples", 12]})
    layers = layers_of(found)
    assert layers == layers_of(found)
    samples = [layer["data"]["starts"]["samples"] for layer in layers]
    assert set(samples) == set(range(2, 10))
    rates = [layer["runs"]["slow"]["rate"] for layer in layers]
    assert 1e-4 <= min(rates) < 1e-3 < 5e-3 < max(rates) <= 0.015  # by the logarithm
    assert all(low <= layer["runs"]["slow"]["steps"] <= 12 for low, layer in zip(samples, layers, strict=True))
    # those that were published, drawn at that commit by the label of that time
    found = configured("runs.slow.free", {"rate": [1e-4, 0.015], "steps": [3, 9]})
    assert [layer["runs"]["slow"] for layer in layers_of(found, 3)] == [
        {"rate": 0.006435, "steps": 5},
        {"rate": 0.01417, "steps": 9},
    ]


def test_what_inherits_a_drawn_setting_is_drawn_with_it(configured):
    found = configured("runs.slow.free", {"steps": [3, 9], "rate": [0.001, 0.015]})
    drawn, layer = changed(found, "draw1", 1), variations.draw_layer(found.config, "toy", 1)
    fast, slow = (drawn.run("toy", name)["settings"] for name in ("fast", "slow"))
    assert fast["steps"] == slow["steps"] == layer["runs"]["slow"]["steps"]
    assert (fast["rate"], slow["rate"]) == (0.02, layer["runs"]["slow"]["rate"])  # it has its own
    assert drawn.config.seed == 2024
    assert variations.claims_on_draws(found.config, "toy") == ["geometric"]
    assert variations.claims_on_draws(configured("claims.geometric.free", False).config, "toy") == []


RANGE = {"run": "slow", "setting": "steps", "range": [5, 50], "claims": ["geometric"]}


def test_a_range_changes_the_named_run_alone_and_a_seed_every_draw(configured):
    found = changed(configured("robustness.range", RANGE), "range", 7)
    assert [found.run("toy", name)["settings"]["steps"] for name in ("slow", "fast")] == [7, 40]
    assert list(found.config.paper_block("toy")["claims"]) == ["geometric"]
    found = changed(configured(), "seed2030", 2030)
    assert found.data("toy", "starts")["settings"]["seed"] == found.config.seed == 2030
    assert list(found.config.paper_block("toy")["claims"]) == ["decay", "geometric"]
    for given, seeds in (
        ({}, ["seed2024", "seed2025"]),
        ({"first_seed": 3001}, ["seed3001", "seed3002"]),
        ({"first_seed": 2022}, ["seed2022", "seed2024"]),  # the configured one is no other
    ):
        names = list(variations.changes(configured(seeds=2, **given).config, "toy"))
        assert names == ["range", *seeds], given
    names = list(variations.changes(configured(seeds=2, draws=1, seeds_of=[]).config, "toy"))
    assert names == ["range"]  # no run of the paper has what is free to be drawn


def test_a_fingerprint_is_of_all_that_a_change_reads(configured):
    everything = {"range", "draw1", "seed7"}

    def fingerprints(path, value):
        found = configured(path, value)
        return {name: found.change_fingerprint("toy", name) for name in everything}

    configured("robustness.range", RANGE)
    before = fingerprints("runs.slow.free", {"steps": [2, 3]})
    for path, value, concerned in (
        ("runs.slow.free", {"steps": [4, 9]}, {"draw1"}),
        ("robustness.range.range", [5, 9], {"range"}),
        ("data.starts.samples", 7, everything),
        ("runs.fast.rate", 0.03, everything),
        ("claims.geometric.rounding", 2e-15, everything),
    ):
        after = fingerprints(path, value)
        assert {name for name in everything if after[name] != before[name]} == concerned, path
        before = after


# -- ranges and grids --------------------------------------------------------------------------------------------------


def test_the_grid_has_a_value_a_decade_and_bisection_ends_within_a_tenth_of_the_turn():
    for entry, grid in (
        ({"range": [1e-4, 1.0]}, [1e-4, 1e-3, 1e-2, 0.1, 1.0]),
        ({"range": [0.0, 1.0], "points": 3}, [0.0, 0.5, 1.0]),
        ({"range": [1, 4]}, [1, 2, 3, 4]),
        ({"grid": ["a", "b"]}, ["a", "b"]),
        ({"range": [5e-324, 1.0], "points": 2}, [5e-324, 1.0]),
    ):
        assert variations.grid_of(entry) == grid, entry
    for low, high, turn in ((1e-8, 1e-2, 3e-5), (-1.0, 2.0, 0.71), (1, 1000, 137), (0.1, 9, 5)):
        tried = variation.bisect(
            lambda value, turn=turn: "reproduced" if value <= turn else "not reproduced", low, high
        )
        below = max(value for value in [low, *tried] if value <= turn)
        above = min(value for value in [high, *tried] if value > turn)
        assert above - below <= max(0.1 * abs(above) + 1e-9, 1), (low, high, turn)
        assert len(tried) <= variations.MAX_BISECTIONS, (low, high, turn)
    # nor is what is not decided, or does not turn
    assert variation.bisect(lambda value: "undecided" if value < 3 else "reproduced", 1, 1000) == []
    assert variation.bisect(lambda value: "reproduced", 1, 1000) == []


# -- verdicts on draws -------------------------------------------------------------------------------------------------

HOLDS, FAILS = every_draw("x", 0.0, at_most=1.0), every_draw("x", 2.0, at_most=1.0)
OPEN = at_most("x", mean([0.0, 3.0]), 1.0)
MANY = every_draw("x", np.zeros(100), at_most=1.0)


def of_twenty(undecided, against=0):
    values = [np.nan] * undecided + [2.0] * against
    return every_draw("x", values + [0.0] * (20 - len(values)), at_most=1.0)


@pytest.mark.parametrize(
    ("whole", "printed", "on_draw"),
    [
        pytest.param("contradicted", [FAILS], "contradicted", id="it fails"),
        pytest.param("contradicted", [of_twenty(1, 1)], "contradicted", id="one is against it"),
        pytest.param("undecided", [MANY, OPEN], "undecided", id="a check is open as a whole"),
        pytest.param("undecided", [MANY, of_twenty(20)], "undecided", id="a check is open on every draw"),
        pytest.param("undecided", [of_twenty(2)], "reproduced", id="one in ten is open"),
        pytest.param("undecided", [of_twenty(3)], "undecided", id="more than one in ten are open"),
    ],
)
def test_a_draw_of_a_claim_that_is_expected_to_be_reproduced(whole, printed, on_draw):
    evaluation = Evaluation(whole, Judgement(*printed))
    assert variation.verdict_on_draw(evaluation, "reproduced")[0] == on_draw


@pytest.mark.parametrize(
    ("whole", "printed", "corrected", "on_draw"),
    [
        pytest.param("reproduced", [HOLDS], [HOLDS], "corrected", id="both hold, as of one layer"),
        pytest.param("reproduced", [HOLDS], [FAILS], "reproduced", id="the printed statement holds"),
        pytest.param("contradicted", [FAILS], [FAILS], "contradicted", id="neither holds"),
        pytest.param("contradicted", [FAILS], [OPEN], "undecided", id="the correction is open"),
        pytest.param("contradicted", [FAILS], [MANY, OPEN], "undecided", id="a check of the correction is open"),
        pytest.param("contradicted", [FAILS], [of_twenty(2)], "corrected", id="one in ten of the correction is open"),
    ],
)
def test_a_draw_of_a_claim_that_is_expected_to_be_corrected(whole, printed, corrected, on_draw):
    evaluation = Evaluation(whole, Judgement(*printed), Judgement(*corrected))
    assert variation.verdict_on_draw(evaluation, "corrected")[0] == on_draw


@pytest.mark.parametrize(
    ("printed", "rivals", "on_draw"),
    [
        pytest.param(HOLDS, {"chance": "reproduced", "another": "contradicted"}, "reproduced", id="a rival fits too"),
        pytest.param(HOLDS, {"another": "contradicted"}, "undecided", id="it is open for another reason"),
        pytest.param(OPEN, {"chance": "undecided"}, "undecided", id="a rival is open too"),
    ],
)
def test_a_draw_that_a_rival_may_explain_as_well_is_decided_by_the_statement(printed, rivals, on_draw):
    evaluation = Evaluation("undecided", Judgement(printed), None, rivals=rivals)
    verdict, why = variation.verdict_on_draw(evaluation, "reproduced")
    assert verdict == on_draw
    assert ("chance would get the same verdict on this draw" in why) == (on_draw == "reproduced")


# -- what is said of it ------------------------------------------------------------------------------------------------


def rows(*changes):
    """Rows of the claim `toy.a`: change, what, value and verdict of each."""
    names = ("change", "what", "value", "verdict")
    made = [
        {"paper": "toy", "claim": "toy.a", "measured": 1.0, "reason": ""} | dict(zip(names, one, strict=True))
        for one in changes
    ]
    return pd.DataFrame(made, columns=[column.name for column in VARIATION_COLUMNS])


def claims_of(verdict):
    blank = {"float": float("nan"), "int": 0, "str": ""}
    whole = {column.name: blank[column.type] for column in CLAIM_COLUMNS}
    return pd.DataFrame([whole | {"paper": "toy", "claim": "toy.a", "verdict": verdict, "reason": "because"}])


SCALES = [
    ("setting", "small.scale", value, verdict)
    for value, verdict in (("0.01", "undecided"), ("1e-05", "reproduced"), ("0.003", "reproduced"))
]


def test_a_line_says_where_a_verdict_holds_and_turns():
    for changes, line in (
        ([], ""),
        (SCALES, "with `scale` from 1e-5 to 0.003 in small (undecided at 0.01)"),
        ([("setting", "small.scale", "1", "undecided")], "with no other `scale` tried in small (undecided at 1)"),
        (
            [("setting", "grid.counts", "[[8, 4]]", "undecided"), ("setting", "grid.counts", "[[2, 1]]", "reproduced")],
            "with `counts` at 2:1 in grid (undecided at 8:4)",
        ),
        (
            [("threshold", "share", "0.9", "reproduced"), ("threshold", "share and loss", "0.8 and 1", "undecided")],
            "at 1 of 2 other thresholds (undecided where `share` is 0.8 and `loss` is 1)",
        ),
        (
            [("seed", "seed", str(seed), "reproduced") for seed in range(3)],
            "with 3 of 3 other seeds",
        ),
        (
            [("seed", "seed", "2024", "reproduced"), ("seed", "seed", "2025", "contradicted")],
            "with 1 of 2 other seeds (contradicted with seed 2025)",
        ),
        (
            [("draw", "draw", "1", "reproduced"), ("draw", "draw", "2", "untested"), ("draw", "draw", "3", "untested")],
            "in 1 of 3 random settings (2 untested)",
        ),
    ):
        assert describe("reproduced", rows(*changes)) == (f"Holds {line}" if line else ""), changes


def test_a_number_has_the_digits_that_seeds_leave_and_the_line_says_their_range():
    seeds = rows(("seed", "seed", "1", "reproduced"), ("seed", "seed", "2", "reproduced"))
    for others, digits, text in (
        ((0.126, 0.121), 2, " (measured 0.12 to 0.13)"),
        ((0.12341, 0.1235), 4, ""),
        ((0.12345, 0.12345), 4, ""),
        ((2e-12, 1e-12), 2, ""),
        ((float("nan"), float("nan")), 4, ""),
    ):
        judged = seeds.assign(measured=others)
        assert stable_digits({"verdict": "reproduced", "measured": 0.12345}, judged) == digits, others
        assert describe("reproduced", judged) == f"Holds with 2 of 2 other seeds{text}", others
    spread = seeds.assign(measured=(0.2, 0.3), verdict="corrected")
    assert stable_digits({"verdict": "corrected", "measured": 0.25}, spread) == 2
    assert describe("corrected", spread) == "Holds with 2 of 2 other seeds (measured 0.2 to 0.3)"
    assert describe("undecided", seeds.assign(verdict="undecided", measured=0.1)).startswith("Same verdict with 2 of 2")


@pytest.mark.parametrize(
    ("own", "others", "mark"),
    [
        ("reproduced", ["reproduced", "reproduced", "undecided"], ""),
        ("reproduced", ["reproduced", "undecided", "undecided"], "‡"),
        ("corrected", ["contradicted", "undecided", "corrected"], "‡"),
        ("reproduced", ["undecided"], "‡"),
        ("undecided", ["reproduced", "reproduced"], "‡"),
        ("reproduced", [], ""),
    ],
)
def test_a_mark_counts_other_seeds_and_the_verdict_stays_that_of_the_default_run(own, others, mark):
    claims = claims_of(own).assign(expected=own)
    judged = rows(*(("seed", "seed", str(number), other) for number, other in enumerate(others)))
    counted = count_judged_again(claims, judged)
    assert list(counted["verdict"]) == [own]
    assert list(counted["reason"]) == ["because"]
    assert verdicts.complaints(counted) == []
    (claim,) = counted.to_dict("records")
    assert (claim["seeds"], claim["seeds_agreeing"]) == (len(others), others.count(own))
    assert marks(claim) == mark
    assert counted.dtypes.equals(claims.dtypes)
    printed = verdicts.describe(counted)
    assert f" {own}{mark}\n" in printed
    assert f"1 claims: 1 {own}\n" in printed
    assert ("‡ fewer than two of three other seeds give this verdict" in printed) == bool(mark)


def test_of_thresholds_that_turn_a_verdict_together_only_those_that_all_matter_are_named():
    judged = rows(
        ("threshold", "level", "2", "undecided"),
        ("threshold", "level and average", "2 and median", "undecided"),
        ("threshold", "level and share", "2 and 0.1", "not reproduced"),
        ("threshold", "level and share", "3 and 0.1", "undecided"),
    )
    phrases = {"level": "?", "known.level": "{} is low", "average": {"median": "medians count"}, "share": {"0.2": "?"}}
    assert describe("reproduced", judged.assign(claim="p.known"), phrases) == (
        "Holds at 0 of 4 other thresholds (undecided where 2 is low, "
        "not reproduced where 2 is low and `share` is 0.1, undecided where 3 is low and `share` is 0.1)"
    )


def test_every_other_setting_of_a_claim_is_called_something():
    config = plan().config
    for paper in config.papers:
        for name, block in config.paper_block(paper)["claims"].items():
            for setting, values in (block.get("vary") or {}).items():
                for value in values:
                    row = {"claim": f"{paper}.{name}", "what": setting, "value": str(value)}
                    assert "`" not in describe_thresholds(row, config.phrases(paper)), (paper, name, setting, value)


def test_the_matrix_says_how_many_other_seeds_give_the_verdict():
    judged = rows(("seed", "seed", "7", "reproduced"), *(("seed", "seed", str(seed), "undecided") for seed in (8, 9)))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert "|✓‡&nbsp;`a`|||1/3 (undecided with seed 8, undecided with seed 9)||" in text
    assert (
        "Under other seeds 1 claims were judged: all seeds give the verdict on 0, fewer than two of three on 1" in text
    )


def test_table_and_page_mark_what_another_choice_turns():
    judged = rows(*SCALES, ("draw", "draw", "4", "contradicted"))
    text = page(count_judged_again(claims_of("reproduced"), judged), judged)
    assert "|✓†&nbsp;`a`|`scale` from 1e-5 to 0.003 in small (undecided at 0.01)|||0/1 (1 contradicted)|" in text
    assert "- `toy.a`, draw 4: contradicted" in text
    two = pd.concat([claims_of("reproduced"), claims_of("reproduced").assign(claim="toy.b")])
    both = page(two, pd.concat([rows(SCALES[1]), rows(SCALES[1]).assign(claim="toy.b")]))
    assert "|✓&nbsp;`a` ✓&nbsp;`b`|`scale` at 1e-5 in small" in both  # claims that agree share a row
    assert "†" not in page(claims_of("reproduced"), rows(*SCALES[1:])).partition("|claims|")[2]
    assert "reproduced†" in verdicts.describe(count_judged_again(claims_of("reproduced"), judged))
    assert "†" not in verdicts.describe(count_judged_again(claims_of("reproduced"), rows(*SCALES[1:])))


@pytest.mark.parametrize(
    ("quantifier", "judged", "written"),
    [
        ("some setting", "contradicted", "not reproduced"),
        ("some setting", "reproduced", "reproduced"),
        ("some setting", "undecided", "undecided"),
        ("all draws", "contradicted", "contradicted"),
    ],
)
def test_what_can_happen_is_not_contradicted_where_it_does_not(quantifier, judged, written):
    evaluation = Evaluation(judged, reason="why", quantifier=quantifier)
    row = variation_row("toy", "a", "setting", "small.scale", 0.1, evaluation)
    assert row["verdict"] == written
    assert row["reason"] == ("why" if judged == written else "does not show in this setting; why")


def test_what_can_happen_has_no_mark_for_settings_in_which_it_does_not():
    can_happen = claims_of("reproduced").assign(quantifier="some setting")
    elsewhere = ("setting", "small.scale", "0.1", "not reproduced")
    for claims, judged, mark in (
        (can_happen, rows(elsewhere), False),
        (can_happen, rows(elsewhere, ("threshold", "reached", "1", "not reproduced")), True),
        (can_happen.assign(verdict="not reproduced"), rows(("setting", "small.scale", "1", "reproduced")), True),
        (claims_of("reproduced"), rows(elsewhere), True),
    ):
        assert ("†" in verdicts.describe(count_judged_again(claims, judged))) == mark, (
            claims["verdict"].item(),
            judged["change"].tolist(),
        )
    assert (
        describe("reproduced", rows(elsewhere)) == "Holds with no other `scale` tried in small (not reproduced at 0.1)"
    )


# -- planted -----------------------------------------------------------------------------------------------------------

PLANTED = '''

@claim("planted", scope="made up")
def planted(run: Table, *, turns: Positive) -> Claim:
    """It holds up to a rate."""
    rate = settings_of(run)["rate"]
    yield every_draw("rate", [rate], at_most=turns, rivals={"a bound of nothing": 1e-9 * turns})
'''


def plant(workspace):
    """Add to the made-up paper a statement that turns at 0.37, and one with a bound read off the default's data."""
    path = "src/learning_dynamics/papers/toy/decay/claims.py"
    text = workspace.read(path)
    head, _, function = text.partition('@claim("section 1"')
    narrow = '\n\n@claim("section 1"' + function.replace("def decay(", "def narrow(").replace(
        '0.5 * settings["step"] * settings["rate"]', "2e-3"
    )
    assert "2e-3" in narrow
    head = head.replace("equal_on_every_draw\n", "equal_on_every_draw, every_draw\n").replace(
        "from learning_dynamics.tidy", "from learning_dynamics.settings import Positive\nfrom learning_dynamics.tidy"
    )
    workspace.write(path, head + '@claim("section 1"' + function + narrow + PLANTED)
    config = read_yaml(workspace.folder / "workflow/config/toy.yaml")
    config["runs"]["descent"]["free"] = {"rate": [0.1, 3.0], "step": [1e-3, 0.05], "steps": 100, "seeds": 3}
    for name, settings in (("narrow", {}), ("planted", {"turns": 0.37})):
        config["claims"][name] = {"function": f"decay.{name}", "runs": {"run": "descent"}, **settings}
    entry = {"run": "descent", "setting": "rate", "range": [0.01, 100.0], "claims": ["planted", "decay"]}
    config["robustness"] = {"rate": entry}
    workspace.write("workflow/config/toy.yaml", yaml.safe_dump(config))
    return workspace


@pytest.fixture
def planted(clean):
    """The made-up paper with both statements, before anything is built."""
    return plant(clean)


COUNTS = ("--config", "seeds=2", "draws=6")


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory):
    """The made-up paper with both statements, judged again; not to be changed."""
    workspace = plant(toy(tmp_path_factory.mktemp("robustness") / "project"))
    workspace.snakemake("robustness", *COUNTS)
    return workspace


def judged_again(workspace):
    return pd.read_parquet(workspace.folder / "results/variations.parquet")


def test_every_claim_is_judged_under_every_seed_and_every_draw(judged_once):
    found = judged_again(judged_once)
    tried = {kind: set(part["value"]) for kind, part in found.groupby("change")}
    assert tried["seed"] == {"2024", "2025"}
    assert tried["draw"] == set("123456")
    assert (found[found["change"] == "seed"].groupby("value").size() == 4).all()
    assert "`toy.narrow`, draw" in judged_once.read("results/robustness.md")
    assert judged_once.read("results/robustness.csv").startswith("claim,change,what,value,verdict,measured,reason\n")


def test_a_bound_read_off_the_default_is_contradicted_on_draws_whose_settings_are_measured(judged_once):
    found = judged_again(judged_once)
    on_draws = found[found["change"] == "draw"]
    verdicts_of = on_draws.groupby("claim")["verdict"].apply(set)
    assert "contradicted" in verdicts_of["toy.narrow"]
    assert verdicts_of["toy.decay"] == {"reproduced"}
    assert "toy.geometric" not in verdicts_of  # its runs are not drawn
    for draw in range(1, 7):
        layers = read_stamp(judged_once.folder / f"results/toy/variations/draw{draw}.parquet")["settings"]["layers"]
        on_draw = on_draws[(on_draws["value"] == str(draw)) & (on_draws["claim"] == "toy.planted")]
        assert on_draw["measured"].item() == layers[str(draw)]["runs"]["descent"]["rate"], f"draw {draw}"


def test_where_a_statement_turns_is_found_within_a_tenth(judged_once):
    found = judged_again(judged_once)
    over = found[(found["change"] == "setting") & (found["claim"] == "toy.planted")]
    below, above = (over[over["verdict"] == one]["value"].astype(float) for one in ("reproduced", "contradicted"))
    assert max(below) <= 0.37 <= min(above) <= 1.1 * max(below)
    assert min(below) == 0.01
    assert max(above) == 100.0


def test_a_draw_that_is_missing_or_of_another_configuration_is_not_passed_over(judged_once, tmp_path):
    planted = judged_once.copy(tmp_path / "project")
    assert "Nothing to be done" in planted.snakemake("robustness", "--dry-run", *COUNTS).stdout
    more = ("--config", "seeds=2", "draws=7")
    assert planted.would_run("robustness", *more) == {
        "results/toy/variations/draw7.parquet",
        "results/variations.parquet",
    }
    parts = sorted(
        str(path.relative_to(planted.folder)) for path in planted.folder.glob("results/toy/variations/*.parquet")
    )
    assert len(parts) == 9
    (planted.folder / parts[0]).rename(planted.folder / "kept.parquet")
    (planted.folder / "results/variations.parquet").unlink()
    assert planted.would_run("robustness", *COUNTS) == {parts[0], "results/variations.parquet"}
    (planted.folder / "kept.parquet").rename(planted.folder / parts[0])
    planted.configure("runs", "descent", "rate", value=0.9)
    assert set(parts) <= planted.would_run("robustness", *COUNTS)


CLAIMS = {"decay", "geometric", "narrow", "planted"}
RESUME = "results/toy/resume/again-seed2030.jsonl"


def judge_under_seed_2030(workspace):
    """Judge all claims under a seed; return the names of those that were judged now."""
    ended = workspace.stage("variation", "toy", "seed2030")
    assert ended.returncode == 0, ended.stderr
    return set(re.findall(r"seed = 2030: (\w+) ", ended.stdout))


def test_a_variation_that_is_killed_goes_on_with_the_claims_that_are_left(planted):
    assert judge_under_seed_2030(planted) == CLAIMS
    kept = planted.folder / RESUME
    lines = kept.read_text(encoding="utf-8").splitlines()
    table = pd.read_parquet(planted.folder / "results/toy/variations/seed2030.parquet")
    # as a kill leaves it: the last line is cut off, lines of another version or none are between
    kept.write_text("\n".join([lines[0], lines[1], "5", '{"a": 1}', lines[2][:-20]]), encoding="utf-8")
    assert len(judge_under_seed_2030(planted)) == 2
    pd.testing.assert_frame_equal(pd.read_parquet(planted.folder / "results/toy/variations/seed2030.parquet"), table)
    assert judge_under_seed_2030(planted) == set()


def test_a_claim_is_judged_under_a_seed_again_once_what_it_is_made_from_changes(planted):
    assert judge_under_seed_2030(planted) == CLAIMS
    claims = "src/learning_dynamics/papers/toy/decay/claims.py"
    planted.edit(claims, "It holds up to a rate.", "It holds up to some rate.")
    assert judge_under_seed_2030(planted) == set()  # words are not judged
    planted.configure("claims", "planted", "turns", value=0.38)
    assert judge_under_seed_2030(planted) == {"planted"}
    planted.configure("runs", "slow", "steps", value=41)
    assert judge_under_seed_2030(planted) == {"geometric"}
    assert len((planted.folder / RESUME).read_text(encoding="utf-8").splitlines()) == len(CLAIMS)  # no outdated rows
    planted.edit(claims, "a bound of nothing", "no bound")
    assert judge_under_seed_2030(planted) == CLAIMS - {"geometric"}  # the claims of this module
