"""The README's example of adding a figure works as printed."""

from __future__ import annotations

import re

from tests.pipeline.conftest import fresh
from tests.support import ROOT


def additions(file):
    """Return the lines that the README's diff adds to a file."""
    diffs = re.findall(r"```diff\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (diff,) = (diff for diff in diffs if f"+++ b/{file}\n" in diff)
    return [line[1:] for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]


def test_the_readme_example_draws_its_figure(tmp_path):
    workspace = fresh(tmp_path / "project")
    run, figure = additions("config.yaml")
    workspace.edit(
        "config.yaml", "      small_scale: {like: large_scale", f"{run}\n      small_scale: {{like: large_scale"
    )
    workspace.edit("config.yaml", "      fig1a: {", f"{figure}\n      fig1a: {{")
    module = "src/learning_dynamics/papers/spectral_bias/figures/flow.py"
    function = "\n".join(additions(module))
    assert len(function.splitlines()) <= 20
    (workspace.folder / module).write_text(workspace.read(module) + "\n\n" + function + "\n")
    workspace.snakemake("figures/spectral_bias/limits_against_scale.pdf")
    assert (workspace.folder / "figures/spectral_bias/limits_against_scale.png").stat().st_size > 5_000
