# What the stage rules share: where outputs lie, what a job is to do, and the science that it depends on.
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.study.digests import science
from learning_dynamics.pipeline.study.regions import is_wild, region_fingerprint, wild_layer

RESULTS = f"results/{CONFIGURATION.scale}" if CONFIGURATION.scale else "results"
FIGURES = f"figures/{CONFIGURATION.scale}" if CONFIGURATION.scale else "figures"
# what a paper makes besides figures and claims
TABLES = {"neural_collapse": [f"{RESULTS}/neural_collapse/table1.{kind}" for kind in ("parquet", "md")]}
REPLICATES = {
    f"{RESULTS}/replicates/seed{study.seed + number}": study.seed + number
    for number in range(1, CONFIGURATION.replications + 1)
}


@functools.cache
def project_of(results):
    """The project whose results lie in a folder: the configuration's, or the same under another seed."""
    if results == RESULTS:
        return project
    if results not in REPLICATES:
        raise ProjectError(f"{results}: not of this configuration; its results lie in {RESULTS}")
    return Project(CONFIGURATION.with_seed(REPLICATES[results]), check=False)


def compact(spec):
    return json.dumps(spec, separators=(",", ":"))


def spec_of(stage):
    """Return a parameter function: what a job is to do, as JSON."""

    def spec(wildcards):
        return compact(project_of(wildcards.get("results", RESULTS)).spec(stage, wildcards.paper, wildcards.name))

    return spec


def science_of(stage):
    """Return a parameter function: the functions, classes and constants that a job reaches, each with its digest."""

    def reached(wildcards):
        return listed(project.science(stage, wildcards.paper, wildcards.get("name", "")))

    return reached


def reached_by(paper, command):
    """Return what a command of a paper's own reaches, as `science_of` does."""
    return listed(science("data", paper, f"{command}.main"))


def listed(digests):
    return sorted(f"{name}@{digest}" for name, digest in digests.items())


def made_of(stage):
    """Return a parameter function: the fingerprints of a job's input and output, as options of its command."""

    def options(wildcards):
        whose = project_of(wildcards.get("results", RESULTS))
        name = wildcards.get("name", stage)
        source = whose.made_from(stage, wildcards.paper, name)
        made = whose.fingerprint(stage, wildcards.paper, name)
        return (f"--made-from {source} " if source else "") + f"--fingerprint {made}"

    return options


def stamp_of(rule):
    """Return an input function: a file that outputs of the rule are older than if they are to be made again."""

    def stamp(wildcards):
        if not workflow.is_main_process:
            return str(STAMP)
        try:
            names = dict(wildcards.items())
            return OUTDATED.stamp_for(pattern.apply_wildcards(names) for pattern in getattr(rules, rule).output)
        except ProjectError as error:
            sys.exit(f"error: {error}")

    return stamp


def resource(stage, key):
    """Return a resource function: what a job asks for, memory and time growing with each attempt."""

    def amount(wildcards, attempt):
        configured = stage in ("data", "run", "metrics", "bundle")
        given = project.resources(stage, wildcards.paper, wildcards.name) if configured else {}
        asked = given.get(key, REQUESTS[stage].get(key, 0))
        # jobs that share a GPU take so much longer
        shared = config.get("sharing", 1) if key == "runtime" and given.get("gpu") else 1
        return asked * attempt * shared if key in ("mem_mb", "runtime") else asked

    return amount


def threads_of(stage):
    return lambda wildcards: project.resources(stage, wildcards.paper, wildcards.name).get("threads", 1)


def metrics_of(results, paper, runs):
    return [f"{results}/{paper}/metrics/{run}.parquet" for run in runs]


def figures_of(paper):
    return [f"{FIGURES}/{paper}/{name}" for name in study.figures(paper)]


def motions_of(paper):
    return [f"{FIGURES}/{paper}/{name}.webp" for name in study.motions(paper)]


def interactives_of(paper):
    return [f"{FIGURES}/{paper}/{name}.json" for name in study.interactives(paper)]


def drawn_of(paper):
    """All that is drawn of a paper."""
    drawn = [f"{figure}.{kind}" for figure in figures_of(paper) for kind in ("pdf", "png", "svg")]
    return drawn + motions_of(paper) + interactives_of(paper)


def every_run_of(paper):
    return lambda wildcards: metrics_of(RESULTS, paper, project.tables(paper))


def run_data(wildcards):
    data = project.run_data(wildcards.paper, wildcards.name)
    return f"{wildcards.results}/{wildcards.paper}/data/{data}.npz" if data else []


def run_measured(wildcards):
    """What metrics read: the run's file, and its data set where they take one."""
    home, whose = f"{wildcards.results}/{wildcards.paper}", project_of(wildcards.results)
    data = whose.measured_data(wildcards.paper, wildcards.name)
    read = {"run": f"{home}/runs/{whose.trajectory(wildcards.paper, wildcards.name)}.npz"}
    return read | {"data": f"{home}/data/{data}.npz"} if data else read


def measured_data(wildcards):
    """An option of a metrics job's command: the data set that it reads."""
    data = run_measured(wildcards).get("data")
    return f" --data {data}" if data else ""


def dropped(paper):
    """A pattern of the paper's name before those of its runs whose files go once they are measured."""
    names = [re.escape(name) for name in study.runs[paper] if not project.keeps(paper, name)]
    return rf"{paper}(?=/runs/(?:{'|'.join(names)})\.npz$)" if names else "(?!)"


DROPPED = "(?:" + "|".join(map(dropped, study.papers)) + ")"


def check_disk():
    """Refuse to start what the disk cannot hold."""
    runs = [
        (project_of(job.wildcards.results), job.wildcards.paper, job.wildcards.name)
        for job in workflow.dag.needrun_jobs()
        if job.rule.name in ("run", "run_dropped")
    ]
    limits = (workflow.global_resources.get(key) for key in ("_cores", "_nodes", "gpu"))
    check_disk_space(runs, [getattr(limit, "value", limit) for limit in limits], Path.cwd())


def words():
    """A digest of what the page says besides numbers: its own code, captions, claims' texts, the configuration."""
    from learning_dynamics.pipeline.report.text_digest import digest_of_texts

    return digest_of_texts(study)


def rate_sweeps():
    """The configured sweeps over learning rates: a run's name, and the names of its members."""
    sweeps = study.sweeps("neural_collapse") if "neural_collapse" in study.papers else {}
    return {name.removesuffix("_rates"): members for name, members in sweeps.items() if name.endswith("_rates")}


def networks():
    """Settings of the first run that trains each network, by the run's name."""
    told_apart_by = ("network", "stages", "width", "bottleneck", "hidden", "precision", "execution")
    found = {}
    for name in study.runs["neural_collapse"] if "neural_collapse" in study.papers else []:
        spec = project.run("neural_collapse", name)
        if spec["kind"] == "training.training":
            network = compact([spec["settings"].get(key) for key in told_apart_by])
            found.setdefault(network, (name, spec["settings"]))
    return dict(found.values())


def seeds_shown():
    """The verdicts under other seeds, and where they turn, if they are there: no input, for the page waits for nobody to repeat a paper."""
    paths = [Path(RESULTS, f"{name}.parquet") for name in ("replication", "turning")]
    return [hashlib.sha256(path.read_bytes()).hexdigest()[:20] for path in paths if path.is_file()]


WILD = [paper for paper in CONFIGURATION.replicated if is_wild(study, paper)]
DRAWS = [f"{RESULTS}/{paper}/wild/draw{draw}.parquet" for paper in WILD for draw in range(1, CONFIGURATION.wild + 1)]
TURNING = {
    (paper, check): f"{RESULTS}/{paper}/turning/{check}.parquet"
    for paper in study.papers
    for check in study.checks(paper, "turning")
}
# what an overlay changes; how many draws there are, and of which papers, changes none of them
GIVEN = {
    "files": [str(file) for file in workflow.configfiles],
    "given": {
        key: value
        for key, value in workflow.config_settings.config.items()
        if key not in ("wild", "replications", "captions", "papers", "replicated", "sharing")
    },
}


def foreseen():
    """Say what wild draws and turning checks will take, by what their runs took before."""
    from learning_dynamics.pipeline.commands.costs import estimate_region_times

    return estimate_region_times(project, Path(RESULTS), WILD if CONFIGURATION.wild else [], CONFIGURATION.wild)
