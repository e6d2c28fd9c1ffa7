"""Check a configuration against the functions that it names, and its names against each other."""

import difflib
import gc
from collections.abc import Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.plan import robustness, setting_sources
from learning_dynamics.pipeline.plan.blocks import KEYS, Spec, flat, run_names
from learning_dynamics.pipeline.plan.config import SECTIONS, Config
from learning_dynamics.pipeline.plan.config_files import Block
from learning_dynamics.pipeline.plan.signatures import Signature, signature_of
from learning_dynamics.pipeline.plan.sources import PACKAGE, PARTS, definitions
from learning_dynamics.pipeline.plan.validation import RENAMED


def check(config: Config) -> None:
    """Check every paper; the functions that it names are imported.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the fix.
    """
    gc.disable()  # what is imported stays: looking for what may go takes as long as importing it
    try:
        for paper in config.papers:
            _Paper(config, paper).check()
            setting_sources.check_reasons(config, paper)
            robustness.check(config, paper)
    finally:
        gc.freeze()
        gc.enable()


class _Paper:
    def __init__(self, config: Config, paper: str) -> None:
        self.config, self.paper = config, paper

    def check(self) -> None:
        config, paper = self.config, self.paper
        for name, block in config.blocks(paper, "data").items():
            function = signature_of("data", paper, block["source"], self.where("data", name, "source"))
            self.check_settings("data", function, config.given_settings("data", block, function.settings), "data", name)
        for name in config.blocks(paper, "runs"):
            self.check_members(name, config.resolved(paper, "runs", name).get("sweep"))
        taken = {*config.papers, *(f"{other}_metrics" for other in config.papers)}
        for name in config.sweeps(paper):
            if f"{paper}_{name}" in taken:
                raise ProjectError(
                    f"{self.where('runs', name)}: `snakemake {paper}_{name}` makes something else; rename the run"
                )
        for name in config.figures(paper):
            self.check_drawing("figure", name)
            if config.moves(paper, name):
                motion = config.signature("motion", paper, name)
                motion.check_roles(config.roles("motion", paper, name), self.where("figures", name))
                self.check_settings("motion", motion, config.settings("motion", paper, name), "figures", name)
        self.check_motions({config.kind("figure", paper, name).partition(".")[0] for name in config.figures(paper)})
        for name in config.interactives(paper):
            self.check_interactive(name)
        if "lead_figure" in config.paper_block(paper):
            self.check_name("figures", config.paper_block(paper)["lead_figure"], "lead_figure")
        for name in config.blocks(paper, "claims"):
            self.check_claim(name)

    def check_motions(self, topics: set[str]) -> None:
        """Refuse a film of a figure that its topic does not draw."""
        for topic in sorted(topics):
            module = f"{PACKAGE}.papers.{self.paper}.{topic}"
            figures = definitions(f"{module}.{PARTS['figure']}")
            for name in definitions(f"{module}.{PARTS['motion']}"):
                if name not in figures:
                    raise ProjectError(f"{module}.motion: `{name}` moves no figure{suggest_name(name, figures)}")

    def where(self, *path: str) -> str:
        return self.config.where(self.paper, *path)

    def check_name(self, section: str, name: str, *path: str) -> Block:
        """Return the block that a key names, if there is one."""
        return self.config.declared(self.paper, section, name, self.where(*path))

    def check_settings(self, stage: str, function: Signature, settings: Spec, *path: str) -> None:
        problem = function.find_problem(settings)
        if problem is not None:
            self.refuse(stage, problem, path)

    def refuse(self, stage: str, problem: tuple[tuple[str, ...], str], path: Sequence[str]) -> None:
        (key, *inner), message = problem
        nearest = difflib.get_close_matches(key, KEYS[stage], n=1) if "did you mean" not in message else []
        if key in RENAMED and not inner:
            message = f"unknown key; it is now `{RENAMED[key]}`"
        elif nearest and not inner and message.startswith("unknown"):
            message = f"unknown key; did you mean `{nearest[0]}`?"
        raise ProjectError(f"{self.where(*path, key, *inner)}: {message}")

    def check_members(self, name: str, sweep: Mapping[str, Sequence[Any]] | None) -> None:
        """Check a run, every swept value once."""
        swept = sweep or {}
        first = {key: values[0] for key, values in swept.items()}
        self.check_run(name, first)
        for key, values in swept.items():
            for value in values[1:]:
                self.check_run(name, first | {key: value})

    def check_run(self, name: str, differing: Spec) -> None:
        config, paper = self.config, self.paper
        block, where = config.varied(paper, name, differing), self.where("runs", name)
        if not block.get("kind"):
            raise ProjectError(f"{where}.kind: missing; name a function of papers/{paper}/<topic>/runs.py")
        function = signature_of("run", paper, block["kind"], f"{where}.kind")
        metrics = signature_of("metrics", paper, block["kind"], f"{where}.kind")
        if not metrics.has("columns"):
            raise ProjectError(f"{metrics.where}: `{metrics.name}` declares no columns; decorate it with @columns(...)")
        self.check_run_settings(name, function, config.given_settings("run", block, function.settings), differing)
        self.check_run_settings(name, metrics, block.get("measure", {}), differing, "measure")
        if ("data" in function.arguments) != ("data" in block):
            fix = "add `data:`" if "data" in function.arguments else "remove `data:`"
            raise ProjectError(f"{where}.data: kind `{block['kind']}` does not agree; {fix}")
        if "data" in block:
            self.check_name("data", block["data"], "runs", name, "data")
        elif "data" in metrics.arguments:
            raise ProjectError(f"{where}.data: `{metrics.name}` of {metrics.where} takes a data set; add `data:`")

    def check_run_settings(
        self, name: str, function: Signature, settings: Mapping[str, Any], swept: Mapping[str, Any], *part: str
    ) -> None:
        """Check settings; an error names the run that sets the wrong value, not one that inherits it."""
        problem = function.find_problem(settings)
        if problem is None:
            return
        keys = {problem[0][0], ".".join(problem[0][:2])}
        ancestry = () if keys & swept.keys() else self.config.ancestry(self.paper, name)
        owners = (owner for owner, block in ancestry if keys & flat(block.get("measure", {}) if part else block).keys())
        self.refuse("run", problem, ("runs", next(owners, name), *part))

    def check_drawing(self, stage: str, name: str) -> Signature:
        """Check the roles and settings of a figure, an interactive figure or a claim."""
        section = SECTIONS.get(stage, stage)
        block, where = self.config.block(stage, self.paper, name), self.where(section, name)
        function = signature_of(stage, self.paper, block["kind"], f"{where}.kind")
        function.check_roles(block["runs"], where)
        for role, names in block["runs"].items():
            for run in run_names({role: names}):
                self.check_name("runs", run, section, name, "runs", role)
        settings = self.config.given_settings(stage, block, function.settings)
        self.check_settings(stage, function, settings, section, name)
        return function

    def check_interactive(self, name: str) -> None:
        self.check_drawing("interactive", name)
        interactives = self.config.blocks(self.paper, "interactive")
        figure = interactives[name]["figure"]
        self.check_name("figures", figure, "interactive", name, "figure")
        first = next(other for other, block in interactives.items() if block["figure"] == figure)
        if first != name:
            where = self.where("interactive", name, "figure")
            raise ProjectError(f"{where}: `{first}` is below `{figure}` already; name another")

    def check_claim(self, name: str) -> None:
        function = self.check_drawing("claims", name)
        if not function.has("claim"):
            raise ProjectError(f"{function.where}: `{function.name}` is no claim; decorate it with @claim(...)")
        block = self.config.block("claims", self.paper, name)
        if "figure" in block:
            figure = self.check_name("figures", block["figure"], "claims", name, "figure")
            if block["runs"] and not set(run_names(block["runs"])) & set(run_names(figure["runs"])):
                raise ProjectError(
                    f"{self.where('claims', name, 'figure')}: `{block['figure']}` shows none of the claim's runs; "
                    "name one that does, or none"
                )
        settings = self.config.given_settings("claims", block, function.settings)
        for key, values in block.get("vary", {}).items():
            if key not in settings:
                where = self.where("claims", name, "vary", key)
                raise ProjectError(f"{where}: no setting of this claim{suggest_name(key, settings)}")
            for value in values:
                self.check_settings("claims", function, settings | {key: value}, "claims", name, "vary")
