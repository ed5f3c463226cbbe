"""Runs the steps of a phase in order, counts what each sends, and compares it with the plan."""

import torch.distributed as dist

from .._errors import make
from .errors import INTERNAL
from .predicted import bytes_of
from .steps import RUN

RATE, DECAY = 0.01, 5e-4  # of learning and of weights, where nothing else is asked for


class Settings:
    """The settings of one pass over a phase."""

    def __init__(self, options, inverse_count, momentum):
        self.rate = RATE if options.lr is None else options.lr
        self.weight_decay = DECAY if options.weight_decay is None else options.weight_decay
        self.momentum, self.inverse_count = momentum, inverse_count
        self.epoch, self.training = 1, True


class Passes:
    """The phases of a schedule on one rank."""

    def __init__(self, plan, rank):
        self.plan, self.rank = plan, rank
        self.predicted = {}
        self.sent, self.checked = {}, set()
        made = {"loss": "loss", "score": "counts", "rank_sum": "sums"}
        self.results = {step[made[step.kind]] for step in plan.steps if step.kind in made} | {plan.output}
        self.done_with = {phase: self._last_uses(phase)
                          for phase in ("setup", "epoch", "evaluation")}

    def run(self, phase):
        self.rank.wire.received = 0
        for step in self.plan.of_phase(phase):
            self.rank.wire.sent = 0
            RUN[step.kind](step, self.rank)
            self.sent[step.name] = self.rank.wire.sent
            for name in self.done_with[phase].get(step.name, ()):
                self.rank.values.pop(name, None)

    def check(self, phase):
        """Compares the bytes of a phase with the prediction, once, on all ranks alike.

        Where an epoch has batches of its own it has bytes of its own, too.
        """
        batches = phase == "epoch" and "batches" in self.plan.problem
        if phase in self.checked and not batches:
            return
        self.checked.add(phase)
        self.predicted.update(bytes_of(self.plan, self.rank.graph, self.plan.of_phase(phase)))
        counted = self.counted(phase)
        for name, sent in counted.items():
            if sent != self.predicted[name]:
                raise make(INTERNAL, f"Step {name} has sent {sent} bytes by rank, and the "
                           f"plan predicts {self.predicted[name]}: report this plan, and "
                           "train it with gnnrun")
        if phase == "epoch" and not batches and not self.plan.predicted["estimate"]:
            self._check_totals(counted)

    def _check_totals(self, counted):
        """Compares an epoch with the totals that are in the plan itself."""
        sent = [sum(of_steps) for of_steps in zip(*counted.values())]
        received = gathered(self.rank.wire.received, self.plan.ranks)
        for key, found in (("total_bytes", sum(sent)), ("max_rank_bytes", max(sent + received))):
            if found != self.plan.predicted[key]:
                raise make(INTERNAL, f"The steps of an epoch have {key} {found}, and the plan "
                           f"predicts {self.plan.predicted[key]}: report this plan, and "
                           "train it with gnnrun")

    def counted(self, phase):
        """By the name of a step, what each rank has sent."""
        own = [self.sent[step.name] for step in self.plan.of_phase(phase)]
        of_ranks = gathered(own, self.plan.ranks)
        return {step.name: [sent[i] for sent in of_ranks]
                for i, step in enumerate(self.plan.of_phase(phase))}

    def _last_uses(self, phase):
        """By the name of a step, the transient tensors that the phase does not read after it."""
        last = {}
        for step in self.plan.of_phase(phase):
            for name in step.operands(self.plan.tensors):
                last[name] = step.name
        done = {}
        for name, step in last.items():
            if self.plan.tensors[name].role in ("transient", "edges", "summands") and name not in self.results:
                done.setdefault(step, []).append(name)
        return done


def gathered(value, ranks):
    """The values of all ranks, which are not counted as messages of the plan."""
    if ranks == 1:
        return [value]
    values = [None] * ranks
    dist.all_gather_object(values, value)
    return values
