#!/usr/bin/env python3
"""CAGNET's finding about graph partitioning (section IV-A.6) on real graphs: writes cagnet-partition.csv beside this file.

    GNNPLAN_DATA=DIR bench/published/partition.py --build build/release    # a minute
"""
import argparse, os, pathlib, sys, tempfile

sys.dont_write_bytecode = True

from planner import Planner, programs

HERE = pathlib.Path(__file__).resolve().parent
GRAPHS = ("soc-slashdot0902.txt.gz", "ego-twitter.txt.gz", "email-enron.txt.gz")
ASKED = ("--symmetrise", "--features", 64, "--classes", 16, "--hidden", 64, "--ranks", 64, "--scheme", "1d", "--forward", "SS",
         "--backward", "S-", "--exchange", "rows", "--loss-rows", "off", "--machine", "summit")
HEAD = """# Bytes of an epoch on 64 ranks in 1D with needed rows, METIS's parts against shuffled vertices: change of the total and of the
# busiest rank in percent. Reddit: CAGNET, section IV-A.6, as printed; the others: bench/published/partition.py.
graph,total,busiest
Reddit (as printed),-72,-29
"""


def change(planner, graph):
    shuffled, parts = (planner.ranked("--graph", graph, *ASKED, *which)[0]
                       for which in (("--permute", "on"), ("--partition", "--permute", "off")))
    return [round(100 * (parts[key] / shuffled[key] - 1)) for key in ("total_bytes", "max_rank_bytes")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(HERE.parents[1] / "build/release"), help="folder of the build")
    [gnnplan] = programs.built(parser.parse_args().build, "gnnplan")
    data = pathlib.Path(os.environ.get("GNNPLAN_DATA", HERE.parents[2] / "shared/data")) / "snap"
    with tempfile.TemporaryDirectory() as folder:
        planner = Planner(gnnplan, pathlib.Path(folder))
        lines = ["{},{},{}".format(graph.split(".")[0], *change(planner, data / graph)) for graph in GRAPHS]
    (HERE / "cagnet-partition.csv").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
