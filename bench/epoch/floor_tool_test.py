#!/usr/bin/env python3
"""The floor of a small real run, and what the program says to wrong input. Clocks decide little here: the bound on ratios
is loose, so that other programs on the machine do not matter; exact floors are tested with given peaks.

floor_tool_test.py FOLDER    of gnnplan, gnnrun and floor
"""
import json, os, pathlib, subprocess, sys, tempfile, unittest

tools = pathlib.Path(sys.argv.pop(1))


class Floor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.graph, cls.plan, cls.report = (cls.folder / name for name in ("graph.npz", "plan.json", "run.json"))
        cls.call("gnnplan", "graph", "generate", "rmat", "--vertices", "20000", "--nonzeros", "300000", "--features", "64",
                 "--classes", "16", "--seed", "1", "-o", cls.graph)
        cls.call("gnnplan", "plan", "--graph", cls.graph, "--hidden", "128", "--layers", "2", "--ranks", "1", "--machine",
                 "cpu-node", "-o", cls.plan)
        cls.call("gnnrun", cls.plan, "--data", cls.graph, "--epochs", "4", "--threads", "1", "--autotune", "0", "--eval-every",
                 "0", "--report", cls.report, "-q")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def call(cls, tool, *arguments):
        done = subprocess.run([tools / tool, *arguments], capture_output=True, text=True, env=os.environ)
        if done.returncode != 0:
            raise AssertionError(f"{tool} {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def floor(self, *arguments):
        return self.call("floor", self.plan, "--data", self.graph, "--report", self.report, *arguments)

    def test_every_step_has_a_row_and_no_step_is_below_its_floor(self):
        found, run = json.loads(self.floor("--json")), json.loads(self.report.read_text())
        self.assertEqual([step["name"] for step in found["steps"]], [step["name"] for step in run["steps"]])
        self.assertEqual(found["measured_seconds"], run["measured"]["epoch_seconds"])
        for step, record in zip(found["steps"], run["steps"]):
            self.assertEqual(step["measured_seconds"], record["measured_seconds"])
            self.assertGreaterEqual(step["reuse_aware_seconds"], step["floor_seconds"])
            if step["floor_seconds"] > found["sum_seconds"] / 20:
                self.assertGreater(step["ratio"], 0.5, step["name"])
        self.assertGreaterEqual(found["sum_seconds"], found["fused_seconds"])
        self.assertGreater(found["fused_seconds"], 0)
        self.assertAlmostEqual(sum(step["floor_seconds"] for step in found["steps"]), found["sum_seconds"])

    def test_the_table_begins_with_the_largest_excess_where_it_is_asked_for(self):
        lines = self.floor("--by-excess").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("step, ms")) + 1
        last = next(i for i, line in enumerate(lines) if line.startswith("epoch: sum"))
        excess = [float(line.split()[6]) for line in lines[first:last]]
        self.assertEqual(excess, sorted(excess, reverse=True))

    def refused(self, status, said, *arguments):
        done = subprocess.run([tools / "floor", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(said, done.stderr)

    def test_wrong_input_is_refused(self):
        other, wide, small = (self.folder / name for name in ("other.json", "wide.json", "small.npz"))
        self.call("gnnplan", "plan", "--graph", self.graph, "--hidden", "32", "--layers", "2", "--ranks", "1", "--machine",
                  "cpu-node", "-o", other)
        data, report = ("--data", self.graph), ("--report", self.report)
        self.refused(78, "the run is of another plan", other, *data, *report)
        self.refused(66, "no.json", self.plan, *data, "--report", self.folder / "no.json")
        self.refused(65, "plan.json", self.plan, *data, "--report", self.plan)
        self.call("gnnplan", "graph", "generate", "rmat", "--vertices", "200", "--nonzeros", "900", "--features", "64",
                  "--classes", "16", "--seed", "1", "-o", small)
        self.refused(78, "vertices", self.plan, "--data", small, *report)
        run = json.loads(self.report.read_text())
        run["threads"] = 100_000
        wide.write_text(json.dumps(run))
        self.refused(69, "100000 threads", self.plan, *data, "--report", wide)
        self.refused(64, "--link", self.plan, *data, *report, "--link", "0")


if __name__ == "__main__":
    unittest.main()
