COMPUTED = {
    "data": ({}, "data/{name}.npz"),
    "run": ({"data": files_of(lambda paper, name: [plan.run_data(paper, name)])}, "runs/{name}.npz"),
    "scratch_run": ({"data": files_of(lambda paper, name: [plan.run_data(paper, name)])}, "scratch/{name}.npz"),
    "metrics": (
        {
            "run": lookup(lambda paper, name: f"<results>/{paper}/{plan.run_file(paper, name)}"),
            "data": files_of(lambda paper, name: [plan.measured_data(paper, name)]),
        },
        "metrics/{name}.parquet",
    ),
    "bundle": ({"data": files_of(plan.bundle_data)}, "metrics/{name}.parquet"),
}
for step, (inputs, output) in COMPUTED.items():
    stage = step.removeprefix("scratch_")

    rule:
        """Data sets, runs (scratch runs are deleted once measured), metrics, bundles (many short runs, one table)."""
        name:
            step
        input:
            **inputs,
            stale=stale(step),
        output:
            (temp if step == "scratch_run" else str)(f"<results>/{{paper}}/{output}"),
        log:
            f"<results>/{{paper}}/logs/{stage}/{{name}}.log",
        benchmark:
            f"<results>/{{paper}}/benchmarks/{stage}/{{name}}.tsv"
        wildcard_constraints:
            name=NAME + (r"@\d+" if stage == "bundle" else ""),
        priority: priority(stage)
        threads: threads(stage)
        resources:
            **requests(stage),
        params:
            **job(stage),
        shell:
            "python -m learning_dynamics {params.stage} {wildcards.paper} {wildcards.name} {params.inputs} --out {output}"
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
        priority: priority("data" if topic == "data" else "together", paper)
        resources:
            **requests("together"),
            long=int(topic == "data"),
        params:
            topic=f"{paper} {topic}",
            jobs=lambda wc, of=(paper, topic): compact(plan.together_options(*of)),
            science=lambda wc, of=(paper, topic): plan.together_science(*of),
        shell:
            "python -m learning_dynamics together {params.topic} --minutes {resources.runtime} --jobs {params.jobs:q}"
            " > {log} 2>&1"
