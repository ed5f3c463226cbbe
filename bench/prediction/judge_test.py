#!/usr/bin/env python3
"""Rows with known answers."""
import contextlib, io, json, pathlib, sys, tempfile, unittest

sys.dont_write_bytecode = True

import judge


def row(predicted, measured, graph="g", steps=(), **more):
    return {"graph": graph, "widths": [8, 4], "ranks": 1, "network": "local", "configuration": "c",
            "predicted_seconds": predicted, "measured_seconds": measured, "low": measured, "high": measured,
            "fastest": measured, "slowest": measured * 1.1,
            "steps": [dict(zip(("kind", "predicted", "measured"), step)) for step in steps], **more}


def rows_of(predicted, measured):
    return [row(p, m) for p, m in zip(predicted, measured)]


def unsure(predicted, measured, low, high):
    return row(predicted, measured, low=low, high=high)


class Quantile(unittest.TestCase):
    def test_lies_between_order_statistics(self):
        self.assertEqual(judge.quantile([3, 1, 2], 0.5), 2)
        self.assertAlmostEqual(judge.quantile(range(11), 0.9), 9)
        self.assertAlmostEqual(judge.quantile([1, 2], 0.9), 1.9)
        self.assertEqual(judge.quantile([7], 0.9), 7)


class Ranks(unittest.TestCase):
    def test_predictions_within_the_tie_of_the_first_share_theirs(self):
        ranks = lambda predicted: judge.tied_ranks(predicted)
        self.assertEqual(ranks([10, 1, 5]), [2, 0, 1])
        self.assertEqual(ranks([1, 1.02, 2]), [0.5, 0.5, 2])
        # 1.02 ties with 1 and 1.04 does not: ties do not chain.
        self.assertEqual(ranks([1, 1.02, 1.04]), [0.5, 0.5, 2])

    def test_measured_ties_are_in_the_order_that_was_predicted(self):
        rows = rows_of([1, 2, 3, 4], [1.02, 1.0, 7, 5])
        self.assertEqual(judge.measured_ranks(rows, [0, 1, 2, 3]), [0, 1, 3, 2])
        self.assertEqual(judge.measured_ranks(rows, [1, 0, 2, 3]), [1, 0, 3, 2])
        self.assertEqual(judge.measured_ranks(rows, [0.5, 0.5, 2, 3]), [0.5, 0.5, 3, 2])
        self.assertIsNone(judge.measured_ranks(rows_of([1, 2], [5, 5.1]), [0, 1]))

    def test_overlapping_intervals_are_ties(self):
        rows = [row(1, 10), unsure(2, 8, 7, 10), row(3, 20)]
        self.assertEqual(judge.measured_ranks(rows, [0, 1, 2]), [0, 1, 2])
        rows[1] = unsure(2, 8, 7, 9.9)
        self.assertEqual(judge.measured_ranks(rows, [0, 1, 2]), [1, 0, 2])

    def test_correlation_of_known_orders(self):
        spearman = lambda predicted, measured: judge.spearman(rows_of(predicted, measured))
        self.assertAlmostEqual(spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(spearman([1, 2, 3, 4], [40, 30, 20, 10]), -1)
        self.assertAlmostEqual(spearman([1, 2, 3, 4], [10, 30, 20, 40]), 0.8)  # 1 - 6*2/(4*15)
        self.assertAlmostEqual(spearman([1, 1.01, 2], [5, 4.9, 8]), 1)  # a swap within a tie costs nothing
        self.assertIsNone(spearman([1, 2], [5, 5]))
        self.assertIsNone(spearman([1, 1.01], [5, 8]))


class Pick(unittest.TestCase):
    rows = [row(1.0, 1.2), row(1.1, 1.5), row(1.2, 1.02), row(1.3, 1.0)]

    def test_hits_count_ties_of_the_best(self):
        self.assertFalse(judge.hit(self.rows, 1))
        self.assertFalse(judge.hit(self.rows, 2))
        self.assertTrue(judge.hit(self.rows, 3))

    def test_regret_is_what_the_pick_loses(self):
        self.assertAlmostEqual(judge.regret(self.rows), 0.2)
        self.assertEqual(judge.regret([row(1, 1.029), row(2, 1.0)]), 0)
        self.assertAlmostEqual(judge.regret([row(1, 1.031), row(2, 1.0)]), 0.031)

    def test_a_regret_counts_only_beyond_the_intervals(self):
        best = row(2, 1.0)
        self.assertEqual(judge.regret([unsure(1, 1.2, 0.99, 1.3), best]), 0)
        self.assertAlmostEqual(judge.regret([unsure(1, 1.2, 1.01, 1.3), best]), 0.2)
        # Whether the fastest median is faster is open, but the next one is faster beyond doubt.
        rows = [unsure(1, 1.2, 1.15, 1.25), unsure(2, 1.0, 0.9, 1.2), unsure(3, 1.1, 1.09, 1.11)]
        self.assertAlmostEqual(judge.regret(rows), 1.2 / 1.1 - 1)

    def test_a_hit_is_what_nothing_beats_beyond_doubt(self):
        rows = [unsure(1, 1.2, 1.1, 1.3), unsure(2, 1.3, 0.9, 1.5), row(3, 1.0)]
        self.assertFalse(judge.hit(rows, 1))
        self.assertTrue(judge.hit(rows, 2))

    def test_a_group_is_open_where_only_medians_speak_against_it(self):
        self.assertTrue(judge.is_open([unsure(1, 1.2, 0.99, 1.3), row(2, 1.0)]))
        self.assertFalse(judge.is_open([unsure(1, 1.2, 1.1, 1.3), row(2, 1.0)]))
        self.assertFalse(judge.is_open([unsure(1, 1.0, 0.5, 1.5), row(2, 1.2)]))

    def test_other_regrets_stand_beside_it(self):
        g = judge.figures([row(1, 1.2, low=0.99, high=1.3, fastest=0.97), row(2, 1.0, fastest=0.9)])
        self.assertEqual(g["regret"], 0)
        self.assertAlmostEqual(g["regret_medians"], 0.2)
        self.assertAlmostEqual(g["regret_fastest"], 0.97 / 0.9 - 1)
        self.assertTrue(g["open"])


class Kinds(unittest.TestCase):
    def test_are_ordered_by_absolute_error(self):
        rows = [row(1, 1, steps=[("gemm", 1.0, 2.0), ("spmm", 5.0, 1.0)]), row(1, 1, steps=[("gemm", 3.0, 2.0)])]
        first, second = judge.kinds(rows)
        self.assertEqual(first, {"kind": "spmm", "steps": 1, "predicted": 5.0, "measured": 1.0, "error": 4.0})
        self.assertEqual(second, {"kind": "gemm", "steps": 2, "predicted": 4.0, "measured": 4.0, "error": 2.0})


class Verdict(unittest.TestCase):
    def test_groups_are_judged_apart(self):
        perfect = [row(1, 1), row(2, 2), row(3, 3)]
        wrong = [row(1, 4, "h"), row(2, 2, "h")]
        verdict = judge.judge(perfect + wrong)
        g, h = verdict["groups"]
        self.assertEqual((g["graph"], g["rows"], g["spearman"], g["top1"], g["regret"]), ("g", 3, 1, True, 0))
        self.assertEqual((h["graph"], h["rows"], h["spearman"], h["top1"], h["top3"], h["regret"]), ("h", 2, -1, False, True, 1))
        overall = verdict["overall"]
        self.assertEqual(overall["median"], 0)
        self.assertAlmostEqual(overall["p90"], 0.45)  # errors 0, 0, 0, 0, 0.75
        self.assertEqual((overall["max"], overall["top1"], overall["top3"]), (0.75, 0.5, 1))
        self.assertEqual((overall["regret_mean"], overall["regret_max"], overall["spearman"]), (0.5, 1, 0))
        met = {bar["figure"]: bar["met"] for bar in verdict["bars"]}
        self.assertEqual(met, {"median": True, "p90": False, "top3": True, "regret_mean": False, "regret_max": False,
                               "spearman": False})
        self.assertFalse(verdict["passed"])

    def test_passes_what_is_right(self):
        verdict = judge.judge([row(1, 1), row(2, 2.1)])
        self.assertTrue(verdict["passed"])
        self.assertIn("pass", judge.table(verdict))
        self.assertNotIn("FAIL", judge.table(verdict))

    def test_says_how_much_noise_decided(self):
        rows = [unsure(1, 1.2, 0.99, 1.3), row(2, 1.0), row(3, 4, "h"), row(4, 5, "h")]
        overall = judge.judge(rows)["overall"]
        self.assertEqual((overall["open"], overall["wide"], overall["regret_max"]), (1, 1, 0))
        self.assertIn("2 groups, 1 decided by noise", judge.table(judge.judge(rows)))

    def test_networks_ranks_and_widths_make_groups(self):
        rows = [row(1, 1), row(1, 1, ranks=2), row(1, 1, network="1gbit"), row(1, 1, widths=[8, 5])]
        self.assertEqual(len(judge.judge(rows)["groups"]), 4)

    def test_all_ties_have_no_order_to_judge(self):
        verdict = judge.judge([row(1, 1), row(2, 1)])
        self.assertIsNone(verdict["overall"]["spearman"])
        self.assertFalse(verdict["passed"])
        self.assertIn("| - |", judge.table(verdict))

    def test_nothing_is_no_success(self):
        self.assertRaises(ValueError, judge.judge, [])

    def test_bias_is_the_mean_ratio(self):
        self.assertAlmostEqual(judge.figures([row(2, 1), row(1, 2)])["bias"], 0)
        self.assertAlmostEqual(judge.figures([row(2, 1), row(4, 2)])["bias"], 1)


class Read(unittest.TestCase):
    def test_what_holds_no_rows_is_refused_in_one_line(self):
        good = row(1, 1)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            for text in (None, "[", "[]", "{}", "[1]", json.dumps([good, {"graph": "g"}])):
                if text is not None:
                    file.write_text(text)
                said = io.StringIO()
                with self.assertRaises(SystemExit) as refused, contextlib.redirect_stderr(said):
                    judge.read(file)
                self.assertEqual((refused.exception.code, said.getvalue().count("\n")), (2, 1), text)
                self.assertIn(str(file), said.getvalue())
            file.write_text(json.dumps([good]))
            self.assertEqual(judge.read(file), [good])


if __name__ == "__main__":
    unittest.main()
