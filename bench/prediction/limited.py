#!/usr/bin/env python3
"""Measures configurations on ranks behind slow links: the part of run.py that lives in network namespaces.

    bench/prediction/limited.py --build build/release --ranks 4 --rate 200mbit -o rows.json GRAPH=WIDTHS=MOST...

Calibrates behind the same links, one thread a rank, and runs measure_configurations for each problem, e.g.
rmat:40000:600000:7=128,64,16=12. Needs what bench/epoch/README.md says.
"""
import argparse, json, pathlib, sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "epoch"))

from limited_network import CALIBRATION
from slow_links import SlowLinks, isolate


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+", metavar="GRAPH=WIDTHS=MOST")
    parser.add_argument("--build", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--rate", required=True, help="of each link in each direction, as tc writes it")
    parser.add_argument("--seconds", type=float, default=20, help="of repeated epochs of a problem, at most")
    parser.add_argument("--symmetrise", action="store_true")
    parser.add_argument("-o", "--output", required=True)
    return parser.parse_args()


def main():
    options = arguments()
    scratch = isolate()
    tools = pathlib.Path(options.build).resolve() / "bin"
    links = SlowLinks(scratch, options.ranks, options.rate)
    machine, part = scratch / "machine.json", scratch / "rows.json"
    links.mpirun(tools / "gnnplan", "calibrate", *CALIBRATION, "--ranks-per-node", 1, "-o", machine)
    rows = []
    for problem in options.problems:
        graph, widths, most = problem.rsplit("=", 2)
        links.mpirun(tools / "measure_configurations", "--graph", graph, "--widths", widths, "--most", most, "--machine", machine,
                     "--network", options.rate, "--seconds", options.seconds, *["--symmetrise"] * options.symmetrise, "-o", part)
        rows += json.loads(part.read_text())
    pathlib.Path(options.output).write_text(json.dumps(rows))


main()
