#!/usr/bin/env python3
"""CAGNET on Summit: which scheme is the fastest, and whether 2D ever beats 1.5D. The paper draws its epochs as bars and prints
hardly any; what it says of them in words is compared (section VI and the conclusion).

    bench/published/cagnet.py --build build/release      # the tables alone
"""
import argparse, pathlib, re, sys, tempfile

sys.dont_write_bytecode = True

from agreement import figures, grid
from planner import PRESET, Planner, programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = "summit"
# Three layers, 16 hidden; the numbers of GPUs on which both 1.5D and 2D ran (V-C: Protein does not fit on 16).
CELLS = [("reddit", 16), ("reddit", 36), ("reddit", 64), ("reddit", 100), ("amazon", 16), ("amazon", 36), ("amazon", 64),
         ("amazon", 100), ("protein", 36), ("protein", 64), ("protein", 100)]
REPLICATIONS = (2, 4)
CUBES = {64: 4}  # of those numbers of GPUs, the ones that form a cube
VARIANTS = (PRESET, "link between x 0.5", "link between x 2")


def exchanges(planner):
    """The ways to send whole blocks of rows that this gnnplan has; needed rows are not CAGNET's."""
    values = re.search(r"--exchange (\S+)", planner.call("plan", "--help-all").stdout).group(1)
    return [value for value in values.split("|") if value != "rows"]


def seconds(planner, card, ranks, scheme, shape, variant):
    """An epoch of the orders and layouts of the paper, by the faster exchange."""
    problem = ("--graph", f"{card}:cagnet", "--hidden", 16, "--layers", 3, "--ranks", ranks, "--space", "paper", "--machine",
               planner.profile(MACHINE, variant), "--scheme", scheme, "--grid", shape)
    return min(planner.ranked(*problem, "--exchange", exchange)[0]["epoch_seconds"] for exchange in exchanges(planner))


def cells(planner, variant=PRESET):
    """{(card, GPUs): {scheme: seconds}}; 1.5D with the better of two and four copies, 2D and 3D on squares and cubes."""
    found = {}
    for card, ranks in CELLS:
        side = round(ranks ** 0.5)
        times = {"1D": seconds(planner, card, ranks, "1d", f"{ranks}x1", variant),
                 "1.5D": min(seconds(planner, card, ranks, "1.5d", f"{ranks // c}x{c}", variant) for c in REPLICATIONS),
                 "2D": seconds(planner, card, ranks, "2d", f"{side}x{side}", variant)}
        if ranks in CUBES:
            times["3D"] = seconds(planner, card, ranks, "3d", "x".join([str(CUBES[ranks])] * 3), variant)
        found[card, ranks] = times
    return found


def summary(found):
    """In how many cells 2D is not faster than 1.5D, and in how many 1.5D is the fastest of all."""
    return {"cells": len(found), "not_faster": sum(times["2D"] >= times["1.5D"] for times in found.values()),
            "best": sum(times["1.5D"] <= min(times.values()) for times in found.values())}


def table(found):
    names = ("1D", "1.5D", "2D", "3D")
    return grid(["data set", "GPUs", *names, "2D / 1.5D", "fastest"],
                [[card, str(ranks), *(figures(times[name]) if name in times else "" for name in names),
                  f"{times['2D'] / times['1.5D']:.2f}", min(times, key=times.get)] for (card, ranks), times in found.items()])


def sensitivity(by_profile):
    return grid(["profile", "2D not faster than 1.5D", "1.5D the fastest"],
                [[name, f"{s['not_faster']} of {s['cells']}", f"{s['best']} of {s['cells']}"] for name, s in by_profile.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="folder of the build")
    [gnnplan] = programs.built(parser.parse_args().build, "gnnplan")
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(gnnplan, pathlib.Path(folder))
        print(table(cells(planner)) + "\n")
        print(sensitivity({variant: summary(cells(planner, variant)) for variant in VARIANTS}))


if __name__ == "__main__":
    main()
