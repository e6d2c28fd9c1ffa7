"""`make robustness` judges claims again under other seeds, draws and settings, and repeats only what has changed.

Two planted claims have known answers: one turns at a rate of 0.37, the bound of the other fits the default alone.
"""

import re

import pandas as pd
import pytest

from learning_dynamics.pipeline.store.tables import read_stamp
from tests.pipeline.conftest import toy

TURN = 0.37  # the largest rate at which the claim `planted` holds
# it measures the rate of its run
PLANTED = '''

@claim("planted", scope="made up")
def planted(run: Table, *, turns: Positive) -> Claim:
    """It holds up to a rate."""
    rate = settings_of(run)["rate"]
    yield every_draw("rate", [rate], at_most=turns, rivals={"a bound of nothing": 1e-9 * turns})
'''
CLAIMS_OF_DECAY = "src/learning_dynamics/papers/toy/decay/claims.py"
TOLERANCE = '0.5 * settings["step"] * settings["rate"]'  # of the claim `decay`: the step's own error
# an entry of `robustness:`
RATES = {"run": "descent", "setting": "rate", "range": [0.01, 100.0], "claims": ["planted", "decay"]}


def plant(workspace):
    """Add two claims to the made-up paper, and return the workspace.

    `planted` holds up to the rate `TURN`. `narrow` is the claim `decay` with a tolerance of 2e-3, just above the error
    at the default's rate and step, 1.8e-3, and below that on one in four draws.
    """
    text = workspace.read(CLAIMS_OF_DECAY)
    imports, _, function = text.partition('@claim("section 1"')
    decay = '@claim("section 1"' + function
    assert "def decay(" in decay
    assert TOLERANCE in decay
    narrow = decay.replace("def decay(", "def narrow(").replace(TOLERANCE, "2e-3")
    imports = imports.replace("equal_on_every_draw\n", "equal_on_every_draw, every_draw\n")
    imports = imports.replace(
        "from learning_dynamics.tidy", "from learning_dynamics.settings import Positive\nfrom learning_dynamics.tidy"
    )
    workspace.write(CLAIMS_OF_DECAY, imports + decay + "\n\n" + narrow + PLANTED)
    workspace.configure(
        "runs", "descent", "free", value={"rate": [0.1, 3.0], "step": [1e-3, 0.05], "steps": 100, "seeds": 3}
    )
    workspace.configure("claims", "narrow", value={"function": "decay.narrow", "runs": {"run": "descent"}})
    workspace.configure(
        "claims", "planted", value={"function": "decay.planted", "runs": {"run": "descent"}, "turns": TURN}
    )
    workspace.configure("robustness", value={"rate": RATES})
    return workspace


SEEDS, DRAWS = 2, 6
COUNTS = ("--config", f"seeds={SEEDS}", f"draws={DRAWS}")


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory):
    """The made-up paper with both planted claims, after `snakemake robustness`; not to be changed."""
    workspace = plant(toy(tmp_path_factory.mktemp("robustness") / "project"))
    workspace.snakemake("robustness", *COUNTS)
    return workspace


@pytest.fixture(scope="module")
def variations(judged_once):
    """The table of all variations: a row for each claim under each change."""
    return pd.read_parquet(judged_once.folder / "results/variations.parquet")


def test_every_claim_is_judged_under_every_seed(variations):
    under_seeds = variations[variations["change"] == "seed"]
    claims = under_seeds.groupby("value")["claim"].apply(set)
    every_claim = {"toy.decay", "toy.geometric", "toy.narrow", "toy.planted"}
    assert claims.to_dict() == {"2024": every_claim, "2025": every_claim}


def test_every_claim_whose_runs_have_free_settings_is_judged_on_every_draw(variations):
    on_draws = variations[variations["change"] == "draw"]
    claims = on_draws.groupby("value")["claim"].apply(set)
    # `geometric` reads other runs
    of_descent = {"toy.decay", "toy.narrow", "toy.planted"}
    assert claims.to_dict() == {str(draw): of_descent for draw in range(1, DRAWS + 1)}


def test_the_list_of_variations_names_claims_and_draws_that_disagree(judged_once):
    assert "`toy.narrow`, draw" in judged_once.read("results/robustness.md")


def test_the_variations_are_a_csv_table_as_well(judged_once):
    assert judged_once.read("results/robustness.csv").startswith("claim,change,what,value,verdict,measured,reason\n")


def test_a_bound_that_fits_the_default_alone_is_contradicted_on_some_draw(variations):
    verdicts_on_draws = variations[variations["change"] == "draw"].groupby("claim")["verdict"].apply(set)
    assert "contradicted" in verdicts_on_draws["toy.narrow"]
    assert verdicts_on_draws["toy.decay"] == {"reproduced"}  # its bound follows from step and rate


@pytest.mark.parametrize("draw", range(1, DRAWS + 1))
def test_on_a_draw_claims_are_judged_by_runs_with_its_settings(judged_once, variations, draw):
    stamp = read_stamp(judged_once.folder / f"results/toy/variations/draw{draw}.parquet")
    drawn = stamp["settings"]["layers"][str(draw)]["runs"]["descent"]
    of_draw = variations[(variations["change"] == "draw") & (variations["value"] == str(draw))]
    measured = of_draw.set_index("claim")["measured"]
    assert measured["toy.planted"] == drawn["rate"]  # the number that this claim measures


def test_where_a_claim_turns_is_found_within_a_tenth(variations):
    over_rates = variations[(variations["change"] == "setting") & (variations["claim"] == "toy.planted")]
    rates = over_rates["value"].astype(float)
    reproduced = rates[over_rates["verdict"] == "reproduced"]
    contradicted = rates[over_rates["verdict"] == "contradicted"]
    assert reproduced.max() <= TURN < contradicted.min() <= 1.1 * reproduced.max()
    # the ends of the range are tried as well
    assert [reproduced.min(), contradicted.max()] == RATES["range"]


def test_variations_that_are_there_are_not_made_again(judged_once):
    assert "Nothing to be done" in judged_once.snakemake("robustness", "--dry-run", *COUNTS).stdout


def test_one_more_draw_is_all_that_is_judged(judged_once):
    assert judged_once.would_run("robustness", "--config", f"seeds={SEEDS}", f"draws={DRAWS + 1}") == {
        f"results/toy/variations/draw{DRAWS + 1}.parquet",
        "results/variations.parquet",
    }


@pytest.fixture
def judged(judged_once, tmp_path):
    """A copy of this project, to be changed freely, and the files of its changes: draws, seeds, and a range."""
    workspace = judged_once.copy(tmp_path / "project")
    files = sorted((workspace.folder / "results/toy/variations").glob("*.parquet"))
    assert len(files) == DRAWS + SEEDS + len({"rate"})
    return workspace, {f"results/toy/variations/{file.name}" for file in files}


def test_a_change_whose_file_is_missing_is_judged_again(judged):
    workspace, _ = judged
    file = "results/toy/variations/draw3.parquet"
    (workspace.folder / file).unlink()
    (workspace.folder / "results/variations.parquet").unlink()
    assert workspace.would_run("robustness", *COUNTS) == {file, "results/variations.parquet"}


def test_after_another_setting_of_a_run_every_change_is_judged_again(judged):
    workspace, files = judged
    workspace.configure("runs", "descent", "rate", value=0.9)
    assert files <= workspace.would_run("robustness", *COUNTS)


# -- judged under a seed, by a command that may be killed --------------------------------------------------------------

CLAIMS = {"decay", "geometric", "narrow", "planted"}
VARIATION = "results/toy/variations/seed2030.parquet"
RESUME = "results/toy/resume/again-seed2030.jsonl"  # a line for each claim that is judged


def judge_under_seed_2030(workspace):
    """Judge all claims under a seed; return the names of those that were judged now, and not read from `RESUME`."""
    ended = workspace.cli("variation", "toy", "seed2030")
    assert ended.returncode == 0, ended.stderr
    return set(re.findall(r"seed = 2030: (\w+) ", ended.stdout))


@pytest.fixture(scope="module")
def judged_under_a_seed_once(tmp_path_factory):
    """The made-up paper with both planted claims, all judged under a seed; not to be changed."""
    workspace = plant(toy(tmp_path_factory.mktemp("seed") / "project"))
    assert judge_under_seed_2030(workspace) == CLAIMS
    return workspace


@pytest.fixture
def judged_under_a_seed(judged_under_a_seed_once, tmp_path):
    """A copy of this project, to be changed freely."""
    return judged_under_a_seed_once.copy(tmp_path / "project")


def test_a_variation_that_is_killed_goes_on_with_the_claims_that_are_left(judged_under_a_seed):
    workspace = judged_under_a_seed
    table = pd.read_parquet(workspace.folder / VARIATION)
    first, second, third, _ = workspace.read(RESUME).splitlines()
    # a kill has cut off the third line; two lines are of no claim, as another version might have written them
    workspace.write(RESUME, "\n".join([first, second, "5", '{"a": 1}', third[:-20]]))
    assert len(judge_under_seed_2030(workspace)) == 2  # the third and the fourth
    pd.testing.assert_frame_equal(pd.read_parquet(workspace.folder / VARIATION), table)
    assert judge_under_seed_2030(workspace) == set()


def test_other_words_of_a_claim_do_not_have_it_judged_again(judged_under_a_seed):
    judged_under_a_seed.edit(CLAIMS_OF_DECAY, "It holds up to a rate.", "It holds up to some rate.")
    assert judge_under_seed_2030(judged_under_a_seed) == set()


def test_another_setting_of_a_claim_has_this_claim_judged_again(judged_under_a_seed):
    judged_under_a_seed.configure("claims", "planted", "turns", value=TURN + 0.01)
    assert judge_under_seed_2030(judged_under_a_seed) == {"planted"}


def test_another_setting_of_a_run_has_the_claims_that_read_it_judged_again(judged_under_a_seed):
    judged_under_a_seed.configure("runs", "slow", "steps", value=41)
    assert judge_under_seed_2030(judged_under_a_seed) == {"geometric"}
    assert len(judged_under_a_seed.read(RESUME).splitlines()) == len(CLAIMS)  # the outdated line is gone


def test_an_edit_of_a_module_has_all_claims_of_it_judged_again(judged_under_a_seed):
    judged_under_a_seed.edit(CLAIMS_OF_DECAY, "a bound of nothing", "no bound")
    assert judge_under_seed_2030(judged_under_a_seed) == {"decay", "narrow", "planted"}
