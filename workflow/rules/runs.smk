# From settings to tables of metrics. A job's command is the one that a person types; PLAN has what it is to do.
rule data:
    """A data set: drawn from its seed, or read from files."""
    input:
        stale=stale("data"),
    output:
        "<results>/{paper}/data/{name}.npz",
    log:
        "<results>/{paper}/logs/data/{name}.log",
    priority: priority_of("data")
    resources:
        mem_mb=request("data", "mem_mb"),
        runtime=request("data", "runtime"),
    params:
        fingerprint=fingerprint_of("data"),
    shell:
        "python -m learning_dynamics data {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule run:
    """A run: a flow, descent or training on its data set; its trajectory."""
    input:
        data=input_of("run", "data"),
        stale=stale("run"),
    output:
        "<results>/{paper}/runs/{name}.npz",
    log:
        "<results>/{paper}/logs/run/{name}.log",
    priority: priority_of("run")
    group:
        short_runs
    threads: threads_of("run")
    resources:
        mem_mb=request("run", "mem_mb"),
        runtime=request("run", "runtime"),
        gpu=request("run", "gpu"),
        gpu_mb=request("run", "gpu_mb"),
    params:
        fingerprint=fingerprint_of("run"),
    shell:
        "python -m learning_dynamics run {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule scratch_run:
    """A run with `temporary: true`: its trajectory is deleted once it is measured."""
    input:
        data=input_of("run", "data"),
        stale=stale("scratch_run"),
    output:
        temp("<results>/{paper}/scratch/{name}.npz"),
    log:
        "<results>/{paper}/logs/run/{name}.log",
    priority: priority_of("run")
    group:
        short_runs
    threads: threads_of("run")
    resources:
        mem_mb=request("run", "mem_mb"),
        runtime=request("run", "runtime"),
        gpu=request("run", "gpu"),
        gpu_mb=request("run", "gpu_mb"),
    params:
        fingerprint=fingerprint_of("run"),
    shell:
        "python -m learning_dynamics run {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule metrics:
    """The metrics of one run, as a table."""
    input:
        run=input_of("metrics", "run"),
        data=input_of("metrics", "data"),
        stale=stale("metrics"),
    output:
        "<results>/{paper}/metrics/{name}.parquet",
    log:
        "<results>/{paper}/logs/metrics/{name}.log",
    priority: priority_of("metrics")
    threads: threads_of("metrics")
    resources:
        mem_mb=request("metrics", "mem_mb"),
        runtime=request("metrics", "runtime"),
        gpu=request("metrics", "gpu"),
        gpu_mb=request("metrics", "gpu_mb"),
    params:
        fingerprint=fingerprint_of("metrics"),
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule bundle:
    """The metrics of many short runs of a sweep, simulated and measured in one job, as one table."""
    input:
        data=input_of("bundle", "data"),
        stale=stale("bundle"),
    output:
        "<results>/{paper}/metrics/{name}.parquet",
    log:
        "<results>/{paper}/logs/bundle/{name}.log",
    wildcard_constraints:
        name=NAME + r"@\d+",
    priority: priority_of("bundle")
    threads: threads_of("bundle")
    resources:
        mem_mb=request("bundle", "mem_mb"),
        runtime=request("bundle", "runtime"),
        gpu=request("bundle", "gpu"),
        gpu_mb=request("bundle", "gpu_mb"),
    params:
        fingerprint=fingerprint_of("bundle"),
    shell:
        "python -m learning_dynamics bundle {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"
