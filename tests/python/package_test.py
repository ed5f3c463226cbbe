"""The installed package: python3 tests/python/package_test.py. Tests that need SciPy or PyTorch are left out without."""

import html.parser
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy

import gnnplan
from gnnplan import safetensors


PROGRAM = os.path.join(os.path.dirname(sys.executable), "gnnplan")


def drawn(vertices=300, edges=2400, features=12, classes=3, seed=0):
    """A directed graph with labels that features tell."""
    draw = numpy.random.default_rng(seed)
    y = draw.integers(0, classes, vertices)
    x = draw.normal(size=(vertices, features)).astype(numpy.float32)
    x[numpy.arange(vertices), y] += 2
    kind = draw.integers(0, 3, vertices)
    return {"edge_index": draw.integers(0, vertices, (2, edges)), "x": x, "y": y, "train": kind == 0, "valid": kind == 1,
            "test": kind == 2}


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def plan_in_child(results):
    try:
        gnnplan.plan("cora", machine="cpu-node")
        results.put("planned")
    except gnnplan.Error as error:
        results.put((error.code, str(error)))


class Plans(unittest.TestCase):
    def test_of_a_card(self):
        plan = gnnplan.plan("reddit", hidden=128, ranks=8, machine="a6000x8")
        self.assertEqual(plan.ranks, 8)
        self.assertIn("gcn on reddit, 8 ranks", repr(plan))
        self.assertGreater(plan.memory, 0)
        self.assertGreater(plan.epoch_seconds, 0)
        self.assertGreater(len(plan.table()), 1)
        self.assertGreater(len(plan.why()), 0)
        self.assertIn("epoch", plan.sure())
        self.assertEqual(plan.explain()["schema"].split("/")[0], "gnnplan.explanation")
        self.assertIn("class Model", plan.pytorch())
        self.assertEqual(pickle.loads(pickle.dumps(plan)).json, plan.json)

    def test_of_sizes(self):
        plan = gnnplan.plan(vertices=1000, nonzeros=9000, widths=[16, 8, 4], ranks=2, machine="cpu-node")
        self.assertEqual(plan.document["problem"]["graph"]["vertices"], 1000)

    def test_is_saved_and_loaded(self):
        plan = gnnplan.plan("cora", ranks=2, machine="cpu-node")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            plan.save(path)
            self.assertEqual(gnnplan.Plan.load(path).document, plan.document)
            with self.assertRaises(gnnplan.MissingError) as caught:
                gnnplan.Plan.load(os.path.join(folder, "none.json"))
            self.assertEqual(caught.exception.code, 66)
            with self.assertRaises(gnnplan.Error) as caught:
                plan.save(os.path.join(folder, "none", "plan.json"))
            self.assertEqual(caught.exception.code, 74)
            with open(path, "wb") as file:
                file.write(b"\x80PK\x03")
            with self.assertRaises(gnnplan.DataError):
                gnnplan.Plan.load(path)

    def test_of_a_file_knows_its_data(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.npz")
            arrays = drawn()
            numpy.savez(path, **{f"{key}_mask" if arrays[key].dtype == bool else key: arrays[key] for key in arrays})
            plan = gnnplan.plan(path, hidden=4, machine="cpu-node")
            self.assertEqual(len(gnnplan.train(plan, epochs=1).history), 1)

    def test_is_that_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            subprocess.run([PROGRAM, "plan", "--graph", "cora", "--ranks", "4",
                            "--space", "paper", "--machine", "cpu-node", "-o", path], check=True, capture_output=True)
            theirs = gnnplan.Plan.load(path).document
        ours = gnnplan.plan("cora", ranks=4, space="paper", machine="cpu-node").document
        for document in (ours, theirs):
            del document["command_line"], document["fingerprints"]["content"]
        self.assertEqual(ours, theirs)
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.plan("cora", ranks=2, grid="3x4", machine="cpu-node")
        for wrong in ({"overlap": False}, {"symetrise": False}):
            with self.assertRaises(gnnplan.UsageError):
                gnnplan.plan("cora", ranks=2, machine="cpu-node", **wrong)

    def test_of_arrays_is_that_of_the_file(self):
        arrays = drawn()
        options = {"hidden": 8, "ranks": 3, "machine": "cpu-node", "symmetrise": True}
        with tempfile.TemporaryDirectory() as folder:
            data = gnnplan.Data.from_arrays(**arrays)
            path = os.path.join(folder, "graph.npz")
            data.save(path)
            ours, files = gnnplan.plan(data, **options).document, gnnplan.plan(path, **options).document
        for document in (ours, files):
            del document["command_line"], document["problem"]["graph"]["name"], document["problem"]["graph"]["source"]
            del document["fingerprints"]["content"]
        self.assertEqual(ours, files)


    def test_in_brief_are_those_of_the_plan(self):
        options = {"hidden": 128, "ranks": 8, "machine": "a6000x8"}
        for more in ({}, {"scheme": "rdm", "dropout": 0.5}):
            plan, orders = gnnplan.plan("reddit", **options, **more), gnnplan.select_orders("reddit", **options, **more)
            how = plan.configuration
            grid = "x".join(str(extent) for extent in how["grid"][:2])
            self.assertEqual((orders.forward, orders.backward), (how["forward"], how["backward"]))
            self.assertEqual(orders[3:6], (how["scheme"], grid, plan.epoch_seconds))
            self.assertEqual(orders.peak_bytes_per_rank, plan.memory)
            self.assertEqual("T1 across epochs" in orders.kept, not more)
        with self.assertRaises(MemoryError) as large:
            gnnplan.select_orders("ogbn-papers100m", hidden=256, machine="a6000x8", memory="1GiB")
        self.assertGreater(large.exception.needed, large.exception.available)

    def test_notes_are_those_of_the_command(self):
        options = {"graph": "reddit", "ranks": 2, "machine": "a6000x8", "scheme": "3d", "memory": "90GiB", "rocauc": True,
                   "loss": "sigmoid", "replication_factor": 2}
        words = [f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}") for key, value in options.items()]
        done = subprocess.run([PROGRAM, "plan", *words], check=True, capture_output=True, text=True)
        theirs = [line for line in done.stderr.splitlines() if line.startswith(("note: ", "warning: "))]
        self.assertEqual(len(theirs), 4)
        # Options are named without a command line's dashes.
        self.assertEqual([re.sub("`([^`]*)`", r"--\1", note) for note in gnnplan.plan(**options).notes], theirs)

    def test_are_shown_in_notebooks(self):
        data = gnnplan.Data.from_arrays(**drawn(), name="<b>&graph")
        plan = gnnplan.plan(data, ranks=2, machine="cpu-node")
        page = plan._repr_html_()
        self.assertIn("&lt;b&gt;&amp;graph", page)
        self.assertNotIn("<b>&graph", page)
        tags = Tags()
        tags.feed(page)
        self.assertEqual(tags.open, [])
        self.assertGreater(tags.rows, 2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.json")
            plan.save(path)
            self.assertIn("<table>", gnnplan.Plan.load(path)._repr_html_())

    def test_tables_are_frames_of_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        plan = gnnplan.plan("reddit", ranks=4, machine="a6000x8")
        for table, column in ((plan.table(), "configuration.scheme"), (plan.why(), "predicted.epoch_seconds"),
                              (plan.steps(), "predicted_seconds")):
            self.assertIsInstance(table, pandas.DataFrame)
            self.assertIn(column, table.columns)
        self.assertTrue((plan.table()["epoch_seconds"] > 0).all())

    def test_control_c_ends_the_search(self):
        program = """
            import threading, gnnplan
            gnnplan.plan("cora", machine="cpu-node")  # all that is imported is there then
            print("begins", flush=True)
            try:
                gnnplan.plan("reddit", "gat", heads=8, ranks=1024, layers=8, machine="a6000x8")
            except KeyboardInterrupt:
                print("interrupted", sorted(thread.name for thread in threading.enumerate()))
        """
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "begins\n")
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            rest = child.communicate(timeout=300)[0]
        self.assertEqual(rest, "interrupted ['MainThread']\n")


class Tags(html.parser.HTMLParser):
    """Tags that are open, and rows of tables."""

    def __init__(self):
        super().__init__()
        self.open, self.rows = [], 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"{tag} ends where another tag is open")


class Errors(unittest.TestCase):
    def test_name_what_the_caller_gave(self):
        plan = gnnplan.plan(gnnplan.Data.from_arrays(**drawn()), hidden=8, machine="cpu-node")
        broken = gnnplan.Plan(plan.json.replace("gnnplan.plan/", "gnnplan.plan/9"), plan.data)
        calls = [lambda: broken.explain(), lambda: broken.report("page.html"),
                 lambda: gnnplan.train(plan, epochs=1, load_weights={"other": numpy.zeros((2, 2))}),
                 lambda: gnnplan.sweep(plan.data, {"ranks": [0]}, machine="cpu-node")]
        for number, wrong in enumerate(calls):
            with self.assertRaises(gnnplan.Error) as error:
                wrong()
            said = f"{error.exception} {error.exception.where} {error.exception.hint}"
            self.assertNotIn(tempfile.gettempdir(), said)
            if number < 3:
                self.assertRegex(said, ("the plan", "the plan", "weights")[number])

    def test_have_the_kinds_of_python(self):
        with self.assertRaises(FileNotFoundError) as missing:
            gnnplan.plan("./nowhere.npz")
        self.assertEqual(missing.exception.code, 66)
        self.assertIn("there is no such file", str(missing.exception))
        with self.assertRaises(ValueError) as wrong:
            gnnplan.plan("reddit", hiden=3)
        self.assertEqual(wrong.exception.code, 64)
        self.assertIn("did you mean --hidden", str(wrong.exception))
        with self.assertRaises(MemoryError) as large:
            gnnplan.plan("ogbn-papers100m", hidden=256, machine="a6000x8", memory="1GiB")
        self.assertGreater(large.exception.needed, large.exception.available)
        self.assertEqual(large.exception.code, 3)
        self.assertGreater(len(large.exception.largest), 0)
        with self.assertRaises(gnnplan.DataError) as data:
            gnnplan.Data.from_arrays(edge_index=([0], [5]), vertices=3)
            gnnplan.plan(gnnplan.Data.from_arrays(edge_index=([0], [5]), vertices=3), widths=[4, 2])
        self.assertIn("out of range", str(data.exception))

    def test_of_arrays_that_do_not_fit(self):
        for changed in ({"x": numpy.zeros(4)}, {"edge_index": ([0, 1], [1])}, {"edge_index": ([0.5], [1.5])},
                        {"train": numpy.zeros(7, bool)}, {"edge_index": ([0], [1 << 40])}, {"train": [-1]},
                        {"train": [300]}, {"train": [0, 1], "valid": [1]}, {"edge_index": numpy.zeros((5, 2), int)},
                        {"y": numpy.full((300, 3), 2)}, {"y": numpy.full(300, 0.5)}, {"y": numpy.zeros((299, 3), int)}, {"x": numpy.zeros((300, 2), complex)}):
            with self.assertRaises(gnnplan.DataError, msg=changed):
                gnnplan.Data.from_arrays(**dict(drawn(), **changed))

    def test_a_forked_child_is_told(self):
        gnnplan.plan("cora", machine="cpu-node")  # from here on there are threads that a child would lack
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        child = context.Process(target=plan_in_child, args=(results,))
        child.start()
        code, message = results.get(timeout=30)
        child.join()
        self.assertEqual(code, 69)
        self.assertIn("spawn", message)


class Splits(unittest.TestCase):
    def test_masks_of_numbers_are_masks(self):
        arrays = drawn()
        plans = []
        for kind in (bool, numpy.uint8, numpy.int64):
            data = gnnplan.Data.from_arrays(**dict(arrays, **{part: arrays[part].astype(kind)
                                                             for part in ("train", "valid", "test")}))
            plans.append(gnnplan.plan(data, machine="cpu-node").document["fingerprints"]["split"])
        data = gnnplan.Data.from_arrays(**dict(arrays, **{part: numpy.flatnonzero(arrays[part])
                                                         for part in ("train", "valid", "test")}))
        plans.append(gnnplan.plan(data, machine="cpu-node").document["fingerprints"]["split"])
        self.assertEqual(len(set(plans)), 1)

    def test_weights_of_edges_are_used(self):
        arrays = drawn()
        weights = numpy.linspace(0.1, 2, arrays["edge_index"].shape[1])
        data = gnnplan.Data.from_arrays(**arrays, edge_weight=weights)
        self.assertTrue(gnnplan.plan(data, machine="cpu-node").document["problem"]["graph"]["edge_weights"])
        self.assertFalse(gnnplan.plan(data, machine="cpu-node", edge_weights=False).document["problem"]["graph"].get("edge_weights"))

    def test_a_name_of_a_card_names_the_arrays(self):
        data = gnnplan.Data.from_arrays(**drawn(), name="reddit")
        self.assertEqual(gnnplan.plan(data, machine="cpu-node").document["problem"]["graph"]["vertices"], 300)


class Runs(unittest.TestCase):
    def setUp(self):
        self.data = gnnplan.Data.from_arrays(**drawn())
        self.plan = gnnplan.plan(self.data, hidden=8, ranks=2, machine="cpu-node", dropout=0.5)

    def test_train_as_gnnrun_does(self):
        ours = gnnplan.train(self.plan, epochs=6, autotune=0, seed=3, threads=1)
        with tempfile.TemporaryDirectory() as folder:
            graph, plan, weights, report = (os.path.join(folder, name)
                                            for name in ("graph.npz", "plan.json", "w.safetensors", "report.json"))
            self.data.save(graph)
            self.plan.save(plan)
            subprocess.run([os.path.join(os.path.dirname(sys.executable), "gnnrun"), plan, "--data", graph, "--epochs", "6",
                            "--autotune", "0", "--seed", "3", "--in-process", "--threads", "1", "--quiet", "--save-weights",
                            weights, "--report", report], check=True)
            theirs = safetensors.load(weights)
            with open(report, encoding="utf-8") as file:
                document = json.load(file)
        self.assertEqual(set(ours.weights), set(theirs))
        for name, array in theirs.items():
            self.assertTrue(numpy.array_equal(ours.weights[name], array), name)
        self.assertEqual([epoch["loss"] for epoch in ours.history], [epoch["loss"] for epoch in document["epochs"]])

    def test_is_drawn_as_a_page(self):
        run = gnnplan.train(self.plan, epochs=3, autotune=0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            self.plan.report(path, run)
            with open(path, encoding="utf-8") as file:
                self.assertIn('id="data"', file.read())

    def test_epochs_are_heard_and_may_end_a_run(self):
        heard = []
        run = gnnplan.train(self.plan, epochs=4, autotune=0, on_epoch=heard.append)
        self.assertEqual([epoch["epoch"] for epoch in heard], [1, 2, 3, 4])
        self.assertEqual([epoch["loss"] for epoch in heard], [epoch["loss"] for epoch in run.history])

        def refuse(epoch):
            raise RuntimeError(f"enough after {epoch['epoch']}")

        with self.assertRaisesRegex(RuntimeError, "enough after 1"):
            gnnplan.train(self.plan, epochs=1000, autotune=0, on_epoch=refuse)

    def test_inference_is_the_end_of_training(self):
        run = gnnplan.train(self.plan, epochs=5, autotune=0, logits=True)
        plan = gnnplan.plan(self.data, hidden=8, ranks=2, machine="cpu-node", task="infer")
        for weights in (run, run.weights):
            logits = gnnplan.infer(plan, weights=weights).logits
            self.assertEqual(logits.shape, (300, 3))
            numpy.testing.assert_allclose(logits, run.logits, atol=1e-5)

    def test_tasks_are_not_mixed_up(self):
        passes = gnnplan.plan(self.data, hidden=8, machine="cpu-node", task="infer")
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.infer(self.plan)
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.train(passes)

    def test_a_training_that_diverges_says_so(self):
        run = gnnplan.train(self.plan, epochs=20, autotune=0, lr=1e30)
        self.assertTrue(run.diverged)
        self.assertIn("diverged", repr(run))
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.train(self.plan, epochs=1, load_weights=run)

    def test_weights_of_a_run_begin_another(self):
        first = gnnplan.train(self.plan, epochs=3, autotune=0)
        again = gnnplan.train(self.plan, epochs=1, autotune=0, load_weights=first)
        self.assertLess(again.history[0]["loss"], first.history[0]["loss"])

    def test_goes_on_from_checkpoints_alone(self):
        run = gnnplan.train(self.plan, epochs=1)
        with self.assertRaises(gnnplan.UsageError) as caught:
            gnnplan.train(self.plan, epochs=2, resume=run)
        self.assertIn("no checkpoint", str(caught.exception))

    def test_resumes_where_it_was_interrupted(self):
        whole = gnnplan.train(self.plan, epochs=8, autotune=0, threads=1)
        with tempfile.TemporaryDirectory() as folder:
            gnnplan.train(self.plan, epochs=4, autotune=0, threads=1, checkpoint=folder, checkpoint_every=4)
            rest = gnnplan.train(self.plan, epochs=8, autotune=0, threads=1, checkpoint=folder, resume=folder)
        for name, array in whole.weights.items():
            self.assertTrue(numpy.array_equal(rest.weights[name], array), name)

    def test_control_c_ends_it_after_an_epoch(self):
        program = textwrap.dedent("""
            import sys
            sys.path[:0] = %r
            import gnnplan
            from package_test import drawn
            data = gnnplan.Data.from_arrays(**drawn())
            plan = gnnplan.plan(data, hidden=8, ranks=2, machine="cpu-node")
            print("begins", flush=True)
            run = gnnplan.train(plan, epochs=10_000_000, autotune=0)
            print("epochs", len(run.history), run.interrupted)
        """) % [os.path.dirname(os.path.abspath(__file__)), *sys.path]
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "begins\n")
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            rest = child.communicate(timeout=60)[0]
        self.assertRegex(rest, r"epochs [1-9][0-9]* True")
        self.assertEqual(child.returncode, 0)

    def test_features_are_borrowed(self):
        vertices, columns = 400_000, 128  # 205 MB
        x = numpy.ones((vertices, columns), numpy.float32)
        ring = numpy.arange(vertices)
        before = resident_bytes()
        data = gnnplan.Data.from_arrays(edge_index=(ring, (ring + 1) % vertices), x=x, y=ring % 2, train=ring[:100])
        plan = gnnplan.plan(data, hidden=4, machine="cpu-node")
        self.assertEqual(plan.document["problem"]["model"]["widths"][0], columns)
        self.assertLess(resident_bytes() - before, x.nbytes / 2)


class Questions(unittest.TestCase):
    def test_are_answered_in_json(self):
        self.assertIn("h100x8", gnnplan.machines())
        swept = gnnplan.sweep("cora", {"ranks": [1, 2]}, machine="cpu-node")
        self.assertTrue(swept["schema"].startswith("gnnplan.sweep/"))
        data = gnnplan.Data.from_arrays(**drawn())
        self.assertTrue(gnnplan.sweep(data, {"ranks": 2}, machine="cpu-node", hidden=numpy.int64(8), symmetrise=numpy.True_))

    def test_the_program_says_what_is_wrong(self):
        with self.assertRaises(gnnplan.UsageError):
            gnnplan.sweep("cora", {"rank": [1]})


if __name__ == "__main__":
    unittest.main()
