#!/usr/bin/env python3
"""DEAL's P x M grids against rows alone and columns alone: inference of all vertices, predicted beside measured.

    bench/inference/grids.py --build build/release --data mid/edges.csv --model gcn
    bench/inference/grids.py --build build/release --data mid/edges.csv --model agnn --rate 250mbit -o grids.json

Plans every P x M of the ranks (P blocks of vertices, M of features), with whole blocks exchanged or only the rows that are
needed; of AGNN, whose scores are DEAL's SDDMM, also the ways to make these scores; and what the planner picks. Runs alternate,
`--repeats` times, on one machine or, with --rate, behind links of that rate (bench/epoch/slow_links.py). Seconds are of a
pass and of what ranks tell each other before it, of the slowest rank. Bytes are over all ranks.
"""
import argparse, json, os, pathlib, shlex, shutil, statistics, subprocess, sys, tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "epoch"))

from limited_network import machine, show, taking_turns
from peer_entrants import surroundings
from slow_links import SlowLinks, isolate

SCORES = {"": "", "scores by columns": "columns", "scores of whole rows": "whole-rows", "scores of dealt rows": "dealt-rows"}
PICKED = "picked"


def arguments():
    root = HERE.parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="folder of the build")
    parser.add_argument("--data", required=True, help="the graph, every edge listed once")
    parser.add_argument("--model", choices=["gcn", "gat", "agnn"], default="gcn")
    parser.add_argument("--widths", default="128,128,128,40")
    parser.add_argument("--fanout", default="50")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rate", help="of each link in each direction, as tc writes it; without: ranks share this machine's memory")
    parser.add_argument("--machine", help="a profile, e.g. of gnnplan calibrate; default: the built-in CPU node, with --rate")
    parser.add_argument("--exchange", nargs="+", default=["panels", "rows"])
    parser.add_argument("-o", "--output", help="where to write the figures as JSON")
    options = parser.parse_args()
    for tool in ("mpirun", *(("setpriv", "unshare", "nsenter", "ip", "tc") if options.rate else ())):
        if not shutil.which(tool):
            parser.error(f"{tool} is not installed")
    return options


def wishes(options):
    """Flags of gnnplan plan by name."""
    found = {PICKED: []}
    for columns in (m for m in range(1, options.ranks + 1) if options.ranks % m == 0):
        grid = f"{options.ranks // columns}x{columns}"
        for exchange in options.exchange if columns < options.ranks else [None]:  # with columns alone products exchange nothing
            for name, scores in SCORES.items():
                if (scores == "") == (options.model != "agnn" or columns == 1):
                    title = ", ".join(part for part in (grid, "needed rows" if exchange == "rows" else "", name) if part)
                    found[title] = ["--grid", grid, *(["--exchange", exchange] if exchange else []),
                                    *(["--scores", scores] if scores else [])]
    return found


def make_plans(gnnplan, options, scratch):
    profile = options.machine
    if options.rate and profile is None:
        profile = scratch / "machine.json"
        profile.write_text(json.dumps(machine(gnnplan, options)))
    common = ["--task", "infer", "--graph", options.data, "--symmetrise", "--widths", options.widths, "--fanout", options.fanout,
              "--model", options.model, "--ranks", options.ranks, *(["--heads", 4] if options.model == "gat" else []),
              *(["--machine", profile] if profile else [])]
    plans = {}
    for name, flags in wishes(options).items():
        plan = scratch / f"{len(plans)}.json"
        done = subprocess.run([str(word) for word in [gnnplan, "plan", *common, *flags, "-o", plan]], capture_output=True, text=True)
        if done.returncode == 0:
            plans[name] = plan
        else:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return plans


def run(links, gnnrun, plan, options, scratch):
    report = scratch / "report.json"
    command = [gnnrun, plan, "--data", options.data, "--threads", 1, "--report", report, "-q"]
    if links:
        links.mpirun(*command)
    else:
        crowded = options.ranks > len(os.sched_getaffinity(0))
        words = ["mpirun", "-n", options.ranks, "--oversubscribe", "--bind-to", "none" if crowded else "core", "--mca",
                 "mpi_yield_when_idle", int(crowded), *command]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=surroundings(1))
        if done.returncode != 0:
            sys.exit(f"{shlex.join(map(str, words))}\n{done.stderr}")
    return json.loads(report.read_text())


def figures(reports):
    last = reports[-1]
    passes = [report["wall"]["pass_seconds"] for report in reports]
    asked = [sum(step["measured_seconds"] for step in report["setup"] if not step["name"].startswith("setup."))
             for report in reports]
    return {"configuration": last["configuration"], "passes": passes, "seconds": statistics.median(passes),
            "setup": statistics.median(asked), "predicted": last["predicted"]["epoch_seconds"],
            "predicted_setup": last["predicted"].get("setup_seconds", 0), "predicted_bytes": last["predicted"]["total_bytes"],
            "counted_bytes": last["measured"]["total_bytes"], "peak": last["measured"]["peak_bytes_per_rank"]}


def table(results):
    lines = ["| plan | orders | pass, s: median (min-max) | predicted | index, s | predicted | bytes, predicted | counted | peak/rank, MiB |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, r in sorted(results.items(), key=lambda entry: entry[1]["seconds"] + entry[1]["setup"]):
        c = r["configuration"]
        grid = f": {'x'.join(map(str, c['grid'][:2]))}" if name == PICKED else ""
        lines.append(f"| {name}{grid} | {c['forward']} | {r['seconds']:.2f} ({min(r['passes']):.2f}-{max(r['passes']):.2f}) | "
                     f"{r['predicted']:.2f} | {r['setup']:.2f} | {r['predicted_setup']:.2f} | {r['predicted_bytes']:,} | "
                     f"{r['counted_bytes']:,} | {r['peak'] / 2**20:.0f} |")
    return "\n".join(lines)


def main():
    options = arguments()
    options.data = str(pathlib.Path(options.data).resolve())
    gnnplan, gnnrun = (str(options.build.resolve() / "bin" / tool) for tool in ("gnnplan", "gnnrun"))
    if options.rate:
        scratch = isolate()
        links = SlowLinks(scratch, options.ranks, options.rate)
    else:
        folder = tempfile.TemporaryDirectory()
        scratch, links = pathlib.Path(folder.name), None
    plans = make_plans(gnnplan, options, scratch)
    reports = taking_turns(plans, options.repeats, lambda plan: run(links, gnnrun, plan, options, scratch))
    show({name: figures(of) for name, of in reports.items()}, table, options.output)


if __name__ == "__main__":
    main()
