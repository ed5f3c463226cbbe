"""Nodes behind slow links on one machine: a network namespace per node, a bridge between them, tc tbf on every link.

Everything lives in namespaces of its own, none of which has a name: they exist as long as the processes inside do, and these
are killed with the script, however it ends (also by kill -9). So there is nothing to take down and nothing to collide with.
"""
import os, pathlib, re, shlex, signal, subprocess, sys, tempfile

SUBNET = "10.77.0"  # seen only inside
LARGEST_PACKET = 8192  # that TCP hands to a link, in bytes
SCRATCH = "GNNPLAN_SLOW_LINKS"  # set inside: a folder that vanishes with the namespaces


def isolate():
    """Returns inside new network, mount and process namespaces; outside, runs this program again there and exits as it does."""
    if SCRATCH in os.environ:
        scratch = pathlib.Path(os.environ[SCRATCH])
        subprocess.run(["mount", "-t", "tmpfs", "none", scratch], check=True)
        return scratch
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="gnnplan-slow-links-") as folder:
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        child = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", *user, "--net", "--mount", "--mount-proc", "--pid", "--kill-child",
             sys.executable, *sys.argv], env={**os.environ, SCRATCH: folder}, start_new_session=True)
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGINT)
        finally:
            child.kill()  # and the kernel kills all that runs inside


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


def bytes_per_second(rate):
    """Bytes per second of a rate as tc writes it, e.g. 1gbit."""
    number, prefix = re.fullmatch(r"([0-9.]+)([kmg]?)bit", rate).groups()
    return float(number) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[prefix] / 8


def burst(rate):
    """Bytes that tbf lets through at once after a pause, free of charge: as few as keep the link busy, two of the largest packets,
    and what the link carries while a timer waits on a busy core."""
    return max(2 * LARGEST_PACKET, int(0.2e-3 * bytes_per_second(rate)))


class SlowLinks:
    """Hosts SUBNET.1, SUBNET.2, ... for `ranks_per_node` consecutive ranks each, whose links carry `rate` (as tc writes it,
    e.g. 1gbit) in each direction. Ranks of a host reach each other by shared memory."""

    def __init__(self, scratch, ranks, rate, ranks_per_node=1):
        self.scratch, self.ranks, self.ranks_per_node = scratch, ranks, ranks_per_node
        ip("link", "add", "hub", "type", "bridge")
        ip("link", "set", "hub", "up")
        self.holders = [self.add_host(scratch, host, rate) for host in range(1, ranks // ranks_per_node + 1)]
        # The program by which mpirun starts its daemons, in place of ssh. Each daemon has a folder for its files: they
        # believe to be on machines of their own and would overwrite each other's.
        self.agent = scratch / "agent"
        self.agent.write_text(f'#!/bin/sh\nhost={scratch}/$1\nshift\nexport TMPDIR=$host/tmp\n'
                              'exec nsenter --net --uts --target "$(cat $host/holder)" /bin/sh -c "$*"\n')
        self.agent.chmod(0o755)

    def add_host(self, scratch, number, rate):
        """A process that holds the namespaces of one host, which has a name and a limited link to the hub of its own."""
        holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"hostname node{number}; echo; exec sleep infinity"],
                                  stdout=subprocess.PIPE)
        holder.stdout.readline()  # the namespaces are there
        host = scratch / f"{SUBNET}.{number}"
        (host / "tmp").mkdir(parents=True)
        (host / "holder").write_text(str(holder.pid))
        ip("link", "add", f"port{number}", "type", "veth", "peer", "name", "uplink", "netns", holder.pid)
        ip("link", "set", f"port{number}", "master", "hub", "up")
        inside = ["nsenter", "--net", "--target", str(holder.pid)]
        for command in (["ip", "link", "set", "lo", "up"], ["ip", "link", "set", "uplink", "up"],
                        ["ip", "address", "add", f"{SUBNET}.{number}/24", "dev", "uplink"]):
            subprocess.run([*inside, *command], check=True)
        for where, end in ((inside, "uplink"), ([], f"port{number}")):
            small = f"ip link set dev {end} gso_max_size {LARGEST_PACKET} gso_max_segs {LARGEST_PACKET // 1448}"
            subprocess.run([*where, *small.split()], check=True)
            limit = f"tc qdisc add dev {end} root tbf rate {rate} burst {burst(rate)} limit 64mb"  # deep: nothing is dropped
            subprocess.run([*where, *limit.split()], check=True)
        return holder

    def mpirun(self, *program):
        """Runs a program on every host, one thread a rank; its output is shown only if it fails."""
        hosts = ",".join(f"{SUBNET}.{host}:{self.ranks_per_node}" for host in range(1, len(self.holders) + 1))
        within = ",vader" if self.ranks_per_node > 1 else ""
        options = (f"-n {self.ranks} --host {hosts} --bind-to none --mca plm_rsh_agent {self.agent} --mca btl tcp,self{within} "
                   f"--mca pml ob1 --mca btl_tcp_if_include {SUBNET}.0/24 --mca oob_tcp_if_include {SUBNET}.0/24 "
                   "--mca mpi_yield_when_idle 1 -x OMP_NUM_THREADS=1 -x OPENBLAS_NUM_THREADS=1")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": str(self.scratch / f"{SUBNET}.1" / "tmp")}
        command = ["nsenter", "--net", "--uts", "--target", str(self.holders[0].pid), "mpirun", *options.split(), *map(str, program)]
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(map(str, program))}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout
