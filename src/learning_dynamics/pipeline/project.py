"""What each job is to do: the configuration resolved, and checked against the functions that it names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline import regions
from learning_dynamics.pipeline.config import Block, Configuration
from learning_dynamics.pipeline.provenance import digest, fingerprint
from learning_dynamics.pipeline.signatures import Signature, signatures
from learning_dynamics.pipeline.sources import PACKAGE, PARTS, data_module, module_path, part_module, science
from learning_dynamics.pipeline.sweeps import BUNDLE, sweep_members, sweep_tables

Spec = dict[str, Any]
RUN_KEYS = {
    *("kind", "data", "like", "sweep", "bundle", "wild", "provenance"),
    *("resources", "measure", "measure_resources", "keep"),
}
DATA_KEYS = {"source", "wild", "provenance", "resources"}
FIGURE_KEYS = {"kind", "runs"}
INTERACTIVE_KEYS = FIGURE_KEYS | {"figure"}
CLAIM_KEYS = {"kind", "runs", "figure", "expected", "vary", "wild"}
MEMBER = re.compile(r"[a-z][A-Za-z0-9_.+-]*")
MOST_MEMBERS = 100_000
MOST_BELOW = 30  # runs that a run inherits from, one from another
LONGEST = 200  # characters of a member's name, which files bear
LONGEST_BUNDLE = 100_000  # characters of all its members' names: an argument of a command holds 131,072
NOT_SWEPT = RUN_KEYS - {"data", "kind"}  # of a run's block, what is no setting
# names of rules, which no paper's own target may have
RULES = (
    "all", "data", "run", "run_dropped", "metrics", "bundle", "figure", "motion", "interactive", "claims", "page",
    "verdicts", "replicate", "replication", "learning_rates", "accuracies", "throughput", "wild", "wild_draws",
    "turning", "turning_check", "turning_points",
)  # fmt: skip
MOST_VARIANTS = 500


class Project:
    """Every job of a configuration.

    Raises
    ------
    ProjectError
        At the first mistake: the file, the key and the mend.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.seed = configuration.seed
        self._fingerprints: dict[tuple[str, str, str], str] = {}
        self._trajectories: dict[str, dict[tuple[str, str], str]] = {}
        self._members: dict[str, dict[str, tuple[str, Spec]]] = {paper: {} for paper in self.papers}
        self._bundles: dict[str, dict[str, list[str]]] = {paper: {} for paper in self.papers}
        for paper in self.papers:
            for name in self._blocks(paper, "data"):
                self.data(paper, name)
            for name in self._blocks(paper, "runs"):
                self._take_in(paper, name, self._inherited(paper, name).get("sweep"))
                self._take_in_bundles(paper, name)
            for name in self._blocks(paper, "figures"):
                self._check_figure(paper, name)
            for name in self._blocks(paper, "interactive"):
                self._check_interactive(paper, name)
            if "telling" in self.about(paper):
                self._find(paper, "figures", self.about(paper)["telling"], "figure", self._where(paper, "telling"))
            for name in self._blocks(paper, "claims"):
                self._check_claim(paper, name)
            self._check_sensitivity(paper)
            self._check_provenance(paper)
            regions.check_wild(self, paper)
            regions.check_turning(self, paper)
        self._check_targets()

    # -- what there is ------------------------------------------------------------------------------

    @property
    def papers(self) -> list[str]:
        """The papers, in the order of the configuration."""
        return list(self.configuration.papers)

    def about(self, paper: str) -> Block:
        """A paper's block: title, citation, summary, notation."""
        return self.configuration.papers[paper]

    def figures(self, paper: str) -> list[str]:
        """The figures of a paper, in the order of the configuration."""
        return list(self._blocks(paper, "figures"))

    def motions(self, paper: str) -> list[str]:
        """The figures of a paper that also move: their topic's ``motion.py`` has a function of their kind's name."""
        return [name for name in self.figures(paper) if self._moving(paper, name)]

    def interactives(self, paper: str) -> list[str]:
        """The figures of a paper whose reader moves a parameter, in the order of the configuration."""
        return list(self._blocks(paper, "interactive"))

    def runs(self, paper: str) -> list[str]:
        """Every run of a paper, sweeps and sensitivity checks expanded."""
        return list(self._members[paper])

    def bundles(self, paper: str) -> dict[str, list[str]]:
        """The members of each bundle: runs of a sweep that one job simulates and measures into one table."""
        return self._bundles[paper]

    def tables(self, paper: str, name: str | None = None) -> list[str]:
        """The tables of metrics that jobs make, of one run of the configuration or of all: a run's, or a bundle's."""
        if name is not None:
            return self._tables_of(paper, {"run": name})
        together = {member for members in self._bundles[paper].values() for member in members}
        return [member for member in self._members[paper] if member not in together] + list(self._bundles[paper])

    def sweeps(self, paper: str) -> dict[str, list[str]]:
        """The members of each swept run."""
        found = {name: self._inherited(paper, name).get("sweep") for name in self._blocks(paper, "runs")}
        return {name: [member for member, _ in sweep_members(name, sweep)] for name, sweep in found.items() if sweep}

    def members(self, paper: str, name: str) -> list[tuple[str, Spec]]:
        """The runs that a run stands for, itself or a sweep's members, and the settings in which each differs."""
        if name in self._blocks(paper, "runs"):
            return sweep_members(name, self._inherited(paper, name).get("sweep"))
        return [(name, {})]

    def resolved(self, paper: str, section: str, name: str) -> Block:
        """The block of a data set or run, with what it inherits."""
        return self._inherited(paper, name) if section == "runs" else dict(self._find(paper, section, name, "data set"))

    def every_setting(self, paper: str, section: str, name: str) -> Spec:
        """Return all settings of a run or data set: its own and inherited ones, swept ones, those of measuring."""
        return _flat(self.resolved(paper, section, name))

    def ancestors(self, paper: str, name: str) -> list[str]:
        """A run, and those that it is like."""
        return [owner for owner, _ in self._ancestry(paper, name)]

    def runs_behind(self, paper: str, claim: str) -> list[str]:
        """The runs that a claim is given, sweeps as one."""
        return sorted(_names(self._find(paper, "claims", claim, "claim")["runs"]))

    def turning(self, paper: str) -> Block:
        """The checks that seek where verdicts turn, by name."""
        return {name: check for name, check in self._blocks(paper, "turning").items() if check is not None}

    def described(self, paper: str, name: str) -> Spec:
        """What a job that reads a run's metrics is told of it: name, sweep if there is one, fingerprint."""
        return self._roles(paper, {"run": name})["run"]

    # -- what jobs are to do ------------------------------------------------------------------------

    def data(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a data job is to do: source and settings, with any of them changed."""
        block = self._find(paper, "data", name, "data set")
        where = self._where(paper, "data", name)
        function = self.data_signature(paper, name)
        settings = _settings(block, DATA_KEYS)
        if function.takes_seed:
            settings.setdefault("seed", self.seed)
        function.check(settings | changes, f"{paper} {name}" if changes else where)
        return {"source": block["source"], "settings": settings | changes}

    def data_signature(self, paper: str, name: str) -> Signature:
        """The function that makes a data set, as configuration sees it."""
        block, where = self._find(paper, "data", name, "data set"), f"{self._where(paper, 'data', name)}.source"
        if "source" not in block:
            raise ProjectError(f"{where}: missing; add it")
        module = self._located(data_module, paper, block["source"], where=where)
        return self._function(module, block["source"], where)

    def run(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a run job is to do: kind and settings, with any of them changed."""
        block = self._block_of(paper, name)
        settings = _settings(block, RUN_KEYS)
        signature = self._signature(paper, "run", block["kind"], name)
        if signature.takes_seed:
            settings.setdefault("seed", self.seed)
        if changes:
            signature.check(settings | changes, f"{paper} {name}")
        return {"kind": block["kind"], "settings": settings | changes}

    def run_data(self, paper: str, name: str) -> str | None:
        """The data set of a run."""
        return self._block_of(paper, name).get("data")

    def measured_data(self, paper: str, name: str) -> str | None:
        """The data set of a run whose metrics are measured on it as well; its trajectory's file does not repeat it."""
        arguments = self._signature(paper, "metrics", self._block_of(paper, name)["kind"], name).arguments
        return self.run_data(paper, name) if "data" in arguments else None

    def keeps(self, paper: str, name: str) -> bool:
        """Whether a run's file stays once all its metrics are there."""
        return self._block_of(paper, name).get("keep", True)

    def measure(self, paper: str, name: str, **changes: Any) -> Spec:
        """What a metrics job is to do: kind, and the settings of measuring, with any of them changed."""
        block = self._block_of(paper, name)
        settings = dict(block.get("measure", {})) | changes
        if changes:
            self._signature(paper, "metrics", block["kind"], name).check(settings, f"{paper} {name}")
        return {"kind": block["kind"], "settings": settings}

    def bundle(self, paper: str, name: str) -> Spec:
        """What a bundle's job is to do: the settings that its members share, and the values in which they differ."""
        members = self._bundles[paper][name]
        sweep = self._members[paper][members[0]][0]
        first = self.run(paper, members[0])
        return {
            "kind": first["kind"],
            "data": self.run_data(paper, members[0]),
            "settings": first["settings"],
            "measure": self.measure(paper, members[0])["settings"],
            "sweep": sweep,
            "axes": list(self._inherited(paper, sweep)["sweep"]),
            "members": [list(self._members[paper][member][1].values()) for member in members],
        }

    def bundle_data(self, paper: str, name: str) -> list[str]:
        """The data sets that a bundle's members take."""
        given = (self.run_data(paper, member) for member in self._bundles[paper][name])
        return list(dict.fromkeys(filter(None, given)))

    def takes(self, stage: str, paper: str, name: str) -> set[str]:
        """The settings that a data set's or run's function has."""
        if stage == "data":
            source = self._find(paper, "data", name, "data set")["source"]
            return self._function(data_module(paper, source), source, name).settings
        return self._signature(paper, stage, self._block_of(paper, name)["kind"], name).settings

    def trajectory(self, paper: str, name: str) -> str:
        """The run whose trajectory a run's metrics measure: itself, or the first that differs in measuring alone."""
        self._block_of(paper, name)  # or there is no such run
        swept, differing = self._members[paper][name]
        if not self._measured(paper, swept, differing):
            return name
        like = self._blocks(paper, "runs")[swept].get("like")
        if like in self._members[paper] and self._runs_alike(paper, name, like):
            return self.trajectory(paper, like)
        if paper not in self._trajectories:
            first = self._trajectories[paper] = {}
            for member, (run, values) in self._members[paper].items():
                first.setdefault(self._simulated(paper, run, values), member)
        return self._trajectories[paper][self._simulated(paper, swept, differing)]

    def resources(self, stage: str, paper: str, name: str) -> Mapping[str, int]:
        """What a data, run, metrics or bundle job asks for."""
        if stage == "data":
            return self._find(paper, "data", name, "data set").get("resources", {})
        if stage == "bundle":
            return self.resources("run", paper, self._bundles[paper][name][0])
        return self._block_of(paper, name).get("resources" if stage == "run" else "measure_resources", {})

    def figure(self, paper: str, name: str) -> Spec:
        """What a figure job is to do: kind, runs by role with the fingerprints of their metrics, settings."""
        return self._drawing(paper, self._find(paper, "figures", name, "figure"), FIGURE_KEYS)

    def motion(self, paper: str, name: str) -> Spec:
        """What a motion job is to do: as for the figure, with those of its runs and settings that the motion takes."""
        function = self._moving(paper, name)
        if function is None:
            moving = ", ".join(self.motions(paper)) or "none"
            raise ProjectError(f"{self._where(paper, 'figures', name)}: does not move; those that do: {moving}")
        block = self._find(paper, "figures", name, "figure")
        return {
            "kind": block["kind"],
            "runs": self._roles(paper, _taken(block["runs"], function.arguments)),
            "settings": _taken(_settings(block, FIGURE_KEYS), function.settings),
        }

    def interactive(self, paper: str, name: str) -> Spec:
        """What an interactive figure's job is to do: as for a figure."""
        return self._drawing(paper, self._find(paper, "interactive", name, "interactive figure"), INTERACTIVE_KEYS)

    def _drawing(self, paper: str, block: Mapping[str, Any], keys: set[str]) -> Spec:
        return {
            "kind": block["kind"],
            "runs": self._roles(paper, block["runs"]),
            "settings": _settings(block, keys),
        }

    def still(self, paper: str, name: str) -> str:
        """The figure below which an interactive one stands, and which stands for it on paper."""
        return self._find(paper, "interactive", name, "interactive figure")["figure"]

    def claims(self, paper: str) -> Spec:
        """What a claims job is to do: every claim with its runs, what is varied, and the sensitivity checks."""
        return {
            "claims": {name: self.claim(paper, name) for name in self._blocks(paper, "claims")},
            "sensitivity": {
                name: check
                | {
                    "members": [
                        {
                            "value": str(differing[check["setting"]]),
                            "name": member,
                            "fingerprint": self.fingerprint("metrics", paper, member),
                        }
                        for member, differing in self._checked(check)
                    ]
                }
                for name, check in self._sensitivity(paper).items()
            },
        }

    def claim(self, paper: str, name: str, **changes: Any) -> Spec:
        """What is known of one claim: kind, runs by role, figure, expected verdict, settings and their variants."""
        block = self._find(paper, "claims", name, "claim")
        if changes:
            signature = self._signature(paper, "claims", block["kind"], name)
            signature.check(_settings(block, CLAIM_KEYS) | changes, f"{paper} {name}")
        return {
            "kind": block["kind"],
            "runs": self._roles(paper, block["runs"]),
            "figure": block.get("figure"),
            "expected": self._expected(paper, name),
            "settings": _settings(block, CLAIM_KEYS) | changes,
            "vary": block.get("vary", {}),
        }

    def figure_runs(self, paper: str, name: str) -> list[str]:
        """The tables of metrics that a figure needs, sweeps expanded."""
        return self._tables_of(paper, self._find(paper, "figures", name, "figure")["runs"])

    def motion_runs(self, paper: str, name: str) -> list[str]:
        """The tables of metrics that a figure's motion needs, sweeps expanded."""
        runs = self._find(paper, "figures", name, "figure")["runs"]
        return self._tables_of(paper, {role: runs[role] for role in self.motion(paper, name)["runs"]})

    def interactive_runs(self, paper: str, name: str) -> list[str]:
        """The tables of metrics that an interactive figure needs, sweeps expanded."""
        return self._tables_of(paper, self._find(paper, "interactive", name, "interactive figure")["runs"])

    def claims_runs(self, paper: str) -> list[str]:
        """The tables of metrics that the claims need, sweeps and sensitivity checks expanded."""
        runs = [
            table for claim in self._blocks(paper, "claims").values() for table in self._tables_of(paper, claim["runs"])
        ]
        runs += [member for check in self._sensitivity(paper).values() for member, _ in self._checked(check)]
        return list(dict.fromkeys(runs))

    def science(self, stage: str, paper: str, name: str) -> Mapping[str, str]:
        """The digests of the science that a job calls, by module."""
        if stage == "data":
            return science(data_module(paper, self.data(paper, name)["source"]))
        if stage == "claims":
            kinds = {block["kind"] for block in self._blocks(paper, "claims").values()}
            found: dict[str, str] = {}
            for kind in sorted(kinds):
                found |= science(part_module(paper, "claims", kind))
            return found
        if stage == "bundle":
            member = self._bundles[paper][name][0]
            return {**self.science("run", paper, member), **self.science("metrics", paper, member)}
        section = {"figure": "figures", "motion": "figures", "interactive": "interactive"}.get(stage)
        kind = self._find(paper, section, name, stage)["kind"] if section else self._block_of(paper, name)["kind"]
        return science(part_module(paper, PARTS[stage], kind))

    def made_from(self, stage: str, paper: str, name: str) -> str | None:
        """The fingerprint of a run's data set, or of the run that metrics measure."""
        if stage == "run":
            data = self.run_data(paper, name)
            return self.fingerprint("data", paper, data) if data else None
        return self.fingerprint("run", paper, name) if stage == "metrics" else None

    def fingerprint(self, stage: str, paper: str, name: str) -> str:
        """What an output is made from, as one digest: settings, science, and inputs' fingerprints."""
        key = (stage, paper, name)
        if key not in self._fingerprints and stage == "bundle":
            prints = [self.fingerprint("metrics", paper, member) for member in self._bundles[paper][name]]
            self._fingerprints[key] = digest(prints)
        if key not in self._fingerprints:
            if stage == "claims":
                spec = self.claims(paper)
            else:
                get = {
                    "data": self.data,
                    "run": self.run,
                    "metrics": self.measure,
                    "figure": self.figure,
                    "motion": self.motion,
                    "interactive": self.interactive,
                }[stage]
                spec = get(paper, name)
            made_from = self.made_from(stage, paper, name)
            self._fingerprints[key] = fingerprint(stage, spec, self.science(stage, paper, name), made_from)
        return self._fingerprints[key]

    # -- words --------------------------------------------------------------------------------------

    def caption(self, paper: str, name: str, stage: str = "figure") -> str:
        """A figure's caption: its function's docstring, up to parameters; a template of its facts."""
        section = "interactive" if stage == "interactive" else "figures"
        kind = self._find(paper, section, name, "figure")["kind"]
        return _prose(self._signature(paper, stage, kind, name).docstring)

    def statement(self, paper: str, name: str) -> str:
        """A claim's statement: the first paragraph of its function's docstring."""
        return self._claim_prose(paper, name)[0]

    def explanation(self, paper: str, name: str) -> str:
        """A claim's explanation: the rest of its function's docstring; a template of its facts."""
        return self._claim_prose(paper, name)[1]

    def _claim_prose(self, paper: str, name: str) -> tuple[str, str]:
        kind = self._find(paper, "claims", name, "claim")["kind"]
        statement, _, rest = _prose(self._signature(paper, "claims", kind, name).docstring).partition("\n\n")
        return " ".join(statement.split()), rest.strip()

    def chosen(self, paper: str) -> list[Spec]:
        """Return every setting that the paper does not state: section, name, key, value, origin, reason."""
        rows = []
        for section, name, key, value in self._set(paper):
            origin = self.provenance(paper, section, name, key)
            word, reason = next(iter(origin.items())) if isinstance(origin, Mapping) else (origin, "")
            if word != "stated":
                row = {
                    "section": section,
                    "name": name,
                    "setting": key,
                    "value": value,
                    "origin": word,
                    "reason": reason,
                }
                rows.append(row)
        return rows

    def provenance(self, paper: str, section: str, name: str, key: str) -> Any:
        """Return where a setting of a run or data set comes from: a word, a mapping with the reason, or None.

        A reason belongs to the value beside it: to the block that sets it and those that inherit it, else to kind and
        setting. An overlay that changes a value brings its own, or none is given. What a paper states of a kind is
        not said of a value that a run sets over the one it inherits, or sweeps.
        """
        blocks = list(self._ancestry(paper, name)) if section == "runs" else [(name, self._blocks(paper, "data")[name])]
        setters = [(owner, block) for owner, block in blocks if key in _flat(block)]
        if not setters:
            return None
        owner, block = setters[0]
        path = (paper, section, owner, *_place(block, key))
        for child, inheriting in blocks[: blocks.index((owner, block)) + 1]:
            if key in inheriting.get("provenance", {}):
                reason_from = self.configuration.origins.get((paper, section, child, "provenance", key))
                reason_from = reason_from or self.configuration.origin(paper, section, child, "provenance")
                overlay = self.configuration.overlay_of(*path)
                if overlay is None or reason_from == overlay or child != owner:
                    return inheriting["provenance"][key]
        kind = self._inherited(paper, name)["kind"] if section == "runs" else block["source"]
        shared = self._blocks(paper, "provenance").get(kind, {}).get(key)
        overlay = self.configuration.overlay_of(*path)
        if overlay is not None:
            from_overlay = self.configuration.origins.get((paper, "provenance", kind, key)) == overlay
            return shared if from_overlay else {"chosen": f"changed by {overlay}, no reason given"}
        shipped = self.configuration.base.get(path) == f"workflow/config/{paper}.yaml"
        if not shipped and shared is None:
            return {"chosen": f"set by {self.configuration.origin(*path)}, no reason given"}
        word = next(iter(shared)) if isinstance(shared, Mapping) else shared
        fact = word in ("stated", "code")
        if fact and (len(setters) > 1 or key in block.get("sweep", {})):
            return None if shipped else {"chosen": f"set by {self.configuration.origin(*path)}, no reason given"}
        return shared

    # -- resolution ---------------------------------------------------------------------------------

    def _blocks(self, paper: str, section: str) -> Block:
        return self.configuration.papers[paper].get(section, {})

    def _where(self, paper: str, *path: str) -> str:
        return f"{self.configuration.origin(paper, *path)}: {'.'.join(path)}"

    def _find(self, paper: str, section: str, name: str, what: str, where: str = "") -> Block:
        known = self._blocks(paper, section)
        if name not in known:
            raise ProjectError(f"{where or self._where(paper, section)}: no {what} `{name}`{near(name, known)}")
        return known[name]

    @staticmethod
    def _located(locate: Any, *arguments: str, where: str) -> str:
        try:
            return locate(*arguments)
        except ProjectError as error:
            raise ProjectError(f"{where}: {error}") from None

    def _function(self, module: str, kind: str, where: str) -> Signature:
        path = module_path(module)
        assert path is not None
        functions, name = signatures(path), kind.rpartition(".")[2]
        if name not in functions:
            raise ProjectError(f"{where}: no function `{name}` in {module.replace('.', '/')}.py{near(name, functions)}")
        return functions[name]

    def _signature(self, paper: str, stage: str, kind: str, name: str, where: str = "") -> Signature:
        where = where or name
        module = self._located(part_module, paper, PARTS[stage], kind, where=where)
        return self._function(module, kind, where)

    def _moving(self, paper: str, name: str) -> Signature | None:
        """Return the function that moves a figure, if there is one: of the same name, in the topic's ``motion.py``."""
        kind = self._find(paper, "figures", name, "figure")["kind"]
        topic, _, function = kind.partition(".")
        path = module_path(f"{PACKAGE}.papers.{paper}.{topic}.{PARTS['motion']}")
        return signatures(path).get(function) if path else None

    def _ancestry(self, paper: str, name: str, below: tuple[str, ...] = ()) -> Iterator[tuple[str, Block]]:
        """Yield a run's block and those it inherits from, nearest first."""
        block = self._find(paper, "runs", name, "run", self._where(paper, "runs", below[-1], "like") if below else "")
        if len(below) > MOST_BELOW:
            raise ProjectError(f"{self._where(paper, 'runs', name, 'like')}: inherits over more than {MOST_BELOW} runs")
        if name in below:
            raise ProjectError(f"{self._where(paper, 'runs', name, 'like')}: refers back to itself; break the circle")
        yield name, block
        if "like" in block:
            yield from self._ancestry(paper, block["like"], (*below, name))

    def _inherited(self, paper: str, name: str) -> Block:
        merged: Block = {}
        for depth, (_, block) in enumerate(self._ancestry(paper, name)):
            own = {
                key: value
                for key, value in block.items()
                if key != "like" and not (depth and key in ("sweep", "bundle"))
            }
            measure = {**own.get("measure", {}), **merged.get("measure", {})}
            merged = {**own, **merged}
            if measure:
                merged["measure"] = measure
        return merged

    def _block_of(self, paper: str, member: str) -> Block:
        known = self._members[paper]
        if member not in known:
            raise ProjectError(f"{self._where(paper, 'runs')}: no run `{member}`{near(member, known)}")
        name, differing = known[member]
        block = self._inherited(paper, name)
        measured = self._measured(paper, name, differing)
        block = block | {key: value for key, value in differing.items() if key not in measured}
        return block | {"measure": block["measure"] | measured} if measured else block

    def _measured(self, paper: str, name: str, differing: Spec) -> Spec:
        """Return what a member differs in that only its metrics read."""
        return _taken(differing, self._inherited(paper, name).get("measure", {}))

    def _runs_alike(self, paper: str, one: str, other: str) -> bool:
        same_data = self.run_data(paper, one) == self.run_data(paper, other)
        return same_data and self.run(paper, one) == self.run(paper, other)

    def _simulated(self, paper: str, name: str, differing: Spec) -> tuple[str, str]:
        measured = self._measured(paper, name, differing)
        return name, json.dumps({key: value for key, value in differing.items() if key not in measured})

    def _take_in(self, paper: str, name: str, sweep: Mapping[str, Sequence[Any]] | None) -> None:
        """Check a run, every swept value once, and note its members."""
        where = self._where(paper, "runs", name)
        count = 1
        for key, values in (sweep or {}).items():
            count *= len(values)
            if key in NOT_SWEPT:
                raise ProjectError(f"{where}.sweep.{key}: is no setting of a run, and cannot be varied")
        if count > MOST_MEMBERS:
            raise ProjectError(f"{where}.sweep: {count} runs; sweep fewer values")
        members = sweep_members(name, sweep)
        for member, differing in members:
            if not MEMBER.fullmatch(member) or len(member) > LONGEST:
                shown = member if len(member) <= LONGEST else f"{member[:LONGEST]}..."
                raise ProjectError(
                    f"{where}.sweep: `{shown}` cannot be a file's name; sweep numbers or plain words, "
                    "or write a run for each value"
                )
            self._members[paper].setdefault(member, (name, differing))
            if BUNDLE.fullmatch(member):
                raise ProjectError(f"{where}: a run cannot be called `{member}`, as bundles of sweeps are; rename it")
        first = members[0][1]
        self._check_run(paper, name, first)
        for key, values in (sweep or {}).items():
            for value in values[1:]:
                self._check_run(paper, name, first | {key: value})

    def _take_in_bundles(self, paper: str, name: str) -> None:
        """Note the bundles of a swept run whose members travel together."""
        block, where = self._inherited(paper, name), self._where(paper, "runs", name, "bundle")
        if "bundle" not in block:
            return
        sweep = block.get("sweep", {})
        if not sweep or "kind" in sweep:
            raise ProjectError(f"{where}: is for the members of a sweep, of one kind; remove it")
        for table, members in sweep_tables(name, sweep, block["bundle"]).items():
            self._bundles[paper][table] = [member for member, _ in members]
            if sum(map(len, self._bundles[paper][table])) > LONGEST_BUNDLE:
                raise ProjectError(f"{where}: the names of {block['bundle']} members fit no command; take fewer")

    def _check_run(self, paper: str, name: str, differing: Spec) -> None:
        where = self._where(paper, "runs", name)
        self._members[paper][name + "--checked"] = (name, differing)
        block = self._block_of(paper, name + "--checked")
        del self._members[paper][name + "--checked"]
        if "kind" not in block:
            raise ProjectError(f"{where}.kind: missing; name a function of papers/{paper}/<topic>/runs.py")
        function = self._signature(paper, "run", block["kind"], name, f"{where}.kind")
        settings = _settings(block, RUN_KEYS)
        if function.takes_seed:
            settings.setdefault("seed", self.seed)
        self._check_settings(paper, name, function, settings, differing)
        if ("data" in function.arguments) != ("data" in block):
            mend = "add `data:`" if "data" in function.arguments else "remove `data:`"
            raise ProjectError(f"{where}.data: kind `{block['kind']}` does not agree; {mend}")
        if "data" in block:
            self._find(paper, "data", block["data"], "data set", f"{where}.data")
        metrics = self._signature(paper, "metrics", block["kind"], name, f"{where}.kind")
        if "columns" not in metrics.decorators:
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
        where = self._where(paper, "runs", name) + (f".{part}" if part else "")
        try:
            function.check(settings, where)
        except ProjectError as error:
            message = str(error)
            if not message.startswith(where + "."):
                raise
            key = message[len(where) + 1 :].split(":")[0].split(".")[0]
            blocks = [(owner, block.get(part, {}) if part else block) for owner, block in self._ancestry(paper, name)]
            setters = (owner for owner, block in blocks if key in block)
            owner = name if key in swept else next(setters, name)
            mended = self._where(paper, "runs", owner) + (f".{part}" if part else "")
            raise ProjectError(mended + message[len(where) :]) from None

    def _roles(self, paper: str, runs: Mapping[str, str | list[str]]) -> Spec:
        def described(name: str) -> Spec:
            sweep = self._inherited(paper, name).get("sweep")
            prints = [self.fingerprint("metrics", paper, member) for member, _ in sweep_members(name, sweep)]
            told = {"name": name, "sweep": sweep, "fingerprint": digest(prints) if sweep else prints[0]}
            bundle = self._inherited(paper, name).get("bundle", 1)
            return told if bundle == 1 else told | {"bundle": bundle}

        return {
            role: [described(one) for one in name] if isinstance(name, list) else described(name)
            for role, name in runs.items()
        }

    def _tables_of(self, paper: str, runs: Mapping[str, str | list[str]]) -> list[str]:
        names = [name for given in runs.values() for name in (given if isinstance(given, list) else [given])]
        blocks = {name: self._inherited(paper, name) for name in names}
        tables = [
            table
            for name, block in blocks.items()
            for table in sweep_tables(name, block.get("sweep"), block.get("bundle", 1))
        ]
        return list(dict.fromkeys(tables))

    def _sensitivity(self, paper: str) -> Block:
        """Return the sensitivity checks by name, without those that an overlay drops."""
        return {name: check for name, check in self._blocks(paper, "sensitivity").items() if check is not None}

    @staticmethod
    def _checked(check: Mapping[str, Any]) -> list[tuple[str, Spec]]:
        return sweep_members(check["run"], {check["setting"]: check["values"]})

    def _expected(self, paper: str, name: str) -> str:
        """Return the expected verdict; another scale's does not hold at this one."""
        block = self._blocks(paper, "claims")[name]
        shipped = f"workflow/config/{paper}.yaml"
        origin = self.configuration.origins.get((paper, "claims", name, "expected"))
        if self.configuration.overlaid and self.configuration.scale is not None and origin == shipped:
            return ""
        return block.get("expected", "")

    # -- checks -------------------------------------------------------------------------------------

    def _check_targets(self) -> None:
        """Refuse names that two of Snakemake's rules would have: those of papers, of their metrics and their sweeps."""
        taken = dict.fromkeys(RULES, "a rule of the Snakefile")
        for paper in self.papers:
            targets = [(paper, f"the paper {paper}", ""), (f"{paper}_metrics", f"the metrics of {paper}", "")]
            targets += [(f"{paper}_{name}", f"the sweep {name} of {paper}", name) for name in self.sweeps(paper)]
            for target, what, name in targets:
                if target in taken:
                    where = self._where(paper, "runs", name) if name else f"papers: {paper}"
                    raise ProjectError(f"{where}: {what} has the same target as {taken[target]}: {target}; rename it")
                taken[target] = what

    def _check_roles(self, paper: str, section: str, name: str, stage: str) -> Signature:
        block, where = self._blocks(paper, section)[name], self._where(paper, section, name)
        for key in ("kind", "runs"):
            if key not in block:
                raise ProjectError(f"{where}.{key}: missing; add it")
        function = self._signature(paper, stage, block["kind"], name, f"{where}.kind")
        function.check_roles(block["runs"], where)
        for role, given in block["runs"].items():
            for run in given if isinstance(given, list) else [given]:
                self._find(paper, "runs", run, "run", f"{where}.runs.{role}")
        return function

    def _check_figure(self, paper: str, name: str) -> None:
        function = self._check_roles(paper, "figures", name, "figure")
        where = self._where(paper, "figures", name)
        function.check(_settings(self._blocks(paper, "figures")[name], FIGURE_KEYS), where)
        self._check_motion(paper, name, function, where)

    def _check_interactive(self, paper: str, name: str) -> None:
        block, where = self._blocks(paper, "interactive")[name], self._where(paper, "interactive", name)
        function = self._check_roles(paper, "interactive", name, "interactive")
        if "figure" not in block:
            raise ProjectError(f"{where}.figure: missing; add it")
        self._find(paper, "figures", block["figure"], "figure", f"{where}.figure")
        first = next(one for one in self.interactives(paper) if self.still(paper, one) == block["figure"])
        if first != name:
            raise ProjectError(f"{where}.figure: `{first}` stands below `{block['figure']}` already; name another")
        function.check(_settings(block, INTERACTIVE_KEYS), where)

    def _check_motion(self, paper: str, name: str, still: Signature, where: str) -> None:
        block = self._blocks(paper, "figures")[name]
        path = Path(still.where).with_name(f"{PARTS['motion']}.py")
        if not path.is_file():
            return
        drawn = signatures(Path(still.where))
        for function in signatures(path):
            if function not in drawn:
                raise ProjectError(f"{path}: `{function}` moves no figure{near(function, drawn)}")
        moving = self._moving(paper, name)
        if moving is not None:
            moving.check_roles(_taken(block["runs"], moving.arguments), where)
            moving.check(_taken(_settings(block, FIGURE_KEYS), moving.settings), where)

    def _check_claim(self, paper: str, name: str) -> None:
        function = self._check_roles(paper, "claims", name, "claims")
        block, where = self._blocks(paper, "claims")[name], self._where(paper, "claims", name)
        if "claim" not in function.decorators:
            raise ProjectError(f"{function.where}: `{function.name}` is no claim; decorate it with @claim(...)")
        if "figure" in block:
            drawn = self._find(paper, "figures", block["figure"], "figure", f"{where}.figure")
            if block["runs"] and not _names(block["runs"]) & _names(drawn["runs"]):
                raise ProjectError(
                    f"{where}.figure: `{block['figure']}` shows none of the claim's runs; name one that does, or none"
                )
        settings = _settings(block, CLAIM_KEYS)
        function.check(settings, where)
        variants = 1
        for key, values in block.get("vary", {}).items():
            if key not in settings:
                raise ProjectError(f"{where}.vary.{key}: no setting of this claim{near(key, settings)}")
            variants *= len(values) + 1
            for value in values:
                function.check(settings | {key: value}, f"{where}.vary")
        if variants > MOST_VARIANTS:
            raise ProjectError(f"{where}.vary: {variants} combinations; vary fewer values (at most {MOST_VARIANTS})")

    def _check_sensitivity(self, paper: str) -> None:
        claims = self._blocks(paper, "claims")
        for name, check in self._sensitivity(paper).items():
            where = self._where(paper, "sensitivity", name)
            for key in ("run", "setting", "values", "claims"):
                if key not in check:
                    raise ProjectError(f"{where}.{key}: missing; add it")
            self._find(paper, "runs", check["run"], "run", f"{where}.run")
            self._take_in(paper, check["run"], {check["setting"]: check["values"]})
            block = self._inherited(paper, check["run"])
            if "bundle" in block:
                raise ProjectError(f"{where}.run: `{check['run']}` runs in bundles; remove its `bundle`")
            own = block.get("data") if check["setting"] == "data" else _flat(block).get(check["setting"])
            if own in check["values"]:
                raise ProjectError(f"{where}.values: {own} is the run's own; give others")
            for claim in check["claims"]:
                if claim not in claims:
                    raise ProjectError(f"{where}.claims: no claim `{claim}`{near(claim, claims)}")
                runs = claims[claim].get("runs", {}).values()
                used = {run for given in runs for run in (given if isinstance(given, list) else [given])}
                if check["run"] not in used:
                    raise ProjectError(f"{where}.run: claim `{claim}` does not use run `{check['run']}`")

    def _check_provenance(self, paper: str) -> None:
        shared: list[Signature] = []  # kinds may share a block of reasons: a key must be a setting of one of them
        for kind in self._blocks(paper, "provenance"):
            functions = self._functions_of(paper, kind)
            if not functions:
                raise ProjectError(
                    f"{self._where(paper, 'provenance', kind)}: no kind of run or source of data is so called"
                )
            shared += functions
        for kind, given in self._blocks(paper, "provenance").items():
            self._check_reasons(
                self._where(paper, "provenance", kind), given, [*self._functions_of(paper, kind), *shared]
            )
        for name, block in self._blocks(paper, "data").items():
            where = self._where(paper, "data", name)
            functions = [self._function(data_module(paper, block["source"]), block["source"], where)]
            self._check_reasons(f"{where}.provenance", block.get("provenance", {}), functions)
        for name, block in self._blocks(paper, "runs").items():
            functions = self._functions_of(paper, self._inherited(paper, name)["kind"])
            where = f"{self._where(paper, 'runs', name)}.provenance"
            self._check_reasons(where, block.get("provenance", {}), functions)
        for section, name, key, _ in self._set(paper):
            if self.provenance(paper, section, name, key) is None:
                raise ProjectError(
                    f"{self._where(paper, section, name)}.{key}: where does it come from? say so beside it under "
                    "`provenance` (stated, code, inferred, or {chosen: why}), or for all of its kind"
                )

    @staticmethod
    def _check_reasons(where: str, given: Mapping[str, Any], functions: Sequence[Signature]) -> None:
        known = set().union(*(function.settings for function in functions))
        for key in given:
            if key not in known:
                raise ProjectError(f"{where}.{key}: no setting of `{functions[0].name}`{near(key, known)}")

    @staticmethod
    def _functions_of(paper: str, kind: str) -> list[Signature]:
        """Return the functions of a kind of run, or of a source of data, that there are."""
        found = []
        for part in ("runs", "metrics"):
            with suppress(ProjectError):
                found.append(part_module(paper, part, kind))
        if not found:
            with suppress(ProjectError):
                found.append(data_module(paper, kind))
        paths = [path for module in found if (path := module_path(module)) is not None]
        name = kind.rpartition(".")[2]
        return [signatures(path)[name] for path in paths if name in signatures(path)]

    def _set(self, paper: str) -> Iterator[tuple[str, str, str, Any]]:
        """Yield section, name, key and value of every setting of data sets and runs."""
        for name, block in self._blocks(paper, "data").items():
            for key, value in _settings(block, DATA_KEYS).items():
                yield "data", name, key, value
        for name in self._blocks(paper, "runs"):
            for key, value in _flat(self._inherited(paper, name)).items():
                yield "runs", name, key, value

    @cached_property
    def verdicts(self) -> str:
        """The fingerprint of all papers' verdicts together."""
        return digest({paper: self.fingerprint("claims", paper, "claims") for paper in self.papers})

    @cached_property
    def page(self) -> str:
        """The fingerprint of the page: of all verdicts, and of all that is drawn."""
        drawings = {"figure": self.figures, "motion": self.motions, "interactive": self.interactives}
        drawn = {
            stage: {
                f"{paper}/{name}": self.fingerprint(stage, paper, name) for paper in self.papers for name in of(paper)
            }
            for stage, of in drawings.items()
        }
        return digest([self.verdicts, drawn])

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The fingerprint of every data set, run, metrics table and claims, by its path below the results folder."""
        found = {}
        for paper in self.papers:
            for name in self._blocks(paper, "data"):
                found[f"{paper}/data/{name}.npz"] = self.fingerprint("data", paper, name)
            for name in self.tables(paper):
                if name in self._bundles[paper]:
                    found[f"{paper}/metrics/{name}.parquet"] = self.fingerprint("bundle", paper, name)
                    continue
                found[f"{paper}/runs/{self.trajectory(paper, name)}.npz"] = self.fingerprint("run", paper, name)
                found[f"{paper}/metrics/{name}.parquet"] = self.fingerprint("metrics", paper, name)
            judged = self.fingerprint("claims", paper, "claims")
            tables = ("claims", "parts", "variants", "sensitivity")
            found |= dict.fromkeys((f"{paper}/{table}.parquet" for table in tables), judged)
        return found


def _settings(block: Mapping[str, Any], structural: set[str]) -> Spec:
    return {key: value for key, value in block.items() if key not in structural}


def _taken(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what is given under some names, in the order given."""
    names = set(names)
    return {key: value for key, value in given.items() if key in names}


def _names(roles: Mapping[str, str | list[str]]) -> set[str]:
    return {name for given in roles.values() for name in (given if isinstance(given, list) else [given])}


def _flat(block: Mapping[str, Any]) -> Spec:
    """Return all settings of a run's or data set's block: its own, swept ones, those of measuring."""
    own = _settings(block, RUN_KEYS | DATA_KEYS)
    return {**own, **block.get("sweep", {}), **block.get("measure", {})}


def _place(block: Mapping[str, Any], key: str) -> tuple[str, ...]:
    for part in ("sweep", "measure"):
        if key in block.get(part, {}):
            return part, key
    return (key,)


def _prose(docstring: str) -> str:
    return re.split(r"\n\n(?:Parameters|Returns|Raises|Notes)\n-+\n", docstring)[0].strip()
