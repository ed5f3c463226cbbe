#!/usr/bin/env python3
"""Test accuracy of training on batches of a pool beside full-batch training, over seeds.

  bench/accuracy/batches.py --build build/release --data CORA [CITESEER...] [--seeds 10] [--graphs hard easy cora]
                            [--ways WAY...]

Every cell is the mean and the standard deviation over seeds of the last update's accuracy, which is evaluated on the
whole graph, and how far the mean is from full batch's. Seed i draws the pool (`gnnplan plan --seed i`) as well as
weights and dropout (`gnnrun --seed i`). An update is of two batches, and full batch has as many updates. `hard` and
`easy` are the planted graphs of groups.py, whose vertices have 30 neighbours, of which small batches hold few: they are
trained on with budgets (roots, vertices, edges, clusters) times each of --scales. Other graphs are OGB folders, named
as these. Needs nothing but Python. Exit status 1 if walks with coefficients lose more than a point on a graph of
--data.
"""
import argparse
import concurrent.futures
import json
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import groups
from programs import built, call as run

FULL, WALK = "full batch", "walk:200:2"
OFF = f"{WALK}, off"  # without coefficients
WAYS = [FULL, WALK, OFF, "node:400", "edge:150", "cluster:20:100"]
BAR = 1.0  # points that walks may lose on a real graph


def graphs_of(options, folder):
    """Graphs by name, the hardest first; planted ones are made only if they are asked for."""
    real = {path.resolve().name: path for path in options.data}
    names = options.graphs or [*groups.PLANTED, *real]
    if unknown := [name for name in names if name not in groups.PLANTED and name not in real]:
        raise SystemExit(f"batches.py: {', '.join(unknown)}: neither planted nor a folder of --data")
    found = {}
    for name in names:
        options_of = argparse.Namespace(data=real.get(name))
        found[name] = groups.Data(name if name in groups.PLANTED else "cora", options_of, folder)
    return found


def sampler(way, scale):
    """Arguments of `gnnplan plan`, with a budget of `scale` times that of the way's name."""
    if way == FULL:
        return []
    kind, budget, *rest = way.removesuffix(", off").split(":")
    scaled = ":".join([kind, str(int(budget) * scale), *rest])
    return ["--sampler", scaled, "--coefficients", "off" if way == OFF else "on"]


def accuracy(options, data, way, scale, seed, folder):
    """Test accuracy in percent after the last update of one run."""
    gnnplan, gnnrun = built(options.build, "gnnplan", "gnnrun")
    stem = folder / f"{seed}"
    plan, metrics = stem.with_suffix(".plan.json"), stem.with_suffix(".metrics.jsonl")
    batches = ["--batches-per-update", options.batches, "--coverage", options.coverage] if way != FULL else []
    run(gnnplan, "plan", "--graph", data.path, "--ranks", options.ranks, *data.plan, *sampler(way, scale), *batches,
        "--dropout", 0.5, "--epochs", options.updates, "--eval-every", options.updates, "--seed", seed, "-o", plan)
    run(gnnrun, plan, "--data", data.path, "--in-process", "--threads", 1, "--epochs", options.updates, "--seed", seed,
        "--dropout", 0.5, "--autotune", 0, "--eval-every", options.updates, "--metrics", metrics, "-q", *data.run)
    return 100 * json.loads(metrics.read_text().splitlines()[-1])["test_accuracy"]


def accuracies(options, data, way, scale, folder):
    of = lambda seed: accuracy(options, data, way, scale, seed, folder)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(of, range(1, options.seeds + 1)))


def cell(found, whole):
    mean = statistics.mean(found)
    difference = "" if found is whole else f", {mean - statistics.mean(whole):+.2f}"
    return f"{mean:.2f} ± {statistics.pstdev(found):.2f}{difference}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, nargs="*", default=[], help="OGB folders of Cora, Citeseer")
    parser.add_argument("--graphs", nargs="+", help="of hard, easy and the folders' names; default: all")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--scales", type=int, nargs="+", default=[1, 4], help="of planted graphs' budgets, default 1 4")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--batches", type=int, default=2, help="of an update, default 2")
    parser.add_argument("--coverage", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=1, help="results are the same on all, to rounding; default 1")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, default 2")
    options = parser.parse_args()
    ways = [way for way in WAYS if way == FULL or way in options.ways]
    print("| graph | " + " | ".join(ways) + " |")
    print("|---|" + "---|" * len(ways))
    worst = None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for graph, data in graphs_of(options, folder).items():
            whole = accuracies(options, data, FULL, 1, folder)
            for scale in options.scales if graph in groups.PLANTED else [1]:
                found = {way: whole if way == FULL else accuracies(options, data, way, scale, folder) for way in ways}
                label = graph if scale == 1 else f"{graph}, budgets x {scale}"
                print(f"| {label} | " + " | ".join(cell(found[way], whole) for way in ways) + " |", flush=True)
            if graph not in groups.PLANTED and WALK in found:
                lost = statistics.mean(whole) - statistics.mean(found[WALK])
                worst = lost if worst is None else max(lost, worst)
    if worst is not None:
        print(f"\n{WALK} loses {worst:.2f} points at most on real graphs, of {BAR} that it may: "
              f"{'met' if worst <= BAR else 'missed'}.")
    return 0 if worst is None or worst <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
