"""The findings count what is corrected: six formulas, three sentences without a hypothesis, and Remark 3."""

from tests.support import ROOT, read_yaml

FORMULAS = {"corollary_6", "section_d_1_1", "section_e_1_1", "equation_88", "equation_84", "remark_4_growth"}
SENTENCES = {"limits_and_starts", "limit_points_small_scale", "tensor_formulation"}


def test_the_findings_count_every_corrected_claim():
    paper = read_yaml(ROOT / "workflow/config/tensor_networks.yaml")
    corrected = {name for name, block in paper["claims"].items() if block["expected"] == "corrected"}
    assert corrected == FORMULAS | SENTENCES | {"remark_3"}
    assert "Six printed formulas" in paper["findings"][1]
    assert "Three sentences" in paper["findings"][2]
