"""A real Slurm on one machine: controller and nodes on loopback, no systemd, no cgroups, no accounting.

``python -m tests.pipeline.slurm`` starts one to work with by hand.
"""

import contextlib
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")
# where the programs are: daemons are not on everybody's PATH
SEARCHED = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
NODES = 4
PATIENCE = 500  # seconds for anything that must come, on a busy machine too
# `fragile` has nodes of its own, so that a test may take one down without touching others' jobs
CONFIGURATION = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge.socket
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill,UsePss
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,sched_min_interval=100000
SlurmdParameters=config_overrides
ReturnToService=0
KillWait=2
CompleteWait=0
MinJobAge=3600
SlurmctldTimeout=60
SlurmdTimeout=60
GresTypes=gpu
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] \
CPUs=4 RealMemory=16000 Gres=gpu:fake:1 State=UNKNOWN
PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE DefMemPerCPU=100 State=UP
PartitionName=fragile Nodes=n[3-4] MaxTime=INFINITE DefMemPerCPU=100 State=UP
"""


def missing() -> str:
    """Return which programs are not installed, as a reason to skip; empty if Slurm can be started."""
    absent = [program for program in PROGRAMS if shutil.which(program, path=SEARCHED) is None]
    return f"Slurm is not installed (no {', '.join(absent)}); .ci/install installs it" if absent else ""


class Slurm:
    """A running Slurm; `environment` is what a client's process needs to reach it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = os.environ | {
            "SLURM_CONF": str(root / "slurm.conf"),
            "PATH": SEARCHED,
        }
        self._daemons: dict[str, subprocess.Popen] = {}

    def start(self) -> None:
        """Start the daemons, and return when all nodes are idle."""
        for folder in ("log", "state", *(f"spool/n{node}" for node in range(1, NODES + 1))):
            (self.root / folder).mkdir(parents=True)
        key = self.root / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        controller, *nodes = _free_ports()
        (self.root / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname().split(".")[0],
                user=getpass.getuser(),
                root=self.root,
                nodes=NODES,
                controller=controller,
                first=nodes[0],
                last=nodes[-1],
            )
        )
        # a GPU that can be counted but not used: Slurm wants a device file behind each
        (self.root / "gres.conf").write_text("Name=gpu Type=fake File=/dev/null\n")
        munge = ["--foreground", "--force", f"--key-file={key}", f"--socket={self.root}/munge.socket"]
        munge += [f"--pid-file={self.root}/munged.pid", f"--seed-file={self.root}/munge.seed"]
        munge += [f"--log-file={self.root}/log/munged.log"]
        self._daemon("munged", *munge)
        until(lambda: (self.root / "munge.socket").exists(), "munged")
        self._controller("-c")
        for node in range(1, NODES + 1):
            self._daemon("slurmd", "-D", "-N", f"n{node}", "-f", f"{self.root}/slurm.conf", label=f"n{node}")
        until(lambda: self.query("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * NODES, "idle nodes")

    def stop(self) -> None:
        """End every job and daemon, whatever state they are in."""
        with contextlib.suppress(subprocess.SubprocessError, TimeoutError):
            self.query("scancel", "--user", getpass.getuser())
            until(lambda: not self.query("squeue", "--noheader").strip(), "jobs' end", seconds=10)
        for daemon in reversed(self._daemons.values()):
            _end(daemon)
        # job steps have sessions of their own: the configuration in their environment says that they are of this Slurm
        ours = [process for process in psutil.process_iter() if self._is_ours(process)]
        for process in ours:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(ours, timeout=10)

    def stop_controller(self, *, crash: bool = False) -> None:
        """Stop the controller: it saves its state, but for a crash."""
        daemon = self._daemons.pop("slurmctld")
        if crash:
            daemon.kill()
        _end(daemon)

    def save_state(self, job: str) -> None:
        """Return when the controller has saved its state with all that has happened to a job until now."""
        mark = f"saved-{time.monotonic_ns()}"
        self.query("scontrol", "update", f"jobid={job}", f"admincomment={mark}")
        state = self.root / "state/job_state"
        until(lambda: state.exists() and mark.encode() in state.read_bytes(), "the controller's saved state")

    def start_controller(self) -> None:
        """Start the controller again, from its saved state."""
        self._controller()

    def query(self, *command: str) -> str:
        """Return what one of Slurm's programs prints."""
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        return ended.stdout

    def jobs(self, folder: Path) -> list[dict[str, str]]:
        """Return every job that was submitted from a folder, ended or not, as `scontrol` shows it; oldest first."""
        lines = self.query("scontrol", "--oneliner", "show", "job").splitlines()
        jobs = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in lines]
        return sorted((job for job in jobs if job.get("WorkDir") == str(folder)), key=lambda job: int(job["JobId"]))

    def _controller(self, *arguments: str) -> None:
        self._daemon("slurmctld", "-D", "-f", f"{self.root}/slurm.conf", *arguments)
        until(lambda: "is UP" in self.query("scontrol", "ping"), "slurmctld")

    def _daemon(self, program: str, *arguments: str, label: str = "") -> None:
        label = label or program
        with open(self.root / "log" / f"{label}.out", "ab") as output:
            self._daemons[label] = subprocess.Popen(
                [shutil.which(program, path=SEARCHED) or program, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.pid != os.getpid() and process.environ().get("SLURM_CONF") == str(self.root / "slurm.conf")
        except psutil.Error:
            return False


def until(condition: Callable[[], bool], what: str, *, seconds: float = PATIENCE, pause: float = 0.2) -> None:
    """Wait for a condition; fail with what was awaited."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s for: {what}")
        time.sleep(pause)


@contextlib.contextmanager
def running() -> Iterator[Slurm]:
    """Start a Slurm in a new temporary folder, and leave nothing of it behind."""
    # not under pytest's tmp_path: a socket's path may have no more than 108 characters
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        slurm = Slurm(Path(folder))
        try:
            slurm.start()
            yield slurm
        finally:
            slurm.stop()


_first_ports = iter(range(20000 + os.getpid() % 10000, 60000, NODES + 1))


def _free_ports() -> list[int]:
    """Return consecutive free ports, for the controller and the nodes; later calls return others."""
    for first in _first_ports:
        ports = list(range(first, first + NODES + 1))
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in ports:
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return ports
    raise OSError("no free ports")


def _end(daemon: subprocess.Popen) -> None:
    """Terminate a daemon, or kill it if it takes more than 10 s to end."""
    daemon.terminate()
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


if __name__ == "__main__":
    if missing():
        raise SystemExit(missing())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running() as started, contextlib.suppress(KeyboardInterrupt):
        print(f"export SLURM_CONF={started.environment['SLURM_CONF']}", flush=True)
        print("Slurm is running; paste the line above into another shell. Ctrl-C ends it.", flush=True)
        signal.pause()
