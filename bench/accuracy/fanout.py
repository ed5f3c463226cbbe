#!/usr/bin/env python3
"""Accuracy of inference that draws neighbours beside one that reads all (DEAL, Table 6).

  bench/accuracy/fanout.py --build build/release --data cora.npz [--seeds 8] [--fanouts 10 5 2]

Trains three layers of GCN and of GAT with four heads once, on one rank, and applies each with every fan-out and seed.
Needs NumPy. `--planted` takes a generated graph of 5,000 vertices and 250,000 nonzeros in place of --data.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from programs import call as run

MODELS = {"gcn": ["--model", "gcn"], "gat, 4 heads": ["--model", "gat", "--heads", "4"]}


class Data:
    def __init__(self, path, labels, test, plan, run_flags):
        self.path, self.labels, self.test, self.plan, self.run_flags = path, labels, test, plan, run_flags


def cora(path):
    arrays = numpy.load(path)
    return Data(path, arrays["y"].ravel(), arrays["test_idx"].ravel(), ["--symmetrise", "--hidden", "64"],
                ["--feature-norm", "row"])


def planted(build, folder):
    path = folder / "planted"
    run(build / "gnnplan", "graph", "generate", "planted", "--vertices", 5000, "--nonzeros", 250000, "--features", 32,
        "--classes", 8, "-o", path)
    read = lambda name: numpy.loadtxt(next((path).rglob(name + ".csv*")), dtype=int).ravel()
    return Data(path, read("node-label"), read("test"), ["--hidden", "64"], [])


def accuracy(build, folder, data, model, fanout, seed):
    plan, out = folder / "infer.json", folder / "out.npy"
    run(build / "gnnplan", "plan", "--task", "infer", "--fanout", fanout, "--seed", seed, "--graph", data.path, "--ranks", 1,
        "--layers", 3, *data.plan, *model, "-o", plan)
    run(build / "gnnrun", plan, "--data", data.path, "--load-weights", folder / "weights", "--save-embeddings", out, "-q",
        "--threads", 1, *data.run_flags)
    return 100 * (numpy.load(out).argmax(axis=1) == data.labels)[data.test].mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--fanouts", type=int, nargs="+", default=[10, 5, 2])
    options = parser.parse_args()
    build = options.build / "bin"
    if options.planted == (options.data is not None):
        parser.error("give --data or --planted")
    print("| model | all neighbours | " + " | ".join(f"fan-out {k}" for k in options.fanouts) + " |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = planted(build, folder) if options.planted else cora(options.data)
        for title, model in MODELS.items():
            run(build / "gnnplan", "plan", "--graph", data.path, "--ranks", 1, "--layers", 3, *data.plan, *model, "-o",
                folder / "train.json")
            run(build / "gnnrun", folder / "train.json", "--data", data.path, "--epochs", 200, "--dropout", 0.5, "--autotune",
                0, "--eval-every", 0, "--threads", 1, "--save-weights", folder / "weights", "-q", *data.run_flags)
            cells = [f"{accuracy(build, folder, data, model, 'full', 0):.2f}"]
            for fanout in options.fanouts:
                drawn = [accuracy(build, folder, data, model, fanout, seed) for seed in range(options.seeds)]
                cells.append(f"{numpy.mean(drawn):.2f} ± {numpy.std(drawn):.2f}")
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
