#!/usr/bin/env python3
"""Scores of vertices with several labels: gnnrun beside PyTorch, over seeds.

  bench/accuracy/labels.py --build build/release [--seeds 10] [--unknown 0.3]

A planted graph: eight groups that overlap, a label for each; most neighbours of a vertex share a group with it, and its
noisy features lean towards its groups. Networks with batch norm and dropout are trained by gnnrun (--runs) and by the
program of `gnnplan explain --pytorch`, each from weights of its own. Every cell is the mean and the standard deviation
of the last epoch's micro-F1 and ROC-AUC on the test vertices. Needs NumPy and PyTorch. Exit status 1 if a mean is
farther from PyTorch's than one standard deviation of PyTorch's.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import types

import numpy
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from programs import built, call as run

VERTICES, GROUPS, DEGREE, FEATURES = 2000, 8, 12, 16
NETWORKS = {"GCN, batch norm": "--layers 2 --hidden 64 --bias --norm batch",
            "GraphSAGE, layer norm": "--model sage --layers 2 --hidden 64 --bias --norm layer"}
SCORES = ("f1", "rocauc")


def write_graph(path, unknown):
    draw = numpy.random.default_rng(5)
    groups = draw.random((VERTICES, GROUPS)) < 0.2
    groups[numpy.arange(VERTICES), draw.integers(0, GROUPS, VERTICES)] = True
    members = [numpy.flatnonzero(groups[:, g]) for g in range(GROUPS)]
    source, target = [], []
    for v in range(VERTICES):
        for _ in range(DEGREE // 2):
            near = members[draw.choice(numpy.flatnonzero(groups[v]))] if draw.random() < 0.7 else numpy.arange(VERTICES)
            source.append(v), target.append(draw.choice(near))
    x = groups @ draw.standard_normal((GROUPS, FEATURES)) + 3 * draw.standard_normal((VERTICES, FEATURES))
    y = groups.astype(numpy.float32)
    y[draw.random(y.shape) < unknown] = numpy.nan
    part = draw.random(VERTICES)
    numpy.savez(path, edge_index=numpy.array([source, target]), x=x.astype(numpy.float32), y=y,
                train_mask=part < 0.3, valid_mask=(part >= 0.3) & (part < 0.5), test_mask=part >= 0.5)


def of_gnnrun(options, graph, plan, folder):
    report = folder / "report.json"
    run(built(options.build, "gnnrun")[0], plan, "--data", graph, "--in-process", "--threads", 1, "--runs",
        options.seeds, "--autotune", 0, "--eval-every", options.epochs, "--weight-decay", 0, "--report", report, "-q")
    return {score: [each[score]["test"] for each in json.loads(report.read_text())["runs"]] for score in SCORES}


def of_pytorch(options, graph, plan):
    source = run(built(options.build, "gnnplan")[0], "explain", "--pytorch", plan).stdout
    program = types.ModuleType("program")
    exec(compile(source, "the printed program", "exec"), program.__dict__)
    data, found = program.read(str(graph), "cpu"), {score: [] for score in SCORES}
    for seed in range(1, options.seeds + 1):
        torch.manual_seed(seed)
        model = program.Model()
        for _ in program.train(model, data, options.epochs, weight_decay=0):
            pass
        rows = data.subsets["test"]
        for score in SCORES:
            found[score].append(getattr(program, score)(program.logits_of(model, data)[rows], data.y[rows]))
    return found


def cell(values):
    return f"{100 * statistics.mean(values):.2f} ± {100 * statistics.stdev(values):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--unknown", type=float, default=0.3, help="the share of labels that are not known")
    options = parser.parse_args()
    torch.set_num_threads(1)
    far = 0
    print("| network | labels | score of the test vertices, percent | gnnrun | PyTorch |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for unknown in (0, options.unknown):
            graph, plan = folder / f"graph-{unknown}.npz", folder / "plan.json"
            write_graph(graph, unknown)
            for network, flags in NETWORKS.items():
                run(built(options.build, "gnnplan")[0], "plan", "--graph", graph, "--symmetrise", "--ranks", 2, "--rocauc",
                    *flags.split(), "--dropout", 0.5, "--input-dropout", 0, "--epochs", options.epochs, "-o", plan)
                ours, theirs = of_gnnrun(options, graph, plan, folder), of_pytorch(options, graph, plan)
                for score in SCORES:
                    known = "all known" if unknown == 0 else f"{unknown:.0%} not known"
                    print(f"| {network} | {known} | {score} | {cell(ours[score])} | {cell(theirs[score])} |", flush=True)
                    apart = abs(statistics.mean(ours[score]) - statistics.mean(theirs[score]))
                    far += apart > statistics.stdev(theirs[score])
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
