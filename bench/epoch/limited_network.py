#!/usr/bin/env python3
"""Epoch times of several plans, side by side, when the network is what limits.

Makes each plan with gnnplan and trains it with gnnrun on ranks of one thread behind links of a given rate (slow_links.py),
alternating between the plans. Prints epoch times and the bytes of an epoch, predicted and counted; ratios are to the first
plan. Needs iproute2 and Open MPI, and root or unprivileged user namespaces.

Each rank has a link of its own, or those of a node share one (--ranks-per-node). Plans are for the built-in CPU node with
such links, or for what a calibration behind them has measured (--calibrate).

    bench/epoch/limited_network.py --build build/release --data ego-twitter.txt.gz --all=--symmetrise \\
        --plan "1d=--scheme 1d" --plan "rdm=--scheme rdm" --rate 1gbit -o results.json
"""
import argparse, json, os, pathlib, re, shlex, shutil, statistics, subprocess, sys

sys.dont_write_bytecode = True  # of the file beside this one

from slow_links import SlowLinks, isolate

RATE = r"([0-9.]+)([kmg]?)bit"
WARM_UP = 2  # epochs left out: first touches, connections being made
PLANS = ["CAGNET 1D=--space paper --scheme 1d", "CAGNET 1.5D=--space paper --scheme 1.5d --replication 2 --grid 2x2",
         "1.5D, unreplicated=--space paper --scheme 1.5d --replication 2 --grid 2x1x2",
         "1D, best orders=--space paper --scheme rdm --replication 1", "RDM's best=--space paper --scheme rdm", "ours=",
         "ours, partitioned=--exchange rows --partition"]


def arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(root / "build/release"), help="folder of the build")
    parser.add_argument("--data", required=True, help="the graph")
    for name, value in (("features", 602), ("classes", 41), ("hidden", 128), ("layers", 2), ("ranks", 4), ("epochs", 5),
                        ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"default {value}")
    parser.add_argument("--rate", default="1gbit", help="of each link in each direction, as tc writes it; default 1gbit")
    parser.add_argument("--ranks-per-node", type=int, default=1, help="consecutive ranks that share a link; default 1")
    parser.add_argument("--calibrate", action="store_true", help="plan for what a quick calibration behind these links measures")
    parser.add_argument("--plan", action="append", metavar="NAME=ARGS", help="arguments of gnnplan plan; may be repeated")
    parser.add_argument("--all", default="", metavar="ARGS", help="arguments for every plan, e.g. --all=--symmetrise")
    parser.add_argument("-o", "--output", help="where to write the figures as JSON")
    parsed = parser.parse_args()
    if parsed.epochs <= WARM_UP:
        parser.error(f"--epochs must be more than the {WARM_UP} that are left out")
    if parsed.ranks % parsed.ranks_per_node:
        parser.error("--ranks must be a multiple of --ranks-per-node")
    if not re.fullmatch(RATE, parsed.rate):
        parser.error(f"--rate {parsed.rate}: write it as 1gbit or 250mbit")
    for tool in ("setpriv", "unshare", "nsenter", "ip", "tc", "mpirun"):
        if not shutil.which(tool):
            parser.error(f"{tool} is not installed")
    return parsed


# A few seconds on the slowest link, and beyond the caches' reach of one rank. To each host, the others' ranks are other
# programs that keep its cores busy: hence --force.
CALIBRATION = ["--quick", "--force", "--threads", 1, "--largest", "16MiB"]


def machine(gnnplan, options):
    """The built-in CPU node with the rate asked for between nodes, and the cores of this machine shared by the ranks."""
    profile = json.loads(subprocess.check_output([gnnplan, "machines", "show", "cpu-node", "--json"]))
    number, prefix = re.fullmatch(RATE, options.rate).groups()
    share = min(1.0, len(os.sched_getaffinity(0)) / options.ranks)
    profile.update(name=f"limited to {options.rate}", source=f"cpu-node, {share:g} of a core a rank; the links' nominal rate",
                   ranks_per_node=options.ranks_per_node)
    rate = float(number) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[prefix] / 8
    profile["inter_node"]["bytes_per_second"] = rate
    profile["network_cards"] = {"per_node": 1, "bytes_per_second": rate}
    for key in ("gemm_flops_per_second", "memory_bytes_per_second"):
        profile[key] *= share
    for product in profile["spmm"]:
        product["flops_per_second"] *= share
    return profile


def make_plans(gnnplan, options, links, scratch):
    profile = scratch / "machine.json"
    if options.calibrate:
        links.mpirun(gnnplan, "calibrate", *CALIBRATION, "--ranks-per-node", options.ranks_per_node, "-o", profile)
    else:
        profile.write_text(json.dumps(machine(gnnplan, options)))
    common = ["--graph", options.data, "--machine", profile, *shlex.split(options.all)]
    for name in ("features", "classes", "hidden", "layers", "ranks"):
        common += [f"--{name}", str(getattr(options, name))]
    plans = {}
    for text in options.plan or PLANS:
        name, _, words = text.partition("=")
        plans[name] = scratch / f"{len(plans)}.json"
        done = subprocess.run([gnnplan, "plan", *common, *shlex.split(words), "-o", plans[name]], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"plan {name}: {done.stderr}")
    return plans


def train(links, gnnrun, plan, options, scratch):
    report = scratch / "report.json"
    links.mpirun(gnnrun, plan, "--data", options.data, "--epochs", options.epochs, "--threads", 1, "--autotune", 0,
                 "--eval-every", 0, "--dropout", 0, "--input-dropout", 0, "--report", report, "-q")
    return json.loads(report.read_text())


def figures(reports):
    """The figures of one plan's runs. Seconds of an epoch are those of the slowest rank, bytes the sum over ranks.

    Seconds by kind of step, which are medians of the slowest rank too, are those of the last run.
    """
    epochs = [epoch["seconds"] for report in reports for epoch in report["epochs"][WARM_UP:]]
    last = reports[-1]
    kinds = {}
    for step in last["steps"]:
        kinds[step["kind"]] = kinds.get(step["kind"], 0) + step["measured_seconds"]
    return {"configuration": last["configuration"], "epoch_seconds": statistics.median(epochs), "fastest": min(epochs),
            "slowest": max(epochs), "epochs": epochs, "predicted_seconds": last["predicted"]["epoch_seconds"],
            "predicted_bytes": last["predicted"]["total_bytes"], "counted_bytes": last["measured"]["total_bytes"],
            "seconds_by_kind": kinds}


def table(results):
    first = next(iter(results.values()))
    lines = ["| plan | orders, grid | epoch ms: median (min-max) | predicted | bytes, predicted | counted | time | bytes |",
             "|---|---|---|---|---|---|---|---|"]
    for name, r in results.items():
        c = r["configuration"]
        grid = "x".join(map(str, c["grid"]))
        grid += "".join(f", {c[key]}" for key, usual in (("exchange", "panels"), ("node_axis", "y"), ("wire", "fp32")) if c.get(key, usual) != usual)
        times = "{:.0f} ({:.0f}-{:.0f}) | {:.0f}".format(
            *(1e3 * r[key] for key in ("epoch_seconds", "fastest", "slowest", "predicted_seconds")))
        ratios = " | ".join(f"{first[key] / r[key]:.2f}x" for key in ("epoch_seconds", "counted_bytes"))
        lines.append(f"| {name} | {c['forward']} {c['backward']}, {grid} | {times} | {r['predicted_bytes']:,} | "
                     f"{r['counted_bytes']:,} | {ratios} |")
    return "\n".join(lines)


def taking_turns(plans, repeats, run):
    """Reports of run(plan), by plan: each plan runs once in each of the repeats."""
    reports = {name: [] for name in plans}
    for repeat in range(repeats):
        for name, plan in plans.items():
            reports[name].append(run(plan))
            print(f"{repeat + 1}/{repeats} {name}", file=sys.stderr)
    return reports


def show(results, table, output):
    """Prints the figures of all plans as a table, and writes them to a file if one is named."""
    print(table(results))
    if output:
        pathlib.Path(output).write_text(json.dumps({"command": sys.argv, "plans": results}, indent=1) + "\n")


def main():
    options = arguments()
    scratch = isolate()
    gnnplan, gnnrun = (str(pathlib.Path(options.build).resolve() / "bin" / tool) for tool in ("gnnplan", "gnnrun"))
    links = SlowLinks(scratch, options.ranks, options.rate, options.ranks_per_node)
    plans = make_plans(gnnplan, options, links, scratch)
    reports = taking_turns(plans, options.repeats, lambda plan: train(links, gnnrun, plan, options, scratch))
    show({name: figures(runs) for name, runs in reports.items()}, table, options.output)


if __name__ == "__main__":
    main()
