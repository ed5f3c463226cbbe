"""The training loop: setup once, then epochs, evaluations and the report."""

import time

import torch

from . import report, weights
from .areas import area_of
from .._errors import make
from .errors import UNAVAILABLE
from .passes import gathered
from .work import SUBSETS, Work, f1_of


class Training(Work):
    """One rank's part of a training."""

    def __init__(self, plan, options, wire):
        super().__init__(plan, options, wire)
        self.epochs = options.epochs or plan.run.get("epochs", 200)
        self.records = []

    def run(self):
        setup_seconds = self.set_up()
        for epoch in range(1, self.epochs + 1):
            record = self.train(epoch)
            self.passes.check("epoch")
            if self.evaluates(epoch):
                self.evaluate(record)
                self.passes.check("evaluation")
            self.records.append(record)
            self.say(record)
            if not torch.isfinite(torch.tensor(record["loss"])):
                raise make(UNAVAILABLE, f"The loss is no longer finite after epoch {epoch}: "
                           "train with a lower --lr")
        self.finish(setup_seconds)
        return self.records

    def train(self, epoch):
        settings = self.rank.settings
        settings.epoch, settings.training = epoch, True
        begin = time.perf_counter()
        if self.batches:
            self.batches.take(epoch, self.rank)
        self.passes.run("epoch")
        name = next(step["loss"] for step in self.plan.of_phase("epoch") if step.kind == "loss")
        value = float(self.rank.values[name][0, 0])
        return {"epoch": epoch, "loss": value * settings.inverse_count,
                "seconds": time.perf_counter() - begin}

    def evaluates(self, epoch):
        every = self.options.eval_every
        if every is None:
            every = self.plan.run.get("eval_every", 10)
        return bool(every) and (epoch % every == 0 or epoch == self.epochs)

    def result(self, kind, key):
        """The result of a step of the evaluation, as lists; None where there is no such step."""
        for step in self.plan.of_phase("evaluation"):
            if step.kind == kind:
                return self.rank.values[step[key]].tolist()
        return None

    def evaluate(self, record):
        """Accuracies, or micro-F1 of several labels, after the update."""
        self.rank.settings.training = False
        if self.batches:
            self.batches.leave(self.rank)
        self.passes.run("evaluation")
        counts = self.result("score", "counts")[0]
        sums = self.result("rank_sum", "sums")
        several = self.data.labels.ndim == 2
        for i, (subset, _) in enumerate(SUBSETS):
            labelled = self.labelled[subset]
            if several:
                share = f1_of(counts[3 * i], counts[3 * i + 1] + counts[3 * i + 2])
            else:
                share = counts[i] / labelled if labelled else None
            record[subset + ("_f1" if several else "_accuracy")] = share
            if sums:
                record[subset + "_rocauc"] = area_of(sums, i)
        rest = counts[9 if several else 3:]
        if rest and self.labelled["valid"]:
            record["valid_loss"] = rest[0] / self.labelled["valid"]

    def say(self, record):
        if self.wire.rank or self.options.quiet:
            return
        scores = ""
        for subset, _ in SUBSETS:
            share = record.get(subset + "_accuracy", record.get(subset + "_f1"))
            scores += f"  {subset} {100 * share:.1f} %" if share is not None else ""
        print(f"epoch {record['epoch']:<4} loss {record['loss']:.6f}{scores}", flush=True)

    def finish(self, setup_seconds):
        seconds = gathered([record["seconds"] for record in self.records], self.plan.ranks)
        for i, record in enumerate(self.records):
            record["seconds"] = max(of_rank[i] for of_rank in seconds)
        counted = self.counted()
        if self.wire.rank == 0:
            if self.options.save_weights:
                weights.save(self.options.save_weights, self.rank.parameters())
            if self.options.report:
                report.write(self, report.of_training(self, setup_seconds, counted), counted)
