"""A sensitivity check is of a run that the claim's headline reads."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import mean
from learning_dynamics.judging import Finding, claim, equal, evaluate
from learning_dynamics.pipeline.commands.claims import refuse_unread_run


def table(run, values):
    made = pd.DataFrame({"seed": np.arange(len(values)), "value": values})
    made.attrs["run"] = run
    return made


@claim("Theorem 1", scope="made up")
def of_first(first, others) -> Finding:
    """The first are one, and so are the others."""

    def judge(predicted):
        rest = [equal("other", mean(other["value"]), 2.0) for other in others]
        return [equal("first", mean(first["value"]), predicted), *rest]

    return Finding(judge, 1.0, {"two": 2.0})


def test_a_check_of_a_run_that_the_headline_does_not_read_is_refused():
    tables = {"first": table("a", np.linspace(0.9, 1.1)), "others": [table(run, np.linspace(1.9, 2.1)) for run in "bc"]}
    ours = evaluate(of_first, tables, {})
    assert ours.verdict == "reproduced"
    refuse_unread_run("a_width", "of_first", of_first, tables, {}, "a", ours)
    with pytest.raises(ProjectError, match="the headline of claim `of_first` does not read run `c`"):
        refuse_unread_run("c_width", "of_first", of_first, tables, {}, "c", ours)
