#!/usr/bin/env python3
"""Does autotuning choose well when the profile is wrong?

Plans with a profile whose SpMM rate is a tenth (and ten times) the built-in one's, lets gnnrun autotune, and runs every
candidate of the plan alone in the same session, alternating. Prints the candidate chosen, its time alone over the best
candidate's alone, and whether that is within 5 %. Exit status 2 if something could not run.

    bench/autotune/wrong_profile.py [--build DIR] [--ranks 2] [--repeats 5] [--epochs 30]
"""
import argparse, json, pathlib, statistics, sys, tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import programs

RATES = (0.1, 10)  # of SpMM, over the profile's


class Session:
    """One graph, in a folder of its own."""

    def __init__(self, options, folder):
        self.gnnplan, self.gnnrun = programs.built(options.build, "gnnplan", "gnnrun")
        self.options, self.folder, self.graph = options, pathlib.Path(folder), f"{folder}/graph"
        programs.call(self.gnnplan, "graph", "generate", "planted", "--vertices", 30000, "--nonzeros", 1500000, "--features", 256,
                      "--classes", 32, "--seed", 1, "-o", self.graph)
        self.profile = programs.call(self.gnnplan, "machines", "show", "cpu-node", "--json").stdout

    def wrong_machine(self, factor):
        wrong = json.loads(self.profile)
        wrong["name"] = f"cpu-node, SpMM rate x {factor}"
        for rate in wrong["spmm"]:
            rate["flops_per_second"] *= factor
        machine = self.folder / "machine.json"
        machine.write_text(json.dumps(wrong))
        return machine

    def plan(self, machine, name, *pins):
        plan = self.folder / name
        programs.call(self.gnnplan, "plan", "--graph", self.graph, "--ranks", self.options.ranks, "--hidden", 64, "--machine", machine,
                      *pins, "-o", plan)
        return plan

    def train(self, plan, autotune):
        report = self.folder / "report.json"
        programs.call(self.gnnrun, plan, "--data", self.graph, "--in-process", "--threads", 1, "--epochs", self.options.epochs,
                      "--eval-every", 0, "--autotune", autotune, "--report", report, "-q")
        return json.loads(report.read_text())


def letters(configuration):
    return f"{configuration['forward']} {configuration['backward']} R_A={configuration['replication']}"


def judge(session, factor):
    machine = session.wrong_machine(factor)
    plan = session.plan(machine, "plan.json")
    candidates = [c["configuration"] for c in json.loads(plan.read_text())["candidates"]]
    plans = [session.plan(machine, f"alone{i}.json", "--forward", c["forward"], "--backward", c["backward"], "--replication",
                          c["replication"]) for i, c in enumerate(candidates)]
    alone = [[] for _ in candidates]
    for _ in range(session.options.repeats):
        for times, own in zip(alone, plans):
            times.append(session.train(own, 0)["measured"]["epoch_seconds"])
    times = [statistics.median(t) for t in alone]
    chosen = session.train(plan, 3)["autotune"]["chosen"]
    print(f"SpMM rate x {factor}: {len(candidates)} candidates on {session.options.ranks} ranks")
    for i, c in enumerate(candidates):
        mark = "*" if i == chosen else " "
        print(f"  {mark} {i} {letters(c):16} alone {1e3 * times[i]:7.1f} ms")
    regret = times[chosen] / min(times) - 1
    print(f"  chosen {chosen}: {100 * regret:.1f} % over the best alone: {'within' if regret <= 0.05 else 'NOT within'} 5 %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = Session(options, folder)
        for factor in RATES:
            judge(session, factor)


main()
