rule run:
    """Simulate or train: the only slow stage."""
    input:
        data=run_data,
        code=code("run"),
    output:
        "results/{paper}/runs/{name}.npz",
    log:
        "results/{paper}/logs/runs/{name}.log",
    benchmark:
        "results/{paper}/benchmarks/runs/{name}.tsv"
    conda:
        "../envs/learning-dynamics.yaml"
    threads: lambda wc: project.run(wc.paper, wc.name)["resources"].get("threads", 1)
    resources:
        mem_mb=resource("run", "resources", "mem_mb", 2000),
        runtime=resource("run", "resources", "runtime", 60),
        gpu=resource("run", "resources", "gpu", 0),
    params:
        spec=lambda wc: without_resources(project.run(wc.paper, wc.name)),
        data=lambda wc, input: f"--data {input.data}" if input.data else "",
    shell:
        "python -m learning_dynamics run {wildcards.paper} {wildcards.name} {params.data}"
        " --out {output} --spec {params.spec:q} > {log} 2>&1"
