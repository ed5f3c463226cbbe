#!/usr/bin/env python3
"""Tables and predictions with known answers."""
import pathlib, sys, tempfile, unittest

sys.dont_write_bytecode = True

import agreement, cagnet, deal, memory, mg_gcn, orders, planner, schemes


class Agreement(unittest.TestCase):
    def test_chance_keeps_what_is_ordered_by_definition(self):
        self.assertAlmostEqual(agreement.spearman_by_chance([1, 2], [(0, 1)]), 1)
        # Three orders of three have the second below the third: correlations 1, 1/2 and -1/2.
        self.assertAlmostEqual(agreement.spearman_by_chance([1, 2, 3], [(1, 2)]), 1 / 3)
        self.assertAlmostEqual(agreement.spearman_by_chance([1, 2, 3], []), 0)

    def test_regret_lies_between_the_ends_of_the_class(self):
        low, high = agreement.regret_bounds((110, 150), 100)
        self.assertAlmostEqual(low, 0.1)
        self.assertAlmostEqual(high, 0.5)
        self.assertEqual(agreement.regret_bounds((101, 102), 100), (0, 0))  # ties

    def test_figures_have_three_digits_and_no_exponent(self):
        self.assertEqual([agreement.figures(v) for v in (0, 0.00336, 0.57, 22, 1.234, 1864, 123456)],
                         ["0", "0.00336", "0.570", "22.0", "1.23", "1,860", "123,000"])


class Tables(unittest.TestCase):
    def test_are_whole(self):
        table = agreement.published("rdm-table-viii.csv")
        self.assertEqual({(row["data_set"], row["ranks"]) for row in table}, {(n, p) for n in orders.CARDS for p in (2, 4, 8)})
        for row in table:
            for which in ("pareto", "other"):
                self.assertLessEqual(row[f"{which}_fastest"], row[f"{which}_slowest"])
        for name in ("rdm-table-ix.csv", "rdm-table-x.csv"):
            self.assertEqual([row["data_set"] for row in agreement.published(name)], list(orders.CARDS))
        missing = [row for row in agreement.published("mg-gcn-table-3.csv") if row["seconds"] is None]
        self.assertEqual([(row["data_set"], row["ranks"]) for row in missing], [("Papers", 1), ("Papers", 2), ("Papers", 4)])

        self.assertEqual({(row["data_set"], row["model"]) for row in agreement.published("deal-figure-15.csv")},
                         {(name, model) for name in deal.CARDS for model in deal.MODELS})

    def test_memory_is_the_arithmetic(self):
        reddit = {"vertices": 232_965, "nonzeros": 114_848_857, "features": 602, "classes": 41}
        self.assertEqual([round(memory.arithmetic(reddit, copies)) for copies in (1, 2, 4)], [262, 434, 779])


def cell(times, ids="2 3", pareto=(10, 12), other=(11, 30)):
    return orders.Cell({"data_set": "g", "ranks": 2.0, "pareto_ids": ids, "pareto_fastest": pareto[0], "pareto_slowest": pareto[1],
                        "other_fastest": other[0], "other_slowest": other[1]}, times)


class Orders(unittest.TestCase):
    def test_pick_is_judged_by_its_class(self):
        inside = cell({2: 5, 3: 6, 4: 7, 5: 9})
        self.assertEqual((inside.pick, inside.right()), (2, True))
        self.assertAlmostEqual(inside.regret()[1], 0.2)
        outside = cell({2: 5, 3: 6, 4: 4, 5: 9})
        self.assertEqual((outside.pick, outside.right()), (4, False))
        self.assertAlmostEqual(outside.regret()[0], 0.1)
        self.assertAlmostEqual(outside.regret()[1], 2)

    def test_ratio_and_spread(self):
        found = cell({2: 5, 3: 6, 4: 7, 5: 9})
        self.assertAlmostEqual(found.ratio(), 0.5)
        self.assertEqual(found.spreads(), (3, 1.8))

    def test_agreement_of_the_ends_of_the_classes(self):
        self.assertAlmostEqual(cell({2: 10, 3: 12, 4: 11, 5: 30}).agreement()[0], 1)
        self.assertAlmostEqual(cell({2: 10, 3: 11, 4: 12, 5: 30}).agreement()[0], 0.8)  # one neighbouring swap of four
        correlation, chance = cell({2: 8, 3: 3, 4: 5}, ids="2", pareto=(10, 10)).agreement()
        self.assertAlmostEqual(correlation, -0.5)
        self.assertAlmostEqual(chance, 1 / 3)

    def test_a_single_id_is_read_as_one(self):
        self.assertEqual(cell({}.fromkeys(range(16), 1), ids=5.0).pareto, {5})


class Schemes(unittest.TestCase):
    def test_right_is_the_same_side_of_one(self):
        found = {("a", 1): (2.0, 3.0), ("a", 2): (1.5, 0.9), ("b", 1): (0.8, 0.5)}
        self.assertEqual((schemes.summary(found)["right"], schemes.summary(found)["cases"]), (2, 3))


class Cagnet(unittest.TestCase):
    def test_counts_what_the_paper_says_in_words(self):
        found = {("reddit", 16): {"1D": 3, "1.5D": 2, "2D": 2}, ("amazon", 16): {"1D": 1, "1.5D": 2, "2D": 3},
                 ("protein", 64): {"1D": 3, "1.5D": 2, "2D": 1.5, "3D": 1}}
        self.assertEqual(cagnet.summary(found), {"cells": 3, "not_faster": 2, "best": 1})

    def test_sends_whole_blocks_in_every_way_there_is(self):
        class Told:
            def call(self, *_):
                return type("Done", (), {"stdout": "  --exchange panels|ring|rows   Pin how ranks exchange"})
        self.assertEqual(cagnet.exchanges(Told()), ["panels", "ring"])


class ToldPlanner:
    """As gnnplan would rank: the kept aggregation first, a peak of one GiB for each four hidden features."""

    def profile(self, *_):
        return "profile"

    def ranked(self, *problem, **_):
        hidden = problem[problem.index("--hidden") + 1]
        usual = dict.fromkeys(mg_gcn.OURS_ONLY, False) | {"exchange": "panels", "overlap": True}
        changes = [{"cached_aggregation": True}, {"exchange": "rows"}, {"overlap": False}, {}]
        return [{"configuration": usual | change, "sparse_units": 9, "epoch_seconds": 1 + at, "peak_bytes_per_rank": hidden * 2**28}
                for at, change in enumerate(changes)]


class MgGcn(unittest.TestCase):
    def test_takes_what_the_paper_runs(self):
        self.assertEqual(mg_gcn.as_published(ToldPlanner(), "Papers", 208.0, 3.0, 8.0)["epoch_seconds"], 4)

    def test_finds_the_widest_that_fits(self):
        self.assertEqual(mg_gcn.widest_papers(ToldPlanner()), 312)  # 79 GiB are 316

    def test_what_did_not_fit_is_judged_but_not_timed(self):
        found = {(name, ranks): (2.0, 1.0, 1) for name in mg_gcn.PROBLEMS for ranks in (1, 8)}
        found["Reddit", 8] = (1.0, 1.0, 2 * mg_gcn.MEMORY)
        found["Papers", 1] = (None, 1.0, 2 * mg_gcn.MEMORY)
        summary = mg_gcn.summary(found)
        self.assertEqual((summary["cells"], summary["fits"], summary["all"]), (7, 7, 8))
        self.assertAlmostEqual(summary["without_reddit"], 0.5)
        self.assertEqual(mg_gcn.speedups(found)["Reddit"], (2, 1))


class Profiles(unittest.TestCase):
    def test_change_what_they_say(self):
        profile = {"spmm": [{"width": 32, "flops_per_second": 8.0}], "intra_node": {"bytes_per_second": 4.0}}
        planner.VARIANTS["SpMM slow where narrow, x w/(w+32)"](profile)
        planner.VARIANTS["link x 0.25"](profile)
        self.assertEqual(profile, {"spmm": [{"width": 32, "flops_per_second": 4.0}], "intra_node": {"bytes_per_second": 1.0}})

    def test_links_change_with_what_ranks_share(self):
        profile = {"intra_node": {"bytes_per_second": 4.0}, "all_to_all": {"bytes_per_second": 2.0},
                   "inter_node": {"bytes_per_second": 3.0}, "network_cards": {"per_node": 2, "bytes_per_second": 3.0}}
        planner.VARIANTS["link x 0.5"](profile)
        planner.VARIANTS["link between x 2"](profile)
        self.assertEqual([figures["bytes_per_second"] for figures in profile.values()], [2.0, 1.0, 6.0, 6.0])

    def test_a_question_is_asked_once(self):
        with tempfile.TemporaryDirectory() as folder:
            asking = planner.Planner("gnnplan", pathlib.Path(folder))
            asked = []
            asking.ask = lambda *problem, memory: asked.append(problem) or [{"of": problem}]
            self.assertEqual(asking.ranked("a", 1), asking.ranked("a", 1))
            asking.ranked("a", 2)
            self.assertEqual(asked, [("a", 1), ("a", 2)])


if __name__ == "__main__":
    unittest.main()
