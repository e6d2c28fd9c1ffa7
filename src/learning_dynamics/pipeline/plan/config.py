"""What a configuration declares: each paper's data, runs, figures and claims, resolved.

A run has the settings of those that it ``extends``, and a sweep stands for its runs. `refusals` compares every block
with the function that it names; `plan.Plan` says what jobs make of it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.pipeline.plan.blocks import Roles, Spec, overlay, run_names, select_keys
from learning_dynamics.pipeline.plan.config_files import PAPERS, Block, ConfigFiles
from learning_dynamics.pipeline.plan.schema import NOT_SWEPT, all_settings, lay_over, own_settings, place_settings
from learning_dynamics.pipeline.plan.signatures import Signature, signature_of
from learning_dynamics.pipeline.plan.sources import PACKAGE, TOPIC_MODULES, Definition, definition_of, definitions
from learning_dynamics.pipeline.plan.sweeps import SweptRuns, runs_of_sweep, sweep_tables

# the section that has the block of a stage's job, where it has another name than the stage
SECTIONS = {"run": "runs", "metrics": "runs", "bundle": "runs", "figure": "figures", "motion": "figures"}
RUN_NAME = re.compile(r"[a-z][A-Za-z0-9_.+-]{0,199}")  # it becomes the name of the run's files
MAX_RUNS = 100_000  # of one sweep; chosen


class Config:
    """A configuration, resolved: inheritance followed, sweeps expanded.

    Attributes
    ----------
    papers : list of str
        In the order of the configuration.
    runs : mapping of paper to mapping of run to (str, mapping)
        Every run by the name of its files, those of sweeps and of ``values:`` of ``robustness:`` among them: the run
        of the configuration that it comes from, and the settings in which it differs. A run ``width`` with ``sweep:
        {width: [10, 20]}`` gives ``"width--width-10": ("width", {"width": 10})`` and another like it.
    bundles : mapping of paper to mapping of bundle to list of runs
        Runs of a sweep that one job simulates and measures into one table.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the fix.
    """

    def __init__(self, configuration: ConfigFiles) -> None:
        self.configuration = configuration
        self.seed = configuration.seed
        self.papers = list(configuration.papers)
        self.runs: dict[str, dict[str, tuple[str, Spec]]] = {paper: {} for paper in self.papers}
        self.bundles: dict[str, dict[str, list[str]]] = {paper: {} for paper in self.papers}
        self._resolved: dict[tuple[str, str], Block] = {}
        self._blocks: dict[tuple[str, str], Block] = {}
        self._definitions: dict[tuple[str, str, str], Definition] = {}
        for paper in self.papers:
            for name in self.blocks(paper, "runs"):
                self._add_runs(paper, name, self.resolved_block(paper, "runs", name).get("sweep"))
                self._add_bundles(paper, name)
            for name, entry in self.robustness_entries(paper).items():
                if "values" in entry:
                    self.declared_block(paper, "runs", entry["run"], self.where(paper, "robustness", name, "run"))
                    self._add_runs(paper, entry["run"], {entry["setting"]: entry["values"]})

    # -- what is declared ---------------------------------------------------------------------------

    def paper_block(self, paper: str) -> Block:
        """A paper's block: title, citation, summary, notation."""
        return self.configuration.papers[paper]

    def phrases(self, paper: str) -> Mapping[str, str | Mapping[str, str]]:
        """How other values of claims' settings are named, by setting or ``claim.setting``."""
        return self.paper_block(paper).get("in_words", {})

    def layers(self, paper: str) -> Mapping[str, Block]:
        """What each file says of a paper, in the order in which they are laid over one another."""
        return self.configuration.layers[paper].blocks

    def where(self, paper: str, *path: str) -> str:
        """The beginning of an error: the file that sets a key of a paper, and the key."""
        return self.configuration.layers[paper].where(*path)

    def blocks(self, paper: str, section: str) -> Block:
        """The blocks of a section of a paper, by name."""
        return self.paper_block(paper).get(section, {})

    def declared_block(self, paper: str, section: str, name: str, where: str = "") -> Block:
        """One block of a section, as it is written; `where` is how an error begins if there is none."""
        blocks = self.blocks(paper, section)
        label = {"data": "data set", "interactive": "interactive figure"}.get(section, section.removesuffix("s"))
        where = where or self.where(paper, section)
        layers = self.configuration.layers[paper]
        if name not in blocks and layers.setters(section, name):
            whole_section = [file for file, block in layers.blocks.items() if block.get(section, {}) is None]
            left_out_by = [*layers.setters(section, name), *whole_section][-1]
            raise ProjectError(
                f"{where}: needs the {label} `{name}`, which {left_out_by} leaves out; "
                "leave out there what needs it as well"
            )
        check_known(name, blocks, label, where)
        return blocks[name]

    def figures(self, paper: str) -> list[str]:
        """The figures of a paper, in the order of the configuration."""
        return list(self.blocks(paper, "figures"))

    def motions(self, paper: str) -> list[str]:
        """The figures of a paper that also move: their topic's ``motion.py`` has a function of their name."""
        return [name for name in self.figures(paper) if self.moves(paper, name)]

    def interactives(self, paper: str) -> list[str]:
        """The figures of a paper whose reader moves a parameter, in the order of the configuration."""
        return list(self.blocks(paper, "interactive"))

    def drawings(self, paper: str) -> dict[str, list[str]]:
        """All that is drawn of a paper, by stage."""
        return {"figure": self.figures(paper), "motion": self.motions(paper), "interactive": self.interactives(paper)}

    def robustness_entries(self, paper: str) -> Block:
        """The entries of ``robustness:``."""
        return self.blocks(paper, "robustness")

    def expected_verdict(self, paper: str, claim: str) -> str:
        """The verdict that is expected of a claim, or two, ``a or b``; "" where none is."""
        expected = self._expected(paper, claim)
        return next(iter(expected)) if isinstance(expected, Mapping) else expected

    def reason_for_two_verdicts(self, paper: str, claim: str) -> str:
        """Why either of two verdicts is expected of a claim; "" where one is, or none."""
        expected = self._expected(paper, claim)
        return next(iter(expected.values())) if isinstance(expected, Mapping) else ""

    def _expected(self, paper: str, claim: str) -> str | Mapping[str, str]:
        """Return what is expected of a claim: a verdict, ``a or b`` with the reason, or "".

        At another scale the shipped file's verdicts are not expected, but those of the scale's own overlay are.
        """
        is_other_scale = self.configuration.overlaid and self.configuration.scale is not None
        file = self.configuration.layers[paper].origin("claims", claim, "expected")
        if is_other_scale and file == f"{PAPERS}/{paper}.yaml":
            return ""
        return self.declared_block(paper, "claims", claim).get("expected", "")

    # -- runs, with what they inherit, and those of sweeps -------------------------------------------

    def ancestry(self, paper: str, name: str, descendants: tuple[str, ...] = ()) -> Iterator[tuple[str, Block]]:
        """Yield a run with its block and those it inherits from, nearest first."""
        where = self.where(paper, "runs", descendants[-1], "extends") if descendants else ""
        block = self.declared_block(paper, "runs", name, where)
        if name in descendants:
            raise ProjectError(f"{self.where(paper, 'runs', name, 'extends')}: refers back to itself; break the circle")
        yield name, block
        if "extends" in block:
            yield from self.ancestry(paper, block["extends"], (*descendants, name))

    def resolved_block(self, paper: str, section: str, name: str) -> Block:
        """The block of a data set or run, with what it inherits; callers must not change it."""
        if section != "runs":
            return self.declared_block(paper, section, name)
        if (paper, name) not in self._resolved:
            self._resolved[paper, name] = self._merge_ancestry(paper, name)
        return self._resolved[paper, name]

    def _merge_ancestry(self, paper: str, name: str) -> Block:
        """Return a run's block over those of the runs that it extends.

        A setting that the run gives one value is no longer swept: of ``sweep: {width: [10, 20], rate: [1, 2]}`` a run
        that extends it with ``width: 30`` inherits the sweep of `rate` alone, and none, with no bundles, if it gives
        `rate` a value too.
        """
        merged: Block = {}
        for ancestor, block in self.ancestry(paper, name):
            inherited = {key: value for key, value in block.items() if key != "extends"}
            if ancestor != name:
                sweep, bundle = inherited.pop("sweep", {}), inherited.pop("bundle", None)
                still_swept = {key: values for key, values in sweep.items() if key not in all_settings(merged)}
                if still_swept:
                    inherited["sweep"] = still_swept
                if still_swept and bundle:
                    inherited["bundle"] = bundle
            merged = lay_over(inherited, merged)
        return merged

    def every_setting(self, paper: str, section: str, name: str) -> Spec:
        """All settings of a run or data set, `flat`: its own and inherited ones, swept ones, those of measuring."""
        return all_settings(self.resolved_block(paper, section, name))

    def tables(self, paper: str, name: str) -> dict[str, SweptRuns]:
        """The tables of metrics that a run of the configuration makes: a run's each, or a bundle's."""
        block = self.resolved_block(paper, "runs", name)
        return sweep_tables(name, block.get("sweep"), block.get("bundle", 1))

    def runs_of(self, paper: str, name: str) -> SweptRuns:
        """The runs that a run stands for, itself or its sweep's, and the settings in which each differs."""
        if name in self.blocks(paper, "runs"):
            return runs_of_sweep(name, self.resolved_block(paper, "runs", name).get("sweep"))
        return [(name, {})]

    def declared_run(self, paper: str, name: str) -> tuple[str, Spec]:
        """The run of the configuration that a run is, or whose sweep has it, and the settings in which it differs."""
        check_known(name, self.runs[paper], "run", self.where(paper, "runs"))
        return self.runs[paper][name]

    def sweeps(self, paper: str) -> dict[str, list[str]]:
        """The runs of each sweep."""
        swept = [name for name in self.blocks(paper, "runs") if self.resolved_block(paper, "runs", name).get("sweep")]
        return {name: [run for run, _ in self.runs_of(paper, name)] for name in swept}

    # -- what a job is given ------------------------------------------------------------------------

    def block(self, stage: str, paper: str, name: str) -> Block:
        """The block of a job, a run's with what it inherits and what its sweep sets; callers must not change it."""
        if stage in ("run", "metrics"):
            if (paper, name) not in self._blocks:
                self._blocks[paper, name] = self.varied_block(paper, *self.declared_run(paper, name))
            return self._blocks[paper, name]
        return self.declared_block(paper, SECTIONS.get(stage, stage), name)

    def function_name(self, stage: str, paper: str, name: str) -> str:
        """The function that a job calls, as the configuration names it."""
        return self.block(stage, paper, name)["source" if stage == "data" else "function"]

    def definition(self, stage: str, paper: str, name: str) -> Definition:
        """The function that a job calls, as its source has it."""
        if stage == "motion" and not self.moves(paper, name):
            moving = ", ".join(self.motions(paper)) or "none"
            raise ProjectError(f"{self.where(paper, 'figures', name)}: does not move; those that do: {moving}")
        function_name = self.function_name(stage, paper, name)
        key = (stage, paper, function_name)
        if key not in self._definitions:
            self._definitions[key] = definition_of(stage, paper, function_name, name)
        return self._definitions[key]

    def signature(self, stage: str, paper: str, name: str) -> Signature:
        """The function that a job calls, imported."""
        return signature_of(stage, paper, self.function_name(stage, paper, name), name)

    def settings(self, stage: str, paper: str, name: str, /, **changes: Any) -> Spec:
        """The settings with which a job calls its function, with any of them changed."""
        block = self.block(stage, paper, name)
        names = self.definition(stage, paper, name).settings
        settings = dict(block.get("measure", {})) if stage == "metrics" else own_settings(stage, block)
        if stage in ("data", "run") and "seed" in names:
            settings.setdefault("seed", self.seed)
        if stage == "motion":  # its block is its figure's, of which it may take less
            settings = select_keys(settings, names)
        if changes:
            settings = overlay(settings, changes)
            self.signature(stage, paper, name).check(settings, f"{paper} {name}")
        return settings

    def roles(self, stage: str, paper: str, name: str) -> Roles:
        """The runs that a figure, its motion, an interactive figure or a claim is given, by role."""
        runs = self.block(stage, paper, name)["runs"]
        return select_keys(runs, self.definition(stage, paper, name).arguments) if stage == "motion" else runs

    def runs_of_claim(self, paper: str, claim: str) -> list[str]:
        """The runs that a claim is given, sweeps as one."""
        return sorted(set(run_names(self.roles("claims", paper, claim))))

    def varied_block(self, paper: str, name: str, differing: Spec) -> Block:
        """The block of a run in which some settings differ."""
        block = self.resolved_block(paper, "runs", name)
        return lay_over(block, place_settings(block, differing))

    def moves(self, paper: str, name: str) -> bool:
        """Whether a figure also moves."""
        topic, _, function = self.declared_block(paper, "figures", name)["function"].partition(".")
        return function in definitions(f"{PACKAGE}.papers.{paper}.{topic}.{TOPIC_MODULES['motion']}")

    # -- words --------------------------------------------------------------------------------------

    def caption(self, paper: str, name: str, stage: str = "figure") -> str:
        """A figure's caption: its function's docstring, up to parameters; a template of its facts."""
        return self.definition(stage, paper, name).caption

    def statement(self, paper: str, name: str) -> str:
        """A claim's statement: the first paragraph of its function's docstring."""
        return " ".join(self.caption(paper, name, "claims").partition("\n\n")[0].split())

    def explanation(self, paper: str, name: str) -> str:
        """A claim's explanation: the rest of its function's docstring; a template of its facts."""
        return self.caption(paper, name, "claims").partition("\n\n")[2].strip()

    # -- runs and bundles, listed at the start ------------------------------------------------------

    def _add_runs(self, paper: str, name: str, sweep: Mapping[str, Sequence[Any]] | None) -> None:
        """Add to `runs` those that a run stands for: itself, or those of a sweep."""
        where = self.where(paper, "runs", name)
        for key in sweep or {}:
            if key in NOT_SWEPT:
                raise ProjectError(f"{where}.sweep.{key}: is no setting of a run, and cannot be varied")
            if key == "seed":
                raise ProjectError(f"{where}.sweep.seed: further draws are not a sweep; raise `seeds`")
        count = math.prod(map(len, (sweep or {}).values()))
        if count > MAX_RUNS:
            raise ProjectError(f"{where}.sweep: {count} runs; sweep fewer values")
        for run, differing in runs_of_sweep(name, sweep):
            if not RUN_NAME.fullmatch(run):
                raise ProjectError(
                    f"{where}.sweep: `{run[:200]}` cannot be a file's name; sweep fewer settings, numbers of fewer "
                    "digits or plain words, or write a run for each value"
                )
            self.runs[paper].setdefault(run, (name, differing))

    def _add_bundles(self, paper: str, name: str) -> None:
        """Add to `bundles` those of a run's sweep, if its block has a key ``bundle``."""
        block, where = self.resolved_block(paper, "runs", name), self.where(paper, "runs", name, "bundle")
        if "bundle" not in block:
            return
        sweep = block.get("sweep", {})
        if not sweep or "function" in sweep:
            raise ProjectError(f"{where}: is for the runs of a sweep, of one function; remove it")
        for table, runs in self.tables(paper, name).items():
            self.bundles[paper][table] = [run for run, _ in runs]
