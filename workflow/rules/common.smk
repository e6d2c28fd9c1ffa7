# What the stage rules share: source files as inputs, and jobs' settings as compact JSON.


def code(stage):
    """Return an input function: the source files that a job of this stage is made of."""

    def files(wildcards):
        paper, name = wildcards.get("paper", ""), wildcards.get("name", "")
        return code_files(stage, paper, called(stage, paper, name))

    return files


def called(stage, paper, name):
    if stage == "data":
        return project.data(paper, name)["source"]
    if stage in ("run", "metrics"):
        return project.run(paper, name)["kind"]
    return name


@functools.cache
def code_files(stage, paper, function):
    # once for each function, not for each of a sweep's jobs
    return files_of(*stage_modules(stage, paper, function))


def files_of(*modules):
    return [os.path.relpath(file) for file in source_files(modules)]


def compact(spec):
    return json.dumps(spec, separators=(",", ":"))


def without_resources(spec):
    return compact({key: value for key, value in spec.items() if key not in ("resources", "measuring")})


def resource(kind, block, key, default):
    """Return a resource function: what a run or data set asks for, memory and time growing with each attempt."""

    def amount(wildcards, attempt):
        spec = getattr(project, kind)(wildcards.paper, wildcards.name)
        given = spec[block].get(key, default)
        return given * attempt if key in ("mem_mb", "runtime") else given

    return amount


def metrics_of(runs):
    return lambda wildcards: [f"results/{wildcards.paper}/metrics/{run}.parquet" for run in runs(wildcards)]


def every_run_of(paper):
    return lambda wildcards: [f"results/{paper}/metrics/{run}.parquet" for run in project.runs(paper)]


def run_data(wildcards):
    data = project.run(wildcards.paper, wildcards.name)["data"]
    return f"results/{wildcards.paper}/data/{data}.npz" if data else []


def rate_sweeps():
    """The configured sweeps over learning rates: a run's name, and the names of its members."""
    runs = config["papers"].get("neural_collapse", {}).get("runs", {})
    return {
        name.removesuffix("_rates"): [member for member, _ in sweep_members(name, block["sweep"])]
        for name, block in runs.items()
        if name.endswith("_rates")
    }


def networks():
    """Settings of the first run that trains each network, by the run's name."""
    told_apart_by = ("network", "stages", "width", "bottleneck", "hidden", "precision", "compiled")
    found = {}
    for name in project.runs("neural_collapse"):
        spec = project.run("neural_collapse", name)
        if spec["kind"] == "training":
            network = compact([spec["settings"].get(key) for key in told_apart_by])
            found.setdefault(network, (name, spec["settings"]))
    return dict(found.values())
