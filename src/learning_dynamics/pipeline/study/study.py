"""What a configuration declares: each paper's data, runs, figures and claims, resolved and checked.

A run has the settings of those that it is ``like``, a sweep stands for its members, and every block is held to the
signature of the function that it names. What jobs make of it is `project.Project`'s.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.pipeline.study import quantities, reasons, regions
from learning_dynamics.pipeline.study.blocks import (
    NOT_SWEPT,
    Roles,
    Spec,
    all_settings,
    flat,
    overlay,
    own_settings,
    place_settings,
    run_names,
    select_keys,
)
from learning_dynamics.pipeline.study.config import Block, Configuration
from learning_dynamics.pipeline.study.passed import Passport
from learning_dynamics.pipeline.study.signatures import Signature, signature_of
from learning_dynamics.pipeline.study.sources import PACKAGE, PARTS, Definition, definition_of, definitions
from learning_dynamics.pipeline.study.sweeps import BUNDLE, Members, sweep_members, sweep_tables

# where the block of a stage's job stands, if not in the section of its name
SECTIONS = {"run": "runs", "metrics": "runs", "figure": "figures", "motion": "figures"}
MEMBER = re.compile(r"[a-z][A-Za-z0-9_.+-]*")
MAX_MEMBERS = 100_000
MAX_INHERITANCE_DEPTH = 30  # runs that a run inherits from, one from another
MAX_VARIANTS = 500
MAX_NAME_LENGTH = 200  # characters of a member's name, which files bear
MAX_BUNDLE_LENGTH = 100_000  # characters of all its members' names: an argument of a command holds 131,072
# names of rules, which no paper's own target may have
RULES = (
    "all",
    "data",
    "run",
    "run_dropped",
    "metrics",
    "bundle",
    "figure",
    "motion",
    "interactive",
    "claims",
    "page",
    "verdicts",
    "verdicts_of_paper",
    "replicate",
    "replication",
    "learning_rates",
    "accuracies",
    "throughput",
    "wild",
    "wild_draws",
    "turning",
    "turning_check",
    "turning_points",
)


class Study:
    """A configuration, resolved, and checked against the functions that it names.

    Attributes
    ----------
    papers : list of str
        In the order of the configuration.
    runs : mapping of paper to mapping of run to (str, mapping)
        Every run, sweeps and sensitivity checks expanded, as `member` returns it.
    bundles : mapping of paper to mapping of bundle to list of runs
        Members of a sweep that one job simulates and measures into one table.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the mend.
    """

    def __init__(self, configuration: Configuration, check: bool = True) -> None:
        passport = Passport(configuration)
        self.configuration = configuration
        self.seed = configuration.seed
        self.papers = list(configuration.papers)
        self.runs: dict[str, dict[str, tuple[str, Spec]]] = {paper: {} for paper in self.papers}
        self.bundles: dict[str, dict[str, list[str]]] = {paper: {} for paper in self.papers}
        self._resolved: dict[tuple[str, str], Block] = {}
        self._blocks: dict[tuple[str, str], Block] = {}
        for paper in self.papers:
            for name in self.blocks(paper, "runs"):
                self._expand(paper, name, self.resolved(paper, "runs", name).get("sweep"))
                self._bundle(paper, name)
            for name in self.checks(paper, "sensitivity"):
                self._expand_check(paper, name)
        if check and not passport.has_passed():
            for paper in self.papers:
                self._check(paper)
            self._check_targets()
            passport.remember()

    # -- what is declared ---------------------------------------------------------------------------

    def paper_block(self, paper: str) -> Block:
        """A paper's block: title, citation, summary, notation."""
        return self.configuration.papers[paper]

    def where(self, paper: str, *path: str) -> str:
        """The beginning of an error: the file that sets a key of a paper, and the key."""
        return f"{self.configuration.origin(paper, *path)}: {'.'.join(path)}"

    def blocks(self, paper: str, section: str) -> Block:
        """The blocks of a section of a paper, by name."""
        return self.paper_block(paper).get(section, {})

    def declared(self, paper: str, section: str, name: str, where: str = "") -> Block:
        """One block of a section, as it is written."""
        blocks = self.blocks(paper, section)
        label = {"data": "data set", "interactive": "interactive figure"}.get(section, section.removesuffix("s"))
        check_known(name, blocks, label, where or self.where(paper, section))
        return blocks[name]

    def figures(self, paper: str) -> list[str]:
        """The figures of a paper, in the order of the configuration."""
        return list(self.blocks(paper, "figures"))

    def motions(self, paper: str) -> list[str]:
        """The figures of a paper that also move: their topic's ``motion.py`` has a function of their kind's name."""
        return [name for name in self.figures(paper) if self._moves(paper, name)]

    def interactives(self, paper: str) -> list[str]:
        """The figures of a paper whose reader moves a parameter, in the order of the configuration."""
        return list(self.blocks(paper, "interactive"))

    def drawings(self, paper: str) -> dict[str, list[str]]:
        """All that is drawn of a paper, by stage."""
        return {"figure": self.figures(paper), "motion": self.motions(paper), "interactive": self.interactives(paper)}

    def checks(self, paper: str, section: str) -> Block:
        """The checks of sensitivity, or those that seek where verdicts turn, without those that an overlay drops."""
        return {name: check for name, check in self.blocks(paper, section).items() if check is not None}

    def expected(self, paper: str, claim: str) -> str:
        """The verdict that is expected of a claim; another scale's does not hold at this one."""
        origin = self.configuration.origins.get((paper, "claims", claim, "expected"))
        scaled = self.configuration.overlaid and self.configuration.scale is not None
        if scaled and origin == f"workflow/config/{paper}.yaml":
            return ""
        return self.declared(paper, "claims", claim).get("expected", "")

    # -- runs, with what they inherit, and the members of sweeps -------------------------------------

    def ancestry(self, paper: str, name: str, descendants: tuple[str, ...] = ()) -> Iterator[tuple[str, Block]]:
        """Yield a run with its block and those it inherits from, nearest first."""
        block = self.declared(
            paper, "runs", name, self.where(paper, "runs", descendants[-1], "like") if descendants else ""
        )
        if len(descendants) > MAX_INHERITANCE_DEPTH:
            raise ProjectError(
                f"{self.where(paper, 'runs', name, 'like')}: inherits over more than {MAX_INHERITANCE_DEPTH} runs"
            )
        if name in descendants:
            raise ProjectError(f"{self.where(paper, 'runs', name, 'like')}: refers back to itself; break the circle")
        yield name, block
        if "like" in block:
            yield from self.ancestry(paper, block["like"], (*descendants, name))

    def resolved(self, paper: str, section: str, name: str) -> Block:
        """The block of a data set or run, with what it inherits; not to be changed."""
        if section != "runs":
            return self.declared(paper, section, name)
        if (paper, name) not in self._resolved:
            self._resolved[paper, name] = self._inherited(paper, name)
        return self._resolved[paper, name]

    def _inherited(self, paper: str, name: str) -> Block:
        merged: Block = {}
        for depth, (_, block) in enumerate(self.ancestry(paper, name)):
            own = {key: value for key, value in block.items() if key != "like"}
            if depth:  # an inherited sweep is less what the run sets itself
                inherited, bundle = own.pop("sweep", {}), own.pop("bundle", None)
                swept = {key: values for key, values in inherited.items() if key not in all_settings(merged)}
                own |= {"sweep": swept} if swept else {}
                own |= {"bundle": bundle} if swept and bundle else {}
            measure = overlay(own.get("measure", {}), merged.get("measure", {}))
            settings = overlay(own_settings("run", own), own_settings("run", merged))
            merged = {**own, **merged, **settings}
            if measure:
                merged["measure"] = measure
        return merged

    def every_setting(self, paper: str, section: str, name: str) -> Spec:
        """All settings of a run or data set, `flat`: its own and inherited ones, swept ones, those of measuring."""
        return all_settings(self.resolved(paper, section, name))

    def tables(self, paper: str, name: str) -> dict[str, Members]:
        """The tables of metrics that a run of the configuration makes: a run's each, or a bundle's."""
        block = self.resolved(paper, "runs", name)
        return sweep_tables(name, block.get("sweep"), block.get("bundle", 1))

    def members(self, paper: str, name: str) -> Members:
        """The runs that a run stands for, itself or a sweep's members, and the settings in which each differs."""
        if name in self.blocks(paper, "runs"):
            return sweep_members(name, self.resolved(paper, "runs", name).get("sweep"))
        return [(name, {})]

    def member(self, paper: str, name: str) -> tuple[str, Spec]:
        """The run of the configuration that a run is, or is a member of, and the settings in which it differs."""
        check_known(name, self.runs[paper], "run", self.where(paper, "runs"))
        return self.runs[paper][name]

    def sweeps(self, paper: str) -> dict[str, list[str]]:
        """The members of each swept run."""
        swept = [name for name in self.blocks(paper, "runs") if self.resolved(paper, "runs", name).get("sweep")]
        return {name: [member for member, _ in self.members(paper, name)] for name in swept}

    # -- what a job is given ------------------------------------------------------------------------

    def block(self, stage: str, paper: str, name: str) -> Block:
        """The block of a job, a run's with what it inherits and what its sweep sets; not to be changed."""
        if stage in ("run", "metrics"):
            if (paper, name) not in self._blocks:
                self._blocks[paper, name] = self._varied(paper, *self.member(paper, name))
            return self._blocks[paper, name]
        return self.declared(paper, SECTIONS.get(stage, stage), name)

    def kind(self, stage: str, paper: str, name: str) -> str:
        """The function that a job calls, as the configuration names it."""
        return self.block(stage, paper, name)["source" if stage == "data" else "kind"]

    def definition(self, stage: str, paper: str, name: str) -> Definition:
        """The function that a job calls, as its source has it."""
        if stage == "motion" and not self._moves(paper, name):
            moving = ", ".join(self.motions(paper)) or "none"
            raise ProjectError(f"{self.where(paper, 'figures', name)}: does not move; those that do: {moving}")
        return definition_of(stage, paper, self.kind(stage, paper, name), name)

    def signature(self, stage: str, paper: str, name: str) -> Signature:
        """The function that a job calls, imported."""
        return signature_of(stage, paper, self.kind(stage, paper, name), name)

    def settings(self, stage: str, paper: str, name: str, /, **changes: Any) -> Spec:
        """The settings with which a job calls its function, with any of them changed."""
        settings = self._settings(stage, self.block(stage, paper, name), self.definition(stage, paper, name).settings)
        if not changes:
            return settings
        changed = overlay(settings, changes)
        self.signature(stage, paper, name).check(changed, f"{paper} {name}")
        return changed

    def roles(self, stage: str, paper: str, name: str) -> Roles:
        """The runs that a figure, its motion, an interactive figure or a claim is given, by role."""
        runs = self.block(stage, paper, name)["runs"]
        return select_keys(runs, self.definition(stage, paper, name).arguments) if stage == "motion" else runs

    def runs_of_claim(self, paper: str, claim: str) -> list[str]:
        """The runs that a claim is given, sweeps as one."""
        return sorted(set(run_names(self.roles("claims", paper, claim))))

    def _settings(self, stage: str, block: Block, names: Iterable[str]) -> Spec:
        if stage == "metrics":
            return dict(block.get("measure", {}))
        settings = own_settings(stage, block)
        if stage in ("data", "run") and "seed" in names:
            settings.setdefault("seed", self.seed)
        return select_keys(settings, names) if stage == "motion" else settings

    def _varied(self, paper: str, name: str, differing: Spec) -> Block:
        """Return the block of a run in which some settings differ."""
        block = self.resolved(paper, "runs", name)
        changes = place_settings(block, differing)
        measured = {"measure": overlay(block["measure"], changes.pop("measure"))} if "measure" in changes else {}
        return overlay(block, changes) | measured

    def _moves(self, paper: str, name: str) -> bool:
        topic, _, function = self.declared(paper, "figures", name)["kind"].partition(".")
        return function in definitions(f"{PACKAGE}.papers.{paper}.{topic}.{PARTS['motion']}")

    # -- words --------------------------------------------------------------------------------------

    def caption(self, paper: str, name: str, stage: str = "figure") -> str:
        """A figure's caption: its function's docstring, up to parameters; a template of its facts."""
        return self._prose(stage, paper, name)

    def statement(self, paper: str, name: str) -> str:
        """A claim's statement: the first paragraph of its function's docstring."""
        return " ".join(self._prose("claims", paper, name).partition("\n\n")[0].split())

    def explanation(self, paper: str, name: str) -> str:
        """A claim's explanation: the rest of its function's docstring; a template of its facts."""
        return self._prose("claims", paper, name).partition("\n\n")[2].strip()

    def _prose(self, stage: str, paper: str, name: str) -> str:
        docstring = self.definition(stage, paper, name).docstring
        return re.split(r"\n\n(?:Parameters|Returns|Raises|Notes)\n-+\n", docstring)[0].strip()

    # -- runs that are taken up ---------------------------------------------------------------------

    def _expand(self, paper: str, name: str, sweep: Mapping[str, Sequence[Any]] | None) -> None:
        """Take up a run's members among the runs."""
        where = self.where(paper, "runs", name)
        count = 1
        for key, values in (sweep or {}).items():
            count *= len(values)
            if key in NOT_SWEPT:
                raise ProjectError(f"{where}.sweep.{key}: is no setting of a run, and cannot be varied")
        if count > MAX_MEMBERS:
            raise ProjectError(f"{where}.sweep: {count} runs; sweep fewer values")
        for member, differing in sweep_members(name, sweep):
            if not MEMBER.fullmatch(member) or len(member) > MAX_NAME_LENGTH:
                shown = member if len(member) <= MAX_NAME_LENGTH else f"{member[:MAX_NAME_LENGTH]}..."
                raise ProjectError(
                    f"{where}.sweep: `{shown}` cannot be a file's name; sweep numbers or plain words, "
                    "or write a run for each value"
                )
            self.runs[paper].setdefault(member, (name, differing))
            if BUNDLE.fullmatch(member):
                raise ProjectError(f"{where}: a run cannot be called `{member}`, as bundles of sweeps are; rename it")

    def _bundle(self, paper: str, name: str) -> None:
        """Take up the bundles of a swept run whose members travel together."""
        block, where = self.resolved(paper, "runs", name), self.where(paper, "runs", name, "bundle")
        if "bundle" not in block:
            return
        sweep = block.get("sweep", {})
        if not sweep or "kind" in sweep:
            raise ProjectError(f"{where}: is for the members of a sweep, of one kind; remove it")
        for table, members in self.tables(paper, name).items():
            self.bundles[paper][table] = [member for member, _ in members]
            if sum(map(len, self.bundles[paper][table])) > MAX_BUNDLE_LENGTH:
                raise ProjectError(f"{where}: the names of {block['bundle']} members fit no command; take fewer")

    def _expand_check(self, paper: str, name: str) -> None:
        """Take up the runs that a sensitivity check needs."""
        check, where = self.checks(paper, "sensitivity")[name], self.where(paper, "sensitivity", name)
        for key in ("run", "setting", "values", "claims"):
            if key not in check:
                raise ProjectError(f"{where}.{key}: missing; add it")
        self.declared(paper, "runs", check["run"], f"{where}.run")
        self._expand(paper, check["run"], {check["setting"]: check["values"]})

    # -- checks, which change nothing ---------------------------------------------------------------

    def _check(self, paper: str) -> None:
        for name in self.blocks(paper, "data"):
            self._check_data(paper, name)
        for name in self.blocks(paper, "runs"):
            self._check_members(paper, name, self.resolved(paper, "runs", name).get("sweep"))
        for name in self.figures(paper):
            self._check_figure(paper, name)
        for name in self.interactives(paper):
            self._check_interactive(paper, name)
        if "telling" in self.paper_block(paper):
            self.declared(paper, "figures", self.paper_block(paper)["telling"], self.where(paper, "telling"))
        for name in self.blocks(paper, "claims"):
            self._check_claim(paper, name)
        for name in self.checks(paper, "sensitivity"):
            self._check_sensitivity(paper, name)
        reasons.check_reasons(self, paper)
        regions.check_wild(self, paper)
        regions.check_turning(self, paper)

    def _check_data(self, paper: str, name: str) -> None:
        block, where = self.declared(paper, "data", name), self.where(paper, "data", name)
        if "source" not in block:
            raise ProjectError(f"{where}.source: missing; add it")
        function = signature_of("data", paper, block["source"], f"{where}.source")
        function.check(self._settings("data", block, function.settings), where)

    def _check_members(self, paper: str, name: str, sweep: Mapping[str, Sequence[Any]] | None) -> None:
        """Check a run, every swept value once."""
        swept = sweep or {}
        first = {key: values[0] for key, values in swept.items()}
        self._check_run(paper, name, first)
        for key, values in swept.items():
            for value in values[1:]:
                self._check_run(paper, name, first | {key: value})

    def _check_run(self, paper: str, name: str, differing: Spec) -> None:
        block, where = self._varied(paper, name, differing), self.where(paper, "runs", name)
        if "kind" not in block:
            raise ProjectError(f"{where}.kind: missing; name a function of papers/{paper}/<topic>/runs.py")
        function = signature_of("run", paper, block["kind"], f"{where}.kind")
        self._check_settings(paper, name, function, self._settings("run", block, function.settings), differing)
        if ("data" in function.arguments) != ("data" in block):
            mend = "add `data:`" if "data" in function.arguments else "remove `data:`"
            raise ProjectError(f"{where}.data: kind `{block['kind']}` does not agree; {mend}")
        if "data" in block:
            self.declared(paper, "data", block["data"], f"{where}.data")
        metrics = signature_of("metrics", paper, block["kind"], f"{where}.kind")
        if not metrics.has("columns"):
            raise ProjectError(f"{metrics.where}: `{metrics.name}` declares no columns; decorate it with @columns(...)")
        if "data" in metrics.arguments and "data" not in block:
            raise ProjectError(f"{where}.data: `{metrics.name}` of {metrics.where} takes a data set; add `data:`")
        self._check_settings(paper, name, metrics, block.get("measure", {}), differing, "measure")

    def _check_settings(
        self,
        paper: str,
        name: str,
        function: Signature,
        settings: Mapping[str, Any],
        swept: Mapping[str, Any],
        part: str = "",
    ) -> None:
        """Check settings; an error names the run that has the faulty key, not one that inherits it."""
        where = self.where(paper, "runs", name) + (f".{part}" if part else "")
        try:
            function.check(settings, where)
        except ProjectError as error:
            message = str(error)
            if not message.startswith(where + "."):
                raise
            path = message[len(where) + 1 :].split(":")[0].split(".")
            keys = {path[0], ".".join(path[:2])}
            blocks = [(owner, block.get(part, {}) if part else block) for owner, block in self.ancestry(paper, name)]
            setters = (owner for owner, block in blocks if keys & flat(block).keys())
            owner = name if keys & swept.keys() else next(setters, name)
            mended = self.where(paper, "runs", owner) + (f".{part}" if part else "")
            raise ProjectError(mended + message[len(where) :]) from None

    def _check_roles(self, stage: str, paper: str, name: str) -> tuple[Block, str, Signature]:
        """Check what a figure or claim is given; return its block, where that stands, and its function."""
        section = SECTIONS.get(stage, stage)
        block, where = self.declared(paper, section, name), self.where(paper, section, name)
        for key in ("kind", "runs"):
            if key not in block:
                raise ProjectError(f"{where}.{key}: missing; add it")
        function = signature_of(stage, paper, block["kind"], f"{where}.kind")
        function.check_roles(block["runs"], where)
        for role, runs_of_role in block["runs"].items():
            for run in run_names({role: runs_of_role}):
                self.declared(paper, "runs", run, f"{where}.runs.{role}")
        runs = [self.resolved(paper, "runs", run) for run in run_names(block["runs"])]
        kinds = [kind for run in runs for kind in run.get("sweep", {}).get("kind", [run.get("kind", "")])]
        quantities.refuse_undeclared(stage, paper, block["kind"], where, list(filter(None, kinds)))
        return block, where, function

    def _check_figure(self, paper: str, name: str) -> None:
        block, where, function = self._check_roles("figure", paper, name)
        function.check(self._settings("figure", block, function.settings), where)
        if self._moves(paper, name):
            function_of_motion = self.signature("motion", paper, name)
            function_of_motion.check_roles(self.roles("motion", paper, name), where)
            function_of_motion.check(self.settings("motion", paper, name), where)

    def _check_interactive(self, paper: str, name: str) -> None:
        block, where, function = self._check_roles("interactive", paper, name)
        if "figure" not in block:
            raise ProjectError(f"{where}.figure: missing; add it")
        self.declared(paper, "figures", block["figure"], f"{where}.figure")
        others = self.blocks(paper, "interactive").items()
        first_name = next(interactive for interactive, other in others if other["figure"] == block["figure"])
        if first_name != name:
            raise ProjectError(f"{where}.figure: `{first_name}` stands below `{block['figure']}` already; name another")
        function.check(self._settings("interactive", block, function.settings), where)

    def _check_claim(self, paper: str, name: str) -> None:
        block, where, function = self._check_roles("claims", paper, name)
        if not function.has("claim"):
            raise ProjectError(f"{function.where}: `{function.name}` is no claim; decorate it with @claim(...)")
        if "figure" in block:
            figure = self.declared(paper, "figures", block["figure"], f"{where}.figure")
            if block["runs"] and not set(run_names(block["runs"])) & set(run_names(figure["runs"])):
                raise ProjectError(
                    f"{where}.figure: `{block['figure']}` shows none of the claim's runs; name one that does, or none"
                )
        settings = self._settings("claims", block, function.settings)
        function.check(settings, where)
        variants = 1
        for key, values in block.get("vary", {}).items():
            if key not in settings:
                raise ProjectError(f"{where}.vary.{key}: no setting of this claim{suggest_name(key, settings)}")
            variants *= len(values) + 1
            for value in values:
                function.check(settings | {key: value}, f"{where}.vary")
        if variants > MAX_VARIANTS:
            raise ProjectError(f"{where}.vary: {variants} combinations; vary fewer values (at most {MAX_VARIANTS})")

    def _check_sensitivity(self, paper: str, name: str) -> None:
        claims, where = self.blocks(paper, "claims"), self.where(paper, "sensitivity", name)
        check = self.checks(paper, "sensitivity")[name]
        self._check_members(paper, check["run"], {check["setting"]: check["values"]})
        block = self.resolved(paper, "runs", check["run"])
        if "bundle" in block:
            raise ProjectError(f"{where}.run: `{check['run']}` runs in bundles; remove its `bundle`")
        configured = (block if check["setting"] == "data" else all_settings(block)).get(check["setting"])
        if configured in check["values"]:
            raise ProjectError(f"{where}.values: {configured} is the run's own; give others")
        for claim in check["claims"]:
            check_known(claim, claims, "claim", f"{where}.claims")
            if check["run"] not in run_names(claims[claim].get("runs", {})):
                raise ProjectError(f"{where}.run: claim `{claim}` does not use run `{check['run']}`")

    def _check_targets(self) -> None:
        """Refuse names that two of Snakemake's rules would have: those of papers, of their metrics and their sweeps."""
        owners = dict.fromkeys(RULES, "a rule of the Snakefile")
        for paper in self.papers:
            targets = [(paper, f"the paper {paper}", ""), (f"{paper}_metrics", f"the metrics of {paper}", "")]
            targets += [(f"{paper}_{name}", f"the sweep {name} of {paper}", name) for name in self.sweeps(paper)]
            for target, description, name in targets:
                if target in owners:
                    where = self.where(paper, "runs", name) if name else f"papers: {paper}"
                    raise ProjectError(
                        f"{where}: {description} has the same target as {owners[target]}: {target}; rename it"
                    )
                owners[target] = description
