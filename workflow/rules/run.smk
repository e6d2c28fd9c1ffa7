rule run:
    """Simulate or train: the only slow stage."""
    input:
        data=lookup(lambda paper, name: plan.data_files(paper, plan.run_data(paper, name))),
        stale=stale("run"),
    output:
        "<results>/{paper}/runs/{name}.npz",
    log:
        "<results>/{paper}/logs/runs/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/runs/{name}.tsv"
    priority: priority("run")
    threads: threads("run")
    resources:
        mem_mb=resource("run", "mem_mb"),
        runtime=resource("run", "runtime"),
        gpu=resource("run", "gpu"),
        gpu_mb=resource("run", "gpu_mb"),
    params:
        spec=spec("run"),
        science=science("run"),
        fingerprints=fingerprints("run"),
        data=lambda wc, input: f"--data {input.data}" if input.data else "",
    shell:
        "python -m learning_dynamics run {wildcards.paper} {wildcards.name} {params.data} --out {output}"
        " {params.fingerprints} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"


# a run with `temporary: true`: its file is deleted once its metrics are there
use rule run as scratch_run with:
    input:
        data=lookup(lambda paper, name: plan.data_files(paper, plan.run_data(paper, name))),
        stale=stale("scratch_run"),
    output:
        temp("<results>/{paper}/scratch/{name}.npz"),


# many short runs of a sweep and their metrics, in one process: one table of all of them
rule bundle:
    input:
        data=lookup(lambda paper, name: plan.data_files(paper, *plan.bundle_data(paper, name))),
        stale=stale("bundle"),
    output:
        "<results>/{paper}/metrics/{name}.parquet",
    log:
        "<results>/{paper}/logs/bundles/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/bundles/{name}.tsv"
    wildcard_constraints:
        name=r"[a-z][A-Za-z0-9_.+-]*@\d+",
    threads: threads("bundle")
    resources:
        mem_mb=resource("bundle", "mem_mb"),
        runtime=resource("bundle", "runtime"),
        gpu=resource("bundle", "gpu"),
    params:
        spec=spec("bundle"),
        science=science("bundle"),
        fingerprints=fingerprints("bundle"),
        data=lambda wc, input: f"--data {input.data}" if input.data else "",
    shell:
        "python -m learning_dynamics bundle {wildcards.paper} {wildcards.name} {params.data} --out {output}"
        " {params.fingerprints} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"


# short data sets, runs and metrics of a topic, in one process; Snakemake prefers a rule without wildcards
for paper, topic in plan.together:

    rule:
        name:
            f"runs_{paper}_{topic}"
        input:
            data=plan.together_files(paper, topic)[0],
            stale=stale(f"runs_{paper}_{topic}"),
        output:
            [temp(file) if "/scratch/" in file else file for file in plan.together_files(paper, topic)[1]],
        log:
            f"<results>/{paper}/logs/together/{topic}.log",
        benchmark:
            f"<results>/{paper}/benchmarks/together/{topic}.tsv"
        priority: 3 if paper == plan.config.papers[0] else 0
        resources:
            mem_mb=resource("together", "mem_mb"),
            runtime=resource("together", "runtime"),
        params:
            topic=f"{paper} {topic}",
            jobs=functools.partial(together_options, paper, topic),
            science=functools.partial(together_science, paper, topic),
        shell:
            "python -m learning_dynamics together {params.topic} --minutes {resources.runtime} --jobs {params.jobs:q}"
            " > {log} 2>&1"
