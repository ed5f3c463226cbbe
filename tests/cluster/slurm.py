"""A SLURM of two nodes on this machine: Debian's, with a daemon for each node in namespaces of its own, so that nodes differ in
their names and share no memory. It uses no configuration of the system and leaves nothing behind."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "srun", "scontrol", "scancel", "unshare", "hostname", "mount")


def why_not():
    """Why there is no SLURM to be had here; empty where there is."""
    missing = [name for name in DAEMONS + COMMANDS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    if missing:
        return f"no {', '.join(missing)} (tools/install-packages cluster)"
    if os.geteuid() != 0:
        return "only root can make nodes of namespaces"
    probe = subprocess.run(["unshare", "--uts", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True, text=True)
    return "" if probe.returncode == 0 else f"no namespaces for nodes: {probe.stderr.strip()}"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def configuration(folder, nodes, units):
    ports = free_ports(nodes + 1)
    host = socket.gethostname()
    lines = ["ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}", "SlurmUser=root", "SlurmdUser=root",
             "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge/socket", "CredType=cred/munge",
             f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool/%n", f"TmpFS={folder}/tmp/%n",
             f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/%n.pid",
             f"SlurmctldLogFile={folder}/slurmctld.log", f"SlurmdLogFile={folder}/%n.log",
             "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SwitchType=switch/none",
             "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SlurmdParameters=config_overrides",
             "MpiDefault=none", "ReturnToService=2"]
    for number in range(nodes):
        lines.append(f"NodeName=node{number + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[number + 1]} CPUs={units} RealMemory=1000000")
    lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    return "\n".join(lines) + "\n"


class Slurm:
    def __init__(self, folder, nodes=2, units=2):
        self.folder = pathlib.Path(folder)
        self.nodes = [f"node{number + 1}" for number in range(nodes)]
        for name in ("munge", "state", "spool", *(f"tmp/{node}" for node in self.nodes)):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "munge").chmod(0o700)
        (self.folder / "slurm.conf").write_text(configuration(self.folder, nodes, units))
        # Nodes of one machine reach each other by its own interface, which Open MPI leaves out unless it is told.
        self.environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_mpi_yield_when_idle": "1"}

    def run(self, *command, **more):
        return subprocess.run(list(map(str, command)), env=self.environment, capture_output=True, text=True, timeout=100, **more)

    def checked(self, *command, **more):
        done = self.run(*command, **more)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def __enter__(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o600)
        try:
            self.checked("munged", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={self.folder}/munged.pid",
                         f"--log-file={munge}/log", f"--seed-file={munge}/seed")
            self.checked("slurmctld", "-c")
            for node in self.nodes:
                start = f"hostname {node} && mount -t tmpfs tmpfs /dev/shm && exec slurmd -N {node}"
                self.checked("unshare", "--uts", "--mount", "sh", "-c", start)
            self.wait(lambda: self.run("sinfo", "-h", "-N", "-o", "%t").stdout.split() == ["idle"] * len(self.nodes), "idle nodes")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for name in (*self.nodes, "slurmctld", "munged"):
            try:
                os.kill(int((self.folder / f"{name}.pid").read_text()), 15)
            except (OSError, ValueError):
                pass
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any((self.folder / f"{name}.pid").exists() for name in (*self.nodes, "slurmctld")):
            time.sleep(0.05)

    def wait(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited {seconds} s for {what}\n{(self.folder / 'slurmctld.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def job(self, number):
        """Returns SLURM's record of a job, by the names of its fields."""
        words = self.checked("scontrol", "--oneliner", "show", "job", number).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def ended(self, number):
        """Whether the job is over. One that was queued again would begin two minutes later: it begins now."""
        job = self.job(number)
        if job["JobState"] == "PENDING" and job["Restarts"] != "0":
            self.run("scontrol", "update", f"JobId={number}", "StartTime=now")
        return job["JobState"] in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")
