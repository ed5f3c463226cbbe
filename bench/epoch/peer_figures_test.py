#!/usr/bin/env python3
"""Tests of peer_figures.py, with epochs written by hand."""
import math, sys, unittest

sys.dont_write_bytecode = True

from peer_figures import figures, loss_remarks, over, table, verdict


def epochs(*seconds, first=math.log(40), last=3.5):
    losses = [first] * (len(seconds) - 1) + [last]
    return [{"seconds": s, "loss": loss} for s, loss in zip(seconds, losses)]


def results(**seconds):
    return {name: figures([epochs(s, s, s)], 0) for name, s in seconds.items()}


class Figures(unittest.TestCase):
    def test_warm_up_of_every_run_is_left_out(self):
        of = figures([epochs(9, 1, 2), epochs(8, 3, 10)], 1)
        self.assertEqual(of["epochs"], [1, 2, 3, 10])
        self.assertEqual((of["seconds"], of["fastest"], of["slowest"]), (2.5, 1, 10))

    def test_losses_are_those_of_the_first_run(self):
        of = figures([epochs(1, 1, first=3.7, last=3.6), epochs(1, 1, first=1, last=2)], 1)
        self.assertEqual((of["first_loss"], of["last_loss"]), (3.7, 3.6))

    def test_ratio_is_time_over_the_references_time(self):
        both = results(plain=2, debian=9)
        self.assertEqual(over(both, "debian", "plain"), 4.5)
        self.assertIsNone(over(both, "debian", "picked"))


class Losses(unittest.TestCase):
    def test_the_same_problem_is_not_remarked_on(self):
        self.assertEqual(loss_remarks(results(plain=1, debian=2), 40), [])

    def test_another_first_loss_is(self):
        self.assertEqual(len(loss_remarks(results(plain=1), 10)), 1)

    def test_one_that_learns_otherwise_is(self):
        odd = {**results(plain=1, picked=1, debian=2), "dgl": figures([epochs(1, 1, last=2.5)], 0)}
        self.assertEqual([remark.split(":")[0] for remark in loss_remarks(odd, 40)], ["dgl"])

    def test_nan_is(self):
        odd = {**results(plain=1, picked=1), "dgl": figures([epochs(1, 1, last=math.nan)], 0)}
        self.assertEqual(len(loss_remarks(odd, 40)), 1)


class Verdict(unittest.TestCase):
    def test_met_on_the_bar_and_missed_below(self):
        self.assertTrue(verdict(results(plain=1, debian=4), 4)[1])
        self.assertFalse(verdict(results(plain=1, debian=3.9), 4)[1])

    def test_says_how_much_further_the_picked_plan_goes(self):
        self.assertIn("1.50x as fast as plain", verdict(results(plain=3, picked=2, debian=15), 4)[0])

    def test_none_without_bar_or_debian(self):
        self.assertEqual(verdict(results(plain=1, debian=4), None), (None, None))
        self.assertEqual(verdict(results(plain=1, dgl=4), 4), (None, None))


class Table(unittest.TestCase):
    def test_slowest_first_and_missing_last(self):
        names = {"plain": "ours", "debian": "theirs", "dgl": "DGL"}
        lines = table(results(plain=0.5, debian=2), names, {"dgl": "no wheel"}).splitlines()[2:]
        self.assertTrue(lines[0].startswith("| theirs | 2000 (2000-2000) | 4.00 |  |"))
        self.assertTrue(lines[1].startswith("| ours | 500 (500-500) | 1.00 |  |"))
        self.assertEqual(lines[2], "| DGL | not available: no wheel | | | |")


if __name__ == "__main__":
    unittest.main()
