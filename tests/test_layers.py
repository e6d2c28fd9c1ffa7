"""Who may import whom."""

from __future__ import annotations

import pytest

from learning_dynamics.pipeline.sources import PACKAGE, PARTS, SOURCE_ROOT, imports_of, module_path, papers, topics

MODULES = sorted(
    ".".join(path.relative_to(SOURCE_ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE_ROOT / PACKAGE).rglob("*.py")
)
# what a part of a topic may not rest on, by the last name of a module
FORBIDDEN = {
    "runs": ("metrics", "figures", "claims", "plotting"),
    "metrics": ("runs", "figures", "claims", "plotting"),
    "figures": ("runs", "metrics", "claims"),
    "motion": ("runs", "metrics", "claims"),
    "interactive": ("runs", "metrics", "claims"),
    "claims": ("runs", "metrics", "figures", "plotting"),
    "theory": (*PARTS.values(), "plotting"),
    "models": (*PARTS.values(), "plotting"),
}


def parts_of(module):
    return module.split(".")[1:]


@pytest.mark.parametrize("module", [name for name in MODULES if parts_of(name)[:1] not in (["papers"], ["pipeline"])])
def test_the_library_imports_neither_papers_nor_the_pipeline(module):
    allowed = module == f"{PACKAGE}.__main__"
    above = [name for name in imports_of(module) if parts_of(name)[:1] in (["papers"], ["pipeline"])]
    assert allowed or not above


@pytest.mark.parametrize("paper", papers())
def test_papers_never_import_each_other(paper):
    others = tuple(f"{PACKAGE}.papers.{other}" for other in papers() if other != paper)
    for module in MODULES:
        if module.startswith(f"{PACKAGE}.papers.{paper}"):
            assert not [name for name in imports_of(module) if name.startswith(others)], module


@pytest.mark.parametrize("paper", papers())
@pytest.mark.parametrize("part", FORBIDDEN)
def test_parts_rest_on_those_before_them(paper, part):
    for topic in topics(paper):
        module = f"{PACKAGE}.papers.{paper}.{topic}.{part}"
        if module_path(module) is not None:
            wrong = [
                name
                for name in imports_of(module)
                if module_path(name) is not None
                and set(parts_of(name)[-1:]) & set(FORBIDDEN[part])
                # a claim's vocabulary has the name of a part
                and name != f"{PACKAGE}.claims"
            ]
            assert not wrong, module


@pytest.mark.parametrize("paper", papers())
def test_what_a_topic_calls_knows_nothing_of_the_pipeline(paper):
    for topic in topics(paper):
        for part in FORBIDDEN:
            module = f"{PACKAGE}.papers.{paper}.{topic}.{part}"
            if module_path(module) is not None:
                assert not [name for name in imports_of(module) if parts_of(name)[:1] == ["pipeline"]], module
