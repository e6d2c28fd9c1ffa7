"""The findings count what is corrected: seven formulas, three sentences without a hypothesis, and Remark 3."""

from tests.support import ROOT, read_yaml

FORMULAS = {
    "corollary_6": 1,
    "section_d_1_1": 1,
    "section_e_1_1": 1,
    "equation_88": 1,
    "equation_84": 2,  # both of the inequalities that lead to it
    "remark_4_growth": 1,
}
SENTENCES = {"limits_and_starts", "limit_points_small_scale", "tensor_formulation"}


def test_the_findings_count_every_corrected_claim():
    paper = read_yaml(ROOT / "workflow/config/tensor_networks.yaml")
    corrected = {name for name, block in paper["claims"].items() if block["expected"] == "corrected"}
    assert corrected == set(FORMULAS) | SENTENCES | {"remark_3"}
    assert sum(FORMULAS.values()) == 7
    assert "Seven printed formulas" in paper["findings"][1]
    assert "Three sentences" in paper["findings"][2]
