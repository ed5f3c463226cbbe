"""The script of `gnnplan launch --slurm` as a job of SLURM on two nodes with two ranks each: it is warned by a signal, writes a
checkpoint, is queued again, goes on, and ends with the loss of a job that nobody stopped.

  slurm_test.py FOLDER_OF_PROGRAMS"""

import json
import os
import pathlib
import shlex
import sys
import tempfile

import slurm

EPOCHS = 400


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Jobs:
    def __init__(self, cluster, folder, programs):
        self.cluster, self.folder = cluster, folder
        cluster.environment["PATH"] = f"{programs}:{cluster.environment['PATH']}"
        cluster.environment["GNNPLAN_PROBE"] = "off"
        # Blanks, so that the script has to quote.
        self.data, self.plan = folder / "a graph.npz", folder / "a plan.json"
        cluster.checked("gnnplan", "graph", "generate", "planted", "--vertices", 2000, "--nonzeros", 20000, "--features", 32,
                        "--classes", 7, "-o", self.data)
        cluster.checked("gnnplan", "plan", "--graph", self.data, "--hidden", 16, "--ranks", 4, "--machine", "cpu-node",
                        "--ranks-per-node", 2, "-o", self.plan)

    def submit(self, name):
        place = self.folder / name
        place.mkdir()
        self.cluster.checked("gnnplan", "launch", self.plan, "--slurm", "--time", "10m", "-o", place / "job.sh", "--", "--epochs", EPOCHS,
                             "--autotune", 0, "--report", "run.json", "--metrics", "metrics.jsonl")
        script = (place / "job.sh").read_text()
        for directive in ("nodes=2", "ntasks=4", "ntasks-per-node=2", "signal=USR1@", "requeue"):
            expect(f"#SBATCH --{directive}" in script, f"{directive} in\n{script}")
        number = self.cluster.checked("sbatch", "--parsable", "--output", "out", "job.sh", cwd=place).strip()
        return number, place

    def finish(self, number, place, restarts):
        self.cluster.wait(lambda: self.cluster.ended(number), f"the end of job {number}")
        job, out = self.cluster.job(number), (place / "out").read_text()
        expect(job["JobState"] == "COMPLETED" and job["ExitCode"] == "0:0" and job["Restarts"] == str(restarts), f"{job}\n{out}")
        return json.loads((place / "run.json").read_text()), out

    def check_requeue(self):
        number, place = self.submit("whole")
        whole, _ = self.finish(number, place, 0)
        number, place = self.submit("stopped")
        metrics = place / "metrics.jsonl"
        self.cluster.wait(lambda: metrics.exists() and len(metrics.read_text().splitlines()) > 10, "epochs")
        self.cluster.checked("scancel", "--signal=USR1", number)
        parts, text = self.finish(number, place, 1)
        expect("resume with: srun --mpi=pmix -n 4 " in text, f"a command that resumes in\n{text}")
        expect("going on after epoch" in text, f"a resumed run in\n{text}")
        last = [report["epochs"][-1] for report in (whole, parts)]
        expect(last[0]["loss"] == last[1]["loss"], f"equal losses: {last}")

    def check_lone_tasks(self):
        """SLURM's default tells tasks nothing of each other."""
        done = self.cluster.run("srun", "--mpi=none", "-n", 2, "gnnrun", self.plan, "--data", self.data)
        expect("78" in done.stderr, done.stderr)
        expect("start it with srun --mpi=pmix -n 2, with mpirun -n 2 of that MPI, or alone with srun -n 1" in done.stderr, done.stderr)
        expect(done.stderr.count("this is one of 2 tasks") == 1, done.stderr)

    def check_hints(self):
        """A command inside of a job says how this job starts ranks."""
        self.cluster.environment["SLURM_JOB_ID"] = "7"
        told = self.cluster.checked("gnnplan", "plan", "--graph", self.data, "--hidden", 16, "--ranks", 2, "--machine", "cpu-node",
                                    "-o", self.folder / "two.json")
        del self.cluster.environment["SLURM_JOB_ID"]
        expect(f"run it:  srun --mpi=pmix -n 2 gnnrun {self.folder / 'two.json'} --data {shlex.quote(str(self.data))}" in told, told)


def main():
    reason = slurm.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    # MPI's sockets have paths of at most a hundred letters below it.
    with tempfile.TemporaryDirectory(prefix="gnnplan-slurm.", dir="/tmp") as folder:
        with slurm.Slurm(os.path.join(folder, "slurm")) as cluster:
            if "pmix" not in cluster.run("srun", "--mpi=list").stdout + cluster.run("srun", "--mpi=list").stderr:
                print("skipped: this SLURM has no PMIx")
                return 77
            jobs = Jobs(cluster, pathlib.Path(folder), pathlib.Path(sys.argv[1]).resolve())
            jobs.check_lone_tasks()
            jobs.check_hints()
            jobs.check_requeue()
    return 0


if __name__ == "__main__":
    sys.exit(main())
