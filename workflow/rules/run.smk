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
        **requests("run"),
    params:
        **job("run"),
        data=data_option,
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
        **requests("bundle"),
    params:
        **job("bundle"),
        data=data_option,
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
        # trainings wait for data sets
        priority: 3 if paper == plan.config.papers[0] else 2 * (topic == "data")
        resources:
            **requests("together"),
        params:
            topic=f"{paper} {topic}",
            jobs=lambda wc, of=(paper, topic): compact(plan.together_options(*of)),
            science=lambda wc, of=(paper, topic): plan.together_science(*of),
        shell:
            "python -m learning_dynamics together {params.topic} --minutes {resources.runtime} --jobs {params.jobs:q}"
            " > {log} 2>&1"
