"""Under a quota of processor time a rank has no more threads by default than the quota is worth, rounded up.

  quota_test.py FOLDER_OF_PROGRAMS"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

CGROUPS = pathlib.Path("/sys/fs/cgroup")


def limit(group, units):
    """Gives a group of processes so much processor time; either version of cgroups. Throws OSError where it may not."""
    group.mkdir()
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{int(units * 100000)} 100000")
    else:
        (group / "cpu.cfs_quota_us").write_text(str(int(units * 100000)))


def threads_of(command, report, group=None):
    join = f"echo $$ >{group}/cgroup.procs && " if group else ""
    subprocess.run(["sh", "-c", f'{join}exec "$@"', "sh", *map(str, command)], check=True, capture_output=True)
    return json.loads(report.read_text())["threads"]


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    os.environ["GNNPLAN_PROBE"] = "off"
    group = (CGROUPS / "cpu" if (CGROUPS / "cpu").is_dir() else CGROUPS) / f"gnnplan-test-{os.getpid()}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        graph, plan, report = folder / "graph.npz", folder / "plan.json", folder / "run.json"
        for words in (f"graph generate planted --vertices 500 --nonzeros 4000 --features 8 --classes 3 -o {graph}",
                      f"plan --graph {graph} --hidden 8 --ranks 1 --machine cpu-node -o {plan}"):
            subprocess.run([programs / "gnnplan", *words.split()], check=True, capture_output=True)
        run = [programs / "gnnrun", plan, "--data", graph, "--epochs", "2", "--report", report]
        free = threads_of(run, report)
        if free < 2:
            print("skipped: one processing unit only")
            return 77
        try:
            limit(group, 0.5)
            assert threads_of(run, report, group) == 1, "half a unit is one thread"
            limited = group.with_name(group.name + "-b")
            limit(limited, 1.5)
            assert threads_of(run, report, limited) == 2, "one and a half are two"
            limited.rmdir()
        except OSError as error:
            print(f"skipped: no group with a quota: {error}")
            return 77
        finally:
            if group.exists():
                group.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
