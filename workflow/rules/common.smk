# What the stage rules share: source files as inputs, and jobs' settings as compact JSON.


def code(stage):
    """Return an input function: the source files that a stage of the job's paper is made of."""

    def files(wildcards):
        paper = wildcards.get("paper", "")
        source = project.data(paper, wildcards.name)["source"] if stage == "data" else ""
        return code_files(stage, paper, source)

    return files


@functools.cache
def code_files(stage, paper, source):
    # once for each stage and paper, not for each of a sweep's jobs
    return [os.path.relpath(file) for file in source_files(stage_modules(stage, paper, source))]


def compact(spec):
    return json.dumps(spec, separators=(",", ":"))


def without_resources(spec):
    return compact({key: value for key, value in spec.items() if key != "resources"})


def resource(stage, key, default):
    """Return a resource function: what the configuration asks for, memory and time growing with each attempt."""

    def amount(wildcards, attempt):
        spec = getattr(project, stage)(wildcards.paper, wildcards.name)
        given = spec["resources"].get(key, default)
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
