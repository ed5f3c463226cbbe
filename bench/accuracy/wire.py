#!/usr/bin/env python3
"""Test accuracy of training whose messages carry bfloat16 beside training in float32, over seeds, paired.

  bench/accuracy/wire.py --build build/release --data CORA [--ranks 4] [--seeds 10] [--graphs NAME...]

Both runs of a seed have the same plan but for its messages, and the same weights and dropout. Every row is the mean
accuracy of each after the last epoch, and their difference with its 95 % interval (Student's t). Hard cases first:
`columns`, whose features travel and have a column that says nothing and spreads 300 times as widely as the others;
`hard`, a planted graph whose labels hinge on whole neighbourhoods; `deep`, five layers of GIN on a graph with hubs; then
a graph of Citeseer's size, and Cora. Plans are for a machine whose links are so slow that all may be rounded. Ranks are
threads of one process. Needs nothing but Python. Exit status 1 if Cora or the graph of Citeseer's size differ by more
than 0.2 points, or any run has the weights of float32.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import groups
from programs import built, call as run

BAR = 0.2  # points that graphs of BARRED may differ by
BARRED = ("citeseer-sized", "cora")
T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}  # Student's, 97.5 %, by seeds


class Columns(groups.Planted):
    """Neighbours say little, and a column of the features is noise that is 300 times as wide as the others."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        draw = groups.random.Random(1)
        self.rows = [[*row, 300 * draw.gauss(0, 1)] for row in self.rows]


class Citeseer(groups.Planted):
    """Citeseer's numbers of vertices, edges and classes; 120 vertices train, 500 are for validation, 1000 for tests."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        order = [vertex for part in self.split.values() for vertex in part]
        self.split = {"train": order[:120], "valid": order[120:620], "test": order[620:1620]}


# Sizes as Planted takes them: vertices, edges, classes, features, homophily, signal, seed.
GRAPHS = {"columns": (Columns, (4000, 40000, 8, 32, 0.4, 0.6, 3)), "hard": groups.PLANTED["hard"][:2],
          "deep": (groups.Planted, (4000, 60000, 8, 16, 0.6, 0.6, 8)),
          "citeseer-sized": (Citeseer, (3327, 4732, 6, 64, 0.75, 0.25, 5)), "cora": None}
ONE_D = ["--scheme", "1d", "--forward", "SS"]
PLANS = {"columns": ["--symmetrise", "--hidden", 32, *ONE_D], "hard": ["--symmetrise", "--hidden", 32],
         "deep": ["--symmetrise", "--hidden", 32, "--layers", 5, "--model", "gin", "--norm", "batch", "--residual"],
         "citeseer-sized": ["--symmetrise", "--hidden", 16, *ONE_D], "cora": ["--hidden", 16, *ONE_D]}


RUNS = {"cora": ["--feature-norm", "row"], "deep": ["--lr", 0.002]}
DROPOUT = {"deep": 0}  # of the others it is a half


def slow_machine(gnnplan, folder):
    """A profile whose links are so slow that bytes decide."""
    profile = json.loads(run(gnnplan, "machines", "show", "cpu-node", "--json").stdout)
    for link in ("intra_node", "inter_node"):
        profile[link] = {**profile[link], "latency_seconds": 0, "bytes_per_second": 1e6}
    profile.pop("network_cards", None)
    path = folder / "slow.json"
    path.write_text(json.dumps(profile))
    return path


class Trained:
    """One seed on one graph, with messages as `wire` says."""

    def __init__(self, options, data, name, wire, seed, folder):
        gnnplan, gnnrun = built(options.build, "gnnplan", "gnnrun")
        files = {kind: folder / f"{kind}-{wire}" for kind in ("plan", "metrics", "weights")}
        run(gnnplan, "plan", "--graph", data, "--ranks", options.ranks, *PLANS[name], "--dropout", DROPOUT.get(name, 0.5), "--machine",
            slow_machine(gnnplan, folder), "--wire", wire, "--eval-every", options.epochs, "-o", files["plan"])
        self.wire = json.loads(files["plan"].read_text())["configuration"].get("wire", "fp32")
        run(gnnrun, files["plan"], "--data", data, "--in-process", "--threads", 1, "--epochs", options.epochs, "--seed", seed,
            "--dropout", DROPOUT.get(name, 0.5), "--autotune", 0, "--eval-every", options.epochs, "--metrics", files["metrics"], "-q",
            "--save-weights", files["weights"], *RUNS.get(name, []))
        self.accuracy = 100 * json.loads(files["metrics"].read_text().splitlines()[-1])["test_accuracy"]
        self.weights = files["weights"].read_bytes()


def compared(options, name, folder):
    """The row of a graph, and what is wrong with it."""
    data = options.data
    if GRAPHS[name] is not None:
        made, sizes = GRAPHS[name]
        data = folder / name
        made(*sizes).write(data)
    pairs = []
    for seed in range(1, options.seeds + 1):
        exact, rounded = (Trained(options, data, name, wire, seed, folder) for wire in ("fp32", "bf16"))
        if rounded.wire != "bf16" or rounded.weights == exact.weights:
            return [name], f"{name}: nothing was rounded"
        pairs.append((exact.accuracy, rounded.accuracy))
    apart = [rounded - exact for exact, rounded in pairs]
    mean, interval = statistics.mean(apart), T[len(apart)] * statistics.stdev(apart) / len(apart) ** 0.5
    row = [name, *(f"{statistics.mean(side):.2f}" for side in zip(*pairs)), f"{mean:+.2f} ± {interval:.2f}"]
    wrong = f"{name}: {mean:+.2f} points" if name in BARRED and abs(mean) > BAR else ""
    return row, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="Cora as an OGB folder")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seeds", type=int, choices=list(T), default=10)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(GRAPHS))
    options = parser.parse_args()
    print("| graph | fp32 | bf16 messages | difference |\n|---|---|---|---|")
    found = []
    for name in options.graphs:
        with tempfile.TemporaryDirectory() as folder:
            row, wrong = compared(options, name, pathlib.Path(folder))
        print("| " + " | ".join(row) + " |", flush=True)
        found += [wrong] if wrong else []
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
