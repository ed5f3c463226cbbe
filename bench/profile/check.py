#!/usr/bin/env python3
"""Whether `gnnplan calibrate` sees what a machine is given less of.

    bench/profile/check.py [--build build/release] [--rate 200mbit --rate 1gbit]

Two ranks behind links that tc tbf limits to each rate: the bandwidth fitted between nodes is within 10 % of what the links carry.
Products X W of two threads on one core: half as fast as on two, within 10 %. Prints a table; exits 1 when one is missed, 2 when
nothing could be measured. Needs what bench/epoch/README.md says, and two cores. About four minutes.
"""
import argparse, json, math, os, pathlib, re, shutil, statistics, subprocess, sys

sys.dont_write_bytecode = True
root = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(root / "bench"), str(root / "bench/epoch")]
import programs
from slow_links import SlowLinks, bytes_per_second, isolate

TOLERANCE = 0.1
TOOLS = ("mpirun", "setpriv", "unshare", "nsenter", "ip", "tc", "taskset")
PAYLOAD = 1448 / 1514  # TCP's share of an Ethernet frame, which is what tbf counts


def behind_links(options):
    """Runs in namespaces of its own; prints the fitted bytes per second."""
    scratch = isolate()
    links = SlowLinks(scratch, 2, options.inside)
    profile = scratch / "machine.json"
    links.mpirun(pathlib.Path(options.build).resolve() / "bin/gnnplan", "calibrate", "--quick", "--seconds", 0.2, "--largest",
                 "16MiB", "--ranks-per-node", 1, "-o", profile)
    print(json.loads(profile.read_text())["inter_node"]["bytes_per_second"])


def fitted_bandwidth(options, rate):
    """Bytes per second. What fails in there says so itself."""
    command = [sys.executable, __file__, "--build", options.build, "--inside", rate]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        programs.fail(f"no links of {rate}: exit status {done.returncode} (see above); bench/epoch/README.md says what they need")
    return float(done.stdout)


def on_cores(options, cores):
    """FLOP/s of products of two threads on these cores, by shape: those X W that computing limits, not memory."""
    command = ["taskset", "-c", cores, f"{options.build}/bin/gnnplan", "calibrate", "--quick", "--ranks", "1", "--threads", "2",
               "--largest", "64MiB", "--seconds", "0.05", "--json", "-o", os.devnull]
    text = programs.call(*command).stdout
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
    for rate in options.rate or []:
        if not re.fullmatch(r"[0-9.]+[kmg]?bit", rate):
            parser.error(f"--rate {rate}: write it as tc does, e.g. 200mbit")
    programs.built(options.build, "gnnplan")
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    cores = sorted(os.sched_getaffinity(0))[:2]
    if missing or len(cores) < 2:
        programs.fail(", ".join(missing) + " not installed: see bench/epoch/README.md" if missing else "needs two cores, may run on one")
    rows = []
    for rate in options.rate or ["200mbit", "1gbit"]:
        expected = bytes_per_second(rate) * PAYLOAD
        rows.append((f"between nodes, {rate}", expected / 1e6, fitted_bandwidth(options, rate) / 1e6, "MB/s"))
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
