#!/usr/bin/env python3
"""Machines with known errors, and draws with known bounds."""
import math, sys, unittest

sys.dont_write_bytecode = True

import draw
import drawn
import run


def row(predicted, measured, configuration="c", graph="g", **more):
    return {"graph": graph, "widths": [8, 4], "ranks": 1, "network": "local", "configuration": configuration, "operands": "",
            "predicted_seconds": predicted, "measured_seconds": measured, "low": measured, "high": measured, "fastest": measured,
            "slowest": measured, "steps": [], **more}


def machine(factor, again=1.0):
    """Twenty configurations that take `factor` times what was predicted, and so many times that when they run again."""
    rows = []
    for i in range(20):
        predicted = 0.02 + 0.01 * i
        rows.append(row(predicted, factor * predicted, f"c{i}"))
        rows.append(row(predicted, factor * again * predicted, f"c{i}", again=True))
    return rows


def bar(verdict, name):
    return next(bar for bar in verdict[1]["bars"] if bar["name"] == name)


class SelfDifference(unittest.TestCase):
    def test_a_machine_that_drifts_is_said_to_and_moves_what_any_model_can_reach(self):
        steady, drifting = drawn.judge_drawn(machine(1.1)), drawn.judge_drawn(machine(1.1, again=1.3))
        self.assertAlmostEqual(steady[1]["long"]["aa"], 0)
        self.assertAlmostEqual(drifting[1]["long"]["aa"], math.log(1.3))
        name = "error, median, any machine"
        self.assertEqual(bar(steady, name)["most"], 0.03)
        self.assertAlmostEqual(bar(drifting, name)["most"], math.log(1.3))
        self.assertFalse(bar(steady, name)["met"])
        self.assertTrue(bar(drifting, name)["met"])
        self.assertFalse(bar(drifting, "error, median, quiet machine")["met"], "that one does not move")
        self.assertAlmostEqual(steady[1]["long"]["median"], 1 - 1 / 1.1)
        self.assertEqual(steady[1]["long"]["rows"], 20, "those measured again are no rows of their own")

    def test_nothing_measured_twice_is_no_difference(self):
        verdict = drawn.judge_drawn([row(1, 1), row(2, 2, "d")])
        self.assertIsNone(verdict[1]["long"]["aa"])
        self.assertIn("| - |", drawn.table(verdict))


class Bars(unittest.TestCase):
    def test_coverage_counts_what_lies_inside(self):
        rows = [row(1, 1 + i / 10, f"c{i}", predicted_low=0.85, predicted_high=1.35) for i in range(5)]
        verdict = drawn.judge_drawn(rows)
        self.assertEqual(bar(verdict, "coverage of 80 % intervals")["value"], 0.8)
        self.assertTrue(bar(verdict, "coverage of 80 % intervals")["met"])
        self.assertAlmostEqual(bar(verdict, "width of intervals, median")["value"], 0.5)
        self.assertFalse(bar(verdict, "width of intervals, median")["met"], "0 to infinity covers all")
        self.assertFalse(bar(drawn.judge_drawn([row(1, 1)]), "coverage of 80 % intervals")["met"], "no intervals")

    def test_a_regret_is_not_excused(self):
        unsure = {"low": 0.1, "high": 9}
        verdict = drawn.judge_drawn([row(1, 1.02, "a", **unsure), row(2, 1, "b", **unsure)])
        self.assertEqual(bar(verdict, "regret of medians, largest")["value"], 0, "less than the tie of two clocks")
        verdict = drawn.judge_drawn([row(1, 1.05, "a", **unsure), row(2, 1, "b", **unsure)])
        self.assertAlmostEqual(bar(verdict, "regret of medians, largest")["value"], 0.05)

    def test_short_epochs_stand_apart(self):
        verdict = drawn.judge_drawn([row(1, 1), row(0.001, 0.002, "d")])
        self.assertEqual((verdict[1]["long"]["rows"], verdict[1]["short"]["rows"]), (1, 1))
        self.assertEqual(verdict[1]["long"]["median"], 0)
        self.assertEqual(drawn.judge_drawn([row(0.001, 0.002)])[1]["bars"], [])

    def test_overlapped_and_needed_rows_have_bars_of_their_own(self):
        steps = [{"kind": kind, "predicted": predicted, "measured": 1.0}
                 for kind, predicted in (("spmm panels overlapped", 1.3), ("spmm rows", 0.9), ("gemm", 9.0))]
        verdict = drawn.judge_drawn([row(1, 1, steps=steps)])
        self.assertFalse(bar(verdict, "spmm panels overlapped")["met"])
        self.assertTrue(bar(verdict, "spmm rows")["met"])
        self.assertFalse(any(b["name"] == "gemm" for b in verdict[1]["bars"]))
        self.assertIn("0.85 to 1.20", drawn.table(verdict))


class Draw(unittest.TestCase):
    def test_is_the_same_for_the_same_text_and_within_bounds(self):
        self.assertEqual(draw.draw("abc"), draw.draw("abc"))
        self.assertNotEqual(draw.draw("abc"), draw.draw("abd"))
        models = set()
        for problem in draw.draw("many", 400):
            _, vertices, nonzeros, _, skew = problem.graph.split(":")
            widths = [int(width) for width in problem.widths.split(",")]
            self.assertLessEqual(int(vertices), draw.VERTICES[1])
            self.assertLessEqual(int(nonzeros) * max(widths), 1.001 * draw.MOST_WORK)
            self.assertLessEqual(4 * int(vertices) * widths[0], draw.MOST_FEATURES)
            if problem.model == "agnn":
                self.assertEqual(len(set(widths[1:-1])), 1, "its layers work on the same columns")
            self.assertIn(len(widths), (3, 4, 5))
            self.assertIn(int(skew), draw.SKEWS)
            model, _, heads = problem.model.partition(":")
            models.add(model)
            if model == "gat":
                self.assertTrue(all(width % int(heads) == 0 for width in widths[1:]))
        self.assertEqual(models, {"gcn", "sage", "gin", "gat", "agnn"})


class Learned(unittest.TestCase):
    def test_a_graph_that_a_profile_has_learned_from_is_found(self):
        profile = {"calibration": {"learned_from": [{"name": "runs/cora.json", "graph": "xxh64:1"}]}}
        self.assertEqual(run.learned_names(profile), {"cora"})
        self.assertEqual(run.learned_names({}), set())


if __name__ == "__main__":
    unittest.main()
