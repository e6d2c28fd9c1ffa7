"""Configuration files are read as YAML 1.2, laid over one another and checked in form; mistakes name file and key."""

import pytest

from learning_dynamics.pipeline.plan.config_files import load, read_yaml
from learning_dynamics.pipeline.plan.setting_sources import unstated_settings
from tests.pipeline.conftest import refusal
from tests.support import PAPERS, ROOT, plan

OVERLAYS = sorted(path for path in (ROOT / "workflow/config").glob("*.yaml") if path.stem not in PAPERS)
TOP = "seed: 1\npapers: [one, two]\n"
ONE = "title: One\ncitation: x\nruns: {a: {function: t.f, gamma: 1.0}}\nfigures: {}\nclaims: {}\n"


@pytest.fixture
def root(tmp_path):
    """A project of two papers, of which each has one run, `a`, with gamma = 1."""
    for paper in ("one", "two"):
        write(tmp_path / f"workflow/config/{paper}.yaml", ONE)
    write(tmp_path / "config.yaml", TOP)
    return tmp_path


def write(file, text):
    """Write a file, with its folder; return its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def overlay(root, changes_of_one="runs: {a: {gamma: 2.0}}"):
    """Write an overlay, of the scale `small`, that changes the paper `one`; return its path."""
    write(root / "changes/one.yaml", changes_of_one)
    return write(root / "small.yaml", f"scale: small\noverlays: [{root}/changes]\n")


def runs_of(paper, files, root):
    """Return a paper's runs under overlays."""
    return load(files, root=root).papers[paper]["runs"]


def test_an_overlay_changes_the_settings_that_it_names_and_no_others(root):
    small = overlay(root)
    assert runs_of("one", [small], root) == {"a": {"function": "t.f", "gamma": 2.0}}
    assert runs_of("two", [small], root) == {"a": {"function": "t.f", "gamma": 1.0}}


def test_an_overlay_gives_the_configuration_its_scale(root):
    config = load([overlay(root)], root=root)
    assert config.scale == "small"
    assert config.overlaid


def test_the_file_that_a_setting_comes_from_is_known(root):
    layers = load([overlay(root)], root=root).layers
    assert layers["one"].overlay_of("runs", "a", "gamma") == f"{root}/changes/one.yaml"
    assert layers["one"].overlay_of("runs", "a", "function") is None  # no overlay changes it
    assert layers["two"].origin("runs", "a", "gamma") == "workflow/config/two.yaml"


def test_of_two_overlays_the_later_one_decides(root):
    second = write(root / "more.yaml", "changes: {one: {runs: {a: {gamma: 3.0}}}}\n")
    assert runs_of("one", [overlay(root), second], root)["a"]["gamma"] == 3.0


def test_null_in_an_overlay_leaves_an_entry_out(root):
    small = overlay(root, "runs: {a: null, b: {function: t.f, gamma: 2.0}}")
    assert list(runs_of("one", [small], root)) == ["b"]


def test_null_leaves_an_entry_out_that_another_file_has_changed(root):
    first = write(root / "first.yaml", "scale: small\nchanges: {one: {runs: {a: {gamma: 3.0}, b: {function: t.f}}}}\n")
    second = write(root / "second.yaml", "changes: {one: {runs: {a: null}}}\n")
    assert list(runs_of("one", [first, second], root)) == ["b"]


def test_null_on_the_command_line_which_is_text_there_leaves_an_entry_out(root):
    added = write(root / "added.yaml", "scale: small\nchanges: {one: {runs: {b: {function: t.f}}}}\n")
    overrides = {"changes": {"one": {"runs": {"a": "null"}}}}
    assert list(load([added], overrides, root=root).papers["one"]["runs"]) == ["b"]


def test_an_overlay_that_leaves_out_an_entry_that_another_needs_is_named(tmp_path):
    text = "scale: bare\nchanges: {spectral_bias: {data: {scalar_orthogonal: null}}}\n"
    file = write(tmp_path / "bare.yaml", text)
    message = refusal(plan, file, papers=["spectral_bias"])
    assert ".data: needs the data set `scalar_orthogonal`, which " in message
    assert f"{file} leaves out; leave out there what needs it as well" in message


def test_null_for_an_entry_that_is_not_there_is_refused(root):
    small = overlay(root, "runs: {b: null}")
    assert "changes/one.yaml: runs.b: must be a mapping of settings (is None)" in refusal(load, [small], root=root)


def test_null_for_an_entry_is_refused_in_an_overlay_without_a_scale(root):
    nameless = write(root / "more.yaml", "changes: {one: {runs: {a: null}}}\n")
    assert "runs.a: changes what is there" in refusal(load, [nameless], root=root)


def test_null_is_a_value_of_a_setting(root):
    small = overlay(root, "runs: {a: {gamma: null}}")
    assert runs_of("one", [small], root)["a"] == {"function": "t.f", "gamma": None}


def test_null_for_the_block_provenance_removes_no_reason(tmp_path):
    file = write(tmp_path / "bare.yaml", "scale: bare\nchanges: {softmax_dynamics: {provenance: null}}\n")
    with_null = plan(file, papers=["softmax_dynamics"]).config
    shipped = plan(papers=["softmax_dynamics"]).config
    assert unstated_settings(with_null, "softmax_dynamics") == unstated_settings(shipped, "softmax_dynamics")


def test_an_overlay_without_a_scale_may_add_a_run(root):
    added = write(root / "more.yaml", "changes: {one: {runs: {b: {function: t.f, gamma: 3.0}}}}\n")
    assert set(runs_of("one", [added], root)) == {"a", "b"}


def test_an_overlay_without_a_scale_may_not_change_a_run(root):
    changed = write(root / "more.yaml", "changes: {one: {runs: {a: {gamma: 3.0}}}}\n")
    assert refusal(load, [changed], root=root).endswith(
        "runs.a: changes what is there, and its results would replace those of the default; "
        "name this configuration with `scale: NAME`"
    )


@pytest.mark.parametrize(
    ("overrides", "scale"),
    [
        pytest.param({"seed": 1}, None, id="the configured seed"),
        pytest.param({"seed": 2}, "seed2", id="another seed"),
        pytest.param({"seed": 2, "scale": "mine"}, "mine", id="another seed, with a name for the scale"),
    ],
)
def test_another_seed_is_another_scale(root, overrides, scale):
    assert load(overrides=overrides, root=root).scale == scale


def test_papers_that_are_not_asked_for_are_left_out_with_their_changes(root):
    changes_one = write(root / "more.yaml", "changes: {one: {runs: {b: {function: t.f, gamma: 3.0}}}}\n")
    assert list(load(overrides={"papers": ["two"]}, root=root).papers) == ["two"]
    assert list(load([changes_one], {"papers": ["two"]}, root=root).papers) == ["two"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
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
    ],
)
def test_a_mistake_in_form_is_answered_with_file_and_key(root, text, words):
    write(root / "config.yaml", text)
    assert words in refusal(load, root=root)


def test_a_duplicate_key_of_a_paper_is_refused_with_its_line(root):
    write(root / "workflow/config/one.yaml", ONE.replace("gamma: 1.0", "gamma: 1.0, gamma: 2.0"))
    assert 'one.yaml:3: found duplicate key "gamma"' in refusal(load, root=root)  # runs are the third line of `ONE`


def test_a_missing_file_is_named(tmp_path):
    assert "nowhere.yaml: no such file" in refusal(read_yaml, tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"seed: \xff\n", "utf-8", id="not UTF-8"),
        pytest.param(b"seed: \x00\n", "correct the file", id="a character that YAML does not allow"),
    ],
)
def test_a_file_that_is_no_text_of_yaml_is_refused(tmp_path, content, words):
    (tmp_path / "a.yaml").write_bytes(content)
    assert words in refusal(read_yaml, tmp_path / "a.yaml")


def test_values_are_those_of_yaml_1_2(tmp_path):
    file = write(tmp_path / "a.yaml", "a: [no, on, 017, 1e-4, 1_000, .5, 0x1f, 'true', true, null]\nb: 1:30\n")
    assert read_yaml(file) == {"a": ["no", "on", 17, 1e-4, 1000, 0.5, 31, "true", True, None], "b": "1:30"}


def test_a_key_that_a_merged_mapping_has_as_well_is_no_duplicate(tmp_path):
    file = write(tmp_path / "a.yaml", "base: &base {x: 1, y: 2}\nmore: {<<: *base, x: 3}\n")
    assert read_yaml(file)["more"] == {"x": 3, "y": 2}


def test_there_are_overlays():
    assert OVERLAYS


@pytest.mark.parametrize("file", OVERLAYS, ids=lambda file: file.name)
def test_every_run_can_be_planned_under_an_overlay_that_is_shipped(file):
    laid_over = plan(file)
    for paper in PAPERS:
        for run in laid_over.config.runs[paper]:
            assert laid_over.run(paper, run)["function"], f"{paper}.{run}"


@pytest.mark.parametrize(
    ("paper", "changes", "message"),
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
def test_a_setting_of_an_earlier_version_is_refused_with_its_new_name(tmp_path, paper, changes, message):
    overlay = write(tmp_path / "old.yaml", f"scale: old\nchanges: {{{paper}: {{{changes}}}}}\n")
    assert refusal(plan, overlay, papers=[paper]).endswith(message)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_setting_that_is_not_stated_has_a_reason_or_is_of_the_authors_code(paper):
    rows = unstated_settings(plan(papers=[paper]).config, paper)
    assert rows
    assert [row for row in rows if not row["reason"] and row["origin"] != "code"] == []
