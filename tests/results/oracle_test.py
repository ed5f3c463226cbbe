#!/usr/bin/env python3
"""Compares runs of the tools with the definitions of the models in double precision (network.py), on problems that are
drawn anew each time: the model and its options, the graph and the magnitude of its features, the distribution of the
run, and the form in which results are written. GNNPLAN_ORACLE_SEED=S draws from S on, so that the first problem is that
of a failure; GNNPLAN_ORACLE_DRAWS is the number of problems."""

import itertools
import math
import os
import random

from drawing import draw_graph, draw_network, draw_pins, draw_weights, flags_of
from files import flat, read_embeddings, read_npy, read_weights, rounded, write_npz, write_ogb, write_weights
from network import Network, has_several, scores
from tools import Failed, Tools, require, run_test

# Rounding acts as if each number had been read with an error of some units of float32's last place. This many runs with
# such errors show how far results move, and results may be off by a multiple of that, and of the row's own last places.
NUDGE, NUDGED_RUNS, MULTIPLE, LAST_PLACES = 3e-7, 4, 8, 4e-6
# Results are not compared where they are beyond LARGEST, as terms of their sums may be beyond float32, nor where they
# may be off by more than UNCLEAR of their row: all later layers then depend on how float32 rounded them.
LARGEST, UNCLEAR = 1e37, 1e-2


def nudged(draw, rows):
    if not isinstance(rows, list):
        return rows * (1 + draw.choice([-NUDGE, NUDGE]))
    return [nudged(draw, row) for row in rows]


def nudged_network(draw, graph, network, weights):
    other = type(graph)(**vars(graph) | {"features": nudged(draw, graph.features)})
    return Network(other, network, {name: nudged(draw, value) for name, value in weights.items()},
                   lambda score: nudged(draw, score))


class Expected:
    """The outputs of each layer by definition, and how far float32 may be from them."""

    def __init__(self, draw, graph, network, weights):
        self.outputs = Network(graph, network, weights).outputs()
        others = [nudged_network(draw, graph, network, weights).outputs() for _ in range(NUDGED_RUNS)]
        self.tolerances = [self.tolerance(rows, [other[layer] for other in others])
                           for layer, rows in enumerate(self.outputs)]
        self.clear = all(abs(x) < LARGEST for rows in self.outputs for x in flat(rows)) and all(
            max(within) <= UNCLEAR * max(map(abs, row)) for rows, tolerances in zip(self.outputs, self.tolerances)
            for row, within in zip(rows, tolerances) if any(within))

    @staticmethod
    def tolerance(rows, others):
        def of(v, j):
            spread = max(abs(other[v][j] - rows[v][j]) for other in others)
            return MULTIPLE * spread + LAST_PLACES * max(map(abs, rows[v]))

        return [[of(v, j) for j in range(len(row))] for v, row in enumerate(rows)]

    def compare(self, made, layer=-1):
        rows, tolerances = self.outputs[layer], self.tolerances[layer]
        require(len(made) == len(rows) and len(made[0]) == len(rows[0]),
                f"layer {layer} is {len(made)} x {len(made[0])}")
        for v, row in enumerate(made):
            near = all(abs(a - b) <= t for a, b, t in zip(row, rows[v], tolerances[v]))
            require(near, f"vertex {v} of layer {layer}:\n  made     {row}\n  expected {rows[v]}\n"
                          f"  within   {tolerances[v]}")


class Drawn:
    def __init__(self, tools, seed):
        self.tools, self.draw = tools, random.Random(seed)
        self.network = draw_network(self.draw)
        self.graph = draw_graph(self.draw, self.network)
        self.weights = draw_weights(self.draw, self.network)
        self.ranks = self.draw.choice([1, 2, 2, 3, 4, 4, 6])
        self.task = self.draw.choice(["infer", "infer", "train"])
        self.asked = f"--task {self.task} {flags_of(self.network)}"
        if self.task == "train":
            self.asked += " --optimizer sgd --epochs 1 --eval-every 1" + " --rocauc" * has_several(self.graph)
        elif "hops" not in self.network and self.draw.random() < 0.2:
            self.asked += " --fanout 1000"  # more than there are, so that all are drawn
        self.processes = bool(tools.mpirun) and self.ranks > 1 and self.draw.random() < 0.1
        self.data = "g" if self.draw.random() < 0.3 and not self.graph.weighted else "g.npz"
        self.command = ""
        for name in ("g", "g.npz", "e", "e.npy", "layers", "w1.st"):
            tools.remove(name)

    def plan(self):
        """Plans, and leaves out pins until the others go together."""
        pins = draw_pins(self.draw, self.network, self.task)
        while True:
            self.command = f"--graph {self.data} --ranks {self.ranks} {self.asked} {' '.join(pins)} -o p.json"
            code, said = self.tools.plan(self.command, None)
            if code == 0:
                return
            require(code in (3, 64) and any(pins), f"planning ended with {code}: {said}")
            pins.pop()

    def run(self, flags):
        self.tools.train(f"p.json --data {self.data} --feature-norm {self.network['feature_norm']} --load-weights w.st "
                         f"{flags}", self.ranks, self.processes)

    def infer(self):
        expected = Expected(self.draw, self.graph, self.network, self.weights)
        if not expected.clear:
            return
        self.plan()
        model = self.network["model"]
        of_several = model == "gcnii" and self.network["teleport"] > 0 or model == "sign" and self.network["hops"] > 2
        one_each = self.network.get("jk") != "concat" and self.network.get("residual") != "sums" and not of_several
        layered = one_each and self.draw.random() < 0.4
        form = self.draw.choice(["e.npy", "e/"])
        self.run(f"--save-embeddings {form} {'--save-layers layers' if layered else ''}")
        expected.compare(read_embeddings(self.tools / form))
        if layered:
            self.resume(expected, form)

    def resume(self, expected, form):
        """All layers are right, and a run on another number of ranks goes on behind some of them."""
        layers = len(expected.outputs)
        for layer in range(layers):
            expected.compare(read_npy(self.tools / f"layers/layer-{layer + 1}.npy"), layer)
        for layer in range(self.draw.randrange(1, layers), layers) if layers > 1 else ():
            self.tools.remove(f"layers/layer-{layer + 1}.npy")
        self.tools.remove(form.rstrip("/"))
        self.ranks = self.draw.choice([1, 2, 3, 4])
        self.plan()
        self.run(f"--resume layers --save-embeddings {form}")
        expected.compare(read_embeddings(self.tools / form))

    def train(self):
        """One step of SGD: the loss before it, its gradient along some directions, and outputs of the new weights."""
        for row in self.graph.features:  # differences of losses tell nothing of gradients at odd magnitudes
            row[:] = [rounded(self.draw.uniform(-1, 1)) for _ in row]
        self.write()
        self.plan()
        self.run("--lr 1 --weight-decay 0 --save-weights w1.st --save-embeddings e.npy --report r.json --autotune 0")
        epoch = self.tools.report("r.json")["epochs"][0]
        loss = Network(self.graph, self.network, self.weights).loss()
        require(math.isclose(epoch["loss"], loss, rel_tol=1e-5, abs_tol=1e-6),
                f"the loss is {epoch['loss']}, not {loss}")
        after, embeddings = read_weights(self.tools / "w1.st"), read_embeddings(self.tools / "e.npy")
        self.compare_gradient(after, max(1.0, loss))
        expected = Expected(self.draw, self.graph, self.network, after)
        if expected.clear:
            expected.compare(embeddings)
        for key, value in scores(embeddings, self.graph).items():
            found = epoch.get(key)
            require((found is None) == (value is None) and (found is None or math.isclose(found, value, rel_tol=1e-12)),
                    f"{key} is {found}, but embeddings say {value}")

    def compare_gradient(self, after, loss):
        step = {name: [a - b for a, b in zip(numbers(value), numbers(after[name]))]
                for name, value in self.weights.items() if ".running_" not in name}
        length = math.sqrt(sum(x * x for values in step.values() for x in values))
        for _ in range(3):
            direction = {name: [self.draw.choice([-1.0, 1.0]) for _ in values] for name, values in step.items()}
            along = sum(a * b for name, values in step.items() for a, b in zip(values, direction[name]))
            h = 1e-6
            above, below = (Network(self.graph, self.network, self.moved(direction, at)).loss() for at in (h, -h))
            slope = (above - below) / (2 * h)
            # Where a maximum has ties, or an activation a kink, the loss has no slope but one to each side.
            if abs(above - 2 * Network(self.graph, self.network, self.weights).loss() + below) > 1e-4 * length * h:
                continue
            require(abs(along - slope) <= 1e-3 * length + 1e-5 * loss,
                    f"the step along {direction} is {along}, and the loss falls by {slope}")

    def moved(self, direction, h):
        result = {}
        for name, value in self.weights.items():
            moved = [x + h * d for x, d in zip(numbers(value), direction.get(name) or itertools.repeat(0.0))]
            width = len(value[0]) if isinstance(value[0], list) else 0
            result[name] = [moved[i:i + width] for i in range(0, len(moved), width)] if width else moved
        return result

    def write(self):
        (write_npz if self.data == "g.npz" else write_ogb)(self.graph, self.tools / self.data)
        write_weights(self.weights, self.tools / "w.st")

    def check(self):
        self.write()
        if self.task == "infer":
            self.infer()
        else:
            self.train()


def numbers(value):
    return flat(value) if isinstance(value[0], list) else value


def test(tools):
    chosen = os.environ.get("GNNPLAN_ORACLE_SEED")
    first = int(chosen) if chosen else random.SystemRandom().randrange(10**9)
    for seed in range(first, first + int(os.environ.get("GNNPLAN_ORACLE_DRAWS", "100"))):
        drawn = Drawn(tools, seed)
        try:
            drawn.check()
        except (Failed, OSError) as failure:
            yield f"GNNPLAN_ORACLE_SEED={seed}: {drawn.network}\n  {drawn.command}\n{failure}"


if __name__ == "__main__":
    run_test(__doc__, test)
