"""The configuration as files: read, laid over one another, checked in form."""

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.config_files import load, read_yaml
from learning_dynamics.pipeline.plan.setting_sources import unstated_settings
from tests.pipeline.conftest import refusal
from tests.support import PAPERS, ROOT, plan

OVERLAYS = sorted(path for path in (ROOT / "workflow/config").glob("*.yaml") if path.stem not in PAPERS)
TOP = "seed: 1\npapers: [one, two]\n"
ONE = "title: One\ncitation: x\nruns: {a: {function: t.f, gamma: 1.0}}\nfigures: {}\nclaims: {}\n"


@pytest.fixture
def root(tmp_path):
    for paper in ("one", "two"):
        write(tmp_path / f"workflow/config/{paper}.yaml", ONE)
    write(tmp_path / "config.yaml", TOP)
    return tmp_path


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def overlay(root, **changes):
    write(root / "changes/one.yaml", changes.get("one", "runs: {a: {gamma: 2.0}}"))
    return write(root / "small.yaml", changes.get("top", f"scale: small\noverlays: [{root}/changes]\n"))


def test_an_overlay_changes_what_it_names_and_is_named(root):
    found = load([overlay(root)], root=root)
    assert found.papers["one"]["runs"]["a"] == {"function": "t.f", "gamma": 2.0}
    assert found.papers["two"]["runs"]["a"]["gamma"] == 1.0
    assert found.scale == "small"
    assert found.overlaid
    assert found.layers["one"].overlay_of("runs", "a", "gamma") == f"{root}/changes/one.yaml"
    assert found.layers["one"].overlay_of("runs", "a", "function") is None
    assert found.layers["two"].origin("runs", "a", "gamma") == "workflow/config/two.yaml"
    # a later one lies above
    second = write(root / "more.yaml", "changes: {one: {runs: {a: {gamma: 3.0}}}}\n")
    assert load([root / "small.yaml", second], root=root).papers["one"]["runs"]["a"]["gamma"] == 3.0


def test_null_in_an_overlay_leaves_an_entry_out(root):
    small = overlay(root, one="runs: {a: null, b: {function: t.f, gamma: 2.0}}")
    assert list(load([small], root=root).papers["one"]["runs"]) == ["b"]


def test_null_leaves_an_entry_out_that_another_file_has_changed(root):
    first = write(root / "first.yaml", "scale: small\nchanges: {one: {runs: {a: {gamma: 3.0}, b: {function: t.f}}}}\n")
    second = write(root / "second.yaml", "changes: {one: {runs: {a: null}}}\n")
    assert list(load([first, second], root=root).papers["one"]["runs"]) == ["b"]


def test_null_on_the_command_line_which_is_text_there_leaves_an_entry_out(root):
    added = write(root / "added.yaml", "scale: small\nchanges: {one: {runs: {b: {function: t.f}}}}\n")
    given = {"changes": {"one": {"runs": {"a": "null"}}}}
    assert list(load([added], given, root=root).papers["one"]["runs"]) == ["b"]


def test_an_entry_that_another_needs_is_missed_in_the_file_that_leaves_it_out(tmp_path):
    text = "scale: bare\nchanges: {spectral_bias: {data: {scalar_orthogonal: null}}}\n"
    file = write(tmp_path / "bare.yaml", text)
    found = refusal(plan, file, papers=["spectral_bias"])
    assert ".data: needs the data set `scalar_orthogonal`, which " in found
    assert f"{file} leaves out; leave out there what needs it as well" in found


def test_an_entry_of_nothing_is_refused(root):
    small = overlay(root, one="runs: {b: null}")
    assert "changes/one.yaml: runs.b: must be a mapping of settings (is None)" in refusal(load, [small], root=root)


def test_without_a_name_no_entry_is_left_out(root):
    nameless = write(root / "more.yaml", "changes: {one: {runs: {a: null}}}\n")
    assert "runs.a: changes what is there" in refusal(load, [nameless], root=root)


def test_null_is_a_value_of_a_setting(root):
    small = overlay(root, one="runs: {a: {gamma: null}}")
    assert load([small], root=root).papers["one"]["runs"]["a"] == {"function": "t.f", "gamma": None}


def test_null_for_reasons_takes_none_away(tmp_path):
    file = write(tmp_path / "bare.yaml", "scale: bare\nchanges: {softmax_dynamics: {provenance: null}}\n")
    bare, shipped = (plan(*files, papers=["softmax_dynamics"]).config for files in ([file], []))
    assert unstated_settings(bare, "softmax_dynamics") == unstated_settings(shipped, "softmax_dynamics")


def test_an_overlay_without_a_name_may_add_and_not_replace(root):
    added = write(root / "more.yaml", "changes: {one: {runs: {b: {function: t.f, gamma: 3.0}}}}\n")
    assert set(load([added], root=root).papers["one"]["runs"]) == {"a", "b"}
    assert list(load([added], {"papers": ["two"]}, root=root).papers) == ["two"]
    with pytest.raises(ProjectError, match=r"runs\.a: changes what is there.* with `scale: NAME`"):
        load([write(root / "more.yaml", "changes: {one: {runs: {a: {gamma: 3.0}}}}\n")], root=root)
    # another seed is another scale, which a name of one's own may be given
    scales = {2: "seed2", 1: None}
    assert {seed: load(overrides={"seed": seed}, root=root).scale for seed in scales} == scales
    assert load(overrides={"seed": 2, "scale": "mine"}, root=root).scale == "mine"
    assert list(load(overrides={"papers": ["two"]}, root=root).papers) == ["two"]


def test_a_mistake_in_form_is_one_line_with_file_and_key(root):
    for text, words in (
        ("", "config.yaml: must be a mapping"),
        ("seed: 1\npapers: [one\n", "config.yaml:3: "),
        ("seed: 1\nseed: 2\npapers: [one]\n", 'config.yaml:2: found duplicate key "seed"'),
        ("papers: [one]\n", "config.yaml: seed: missing; add it"),
        ("seed: x\npapers: [one]\n", "config.yaml: seed: must be a whole number (is 'x')"),
        ("seeed: 1\npapers: [one]\n", "did you mean `seed`"),
        ("seed: 1\npapers: [one, one]\n", "config.yaml: papers: "),
        ("seed: 1\npapers: [oen]\n", "config.yaml: papers: no configuration of paper `oen`; did you mean `one`"),
        ("seed: 1\npapers: [../one]\n", "config.yaml: papers.0: must match"),
        ("seed: 1\npapers: [two]\nscale: one\n", "scale: is the name of a paper"),
        ("seed: 1\npapers: [one]\noverlays: [nowhere]\n", "overlays: no folder nowhere"),
        ("seed: 1\npapers: [one]\nchanges: {three: {}}\n", "config.yaml: changes.three: no paper `three`"),
        ("seed: !!python/object/apply:os.system [id]\npapers: [one]\n", "config.yaml:1: "),
        ("1: 2\nseed: 1\npapers: [one]\n", "config.yaml: 1: unknown key"),
    ):
        write(root / "config.yaml", text)
        assert words in refusal(load, root=root), text
    write(root / "config.yaml", TOP)
    write(root / "workflow/config/one.yaml", ONE.replace("gamma: 1.0", "gamma: 1.0, gamma: 2.0"))
    assert 'one.yaml:3: found duplicate key "gamma"' in refusal(load, root=root)
    assert "nowhere.yaml: no such file" in refusal(read_yaml, root / "nowhere.yaml")
    for content, words in ((b"seed: \xff\n", "utf-8"), (b"seed: \x00\n", "correct the file")):
        (root / "a.yaml").write_bytes(content)
        assert words in refusal(read_yaml, root / "a.yaml"), content


def test_values_are_those_of_yaml_1_2(tmp_path):
    file = write(tmp_path / "a.yaml", "a: [no, on, 017, 1e-4, 1_000, .5, 0x1f, 'true', true, null]\nb: 1:30\n")
    assert read_yaml(file) == {"a": ["no", "on", 17, 1e-4, 1000, 0.5, 31, "true", True, None], "b": "1:30"}
    # and a key that a merged mapping has as well is no duplicate
    write(file, "base: &base {x: 1, y: 2}\nmore: {<<: *base, x: 3}\n")
    assert read_yaml(file)["more"] == {"x": 3, "y": 2}


def test_every_overlay_that_is_shipped_fits():
    assert OVERLAYS
    for overlay in OVERLAYS:
        laid_over = plan(overlay)
        assert all(laid_over.run(paper, run)["function"] for paper in PAPERS for run in laid_over.config.runs[paper]), (
            overlay
        )


@pytest.mark.parametrize(
    ("paper", "changes", "said"),
    [
        (
            "tensor_networks",
            "runs: {step_sizes: {steps: [0.1]}}",
            "steps: unknown setting of `step_sizes`; it is now `step_sizes`",
        ),
        (
            "tensor_networks",
            "claims: {global_optimum_share: {right: 0.9}}",
            "right: unknown setting of `global_optimum_share`; it is now `greedy_share`",
        ),
        (
            "spectral_bias",
            "runs: {reduced: {integration: {start: 0.1}}}",
            "integration.start: unknown setting of `LogSpan`; it is now `first_time`",
        ),
        (
            "spectral_bias",
            "runs: {relu_small: {start: 0.1}}",
            "start: unknown setting of `relu_descent`; it is now `first_time`",
        ),
    ],
)
def test_a_setting_of_an_earlier_version_is_refused_with_its_new_name(tmp_path, paper, changes, said):
    overlay = write(tmp_path / "old.yaml", f"scale: old\nchanges: {{{paper}: {{{changes}}}}}\n")
    assert refusal(plan, overlay, papers=[paper]).endswith(said)


def test_every_choice_has_a_reason():
    for paper in PAPERS:
        for row in unstated_settings(plan(papers=[paper]).config, paper):
            assert row["reason"] or row["origin"] == "code", row
