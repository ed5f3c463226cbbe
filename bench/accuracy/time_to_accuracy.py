#!/usr/bin/env python3
"""Time and updates until batches of a pool are as accurate as full-batch training nearly is, by ranks.

  bench/accuracy/time_to_accuracy.py --build build/release --cache build/peers -o runs.json
  bench/accuracy/time_to_accuracy.py --build build/release --cache build/peers --quick     # a small graph: does it run?

Graphs are planted_reddit.py's with each of --homophily, the hard one first, or --graph's. GCN of two layers, --hidden
wide, no dropout, no weight decay. Full batch trains on the first of --ranks: the target is --share (95 %) of its best
validation accuracy, median over seeds. Seconds are the sum of the epochs' up to the first evaluation that reaches the
target, without evaluations and without what comes before training, which for batches has drawing and counting the pool;
both have columns of their own. Ranks are threads of one process, and more ranks than cores take turns. Cells are
medians over --seeds, of pool and weights; a way that does not reach the target with each of them says with how many it
does. Needs NumPy to make the graph.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from programs import built, call as run, read_json

FULL = "full batch"


def planted(options, homophily):
    """The data set, which is made if it is not there."""
    size = ["--vertices", 23_300, "--nonzeros", 1_100_000] if options.quick else []
    path = options.cache / f"planted-reddit-{homophily}{'-small' if options.quick else ''}.npz"
    if not path.exists():
        program = pathlib.Path(__file__).with_name("planted_reddit.py")
        run(sys.executable, program, path, "--homophily", homophily, *size)
    return path


def train(options, graph, ranks, batches, seed):
    """The report of one run; `batches` of an update, 0: the full batch."""
    gnnplan, gnnrun = built(options.build, "gnnplan", "gnnrun")
    plan, report = options.cache / "time-plan.json", options.cache / "time-report.json"
    updates, every = (options.batch_updates, options.batch_eval) if batches else (options.updates, options.eval)
    way = ["--sampler", options.sampler, "--batches-per-update", batches, "--coverage", options.coverage]
    machine = ["--machine", options.machine] if options.machine else []
    run(gnnplan, "plan", "--graph", graph, "--hidden", options.hidden, "--layers", 2, "--ranks", ranks, "--epochs",
        updates, "--eval-every", every, "--seed", seed, *(way if batches else []), *machine, "-o", plan)
    threads = max(1, os.cpu_count() // ranks)
    run(gnnrun, plan, "--data", graph, "--in-process", "--threads", threads, "--epochs", updates, "--eval-every", every,
        "--seed", seed, "--lr", options.learning_rate, "--weight-decay", 0, "--autotune", 0, "--report", report, "-q")
    return read_json(report, "gnnrun should have written it")


def reached(report, target):
    """Updates and seconds until the first evaluation at or over the target; None if there is none."""
    seconds = 0.0
    for epoch in report["epochs"]:
        seconds += epoch["seconds"]
        if epoch["valid_accuracy"] is not None and epoch["valid_accuracy"] >= target:
            return {"updates": epoch["epoch"], "seconds": seconds}
    return None


def summary(way, ranks, seed, report, target):
    evaluated = [epoch for epoch in report["epochs"] if epoch["valid_accuracy"] is not None]
    best = max(evaluated, key=lambda epoch: epoch["valid_accuracy"])
    wall = report["wall"]
    return {"way": way, "ranks": ranks, "seed": seed, "reached": reached(report, target),
            "update_seconds": statistics.median(epoch["seconds"] for epoch in report["epochs"]),
            "valid": best["valid_accuracy"], "test": best["test_accuracy"], "setup_seconds": wall["setup_seconds"],
            "evaluation_seconds": wall["evaluation_seconds"] / max(1, wall["evaluations"]),
            "grid": "x".join(map(str, report["configuration"]["grid"])),
            "peak_bytes": report["measured"]["peak_bytes_per_rank"],
            "curve": [[epoch["epoch"], epoch["valid_accuracy"]] for epoch in evaluated]}


def row(of, whole):
    """A line of the table; `whole`: the seconds of full batch on as many ranks, or None."""
    middle = lambda key: statistics.median(one[key] for one in of)
    found = [one["reached"] for one in of if one["reached"]]
    if len(found) == len(of):
        updates, seconds = (statistics.median(one[key] for one in found) for key in ("updates", "seconds"))
        cells = [f"{updates:.0f}", f"{seconds:.1f}", f"{whole / seconds:.1f}" if whole else "-"]
    else:
        cells = [f"{len(found)} of {len(of)} seeds", "-", "-"]
    cells += [f"{1e3 * middle('update_seconds'):.1f}", f"{100 * middle('valid'):.2f}", f"{100 * middle('test'):.2f}",
              f"{middle('setup_seconds'):.1f}", f"{middle('evaluation_seconds'):.2f}",
              f"{middle('peak_bytes') / 2**20:.0f}"]
    return f"| {of[0]['way']} | {of[0]['ranks']} | {of[0]['grid']} | " + " | ".join(cells) + " |"


def measure(options, graph):
    runs = []
    first = {seed: train(options, graph, options.ranks[0], 0, seed) for seed in options.seeds}
    best = {seed: max(epoch["valid_accuracy"] or 0 for epoch in report["epochs"]) for seed, report in first.items()}
    target = options.share * statistics.median(best.values())
    print(f"**{graph.stem}**: the target is {100 * target:.2f} % of the validation vertices.\n")
    print("| way | ranks | grid | updates | s | times as fast as full batch | ms an update | best valid, % | "
          "its test, % | before training, s | s an evaluation | MiB a rank |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for ranks in options.ranks:
        whole = None
        for batches in [0, *options.batches]:
            way = f"{options.sampler}, {batches} an update" if batches else FULL
            reports = [(seed, first[seed] if not batches and ranks == options.ranks[0] else
                        train(options, graph, ranks, batches, seed)) for seed in options.seeds]
            of = [summary(way, ranks, seed, report, target) for seed, report in reports]
            if not batches and all(one["reached"] for one in of):
                whole = statistics.median(one["reached"]["seconds"] for one in of)
            print(row(of, whole), flush=True)
            runs += of
    print(flush=True)
    return {"target": target, "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/peers"), help="of graph and plans")
    parser.add_argument("--graph", type=pathlib.Path, help="a data set in place of the planted ones")
    parser.add_argument("--homophily", type=float, nargs="+", default=[0.3, 0.5], help="default 0.3 0.5")
    parser.add_argument("--quick", action="store_true", help="a graph of a tenth of the size")
    parser.add_argument("--machine", help="profile to plan with; default: what gnnplan plan takes")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4], help="of an update, default 1 4")
    parser.add_argument("--sampler", default="walk:3000:2")
    parser.add_argument("--coverage", type=int, default=50)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--share", type=float, default=0.95)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, default=100, help="of the full batch, default 100")
    parser.add_argument("--eval", type=int, default=2, help="its updates between evaluations, default 2")
    parser.add_argument("--batch-updates", type=int, default=200, help="of batches, default 200")
    parser.add_argument("--batch-eval", type=int, default=2, help="their updates between evaluations, default 2")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="all runs as JSON, with validation accuracies")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    graphs = [options.graph] if options.graph else [planted(options, homophily) for homophily in options.homophily]
    found = {graph.stem: measure(options, graph) for graph in graphs}
    if options.output:
        options.output.write_text(json.dumps({"command": sys.argv, "graphs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
