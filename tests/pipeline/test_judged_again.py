"""A paper's claims judged again: planted errors, draws and turns are seen, and nothing is judged twice."""

import re

import pandas as pd
import pytest
import yaml

from learning_dynamics.pipeline.plan.config_files import read_yaml
from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import toy

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


def variations_table(workspace):
    return pd.read_parquet(workspace.folder / "results/variations.parquet")


def test_every_claim_is_judged_under_every_seed_and_every_draw(judged_once):
    found = variations_table(judged_once)
    tried = {kind: set(part["value"]) for kind, part in found.groupby("change")}
    assert tried["seed"] == {"2024", "2025"}
    assert tried["draw"] == set("123456")
    assert (found[found["change"] == "seed"].groupby("value").size() == 4).all()
    assert "`toy.narrow`, draw" in judged_once.read("results/robustness.md")
    assert judged_once.read("results/robustness.csv").startswith("claim,change,what,value,verdict,measured,reason\n")


def test_a_bound_read_off_the_default_is_contradicted_on_draws_whose_settings_are_measured(judged_once):
    found = variations_table(judged_once)
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
    found = variations_table(judged_once)
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
    ended = workspace.cli("variation", "toy", "seed2030")
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
