"""Who may import whom, and that a configured name means one function."""

from __future__ import annotations

import pytest

from learning_dynamics.pipeline.sources import (
    PACKAGE,
    SOURCE_ROOT,
    imports_of,
    module_path,
    papers,
    part_modules,
    source_files,
    stage_modules,
)
from learning_dynamics.settings import functions_of, signatures

MODULES = sorted(
    ".".join(path.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE_ROOT / PACKAGE).rglob("*.py")
)
PARTS = ("runs", "metrics", "figures", "claims")
# what a part of a paper may not rest on
FORBIDDEN = {
    "runs": ("metrics", "figures", "claims", "measures", "plotting"),
    "metrics": ("runs", "figures", "claims", "plotting"),
    "figures": ("runs", "metrics", "claims", "dynamics"),
    "claims": ("runs", "metrics", "figures", "plotting", "dynamics"),
    "theory": (*PARTS, "dynamics", "plotting"),
}


def below(module):
    """The part of a module's name below its paper, or below the package."""
    names = module.split(".")
    return names[3] if names[1:2] == ["papers"] and len(names) > 3 else names[1] if len(names) > 1 else ""


@pytest.mark.parametrize(
    "module", [module for module in MODULES if ".papers." not in module and ".stages" not in module]
)
def test_layers_below_never_import_papers(module):
    imported = imports_of(module)
    assert not any(
        name.startswith((f"{PACKAGE}.papers.", f"{PACKAGE}.stages.")) for name in imported
    ) or module.endswith(("cli", "__main__"))


@pytest.mark.parametrize("paper", papers())
def test_papers_never_import_each_other(paper):
    others = tuple(f"{PACKAGE}.papers.{other}" for other in papers() if other != paper)
    for module in MODULES:
        if module.startswith(f"{PACKAGE}.papers.{paper}"):
            assert not [name for name in imports_of(module) if name.startswith(others)], module


@pytest.mark.parametrize("part", FORBIDDEN)
def test_parts_rest_on_those_before_them(part):
    for module in MODULES:
        if ".papers." in module and below(module) == part:
            wrong = [name for name in imports_of(module) if below(name) in FORBIDDEN[part]]
            assert not wrong, module


@pytest.mark.parametrize("paper", papers())
def test_nothing_is_simulated_or_trained_again_for_a_metric_a_colour_or_a_claim(paper):
    for kind in functions_of(paper, "runs"):
        files = [path.relative_to(SOURCE_ROOT / PACKAGE) for path in source_files(stage_modules("run", paper, kind))]
        assert not [file for file in files if set(file.with_suffix("").parts) & set(FORBIDDEN["runs"])], kind


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("part", PARTS)
def test_a_name_means_one_function(paper, part):
    names = [name for module in part_modules(paper, part) for name in signatures(module_path(module))]
    assert len(names) == len(set(names))
