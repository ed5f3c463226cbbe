"""Training and inference share the data, the numbered graph, one rank's state, and the setup."""

import time

from . import weights
from .batches import Batches
from .data import TEST, TRAIN, VALID, Data
from .matrix import Graph
from .order import number_vertices
from .passes import Passes, Settings
from .rank import Rank

SUBSETS = (("train", TRAIN), ("valid", VALID), ("test", TEST))


class Work:
    """One rank's part of a run."""

    def __init__(self, plan, options, wire):
        self.plan, self.options, self.wire = plan, options, wire
        self.data = Data(options.data, plan)
        graph = Graph(self.data, plan)
        number_vertices(graph, self.data, plan)
        self.labelled = {name: self.data.counted(which) for name, which in SUBSETS}
        self.rank = Rank(plan, graph, self.data, wire, options.seed)
        if options.load_weights:
            self.rank.set_parameters(weights.load(options.load_weights, plan))
        self.batches = Batches(plan, graph, self.data) if "batches" in plan.problem else None
        losses = self.labelled["train"] * (self.batches.per_update if self.batches else 1)
        self.rank.settings = Settings(options, 1.0 / max(1, losses), plan.run.get("momentum", 0.0))
        self.passes = Passes(plan, self.rank)

    def set_up(self):
        """The work before the first pass; returns its seconds."""
        begin = time.perf_counter()
        self.passes.run("setup")
        self.passes.check("setup")
        return time.perf_counter() - begin

    def counted(self):
        """By phase and step, what each rank has sent."""
        return {phase: self.passes.counted(phase)
                for phase in ("setup", "epoch", "evaluation") if phase in self.passes.checked}


def f1_of(right, wrong):
    """Micro-F1 of so many true positives, and of false positives and negatives together."""
    return 2 * right / (2 * right + wrong) if right + wrong else 1.0
