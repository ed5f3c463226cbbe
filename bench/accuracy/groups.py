#!/usr/bin/env python3
"""Test accuracy of groups that train on clones of vertices (0c, cd-r) beside full-batch training, over seeds.

  bench/accuracy/groups.py --build build/release --data CORA [--ranks 4 16] [--seeds 10] [--graphs hard easy cora]
                           [--ways WAY...]

Every cell is the mean and the standard deviation over seeds of weights and dropout of the last epoch's accuracy, which is
evaluated on the whole graph. `hard` and `easy` are planted partitions with a few vertices of many neighbours; in the hard
one features say little and neighbours lean towards a vertex's class only a little, so that whole neighbourhoods are
needed. Needs nothing but Python. Ranks are threads of one process.
"""
import argparse
import gzip
import json
import pathlib
import random
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from programs import call as run


class Planted:
    """Edges draw their first end by weight, and the second one within its class with the chance `homophily`."""

    def __init__(self, vertices, edges, classes, features, homophily, signal, seed):
        draw = random.Random(seed)
        self.labels = [draw.randrange(classes) for _ in range(vertices)]
        weights = [(v + 1) ** -0.6 for v in range(vertices)]
        draw.shuffle(weights)
        members = [[v for v in range(vertices) if self.labels[v] == c] for c in range(classes)]
        firsts = draw.choices(range(vertices), weights, k=edges)
        within = [iter(draw.choices(m, [weights[v] for v in m], k=edges)) for m in members]
        anywhere = iter(draw.choices(range(vertices), weights, k=edges))
        self.edges = set()
        for u in firsts:
            v = next(within[self.labels[u]]) if draw.random() < homophily else next(anywhere)
            if u != v:
                self.edges.add((min(u, v), max(u, v)))
        centres = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(classes)]
        self.rows = [[signal * centre + draw.gauss(0, 1) for centre in centres[label]] for label in self.labels]
        order = list(range(vertices))
        draw.shuffle(order)
        self.split = {"train": order[:vertices // 20], "valid": order[vertices // 20:vertices // 5],
                      "test": order[vertices // 5:]}

    def write(self, folder):
        def save(path, lines):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(folder / path, "wt") as out:
                out.write("".join(f"{line}\n" for line in lines))

        save("raw/edge.csv.gz", (f"{u},{v}" for u, v in sorted(self.edges)))
        save("raw/num-node-list.csv.gz", [len(self.labels)])
        save("raw/num-edge-list.csv.gz", [len(self.edges)])
        save("raw/node-label.csv.gz", self.labels)
        save("raw/node-feat.csv.gz", (",".join(f"{x:.5f}" for x in row) for row in self.rows))
        for name, vertices in self.split.items():
            save(f"split/random/{name}.csv.gz", sorted(vertices))


PLANTED = {"hard": (Planted, (4000, 60000, 8, 16, 0.28, 0.3, 7), 2), "easy": (Planted, (4000, 60000, 8, 16, 0.5, 0.45, 8), 3)}
WAYS = {"full batch": [], "cd-5": ["--inexact", "cd:5"], "cd-1": ["--inexact", "cd:1"],
        "0c, owners": ["--inexact", "0c:owners"], "0c, shares": ["--inexact", "0c"]}


class Data:
    def __init__(self, name, options, folder):
        self.name, self.path = name, options.data
        self.plan, self.run = ["--hidden", 16], ["--feature-norm", "row"]
        if name == "cora":
            return
        made, sizes, layers = PLANTED[name]
        self.path = folder / name
        made(*sizes).write(self.path)
        self.plan, self.run = ["--symmetrise", "--hidden", 32, "--layers", layers], []


def accuracies(options, data, ranks, ways, folder):
    build = options.build / "bin"
    cut = ["--cut", options.cut, "--partition"] if ways and options.cut != "libra" else []
    run(build / "gnnplan", "plan", "--graph", data.path, "--ranks", ranks, *data.plan, *ways, *cut, "--dropout", 0.5,
        "--eval-every", options.epochs, "-o", folder / "plan.json")
    found = []
    for seed in range(1, options.seeds + 1):
        run(build / "gnnrun", folder / "plan.json", "--data", data.path, "--in-process", "--threads", 1, "--epochs",
            options.epochs, "--seed", seed, "--dropout", 0.5, "--autotune", 0, "--eval-every", options.epochs, "--metrics",
            folder / "metrics.jsonl", "-q", *data.run)
        last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
        found.append(100 * last["test_accuracy"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="Cora as an OGB folder")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--cut", choices=["libra", "seeded", "cover"], default="libra")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--graphs", nargs="+", choices=["hard", "easy", "cora"], default=["hard", "easy", "cora"])
    options = parser.parse_args()
    print("| graph | ranks | " + " | ".join(options.ways) + " |")
    print("|---|---|" + "---|" * len(options.ways))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for graph in options.graphs:
            data = Data(graph, options, folder)
            whole = None  # the same on any number of ranks
            for ranks in options.ranks:
                cells = []
                for way in options.ways:
                    if WAYS[way]:
                        found = accuracies(options, data, ranks, WAYS[way], folder)
                    else:
                        found = whole = whole or accuracies(options, data, 1, [], folder)
                    cells.append(f"{statistics.mean(found):.2f} ± {statistics.pstdev(found):.2f}")
                print(f"| {graph} | {ranks} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
