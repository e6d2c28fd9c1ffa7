"""The import scan, and what each stage depends on."""

from __future__ import annotations

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline import sources
from learning_dynamics.pipeline.sources import SOURCE_ROOT, source_files, stage_modules

CALLED = {"data": "regression.gaussian", "run": "linear_flow", "metrics": "linear_flow", "figure": "fig1a"}


def names(stage, paper="spectral_bias"):
    modules = stage_modules(stage, paper, CALLED.get(stage, ""))
    return {path.relative_to(SOURCE_ROOT).as_posix() for path in source_files(modules)}


def package(root, **files):
    for name, text in files.items():
        path = root / "learning_dynamics" / f"{name.replace('___', '/_').replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for folder in path.relative_to(root).parents[:-1]:
            (root / folder / "__init__.py").touch()


def test_imports_are_followed_transitively_in_every_form(tmp_path):
    package(
        tmp_path,
        a="import learning_dynamics.b\nimport numpy\n",
        b="def f():\n    from learning_dynamics.sub import c\n",
        sub__c="from . import d\n",
        sub__d="from ..e import x\n",
        e="x = 1\n",
        unused="",
    )
    found = {
        path.relative_to(tmp_path / "learning_dynamics").as_posix()
        for path in source_files(("learning_dynamics.a",), tmp_path)
    }
    assert found == {"__init__.py", "a.py", "b.py", "sub/__init__.py", "sub/c.py", "sub/d.py", "e.py"}


def test_a_simulation_depends_on_no_metric_figure_or_claim():
    run = names("run")
    assert any(name.startswith("learning_dynamics/papers/spectral_bias/runs") for name in run)
    for part in ("metrics", "figures", "claims", "theory"):
        assert not any(name.startswith(f"learning_dynamics/papers/spectral_bias/{part}") for name in run)
    assert not any("plotting" in name or "measures" in name for name in run)


def test_metrics_depend_on_no_simulation():
    metrics = names("metrics")
    assert "learning_dynamics/papers/spectral_bias/theory.py" in metrics
    assert not any(name.startswith("learning_dynamics/papers/spectral_bias/runs") for name in metrics)


def test_figures_depend_on_the_style_sheet_and_no_simulation():
    figure = names("figure")
    assert "learning_dynamics/plotting/project.mplstyle" in figure
    for part in ("runs", "metrics", "claims"):
        assert not any(name.startswith(f"learning_dynamics/papers/spectral_bias/{part}") for name in figure)


def test_the_page_depends_on_its_template():
    assert "learning_dynamics/report/page.html" in names("report")


def test_data_depend_on_their_own_module_alone():
    data = names("data")
    assert "learning_dynamics/datasets/regression.py" in data
    assert not any("papers/spectral_bias" in name for name in data)


@pytest.fixture
def folder_of_topics(tmp_path, monkeypatch):
    """A paper whose runs are a folder of topics, in place of the project's sources."""
    package(
        tmp_path,
        papers__toy__runs__flow="from learning_dynamics.papers.toy.runs._shared import x\ndef flow(): ...\n",
        papers__toy__runs__noise="def noise(): ...\ndef _private(): ...\n",
        papers__toy__runs___shared="x = 1\ndef shared(): ...\n",
        stages__run="",
    )
    monkeypatch.setattr(sources, "SOURCE_ROOT", tmp_path)
    monkeypatch.setattr(sources.module_path, "__defaults__", (tmp_path,))
    return "learning_dynamics.papers.toy.runs"


def test_a_part_may_be_a_folder_of_topics(folder_of_topics):
    assert sources.papers() == ["toy"]
    assert sources.part_modules("toy", "runs") == [f"{folder_of_topics}.flow", f"{folder_of_topics}.noise"]
    assert sources.part_modules("toy", "metrics") == []


def test_a_job_depends_on_the_topic_that_defines_its_function_alone(folder_of_topics):
    assert stage_modules("run", "toy", "flow") == ("learning_dynamics.pipeline.stages.run", f"{folder_of_topics}.flow")
    assert stage_modules("run", "toy", "noise")[1] == f"{folder_of_topics}.noise"


@pytest.mark.parametrize("name", ["_private", "shared", "flaw"])
def test_only_public_functions_of_topics_are_found(folder_of_topics, name):
    with pytest.raises(ProjectError, match=f"papers/toy/runs: no function `{name}`"):
        sources.defining_module("toy", "runs", name)
