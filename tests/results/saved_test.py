#!/usr/bin/env python3
"""All results of a run come from the same weights: the embeddings that it saves equal those of an inference with the
weights that it saves, and those of the model's definition; the accuracies of that epoch in the report are those of the
embeddings; and the weights are those of the last checkpoint."""

import itertools
from dataclasses import replace

from files import read_embeddings, read_weights, write_npz
from graphs import blobs
from network import Network, accuracies
from tools import Failed, Tools, far, require, run_test

# Each model as options of gnnplan plan, and as the definition in network.py takes it.
MODELS = [("", {"model": "gcn"}),
          ("--model sage --aggregator max --bias", {"model": "sage", "aggregator": "max", "bias": True}),
          ("--model gin --epsilon train", {"model": "gin", "epsilon": "train"}),
          ("--model gat --heads 2", {"model": "gat", "heads": 2}),
          ("--model agnn --bias", {"model": "agnn", "bias": True}),
          ("--jk concat --residual", {"model": "gcn", "jk": "concat", "residual": "input"}),
          ("--norm layer --jk last --bias", {"model": "gcn", "norm": "layer", "jk": "last", "bias": True}),
          ("--norm batch --bias", {"model": "gcn", "norm": "batch", "bias": True}),
          ("--pre 7,8 --post 5 --residual linear --bias",
           {"model": "gcn", "pre": [7, 8], "post": [5], "residual": "linear", "bias": True})]
EPOCHS = 24


class Pair:
    """One run in a folder of its own, and the runs that it is compared with."""

    def __init__(self, tools, graph, at):
        self.tools, self.graph = tools, graph
        self.flags, self.network = MODELS[at % len(MODELS)]
        self.network = self.network | {"widths": [6, 8, 3]}
        self.dropout = 0.4 if at % 2 else 0.1
        for name in ("c", "e", "e.npy", "w.st"):
            tools.remove(name)

    def plan(self, ranks):
        self.tools.plan(f"--graph g.npz --hidden 8 --ranks {ranks} --dropout {self.dropout} {self.flags} "
                        f"-o t{ranks}.json")

    def train(self, ranks, processes, flags, epochs=EPOCHS, code=0):
        return self.tools.train(
            f"t{ranks}.json --data g.npz --epochs {epochs} --eval-every 1 --lr 0.1 --autotune 0 --report r.json "
            f"{flags}", ranks, processes, code)

    def check(self, embeddings, keeps_best):
        tools, weights = self.tools, read_weights(self.tools / "w.st")
        saved = read_embeddings(tools / embeddings)
        tools.plan(f"--task infer --graph g.npz --hidden 8 {self.flags} -o i.json")
        tools.train("i.json --data g.npz --load-weights w.st --save-embeddings i.npy -q")
        difference = far(saved, read_embeddings(tools / "i.npy"), 1e-5)
        require(difference is None, f"embeddings are not those of the weights by an inference: {difference}")
        difference = far(saved, Network(self.graph, self.network, weights).outputs()[-1], 1e-5)
        require(difference is None, f"embeddings are not those of the weights by definition: {difference}")
        report = tools.report("r.json")
        epoch = report["epochs"][(report["best_epoch"] if keeps_best else len(report["epochs"])) - 1]
        require({name: epoch[f"{name}_accuracy"] for name in self.graph.split} == accuracies(saved, self.graph),
                f"the accuracies of {epoch} are not those of the embeddings")
        checkpoints = sorted((tools / "c").glob("*.safetensors"))
        if checkpoints:
            kept = read_weights(checkpoints[-1])
            prefix = "best." if keeps_best else ""
            require(all(kept[prefix + name] == value for name, value in weights.items()),
                    "the weights are not those of the last checkpoint")


def check_pair(pair, ranks, processes, best, form, patience, course):
    flags = f"--save-weights w.st --save-embeddings {form} --checkpoint c --checkpoint-every 5"
    flags += " --keep-best" if best else ""
    flags += " --patience 9" if patience else ""
    others = {1: 3, 2: 1, 3: 4, 4: 2}[ranks]
    for count in {ranks, others}:
        pair.plan(count)
    if course == "once":
        pair.train(ranks, processes, flags)
    elif course == "interrupted":
        pair.train(ranks, processes, f"{flags} --time-limit 1s", epochs=10**7, code=75)
        require(not (pair.tools / form).exists(), "embeddings of an interrupted run")
        done = len(pair.tools.report("r.json")["epochs"])
        pair.train(others, False, f"{flags} --resume auto", epochs=done + 3)
    else:  # on other ranks, from the middle or after the end
        first = EPOCHS if course == "finished" else EPOCHS // 2
        pair.train(others, False, flags.replace(f"--save-embeddings {form}", ""), epochs=first)
        pair.tools.remove("w.st")
        pair.train(ranks, processes, f"{flags} --resume auto")
    pair.check(form, best)


def pairs(processes):
    """Every number of ranks with every course and best or last weights; the rest in turns."""
    forms, turn = ["e.npy", "e/"], 0
    for ranks, best, course in itertools.product((1, 2, 3, 4), (True, False), ("once", "resumed", "finished")):
        turn += 1
        yield ranks, processes and ranks > 1 and turn % 3 == 0, best, forms[turn % 2], turn % 4 == 1, course
    for ranks, best in ((2, True), (3, True), (1, False)):
        yield ranks, processes and ranks == 2, best, forms[0], False, "interrupted"


def check_patience_with_infinite_weights(tools, graph):
    """The last update before patience ends a run may make weights infinite, and no later epoch would find that out. All
    vertices are then classified as class 0, which no validation vertex of this graph has."""
    moved = [v for v in graph.split["valid"] if graph.labels[v] == 0]
    split = {"valid": [v for v in graph.split["valid"] if v not in moved], "test": graph.split["test"] + moved}
    write_npz(replace(graph, split=graph.split | split), tools / "h.npz")
    tools.plan("--graph h.npz --hidden 8 --ranks 2 --optimizer sgd -o p.json")
    said = tools.train("p.json --data h.npz --epochs 50 --eval-every 1 --patience 1 --lr 1e-5 --weight-decay 1e30 "
                       "--autotune 0 --save-weights h.st --save-embeddings h.npy", 2, code=1)
    require("the last update made weights that are not finite" in said, said)
    require(not (tools / "h.st").exists() and not (tools / "h.npy").exists(), "infinite weights were handed out")


def test(tools):
    graph = blobs(11, noise=4.0)
    write_npz(graph, tools / "g.npz")
    failures = []
    check_patience_with_infinite_weights(tools, graph)
    for at, case in enumerate(pairs(bool(tools.mpirun))):
        pair = Pair(tools, graph, at + at // len(MODELS))
        try:
            check_pair(pair, *case)
        except (Failed, OSError) as failure:
            failures.append(f"{case} with {pair.network}: {failure}")
    return failures


if __name__ == "__main__":
    run_test(__doc__, test)
