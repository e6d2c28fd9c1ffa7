"""In a log, progress of a loop is printed as plain lines, at most one in ten seconds."""

from learning_dynamics import progress


def test_a_loop_yields_its_items_and_prints_a_line_after_ten_seconds_and_at_its_end(capsys, monkeypatch):
    # the clock is read at the start and after each item: 0, 6, 12, 18 s
    clock = iter([0, 6, 12, 18])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    assert list(progress.progress([3, 1, 2], "flow")) == [3, 1, 2]
    # after 6 s LINE_INTERVAL, 10 s, is not over
    assert capsys.readouterr().err == "flow: 2 of 3 after 12 s\nflow: 3 of 3 after 18 s\n"
