"""Snakemake's scheduler where its timers cost more than the jobs: at most one is pending at a time."""

import threading
from typing import Any


def patch_scheduler_timers(workflow: Any) -> None:
    """Let the scheduler wait for at most one timer before it looks at its jobs again.

    With a rate limit (there is one by default) every turn of Snakemake 9.27's scheduler that had ready jobs starts a
    timer whose end makes another turn, so turns multiply with finished jobs, and each looks at all ready jobs and
    their inputs. One pending timer serves as well: whatever waits for the limit's next period is looked at when it
    begins, and the limit itself stays in force. Does nothing where the scheduler has no such method.
    """
    scheduler = getattr(workflow, "_scheduler", None) or getattr(workflow, "scheduler", None)
    if scheduler is None or not hasattr(scheduler, "_schedule_reevalutation"):
        return
    pending = threading.Event()

    def reevaluate_later(delay: float) -> None:
        if pending.is_set():
            return
        pending.set()

        def look_again() -> None:
            pending.clear()
            scheduler._open_jobs.release()

        timer = threading.Timer(delay, look_again)
        timer.daemon = True
        timer.start()

    scheduler._schedule_reevalutation = reevaluate_later
