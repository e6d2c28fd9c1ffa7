"""The import scan, and the digests of what each job calls."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan import digests, sources
from learning_dynamics.pipeline.plan.sources import (
    data_module,
    papers,
    part_module,
    topics,
)

PREFIX = "learning_dynamics"


def package(root, **files):
    """Write modules of a package, ``a__b`` in folder a; every folder gets an __init__."""
    for name, text in files.items():
        path = root / PREFIX / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for folder in path.relative_to(root).parents[:-1]:
            (root / folder / "__init__.py").touch()


def test_imports_are_followed_transitively_in_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    package(
        tmp_path,
        a="import learning_dynamics.b\nimport numpy\n",
        b="def f():\n    from learning_dynamics.sub import c\n",
        sub__c="from . import d\n",
        sub__d="from ..e import x\n",
        e="x = 1\n",
        errors="",
        unused="",
    )
    digests.forget()
    found = {name.removeprefix(f"{PREFIX}.") for name in digests.imported_by(f"{PREFIX}.a")}
    digests.forget()
    assert found == {"a", "b", "sub", "sub.c", "sub.d", "e"}


@pytest.fixture
def toy_sources(tmp_path, monkeypatch):
    package(
        tmp_path,
        papers__toy__theory="K = 1\n",
        papers__toy__data="def made(): ...\n",
        papers__toy__flow__runs="from learning_dynamics.dynamics import step\ndef flow(): ...\n",
        papers__toy__flow__metrics="from learning_dynamics.papers.toy.theory import K\ndef flow(): ...\n",
        papers__toy__noise__runs="def noise(): ...\n",
        dynamics__step="x = 1\n",
        datasets__regression="def gaussian(): ...\n",
    )
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)


def test_papers_and_topics_are_folders(toy_sources):
    assert papers() == ["toy"]
    assert topics("toy") == ["flow", "noise"]


def test_a_kind_names_its_topic(toy_sources):
    assert part_module("toy", "runs", "flow.flow") == f"{PREFIX}.papers.toy.flow.runs"
    for kind, message in {
        "flow": "write topic.function; topics of toy are: flow, noise",
        "flwo.flow": "did you mean `flow`",
        "noise.x-y": "write topic.function",
    }.items():
        with pytest.raises(ProjectError, match=message):
            part_module("toy", "runs", kind)
    with pytest.raises(ProjectError, match=r"papers/toy/noise/metrics\.py is not there"):
        part_module("toy", "metrics", "noise.noise")


def test_data_come_from_the_paper_or_the_library(toy_sources):
    assert data_module("toy", "data.made") == f"{PREFIX}.papers.toy.data"
    assert data_module("toy", "regression.gaussian") == f"{PREFIX}.datasets.regression"
    with pytest.raises(ProjectError, match="no module `regresion`"):
        data_module("toy", "regresion.gaussian")
