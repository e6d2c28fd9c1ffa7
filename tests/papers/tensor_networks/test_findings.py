"""The findings count what is corrected: seven formulas, and four sentences without a hypothesis."""

from tests.support import ROOT, read_yaml

# how many printed formulas each claim corrects; the findings of the configuration say their sum in words
FORMULAS = {
    "corollary_6": 1,
    "section_d_1_1": 1,
    "section_e_1_1": 1,
    "equation_88": 1,
    "equation_84": 2,  # the first two of the three inequalities in its proof
    "remark_4_growth": 1,
}
SENTENCES = {"limits_and_starts", "limit_points_small_scale", "max_margin_solution", "tensor_formulation"}


PAPER = read_yaml(ROOT / "workflow/config/tensor_networks.yaml")


def test_every_corrected_claim_is_one_of_those_counted():
    corrected = {name for name, block in PAPER["claims"].items() if block["expected"] == "corrected"}
    assert corrected == {*FORMULAS, *SENTENCES}


def test_the_findings_say_how_many_formulas_and_sentences_are_corrected():
    assert sum(FORMULAS.values()) == 7
    assert PAPER["findings"][1].startswith("Seven of the printed formulas")
    assert len(SENTENCES) == 4
    assert PAPER["findings"][2].startswith("Four sentences")
