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
        function="generalisation.table1.accuracies",
        science=lambda wc: plan.science_list("data", "neural_collapse", function="generalisation.table1.accuracies"),
    shell:
        "python -m learning_dynamics table neural_collapse {params.function} --metrics {input} --out {output}"
        " > {log} 2>&1"


# for each sweep `..._rates` the learning rate with the best test error, as a configuration to lay over
use rule table1 as learning_rates with:
    input:
        lambda wc: [
            file
            for target, files in plan.targets().items()
            if target.startswith("neural_collapse_") and target.endswith("_rates")
            for file in files
        ],
    output:
        "<results>/neural_collapse/learning_rates.yaml",
    log:
        "<results>/neural_collapse/logs/learning_rates.log",
    localrule: True
    params:
        function="selection.learning_rates",
        science=lambda wc: plan.science_list("data", "neural_collapse", function="selection.learning_rates"),
