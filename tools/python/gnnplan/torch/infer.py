"""One pass over all vertices with given weights: logits, and how good they are."""

import time

import numpy

from . import report
from .._errors import make
from .errors import UNAVAILABLE, USAGE
from .passes import gathered
from .work import SUBSETS, Work, f1_of


def check_options(options, infers):
    """Refuses what only the other task has."""
    of_other = (("epochs", "lr", "weight_decay", "eval_every", "save_weights") if infers
                else ("save_logits",))
    for name in of_other:
        if getattr(options, name) is not None:
            raise make(USAGE, f"--{name.replace('_', '-')} is for plans of "
                       f"{'training' if infers else 'inference'}: leave it out, or make a plan "
                       f"with --task {'train' if infers else 'infer'}")
    if options.save_logits and not options.load_weights:
        raise make(USAGE, "Logits of weights that nobody trained look like any others: give "
                   "--load-weights too")


class Inference(Work):
    """One rank's part of an inference."""

    def run(self):
        self.setup_seconds = self.set_up()
        self.rank.settings.training = False
        begin = time.perf_counter()
        self.passes.run("epoch")
        own = time.perf_counter() - begin
        self.passes.check("epoch")
        self.pass_seconds = max(gathered(own, self.plan.ranks))
        counted = self.counted()
        logits = self.logits()
        if self.wire.rank == 0:
            self.finish(logits, counted)

    def logits(self):
        """Those of all vertices, in the numbering of the data."""
        name = self.plan.output
        rows, columns = self.rank.block(name)
        own = rows, columns, self.rank.values[name].cpu().numpy()
        tensor = self.plan.tensors[name]
        whole = numpy.empty((tensor.rows, tensor.columns), numpy.float32)
        for rows, columns, values in gathered(own, self.plan.ranks):
            whole[self.rank.graph.vertex[slice(*rows)], slice(*columns)] = values
        return whole

    def finish(self, logits, counted):
        scores = self.scores(logits)
        if self.options.save_logits:
            save(self.options.save_logits, logits)
        if not self.options.quiet:
            said = "".join(f"  {name} {100 * share:.1f} %" for name, share in
                           next(iter(scores.values()), {}).items() if share is not None)
            print(f"pass {self.pass_seconds:.3f} s{said}", flush=True)
        if self.options.report:
            report.write(self, report.of_inference(self, scores), counted)

    def scores(self, logits):
        """Accuracies, or micro-F1 of several labels, where the data has labels and a split."""
        if self.data.labels is None or not any(self.labelled.values()):
            return {}
        several, known = self.data.labels.ndim == 2, self.data.known()
        found = {}
        for name, which in SUBSETS:
            counted = known & ((self.data.subset == which)[:, None] if several
                               else self.data.subset == which)
            labels = self.data.labels[counted]
            if several:
                above = logits[counted] > 0
                found[name] = f1_of((above & (labels == 1)).sum(), (above != (labels == 1)).sum())
            else:
                right = logits.argmax(1)[counted] == labels
                found[name] = right.mean() if right.size else None
            found[name] = None if found[name] is None else float(found[name])
        return {"f1" if several else "accuracies": found}


def save(path, logits):
    wrong = int((~numpy.isfinite(logits)).sum())
    if wrong:
        raise make(UNAVAILABLE, f"{path} is not written, as {wrong} logits are not finite: look "
                   "for features, edges or weights that are too large for sums in fp32")
    with open(path, "wb") as file:
        numpy.save(file, logits)
