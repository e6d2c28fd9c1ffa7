# What the generic stages do not cover: Table 1 as a table, and the learning rates that a sweep chooses.


rule table1:
    """Table 1 as parquet and Markdown, the paper's numbers beside ours."""
    input:
        lambda wc: plan.metrics_files("neural_collapse", plan.tables_for("figure", "neural_collapse", "table1")),
    output:
        "<results>/neural_collapse/table1.parquet",
        "<results>/neural_collapse/table1.md",
    log:
        "<results>/neural_collapse/logs/table1.log",
    localrule: True
    params:
        science=lambda wc: plan.science_list("data", "neural_collapse", function="generalisation.table1.accuracies"),
    shell:
        "python -m learning_dynamics table neural_collapse generalisation.table1.accuracies"
        " --metrics {input} --out {output} > {log} 2>&1"


rule learning_rates:
    """For each sweep `..._rates` the learning rate with the best test error, as a configuration to lay over."""
    input:
        lambda wc: plan.metrics_files(
            "neural_collapse",
            [
                run
                for sweep, runs in plan.config.sweeps("neural_collapse").items()
                if sweep.endswith("_rates")
                for run in runs
            ],
        ),
    output:
        "<results>/neural_collapse/learning_rates.yaml",
    log:
        "<results>/neural_collapse/logs/learning_rates.log",
    localrule: True
    params:
        science=lambda wc: plan.science_list("data", "neural_collapse", function="selection.learning_rates"),
    shell:
        "python -m learning_dynamics table neural_collapse selection.learning_rates"
        " --metrics {input} --out {output} > {log} 2>&1"
