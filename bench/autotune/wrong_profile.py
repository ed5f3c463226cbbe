#!/usr/bin/env python3
"""Does autotuning choose well when the profile is wrong?

Plans with a profile whose SpMM rate is a tenth (and ten times) the built-in one's, lets gnnrun autotune, and runs every
candidate of the plan alone in the same session, alternating. Prints the candidate chosen, its time alone over the best
candidate's alone, and whether that is within 5 %.

    bench/autotune/wrong_profile.py [--build DIR] [--ranks 2] [--repeats 5] [--epochs 30]
"""
import argparse, json, pathlib, statistics, subprocess, tempfile

root = pathlib.Path(__file__).resolve().parents[2]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default=str(root / "build/release"))
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--repeats", type=int, default=5)
parser.add_argument("--epochs", type=int, default=30)
arguments = parser.parse_args()
gnnplan, gnnrun = (f"{arguments.build}/bin/{tool}" for tool in ("gnnplan", "gnnrun"))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def train(plan, graph, report, autotune):
    run(gnnrun, plan, "--data", graph, "--in-process", "--threads", "1", "--epochs", str(arguments.epochs), "--eval-every",
        "0", "--autotune", str(autotune), "--report", report, "-q")
    return json.loads(pathlib.Path(report).read_text())


def letters(configuration):
    return f"{configuration['forward']} {configuration['backward']} R_A={configuration['replication']}"


with tempfile.TemporaryDirectory() as folder:
    graph = f"{folder}/graph"
    run(gnnplan, "graph", "generate", "planted", "--vertices", "30000", "--nonzeros", "1500000", "--features", "256",
        "--classes", "32", "--seed", "1", "-o", graph)
    profile = json.loads(run(gnnplan, "machines", "show", "cpu-node", "--json"))
    for factor in (0.1, 10):
        wrong = json.loads(json.dumps(profile))
        wrong["name"] = f"cpu-node, SpMM rate x {factor}"
        for rate in wrong["spmm"]:
            rate["flops_per_second"] *= factor
        machine = f"{folder}/machine.json"
        pathlib.Path(machine).write_text(json.dumps(wrong))
        plan_file = f"{folder}/plan.json"
        run(gnnplan, "plan", "--graph", graph, "--ranks", str(arguments.ranks), "--hidden", "64", "--machine", machine, "-o",
            plan_file)
        candidates = [c["configuration"] for c in json.loads(pathlib.Path(plan_file).read_text())["candidates"]]
        alone = [[] for _ in candidates]
        for i, c in enumerate(candidates):
            run(gnnplan, "plan", "--graph", graph, "--ranks", str(arguments.ranks), "--hidden", "64", "--machine", machine,
                "--forward", c["forward"], "--backward", c["backward"], "--replication", str(c["replication"]), "-o",
                f"{folder}/alone{i}.json")
        for _ in range(arguments.repeats):
            for i in range(len(candidates)):
                report = train(f"{folder}/alone{i}.json", graph, f"{folder}/report.json", 0)
                alone[i].append(report["measured"]["epoch_seconds"])
        times = [statistics.median(t) for t in alone]
        report = train(plan_file, graph, f"{folder}/report.json", 3)
        chosen = report["autotune"]["chosen"]
        print(f"SpMM rate x {factor}: {len(candidates)} candidates on {arguments.ranks} ranks")
        for i, c in enumerate(candidates):
            mark = "*" if i == chosen else " "
            print(f"  {mark} {i} {letters(c):16} alone {1e3 * times[i]:7.1f} ms")
        regret = times[chosen] / min(times) - 1
        print(f"  chosen {chosen}: {100 * regret:.1f} % over the best alone: {'within' if regret <= 0.05 else 'NOT within'} 5 %")
