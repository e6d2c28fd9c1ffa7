"""Progress in a log is plain lines, few of them."""

from learning_dynamics import progress as module
from learning_dynamics.progress import progress


def test_items_pass_through_and_a_slow_loop_says_so_in_between(capsys, monkeypatch):
    # read at the start and after each item: 0, 6, 12, 18 s; lines are LINE_INTERVAL = 10 s apart, and one ends the loop
    clock = iter(range(0, 100, 6))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    assert list(progress([3, 1, 2], "flow")) == [3, 1, 2]
    assert capsys.readouterr().err == "flow: 2 of 3 after 12 s\nflow: 3 of 3 after 18 s\n"
