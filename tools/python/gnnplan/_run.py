"""Training and inference by a plan, on ranks that are threads of this process."""

import json
import os
import sys
import tempfile

import numpy

from . import _core, _names, safetensors
from ._data import Data
from ._errors import UsageError, naming
from ._options import words
from ._wait import call


# Messages name a caller's things in place of the temporary files and folders that stand for them.
WORDS = {"given.safetensors": "weights", "weights.safetensors": "run.weights", "logits.npy": "run.logits",
         "checkpoints": "the checkpoint of an interruption"}


class Run:
    """A run leaves a `report` with the keys of docs/plan-format.md, `weights` by name, and `logits` where asked for."""

    def __init__(self, plan, report, notes, weights=None, logits=None, resume_from=None):
        self.plan, self.report, self.notes, self.weights, self.logits = plan, report, notes, weights, logits
        self.resume_from = resume_from

    @property
    def history(self):
        """One dict an epoch."""
        return self.report.get("epochs", [])

    @property
    def diverged(self):
        """The loss was no number in the end; there are no weights then."""
        return self.report.get("ending") == "diverged"

    @property
    def interrupted(self):
        return self.report.get("ending") == "interrupted"

    def state_dict(self, framework="pyg"):
        """The weights for load_state_dict() of torch_geometric.nn.GCN or GraphSAGE; needs PyTorch."""
        return _names.state_dict(self.weights, self.plan.document["problem"]["model"]["name"], framework)

    def __repr__(self):
        epochs = self.history
        loss = epochs[-1]["loss"] if epochs else None
        last = "" if loss is None else f", loss {loss:.4g}"
        ending = self.report.get("ending")
        return f"<gnnplan.Run of {len(epochs)} epochs{last}{f', {ending}' if ending else ''}>"


def _bar(total):
    def show(epoch):
        loss = epoch["loss"]
        sys.stderr.write(f"\repoch {epoch['epoch']}/{total}  loss {'-' if loss is None else format(loss, '.4f')}")
        sys.stderr.flush()
    return show


def _check_task(plan, infers):
    if (plan.document["problem"].get("task") == "infer") == infers:
        return
    what, other = ("inference", "train") if not infers else ("training", "infer")
    raise UsageError(64, f"the plan is of {what}", "plan", f"call {other}(), or plan with task=\"{'infer' if infers else 'train'}\"")


def _file_of(weights, folder):
    """The file of a Run's weights, of a dict of arrays, or the one that is named."""
    if isinstance(weights, Run):
        weights = weights.weights
        if weights is None:
            raise UsageError(64, "the run left no weights", "weights")
    if not isinstance(weights, dict):
        return weights
    written = os.path.join(folder, "given.safetensors")
    safetensors.save(weights, written)
    return written


def _run(plan, data, options, on_epoch, folder, outputs):
    for taken in ("save_weights", "save_logits"):
        if taken in options:
            raise UsageError(64, "what a run leaves is returned", taken, "use run.weights, or logits=True and run.logits")
    stop = _core.Stop()
    failed = []

    def hear(line):
        try:
            on_epoch(json.loads(line))
        except BaseException as error:  # the run ends first
            failed.append(error)
            stop.tell()

    chosen = data if data is not None else plan.data
    if chosen is None:
        raise UsageError(64, "the data that the plan was made for is not known", "data", "say data=")
    path = chosen.path if isinstance(chosen, Data) else os.fspath(chosen)
    options.setdefault("timeout", 0)
    arguments = ["plan", *words(data=path, in_process=plan.ranks > 1 or None, **options), *words(**outputs)]
    if "checkpoint" not in options and plan.document["problem"].get("task") != "infer":
        arguments += ["--checkpoint", os.path.join(folder, "checkpoints")]  # of an interrupted run, which goes with it
    with naming({os.path.join(folder, name): word for name, word in WORDS.items()}):
        ran = call(lambda: _core.run(arguments, plan.json, None if on_epoch is None else hear, stop), stop.tell)
    if failed:
        raise failed[0]
    return ran


def train(plan, data=None, *, epochs=None, on_epoch=None, progress=False, logits=False, **options):
    """Trains, and returns a Run. `data`: where the plan does not know it. `on_epoch` gets a dict after each epoch. All
    options of gnnrun are taken by their names: lr=0.01, seed=1, autotune=0, checkpoint="folder". Ctrl-C ends the
    training after its epoch; what it returns then says where to resume from, if a folder for checkpoints was named."""
    _check_task(plan, False)
    if progress and on_epoch is None:
        on_epoch = _bar(epochs or plan.document["problem"].get("run", {}).get("epochs", "?"))
    with tempfile.TemporaryDirectory() as folder:
        outputs = {"save_weights": os.path.join(folder, "weights.safetensors")}
        if "load_weights" in options:
            options["load_weights"] = _file_of(options["load_weights"], folder)
        if isinstance(options.get("resume"), Run):
            options["resume"] = options["resume"].resume_from
            if options["resume"] is None:
                raise UsageError(64, "the run left no checkpoint to resume from", "resume", "train with checkpoint=\"folder\"")
        if logits:
            outputs["save_logits"] = os.path.join(folder, "logits.npy")
        ran = _run(plan, data, dict(options, epochs=epochs), on_epoch, folder, outputs)
        weights = safetensors.load(outputs["save_weights"]) if os.path.exists(outputs["save_weights"]) else None
        values = numpy.load(outputs["save_logits"]) if logits and os.path.exists(outputs["save_logits"]) else None
    if progress:
        sys.stderr.write("\n")
    resume = ran.resume_from if "checkpoint" in options else None
    return Run(plan, json.loads(ran.report), ran.notes, weights, values, resume)


def infer(plan, data=None, weights=None, **options):
    """Makes the pass of a plan of task="infer", and returns a Run whose `logits` are [vertices, classes]. `weights`: a
    dict of arrays, a Run, or the name of a file. After Ctrl-C the Run is `interrupted`, and its `logits` are None."""
    _check_task(plan, True)
    with tempfile.TemporaryDirectory() as folder:
        outputs = {"save_logits": os.path.join(folder, "logits.npy")}
        ran = _run(plan, data, dict(options, load_weights=_file_of(weights, folder)), None, folder, outputs)
        values = numpy.load(outputs["save_logits"]) if os.path.exists(outputs["save_logits"]) else None  # interrupted
        return Run(plan, json.loads(ran.report), ran.notes, None, values)
