"""No data set and no run has a seed of its own: another seed of the configuration draws everything again."""

import pytest

from tests.support import PAPERS, ROOT, read_yaml


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("kind", ["data", "runs"])
def test_no_data_set_and_no_run_names_a_seed(kind, paper):
    blocks = read_yaml(ROOT / f"workflow/config/{paper}.yaml").get(kind, {})
    assert [name for name, block in blocks.items() if "seed" in block] == []
