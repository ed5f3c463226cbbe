#!/usr/bin/env python3
"""Does gnnplan.torch train as gnnrun does, and send what the plan predicts?

    torch_test.py --bin FOLDER [unittest's arguments]

FOLDER has gnnplan and gnnrun. Plans of several schemes, grids, orders and models are made for small
graphs. Each is trained by gnnrun and by ranks of gnnplan.torch, which are processes of this
machine; the losses of all epochs are compared, the scores after the last one, and the bytes of each
step and rank. Exit status 77 where there is no PyTorch.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "python"
sys.path.insert(0, str(PACKAGE))

try:
    import numpy
    import torch
    from gnnplan import safetensors
    from gnnplan._errors import Error
    from gnnplan.torch import __main__ as program, passes
    from gnnplan.torch.plan import Step
    from gnnplan.torch.steps import check_step
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

EPOCHS = 3
TOLERANCE = 1e-5  # losses are of float32, and sums in different orders
GRAPHS = {
    "plain": "planted --vertices 300 --nonzeros 3000 --features 20 --classes 5",
    "directed": "rmat --vertices 203 --nonzeros 2000 --features 13 --classes 4 --directed",
}
DROP = "--dropout 0.5"
HEADS = "--model gat --attention-dropout 0.4 --heads"
UPDATE = "--coverage 3 --batches-per-update"  # three updates take more batches than there are
STORED = "--attention stored"
CASES = {  # graph, ranks, flags of gnnplan plan
    "one rank": ("plain", 1, ""),
    "one rank, dropout": ("directed", 1, DROP),
    "1d, two ranks, panels": ("plain", 2, "--scheme 1d --exchange panels --loss-rows off"),
    "1d, two ranks, rows, dropout": ("directed", 2, f"--scheme 1d --exchange rows {DROP}"),
    "1d, three ranks, overlap": ("plain", 3, "--scheme 1d --overlap on --forward DD"),
    "1d, four ranks, rows of the loss": ("directed", 4, "--scheme 1d --loss-rows on --forward SS"),
    "1d, four ranks, shuffled, dropout":
        ("plain", 4, f"--scheme 1d --permute on --exchange rows --overlap on {DROP}"),
    "rdm 1x2, dropout": ("plain", 2, f"--scheme rdm --grid 1x2 --forward SD {DROP}"),
    "rdm 1x3, DS": ("directed", 3, "--scheme rdm --grid 1x3 --forward DS --backward S-"),
    "rdm 1x4": ("plain", 4, "--scheme rdm --grid 1x4 --forward DD --backward D-"),
    "rdm 1x4, paper": ("plain", 4, "--scheme rdm --space paper --forward SD --backward SS"),
    "rdm 2x2, rows, dropout": ("directed", 4, f"--scheme rdm --grid 2x2 --exchange rows {DROP}"),
    "rdm 2x2, panels": ("plain", 4, "--scheme rdm --grid 2x2 --exchange panels --node-axis x"),
    "1.5d 2x1x2": ("plain", 4, "--scheme 1.5d --grid 2x1x2 --exchange panels"),
    "1.5d 2x1x2, rows, dropout": ("directed", 4, f"--scheme 1.5d --grid 2x1x2 --forward DS {DROP}"),
    "1.5d 1x1x3": ("plain", 3, "--scheme 1.5d --grid 1x1x3 --loss-rows off"),
    "1.5d 2x2, dealt": ("directed", 4, "--scheme 1.5d --grid 2x2"),
    "2d 2x2, stored": ("plain", 4, "--scheme 2d --values stored --exchange rows"),
    "2d 2x2, factored, dropout": ("directed", 4, f"--scheme 2d --values factored {DROP}"),
    "1d, four ranks, relay": ("directed", 4, "--scheme 1d --exchange relay"),
    "1d, four ranks, relay, overlap": ("plain", 4, "--scheme 1d --exchange relay --overlap on"),
    "1d, four ranks, relayed rows": ("directed", 4, "--scheme 1d --exchange relayed-rows"),
    "1d, three ranks, relayed rows, overlap":
        ("plain", 3, "--scheme 1d --exchange relayed-rows --overlap on"),
    "2d 2x2, relay": ("directed", 4, "--scheme 2d --exchange relay --node-axis x"),
    "2d 1x3, overlap": ("directed", 3, "--scheme 2d --grid 1x3 --values stored --overlap on"),
    "3d 1x2x2": ("plain", 4, "--scheme 3d --values stored"),
    "3d 2x1x2 or so, dropout": ("directed", 4, f"--scheme 3d --overlap off {DROP}"),
    "three layers, biases, elu": ("plain", 2, f"--layers 3 --bias --activation elu {DROP}"),
    "three layers, residual, jk":
        ("directed", 4, f"--layers 3 --bias --residual --jk concat --activation leaky_relu {DROP}"),
    "maps before and behind": ("plain", 2, "--pre 9 --post 7 --bias --residual linear"),
    "layers made again": ("plain", 2, f"--layers 4 --recompute 2 {DROP}"),
    "sage": ("plain", 1, "--model sage"),
    "sage, four ranks, dropout": ("directed", 4, f"--model sage --scheme rdm --bias {DROP}"),
    "sage, sum, three ranks": ("plain", 3, "--model sage --aggregator sum --scheme 1d"),
    "sage, gcn, two ranks": ("directed", 2, "--model sage --aggregator gcn"),
    "gin, two ranks": ("plain", 2, "--model gin --epsilon 0.1"),
    "gin, trained epsilon": ("directed", 4, f"--model gin --epsilon train --scheme rdm {DROP}"),
    "sgc": ("plain", 2, "--model sgc"),
    "appnp": ("directed", 2, "--model appnp --hops 3"),
    "gcnii": ("plain", 2, f"--model gcnii --layers 3 {DROP}"),
    "layer norm, 1x2": ("plain", 2, f"--norm layer --bias --scheme rdm --grid 1x2 {DROP}"),
    "layer norm, 2x2": ("directed", 4, "--norm layer --scheme rdm --grid 2x2 --layers 3"),
    "layer norm, rows": ("plain", 3, "--norm layer --norm-after activation --loss-rows on"),
    "batch norm, three ranks": ("plain", 3, f"--norm batch --layers 3 --bias {DROP}"),
    "batch norm, 2x2": ("directed", 4, "--norm batch --scheme rdm --grid 2x2"),
    "sage, max, two ranks": ("directed", 2, "--model sage --aggregator max"),
    "sage, pool, 2x2":
        ("plain", 4, f"--model sage --aggregator pool --scheme rdm --grid 2x2 {DROP}"),
    "sage, pool, rows": ("directed", 3, "--model sage --aggregator pool --exchange rows"),
    "sign": ("plain", 2, "--model sign --hops 2"),
    "cut, two ranks": ("plain", 2, "--scheme cut --cut libra"),
    "cut, four ranks, dropout": ("directed", 4, f"--scheme cut --cut libra --grid 4x1 {DROP}"),
    "cut, 2x2": ("directed", 4, "--scheme cut --cut libra --grid 2x2"),
    "several labels, 2x2": ("labels", 4, "--rocauc --scheme rdm --grid 2x2"),
    "several labels, 1d": ("labels", 3, f"--rocauc --scheme 1d {DROP}"),
    "labels of which some are not known": ("masked", 4, "--rocauc --scheme rdm"),
    "two classes, areas": ("two", 2, "--rocauc"),
    "weights of edges": ("weighted", 2, "--edge-weights --scheme 1d"),
    "weights of edges, symmetrised, 2d":
        ("weighted", 4, "--edge-weights --symmetrise --scheme 2d --grid 2x2"),
    "weights of edges, sage": ("weighted", 3, "--edge-weights --model sage"),
    "sgd with momentum": ("plain", 2, "--optimizer sgd --momentum 0.9"),
    "adamw": ("plain", 1, "--optimizer adamw"),
    "rmsprop": ("plain", 1, "--optimizer rmsprop"),
    "features by rows": ("plain", 2, "--feature-norm row --input-dropout 0.3"),
    "bf16, 1d": ("plain", 2, "--bf16 --scheme 1d --exchange panels --layers 3"),
    "bf16, 2x2, dropout": ("directed", 4, "--bf16 --model sage --scheme rdm --grid 2x2 "
                            f"--exchange panels --overlap off {DROP}"),
    "gat, one rank, four heads": ("plain", 1, "--model gat --heads 4 --slope 0.1"),
    "gat, heads averaged, residual": ("directed", 1, f"{HEADS} 9 --average-heads --residual {DROP}"),
    "gat, 1d, panels": ("plain", 2, f"{HEADS} 2 --scheme 1d --exchange panels --loss-rows off"),
    "gat, 1d, rows, dropout": ("directed", 3, f"{HEADS} 2 --scheme 1d --exchange rows {DROP}"),
    "gat, 1d, overlap, rows of the loss":
        ("plain", 4, f"{HEADS} 2 --scheme 1d --exchange panels --overlap on --loss-rows on"),
    "gat, 1d, rows, overlap, shuffled, jk": ("directed", 4, f"{HEADS} 2 --scheme 1d --overlap on "
                                             f"--exchange rows --permute on --jk concat {DROP}"),
    "gat, 1d, relay": ("directed", 4, f"{HEADS} 2 --scheme 1d --exchange relay --overlap on"),
    "gat, 1d, relayed rows": ("plain", 4, f"{HEADS} 2 --scheme 1d --exchange relayed-rows {DROP}"),
    "gat, 1x2, heads whole": ("plain", 2, f"{HEADS} 4 --output-heads 2 --scheme rdm --grid 1x2 {DROP}"),
    "gat, 1x3, heads cut": ("directed", 3, f"{HEADS} 2 --scheme rdm --grid 1x3 {DROP}"),
    "gat, 2x2, heads whole": ("directed", 4, f"{HEADS} 2 --scheme rdm --grid 2x2 --layers 3 {DROP}"),
    "gat, 2x2, rows, heads cut": ("plain", 4, "--model gat --scheme rdm --grid 2x2 --exchange rows"),
    "gat, 2x2, layer norm": ("plain", 4, f"{HEADS} 4 --scheme rdm --grid 2x2 --norm layer"),
    "gat, batch norm": ("directed", 3, f"{HEADS} 2 --norm batch --residual linear"),
    "gat, 2d 2x2": ("directed", 4, f"{HEADS} 2 --scheme 2d --grid 2x2 --exchange rows {DROP}"),
    "gat, 2d 1x3, overlap": ("plain", 3, f"{HEADS} 2 --scheme 2d --grid 1x3 --overlap on"),
    "gat, stored, one rank": ("plain", 1, f"{HEADS} 2 {STORED}"),
    "gat, stored, 1d, rows": ("directed", 3, f"{HEADS} 2 {STORED} --scheme 1d --exchange rows"),
    "gat, stored, 1d, overlap":
        ("plain", 4, f"{HEADS} 2 {STORED} --scheme 1d --exchange panels --overlap on"),
    "gat, stored, 2x2, heads whole": ("directed", 4, f"{HEADS} 4 {STORED} --scheme rdm --grid 2x2"),
    "gat, stored, 1x3, heads cut": ("plain", 3, f"{HEADS} 2 {STORED} --scheme rdm --grid 1x3"),
    "gat, stored, 2x2, heads cut": ("directed", 4, f"--model gat {STORED} --scheme rdm --grid 2x2"),
    "gat, layers made again": ("plain", 2, f"{HEADS} 2 --layers 4 --recompute 2 {DROP}"),
    "agnn": ("plain", 1, f"--model agnn --layers 3 {DROP}"),
    "agnn, 1d, panels, overlap":
        ("directed", 3, "--model agnn --layers 3 --scheme 1d --exchange panels --overlap on"),
    "agnn, 1d, rows, rows of the loss":
        ("plain", 4, f"--model agnn --scheme 1d --exchange rows --loss-rows on {DROP}"),
    "agnn, 1d, relay": ("directed", 4, "--model agnn --scheme 1d --exchange relay"),
    "agnn, 1x3, columns": ("directed", 3, "--model agnn --scheme rdm --grid 1x3 --scores columns"),
    "agnn, 2x2, columns":
        ("plain", 4, f"--model agnn --layers 3 --scheme rdm --grid 2x2 --scores columns {DROP}"),
    "agnn, 2x2, whole rows": ("directed", 4, "--model agnn --scheme rdm --grid 2x2 "
                              f"--scores whole-rows --exchange panels --overlap on {DROP}"),
    "agnn, 1x2, dealt rows": ("plain", 2, "--model agnn --scheme rdm --grid 1x2 --scores dealt-rows"),
    "agnn, 2x2, dealt rows": ("directed", 4, "--model agnn --layers 3 --scheme rdm --grid 2x2 "
                              f"--scores dealt-rows --exchange rows --permute on {DROP}"),
    "batches, walks": ("plain", 1, f"--sampler walk:40:2 {DROP}"),
    "batches, walks, 2x2": ("plain", 4, f"--sampler walk:40:2 {UPDATE} 4 --grid 2x2 {DROP}"),
    "batches, walks, 4x1": ("directed", 4, f"--sampler walk:40:2 {UPDATE} 4 --grid 4x1 --model sage"),
    "batches, nodes, no coefficients":
        ("directed", 2, f"--sampler node:60 --coefficients off {UPDATE} 2 --grid 2x1"),
    "batches, edges": ("directed", 2, f"--sampler edge:60 {UPDATE} 2 --grid 1x2"),
    "batches, edges, undirected": ("plain", 1, "--sampler edge:60"),
    "batches of training vertices":
        ("directed", 2, f"--sampler node:60 --sampled-graph train {UPDATE} 2 --bias"),
    "batches, gat":
        ("plain", 3, f"{HEADS} 2 --sampler walk:40:2 {UPDATE} 2 --grid 1x3 --attention stored"),
    "batches, agnn": ("directed", 4, f"--model agnn --sampler walk:40:2 {UPDATE} 4 --grid 2x2"),
    "batches, several labels": ("masked", 2, f"--sampler walk:40:2 --rocauc {UPDATE} 2"),
    "batches, weights of edges": ("weighted", 2, f"--edge-weights --sampler walk:40:2 {UPDATE} 2"),
    "drawn neighbours": ("directed", 2, f"--fanout 3 {DROP}"),
    "drawn neighbours, gat": ("plain", 3, f"{HEADS} 2 --fanout 3"),
    "drawn neighbours, agnn, weights of edges": ("weighted", 2, "--fanout 2 --model agnn"),
    "drawn neighbours, weights of edges": ("weighted", 2, "--fanout 2 --edge-weights"),
    "agnn, 2x2, dealt rows, panels": ("plain", 4, "--model agnn --scheme rdm --grid 2x2 "
                                      "--scores dealt-rows --exchange panels --loss-rows off"),
}
INFERENCES = {  # graph, ranks, flags of the model, flags of the inference alone
    "one rank": ("plain", 1, "", ""),
    "rdm 2x2, ring": ("directed", 4, "--layers 3 --bias", "--scheme rdm --grid 2x2 --ring on"),
    "rdm 1x3, ring": ("plain", 3, "--layers 3", "--scheme rdm --grid 1x3 --ring on"),
    "1d, rows, overlap": ("plain", 3, "--residual", "--scheme 1d --exchange rows --overlap on"),
    "shuffled": ("directed", 2, "--model sage", "--permute on"),
    "batch norm": ("directed", 4, "--norm batch", "--scheme rdm --grid 2x2"),
    "gat": ("plain", 3, f"{HEADS} 2", "--scheme rdm --grid 1x3"),
    "agnn": ("directed", 4, "--model agnn", "--scheme rdm --grid 2x2 --scores dealt-rows"),
    "several labels": ("masked", 2, "--model gin", "--scheme 1d"),
    "drawn neighbours": ("directed", 4, "--layers 4",
                         "--fanout 3,2,5,1 --scheme rdm --grid 2x2 --permute on"),
    "drawn neighbours, 2d": ("plain", 4, "", "--fanout 4 --scheme 2d --grid 2x2"),
    "drawn neighbours, gat": ("plain", 3, f"{HEADS} 2", "--fanout 3 --scheme 1d --exchange rows"),
    "drawn neighbours, agnn": ("directed", 4, "--model agnn",
                               "--fanout 3 --scheme rdm --grid 2x2 --scores dealt-rows"),
    "cut": ("plain", 2, "", "--scheme cut --cut libra --load whole"),
}
REFUSED = {  # flags, and what the sentence names
    "a partition": ("--partition --scheme 1d --ranks 2 --loss-rows off --exchange rows", "parts"),
    "a cut": ("--scheme cut --cut cover --partition --ranks 2", "cover"),
    "groups": ("--inexact 0c --ranks 2", "clones"),
    "rounded messages": ("--wire bf16 --space paper --ranks 2", "wire bf16"),
    "clusters": ("--sampler cluster:4:20", "cluster"),
}


def run(*command):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "GNNPLAN_PROBE": "off", "PYTHONPATH": str(PACKAGE)})


class TorchTest(unittest.TestCase):
    bin = None
    worst = 0.0
    compared = 0

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, flags in GRAPHS.items():
            made = run(cls.bin / "gnnplan", "graph", "generate", *flags.split(), "-o",
                       cls.path(f"{name}.npz"))
            assert made.returncode == 0, made.stdout
        cls.derive()

    @classmethod
    def derive(cls):
        """Graphs with several labels, of which some may be unknown, two classes, and weights."""
        with numpy.load(cls.path("directed.npz")) as file:
            arrays = dict(file)
        random = numpy.random.default_rng(3)
        labels = (random.random((len(arrays["y"]), 6)) < 0.3).astype(numpy.float32)
        numpy.savez(cls.path("labels.npz"), **{**arrays, "y": labels})
        masked = numpy.where(random.random(labels.shape) < 0.2, numpy.nan, labels)
        numpy.savez(cls.path("masked.npz"), **{**arrays, "y": masked})
        numpy.savez(cls.path("two.npz"), **{**arrays, "y": arrays["y"] % 2})
        edges = numpy.concatenate([arrays["edge_index"], arrays["edge_index"][:, :50]], 1)
        numpy.savez(cls.path("weighted.npz"), **{**arrays, "edge_index": edges, "edge_weight":
                    random.random(edges.shape[1]).astype(numpy.float32) + 0.1})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
        print(f"{cls.compared} plans compared; the worst loss differs by {cls.worst:.1e} of it")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def plan(self, graph, flags):
        made = run(self.bin / "gnnplan", "plan", "--graph", self.path(f"{graph}.npz"), "--hidden",
                   16, "--machine", "cpu-node", *flags.split(), "-o", self.path("plan.json"))
        self.assertEqual(made.returncode, 0, made.stdout)
        return self.path("plan.json")

    def train(self, plan, graph, *flags):
        """The report of gnnplan.torch, whose ranks are processes here."""
        report = self.path("torch.json")
        with warnings.catch_warnings():
            code = program.main([plan, "--data", self.path(f"{graph}.npz"), "--epochs", str(EPOCHS),
                                 "--report", report, "--local", "-q", *flags])
        self.assertEqual(code, 0)
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def infer(self, plan, graph, weights):
        """The reports of gnnplan.torch and of gnnrun, and the logits of both."""
        reports, logits = [self.path("1.json"), self.path("2.json")], [self.path("1.npy"), self.path("2.npy")]
        options = ["--data", self.path(f"{graph}.npz"), "--load-weights", weights]
        code = program.main([plan, *options, "--local", "-q", "--report", reports[0], "--save-logits", logits[0]])
        self.assertEqual(code, 0)
        ran = run(self.bin / "gnnrun", plan, *options, "--in-process", "--threads", 1, "--report", reports[1],
                  "--save-logits", logits[1])
        self.assertEqual(ran.returncode, 0, ran.stdout)
        found = []
        for path in reports:
            with open(path, encoding="utf-8") as file:
                found.append(json.load(file))
        return found, [numpy.load(path) for path in logits]

    def gnnrun(self, plan, graph, *flags):
        report = self.path("gnnrun.json")
        ran = run(self.bin / "gnnrun", plan, "--data", self.path(f"{graph}.npz"), "--in-process",
                  "--threads", 1, "--autotune", 0, "--epochs", EPOCHS, "--report", report, *flags)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def compare(self, ours, theirs):
        for mine, other in zip(ours["epochs"], theirs["epochs"]):
            difference = abs(mine["loss"] - other["loss"]) / abs(other["loss"])
            TorchTest.worst = max(TorchTest.worst, difference)
            self.assertLessEqual(difference, TOLERANCE, (mine, other))
        last, of_gnnrun = ours["epochs"][-1], theirs["epochs"][-1]
        scores = [key for key in last if key.split("_")[-1] in ("accuracy", "f1", "rocauc")]
        self.assertGreaterEqual(len(scores), 3)
        for key in scores:
            self.assertAlmostEqual(last[key], of_gnnrun[key], delta=0.02)
        wanted = of_gnnrun["valid_loss"]
        self.assertAlmostEqual(last["valid_loss"], wanted, delta=1e-4 * max(1, wanted))
        self.compare_bytes(ours, theirs)
        TorchTest.compared += 1

    def compare_bytes(self, ours, theirs):
        for phase in ("setup", "steps", "evaluation"):
            known = {step["name"]: step for step in theirs[phase]}
            for step in ours.get(phase, []):
                for key in ("predicted_bytes_by_rank", "counted_bytes_by_rank"):
                    self.assertEqual(step[key], known[step["name"]][key], step["name"])

    def test_plans(self):
        for name, (graph, ranks, flags) in CASES.items():
            with self.subTest(name):
                plan = self.plan(graph, f"--ranks {ranks} {flags}")
                self.compare(self.train(plan, graph), self.gnnrun(plan, graph))

    def test_inference(self):
        for name, (graph, ranks, model, flags) in INFERENCES.items():
            with self.subTest(name):
                weights = self.path("weights")
                self.gnnrun(self.plan(graph, model), graph, "--save-weights", weights)
                model = model.replace("--attention-dropout 0.4", "")
                plan = self.plan(graph, f"--task infer --ranks {ranks} {model} {flags}")
                (ours, theirs), (mine, others) = self.infer(plan, graph, weights)
                self.assertLess(numpy.abs(mine - others).max(), 1e-5 * numpy.abs(others).max())
                self.compare_bytes(ours, theirs)
                key = "f1" if graph == "masked" else "accuracies"
                self.assertEqual(set(ours[key]), {"train", "valid", "test"})
                for subset, share in ours[key].items():
                    self.assertAlmostEqual(share, theirs[key][subset], delta=0.02)

    def test_inference_without_labels(self):
        with numpy.load(self.path("plain.npz")) as file:
            arrays = {name: file[name] for name in ("edge_index", "x")}
        numpy.savez(self.path("bare.npz"), **arrays)
        weights, flags = self.path("weights"), "--task infer --classes 5 --ranks 2"
        self.gnnrun(self.plan("plain", ""), "plain", "--save-weights", weights)
        (ours, _), (mine, others) = self.infer(self.plan("bare", flags), "bare", weights)
        self.assertLess(numpy.abs(mine - others).max(), 1e-5 * numpy.abs(others).max())
        self.assertNotIn("accuracies", ours)

    def test_logits_that_are_not_finite(self):
        """They are not written."""
        weights, logits = self.path("weights"), self.path("none.npy")
        self.gnnrun(self.plan("plain", ""), "plain", "--save-weights", weights)
        spoilt = safetensors.load(weights)
        spoilt["layers.1.weight"][0] = numpy.inf
        safetensors.save(spoilt, weights)
        plan = self.plan("plain", "--task infer --ranks 1")
        self.assertEqual(self.refused(plan, "--load-weights", weights, "--save-logits", logits), 69)
        self.assertIn("not finite", self.said.getvalue())
        self.assertFalse(os.path.exists(logits))

    def test_options_of_the_other_task(self):
        plan = self.plan("plain", "--task infer")
        for flags, word in (["--epochs", "2"], "training"), (["--save-logits", "x.npy"], "--load-weights"):
            self.assertEqual(self.refused(plan, *flags), 64)
            self.assertIn(word, self.said.getvalue())
        self.assertEqual(self.refused(self.plan("plain", ""), "--save-logits", "x.npy"), 64)
        self.assertIn("--task infer", self.said.getvalue())

    def test_torchrun(self):
        if torch.__version__.startswith("1.13") and sys.version_info >= (3, 11):
            self.skipTest("torchrun of PyTorch 1.13 does not start with Python 3.11")
        plan, report = self.plan("plain", f"--ranks 2 {DROP}"), self.path("torch.json")
        ran = run(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", 2, "-m",
                  "gnnplan.torch", plan, "--data", self.path("plain.npz"), "--epochs", EPOCHS,
                  "--report", report)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertIn(f"epoch {EPOCHS}", ran.stdout)
        with open(report, encoding="utf-8") as file:
            self.compare(json.load(file), self.gnnrun(plan, "plain"))

    def test_weights(self):
        """Files of weights go both ways."""
        plan, one, two = self.plan("plain", "--ranks 2"), self.path("1"), self.path("2")
        self.gnnrun(plan, "plain", "--save-weights", one)
        ours = self.train(plan, "plain", "--load-weights", one, "--save-weights", two)
        self.compare(ours, self.gnnrun(plan, "plain", "--load-weights", one))
        self.compare(self.train(plan, "plain", "--load-weights", two),
                     self.gnnrun(plan, "plain", "--load-weights", two))

    def test_bytes(self):
        """A step that sends other bytes than predicted is named."""
        plan, predict = self.plan("plain", "--ranks 1"), passes.bytes_of
        step = "forward.2.spmm"
        with mock.patch.object(passes, "bytes_of", lambda *of: {**predict(*of), step: [4]}):
            self.assertEqual(self.refused(plan), 70)
            self.assertIn(f"Step {step} has sent [0] bytes by rank, and the plan predicts [4]",
                          self.said.getvalue())

    def refused(self, plan, *flags, data="plain.npz"):
        with contextlib.redirect_stderr(io.StringIO()) as self.said:
            return program.main([str(plan), "--data", self.path(data), "--local", "-q", *flags])

    def test_other_launches_and_data(self):
        plan = self.plan("plain", "--ranks 2")
        self.assertEqual(self.refused(plan, data="directed.npz"), 78)
        self.assertEqual(self.refused(plan, data="no.npz"), 66)
        self.assertEqual(self.refused(plan, data="plan.json"), 69)
        with numpy.load(self.path("plain.npz")) as file:
            arrays = dict(file)
        arrays["y"][arrays["train_idx"][0]] = -1
        numpy.savez(self.path("unlabelled.npz"), **arrays)
        self.assertEqual(self.refused(plan, data="unlabelled.npz"), 65)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(program.main([plan, "--data", self.path("plain.npz")]), 78)
        self.assertIn("--nproc_per_node 2", said.getvalue())
        with open(plan, encoding="utf-8") as file:
            text = file.read()
        edits = ('"decays": true', '"decays": false'), ("gnnplan.plan/4", "gnnplan.plan/9")
        for old, new in edits:
            with open(self.path("edited.json"), "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            self.assertNotEqual(text.replace(old, new), text)
            self.assertEqual(self.refused(self.path("edited.json")), 65)

    def test_steps_of_other_kinds(self):
        """A step that the module does not have is named."""
        others = {"kind": "sync_rows"}, {"kind": "map", "op": "halve"}, {"kind": "head", "op": "halve"}, \
            {"kind": "edge", "op": "halve"}, {"kind": "spmm", "program": "median"}, \
            {"kind": "spmm", "exchange": "pigeons"}, {"kind": "update", "rule": "guess"}
        for keys in others:
            step = Step({"name": "forward.1.it", "phase": "epoch", **keys})
            with self.assertRaisesRegex(Error, f"Step forward.1.it of gcn .*{list(keys.values())[-1]}") as caught:
                check_step(step, "gcn")
            self.assertEqual(caught.exception.code, 69)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU")
    def test_no_gpu(self):
        self.assertEqual(self.refused(self.plan("plain", "--ranks 1"), "--backend", "nccl"), 69)
        self.assertIn("no GPU here for rank 0", self.said.getvalue())

    def test_refusals(self):
        for name, (flags, word) in REFUSED.items():
            with self.subTest(name):
                plan = self.plan("plain", flags)
                self.assertEqual(self.refused(plan), 69, self.said.getvalue())
                self.assertIn(word, self.said.getvalue())
                self.assertIn("gnnplan explain --pytorch", self.said.getvalue())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options, others = parser.parse_known_args()
    TorchTest.bin = options.bin.resolve()
    torch.set_num_threads(1)
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
