#!/usr/bin/env python3
"""Whether `gnnplan calibrate` sees what a machine is given less of.

    bench/profile/check.py [--build build/release] [--rate 200mbit --rate 1gbit]

Two ranks behind links that tc tbf limits to each rate: the bandwidth fitted between nodes is within 10 % of what the links carry.
Products X W of two threads on one core: half as fast as on two, within 10 %. Prints a table; exits 1 when one is missed. Needs what
bench/epoch/README.md says, and two cores. About four minutes.
"""
import argparse, json, math, os, pathlib, statistics, subprocess, sys

sys.dont_write_bytecode = True
root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "bench/epoch"))
from slow_links import SlowLinks, bytes_per_second, isolate

TOLERANCE = 0.1
PAYLOAD = 1448 / 1514  # TCP's share of an Ethernet frame, which is what tbf counts


def behind_links(options):
    """Runs in namespaces of its own; prints the fitted bytes per second."""
    scratch = isolate()
    links = SlowLinks(scratch, 2, options.inside)
    profile = scratch / "machine.json"
    links.mpirun(pathlib.Path(options.build).resolve() / "bin/gnnplan", "calibrate", "--quick", "--seconds", 0.2, "--largest",
                 "16MiB", "--ranks-per-node", 1, "-o", profile)
    print(json.loads(profile.read_text())["inter_node"]["bytes_per_second"])


def on_cores(options, cores):
    """FLOP/s of products of two threads on these cores, by shape: those X W that computing limits, not memory."""
    command = ["taskset", "-c", cores, f"{options.build}/bin/gnnplan", "calibrate", "--quick", "--ranks", "1", "--threads", "2",
               "--largest", "64MiB", "--seconds", "0.05", "--json", "-o", os.devnull]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {(g["inner"], g["columns"]): g["flops_per_second"] for g in json.loads(text)["calibration"]["gemm"]
            if g["product"] == "forward" and min(g["inner"], g["columns"]) >= 64}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(root / "build/release"), help="folder of the build")
    parser.add_argument("--rate", action="append", help="of the links, as tc writes it; default 200mbit and 1gbit")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return behind_links(options)
    rows = []
    for rate in options.rate or ["200mbit", "1gbit"]:
        command = [sys.executable, __file__, "--build", options.build, "--inside", rate]
        fitted = float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        rows.append((f"between nodes, {rate}", bytes_per_second(rate) * PAYLOAD / 1e6, fitted / 1e6, "MB/s"))
    cores = sorted(os.sched_getaffinity(0))[:2]
    one, two = [], []
    for _ in range(5):  # alternately, and the best of each: the machine may be shared
        one.append(on_cores(options, str(cores[0])))
        two.append(on_cores(options, f"{cores[0]},{cores[1]}"))
    ratios = [max(run[shape] for run in one) / max(run[shape] for run in two) for shape in one[0]]
    rows.append(("X W, one core of two (median of shapes)", 0.5, statistics.median(ratios), "x"))
    print("| what | expected | measured | unit | off by |\n|---|---|---|---|---|")
    missed = 0
    for what, expected, measured, unit in rows:
        error = measured / expected - 1
        missed += not math.isfinite(error) or abs(error) > TOLERANCE
        print(f"| {what} | {expected:.4g} | {measured:.4g} | {unit} | {100 * error:+.1f} % |")
    sys.exit(1 if missed else 0)


main()
