"""The import scan, and what each stage depends on."""

from __future__ import annotations

from learning_dynamics.sources import SOURCE_ROOT, source_files, stage_modules


def names(stage, paper="spectral_bias", source="regression.gaussian"):
    return {path.relative_to(SOURCE_ROOT).as_posix() for path in source_files(stage_modules(stage, paper, source))}


def package(root, **files):
    for name, text in files.items():
        path = root / "learning_dynamics" / name.replace("__", "/")
        path = path.with_name(path.name + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        init = path.parent / "__init__.py"
        init.touch()
    (root / "learning_dynamics/__init__.py").touch()


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
    assert "learning_dynamics/papers/spectral_bias/runs.py" in run
    for module in ("metrics", "figures", "claims", "theory"):
        assert f"learning_dynamics/papers/spectral_bias/{module}.py" not in run
    assert not any("plotting" in name or "measures" in name for name in run)


def test_metrics_depend_on_no_simulation():
    metrics = names("metrics")
    assert "learning_dynamics/papers/spectral_bias/theory.py" in metrics
    assert "learning_dynamics/papers/spectral_bias/runs.py" not in metrics


def test_figures_depend_on_the_style_sheet_and_no_simulation():
    figure = names("figure")
    assert "learning_dynamics/plotting/project.mplstyle" in figure
    assert "learning_dynamics/papers/spectral_bias/runs.py" not in figure
    assert "learning_dynamics/papers/spectral_bias/claims.py" not in figure


def test_the_page_depends_on_its_template():
    assert "learning_dynamics/report/page.html" in names("report")


def test_data_depend_on_their_own_module_alone():
    data = names("data")
    assert "learning_dynamics/datasets/regression.py" in data
    assert not any("papers/spectral_bias" in name for name in data)
