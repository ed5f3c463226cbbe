#!/usr/bin/env python3
"""Accuracies are over those vertices of a set that have a label, in whatever form and shares the data is read: they
are those of the embeddings that the same run saves, and null where no vertex of a set has a label."""

import copy
import json

from files import read_embeddings, write_npz, write_ogb
from graphs import blobs
from network import accuracies
from tools import Tools, require, run_test

GRIDS = [("", 1), ("--scheme 1d", 2), ("--scheme rdm --replication 2 --loss-rows off", 2), ("--grid 1x3", 3),
         ("--permute on --grid 2x2", 4), ("--scheme 1.5d", 4), ("--loss-rows on", 3),
         ("--load sharded --loss-rows off", 2), ("--scheme 2d", 4)]
MODELS = ["", "--model sage --aggregator max", "--model gin --bias", "--model gat --heads 2", "--model agnn",
          "--model sgc", "--model appnp --bias"]
KEYS = {"train": "train_accuracy", "valid": "valid_accuracy", "test": "test_accuracy"}


def without(graph, lacking):
    """The graph, in which this fraction of each set has no label."""
    changed = copy.deepcopy(graph)
    for name, share in lacking.items():
        vertices = changed.split[name]
        for v in vertices[:round(share * len(vertices))]:
            changed.labels[v] = None
    return changed


def percent(name, accuracy):
    return f"{name} -" if accuracy is None else f"{name} {100 * accuracy:.1f} %"


def check_run(tools, graph, data, grid, ranks, model, processes=False):
    tools.plan(f"--graph {data} --hidden 8 --ranks {ranks} {grid} {model} -o p.json")
    said = tools.train(f"p.json --data {data} --epochs 12 --lr 0.05 --autotune 0 --eval-every 5 --report r.json "
                       "--metrics m.jsonl --save-embeddings e.npy", ranks, processes)
    expected = accuracies(read_embeddings(tools / "e.npy"), graph)
    epochs = tools.report("r.json")["epochs"]
    for name, key in KEYS.items():
        require(epochs[-1][key] == expected[name], f"{data} {grid} {model}: {key} is {epochs[-1][key]}, and the "
                                                   f"embeddings say {expected[name]}")
        require(percent(name, expected[name]) in said, f"{data}: no '{percent(name, expected[name])}' in {said}")
        require(epochs[4][key] is not None or expected[name] is None, f"{key} was not judged after epoch 5")
    lines = [json.loads(line) for line in (tools / "m.jsonl").read_text().splitlines()]
    require(lines == epochs, "metrics and report differ")


def check_best(tools, graph, data, ranks):
    """The best epoch is that of the best accuracy over labelled vertices, and patience counts from it."""
    tools.plan(f"--graph {data} --hidden 8 --ranks {ranks} -o p.json")
    run = f"p.json --data {data} --epochs 40 --lr 0.05 --dropout 0.3 --autotune 0 --eval-every 1 --report r.json "
    tools.train(f"{run} --keep-best --patience 6 --save-embeddings e.npy", ranks)
    report = tools.report("r.json")
    valid = [epoch["valid_accuracy"] for epoch in report["epochs"]]
    best = report["best_epoch"]
    require(valid[best - 1] == max(valid) and max(valid[:best - 1], default=0) < valid[best - 1],
            f"{data}: epoch {best} is not the first of the best of {valid}")
    require(len(valid) in (40, best + 6), f"{data}: patience of 6 ended after {len(valid)}, the best was {best}")
    expected = accuracies(read_embeddings(tools / "e.npy"), graph)
    require({name: report["epochs"][best - 1][key] for name, key in KEYS.items()} == expected,
            f"{data}: {report['epochs'][best - 1]} is not of the embeddings, which say {expected}")


def check_nothing_to_judge(tools, data):
    """Without labels of validation vertices, --keep-best and --patience are refused; training still works."""
    tools.plan(f"--graph {data} --hidden 8 --ranks 2 -o p.json")
    run = f"p.json --data {data} --epochs 3 --autotune 0"
    for flag in ("--keep-best", "--patience 2"):
        said = tools.train(f"{run} {flag}", 2, code=78)
        require("none of the 16 validation vertices has a label to judge by" in said, said)
    tools.remove("c")
    tools.train(f"{run} --checkpoint c --checkpoint-every 1", 2)
    tools.train(f"p.json --data {data} --epochs 4 --autotune 0 --resume c --report r.json", 2)
    require([epoch["valid_accuracy"] for epoch in tools.report("r.json")["epochs"]][-2:] == [None, None],
            "accuracies of nothing are not null after a resumed run")


def check_info(tools, data, labelled):
    about = json.loads(tools.run("gnnplan", f"graph info --json {data}"))
    require([about["labelled"][name] for name in KEYS] == labelled, f"{data}: {about['labelled']}, not {labelled}")


def test(tools):
    full = blobs(7)
    for name, lacking in {"full": {}, "half": {"valid": 0.5, "test": 0.5}, "hidden": {"test": 1},
                          "blind": {"valid": 1, "test": 0.25}}.items():
        graph = without(full, lacking)
        write_npz(graph, tools / f"{name}.npz")
        write_ogb(graph, tools / name)
        for at, (grid, ranks) in enumerate(GRIDS if name == "half" else GRIDS[:3]):
            data = name if at % 2 else f"{name}.npz"
            check_run(tools, graph, data, grid, ranks, MODELS[at % len(MODELS)])
        if name != "blind":
            check_best(tools, graph, f"{name}.npz", 3)
    half = without(full, {"valid": 0.5, "test": 0.5})
    if tools.mpirun:
        check_run(tools, half, "half.npz", "--scheme 1d", 2, "", processes=True)
    check_nothing_to_judge(tools, "blind.npz")
    check_nothing_to_judge(tools, "blind")
    check_info(tools, "half.npz", [16, 8, 8])
    require("8 of 16 validation and 8 of 16 test vertices have a label: scores are over these."
            in tools.run("gnnplan", "graph info half"), "nothing says how many have a label")
    half.split = None  # a run splits it at random, and the data has none
    write_npz(half, tools / "nosplit.npz")
    about = json.loads(tools.run("gnnplan", "graph info --json nosplit.npz"))
    require(about["labelled"] is None and about["split"] is None, f"nosplit: {about}")
    return []


if __name__ == "__main__":
    run_test(__doc__, test)
