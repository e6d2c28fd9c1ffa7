"""No data set and no run has a seed of its own, so that the seed of the configuration varies all that is drawn."""

import pytest

from tests.support import PAPERS, ROOT, read_yaml


@pytest.mark.parametrize("paper", PAPERS)
def test_every_draw_comes_from_the_seed_of_the_configuration(paper):
    blocks = read_yaml(ROOT / f"workflow/config/{paper}.yaml")
    pinned = [name for kind in ("data", "runs") for name, block in blocks.get(kind, {}).items() if "seed" in block]
    assert pinned == []
