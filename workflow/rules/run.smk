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


# a run with `keep: false`: its file is deleted once its metrics are there
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
