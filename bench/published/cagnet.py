"""CAGNET's Figures 1 to 3 on Summit: they are bars without figures, so what the paper says of them is confronted."""
import re

from agreement import figures, geometric_mean, grid, published
from planner import PRESET

MACHINE = "summit"
MEMORY = 15 * 2**30  # what the preset leaves of 16 GiB
CARDS = {"Reddit": "reddit:cagnet", "Amazon": "amazon:cagnet", "Protein": "protein:cagnet"}
# Figure 1: Protein did not fit on 16.
FIGURE_1 = {"Reddit": (16, 36, 64, 100), "Amazon": (16, 36, 64, 100), "Protein": (36, 64, 100)}
FIGURE_3 = ((25, 27), (64, 64), (121, 125))  # squares for 2D, cubes for 3D
COPIES = (2, 4)  # c of 1.5D
VARIANTS = (PRESET, "link between x 0.5", "link between x 2", "SpMM x 0.5")
EQUAL = 0.1  # "perform equally well"


def exchanges(planner):
    """The ways to send whole blocks of rows that this gnnplan has; needed rows are not CAGNET's, whoever sends them."""
    values = re.search(r"--exchange (\S+)", planner.call("plan", "--help-all").stdout).group(1)
    return [value for value in values.split("|") if "rows" not in value]


def seconds(planner, name, ranks, variant, *which, hidden=16):
    """Returns the seconds of the scheme's fastest CAGNET run by the faster exchange, whatever memory it takes."""
    problem = ("--graph", CARDS[name], "--layers", 3, "--hidden", hidden, "--ranks", ranks, "--space", "paper", "--machine",
               planner.profile(MACHINE, variant), *which)
    return min(planner.ranked(*problem, "--exchange", exchange)[0]["epoch_seconds"] for exchange in exchanges(planner))


def schemes_of(planner, name, ranks, variant=PRESET):
    """{"1D", "1.5D c=2", "1.5D c=4", "2D"} of Figure 1: seconds, 2D on a square."""
    side = round(ranks ** 0.5)
    times = {"1D": seconds(planner, name, ranks, variant, "--scheme", "1d")}
    for c in COPIES:
        times[f"1.5D c={c}"] = seconds(planner, name, ranks, variant, "--scheme", "1.5d", "--grid", f"{ranks // c}x{c}")
    times["2D"] = seconds(planner, name, ranks, variant, "--scheme", "2d", "--grid", f"{side}x{side}")
    return times


def cells(planner, variant=PRESET):
    return {(name, ranks): schemes_of(planner, name, ranks, variant) for name, all_ranks in FIGURE_1.items() for ranks in all_ranks}


def fastest_of_15d(times):
    return min(time for scheme, time in times.items() if scheme.startswith("1.5D"))


def cubes(planner):
    """{(data set, ranks of 2D, ranks of 3D): (seconds of 2D, of 3D)} of Figure 3."""
    result = {}
    for name in ("Amazon", "Protein"):
        for square, cube in FIGURE_3:
            sides = round(square ** 0.5), round(cube ** (1 / 3))
            result[name, square, cube] = (
                seconds(planner, name, square, PRESET, "--scheme", "2d", "--grid", "{0}x{0}".format(sides[0]), hidden=64),
                seconds(planner, name, cube, PRESET, "--scheme", "3d", "--grid", "{0}x{0}x{0}".format(sides[1]), hidden=64))
    return result


def copies_gain(planner, *per_node):
    """How many times faster c = 4 is than 1D, mean of Amazon and Protein on 36, 64 and 100 GPUs."""
    ratios = []
    for name in ("Amazon", "Protein"):
        for ranks in (36, 64, 100):
            one, four = (seconds(planner, name, ranks, PRESET, *which, *per_node)
                         for which in (("--scheme", "1d"), ("--scheme", "1.5d", "--grid", f"{ranks // 4}x4")))
            ratios.append(one / four)
    return geometric_mean(ratios)


def fits(planner):
    """[(data set, copies, ranks, fitted, predicted peak in bytes)]"""
    result = []
    for row in published("cagnet-fits.csv"):
        copies, ranks = int(row["copies"]), int(row["ranks"])
        which = ("--scheme", "1d") if copies == 1 else ("--scheme", "1.5d", "--grid", f"{ranks // copies}x{copies}")
        found = planner.ranked("--graph", CARDS[row["data_set"]], "--layers", 3, "--hidden", 16, "--ranks", ranks, "--space", "paper",
                               "--machine", planner.profile(MACHINE), *which)
        result.append((row["data_set"], copies, ranks, bool(row["fits"]), min(one["peak_bytes_per_rank"] for one in found)))
    return result


def summary(found):
    by_15d = sum(fastest_of_15d(times) <= times["2D"] for times in found.values())
    best = sum(fastest_of_15d(times) <= min(times["2D"], times["1D"]) for times in found.values())
    return {"cells": len(found), "never_2d": by_15d, "best_15d": best}


def fit_summary(found):
    right = [row for row in found if row[3] == (row[4] <= MEMORY)]
    wrong = [f"{name} {'1D' if copies == 1 else f'c={copies}'} on {ranks}" for name, copies, ranks, fitted, peak in found
             if fitted != (peak <= MEMORY)]
    return {"right": len(right), "all": len(found), "wrong": ", ".join(wrong)}


def cube_summary(found):
    """(small) Amazon where 3D is predicted slower up to 64, (equal) at 121/125, (protein) where 3D is faster."""
    amazon = {square: (two, three) for (name, square, _), (two, three) in found.items() if name == "Amazon"}
    return {"small": sum(three > two for square, (two, three) in amazon.items() if square < 121),
            "equal": abs(amazon[121][1] / amazon[121][0] - 1) <= EQUAL,
            "protein": sum(three < two for (name, _, _), (two, three) in found.items() if name == "Protein")}


def why_2d(found, slower):
    """Says by how much 2D is predicted faster than 1.5D, in the cells where it is: {cell: (how many times as long its
    sparse products, or all but these, would have to take)}. `slower` has the same cells with sparse products that take
    twice as long."""
    result = {}
    for cell, times in found.items():
        ahead = fastest_of_15d(times) - times["2D"]
        products = slower[cell]["2D"] - times["2D"]
        if ahead > 0:
            result[cell] = 1 + ahead / products, 1 + ahead / (times["2D"] - products)
    return result


def why_summary(why, summary, wanted=9):
    """Ranges of both factors, and the second one that makes `wanted` cells right; None without any such cell."""
    if not why:
        return None
    products, rest = (sorted(factors) for factors in zip(*why.values()))
    missing = max(1, min(wanted - summary["never_2d"], len(rest)))
    return {"names": ", ".join(sorted({name for name, _ in why})), "cells": len(why), "products": (products[0], products[-1]),
            "rest": (rest[0], rest[-1]), "enough": rest[missing - 1], "right": summary["never_2d"] + missing}


def table(found):
    header = ["data set", "P", *next(iter(found.values())), "1.5D before 2D"]
    return grid(header, [[name, ranks, *(figures(time) for time in times.values()),
                          "yes" if fastest_of_15d(times) <= times["2D"] else "**no**"] for (name, ranks), times in found.items()])


def cube_table(found):
    return grid(["data set", "P of 2D, of 3D", "2D s", "3D s"],
                [[name, f"{square}, {cube}", figures(two), figures(three)] for (name, square, cube), (two, three) in found.items()])


def sensitivity(by_profile):
    return grid(["profile", "1.5D not slower than 2D", "1.5D the fastest"],
                [[name, f"{one['never_2d']} of {one['cells']}", f"{one['best_15d']} of {one['cells']}"]
                 for name, one in by_profile.items()])
