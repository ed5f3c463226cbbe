"""Two hosts that both have Docker's bridge, with the same address: Open MPI takes it for a way between them. The run ends after
--timeout, with who has answered and the flag that helps; with that flag it trains.

  two_hosts_test.py FOLDER_OF_PROGRAMS

Hosts are network namespaces of this machine, joined by a pair of virtual cards."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

NETWORK = "10.77.0"
HOSTS = {"nodea": 1, "nodeb": 2}


def why_not():
    missing = [name for name in ("ip", "unshare", "nsenter", "mpirun", "hostname", "mount") if not shutil.which(name)]
    if missing:
        return f"no {', '.join(missing)} (tools/install-packages cluster)"
    if os.geteuid() != 0:
        return "only root can make hosts of namespaces"
    if "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
        return "mpirun is not Open MPI's"
    probe = subprocess.run(["unshare", "--net", "ip", "link", "add", "docker0", "type", "bridge"], capture_output=True, text=True)
    return "" if probe.returncode == 0 else f"no networks of namespaces: {probe.stderr.strip()}"


class Hosts:
    """A namespace of networks, names and mounts for each host, held by a process that sleeps."""

    def __init__(self, folder):
        self.folder = folder
        self.holders = {}

    def inside(self, host, *command):
        target = str(self.holders[host].pid)
        return ["nsenter", "--net", "--uts", "--mount", "--target", target, *map(str, command)]

    def run(self, host, *command):
        subprocess.run(self.inside(host, *command), check=True, capture_output=True)

    def __enter__(self):
        addresses = "".join(f"{NETWORK}.{number} {host}\n" for host, number in HOSTS.items())
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + addresses)
        for host in HOSTS:
            start = f"hostname {host}; mount --bind {self.folder}/hosts /etc/hosts; echo; exec sleep infinity"
            holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-c", start], stdout=subprocess.PIPE)
            self.holders[host] = holder
            holder.stdout.readline()
            self.run(host, "ip", "link", "set", "lo", "up")
            self.run(host, "ip", "link", "add", "docker0", "type", "bridge")
            self.run(host, "ip", "addr", "add", "172.17.0.1/16", "dev", "docker0")
            self.run(host, "ip", "link", "set", "docker0", "up")
        first, second = self.holders
        self.run(first, "ip", "link", "add", "card", "type", "veth", "peer", "name", "card", "netns", self.holders[second].pid)
        for host, number in HOSTS.items():
            self.run(host, "ip", "addr", "add", f"{NETWORK}.{number}/24", "dev", "card")
            self.run(host, "ip", "link", "set", "card", "up")
        # The program by which mpirun starts its daemon on the other host, in place of ssh.
        agent = self.folder / "agent"
        agent.write_text(f"#!/bin/sh\nshift\nexec nsenter --net --uts --mount --target {self.holders[second].pid} sh -c \"$*\"\n")
        agent.chmod(0o755)
        return self

    def __exit__(self, *error):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()

    def mpirun(self, flags, *program):
        first = next(iter(self.holders))
        hosts = ",".join(f"{host}:1" for host in HOSTS)
        options = (f"--allow-run-as-root --mca btl tcp,self --mca plm_rsh_agent {self.folder}/agent "
                   f"--mca oob_tcp_if_include {NETWORK}.0/24 --host {hosts} -n 2 {flags}")
        command = self.inside(first, "mpirun", *options.split(), *program)
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


def main():
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    programs = pathlib.Path(sys.argv[1]).resolve()
    os.environ.update(GNNPLAN_PROBE="off", OMPI_MCA_mpi_yield_when_idle="1")
    # mpirun's sockets have paths of at most a hundred letters.
    with tempfile.TemporaryDirectory(prefix="gnnplan-hosts.", dir="/tmp") as scratch:
        folder = pathlib.Path(scratch)
        graph, plan = folder / "graph.npz", folder / "plan.json"
        for words in (f"graph generate planted --vertices 500 --nonzeros 4000 --features 8 --classes 3 -o {graph}",
                      f"plan --graph {graph} --hidden 8 --ranks 2 --machine cpu-node -o {plan}"):
            subprocess.run([programs / "gnnplan", *words.split()], check=True, capture_output=True)
        run = [programs / "gnnrun", plan, "--data", graph, "--threads", "1", "--epochs", "3", "--autotune", "0", "--timeout", "10s"]
        with Hosts(folder) as hosts:
            stuck = hosts.mpirun("", *run)
            said = stuck.stdout + stuck.stderr
            assert stuck.returncode == 69, (stuck.returncode, said)
            for text in ("nothing has moved for 10 s: rank ", "for the first answers of others over the network",
                         "mpirun --mca btl_tcp_if_exclude lo,docker0"):
                assert text in said, (text, said)
            trained = hosts.mpirun("--mca btl_tcp_if_exclude lo,docker0", *run)
            assert trained.returncode == 0 and "epoch 3" in trained.stdout, trained
    return 0


if __name__ == "__main__":
    sys.exit(main())
