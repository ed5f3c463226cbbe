#!/usr/bin/env python3
"""Runs gnnplan and gnnrun on bad days, and prints a table of what was tried, right and wrong.

    bench/faults/faults.py [--bin build/release/bin] [--only SECTION,...] [--quick] [--seed S]

With --quick and GNNPLAN_TEST_SAMPLE=N:K every other section is tried, the even ones or the odd ones by K.

A case is right when the exit code is the documented one, the message says what it should, the process ends in time, and nothing is
left behind. Full disks and small shared memories are file systems of a mount namespace (unshare), so that no other process sees
them. The exit code is 1 when a case is wrong.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from handed_out import HandedOut

LIMIT = 60  # seconds after which a case counts as hung
ENDED_BY_LIMIT = "hung"
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@dataclasses.dataclass
class Ended:
    """How a command ended: `code` is its exit code, or 'hung'."""

    code: object
    text: str
    seconds: float


class Faults(HandedOut):
    def __init__(self, programs, quick, seed):
        self.gnnplan, self.gnnrun = (shlex.quote(str(programs / name)) for name in ("gnnplan", "gnnrun"))
        self.quick = quick
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gnnplan-faults-"))
        self.environment = {**os.environ, **MPI, "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.unshare = "unshare -m" if os.geteuid() == 0 else "unshare -rm"
        self.results = {}  # section -> [(name, right, why)]
        self.section = ""
        self.seconds = {}  # of each section
        self.remarks = []  # said below the table

    def close(self):
        shutil.rmtree(self.folder)

    # --- running ---

    def run(self, command, limit=LIMIT):
        """Runs a shell command in the folder; its whole process group is ended at the limit."""
        start = time.monotonic()
        with subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                text, _ = process.communicate(timeout=limit)
                code = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                text, _ = process.communicate()
                code = ENDED_BY_LIMIT
        return Ended(code, text.decode(errors="replace"), time.monotonic() - start)

    def expect(self, name, command, codes, says="", also=None, limit=LIMIT):
        """Runs a command; `codes` are the right exit codes, `says` a regular expression found in what it prints."""
        ended = self.run(command, limit)
        why = ""
        if ended.code not in codes:
            why = f"exit code {ended.code}, expected {' or '.join(map(str, codes))}"
        elif says and not re.search(says, ended.text):
            why = f"does not say {says!r}"
        elif also:
            why = also() or ""
        self.note(name, why, ended.text)

    def note(self, name, why, text=""):
        self.results.setdefault(self.section, []).append((name, not why, why))
        if why:
            print(f"wrong: {self.section}: {name}: {why}", file=sys.stderr)
            print("\n".join("    " + line for line in text.splitlines()[-12:]), file=sys.stderr)

    def mounted(self, path, size, command):
        """`command` with a file system of `size` at `path`."""
        script = f"mkdir -p {path} 2>/dev/null; mount -t tmpfs -o size={size} none {path} && {command}"
        return f"{self.unshare} bash -c {shlex.quote(script)}"

    def prepare(self):
        commands = [f"{self.gnnplan} graph generate planted --vertices 200 --nonzeros 1600 --features 12 --classes 4 -o small.npz",
                    f"{self.gnnplan} graph generate planted --vertices 20000 --nonzeros 400000 --features 128 --classes 8 -o large.npz",
                    f"{self.gnnplan} plan --graph large.npz --hidden 64 --ranks 2 -o large2.json"]
        commands += [f"{self.gnnplan} plan --graph small.npz --hidden 8 --ranks {n} --scheme rdm -o small{n}.json" for n in (1, 2, 4, 16)]
        for command in commands:
            ended = self.run(command)
            if ended.code != 0:
                raise SystemExit(f"faults: cannot prepare: {command}\n{ended.text}")

    def one(self, arguments="", plan=1, data="small.npz"):
        where = "" if plan == 1 else "--in-process"
        return f"{self.gnnrun} small{plan}.json --data {data} --threads 1 {where} {arguments}"

    def exists(self, *names):
        missing = [name for name in names if not (self.folder / name).exists() or (self.folder / name).stat().st_size == 0]
        return f"{', '.join(missing)} is missing or empty" if missing else ""

    # --- sections ---

    def speech(self):
        """stderr and stdout that cannot be written to."""
        for target in ("2>/dev/full", "2>&-"):
            self.expect(f"missing input {target}", f"{self.gnnplan} graph info /nonexistent {target}", [66])
            self.expect(f"training {target}", self.one(f"--epochs 20 --report a.json {target}"), [0], also=lambda: self.exists("a.json"))
            self.expect(f"planning {target}", f"rm -f p.json; {self.gnnplan} plan --graph small.npz --hidden 8 --ranks 2 -o p.json {target}",
                        [0], also=lambda: self.exists("p.json"))
        self.expect("a log that fills while training",
                    self.mounted("logs", "4k", "(head -c 4000 /dev/zero >logs/filler; " + self.one("--epochs 200 -v --report a.json 2>logs/log") + ")"), [0])
        self.expect("the reader of stderr goes away", self.one("--epochs 2000 -v --report a.json") + " 2> >(head -c 1 >/dev/null)", [0])
        for arguments in ("--help", "--version", "datasets list", "plan --help"):
            self.expect(f"{arguments} >/dev/full", f"{self.gnnplan} {arguments} >/dev/full", [74])
            self.expect(f"{arguments} >&-", f"{self.gnnplan} {arguments} >&-", [74])

    def outputs(self):
        """Files that cannot be written, and outputs that are inputs."""
        files = "--metrics m.jsonl --trace t.json"
        self.expect("report on a full disk", "rm -f m.jsonl t.json; " + self.mounted("disk", "8k", self.one(f"--epochs 30 --report disk/r.json {files}")),
                    [74], "total ", lambda: self.exists("m.jsonl", "t.json"))
        self.expect("report on a full disk, under mpirun",
                    "rm -f m.jsonl t.json; " + self.mounted("disk", "8k", f"mpirun -n 2 {self.gnnrun} small2.json --data small.npz --threads 1 --epochs 30 --report disk/r.json {files}"),
                    [74], "total ", lambda: self.exists("m.jsonl", "t.json"))
        self.expect("metrics on a full device", "rm -f r.json; " + self.one("--epochs 30 --metrics /dev/full --report r.json"), [74], "total ",
                    lambda: self.exists("r.json"))
        self.expect("plan on a full disk", self.mounted("disk", "4k", f"{self.gnnplan} plan --graph small.npz --hidden 8 -o disk/p.json"), [74], "p.json: cannot write")
        self.expect("a folder that is not there", self.one("--report none/r.json"), [73])
        for flags in ("--report small1.json", "--report small.npz", "--trace small.npz", "--report x --metrics x"):
            self.expect(flags, self.one(f"--epochs 2 {flags}"), [64], "would overwrite|same file")
        self.expect("plan -o its own graph", f"{self.gnnplan} plan --graph small.npz --hidden 8 -o small.npz", [64], "would overwrite")
        self.expect("a limit on the size of files",
                    "rm -f r.json; ulimit -f 4; " + self.one("--epochs 60 --report r.json --save-weights w0.st"), [74],
                    "r.json: cannot write: File too large", lambda: self.exists("w0.st"))
        self.expect("a link to nothing",
                    "ln -sf none.json link.json; " + self.one("--epochs 2 --report link.json")
                    + " && test -L link.json",
                    [0], also=lambda: self.exists("none.json"))
        self.expect("a pipe for data", "mkfifo -m 600 pipe 2>/dev/null; " + self.one("--epochs 2", data="pipe"), [66], "not a regular file", limit=10)

    def shared_memory(self):
        """/dev/shm of any size."""
        sizes = ("4k", "4m", "64m") if self.quick else ("4k", "1m", "2m", "4m", "8m", "32m", "64m")
        for size in sizes:
            for ranks in (2, 4, 16):
                for transport in ("", "OMPI_MCA_btl=tcp,self "):
                    run = f"{transport}mpirun -n {ranks} {self.gnnrun} small{ranks}.json --data small.npz --threads 1 --epochs 5"
                    self.expect(f"{size}, {ranks} ranks {transport}", self.mounted("/dev/shm", size, run), [0])

    def memory(self):
        """Address space of any size: a run ends well, or with 3 and a word of memory."""
        for kib in range(25000, 120000, 19000 if self.quick else 3000):
            run = f"{self.gnnrun} large2.json --data large.npz --threads 1 --epochs 2 -q"
            self.expect(f"{kib} KiB, threads", f"ulimit -v {kib}; {run} --in-process", [0, 3], "one epoch|out of memory|no thread|refused a thread")
        for kib in range(60000, 700000, 210000 if self.quick else 20000):
            run = f"{self.gnnrun} large2.json --data large.npz --threads 1 --epochs 2 -q"
            command = f"mpirun -n 2 bash -c {shlex.quote(f'ulimit -v {kib}; exec {run}')}"
            self.expect(f"{kib} KiB, mpirun", command, [0, 3], "one epoch|out of memory")
        self.run(f"{self.gnnplan} plan --task infer --graph small.npz --hidden 8 --ranks 4 -o infer4.json; gzip -c "
                 "/dev/null >none.gz")
        self.run("python3 -c \"print('\\n'.join(f'{i % 5000} {i * 7 % 5000}' for i in range(200000)))\" | gzip "
                 ">text.gz")
        # Below 25 MB the dynamic linker may lack room for libraries, and then ends the program with 127.
        for kib in range(26000, 200000, 29000 if self.quick else 7000):
            for name, run in (("planning", f"{self.gnnplan} plan --graph small.npz --hidden 8 --ranks 2 -o "
                                           "limited.json"),
                              ("planning a text", f"{self.gnnplan} plan --graph text.gz --features 64 --classes 4 "
                                                  "--hidden 8 --ranks 2 -o limited.json"),
                              ("graph info", f"{self.gnnplan} graph info text.gz"),
                              ("inference", f"{self.gnnrun} infer4.json --data small.npz --in-process --threads 1 -q"),
                              ("two threads", f"{self.gnnrun} small1.json --data small.npz --threads 2 --epochs 2 -q")):
                self.expect(f"{kib} KiB, {name}", f"ulimit -v {kib}; {run}", [0, 3, 127])
        self.expect("stacks that are too large", f"OMP_STACKSIZE=100000G {self.gnnrun} small1.json --data small.npz "
                                                 "--threads 2 --epochs 2", [3], "refused a thread")

    def memory_of_threads(self):
        """Ranks that are threads run in memory cgroups of any size: they succeed or end with 3, and are not killed."""
        group = next((base / "gnnplan-faults"
                      for base in (pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup"))
                      if (base / "memory.limit_in_bytes").exists()
                      or "memory" in self.text_of(base / "cgroup.subtree_control")), None)
        try:
            group.mkdir(exist_ok=True)
        except (AttributeError, OSError):
            print("not tried: memory of threads: this account may make no memory cgroups", file=sys.stderr)
            return
        limit = group / ("memory.limit_in_bytes" if (group / "memory.limit_in_bytes").exists() else "memory.max")
        try:
            self.make_edges()
            for task in ("train", "infer"):
                for load in ("whole", "sharded"):
                    plan = (f"{self.gnnplan} plan --task {task} --graph edges.txt --features 64 --classes 8 --hidden "
                            f"32 --ranks 4 --load {load} -o threads4.json")
                    self.expect("the plan", plan, [0], limit=180)
                    for mebibytes in (200, 500, 900) if self.quick else range(150, 1500, 75):
                        limit.write_text(str(mebibytes << 20))
                        self.expect(f"{mebibytes} MiB, {task}, {load}",
                                    f"echo $$ >{group}/cgroup.procs; exec {self.gnnrun} threads4.json --data "
                                    "edges.txt --in-process --threads 1 "
                                    + ("--epochs 2 " if task == "train" else "") + "-q", [0, 3],
                                    "one epoch|the pass|out of memory", limit=120)
        finally:
            group.rmdir()

    @staticmethod
    def text_of(path):
        try:
            return path.read_text()
        except OSError:
            return ""

    def other_launchers(self):
        """Another MPI's launcher, or srun without one, starts processes side by side, which are refused."""
        run = {ranks: f"{self.gnnrun} small{ranks}.json --data small.npz --threads 1 --epochs 2" for ranks in (1, 4)}
        step = "SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_PROCID=0"
        for ranks in (1, 4):
            self.expect(f"PMI, a plan of {ranks}", f"PMI_RANK=0 PMI_SIZE=4 {run[ranks]}", [78],
                        r"another MPI.*\(PMI_SIZE=4\)")
            self.expect(f"a SLURM step, a plan of {ranks}", f"{step} {run[ranks]} --in-process", [78], "SLURM step")
            self.expect(f"a batch script, a plan of {ranks}",
                        f"SLURM_NTASKS=4 SLURM_PROCID=0 {run[ranks]} --in-process", [0])
        self.expect("the others are silent", f"test -z \"$(PMI_RANK=2 PMI_SIZE=4 {run[1]} 2>&1)\"", [0])
        self.expect("calibrate", f"PMI_RANK=0 PMI_SIZE=4 {self.gnnplan} calibrate --quick", [78], "another MPI")
        self.expect("calibrate in a SLURM step", f"{step} {self.gnnplan} calibrate --quick", [78], "SLURM step")
        self.expect("one process", f"PMI_RANK=0 PMI_SIZE=1 {run[1]}", [0])
        if shutil.which("mpiexec.hydra"):
            self.expect("mpiexec.hydra", f"mpiexec.hydra -n 4 {run[1]}", [78], "another MPI")

    def ranks_that_disagree(self):
        """mpirun with other arguments for rank 1."""
        same = f"{self.gnnrun} small2.json --data small.npz --threads 1"
        self.run(f"{self.gnnplan} graph generate planted --vertices 200 --nonzeros 1600 --features 12 --classes 4 --seed 2 -o other.npz")
        cases = [(flags, 78, "is not the same on every rank") for flags in
                 ("--epochs 6", "--seed 2", "--lr 0.5", "--weight-decay 0.5", "--decay-all", "--feature-norm row", "--dropout 0.5",
                  "--eval-every 7", "--autotune 2", "--bind off", "--trace t.json", "--dry-run")]
        cases += [("--no-such-flag", 64, "rank 1: "), ("--help", 64, "rank 1 was asked for help"), ("--in-process", 64, "exclude")]
        for flags, code, says in cases[::3] if self.quick else cases:
            self.expect(flags, f"mpirun -n 1 {same} : -n 1 {same} {flags}", [code], says)
        self.expect("another graph", f"mpirun -n 1 {same} : -n 1 {same.replace('small.npz', 'other.npz')}", [78])
        self.expect("another plan", f"mpirun -n 1 {same} : -n 1 {same.replace('small2', 'small4')}", [78])

    def signals(self):
        """Signals end a run after an epoch, with its files written."""
        for name in ("INT", "TERM", "USR1", "USR2"):
            for plan, start in ((4, self.one("", plan=4)), (2, f"exec mpirun -n 2 {self.gnnrun} small2.json --data small.npz --threads 1")):
                run = f"rm -f m r; ({start} --epochs 100000000 --metrics m --report r) & pid=$!; until test -s m; do sleep .01; done; "
                # The shell's child is the process itself, or mpirun, which hands the signal on to its ranks.
                target = "$(pgrep -P $pid || echo $pid)" if plan == 4 else "$pid"
                # mpirun passes a SIGINT or SIGTERM on to its ranks, and then exits with a code of its own.
                codes = [75] if plan == 4 or name in ("USR1", "USR2") else [1, 75, 130, 143]
                self.expect(f"SIG{name}, {'threads' if plan == 4 else 'mpirun'}", f"{run} kill -{name} {target}; wait $pid", codes,
                            also=lambda: self.exists("m", "r"), limit=30)

    def killed_ranks(self):
        """SIGKILL of a rank at a random time: all end within 30 s and leave nothing."""
        endless = "small4.json --data small.npz --epochs 100000000 --report killed.json"
        for attempt in range(5 if self.quick else 50):
            self.kill_a_rank(f"kill {attempt + 1}", endless, self.random.uniform(0.02, 2.5))

    def make_edges(self):
        """A text of 20 million numbers, edges.txt, which takes a second or more to load."""
        if (self.folder / "edges.txt").exists():
            return
        with open(self.folder / "edges.txt", "w") as edges:
            for _ in range(500):
                some = (self.random.randrange(1_000_000) for _ in range(1000))
                edges.write("".join(f"{v} {v * 7919 % 1_000_000}\n{v * 31 % 1_000_000} {v}\n" for v in some) * 20)
            edges.write("999999 0\n")

    def killed_while_loading(self):
        """A run gets the same while it loads a graph in shares, which takes a second or more."""
        self.make_edges()
        plan = (f"{self.gnnplan} plan --task infer --graph edges.txt --features 4 --classes 2 --hidden 4 --ranks 4 "
                "--model sage -o load4.json")
        self.expect("the plan", plan, (0,))
        for attempt in range(3 if self.quick else 20):
            self.kill_a_rank(f"loading, kill {attempt + 1}", "load4.json --data edges.txt --report killed.json", self.random.uniform(0.2, 0.9))

    def kill_a_rank(self, name, arguments, delay):
        rank = self.random.randrange(4)
        run = (f"mpirun -n 4 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec {self.gnnrun} {arguments} --threads 1 -q' "
               f"& mpirun=$!; until test -s pid.{rank}; do sleep .01; done; sleep {delay:.3f}; "
               f"kill -KILL $(cat pid.{rank}); wait $mpirun; code=$?; rm -f pid.*; "
               # Ranks are removed, and their folders with them, a moment after mpirun has ended.
               'for i in $(seq 20); do left=$(find /dev/shm sessions *.tmp-* ! -type d 2>/dev/null); test -z "$left" && break; sleep .1; done; '
               'echo "left behind: $left"; exit $code')
        ended = self.run(self.mounted("/dev/shm", "64m", f"mkdir -p sessions; export TMPDIR=$PWD/sessions; {run}"), 35)
        why = "" if ended.code == 137 else f"exit code {ended.code}, expected 137"
        if not why and not ended.text.endswith("left behind: \n"):
            why = "something is left behind"
        self.note(f"{name}: rank {rank} after {delay:.2f} s", why, ended.text)

    def stopped_ranks(self):
        """SIGSTOP of a rank: the run ends with 69 after its timeout, and says which rank was last seen in which step."""
        for attempt in range(2 if self.quick else 6):
            ranks = (2, 4)[attempt % 2]
            rank = self.random.randrange(ranks)
            run = (f"rm -rf kept pid.*; mpirun -n {ranks} bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec {self.gnnrun} small{ranks}.json --data small.npz "
                   "--threads 1 --epochs 100000000 -q --timeout 2s --checkpoint kept --checkpoint-every 10' & mpirun=$!; "
                   f"until test -s pid.{rank} -a -d kept && ls kept/* >/dev/null 2>&1; do sleep .05; done; kill -STOP $(cat pid.{rank}); wait $mpirun")
            self.expect(f"{ranks} ranks, rank {rank} stops", run, [69], rf"nothing has moved for 2 s: rank {rank} \(its process is stopped\) was last seen .* (after step \S+ of epoch \d+|as it began to build)",
                        lambda: "" if any((self.folder / "kept").glob("checkpoint-*")) else "no checkpoint is left", limit=40)

    def stopped_while_loading(self):
        """A rank gets SIGSTOP at a random time before the first epoch, even while MPI starts: the run ends with 69."""
        self.make_edges()
        for task, load in ((task, load) for task in ("train", "infer") for load in ("sharded", "whole")):
            self.expect("the plan", f"{self.gnnplan} plan --task {task} --graph edges.txt --features 4 --classes 2 "
                                    f"--hidden 4 --ranks 4 --model sage --load {load} -o stop4.json",
                        [0], limit=180)
            run = (f"{self.gnnrun} stop4.json --data edges.txt --threads 1 -q --timeout 2s"
                   + (" --epochs 100000000 --autotune 0" if task == "train" else ""))
            mpirun = f"mpirun -n 4 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec {run}'"
            whole = self.run(f"rm -f pid.*; {mpirun}").seconds if task == "infer" else 6
            for _ in range(3 if self.quick else 12):
                rank, delay = self.random.randrange(4), self.random.uniform(0.01, 0.6 * whole)
                stop = (f"rm -f pid.*; {mpirun} & mpirun=$!; until test -s pid.{rank}; do sleep .01; done; sleep "
                        f"{delay:.3f}; "
                        f"kill -STOP $(cat pid.{rank}); wait $mpirun")
                # While MPI starts, ten seconds are allowed, and Open MPI 4.1's mpirun may crash (139) as it cleans up.
                self.expect(f"{task}, {load}, rank {rank} after {delay:.2f} s", stop, [69, 139],
                            r"nothing has moved for (2|10) s: rank \d", limit=40)

    def checkpoints(self):
        """A run of 4 ranks, killed at a random time, goes on with other plans and ranks, and loses two intervals at most."""
        epochs, every = 400, 7
        for ranks, scheme in ((3, "1d"), (2, "rdm"), (1, "rdm"), (4, "2d")):
            self.run(f"{self.gnnplan} plan --graph small.npz --hidden 8 --ranks {ranks} --scheme {scheme} -o other{ranks}.json")
        flags = f"--data small.npz --threads 1 --epochs {epochs} --dropout 0.25 -q"
        self.run(f"mpirun -n 4 {self.gnnrun} small4.json {flags} --autotune 0 --report whole.json")
        whole = [epoch["loss"] for epoch in json.loads((self.folder / "whole.json").read_text())["epochs"]]
        for attempt in range(4 if self.quick else 20):
            ranks = (1, 2, 3, 4)[attempt % 4]
            shutil.rmtree(self.folder / "kept", ignore_errors=True)
            (self.folder / "m.jsonl").unlink(missing_ok=True)
            kill_at = self.random.randrange(1, epochs - every)
            killed = (f"mpirun -n 4 bash -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec {self.gnnrun} small4.json {flags} --autotune 0 "
                      f"--checkpoint kept --checkpoint-every {every} --metrics m.jsonl' & mpirun=$!; "
                      f'until test "$(cat m.jsonl 2>/dev/null | wc -l)" -ge {kill_at}; do sleep .002; done; '
                      f"kill -KILL $(cat pid.{self.random.randrange(4)}); wait $mpirun; rm -f pid.*")
            self.run(killed, 35)
            seen = sum(1 for _ in open(self.folder / "m.jsonl", encoding="utf-8"))
            start = f"mpirun -n {ranks} {self.gnnrun}" if ranks > 1 else self.gnnrun
            ended = self.run(f"{start} other{ranks}.json {flags} --checkpoint kept --checkpoint-every {every} --resume auto --report rest.json")
            why = "" if ended.code == 0 else f"exit code {ended.code}, expected 0"
            if not why:
                rest = json.loads((self.folder / "rest.json").read_text())
                lost = seen - rest.get("resumed_after", 0)
                loss = rest["epochs"][-1]["loss"]
                # One checkpoint may be on its way while the epochs of the next interval are trained; the last of these
                # is in the metrics before training waits for it.
                if lost > 2 * every:
                    why = f"{lost} epochs are lost, with a checkpoint every {every}"
                elif len(rest["epochs"]) != epochs or abs(loss - whole[-1]) > 1e-5 * whole[-1]:
                    why = f"the last loss is {loss}, and {whole[-1]} of a run that was not killed"
            self.note(f"killed after epoch {seen}, resumed on {ranks}", why, ended.text)
        newest = max((self.folder / "kept").glob("checkpoint-*.safetensors"))
        whole_bytes = newest.read_bytes()
        further = f"{self.gnnrun} other1.json {flags.replace(str(epochs), str(epochs + 1))}"
        for attempt in range(20 if self.quick else 200):
            at = self.random.randrange(len(whole_bytes))
            flipped = bytes([whole_bytes[at] ^ 1 << self.random.randrange(8)]) + whole_bytes[at + 1:]
            newest.write_bytes(whole_bytes[:at] + (b"" if attempt % 2 == 0 else flipped))
            name = f"{'cut' if attempt % 2 == 0 else 'flipped'} at byte {at}"
            if attempt % 10 == 0:
                self.expect(f"{name}, the folder", f"rm -rf new; {further} --resume kept --checkpoint new".replace(" -q", ""), [0], "the one before it is used")
            else:
                self.expect(name, f"{further} --resume {newest}", [65], "cut or altered")

    def soak(self):
        """2,000 epochs with a checkpoint every 10: memory stays, and so does the number of files."""
        epochs = 300 if self.quick else 2000
        command = (f"rm -rf kept; {self.one(f'--epochs {epochs} --checkpoint kept --checkpoint-every 10 --metrics soak.jsonl -q', plan=4)} & pid=$!; "
                   "while kill -0 $pid 2>/dev/null; do echo $(grep VmRSS /proc/$pid/status 2>/dev/null | tr -dc 0-9) $(ls /proc/$pid/fd 2>/dev/null | wc -l) "
                   "$(ls kept 2>/dev/null | wc -l) >>soak.log; sleep .05; done; wait $pid")
        (self.folder / "soak.log").unlink(missing_ok=True)
        ended = self.run(command, 300)
        rows = [list(map(int, line.split())) for line in (self.folder / "soak.log").read_text().splitlines() if len(line.split()) == 3]
        half = rows[len(rows) // 2:-1]
        growth = half[-1][0] - half[0][0] if half else 0
        why = "" if ended.code == 0 else f"exit code {ended.code}, expected 0"
        if not why and (not half or growth > 2048):
            why = f"memory grew by {growth} KiB in the second half"
        # The third file is there between writing it and removing the oldest; a fourth is one that is being written.
        if not why and max(row[2] for row in rows) > 4:
            why = f"{max(row[2] for row in rows)} files at once"
        self.note(f"{epochs} epochs", why, ended.text)


SECTIONS = ("speech", "outputs", "shared_memory", "memory", "memory_of_threads", "other_launchers",
            "ranks_that_disagree", "signals", "killed_ranks", "killed_while_loading", "stopped_ranks",
            "stopped_while_loading", "checkpoints", "soak", "killed_writers", "unshared_folders",
            "weights_and_embeddings", "not_finite", "signalled_inference")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"), help="where gnnplan and gnnrun are")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas: " + ", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="fewer cases of a kind")
    parser.add_argument("--seed", type=int, default=random.randrange(2**31), help="of the times at which ranks are killed")
    options = parser.parse_args()
    chosen = options.only.split(",")
    sample = re.fullmatch(r"\d+:(\d+)", os.environ.get("GNNPLAN_TEST_SAMPLE", ""))
    if options.quick and sample:
        chosen = chosen[int(sample[1]) % 2::2]
    for name in chosen:
        if name not in SECTIONS:
            parser.error(f"there is no section {name}")
    faults = Faults(options.bin.resolve(), options.quick, options.seed)
    try:
        if faults.run(faults.mounted("probe", "4k", "true")).code != 0:
            print("skipped: this account may not mount file systems of its own (unshare)")
            return 77
        faults.prepare()
        for name in chosen:
            began = time.monotonic()
            faults.section = name.replace("_", " ")
            getattr(faults, name)()
            faults.seconds[faults.section] = time.monotonic() - began
    finally:
        faults.close()
    print(f"seed {options.seed}\n\n| faults | tried | right | wrong | seconds |\n|---|---|---|---|---|")
    total = [0, 0]
    for section, cases in faults.results.items():
        right = sum(case[1] for case in cases)
        total = [total[0] + len(cases), total[1] + right]
        seconds = faults.seconds.get(section, 0)
        print(f"| {section} | {len(cases)} | {right} | {len(cases) - right} | {seconds:.0f} |")
    print(f"| all | {total[0]} | {total[1]} | {total[0] - total[1]} | {sum(faults.seconds.values()):.0f} |")
    print("\n".join(["", *faults.remarks]) if faults.remarks else "")
    return 0 if total[0] == total[1] else 1


if __name__ == "__main__":
    sys.exit(main())
