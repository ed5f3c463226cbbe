#!/usr/bin/env python3
"""Tables and predictions with known answers."""
import pathlib, sys, tempfile, unittest

sys.dont_write_bytecode = True

import agreement, cagnet, deal, distgnn, memory, mg_gcn, mg_gcn_figures, orders, page_more, planner, plexus, schemes, trust


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
        for name in ("rdm-table-ix.csv", "rdm-table-ix-communication.csv", "rdm-table-x.csv"):
            self.assertEqual([row["data_set"] for row in agreement.published(name)], list(orders.CARDS))
        missing = [row for row in agreement.published("mg-gcn-table-3.csv") if row["seconds"] is None]
        self.assertEqual([(row["data_set"], row["ranks"]) for row in missing], [("Papers", 1), ("Papers", 2), ("Papers", 4)])

        self.assertEqual({(row["data_set"], row["model"]) for row in agreement.published("deal-figure-15.csv")},
                         {(name, model) for name in deal.CARDS for model in deal.MODELS})

        self.assertEqual({(row["ranks"], row["layers"], row["hidden"]) for row in agreement.published("rdm-table-vii.csv")},
                         {(p, layers, hidden) for p in (2, 4, 8) for layers, hidden in schemes.NETWORKS})
        self.assertEqual({row["data_set"] for row in agreement.published("cagnet-fits.csv")}, set(cagnet.CARDS))
        self.assertEqual({row["data_set"] for row in agreement.published("distgnn-epochs.csv")}, set(distgnn.CARDS))
        self.assertEqual([row["model"] for row in agreement.published("deal-figure-15a.csv")], list(deal.MODELS))
        self.assertEqual([(row["ranks"], row["megabytes"]) for row in agreement.published("plexus-collectives.csv")],
                         [(ranks, size) for ranks in (2, 4, 8, 16) for size in (1, 16, 64)])
        self.assertEqual([row["width"] for row in agreement.published("plexus-spmm.csv")], 2 * [4, 8, 16, 32, 64, 128, 256])

    def test_ratios_are_geometric_means(self):
        rows = [(2, 1, 0.5, 1.0), (4, 1, 2.0, 1.0)]
        self.assertAlmostEqual(plexus.ratio(rows), 1)
        self.assertAlmostEqual(plexus.ratio(rows, lambda row: row[0] > 2), 0.5)

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


    def test_a_byte_costs_what_times_do_not_explain(self):
        told = schemes.communication_summary({("a", 1): (2.0, 8.0), ("b", 1): (8.0, 8.0)})
        self.assertAlmostEqual(told["per_byte"], 2)

    def test_growth_is_of_the_means(self):
        found = {(p, network): (2.0, float(p), 1.0, 8) for p in (2, 4, 8) for network in schemes.NETWORKS}
        told = schemes.by_ranks_summary(found)
        self.assertAlmostEqual(told["growth"], 4)
        self.assertAlmostEqual(told["published_growth"], 1)
        self.assertEqual((told["faster"], told["cells"]), (96, 96))


    def test_a_trend_is_compared_with_the_published_one(self):
        told = {"published_growth": 0.95, "spearman": 0.0}
        self.assertIn("is not as published", page_more.trend(told | {"growth": 1.65}))
        self.assertIn("about as published", page_more.trend(told | {"growth": 1.1}))


class Cagnet(unittest.TestCase):
    def test_sends_whole_blocks_in_every_way_there_is(self):
        class Told:
            def call(self, *_):
                return type("Done", (), {"stdout": "  --exchange panels|ring|rows   Pin how ranks exchange"})
        self.assertEqual(cagnet.exchanges(Told()), ["panels", "ring"])

    def test_judges_the_better_number_of_copies(self):
        found = {("Amazon", 16): {"1D": 3, "1.5D c=2": 4, "1.5D c=4": 2, "2D": 2.5}, ("Amazon", 36): {"1D": 1, "1.5D c=2": 2, "1.5D c=4": 3, "2D": 1.5}}
        self.assertEqual(cagnet.summary(found), {"cells": 2, "never_2d": 1, "best_15d": 1})

    def test_says_how_much_slower_2d_would_have_to_be(self):
        found = {("Amazon", 16): {"1D": 9, "1.5D c=2": 4, "1.5D c=4": 3, "2D": 2}, ("Reddit", 16): {"1D": 9, "1.5D c=2": 1, "1.5D c=4": 3, "2D": 2}}
        slower = {cell: {"2D": 2.5} for cell in found}
        why = cagnet.why_2d(found, slower)
        self.assertEqual(why, {("Amazon", 16): (3, 1 + 1 / 1.5)})
        self.assertEqual(cagnet.why_summary(why, cagnet.summary(found), wanted=2),
                         {"names": "Amazon", "cells": 1, "products": (3, 3), "rest": (1 + 1 / 1.5,) * 2, "enough": 1 + 1 / 1.5, "right": 2})
        self.assertIsNone(cagnet.why_summary({}, cagnet.summary(found)))

    def test_what_fits_is_right_on_both_sides(self):
        small, large = cagnet.MEMORY, cagnet.MEMORY + 1
        told = cagnet.fit_summary([("Reddit", 1, 4, True, small), ("Amazon", 1, 4, False, large), ("Protein", 4, 36, False, small)])
        self.assertEqual(told, {"right": 2, "all": 3, "wrong": "Protein c=4 on 36"})

    def test_cubes_are_equal_within_a_tenth(self):
        found = {(name, square, cube): (1.0, 1.05 if square == 121 else 0.9) for name in ("Amazon", "Protein") for square, cube in cagnet.FIGURE_3}
        self.assertEqual(cagnet.cube_summary(found), {"small": 0, "equal": True, "protein": 2})


class DistGnn(unittest.TestCase):
    def test_one_socket_is_judged_apart_from_many(self):
        rows = [({"data_set": "a", "sockets": 1, "seconds": 10}, {"1d": 5.0, "rdm": 5.0}),
                ({"data_set": "a", "sockets": 64, "seconds": 4}, {"1d": 2.0, "rdm": 1.0})]
        told = distgnn.summary(rows)
        self.assertAlmostEqual(told["single"], 0.5)
        self.assertAlmostEqual(told["worst"], 2)
        self.assertAlmostEqual(told["gain"], 4)
        self.assertAlmostEqual(told["most_left"], 2)  # of which the error of one socket explains half


class Kernels(unittest.TestCase):
    def test_shares_are_within_the_printed_bounds_or_not(self):
        shares = {"Cora": (0.1, 0.8), "Arxiv": (0.5, 0.4), "Products": (0.7, 0.1), "Proteins": (0.95, 0.04), "Reddit": (0.6, 0.2)}
        fitted = {1: (False, 2 * mg_gcn_figures.V100_MEMORY), 2: (False, 1), 4: (True, 1), 8: (True, 1)}
        self.assertEqual(mg_gcn_figures.summary(shares, fitted), {"spmm": 2, "gemm": 2, "first": 1, "fits": 3})


class Trust(unittest.TestCase):
    def test_quoted_factors_may_be_rounded_and_no_more(self):
        self.assertEqual(trust.factors("epochs took 0.5 to 17 times as long as predicted"), (0.5, 17))
        self.assertTrue(trust.near((1, 8), (1.04, 8.3)))
        self.assertFalse(trust.near((1, 8), (1.04, 9.3)))


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
