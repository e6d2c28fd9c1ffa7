rule run:
    """Simulate or train: the only slow stage."""
    input:
        data=run_data,
        stamp=stamp_of("run"),
    output:
        "{results}/{paper}/runs/{name}.npz",
    log:
        "{results}/{paper}/logs/runs/{name}.log",
    benchmark:
        "{results}/{paper}/benchmarks/runs/{name}.tsv"
    wildcard_constraints:
        paper=f"(?!{DROPPED})(?:{'|'.join(study.papers)})",
    threads: threads_of("run")
    resources:
        mem_mb=resource("run", "mem_mb"),
        runtime=resource("run", "runtime"),
        gpu=resource("run", "gpu"),
        gpu_mb=resource("run", "gpu_mb"),
    params:
        spec=spec_of("run"),
        science=science_of("run"),
        made=made_of("run"),
        data=lambda wc, input: f"--data {input.data}" if input.data else "",
    shell:
        "python -m learning_dynamics run {wildcards.paper} {wildcards.name} {params.data}"
        " --out {output} {params.made} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"


# those whose files go once they are measured
use rule run as run_dropped with:
    output:
        temp("{results}/{paper}/runs/{name}.npz"),
    wildcard_constraints:
        paper=DROPPED,
